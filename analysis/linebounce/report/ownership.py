"""Computes which CPUs hold a cache line over time, from the misses in timeline.csv.

When a miss of a store, atomic operation or upgrade ends, its CPU becomes the owner and all other copies are removed. A
miss of a load makes its CPU and the previous owner sharers. The timeline has no evictions, so a copy is assumed to last
until another CPU writes. Objects that share a line are treated separately.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from linebounce.results import Results

# Limits for each point, because a page has to draw the spans: the lines with the most changes of owner, and the first spans
# of each.
MOST_LINES = 50
MOST_SPANS = 2000
# The page may cut a line's time into this many equal parts. It uses the smallest number that leaves at most _SPANS_IN_SIGHT
# spans in a part.
PARTS = (1, 10, 100)
_SPANS_IN_SIGHT = 250

_LINES = {
    "point": pl.Int64,
    "object": pl.String,
    "line": pl.Int64,
    "changes": pl.Int64,
    "cpus": pl.Int64,
    "shown_spans": pl.Int64,
    "of_spans": pl.Int64,
    "parts": pl.Int64,
}
_SPANS = {
    "point": pl.Int64,
    "object": pl.String,
    "line": pl.Int64,
    "cpu": pl.Int64,
    "state": pl.String,
    "from_us": pl.Float64,
    "to_us": pl.Float64,
    "by": pl.String,
}
Miss = Mapping[str, Any]


@dataclass
class _Holding:
    """A CPU's copy of the line: when it began, whether the CPU owns it, and the miss that fetched it."""

    since_ns: float
    owns: bool
    by: str


@dataclass
class _Line:
    """Applies the misses on one line in the order in which they ended."""

    held: dict[int, _Holding] = field(default_factory=dict)
    spans: list[dict[str, Any]] = field(default_factory=list)
    changes: int = 0

    def miss(self, miss: Miss) -> None:
        cpu, at = int(miss["track"]), float(miss["end_ns"])
        by = f"{miss['access']} of {miss['field']}, {miss['name']}"
        owns = miss["access"] != "load"
        before = self.held.get(cpu)
        if before is not None and (before.owns or not owns):
            return  # the CPU has the line already, from another miss that overlapped with this one
        self.changes += 1
        for other in list(self.held):
            if owns or self.held[other].owns:
                ended = self._end(other, at)
                if not owns:
                    self.held[other] = _Holding(at, False, ended.by)
        self.held[cpu] = _Holding(at, owns, by)

    def end(self, at: float) -> None:
        for cpu in list(self.held):
            self._end(cpu, at)

    def _end(self, cpu: int, at: float) -> _Holding:
        held = self.held.pop(cpu)
        if at > held.since_ns:
            state = "owns" if held.owns else "shares"
            self.spans.append({"cpu": cpu, "state": state, "from_us": held.since_ns / 1000, "to_us": at / 1000, "by": held.by})
        return held


def ownership(timeline: pl.DataFrame) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The lines that change hands, those with the most changes first. Yields a row for the list, and all spans of the
    line in time order."""
    misses = timeline.filter(pl.col("kind") == "miss", pl.col("object") != "", pl.col("field") != "[]")
    if misses.is_empty():
        return
    last = float(misses["end_ns"].max())  # type: ignore[arg-type]
    played = []
    for (name, number), on_line in misses.sort("end_ns", maintain_order=True).group_by("object", "line", maintain_order=True):
        line = _Line()
        for miss in on_line.iter_rows(named=True):
            line.miss(miss)
        line.end(last)
        if line.changes > 1:
            spans = sorted(line.spans, key=lambda span: (span["from_us"], span["cpu"]))
            cpus = len({span["cpu"] for span in spans})
            played.append(({"object": name, "line": number, "changes": line.changes, "cpus": cpus}, spans))
    yield from sorted(played, key=lambda entry: (-entry[0]["changes"], entry[0]["object"], entry[0]["line"]))


def ownership_frames(results: Results) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The lines and their spans at every point with a timeline; two empty frames if no point has one."""
    lines: list[dict[str, Any]] = []
    spans: list[dict[str, Any]] = []
    for point in results.points:
        if not results.has_timeline(point.number):
            continue
        for _, (line, of_line) in zip(range(MOST_LINES), ownership(results.timeline(point.number)), strict=False):
            shown = of_line[:MOST_SPANS]
            counts = {"shown_spans": len(shown), "of_spans": len(of_line), "parts": _parts(len(shown))}
            lines.append({"point": point.number, **line, **counts})
            where = {"point": point.number, "object": line["object"], "line": line["line"]}
            spans += [where | span for span in shown]
    return pl.DataFrame(lines, schema=_LINES), pl.DataFrame(spans, schema=_SPANS)


def _parts(spans: int) -> int:
    return next((parts for parts in PARTS if spans <= parts * _SPANS_IN_SIGHT), PARTS[-1])


def first_part(spans: pl.DataFrame, parts: int) -> pl.DataFrame:
    """The spans in the first of `parts` equal parts of a line's time, cut at the part's end. The page does the same for
    any part."""
    whole = spans.select(begin=pl.col("from_us").min(), end=pl.col("to_us").max()).row(0, named=True)
    end = whole["begin"] + (whole["end"] - whole["begin"]) / parts
    return spans.filter(pl.col("from_us") < end).with_columns(pl.col("to_us").clip(upper_bound=end))
