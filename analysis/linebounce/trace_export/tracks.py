"""Decides on which track each span of a timeline is drawn. Viewers show tracks as a tree.

Spans of a timeline's track may overlap (a CPU has several misses under way, readers share a lock), but slices of a
Perfetto track may not. Such a track has several lanes: Perfetto tracks with the same name below one parent, which the
viewer shows as one.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import polars as pl

Span = dict[str, Any]
Argument = str | int


@dataclass(frozen=True)
class Slice:
    """A span as drawn: times in nanoseconds, and the details that a click shows."""

    kind: str
    begin_ns: float
    end_ns: float
    name: str
    arguments: dict[str, Argument]


@dataclass(frozen=True)
class Track:
    """One Perfetto track: its names from the root down, and its slices in time order without overlap. A track without
    slices is a heading."""

    path: tuple[str, ...]
    lane: int
    slices: Sequence[Slice]


@dataclass(frozen=True)
class Counter:
    """A series of (nanoseconds, value) in time order; each value holds until the next."""

    name: str
    samples: Sequence[tuple[float, float]]


def counters_of(series: pl.DataFrame) -> Iterator[Counter]:
    """A counter for each quantity of a point."""
    for (name,), part in series.group_by("name", maintain_order=True):
        yield Counter(str(name), list(zip((part["time_us"] * 1000).to_list(), part["value"].to_list(), strict=True)))


def _place(span: Span) -> dict[str, Argument]:
    """What a span is about: for a miss its `object.field`, for a bus or link the line."""
    if not span["object"]:
        return {}
    found: dict[str, Argument] = {"object": span["object"], "line": span["line"]}
    if span["offset"] is not None:
        found |= {"offset": span["offset"], "field": f"{span['object']}.{span['field']}"}
    return found


def _cpu(span: Span) -> dict[str, Argument]:
    return {"cpu": int(span["track"])}


@dataclass(frozen=True)
class _Kind:
    path: Callable[[Span], tuple[str, ...]]
    name: Callable[[Span], str]
    arguments: Callable[[Span], dict[str, Argument]]


def _named(span: Span) -> str:
    return str(span["name"])


def _of_cpu(span: Span) -> tuple[str, ...]:
    return ("CPUs", f"CPU {span['track']}")


_KINDS = {
    "function": _Kind(_of_cpu, _named, lambda _: {}),
    "sleep": _Kind(_of_cpu, _named, lambda _: {}),
    "miss": _Kind(
        lambda span: (*_of_cpu(span), "misses"),
        _named,
        lambda span: {"source": span["name"], "access": span["access"]} | _place(span),
    ),
    "lock_hold": _Kind(lambda span: ("Locks", span["name"]), lambda span: f"held by CPU {span['track']}", _cpu),
    "lock_wait": _Kind(lambda span: ("Locks", span["name"], "waits"), lambda span: f"CPU {span['track']} waits", _cpu),
    "bus_address": _Kind(lambda span: ("Buses", f"bus {span['track']}", "address"), _named, _place),
    "bus_data": _Kind(lambda span: ("Buses", f"bus {span['track']}", "data"), _named, _place),
    "link": _Kind(lambda span: ("Links", span["track"].replace("_", " to ")), _named, _place),
    "grace_period": _Kind(lambda _: ("Grace periods",), lambda span: f"grace period {span['name']}", lambda _: {}),
}
_GROUPS = ("CPUs", "Locks", "Buses", "Links", "Grace periods")


def tracks_of(timeline: pl.DataFrame) -> Iterator[Track]:
    """All tracks with all spans. Parents come before children, siblings in the order in which the viewer shows them.

    The viewer sorts tracks without a parent by name, whatever order the file asks for, so the groups can't be ordered.
    """
    drawn = sorted(
        ((_KINDS[span["kind"]].path(span), span) for span in timeline.iter_rows(named=True)),
        key=lambda entry: (_order(entry[0]), entry[1]["begin_ns"], entry[1]["end_ns"]),
    )
    listed: set[tuple[str, ...]] = set()
    for path, spans in groupby(drawn, key=lambda entry: entry[0]):
        for depth in range(1, len(path)):
            if path[:depth] not in listed:
                listed.add(path[:depth])
                yield Track(path[:depth], 0, ())
        listed.add(path)
        for number, lane in enumerate(_lanes([_slice(span) for _, span in spans])):
            yield Track(path, number, lane)


def _slice(span: Span) -> Slice:
    kind = _KINDS[span["kind"]]
    return Slice(span["kind"], span["begin_ns"], span["end_ns"], kind.name(span), kind.arguments(span))


def _order(path: tuple[str, ...]) -> tuple[int, list[str], tuple[str, ...]]:
    """Sort key: groups in their order, and CPU 2 before CPU 10. Different paths have different keys, even lock1 and
    lock01."""
    words = [re.sub(r"\d+", lambda number: number.group().zfill(9), word) for word in path[1:]]
    return _GROUPS.index(path[0]), words, path


def _lanes(slices: Sequence[Slice]) -> list[list[Slice]]:
    """Distributes slices over lanes: each goes to the first lane that is free at its start."""
    lanes: list[list[Slice]] = []
    for slice_ in slices:
        free = next((lane for lane in lanes if lane[-1].end_ns <= slice_.begin_ns), None)
        if free is None:
            lanes.append([slice_])
        else:
            free.append(slice_)
    return lanes
