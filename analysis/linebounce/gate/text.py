"""Formats the verdict for people: text for a terminal, Markdown for a job's summary, and annotations that a CI service
shows beside the source."""

import textwrap
from pathlib import Path

from linebounce.gate.judge import Change
from linebounce.gate.sources import Location
from linebounce.gate.verdict import Evidence, Priced, Verdict, figure_text, headline, subject

_WIDTH = 100
_TITLES = {"worse": "Worse", "better": "Better", "unclear": "Unclear: the interval reaches over the budget; record more often"}


def shown(path: Path, root: Path) -> str:
    """The path relative to `root`; unchanged if it is not below `root`."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def place_text(location: Location, root: Path) -> str:
    return f"{shown(location.path, root)}:{location.line}"


def text(verdict: Verdict, root: Path) -> str:
    lines = [verdict.sentence, *(_paragraph(sentence, 0) for sentence in (verdict.basis, verdict.order) if sentence)]
    for kind, title in _TITLES.items():
        found = verdict.of(kind)
        if not found:
            continue
        lines += ["", f"{title}:"]
        for number, change in found:
            lines += _change_text(change, verdict.evidence.get(number), root)
    if same := len(verdict.of("same")):
        lines += ["", f"The same, or within budget: {same} more."]
    if verdict.priced:
        lines += ["", "Findings of static checkers:"]
        lines += [_paragraph(f"{place_text(it.location, root)}: {_checker(it)}: {it.text}", 2) for it in verdict.priced]
    for title, sentences in _beside(verdict):
        if sentences:
            lines += ["", f"{title}:", *(_paragraph(sentence, 2) for sentence in sentences)]
    return "\n".join(lines) + "\n"


def _beside(verdict: Verdict) -> list[tuple[str, list[str]]]:
    """What else the report lists, with its titles."""
    return [
        ("Not measured", verdict.not_measured),
        ("Not compared: the recordings of a version did different work", verdict.not_compared),
        ("Not seen by the recorder", verdict.missing),
    ]


def _checker(it: Priced) -> str:
    return f"{it.tool} {it.rule}".strip()


def _paragraph(sentence: str, indent: int) -> str:
    return textwrap.fill(
        sentence, _WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2), break_on_hyphens=False
    )


def _change_text(change: Change, evidence: Evidence | None, root: Path) -> list[str]:
    lines = [_paragraph(headline(change, evidence), 2)]
    if evidence and evidence.declared:
        lines[0] += f"\n    declared at {place_text(evidence.declared, root)}"
    lines += [_paragraph(f"{figure.condition}: {figure_text(figure)}", 4) for figure in change.figures]
    if evidence and evidence.what:
        lines.append(_paragraph(f"advice: {evidence.what}", 4))
    return lines


def markdown(verdict: Verdict, root: Path) -> str:
    """Markdown for a CI job's summary, such as $GITHUB_STEP_SUMMARY."""
    lines = [f"## linebounce gate: {_cell(verdict.sentence)}", ""]
    lines += [part for sentence in (verdict.basis, verdict.order) if sentence for part in (_cell(sentence), "")]
    rows = [(kind, number, change) for kind in ("worse", "better", "unclear") for number, change in verdict.of(kind)]
    if rows:
        lines += [
            "| | cost | machine | base | head | change (95 %) | budget | where |",
            "|---|---|---|---:|---:|---:|---:|---|",
        ]
    for kind, number, change in rows:
        evidence = verdict.evidence.get(number)
        place = evidence.declared if evidence else None
        where = _cell(place_text(place, root)) if place else ""
        for figure in change.figures:
            interval = f"{figure.change:+.1f} ({figure.low:.1f} to {figure.high:.1f})"
            cells = [kind, _cell(headline(change, evidence)), _cell(str(figure.condition)), f"{figure.base_pct:.1f} %"]
            cells += [f"{figure.head_pct:.1f} %", interval, f"{figure.budget_pct:g}", where]
            lines.append(f"| {' | '.join(cells)} |")
    advice = [(subject(change), verdict.evidence[number].what) for _, number, change in rows if number in verdict.evidence]
    if any(what for _, what in advice):
        lines += ["", "Advice:", "", *(f"- {_cell(about)}: {_cell(what)}" for about, what in advice if what)]
    if verdict.priced:
        lines += ["", "| checker | at | cost |", "|---|---|---|"]
        for it in verdict.priced:
            lines.append(f"| {_cell(_checker(it))} | {_cell(place_text(it.location, root))} | {_cell(it.text)} |")
    for title, sentences in _beside(verdict):
        if sentences:
            lines += ["", f"{title}:", "", *(f"- {_cell(sentence)}" for sentence in sentences)]
    lines += [
        "",
        "Costs are thread time, in percent of the base's. Only an interval that is over the budget as a whole counts.",
    ]
    return "\n".join(lines) + "\n"


# Escapes for names that come from the program, which may end no table cell and become neither HTML nor a link.
_ESCAPES = str.maketrans({letter: f"\\{letter}" for letter in "\\|`*_[]"} | {"<": "&lt;", ">": "&gt;"})


def _cell(words: str) -> str:
    return " ".join(words.translate(_ESCAPES).split())


def annotations(verdict: Verdict, root: Path) -> str:
    """GitHub annotations: `::error file=,line=::` for each cost over budget, `::notice` for each cost that became
    better, and `::error` without a place for whatever was not measured."""
    lines = []
    for kind, level in (("worse", "error"), ("better", "notice")):
        for number, change in verdict.of(kind):
            evidence = verdict.evidence.get(number)
            words = "; ".join(f"{figure.condition}: {figure_text(figure)}" for figure in change.figures)
            message = f"{headline(change, evidence)}. {words}"
            lines.append(f"::{level} {_properties(change, evidence, root)}::{_escaped(message)}")
    for sentence in verdict.not_measured:
        lines.append(f"::error title=linebounce gate%3A not measured::{_escaped(sentence)}")
    return "".join(f"{line}\n" for line in lines)


def _properties(change: Change, evidence: Evidence | None, root: Path) -> str:
    values = {"title": f"linebounce gate: {change.rule}"}
    if evidence and evidence.declared:
        at = evidence.declared
        values = {"file": shown(at.path, root), "line": str(at.line)} | ({"col": str(at.column)} if at.column else {}) | values
    return ",".join(f"{key}={_escaped(value).replace(':', '%3A').replace(',', '%2C')}" for key, value in values.items())


def _escaped(words: str) -> str:
    return words.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
