"""Collects what the comparison page shows of one point for every run: headlines, misses by latency, and cache lines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl
from markupsafe import Markup

from linebounce.compare.answer import judged_point
from linebounce.compare.changes import Change, Comparison, Place, place_of, same_places
from linebounce.compare.overlay import anchor_of, svg_of
from linebounce.compare.rows import Row, percent_text, run_names
from linebounce.compare.selection import headline_rows
from linebounce.quantity import quantity
from linebounce.report import charts, tables
from linebounce.report.charts.base import Spec
from linebounce.results import Results

_MOST_LINES = 10
_MOST_DRAWN = 40  # points with a histogram; drawing one takes 0.1 s
_HISTOGRAM = {"width": 520, "height": 110, "autosize": "pad"}  # Vega-Lite can't fit a chart that has rows to a width


@dataclass(frozen=True)
class LineOfRuns:
    """A field of a line: in each run, the number of its misses, their mean latency and their total time."""

    name: str
    misses: tuple[str, ...]
    means: tuple[str, ...]
    totals: tuple[str, ...]
    changes: tuple[str, ...]  # changes of the total time, for every run but the first


@dataclass(frozen=True)
class PointOfRuns:
    """A point that all runs have. The page shows one point at a time, and the `judged` one first."""

    number: int  # the base's
    title: str
    judged: bool
    headlines: tuple[Row, ...]
    histogram: Markup  # empty if there are no misses, or too many points
    lines: tuple[LineOfRuns, ...]


def points_of(comparisons: Sequence[Comparison], rows: Sequence[Row]) -> list[PointOfRuns]:
    """The points that all runs have, in the base's order."""
    base = comparisons[0].base
    runs = [base, *(comparison.other for comparison in comparisons)]
    judged = judged_point(comparisons[0])
    headlines: dict[Place, list[Row]] = {}
    for row in headline_rows(comparisons, rows):
        headlines.setdefault(place_of(row.at), []).append(row)
    numbers = [_numbers(base, run) for run in runs]
    names = run_names(comparisons)
    misses = [tables.latency_bins(run.latency).filter(kind=tables.ALL) for run in runs]
    found: list[PointOfRuns] = []
    for point in base.points:
        here = [of_run.get(point.number) for of_run in numbers]
        if None in here:
            continue
        is_judged = judged is not None and place_of(judged.at) == place_of(point.at)
        histogram = Markup()
        if is_judged or len(found) < _MOST_DRAWN:
            bins = [frame.filter(point=number) for frame, number in zip(misses, here, strict=True)]
            histogram = _histogram(anchor_of(point.number), dict(zip(names, bins, strict=True)))
        lines = _lines([run.lines.filter(point=number) for run, number in zip(runs, here, strict=True)])
        shown = tuple(headlines.get(place_of(point.at), ()))
        found.append(PointOfRuns(point.number, point.title, is_judged, shown, histogram, tuple(lines)))
    if found and not any(point.judged for point in found):
        found[0] = replace(found[0], judged=True)
    return found


def _numbers(base: Results, run: Results) -> dict[int, int]:
    """Maps the base's point numbers to the run's, for points that both have finished."""
    return {one.number: other.number for one, other in same_places(base, run) if one.metrics and other.metrics}


def _histogram(name: str, bins: Mapping[str, pl.DataFrame]) -> Markup:
    """A histogram of the misses by latency for each run, one below the other with a common axis."""
    rows = [row | {"run": run} for run, frame in bins.items() for row in frame.to_dicts()]
    if len({(row["low_ns"], row["source"]) for row in rows}) < 2:
        return Markup()
    spec: Spec = charts.with_rows(charts.CHARTS["latency_histogram"](), "latency_bins", rows, {}) | _HISTOGRAM
    spec["encoding"]["row"] = {"field": "run", "type": "nominal", "title": None, "sort": None}
    spec["encoding"]["y"] |= {"title": "% of misses"}
    return svg_of(spec, name, "Misses by latency, of each run")


def _lines(frames: Sequence[pl.DataFrame]) -> Iterator[LineOfRuns]:
    """The fields whose misses' total time differs most between the first run and any other."""
    key = ["object", "line", "offset", "field"]
    by_run = [
        {
            row[:4]: row[4:]
            for row in frame.group_by(key, maintain_order=True)
            .agg(pl.col("count").sum(), (pl.col("count") * pl.col("latency_ns_mean")).sum().alias("ns"))
            .iter_rows()
        }
        for frame in frames
    ]
    places = list(dict.fromkeys(place for run in by_run for place in run))
    several_lines = {place[0] for place in places if place[1] > 0}

    def differs(place: tuple[str, int, int, str]) -> float:
        totals: list[float] = [run.get(place, (0, 0.0))[1] for run in by_run]
        return max(abs(total - totals[0]) for total in totals)

    for place in sorted(places, key=differs, reverse=True)[:_MOST_LINES]:
        figures = [run.get(place, (0, 0.0)) for run in by_run]
        name, line, offset, field = place
        where = f"{name}, line {line}" if name in several_lines else name
        first = figures[0][1]
        yield LineOfRuns(
            f"{where}.{field or f'byte {offset}'}",
            tuple(quantity(count) for count, _ in figures),
            tuple(quantity(total / count, "ns") if count else "" for count, total in figures),
            tuple(quantity(total, "ns") for _, total in figures),
            tuple(percent_text(Change("", "ns", first, total, total - first, None)) for _, total in figures[1:]),
        )
