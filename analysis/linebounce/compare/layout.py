"""Lays out tables as wide as the terminal. A table that is too wide drops columns, then shortens names; lines never
wrap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.text import Text

Kind = Literal["point", "metric", "base", "value", "change", "interval", "verdict"]

# The columns to drop when space is short, in this order. No other column is dropped.
LOST_FIRST: tuple[Kind, ...] = ("interval", "value", "base")
# The columns to shorten next, with the smallest width at which readers can still tell names apart.
_SHORTEST: dict[Kind, int] = {"point": 12, "metric": 28}
_LEFT: tuple[Kind, ...] = ("point", "metric", "verdict")
_BETWEEN = 2


@dataclass(frozen=True)
class Column:
    """A column whose cells are single lines without control characters."""

    kind: Kind
    title: str
    cells: Sequence[Text]

    @property
    def width(self) -> int:
        return max(cell_len(self.title), *(cell.cell_len for cell in self.cells))


def table_lines(columns: Sequence[Column], width: int) -> list[Text]:
    """The header, and one line for each row. Lines are at most `width` terminal columns wide if fits() is true.
    REQUIRES: at least one row."""
    shown = _kept(columns, width)
    widths = _widths(shown, width)
    header = [Text(column.title, style="dim") for column in shown]
    rows = zip(*(column.cells for column in shown), strict=True)
    return [_line(shown, widths, cells) for cells in (header, *rows)]


def fits(columns: Sequence[Column], width: int) -> bool:
    """Whether the table fits into `width` after dropping and shortening columns."""
    shown = _kept(columns, width)
    return _total(_widths(shown, width)) <= width


def shortened(text: str, width: int) -> str:
    """Cuts the middle out of a text that is wider than `width` terminal columns. REQUIRES: width >= 1."""
    if cell_len(text) <= width:
        return text
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while cell_len(head) + 1 + cell_len(tail) > width:
        if cell_len(head) > cell_len(tail):
            head = head[:-1]
        else:
            tail = tail[1:]
    return f"{head}…{tail}"


def _kept(columns: Sequence[Column], width: int) -> list[Column]:
    """Drops empty columns and, one kind after the other until the table fits, the kinds in LOST_FIRST."""
    kept = [column for column in columns if any(cell.plain for cell in column.cells)]
    for kind in LOST_FIRST:
        if _total([column.width for column in kept]) <= width:
            break
        kept = [column for column in kept if column.kind != kind]
    return kept


def _widths(columns: Sequence[Column], width: int) -> list[int]:
    """Gives each column the width of its widest cell. If the table is too wide, shortens the names, the widest column
    first."""
    widths = [column.width for column in columns]
    spare = {i: widths[i] - _SHORTEST[column.kind] for i, column in enumerate(columns) if column.kind in _SHORTEST}
    while _total(widths) > width and any(columns_left > 0 for columns_left in spare.values()):
        longest = max(spare, key=lambda i: (spare[i] > 0, widths[i]))
        widths[longest] -= 1
        spare[longest] -= 1
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _BETWEEN * (len(widths) - 1)


def _line(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[Text]) -> Text:
    line = Text()
    for i, (column, width, cell) in enumerate(zip(columns, widths, cells, strict=True)):
        shown = Text(shortened(cell.plain, width), style=cell.style)
        blanks = " " * (width - shown.cell_len)
        line.append(" " * _BETWEEN if i else "")
        line.append_text(Text.assemble(shown, blanks) if column.kind in _LEFT else Text.assemble(blanks, shown))
    line.rstrip()
    return line
