"""Reads what `linebounce explain` left in a results directory: a few misses, stage by stage."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linebounce.errors import InputError
from linebounce.records import setting_text
from linebounce.report.charts.base import LABELS
from linebounce.results import Results, read_document, reading

EXPLAIN_SCHEMA = "linebounce.explain/1"


@dataclass(frozen=True)
class Stage:
    name: str
    at: str
    kind: str  # "travel" or "queueing"
    start_ns: float
    ns: float
    from_pct: float  # in percent of the miss's latency
    part_pct: float


@dataclass(frozen=True)
class Waterfall:
    name: str  # such as "Median" or "99 %"
    ns: float
    who: str
    stages: Sequence[Stage]
    sum: str
    waits: Sequence[str]


@dataclass(frozen=True)
class Explanation:
    about: str
    misses: Sequence[Waterfall]


def explanation_of(results: Results) -> Explanation | None:
    """None if nothing was explained, or if the explanation is of an earlier configuration. Raises InputError for a
    damaged file."""
    path = results.directory / "explain.json"
    if not path.exists():
        return None
    document = read_document(path, json.loads)
    with reading(path):
        if document["schema"] != EXPLAIN_SCHEMA:
            raise InputError(f"{path}: its schema is {document['schema']}; expected {EXPLAIN_SCHEMA}")
        if document["hash"] != results.manifest.hash:
            return None
        return Explanation(_about(document), [_waterfall(miss) for miss in document["misses"]])


def _about(document: Mapping[str, Any]) -> str:
    kind = document["kind"]
    line = f" on {document['line']}" if document["line"] else ""
    at = ", ".join(f"{path} = {setting_text(value)}" for path, value in document["at"].items())
    point = f" at point {document['point']} ({at})" if at else ""
    misses = f"{document['counts'][kind]:,} such misses{line}{point}, seed {document['seed']}"
    return f"Kind of miss: {LABELS[kind]} ({kind}). {misses}."


def _waterfall(miss: Mapping[str, Any]) -> Waterfall:
    percentile = miss["percentile"]
    place = ".".join(part for part in (miss["object"], miss["field"]) if part) or "memory without a name"
    travel = miss["ns"] - miss["queueing_ns"]
    total = f"{miss['ns']:.1f} ns = {travel:.1f} travel + {miss['queueing_ns']:.1f} queueing"
    waits = by_resource(stage for stage in miss["rows"] if stage["kind"] == "queueing")
    if waits:
        total += f" ({', '.join(f'{ns:.1f} at {at}' for at, ns in waits)})"
    return Waterfall(
        name="Median" if percentile == 50 else f"{percentile} %",
        ns=miss["ns"],
        who=f"CPU {miss['cpu']} on node {miss['node']}, {miss['access']} of {place} in {miss['function']}",
        stages=[_stage(stage, miss["ticks"]) for stage in miss["rows"]],
        sum=f"{total}.",
        waits=_reasons(miss["rows"]) + (["Its core had asked for the line before."] if miss["joined"] else []),
    )


def by_resource(waits: Iterable[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """The resources that a miss waited for, each with its total wait; the longest comes first."""
    sums: dict[str, float] = {}
    for wait in waits:
        sums[wait["at"]] = sums.get(wait["at"], 0) + wait["ns"]
    return sorted(sums.items(), key=lambda item: -item[1])


def _stage(stage: Mapping[str, Any], ticks: int) -> Stage:
    place = [round(100 * stage[key] / ticks, 3) for key in ("start_ticks", "ticks")]
    return Stage(stage["stage"], stage["at"], stage["kind"], stage["start_ns"], stage["ns"], *place)


def _reasons(stages: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence about the longest wait of each kind, longest first."""
    longest: dict[tuple[str, str], Mapping[str, Any]] = {}
    for stage in sorted((stage for stage in stages if stage["kind"] == "queueing"), key=lambda stage: -stage["ticks"]):
        longest.setdefault((stage["stage"], stage["at"]), stage)
    return [f"{name}: {stage['text']}." for (name, _), stage in longest.items()]
