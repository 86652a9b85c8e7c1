"""Compares the metrics of runs with those of a base run. Points are matched by their position in the sweep, and values
by seed."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from linebounce.compare.conditions import Condition, change_pct
from linebounce.compare.student import student_t_95
from linebounce.errors import UsageError, meant
from linebounce.records import At, Point, Setting
from linebounce.results import Results

# A histogram's peaks are numbered by latency, so an additional peak renumbers all later ones.
_NUMBERED_PEAK = re.compile(r"latency\.(user_)?peaks\.\d+\.")

# The values of one point: metric -> seed -> value.
Values = Mapping[str, Mapping[int, float]]
# The key by which points of two runs are matched.
Place = frozenset[tuple[str, Setting]]


def place_of(at: At) -> Place:
    return frozenset(at.items())


@dataclass(frozen=True)
class Change:
    """One metric of a point in the base and in another run: the means over the seeds that both have, and the mean
    difference."""

    metric: str
    unit: str
    base: float
    changed: float
    difference: float
    ci95: float | None  # half the width of the difference's 95 % interval; None with fewer than two common seeds

    @property
    def percent(self) -> float:
        return change_pct(self.base, self.changed)

    @property
    def ci95_percent(self) -> float | None:
        """The interval in percent of the base; None without an interval, or if the base is 0."""
        return None if self.ci95 is None or self.base == 0 else 100 * self.ci95 / abs(self.base)

    @property
    def significant(self) -> bool | None:
        """Whether the interval excludes 0; None without an interval."""
        return None if self.ci95 is None else abs(self.difference) > self.ci95

    @property
    def larger_than_chance(self) -> bool:
        """Like `significant`; without an interval, whether there is any difference at all."""
        return self.difference != 0 if self.significant is None else self.significant

    @property
    def size(self) -> float:
        """The change relative to the larger of the two values: 0 to 1, or up to 2 if the sign changes. A change from 0
        or to 0 is 1."""
        return 0.0 if self.base == self.changed else abs(self.changed - self.base) / max(abs(self.base), abs(self.changed))


@dataclass(frozen=True)
class PointChanges:
    """A point that both runs have, with its changes in the order of order_of()."""

    at: At
    changes: tuple[Change, ...]  # for the metrics that both runs have

    @property
    def title(self) -> str:
        return Point(0, self.at, {}).title


@dataclass(frozen=True)
class Comparison:
    """The base compared with one other run."""

    base: Results
    other: Results
    points: tuple[PointChanges, ...]
    only_base: tuple[str, ...]  # metrics that the other run lacks at every point
    only_other: tuple[str, ...]
    unmatched: int  # points that only one run has, or that failed in either run


@dataclass(frozen=True)
class Hit:
    """A --fail-on condition that holds, or that can't be judged because one of the runs lacks its metric at a point of the
    base."""

    condition: Condition
    comparison: Comparison
    at: At
    change: Change | None
    missing: str = ""  # which run lacks the metric, and why; empty if the condition holds


def compare(base: Results, other: Results) -> Comparison:
    """Raises UsageError if the runs have no point or no metric in common, InputError if a run has no finished point."""
    for results in (base, other):
        results.require_finished()
    pairs = _matched(base, other)
    base_values, other_values = _values_by_point(base), _values_by_point(other)
    points = []
    only_base: dict[str, None] = {}
    only_other: dict[str, None] = {}
    for first, second in pairs:
        points.append(_point_changes(first, second, base_values[first.number], other_values[second.number]))
        only_base |= dict.fromkeys(name for name in first.metrics if name not in second.metrics)
        only_other |= dict.fromkeys(name for name in second.metrics if name not in first.metrics)
    if not any(point.changes for point in points):
        raise UsageError(
            f"{base.name} and {other.name} share no metric: {_some(base)} here, {_some(other)} there; "
            "compare runs of the same workload"
        )
    shared = {change.metric for point in points for change in point.changes}
    first_alone, second_alone = (tuple(name for name in names if name not in shared) for names in (only_base, only_other))
    unmatched = len(base.points) + len(other.points) - len(same_places(base, other)) - len(pairs)
    return Comparison(base, other, tuple(points), first_alone, second_alone, unmatched)


def order_of(metric: str, chance: bool, size: float) -> tuple[bool, bool, float]:
    """Sort key: the largest changes come first. Numbered peaks come after the other metrics, and changes within chance
    last."""
    return chance, _NUMBERED_PEAK.match(metric) is not None, -size


def hits(comparisons: Sequence[Comparison], conditions: Sequence[Condition]) -> list[Hit]:
    """The places where conditions hold or can't be judged. Raises UsageError for a metric that no run has."""
    runs = [comparisons[0].base, *(comparison.other for comparison in comparisons)] if comparisons else []
    known = sorted({name for run in runs for point in run.points for name in point.metrics})
    for condition in conditions:
        if condition.metric not in known:
            raise UsageError(
                f"--fail-on {condition.text}: no run has a metric {condition.metric}; {meant(condition.metric, known)}"
            )
    return [hit for condition in conditions for run in comparisons for hit in _hits(run, condition)]


def _hits(run: Comparison, condition: Condition) -> Iterator[Hit]:
    """The hits at every point of the base. A point where neither run has the metric gives none."""
    for point in run.points:
        for change in point.changes:
            if change.metric == condition.metric and condition.holds(change.base, change.changed):
                yield Hit(condition, run, point.at, change)
    other_of = {first.number: second for first, second in same_places(run.base, run.other)}
    for base in run.base.points:
        other = other_of.get(base.number)
        missing = _why_missing(condition.metric, run.base, base) or _why_missing(condition.metric, run.other, other)
        failed = not base.metrics or other is None or not other.metrics
        has_it = condition.metric in base.metrics or (other is not None and condition.metric in other.metrics)
        if missing and (failed or has_it):
            yield Hit(condition, run, base.at, None, missing)


def _why_missing(metric: str, results: Results, point: Point | None) -> str:
    """Why the point lacks the metric; empty if it has it."""
    if point is None:
        return f"{results.name} does not have this point"
    if not point.metrics:
        return f"the point failed in {results.name}"
    return "" if metric in point.metrics else f"{results.name} does not have the metric here"


def interval95(differences: Sequence[float]) -> float | None:
    """Half the width of the mean difference's 95 % interval (Student's t); None for fewer than two differences."""
    n = len(differences)
    if n < 2:
        return None
    mean = fmean(differences)
    variance = math.fsum((value - mean) ** 2 for value in differences) / (n - 1)
    return student_t_95(n - 1) * math.sqrt(variance / n)


def _matched(base: Results, other: Results) -> list[tuple[Point, Point]]:
    """Pairs of points with the same position, both of which have metrics. Two runs of one point each are always paired."""
    pairs = same_places(base, other)
    if not pairs:
        raise UsageError(
            f"{base.name} and {other.name} have no point in common: one begins {_place(base)}, the other {_place(other)}"
        )
    return [(first, second) for first, second in pairs if first.metrics and second.metrics]


def same_places(base: Results, other: Results) -> list[tuple[Point, Point]]:
    """The pairs of points with the same position, finished or not. Two runs of one point each are always paired."""
    if len(base.points) == len(other.points) == 1:
        return [(base.points[0], other.points[0])]
    there = {place_of(point.at): point for point in other.points}
    return [(point, there[place_of(point.at)]) for point in base.points if place_of(point.at) in there]


def _place(results: Results) -> str:
    return f"at {results.points[0].title}" if results.points[0].at else "without a sweep"


def _some(results: Results) -> str:
    names = [name for point in results.points for name in point.metrics]
    return f"{names[0]}, ..." if names else "none"


def _values_by_point(results: Results) -> dict[int, Values]:
    values: dict[int, dict[str, dict[int, float]]] = {point.number: {} for point in results.points}
    for point, seed, metric, value in results.seeds.select("point", "seed", "metric", "value").iter_rows():
        values.setdefault(point, {}).setdefault(metric, {})[seed] = value
    return dict(values)


def _point_changes(base: Point, other: Point, base_values: Values, other_values: Values) -> PointChanges:
    changes = []
    for name, metric in base.metrics.items():
        if name not in other.metrics:
            continue
        before, after = base_values.get(name, {}), other_values.get(name, {})
        shared = [seed for seed in before if seed in after]
        differences = [after[seed] - before[seed] for seed in shared]
        first, second = float(metric.value), float(other.metrics[name].value)
        interval = interval95(differences)
        if interval is not None and (len(shared) < len(before) or len(shared) < len(after)):
            first, second = fmean(before[seed] for seed in shared), fmean(after[seed] for seed in shared)
        difference = second - first if interval is None else fmean(differences)
        changes.append(Change(name, metric.unit, first, second, difference, interval))
    # Changes without an interval sort as if they were larger than chance.
    changes.sort(key=lambda change: order_of(change.metric, change.significant is False, change.size))
    return PointChanges(base.at, tuple(changes))
