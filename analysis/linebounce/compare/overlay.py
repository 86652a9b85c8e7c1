"""Draws the runs of a comparison in one chart, with the others' differences from the first below it, as SVG without scripts."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from linebounce.compare.changes import Comparison, place_of
from linebounce.compare.rows import run_names
from linebounce.records import Point, shown_setting
from linebounce.report import charts, figures, sweeps
from linebounce.report.words import axis_title, path_words

_WIDTH = 720
_MOST_ALTERNATIVES = 4  # if there are more alternatives than this, only those that the base's answer features are drawn

Rows = list[dict[str, Any]]


def overlay(comparisons: Sequence[Comparison]) -> list[tuple[str, Markup]]:
    """Captions and charts; empty if the runs are not swept over numbers."""
    base = comparisons[0].base
    axes = sweeps.default_axes(base)
    if axes is None or not sweeps.is_numeric(base.swept()[axes.x]):
        return []
    compared = set().union(*({place_of(point.at) for point in comparison.points} for comparison in comparisons))
    shown = [point for point in base.points if place_of(point.at) in compared and _is_shown(comparisons[0], point, axes)]
    names = run_names(comparisons)
    runs = zip(names, [base, *(comparison.other for comparison in comparisons)], strict=True)
    both = [row for name, run in runs for row in _values(name, run.points, shown, axes)]
    if len({row["x"] for row in both}) < 2:
        return []
    unit = next(point.metrics[axes.metric].unit for point in base.points if axes.metric in point.metrics)
    words = {"x": path_words(axes.x), "series": "run", "x_scale": sweeps.x_scale(axes.x, base.swept()[axes.x])}
    title = axis_title(axes.metric, unit)
    drawn = [(f"{title}, of each run", _drawn(both, words | {"y": title}))]
    others = zip(names[1:], comparisons, strict=True)
    change = [row for name, comparison in others for row in _changes(name, comparison, shown, axes)]
    if change:
        title = f"change from {names[0]} (%)"
        drawn.append((f"Change from {names[0]}, with the 95 % interval", _drawn(change, words | {"y": title})))
    return drawn


def _is_shown(comparison: Comparison, point: Point, axes: sweeps.Axes) -> bool:
    """Whether a point belongs to the chart. For the paths that are not on the axes, it must have the answered point's
    values. If there are many alternatives, it must be of a featured one."""
    base = comparison.base
    stays = sweeps.held(base, axes.x, axes.series)
    if any(point.at[path] != base.answered_point.at[path] for path in stays):
        return False
    featured = base.answer.featured
    many = axes.series == base.answer.compared and len(base.swept().get(axes.series, ())) > _MOST_ALTERNATIVES
    return not many or not featured or point.at[axes.series] in featured


def _row(name: str, point: Point, axes: sweeps.Axes, value: float, ci95: float | None) -> dict[str, Any]:
    series = f"{name} {shown_setting(point.at[axes.series])}" if axes.series else name
    return {"point": point.number, "x": point.at[axes.x], "series": series, "value": value, "ci95": ci95 or 0}


def _values(name: str, points: Sequence[Point], shown: Sequence[Point], axes: sweeps.Axes) -> Iterator[dict[str, Any]]:
    places = {place_of(point.at) for point in shown}
    for point in points:
        if place_of(point.at) in places and axes.metric in point.metrics:
            metric = point[axes.metric]
            yield _row(name, point, axes, metric.value, metric.ci95)


def _changes(name: str, comparison: Comparison, shown: Sequence[Point], axes: sweeps.Axes) -> Iterator[dict[str, Any]]:
    points = {place_of(point.at): point for point in shown}
    for compared in comparison.points:
        point = points.get(place_of(compared.at))
        change = next((change for change in compared.changes if change.metric == axes.metric), None)
        if point is not None and change is not None and change.base != 0:
            yield _row(name, point, axes, change.percent, change.ci95_percent)


def _drawn(rows: Rows, words: dict[str, str]) -> Markup:
    """The chart as SVG that scales to its container, whatever size it was drawn at."""
    spec = charts.with_rows(charts.CHARTS["sweep_line"](), "sweep", rows, words)
    spec["width"] = _WIDTH
    svg = next(content for suffix, content in figures.drawn(spec) if suffix == "svg").decode()
    # An SVG inside a page needs no width, height or XML namespaces.
    return Markup(re.sub(r' (width="[\d.]+" height="[\d.]+"|xmlns(:\w+)?="[^"]*")(?=[^>]*>)', "", svg, count=3))
