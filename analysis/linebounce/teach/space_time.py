"""The space-time diagram of a line, as the page of the lessons draws it: time runs down, each cache, bus and memory has a
lifeline, each state is a bar and each message an arrow. A row is a moment at which something happens to the line, so rows
are not equally far apart in time."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from linebounce.teach.answers import ACCESS, MESSAGE, ROW

# By kind of endpoint: the table whose rows give its states, and what a slide calls it.
_STATES = {"cache": "cache", "controller": "node", "group": "group", "directory": "directory"}
_NAMES = {"bus": "bus", "memory": "memory", "controller": "controller", "group": "group", "directory": "home"}
_ALONE = {"bus", "memory"}  # named without a number where there is only one

_SIGNAL = "The snoop tells"  # an answer on a wire of the bus, which the diagram leaves out

# Each state's colour and background, the same as in teach/page/src/style/tokens.css.
_COLOURS = {
    "M": ("#ad4300", "#fbe3d4"),
    "O": ("#a1447e", "#f6e2ee"),
    "E": ("#875e00", "#fcefcf"),
    "S": ("#0067a5", "#dcecf8"),
    "F": ("#00735a", "#d8f0e8"),
    "I": ("#5d656e", "#eeeeec"),
}
_OTHER = ("#4a525c", "#e8e8e6")
_MESSAGE, _DATA = "#1f5fa8", "#ad4300"
_ALIKE = {"EM": "M", "Sm": "O", "OM": "O", "Sc": "S"}  # states of update protocols

_ROW, _TIMES, _COLUMN, _HEAD = 30, 84, 168, 34  # pixels


@dataclass(frozen=True)
class Lifeline:
    kind: str
    number: int
    label: str


@dataclass(frozen=True)
class Bar:
    column: int
    begin: int  # rows of the diagram
    end: int
    state: str
    empty: bool  # the cache has no copy


@dataclass(frozen=True)
class Arrow:
    start: int  # columns
    to: int
    begin: int  # rows
    end: int
    name: str
    data: bool


@dataclass(frozen=True)
class Mark:
    column: int
    row: int
    text: str


@dataclass(frozen=True)
class SpaceTime:
    word: str
    lifelines: list[Lifeline]
    times: list[float]  # of the rows, in ns
    bars: list[Bar]
    arrows: list[Arrow]
    marks: list[Mark]


def number_of(text: Any) -> int:
    """A number of a run's document, which writes large ones as text."""
    return int(text, 16) if isinstance(text, str) else int(text)


def space_time(run: dict[str, Any], word: str, line: int, window: range, without: str = "") -> SpaceTime:
    """The steps of `window` that are about this line. Leaves out those whose sentence matches `without`."""
    return _Maker(run, line, window, without).made(word)


class _Maker:
    def __init__(self, run: dict[str, Any], line: int, window: range, without: str) -> None:
        self.run, self.line, self.window = run, line, window
        self.without = f"{_SIGNAL}|{without}" if without else _SIGNAL
        self.size = int(run["line_bytes"])
        self.tables = {table["name"]: number for number, table in enumerate(run["tables"])}
        self.steps = [at for at in window if self._is_about(at)]
        shown = [run["log"][at] for at in self.steps]
        end = max((step[0] for step in shown), default=0)
        arrivals = {step[6] for step in shown if step[1] == MESSAGE and 0 <= step[6] <= end}
        self.ticks = sorted({step[0] for step in shown} | arrivals)
        self.row = {tick: row for row, tick in enumerate(self.ticks)}
        self.ends = [entry for entry in run["endpoints"] if self._is_drawn(entry)]
        self.column = {(entry[0], entry[1]): column for column, entry in enumerate(self.ends)}

    def made(self, word: str) -> SpaceTime:
        above, _, below = self.run["tick_ns"].partition("/")
        times = [tick * float(above) / float(below or 1) for tick in self.ticks]
        bars = [bar for end in self.ends if end[0] in _STATES for bar in self._bars(end)]
        log = self.run["log"]
        arrows = [arrow for at in self.steps if log[at][1] == MESSAGE and (arrow := self._arrow(log[at]))]
        return SpaceTime(word, [self._lifeline(end) for end in self.ends], times, bars, arrows, self._marks())

    def _is_about(self, at: int) -> bool:
        step = self.run["log"][at]
        if step[1] == ROW:
            return number_of(step[4]) == self.line and step[5] != step[7]
        if step[1] not in (MESSAGE, ACCESS) or re.search(self.without, self.run["sentences"][at]):
            return False
        return number_of(step[5]) // (self.size if step[1] == ACCESS else 1) == self.line

    def _is_drawn(self, end: Sequence[Any]) -> bool:
        """Whether an endpoint has a lifeline: each cache of a CPU, and what sends or gets a message."""
        if end[0] == "cache":
            return bool(self.run["caches"][end[1]][3])
        number = self.run["endpoints"].index(end)
        log = self.run["log"]
        return any(log[at][1] == MESSAGE and number in (log[at][2], log[at][3]) for at in self.steps)

    def _lifeline(self, end: Sequence[Any]) -> Lifeline:
        kind, number = str(end[0]), int(end[1])
        if kind == "cache":
            return Lifeline(kind, number, f"CPU {', '.join(map(str, self.run['caches'][number][3]))}")
        alone = kind in _ALONE and sum(other[0] == kind for other in self.ends) == 1
        return Lifeline(kind, number, _NAMES[kind] if alone else f"{_NAMES[kind]} {number}")

    def _bars(self, end: Sequence[Any]) -> list[Bar]:
        table = self.tables[_STATES[end[0]]]
        states = self.run["tables"][table]["states"]
        begin, now, bars = 0, 0, []
        for at in range(self.window.stop):
            step = self.run["log"][at]
            if step[1] != ROW or step[2] != table or step[3] != end[1] or number_of(step[4]) != self.line or step[7] == now:
                continue
            if at in self.window:
                row = self.row[step[0]]
                if row > begin:
                    bars.append(Bar(self.column[end[0], end[1]], begin, row, states[now], now == 0))
                begin = row
            now = step[7]
        return [*bars, Bar(self.column[end[0], end[1]], begin, len(self.ticks), states[now], now == 0)]

    def _arrow(self, step: Sequence[Any]) -> Arrow | None:
        ends = [tuple(self.run["endpoints"][number][:2]) for number in (step[2], step[3])]
        if any(end not in self.column for end in ends):
            return None
        name = str(self.run["messages"][step[4]])
        last = self.row.get(step[6], len(self.ticks))
        return Arrow(self.column[ends[0]], self.column[ends[1]], self.row[step[0]], last, name, bool(step[7]))

    def _marks(self) -> list[Mark]:
        texts: dict[tuple[int, int], list[str]] = {}
        for at in self.steps:
            step = self.run["log"][at]
            if step[1] == ACCESS and ("cache", step[2]) in self.column:
                place = (self.column["cache", step[2]], self.row[step[0]])
                texts.setdefault(place, []).append(self._access(step))
        return [Mark(column, row, ", ".join(said)) for (column, row), said in texts.items()]

    def _access(self, step: Sequence[Any]) -> str:
        reads = self.run["accesses"][step[4]] == "load"
        address = number_of(step[5])
        named = (str(word[2]) for word in self.run["words"] if number_of(word[0]) == address and word[1] == step[6])
        return f"{next(named, hex(address))} {'=' if reads else '←'} {number_of(step[8])}"


def drawing(shown: SpaceTime) -> str:
    """The diagram as SVG."""
    width, height = _TIMES + _COLUMN * len(shown.lifelines), _HEAD + _ROW * (len(shown.times) + 1)
    parts = [
        f'<svg class="spacetime" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="Space and time of {escape(shown.word)}; the table has the same">',
    ]
    for column, lifeline in enumerate(shown.lifelines):
        parts.append(_text(_x(column), 22, lifeline.label, 'text-anchor="middle" font-weight="700"'))
        parts.append(f'<path d="M{_x(column)} {_HEAD}V{height}" stroke="#8d938f" fill="none"/>')
    parts += [_text(_TIMES - 16, _y(row) + 5, f"{time:.0f} ns", _GREY) for row, time in enumerate(shown.times)]
    parts += [_bar(bar) for bar in shown.bars if not bar.empty or bar.begin > 0]
    parts += [_arrow(arrow) for arrow in shown.arrows]
    for mark in shown.marks:
        parts.append(f'<circle cx="{_x(mark.column)}" cy="{_y(mark.row)}" r="5.5" fill="#1d2228"/>')
        parts.append(_text(_x(mark.column) + 14, _y(mark.row) + 5, mark.text, _HALO))
    return "".join(parts) + "</svg>"


_HALO = 'paint-order="stroke" stroke="#fff" stroke-width="5"'
_GREY = 'text-anchor="end" fill="#4a5361"'


def _x(column: int) -> int:
    return _TIMES + _COLUMN * column + _COLUMN // 2


def _y(row: int) -> int:
    return _HEAD + _ROW * row + _ROW // 2


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="15" {more}>{escape(text)}</text>'


def _colours(state: str) -> tuple[str, str]:
    # A state that waits has the colour of the one that it becomes: SM_AD, "was S, will be M".
    waits = re.match(r"[A-Z]*?([MOESFI])_", state)
    stable = waits[1] if waits else state
    return _COLOURS.get(_ALIKE.get(stable, stable), _OTHER)


def _bar(bar: Bar) -> str:
    colour, wash = _colours(bar.state)
    top = _HEAD if bar.begin == 0 else _y(bar.begin)
    x = _x(bar.column)
    label = _text(x - 14, top + 17, bar.state, f'text-anchor="end" font-weight="700" fill="{colour}" {_HALO}')
    if bar.empty:
        return label
    dashes = ' stroke-dasharray="4 3"' if "_" in bar.state else ""
    bottom = _HEAD + _ROW * bar.end + _ROW // 2
    return (
        f'<rect x="{x - 9}" y="{top}" width="18" height="{bottom - top}" rx="3" fill="{wash}" stroke="{colour}"'
        f' stroke-width="1.5"{dashes}/>{label}'
    )


def _arrow(arrow: Arrow) -> str:
    colour = _DATA if arrow.data else _MESSAGE
    x, to, y, end = _x(arrow.start), _x(arrow.to), _y(arrow.begin), _y(arrow.end)
    angle = math.degrees(math.atan2(end - y, to - x))
    line = f'<path d="M{x} {y}L{to} {end}" stroke="{colour}" stroke-width="2.5"/>'
    # No marker: browsers leave out those of a picture whose neighbour with the same name is folded.
    head = f'<path d="M0 0-13-5.5-13 5.5z" fill="{colour}" transform="translate({to} {end}) rotate({angle:.1f})"/>'
    middle = f'text-anchor="middle" fill="{colour}" {_HALO}'
    return line + head + _text((x + to) / 2, (y + end) / 2 - 7, arrow.name, middle)
