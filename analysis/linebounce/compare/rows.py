"""A comparison as rows, the largest changes first. selection.py chooses the rows that the terminal and the page show first."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

from linebounce.compare.changes import Change, Comparison, Hit, Place, order_of, place_of
from linebounce.quantity import quantity
from linebounce.records import At, Better, Point

Verdict = Literal["better", "worse", "same", "changed", "missing"]


@dataclass(frozen=True)
class Row:
    """One metric of one point, in the base and in the other runs. `changes` has None for a run that lacks it."""

    at: At
    metric: str
    unit: str
    base: float
    changes: tuple[Change | None, ...]
    better: Better | None  # None if the metric is not a headline of the base

    @cached_property
    def key(self) -> tuple[Place, str]:
        return place_of(self.at), self.metric

    @property
    def title(self) -> str:
        return Point(0, self.at, {}).title

    @property
    def size(self) -> float:
        return max((change.size for change in self.changes if change), default=0.0)

    @property
    def chance(self) -> bool:
        """Whether every change is within chance."""
        return all(change.significant is False for change in self.changes if change)

    @property
    def larger_than_chance(self) -> bool:
        """Whether any change is larger than chance."""
        return any(change.larger_than_chance for change in self.changes if change)

    @property
    def order(self) -> tuple[bool, bool, float]:
        """The sort key; see order_of()."""
        return order_of(self.metric, self.chance, self.size)

    def verdict(self, change: Change | None) -> Verdict | None:
        """The verdict on one of the row's changes. None if the metric is not a headline, or if there is no interval to
        judge a change by."""
        if self.better is None:
            return None
        if change is None:
            return "missing"
        if not change.larger_than_chance:
            return "same"
        if change.significant is None:
            return None
        if self.better == "neither":
            return "changed"
        return "better" if (change.difference > 0) == (self.better == "higher") else "worse"


def rows_of(comparisons: Sequence[Comparison]) -> list[Row]:
    """The rows of all points, sorted by order_of()."""
    better = {headline.metric: headline.better for headline in comparisons[0].base.headlines}
    found: dict[tuple[Place, str], list[Change | None]] = {}
    places: dict[Place, At] = {}
    for number, comparison in enumerate(comparisons):
        for point in comparison.points:
            place = place_of(point.at)
            places[place] = point.at
            for change in point.changes:
                found.setdefault((place, change.metric), [None] * len(comparisons))[number] = change
    rows = []
    for (place, metric), changes in found.items():
        first = next(change for change in changes if change)
        rows.append(Row(places[place], metric, first.unit, first.base, tuple(changes), better.get(metric)))
    return sorted(rows, key=lambda row: row.order)


def run_names(comparisons: Sequence[Comparison]) -> list[str]:
    """The names of runs in sentences and tables: A, B, ..., Z, run 27 and so on. A part of a run is named after its
    value."""
    runs = [comparisons[0].base, *(comparison.other for comparison in comparisons)]
    return [run.part or (chr(ord("A") + number) if number < 26 else f"run {number + 1}") for number, run in enumerate(runs)]


def change_text(change: Change | None) -> str:
    """Such as `+12.3 ± 0.4 % *`; the star marks a change larger than chance."""
    percent, interval = percent_text(change), interval_text(change)
    if change is None or not percent.endswith(" %"):
        return percent
    return f"{percent.removesuffix(' %')}{f' {interval}' if interval else ''} %{' *' if change.significant else ''}"


def percent_text(change: Change | None) -> str:
    """The change without its interval: `+12.3 %`."""
    if change is None:
        return ""
    if change.base == change.changed:
        return "="
    return "from 0" if math.isinf(change.percent) else f"{'+' if change.percent > 0 else ''}{_decimals(change.percent)} %"


def interval_text(change: Change | None) -> str:
    """Half the interval's width in percent of the base, such as `± 0.4`; empty without an interval or without a change."""
    if change is None or change.ci95_percent is None or change.base == change.changed:
        return ""
    return f"± {_decimals(change.ci95_percent)}"


def _decimals(percent: float) -> str:
    """Rounds to one decimal. A smaller change gets one significant digit, so that no change is shown as 0."""
    return f"{percent:.1f}" if percent == 0 or abs(percent) >= 0.05 else f"{percent:.1g}"


def hit_text(hit: Hit) -> str:
    change = hit.change
    title = Point(0, hit.at, {}).title
    place = f" at {title}" if title else ""
    if change is None:
        return f"{hit.condition.text}: {hit.comparison.other.name}{place}: nothing to compare, for {hit.missing}"
    values = f"{quantity(change.base, change.unit)} -> {quantity(change.changed, change.unit)}"
    return f"{hit.condition.text}: {hit.comparison.other.name}{place}: {values} ({change_text(change)})"


def interval_note(rows: Sequence[Row]) -> str:
    """Explains intervals, stars and verdicts, and how many stars chance alone would produce; empty if all rows are equal."""
    changed = [change for row in rows for change in row.changes if change and change.size > 0]
    tested = [change for change in changed if change.ci95 is not None]
    if not changed:
        return ""
    if not tested and any(change.ci95 is not None for row in rows for change in row.changes if change):
        return (
            "No metric that has an interval changed. Those that did were not measured under every seed: chance may have made "
            "any of these differences"
        )
    if not tested:
        return (
            "One seed has no interval: chance may have made any of these differences, so none is called better or worse. "
            "--set run.seeds=5 gives intervals"
        )
    stars = sum(change.significant is True for change in tested)
    return (
        "A star, and better, worse or changed, mean that the 95 % interval (±) of the mean difference between runs of equal "
        f"seeds (Student's t) does not hold 0: {stars} of {len(tested)} changes; of changes by chance alone about 5 % "
        f"would have a star, {round(len(tested) / 20)} of these"
    )


def notes_of(comparison: Comparison) -> list[str]:
    """Sentences about what could not be compared."""
    other = comparison.other.name
    notes = []
    if comparison.unmatched:
        points = "1 point is" if comparison.unmatched == 1 else f"{comparison.unmatched} points are"
        notes.append(f"{points} in {comparison.base.name} or {other} alone, or failed")
    for names, where in ((comparison.only_base, comparison.base.name), (comparison.only_other, other)):
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            notes.append(f"only {where} has {', '.join(names[:3])}{more}")
    return notes


def document_of(comparisons: Sequence[Comparison], hits: Sequence[Hit]) -> dict[str, Any]:
    """The document for --json."""
    return {
        "schema": "linebounce.compare/1",
        "base": comparisons[0].base.name,
        "others": [comparison.other.name for comparison in comparisons],
        "headlines": [asdict(headline) for headline in comparisons[0].base.headlines],
        "rows": [
            {
                "at": dict(row.at),
                "metric": row.metric,
                "unit": row.unit,
                "base": row.base,
                "changes": [_change_document(change) for change in row.changes],
            }
            for row in rows_of(comparisons)
        ],
        "notes": [note for comparison in comparisons for note in notes_of(comparison)],
        "failed": [
            {
                "condition": hit.condition.text,
                "run": hit.comparison.other.name,
                "at": dict(hit.at),
                "metric": hit.condition.metric,
                "base": hit.change.base if hit.change else None,
                "value": hit.change.changed if hit.change else None,
                "missing": hit.missing or None,
            }
            for hit in hits
        ],
    }


def _change_document(change: Change | None) -> dict[str, Any] | None:
    if change is None:
        return None
    return {
        "value": change.changed,
        "difference": change.difference,
        "ci95": change.ci95,
        "change_pct": None if math.isinf(change.percent) else change.percent,
        "ci95_pct": change.ci95_percent,
        "significant": change.significant,
    }
