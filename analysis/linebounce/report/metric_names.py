"""Turns names of things in a program, such as locks, into parts of metric names (docs/results.md has the rule)."""

import itertools
import re
from collections.abc import Iterable


def metric_names(names: Iterable[str]) -> dict[str, str]:
    """Maps each name to its part of metric names, by the rule in docs/results.md. The names in a recorded program may
    hold any character."""
    ordered = sorted(names, key=str.encode)
    wanted = {name: _metric_letters(name) for name in ordered}
    parts = {name: name for name in ordered if wanted[name] == name}
    taken = set(parts)
    for name in ordered:
        if name in parts:
            continue
        numbered = (f"{wanted[name]}-{number}" for number in itertools.count(2))
        parts[name] = next(part for part in itertools.chain([wanted[name]], numbered) if part not in taken)
        taken.add(parts[name])
    return parts


def _metric_letters(name: str) -> str:
    """Replaces each byte, so a letter of two bytes becomes two underscores."""
    capitals_lowered = bytes(letter + 32 if 65 <= letter <= 90 else letter for letter in name.encode())
    return re.sub(rb"[^a-z0-9_\-\[\]]", b"_", capitals_lowered).decode() or "_"
