"""A comparison in the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from linebounce.compare.changes import Change, Comparison
from linebounce.compare.page import letter
from linebounce.compare.rows import Row, change_text, interval_note, notes_of, number_text
from linebounce.console import output

_PIPE_COLUMNS = 200


def print_comparison(comparisons: Sequence[Comparison], rows: Sequence[Row], shown: int) -> None:
    """The rows that changed, at most so many; of the others their number."""
    console = output(_PIPE_COLUMNS)
    base = comparisons[0].base
    console.print(Text.assemble((base.title, "bold")))
    console.print(Text(f"A  {base.directory}  {base.machine}"))
    for number, comparison in enumerate(comparisons):
        console.print(Text(f"{letter(number)}  {comparison.other.directory}  {comparison.other.machine}"))
    changed = [row for row in rows if row.size > 0]
    if changed:
        console.print(_table(changed[:shown], len(comparisons)))
    _print_notes(console, comparisons, changed, len(rows), shown)


def _table(rows: Sequence[Row], others: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("metric", overflow="fold")
    swept = any(row.at for row in rows)
    if swept:
        table.add_column("point", overflow="fold")
    table.add_column("unit")
    table.add_column("A", justify="right", no_wrap=True)
    for number in range(others):
        table.add_column(letter(number), justify="right", no_wrap=True)
        table.add_column("change", justify="right", no_wrap=True)
    for row in rows:
        cells = [Text(row.metric), *([Text(row.title)] if swept else []), Text(row.unit), Text(number_text(row.base))]
        for change in row.changes:
            cells += [Text(number_text(change.changed) if change else ""), Text(change_text(change), style=_style(change))]
        table.add_row(*cells, style="dim" if row.chance else "")
    return table


def _style(change: Change | None) -> str:
    return "bold" if change and change.significant else ""


def _print_notes(console: Console, comparisons: Sequence[Comparison], changed: Sequence[Row], rows: int, shown: int) -> None:
    notes = []
    if len(changed) > shown:
        notes.append(f"{len(changed) - shown} more have changed less: -o FILE.html or --json has all")
    if rows > len(changed):
        notes.append(f"{rows - len(changed)} of {rows} metrics are the same")
    explained = interval_note(changed)
    if explained:
        notes.append(explained)
    for note in notes + [note for comparison in comparisons for note in notes_of(comparison)]:
        console.print(Text(note, style="dim"))
