"""Draws the runs of a comparison in one chart, and their differences from the first in another, as SVG without scripts.

A colour is an alternative of the sweep, a dash and a shape are a run; each mark links to its point's part of the page."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup, escape

from linebounce.compare.changes import Comparison, place_of
from linebounce.compare.rows import run_names
from linebounce.records import Point, shown_setting
from linebounce.report import charts, figures, sweeps
from linebounce.report.charts.base import Spec, word
from linebounce.report.words import axis_title, path_words

_WIDTH = 480
_RUN_RANGES: dict[str, list[Any]] = {
    "strokeDash": [[1, 0], [6, 4], [2, 2], [10, 3, 2, 3]],
    "shape": ["circle", "square", "triangle-up", "diamond"],
}
_MOST_ALTERNATIVES = 4  # with more alternatives, the chart has only those that the base's answer features

Rows = list[dict[str, Any]]


def anchor_of(point: int) -> str:
    """The fragment of the page's address that selects a point, by its number in the base."""
    return f"point-{point}"


def overlay(comparisons: Sequence[Comparison], numbers: Sequence[int]) -> list[tuple[str, Markup]]:
    """Captions and charts; empty if the runs are not swept over numbers. `numbers`: the base's points to draw."""
    base = comparisons[0].base
    axes = sweeps.default_axes(base)
    if axes is None or not sweeps.is_numeric(base.swept()[axes.x]):
        return []
    shown = [point for point in base.points if point.number in numbers and _is_shown(comparisons[0], point, axes)]
    names = run_names(comparisons)
    runs = zip(names, [base, *(comparison.other for comparison in comparisons)], strict=True)
    both = [row for name, run in runs for row in _values(name, run.points, shown, axes)]
    if len({row["x"] for row in both}) < 2:
        return []
    unit = next(point.metrics[axes.metric].unit for point in base.points if axes.metric in point.metrics)
    words = {
        "x": path_words(axes.x),
        "series": path_words(axes.series) if axes.series else "run",
        "x_scale": sweeps.x_scale(axes.x, base.swept()[axes.x]),
    }
    title = axis_title(axes.metric, unit)
    drawn = [_drawn("values", f"{title}, of each run", both, words | {"y": title})]
    others = zip(names[1:], comparisons, strict=True)
    change = [row for name, comparison in others for row in _changes(name, comparison, shown, axes)]
    if change:
        title = f"change from {names[0]} (%)"
        caption = f"Change from {names[0]}, with the 95 % interval"
        drawn.append(_drawn("change", caption, change, words | {"y": title}))
    return drawn


def _is_shown(comparison: Comparison, point: Point, axes: sweeps.Axes) -> bool:
    """Whether the charts show this point. On the paths that are not axes, it must have the values of the answered
    point. With many alternatives, only the featured ones are shown."""
    base = comparison.base
    stays = sweeps.held(base, axes.x, axes.series)
    if any(point.at[path] != base.answered_point.at[path] for path in stays):
        return False
    featured = base.answer.featured
    many = axes.series == base.answer.compared and len(base.swept().get(axes.series, ())) > _MOST_ALTERNATIVES
    return not many or not featured or point.at[axes.series] in featured


def _row(name: str, point: Point, axes: sweeps.Axes, value: float, ci95: float | None) -> dict[str, Any]:
    series = shown_setting(point.at[axes.series]) if axes.series else name
    return {"point": point.number, "x": point.at[axes.x], "series": series, "run": name, "value": value, "ci95": ci95 or 0}


def _values(name: str, points: Sequence[Point], shown: Sequence[Point], axes: sweeps.Axes) -> Iterator[dict[str, Any]]:
    places = {place_of(point.at): point for point in shown}
    for point in points:
        of_base = places.get(place_of(point.at))
        if of_base is not None and axes.metric in point.metrics:
            metric = point[axes.metric]
            yield _row(name, of_base, axes, metric.value, metric.ci95)


def _changes(name: str, comparison: Comparison, shown: Sequence[Point], axes: sweeps.Axes) -> Iterator[dict[str, Any]]:
    points = {place_of(point.at): point for point in shown}
    for compared in comparison.points:
        point = points.get(place_of(compared.at))
        change = next((change for change in compared.changes if change.metric == axes.metric), None)
        if point is not None and change is not None and change.base != 0:
            yield _row(name, point, axes, change.percent, change.ci95_percent)


def _drawn(name: str, caption: str, rows: Rows, words: dict[str, str]) -> tuple[str, Markup]:
    linked = [row | {"href": f"#{anchor_of(row['point'])}"} for row in rows]
    spec = charts.with_rows(_by_run(charts.CHARTS["sweep_line"]()), "sweep", linked, words)
    for part in spec["layer"]:
        if len({row["run"] for row in rows}) == 1 or all(row["run"] == row["series"] for row in rows):
            for channel in _RUN_RANGES:
                part["encoding"].get(channel, {})["legend"] = None
    spec["width"] = _WIDTH
    return caption, svg_of(spec, name, caption)


def _by_run(spec: Spec) -> Spec:
    """Changes a sweep chart so that dashes and shapes stand for runs instead of alternatives, and marks link to points."""
    for part in spec["layer"]:
        encoding = part["encoding"]
        legend = encoding["color"]["legend"]
        for channel, values in _RUN_RANGES.items():
            if channel in encoding:
                encoding[channel] = word("run", sort=None, title="run", scale={"range": values}, legend=dict(legend))
        if part["mark"]["type"] == "point":
            encoding["href"] = word("href")
    return spec


def svg_of(spec: Spec, name: str, title: str) -> Markup:
    """Draws the chart as SVG that scales to its container; says why if it can't be drawn. `name`: unique within the page."""
    try:
        svg = next(content for suffix, content in figures.drawn(spec) if suffix == "svg").decode()
    except figures.UndrawableError as error:
        return Markup("<p>This chart is left out: {}.</p>").format(error)
    # An SVG inside a page needs no width, height or XML namespaces.
    svg = re.sub(r' (width="[\d.]+" height="[\d.]+"|xmlns(:\w+)?="[^"]*")(?=[^>]*>)', "", svg, count=3)
    # A screen reader reads only the chart's title; the list of points below has the same links. In links, vl_convert puts an
    # address before the fragment, which is removed here.
    svg = re.sub(r' (role|aria-\w+)="[^"]*"', "", svg)
    role = "group" if "<a " in svg else "img"
    svg = svg.replace("<svg ", f'<svg role="{role}" aria-label="{escape(title)}" ', 1)
    svg = re.sub(r'xlink:href="[^"#]*#([^"]*)"', r'href="#\1" aria-label="\1" tabindex="-1"', svg)
    # Makes the ids of clip paths unique within the page. If two charts shared an id, a hidden chart's clip would hide the
    # other chart.
    return Markup(re.sub(r'(id="|url\(#)(?=clip)', rf"\g<1>{name}-", svg))
