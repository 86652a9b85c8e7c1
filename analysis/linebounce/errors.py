"""Errors in input. Their messages are one line, and name the thing, the place and the legal values."""

import difflib
from collections.abc import Sequence

_FEW = 10


class InputError(Exception):
    """Results or a trace that can't be read: exit code 3."""


class UnreadableError(InputError):
    """A file that the system can't read at the moment, although its content may be right."""


class UsageError(Exception):
    """A request that makes no sense, or output that can't be written: exit code 2."""


def meant(name: str, known: Sequence[str]) -> str:
    """A hint for an unknown name: similar names, or all known names if they are few, or their number. REQUIRES: `known`
    is sorted."""
    near = difflib.get_close_matches(name, known, n=3)
    if near:
        return f"did you mean {' or '.join(near)}?"
    if 0 < len(known) <= _FEW:
        return f"known: {', '.join(known)}"
    return f"there are {len(known)}, from {known[0]} to {known[-1]}" if known else "there are none"
