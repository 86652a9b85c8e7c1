"""Chooses the rows of a comparison that the terminal and the page show first."""

import re
from collections.abc import Sequence

from linebounce.compare.answer import judged_point
from linebounce.compare.changes import Comparison, Place, place_of
from linebounce.compare.rows import Row
from linebounce.records import Point

_MOST_ROWS = 10
_MOST_ELSEWHERE = 4
_MOST_POINTS = 40  # of a run compared with itself by a swept path

# Pairs of patterns for metric names: a part and its whole. Both values are equal if all code of the run is kernel code, if a
# lock has only one caller, or if every L1 miss goes to memory because there is no outer cache.
_PART_OF = (
    (re.compile(r"latency\.(?:kernel|user)\.(.+)"), r"latency.\1"),
    (re.compile(r"latency\.(kernel|user)_l1_misses\.(.+)"), r"latency.\1_offchip.\2"),
    (re.compile(r"locks\.([^.]+)\.[^.]+\.([^.]+)"), r"locks.\1.\2"),
)


def headline_rows(comparisons: Sequence[Comparison], rows: Sequence[Row]) -> list[Row]:
    """The base's headlines at every compared point, including those that the other runs lack. The point whose first
    headline changed most comes first."""
    found = {row.key: row for row in rows}
    compared = {place_of(point.at) for comparison in comparisons for point in comparison.points}
    points = [
        _headlines_of(point, comparisons, found) for point in comparisons[0].base.points if place_of(point.at) in compared
    ]
    return [row for of_point in sorted(filter(None, points), key=lambda of_point: of_point[0].order) for row in of_point]


def _headlines_of(point: Point, comparisons: Sequence[Comparison], found: dict[tuple[Place, str], Row]) -> list[Row]:
    rows = []
    for headline in comparisons[0].base.headlines:
        metric = point.metrics.get(headline.metric)
        if metric:
            nowhere = (None,) * len(comparisons)
            alone = Row(point.at, headline.metric, metric.unit, float(metric.value), nowhere, headline.better)
            rows.append(found.get(alone.key, alone))
    return rows


def first_rows(comparisons: Sequence[Comparison], rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """The headlines and the other changes for the terminal's first page, at most ten rows together. Headlines: those of
    the judged point, then the first headline of other points where it changed by more than chance. Other changes: those
    of the judged point. For parts of one run (--by), the first headline of every point comes first, as a table of its own
    length."""
    judged = judged_point(comparisons[0])
    every = headline_rows(comparisons, rows)
    if judged is None:
        return every[:_MOST_ROWS], other_changes(rows)[: max(0, _MOST_ROWS - len(every))]
    here = [row for row in every if place_of(row.at) == place_of(judged.at)]
    first = every[0].metric if every else ""
    if comparisons[0].base.part:
        by_place = {place_of(row.at): row for row in every if row.metric == first}
        places = [place_of(point.at) for point in comparisons[0].base.points]
        table = [by_place[place] for place in places if place in by_place][:_MOST_POINTS]
        rest = [row for row in here if row not in table]
        others = [row for row in other_changes(rows) if place_of(row.at) == place_of(judged.at) and not _is_tiny(row)]
        return [*table, *rest][: max(_MOST_ROWS, len(table))], others[: max(0, _MOST_ROWS - len(table) - len(rest))]
    elsewhere = [row for row in every if row not in here and row.metric == first and row.larger_than_chance]
    headlines = [*here, *elsewhere[:_MOST_ELSEWHERE]][:_MOST_ROWS]
    others = [row for row in other_changes(rows) if place_of(row.at) == place_of(judged.at) and not _is_tiny(row)]
    return headlines, others[: max(0, _MOST_ROWS - len(headlines))]


def other_changes(rows: Sequence[Row]) -> list[Row]:
    """The rows of other metrics that changed by more than chance, in row order. If a part and its whole have equal
    values, only one of them is kept."""
    again = _shown_again(rows)
    return [row for row in rows if row.better is None and row.larger_than_chance and row.key not in again]


def _is_tiny(row: Row) -> bool:
    """Whether a time is below a nanosecond in every run. Its change would not matter beside the others."""
    return row.unit == "ns" and max(row.base, *(change.changed for change in row.changes if change)) < 1


def as_in_results(comparisons: Sequence[Comparison], rows: Sequence[Row]) -> list[list[Row]]:
    """All rows, grouped by point, with points and metrics in the order of the base's results.json."""
    found = {row.key: row for row in rows}
    by_point = [
        [found[key] for metric in point.metrics if (key := (place_of(point.at), metric)) in found]
        for point in comparisons[0].base.points
    ]
    return [of_point for of_point in by_point if of_point]


def _shown_again(rows: Sequence[Row]) -> set[tuple[Place, str]]:
    """The keys of rows to leave out because a part and its whole have equal values. Leaves out the part, or the whole
    if only the part is a headline."""
    found = {row.key: row for row in rows}
    again = set()
    for row in rows:
        whole = found.get((row.key[0], _name_of_whole(row.metric)))
        if whole and whole is not row and _figures(whole) == _figures(row):
            again.add(row.key if row.better is None else whole.key)
    return again


def _name_of_whole(metric: str) -> str:
    for part, whole in _PART_OF:
        found = part.fullmatch(metric)
        if found:
            return found.expand(whole)
    return metric


def _figures(row: Row) -> list[float | None]:
    return [row.base, *(change.changed if change else None for change in row.changes)]
