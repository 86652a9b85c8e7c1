"""A comparison as rows, those that changed most first: what terminal, HTML and JSON show."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linebounce.compare.changes import Change, Comparison, Hit, order_of
from linebounce.records import At, Point, Setting


@dataclass(frozen=True)
class Row:
    """One metric of one point, in the base and each of the other runs; None in a run that doesn't have it."""

    at: At
    metric: str
    unit: str
    base: float
    changes: tuple[Change | None, ...]

    @property
    def title(self) -> str:
        return Point(0, self.at, {}).title

    @property
    def size(self) -> float:
        return max(change.size for change in self.changes if change)

    @property
    def chance(self) -> bool:
        """Whether chance explains every change."""
        return all(change.significant is False for change in self.changes if change)


def rows_of(comparisons: Sequence[Comparison]) -> list[Row]:
    """Of all points, in the order of order_of()."""
    found: dict[tuple[frozenset[tuple[str, Setting]], str], list[Change | None]] = {}
    places: dict[frozenset[tuple[str, Setting]], At] = {}
    for number, comparison in enumerate(comparisons):
        for point in comparison.points:
            key = frozenset(point.at.items())
            places[key] = point.at
            for change in point.changes:
                found.setdefault((key, change.metric), [None] * len(comparisons))[number] = change
    rows = []
    for (key, metric), changes in found.items():
        first = next(change for change in changes if change)
        rows.append(Row(places[key], metric, first.unit, first.base, tuple(changes)))
    return sorted(rows, key=lambda row: order_of(row.metric, row.chance, row.size))


def number_text(value: float) -> str:
    return f"{value:.6g}"


def change_text(change: Change | None) -> str:
    """`+12.3 ± 0.4 % *`: the star marks what chance doesn't explain."""
    if change is None:
        return ""
    if change.base == change.changed:
        return "="
    if math.isinf(change.percent):
        return "from 0"
    spread = "" if change.ci95_percent is None else f" ± {change.ci95_percent:.1f}"
    return f"{change.percent:+.1f}{spread} %{' *' if change.significant else ''}"


def hit_text(hit: Hit) -> str:
    change = hit.change
    title = Point(0, hit.at, {}).title
    place = f" at {title}" if title else ""
    if change is None:
        return f"{hit.condition.text}: {hit.comparison.other.directory}{place}: nothing to compare, for {hit.missing}"
    values = f"{number_text(change.base)} -> {number_text(change.changed)} {change.unit}".rstrip()
    return f"{hit.condition.text}: {hit.comparison.other.directory}{place}: {values} ({change_text(change)})"


def interval_note(rows: Sequence[Row]) -> str:
    """What the intervals and stars mean, and how many stars there would be without any effect; empty without intervals."""
    tested = [change for row in rows for change in row.changes if change and change.ci95 is not None and change.size > 0]
    if not tested:
        return ""
    stars = sum(change.significant is True for change in tested)
    return (
        "±: the 95 % interval of the mean difference between runs of equal seeds (Student's t); *: it does not hold 0. "
        f"{stars} of {len(tested)} changes have a star; of changes by chance alone about 5 % would have one, "
        f"{round(len(tested) / 20)} of these"
    )


def notes_of(comparison: Comparison) -> list[str]:
    """What could not be compared."""
    other = comparison.other.directory
    notes = []
    if comparison.unmatched:
        points = "1 point is" if comparison.unmatched == 1 else f"{comparison.unmatched} points are"
        notes.append(f"{points} in {comparison.base.directory} or {other} alone, or failed")
    for names, where in ((comparison.only_base, comparison.base.directory), (comparison.only_other, other)):
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            notes.append(f"only {where} has {', '.join(names[:3])}{more}")
    return notes


def document_of(comparisons: Sequence[Comparison], hits: Sequence[Hit]) -> dict[str, Any]:
    """What --json prints."""
    return {
        "schema": "linebounce.compare/1",
        "base": str(comparisons[0].base.directory),
        "others": [str(comparison.other.directory) for comparison in comparisons],
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
                "run": str(hit.comparison.other.directory),
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
