"""A metric over a swept path: which points a chart of it has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linebounce.records import Point, Setting, setting_text
from linebounce.results import Results

# What a reader looks for first, and how the page calls it. The first one that a run has is the one that is shown over a sweep.
KEY_FIGURES = {
    "throughput.operations_per_s": "operations",
    "throughput.system_ns_per_operation": "system time an operation",
    "throughput.files_created_per_s": "files created",
    "cost.operation_ns": "time for an operation",
    "core_to_core.same_node_ns": "core to core, same node",
    "core_to_core.other_node_ns": "core to core, other node",
    "latency.kernel_offchip.mean_ns": "kernel's off-chip miss, mean",
    "cost.main_memory": "main memory",
    "misses.local_share_pct": "kernel's misses, local",
    "misses.kernel_c2c_share_pct": "kernel's misses, from caches",
    "bus.utilisation_pct": "bus busy",
    "fairness.jain_pct": "fairness (Jain)",
    "cpi.kernel": "CPI, kernel",
    "time.system_pct": "system time",
    "time.idle_pct": "idle time",
}


@dataclass(frozen=True)
class Axes:
    """A metric over the path x, one line for each value of the path series, which is empty where there is one line."""

    metric: str
    x: str
    series: str


def is_numeric(values: Sequence[Setting]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def default_axes(results: Results) -> Axes | None:
    """What is shown until a reader chooses: a key figure over the first path of numbers."""
    swept = results.swept()
    names = [name for name in KEY_FIGURES if sum(name in point.metrics for point in results.points) > 1]
    if not names or not swept:
        return None
    x = next((path for path, values in swept.items() if is_numeric(values)), next(iter(swept)))
    return Axes(names[0], x, default_series(swept, x))


def default_series(swept: Mapping[str, Sequence[Setting]], x: str) -> str:
    """Which path gets the colours: one of words rather than of numbers."""
    others = [path for path, values in swept.items() if path != x and len(values) > 1]
    return next((path for path in others if not is_numeric(swept[path])), others[0] if others else "")


def rows(results: Results, chosen: Point, axes: Axes) -> list[dict[str, Any]]:
    """One row for each point of the chart.

    Other paths stay as they are at the chosen point, but only as many of them as it takes to have one point in each place:
    those that go in step with x need not stay.
    """
    points = list(results.points)
    for path in results.swept():
        places = {(point.at.get(axes.x), point.at.get(axes.series)) for point in points}
        if len(places) == len(points):
            break
        if path not in (axes.x, axes.series):
            points = [point for point in points if point.at.get(path) == chosen.at.get(path)]
    found = [(point, point.metrics[axes.metric]) for point in points if axes.metric in point.metrics]
    return [
        {
            "point": point.number,
            "x": point.at[axes.x],
            "series": setting_text(point.at[axes.series]) if axes.series else "",
            "value": metric.value,
            "ci95": metric.ci95 or 0,
            "low": metric.value - (metric.ci95 or 0),
            "high": metric.value + (metric.ci95 or 0),
        }
        for point, metric in found
    ]
