"""Finds the source lines behind a change, and asks `advise` for an edit."""

import json
import re
from pathlib import Path
from typing import Any

from linebounce.errors import InputError, UsageError
from linebounce.files import scratch_folder
from linebounce.gate.judge import Change
from linebounce.gate.layouts import base_name, objects_of
from linebounce.gate.measure import Gauge, Place, Side
from linebounce.gate.sources import accesses, declaration, replacements
from linebounce.gate.verdict import Evidence, Verdict
from linebounce.program import checked
from linebounce.trace_symbols import Symbols

_WITH_EDIT = ("false-sharing", "crosses-line")


def add_evidence(verdict: Verdict, base: Side, head: Side, gauge: Gauge) -> None:
    """Adds evidence for every change whose verdict is not "same". Runs `advise` once, if a layout or false sharing
    became worse."""
    advice: dict[str, Any] | None = None
    for number, change in enumerate(verdict.changes):
        if change.verdict == "same":
            continue
        evidence = verdict.evidence[number] = _located(_largest_part(change, verdict), base, head)
        if change.verdict == "worse" and change.rule in _WITH_EDIT:
            advice = _advice(gauge, head) if advice is None else advice
            _add_edit(evidence, change, advice, head.symbols[0])


def _largest_part(change: Change, verdict: Verdict) -> Change:
    """For "all-sharing", the single cost that changed most. For any other rule, the change itself."""
    if change.rule != "all-sharing":
        return change
    singles = [it for it in verdict.changes if it.rule not in ("all-sharing", "crosses-line")]
    return max(singles, key=lambda it: max(figure.change for figure in it.figures), default=change)


def _located(change: Change, base: Side, head: Side) -> Evidence:
    """Looks in the head's recordings, or in the base's if the change has no item in the head."""
    side = head if any(item in head.places for item in change.items) else base
    symbols = side.symbols[0]
    places = [side.places[item] for item in change.items if item in side.places]
    functions = list(dict.fromkeys(function for place in places for function in place.functions))
    field = next((it.field for it in change.layout if it.field), "")
    name = _lock_word(symbols, change.name) if change.rule == "slower-lock" else change.name
    declared = declaration(symbols, f"{name}.{field}" if field else name, (places or [Place("", [])])[0].source)
    return Evidence(declared, functions, accesses(symbols, functions, name))


def _lock_word(symbols: Symbols, name: str) -> str:
    """The field or variable that holds the lock. Locks are usually named after it, except where several share one name."""
    for lock in symbols.locks:
        if name not in (base_name(lock.name), base_name(lock.figures)) or lock.object is None:
            continue
        it = symbols.objects[lock.object]
        fields = [] if it.structure is None else symbols.structures[it.structure].fields
        inside = [field.name for field in fields if field.offset <= lock.offset < field.offset + max(field.size, 1)]
        return f"{base_name(it.name)}.{inside[0]}" if inside else it.name
    return name


def _advice(gauge: Gauge, head: Side) -> dict[str, Any]:
    """What advise says about the head's first recording; empty if advise fails."""
    with scratch_folder() as scratch:
        machines = [word for machine in gauge.machines for word in ("--machine", machine)]
        command = [gauge.program, "advise", str(head.recordings[0]), "--json", "-j", "1", *machines, "-o", str(scratch)]
        try:
            page: dict[str, Any] = json.loads(checked(command))
        except (InputError, UsageError):
            return {}
    return page


def _add_edit(evidence: Evidence, change: Change, advice: dict[str, Any], symbols: Symbols) -> None:
    """Adds the first edit that advise proposes for the structure that became worse."""
    structures = {it.name for it in symbols.structures if change.name in {it.name, *objects_of(symbols, it.name)}}
    names = {change.name, *structures}
    for advised in advice.get("changes", ()):
        if advised["diff"] and not names.isdisjoint(re.findall(r"[\w.]+", advised["what"])):
            evidence.what = advised["what"]
            evidence.edits = replacements(advised["diff"], Path.cwd())
            return
