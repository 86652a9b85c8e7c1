"""Which costs changed by more than chance, and by more than their budget.

A cost is thread time spent on an item, in percent of the base's thread time (without waiting for threads to end). Two things
vary: how threads interleaved in a recording, and in which order a replay interleaves them. The first differs from recording to
recording. The second is the same for all, because every recording is replayed in the same orders, so it is compared in pairs.
Both widen the confidence interval, whose degrees of freedom are Satterthwaite's.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, variance

from linebounce.compare.student import student_t
from linebounce.gate.budget import Budget
from linebounce.gate.layouts import LayoutChange, layout_changes, objects_of
from linebounce.gate.measure import Condition, Item, NotMeasuredError, Side
from linebounce.gate.work import unlike

RULE_OF = {
    "false_sharing": "false-sharing",
    "true_sharing": "contended-word",
    "lock": "slower-lock",
    "communication": "communication",
}
# Costs below this on both sides are not compared.
_NEGLIGIBLE_PCT = 0.25
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Figure:
    """A cost on one machine, in percent of the base's thread time. `low` and `high` bound the change from base to head."""

    condition: Condition
    base_pct: float
    head_pct: float
    low: float
    high: float
    budget_pct: float
    # The change if the program computes fast, and if slowly; None: not known.
    change_over_pace: tuple[float, float] | None = None

    @property
    def change(self) -> float:
        return self.head_pct - self.base_pct

    @property
    def verdict(self) -> str:
        """ "worse" if the whole interval is over the budget, "unclear" if part of it is. "better" if the whole interval
        is below minus the budget, otherwise "same"."""
        if self.low > self.budget_pct:
            return "worse"
        if self.high < -self.budget_pct:
            return "better"
        return "unclear" if self.high > self.budget_pct else "same"


_ORDER = ("worse", "better", "unclear", "same")


@dataclass
class Change:
    """A cost in both versions, on all machines."""

    rule: str
    name: str
    figures: list[Figure]
    items: list[Item]  # what was added up
    layout: list[LayoutChange] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """The machines' verdict that comes first in `_ORDER`."""
        return min((figure.verdict for figure in self.figures), key=_ORDER.index)

    @property
    def is_new(self) -> bool:
        return all(figure.base_pct < _NEGLIGIBLE_PCT for figure in self.figures)


Costs = list[list[float]]  # by recording and order


class Comparison:
    """Compares two measured versions against the budget."""

    def __init__(self, base: Side, head: Side, budget: Budget) -> None:
        self._base, self._head, self._budget = base, head, budget
        # Names that one recording of a version has more often than another; they are not compared.
        self.unlike = {**unlike(base.works), **unlike(head.works)}
        self._one_pct = {condition: thread_us(base, condition) / 100 for condition in base.us}

    def changes(self) -> list[Change]:
        """All compared costs, those with the worst verdict first. "all-sharing" is left out if a single cost has the
        same verdict."""
        found = [*self._shares(), *self._layouts()]
        single = {change.verdict for change in found if change.rule != "all-sharing"}
        found = [change for change in found if change.rule != "all-sharing" or change.verdict not in single]
        found = [change for change in found if any(max(it.base_pct, it.head_pct) >= _NEGLIGIBLE_PCT for it in change.figures)]
        return sorted(found, key=lambda change: (_ORDER.index(change.verdict), -max(abs(it.change) for it in change.figures)))

    def _shares(self) -> Iterator[Change]:
        items = sorted({item for side in (self._base, self._head) for item in side.places if item.what in RULE_OF})
        items = [item for item in items if not _is_of(item.name, tuple(self.unlike))]
        for item in items:
            yield self._change(RULE_OF[item.what], item.name, [item])
        yield self._change("all-sharing", "", items)

    def _layouts(self) -> Iterator[Change]:
        """One change for each structure of which a field crosses a line's end now, or that takes more lines. Its cost
        is the misses on the structure that no other thread causes; other rules count those that other threads cause."""
        by_structure: dict[str, list[LayoutChange]] = {}
        for layout in layout_changes(self._base.symbols[0], self._head.symbols[0]):
            by_structure.setdefault(layout.structure, []).append(layout)
        for structure, its_layouts in by_structure.items():
            objects = {name for side in (self._base, self._head) for name in objects_of(side.symbols[0], structure)}
            items = items_of({*self._base.places, *self._head.places}, objects, ("private_misses",))
            change = self._change("crosses-line", structure, items)
            change.layout = its_layouts
            yield change

    def _change(self, rule: str, name: str, items: list[Item]) -> Change:
        figures = []
        for condition, unit in self._one_pct.items():
            before, after = ([sums(of, items, unit) for of in side.us[condition]] for side in (self._base, self._head))
            figure = figure_of(condition, before, after, self._budget.of(rule, name))
            figures.append(replace(figure, change_over_pace=self._over_pace(condition, items)))
        return Change(rule, name, figures, items)

    def _over_pace(self, condition: Condition, items: Sequence[Item]) -> tuple[float, float] | None:
        ends = []
        for base, head in zip(self._base.us_over_pace[condition], self._head.us_over_pace[condition], strict=True):
            if not base or not head:
                return None
            unit = _thread_us_of(base) / 100
            before, after = (fmean(sums(replays, items, unit)) for replays in (base, head))
            ends.append(after - before)
        return ends[0], ends[1]


def sums(orders: Sequence[dict[Item, float]], items: Sequence[Item], unit: float) -> list[float]:
    return [sum(of.get(item, 0.0) for item in items) / unit for of in orders]


def thread_us(side: Side, condition: Condition) -> float:
    """The time of all threads without waiting for other threads to end: the mean over recordings and orders. Raises
    NotMeasuredError if it is 0."""
    us = _thread_us_of([of for orders in side.us[condition] for of in orders])
    if us <= 0:
        raise NotMeasuredError(f"{side.recordings[0]}: the threads do nothing")
    return us


def _thread_us_of(replays: Sequence[dict[Item, float]]) -> float:
    return fmean(sum(time for item, time in of.items() if item.what != "joining") for of in replays)


def figure_of(condition: Condition, before: Costs, after: Costs, budget_pct: float) -> Figure:
    """REQUIRES: each recording has at least two orders, the same on both sides."""
    base_pct, head_pct = (fmean(map(fmean, side)) for side in (before, after))
    parts = [_mean_variance([fmean(orders) for orders in side]) for side in (before, after)]
    by_order = [[fmean(order) for order in zip(*side, strict=True)] for side in (before, after)]
    parts.append(_mean_variance([new - old for old, new in zip(*by_order, strict=True)]))
    width = _half_width(parts)
    change = head_pct - base_pct
    return Figure(condition, base_pct, head_pct, change - width, change + width, budget_pct)


def _mean_variance(values: Sequence[float]) -> tuple[float, int]:
    """The variance of the values' mean, and its degrees of freedom; zeros for a single value."""
    return (variance(values) / len(values), len(values) - 1) if len(values) > 1 else (0.0, 0)


def _half_width(parts: Iterable[tuple[float, int]]) -> float:
    known = [(of_mean, degrees) for of_mean, degrees in parts if degrees > 0 and of_mean > 0]
    total = sum(of_mean for of_mean, _ in known)
    if total < 1e-18:  # rounding of equal values
        return 0.0
    degrees = total**2 / sum(of_mean**2 / degrees for of_mean, degrees in known)
    return student_t(max(1, math.floor(degrees + 1e-9)), _CONFIDENCE) * math.sqrt(total)


SHARING = ("false_sharing", "true_sharing", "communication")


def items_of(places: Iterable[Item], objects: Iterable[str], kinds: Sequence[str] = SHARING) -> list[Item]:
    """The items of these kinds that are about these objects or their fields."""
    names = tuple(objects)
    return sorted(item for item in places if item.what in kinds and _is_of(item.name, names))


def _is_of(name: str, objects: Sequence[str]) -> bool:
    return any(name == it or name.startswith(f"{it}.") for it in objects)
