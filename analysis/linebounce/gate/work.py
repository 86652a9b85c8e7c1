"""Whether recordings did the same work, and have it in the same way. Costs of recordings that did not can't be compared: a
queue that is polled does more on an idle machine, and so does a program that runs for a fixed time."""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from linebounce.gate.layouts import base_name
from linebounce.program import checked

_MOST_DIFFERENCE = 1.05
_ENOUGH = 100  # operations; of fewer, some more or less cost nothing
_ENOUGH_NAMES = 3

Work = dict[str, int]  # operations by the name of a lock, structure, object or function


def info_of(program: str, recording: Path) -> dict[str, Any]:
    info: dict[str, Any] = json.loads(checked([program, "trace", "info", str(recording), "--json"]))
    return info


def work_of(info: dict[str, Any]) -> Work:
    """Acquisitions of each lock, accesses to each structure or object, and entries of each function. Functions have "()" behind
    their names."""
    work: Work = {}
    for lock in info["locks"]:
        _add(work, base_name(lock["name"]), lock["acquisitions"])
    for it in info["objects"]:
        _add(work, base_name(it.get("structure") or it["name"]), it["loads"] + it["stores"] + it["atomics"])
    for function in info["functions"]:
        _add(work, f"{function['name']}()", function["entered"])
    return work


def other_computation(base: set[str], head: set[str]) -> str:
    """Says if recordings have the computation between accesses in different ways. Empty if all have it in the same way."""
    if len(base | head) == 1:
        return ""
    ways = [" and ".join(sorted(side)) for side in (base, head)]
    return (
        f"computation between accesses is {ways[0]} in base and {ways[1]} in head: "
        "record both by the same version of linebounce-record, with the same options"
    )


def _add(work: Work, name: str, count: int) -> None:
    work[name] = work.get(name, 0) + count


def unlike(works: Sequence[Work]) -> dict[str, tuple[int, int]]:
    """Names whose operations differ between recordings of one version, with the least and the most."""
    found = {}
    for name in sorted({name for work in works for name in work}):
        counts = [work.get(name, 0) for work in works]
        if max(counts) >= _ENOUGH and max(counts) > _MOST_DIFFERENCE * min(counts):
            found[name] = (min(counts), max(counts))
    return found


def other_work(base: Sequence[Work], head: Sequence[Work]) -> str:
    """Says if the two versions did a different amount of work: if half of what both do often enough is done more often, or less
    often, in the head. A change of the program alters some of it, more work all of it. Empty if they did the same work."""
    ratios: dict[str, float] = {}
    means: dict[str, tuple[float, float]] = {}
    for name in base[0].keys() & head[0].keys():
        before, after = (fmean(work.get(name, 0) for work in works) for works in (base, head))
        if min(before, after) >= _ENOUGH:
            ratios[name], means[name] = after / before, (before, after)
    if len(ratios) < _ENOUGH_NAMES or 1 / _MOST_DIFFERENCE <= median(ratios.values()) <= _MOST_DIFFERENCE:
        return ""
    most = max(sorted(means), key=lambda name: max(means[name]))
    before, after = means[most]
    return (
        f"base and head did different work ({most}: {before:,.0f} and {after:,.0f} operations): "
        "record a fixed amount of work instead of a fixed time"
    )
