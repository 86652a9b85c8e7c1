"""Tables as wide as the terminal. What doesn't fit is not wrapped: it loses columns, then parts of its names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.text import Text

Kind = Literal["point", "metric", "unit", "base", "value", "change", "interval", "verdict"]

# What goes first where there is little room: the least important. What is not here always stays.
LOST_FIRST: tuple[Kind, ...] = ("unit", "interval", "value", "base")
# Shortened where the columns that stay don't fit either, and how far: in less, names of metrics look alike.
_SHORTEST: dict[Kind, int] = {"point": 12, "metric": 28}
_LEFT: tuple[Kind, ...] = ("point", "metric", "unit", "verdict")
_BETWEEN = 2


@dataclass(frozen=True)
class Column:
    """Its cells are single lines without control characters."""

    kind: Kind
    title: str
    cells: Sequence[Text]

    @property
    def width(self) -> int:
        return max(cell_len(self.title), *(cell.cell_len for cell in self.cells))


def table_lines(columns: Sequence[Column], width: int) -> list[Text]:
    """The header and a line for each row, at most so many columns of the terminal wide if fits() says so. REQUIRES: a row."""
    shown = _kept(columns, width)
    widths = _widths(shown, width)
    header = [Text(column.title, style="dim") for column in shown]
    rows = zip(*(column.cells for column in shown), strict=True)
    return [_line(shown, widths, cells) for cells in (header, *rows)]


def fits(columns: Sequence[Column], width: int) -> bool:
    """With all that can be lost or shortened gone."""
    shown = _kept(columns, width)
    return _total(_widths(shown, width)) <= width


def shortened(text: str, width: int) -> str:
    """A text of more columns of the terminal than that without its middle. REQUIRES: width >= 1."""
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
    """Without those that are empty, and without as few as possible of those that may be lost."""
    kept = [column for column in columns if any(cell.plain for cell in column.cells)]
    for kind in LOST_FIRST:
        if _total([column.width for column in kept]) <= width:
            break
        kept = [column for column in kept if column.kind != kind]
    return kept


def _widths(columns: Sequence[Column], width: int) -> list[int]:
    """As wide as the columns' cells, but names only as wide as there is room: the longer one is shortened first."""
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
