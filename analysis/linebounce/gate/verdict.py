"""The gate's answer. Every form of output is made from it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from linebounce.commands import CHECK_FAILED, DONE
from linebounce.gate.judge import Change, Figure
from linebounce.gate.sources import Location, Replacement

NOT_MEASURED = 5

_SUBJECTS = {
    "false-sharing": "false sharing of {}",
    "contended-word": "writes of several threads to {}",
    "slower-lock": "the lock {}",
    "communication": "communication through {}",
    "crosses-line": "the layout of {}",
    "all-sharing": "all sharing together",
}


@dataclass
class Evidence:
    """Where in the source a change comes from, and the edit that `advise` proposes against it."""

    declared: Location | None = None
    functions: list[str] = field(default_factory=list)  # that wait
    accesses: list[Location] = field(default_factory=list)
    what: str = ""  # the edit in words
    edits: list[Replacement] = field(default_factory=list)


@dataclass
class Priced:
    """A static checker's finding with its cost. In `figures` the cost is the head's; the base's is 0."""

    tool: str
    rule: str
    message: str
    location: Location
    subject: str  # the object or field declared at the finding's line; empty: none found
    figures: list[Figure]

    @property
    def text(self) -> str:
        if not self.subject:
            return "not priced: no recorded structure or variable is declared at this line"
        costly = [figure for figure in self.figures if figure.low > 0]
        if not costly:
            return f"{self.subject} costs nothing on these machines"
        return f"{self.subject} costs " + "; ".join(
            f"{it.head_pct:.1f} % ({it.low:.1f} to {it.high:.1f}) of the threads' time on {it.condition}" for it in costly
        )


@dataclass
class Verdict:
    """`not_measured`: why there is no verdict, or only an incomplete one."""

    base: list[Path]
    head: list[Path]
    changes: list[Change] = field(default_factory=list)
    evidence: dict[int, Evidence] = field(default_factory=dict)  # by the index of a change in `changes`
    priced: list[Priced] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    not_measured: list[str] = field(default_factory=list)
    not_compared: list[str] = field(default_factory=list)  # costs that the recordings of a version do not have alike
    basis: str = ""  # what sizes rest on, as a sentence

    def of(self, verdict: str) -> list[tuple[int, Change]]:
        return [(number, change) for number, change in enumerate(self.changes) if change.verdict == verdict]

    @property
    def order(self) -> str:
        """Whether the costs over budget keep their order over the range of the program's pace. Empty if there are not two."""
        figures = [max(change.figures, key=lambda it: it.change) for _, change in self.of("worse")]
        ranges = [(it.change, *it.change_over_pace) for it in figures if it.change_over_pace]
        if len(ranges) < 2:
            return ""
        by_size = sorted(ranges, reverse=True)
        keeps = all([it[end] for it in by_size] == sorted((it[end] for it in by_size), reverse=True) for end in (1, 2))
        if keeps:
            return "The order of the costs is the same whether the program computes fast or slowly."
        return "The order of the costs depends on how fast the program computes."

    @property
    def exit_code(self) -> int:
        """NOT_MEASURED if anything was not measured, whatever the other costs."""
        return NOT_MEASURED if self.not_measured else CHECK_FAILED if self.of("worse") else DONE

    @property
    def sentence(self) -> str:
        worse = len(self.of("worse"))
        over = f"{worse} cost{'' if worse == 1 else 's'} of sharing over budget" if worse else ""
        if self.not_measured:
            measured = f" ({over} in what was measured)" if over else ""
            return f"No verdict{measured}: {self.not_measured[0].rstrip('.')}."
        compared = f"{_count(self.base, 'recording')} against {len(self.head)}"
        return f"Over budget: {over}, by {compared}." if worse else f"Within budget, by {compared}."


def _count(things: Sequence[object], noun: str) -> str:
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


def subject(change: Change) -> str:
    """What the change is about: "false sharing of counts"."""
    return _SUBJECTS[change.rule].format(change.name)


def headline(change: Change, evidence: Evidence | None = None) -> str:
    """One line: what changed, how its layout changed, and which functions wait."""
    new = "new: " if change.is_new and change.verdict == "worse" else ""
    layout = f": {'; '.join(each.text for each in change.layout)}" if change.layout else ""
    where = f", in {' and '.join(evidence.functions)}" if evidence and evidence.functions else ""
    return f"{new}{subject(change)}{layout}{where}"


def figure_text(figure: Figure) -> str:
    """Such as "0.0 → 20.4 % of the base's thread time: +20.4 (19.9 to 20.8), budget 2"."""
    return (
        f"{figure.base_pct:.1f} → {figure.head_pct:.1f} % of the base's thread time: {figure.change:+.1f} "
        f"({figure.low:.1f} to {figure.high:.1f}{_over_pace_text(figure)}), budget {figure.budget_pct:g}"
    )


def _over_pace_text(figure: Figure) -> str:
    if figure.change_over_pace is None:
        return ""
    fast, slow = figure.change_over_pace
    return f"; {fast:+.1f} if the program computes fast, {slow:+.1f} if slowly"
