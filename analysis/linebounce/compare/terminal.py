"""Prints a comparison: the answer, the rows that matter most, and how many more there are."""

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.text import Text

from linebounce.compare.answer import answers_alone, differences, pair_answers
from linebounce.compare.changes import Change, Comparison
from linebounce.compare.layout import Column, Kind, fits, table_lines
from linebounce.compare.rows import (
    Row,
    interval_note,
    interval_text,
    notes_of,
    percent_text,
    run_names,
)
from linebounce.compare.selection import as_in_results, first_rows, headline_rows
from linebounce.console import output
from linebounce.quantity import quantity
from linebounce.records import At, shown_setting
from linebounce.visible import visible_name

_PIPE_COLUMNS = 200
_STYLES = {"better": "green", "worse": "red", "same": "dim", "changed": "yellow", "missing": "yellow", None: ""}


def print_comparison(comparisons: Sequence[Comparison], rows: Sequence[Row], all_metrics: bool) -> None:
    """`rows`: from rows_of(). With `all_metrics`, the headlines of every point, then every row."""
    console = output(_PIPE_COLUMNS)
    _print_runs(console, comparisons)
    _print_answers(console, comparisons)
    names = run_names(comparisons)
    swept = len(comparisons[0].base.points) > 1
    if all_metrics:
        _print_table(console, "", headline_rows(comparisons, rows), names, swept)
        for of_point in as_in_results(comparisons, rows):
            _print_table(console, of_point[0].title if swept else "All metrics", of_point, names, False)
        notes = []
    else:
        headlines, others = first_rows(comparisons, rows)
        _print_table(console, "", headlines, names, swept)
        _print_table(console, "Other changes, the largest first" if headlines else "", others, names, swept)
        notes = _notes_of_rest(rows, [*headlines, *others])
    notes += [interval_note(rows), *(note for comparison in comparisons for note in notes_of(comparison))]
    console.print()
    for note in filter(None, notes):
        console.print(Text(visible_name(note), style="dim"))


def _print_runs(console: Console, comparisons: Sequence[Comparison]) -> None:
    """Prints which runs are compared. For runs of one point each it includes their positions, which may differ."""
    base = comparisons[0].base
    console.print(Text(visible_name(base.title), style="bold"))
    if base.part:
        console.print(Text(visible_name(f"{base.directory}  {base.machine}")))
        return
    for name, run in zip(run_names(comparisons), [base, *(comparison.other for comparison in comparisons)], strict=True):
        place = run.points[0].title if len(run.points) == 1 else ""
        console.print(Text(visible_name(f"{name}  {run.name}  {run.machine}  {place}".rstrip())))


def _print_answers(console: Console, comparisons: Sequence[Comparison]) -> None:
    console.print()
    for name, comparison, text in zip(run_names(comparisons)[1:], comparisons, pair_answers(comparisons), strict=True):
        if not comparison.base.part:
            found = differences(comparison.base, comparison.other)
            what = ", ".join(found) if found else "nothing that the configuration says"
            console.print(Text(visible_name(f"{name} differs in {what}")))
        if text:
            console.print(Text(visible_name(text), style="bold"))
    for name, text in answers_alone(comparisons):
        console.print(Text(visible_name(f"{name} alone: {text}"), style="dim"))


def _notes_of_rest(rows: Sequence[Row], shown: Sequence[Row]) -> list[str]:
    left_out = {row.key for row in rows} - {row.key for row in shown}
    if not left_out:
        return []
    changed = sum(row.larger_than_chance for row in rows if row.key in left_out)
    points = len({place for place, _ in left_out})
    where = f" at {points} points" if points > 1 else ""
    metrics = "1 more metric" if len(left_out) == 1 else f"{len(left_out)} more metrics"
    return [f"{metrics}{where}, {changed} of them changed: --all-metrics prints all"]


def _print_table(console: Console, heading: str, rows: Sequence[Row], names: Sequence[str], with_point: bool) -> None:
    """Prints several tables if the runs don't fit side by side."""
    if not rows:
        return
    console.print()
    if heading:
        console.print(Text(heading, style="bold"))
    for number, columns in enumerate(_tables(rows, names, with_point, console.width)):
        if number:
            console.print()
        for line in table_lines(columns, console.width):
            console.print(line, soft_wrap=True)


def _tables(rows: Sequence[Row], names: Sequence[str], with_point: bool, width: int) -> list[list[Column]]:
    """Tables with as many runs side by side as fit."""
    runs = range(len(rows[0].changes))
    leading = _first_columns(rows, names[0], with_point)
    for count in range(len(runs), 0, -1):
        parts = [runs[first : first + count] for first in range(0, len(runs), count)]
        tables = [
            [*leading, *(column for run in part for column in _columns_of_run(rows, run, names[run + 1]))] for part in parts
        ]
        if all(fits(table, width) for table in tables):
            break
    return tables


def _first_columns(rows: Sequence[Row], base: str, with_point: bool) -> list[Column]:
    """The columns to the left of the other runs' columns."""
    styles = ["dim" if row.better is None and row.chance else "" for row in rows]

    def column(kind: Kind, title: str, text_of: Callable[[Row], str]) -> Column:
        cells = [Text(visible_name(text_of(row)), style) for row, style in zip(rows, styles, strict=True)]
        return Column(kind, visible_name(title), cells)

    return [
        *([column("point", _swept_text(rows[0].at), _place_text)] if with_point else []),
        column("metric", "metric", lambda row: row.metric),
        column("base", base, lambda row: quantity(row.base, row.unit)),
    ]


def _swept_text(at: At) -> str:
    """The last words of the swept paths, such as `lock, cpus`; full paths if two last words are equal."""
    last_words = [path.rpartition(".")[2] for path in at]
    return ", ".join(last_words if len(set(last_words)) == len(at) else at)


def _place_text(row: Row) -> str:
    """Such as `mcs, 4`."""
    return ", ".join(shown_setting(value) for value in row.at.values())


def _columns_of_run(rows: Sequence[Row], run: int, name: str) -> list[Column]:
    alone = len(rows[0].changes) == 1
    shown = [(row.changes[run], _style(row, row.changes[run])) for row in rows]
    return [
        Column(
            "value", visible_name(name), [Text(quantity(change.changed, change.unit) if change else "") for change, _ in shown]
        ),
        Column(
            "change",
            "change" if alone else visible_name(f"{name}: change"),
            [Text(percent_text(change), style) for change, style in shown],
        ),
        Column("interval", "", [Text(interval_text(change), style) for change, style in shown]),
        Column("verdict", "", [_mark(row, row.changes[run]) for row in rows]),
    ]


def _mark(row: Row, change: Change | None) -> Text:
    """A headline's verdict; for other metrics, a star if the change is larger than chance."""
    verdict = row.verdict(change)
    return Text(verdict or ("*" if change and change.significant else ""), _style(row, change))


def _style(row: Row, change: Change | None) -> str:
    if row.better is None:
        return "dim" if change and change.significant is False else ""
    return _STYLES[row.verdict(change)]
