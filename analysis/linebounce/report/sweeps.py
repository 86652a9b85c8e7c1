"""Chooses which points a chart of a metric over a swept path shows."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from linebounce.records import Point, Setting, ShapeRow, shown_setting
from linebounce.report.words import axis_title, path_words
from linebounce.results import Results

CPUS = "machine.cpus"


@dataclass(frozen=True)
class Axes:
    """A metric over the path `x`, with a line for each value of the path `series`. With an empty `series` there is one
    line."""

    metric: str
    x: str
    series: str


def is_numeric(values: Sequence[Setting]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def x_scale(path: str, values: Sequence[Setting]) -> str:
    """The type of the axis's scale. Logarithmic for numbers of CPUs and for other numbers that grow by factors."""
    numbers = [float(value) for value in values] if is_numeric(values) else []
    ordered = sorted(numbers)
    grows = all(after >= 1.5 * before for before, after in itertools.pairwise(ordered))
    return "log" if ordered and ordered[0] > 0 and (path == CPUS or grows) else "linear"


def words_of(results: Results, axes: Axes) -> dict[str, str]:
    """The axes' titles and the kind of the x axis, as templates/sections/sweep.js computes them."""
    units = [point.metrics[axes.metric].unit for point in results.points if axes.metric in point.metrics]
    return {
        "x": path_words(axes.x),
        "series": path_words(axes.series) if axes.series else " ",
        "y": axis_title(axes.metric, units[0] if units else ""),
        "x_scale": x_scale(axes.x, results.swept()[axes.x]),
    }


def default_axes(results: Results) -> Axes | None:
    """The axes to show first. If the run has a paper's figure over a path, its metric and path; otherwise those of the
    run's answer."""
    swept = results.swept()
    answer = results.answer
    names = [name for name, count in _metric_counts(results).items() if count > 1]
    if not names or not swept:
        return None
    paths = sorted(swept, key=lambda path: (not _moves_alone(results, path), path != answer.over, not is_numeric(swept[path])))
    x = paths[0]
    in_paper = [row.metric for row in results.paper if isinstance(row, ShapeRow) and row.over == x]
    headlines = [headline.metric for headline in results.headlines]
    metric = next((name for name in [*in_paper, answer.metric, *headlines] if name in names), names[0])
    compared = answer.compared if answer.compared not in ("", x) else default_series(swept, x)
    return Axes(metric, x, compared)


def _moves_alone(results: Results, x: str) -> bool:
    """Whether a chart over `x` would have more than one position on its axis. It has only one if another path, swept in
    step with `x`, is fixed."""
    stays = held(results, x, default_series(results.swept(), x))
    return _places(results, [x, *stays]) > _places(results, stays)


def _metric_counts(results: Results) -> Counter[str]:
    """The number of points that have each metric."""
    return Counter(name for point in results.points for name in point.metrics)


def default_series(swept: Mapping[str, Sequence[Setting]], x: str) -> str:
    """The path whose values get colours. A path with words is preferred to one with numbers."""
    others = [path for path, values in swept.items() if path != x and len(values) > 1]
    return next((path for path in others if not is_numeric(swept[path])), others[0] if others else "")


def held(results: Results, x: str, series: str) -> list[str]:
    """The paths to fix at the chosen point's values, so that the chart has one value at each position.

    Paths swept in step with `x` need not be fixed.
    """
    told_apart = [path for path in (x, series) if path]
    stays: list[str] = []
    for path in results.swept():
        if _places(results, [*told_apart, *stays, path]) > _places(results, [*told_apart, *stays]):
            stays.append(path)
    return stays


def _places(results: Results, paths: Sequence[str]) -> int:
    return len({tuple(point.at.get(path) for path in paths) for point in results.points})


def choices(results: Results) -> dict[str, Any]:
    """What the page needs for sweep charts: the first axes, and the paths to fix for each pair of axes."""
    swept = results.swept()
    axes = default_axes(results)
    return {
        "default": asdict(axes) if axes else None,
        "cpus_series": default_series(swept, CPUS),
        "numeric": [path for path, values in swept.items() if is_numeric(values)],
        "x_scale": {path: x_scale(path, values) for path, values in swept.items()},
        "words": {path: path_words(path) for path in swept},
        "held": {x: {series: held(results, x, series) for series in ["", *swept]} for x in swept},
    }


def rows(results: Results, chosen: Point, axes: Axes) -> list[dict[str, Any]]:
    """One row for each point of the chart, as templates/sections/sweep.js computes them."""
    stays = held(results, axes.x, axes.series)
    return [
        {
            "point": point.number,
            "x": point.at[axes.x],
            "series": shown_setting(point.at[axes.series]) if axes.series else "",
            "value": point[axes.metric].value,
            "ci95": point[axes.metric].ci95 or 0,
        }
        for point in results.points
        if axes.metric in point.metrics and all(point.at.get(path) == chosen.at.get(path) for path in stays)
    ]
