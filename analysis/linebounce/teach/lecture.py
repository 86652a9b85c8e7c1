"""Reads a lecture's Markdown file: blocks as in a lesson (scenes, and questions that the run answers), slides, and
figures that are made by running the program."""

import json
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linebounce.errors import UsageError, not_known
from linebounce.files import scratch_folder, write_file
from linebounce.own_folder import inner_path
from linebounce.teach.answers import ACCESS, MESSAGE, ROW
from linebounce.teach.compiler import Compiled, Compiler, Played
from linebounce.teach.engine import Engine, EngineError
from linebounce.teach.lesson import Lesson, read_lesson
from linebounce.teach.library import Library
from linebounce.teach.source import NEEDED_TEXT, TEXT, Block, Field, LessonError, Table, html, table_of
from linebounce.teach.space_time import SpaceTime, number_of, space_time

# Blocks that a lecture may have in addition to a lesson's: "```toml run" and so on.
_SLIDE = {"minutes": Field(int, "a whole number", required=True), "notes": TEXT}
_RUN = {
    "command": NEEDED_TEXT,
    "from": TEXT,
    "to": TEXT,
    "lines": Field(list, "a list of regular expressions"),
    "wrap": Field(bool, "true or false"),
    "files": Field(dict, "a table of texts by file name"),
}
_CHART = {
    "command": NEEDED_TEXT,
    "metric": NEEDED_TEXT,
    "axis": NEEDED_TEXT,
    "over": NEEDED_TEXT,
    "over_axis": NEEDED_TEXT,
    "series": TEXT,
    "scale": Field((int, float), "a number"),
}
_PICTURE = {
    "lesson": TEXT,
    "scene": NEEDED_TEXT,
    "line": NEEDED_TEXT,
    "from": NEEDED_TEXT,
    "to": NEEDED_TEXT,
    "without": TEXT,
}
KINDS = {"slide": _SLIDE, "run": _RUN, "chart": _CHART, "picture": _PICTURE}


@dataclass(frozen=True)
class Listing:
    """A command, and some of the lines that it prints."""

    command: str
    text: str
    wraps: bool  # sentences, not a table


@dataclass(frozen=True)
class Chart:
    """A chart of a metric over a sweep: (x, series, value) for each point."""

    axis: str
    over: str
    points: list[tuple[str, str, float]]


@dataclass(frozen=True)
class Picture:
    """What happens to a line, drawn and as a table. Each row is a moment: its time, the event, and the state in each
    cache."""

    caches: list[str]
    rows: list[tuple[str, str, list[str]]]
    drawn: SpaceTime
    lesson: str = ""  # the lesson whose scene this is


@dataclass(frozen=True)
class Prose:
    html: str


@dataclass(frozen=True)
class Asked:
    """A question for the class."""

    number: int
    compiled: Compiled


Part = Prose | Listing | Chart | Picture | Asked


@dataclass
class Slide:
    title: str
    minutes: int = 0
    notes: str = ""
    parts: list[Part] = field(default_factory=list)


@dataclass
class Lecture:
    title: str
    goal: str
    slides: list[Slide]

    @property
    def minutes(self) -> int:
        return sum(slide.minutes for slide in self.slides)


def make_lecture(engine: Engine, path: Path) -> Lecture:
    """Runs everything that the lecture shows. Raises LessonError for the first mistake, such as an answer that differs
    from the run's, or a line that a command does not print."""
    lesson = read_lesson(path, tuple(KINDS))
    with scratch_folder() as scratch:
        compiler = Compiler(engine, lesson, scratch)
        compiled = compiler.compile()["parts"]
        return _Maker(engine, lesson, compiler.played, scratch).make(compiled)


class _Maker:
    def __init__(self, engine: Engine, lesson: Lesson, played: dict[str, Played], scratch: Path) -> None:
        self.engine, self.lesson, self.played, self.scratch = engine, lesson, played, scratch
        self.slides: list[Slide] = []
        self.asked = 0
        self.lessons: dict[str, tuple[Lesson, dict[str, Played]]] = {}  # those that pictures name

    def make(self, compiled: Sequence[Compiled]) -> Lecture:
        for part, made in zip(self.lesson.parts, compiled, strict=True):
            if isinstance(part, Block) and part.kind != "prose":
                self._own(part)
            elif made["kind"] == "prose":
                self._prose(part.line if isinstance(part, Block) else 1, made["html"])
            elif made["kind"] == "question":
                self.asked += 1
                self._last(1).parts.append(Asked(self.asked, made))
        table = self.lesson.table
        lecture = Lecture(self.lesson.title, table.text("goal"), self.slides)
        if lecture.minutes != table.values["minutes"]:
            raise table.error("minutes", f"the slides take {lecture.minutes} minutes, not {table.values['minutes']}")
        return lecture

    def _prose(self, line: int, text: str) -> None:
        before, *titled = re.split(r"<h2>(.*?)</h2>\s*", text)
        if before.strip():
            self._last(line).parts.append(Prose(before.strip()))
        for title, body in zip(titled[::2], titled[1::2], strict=True):
            self.slides.append(Slide(title))
            if body.strip():
                self.slides[-1].parts.append(Prose(body.strip()))

    def _last(self, line: int) -> Slide:
        if not self.slides:
            raise LessonError(self.lesson.path, line, "a lecture's first slide begins with ## and its title")
        return self.slides[-1]

    def _own(self, block: Block) -> None:
        table = table_of(self.lesson.path, block, KINDS[block.kind])
        slide = self._last(block.line)
        if block.kind == "slide":
            slide.minutes, slide.notes = int(table.values["minutes"]), html(table.text("notes"))
            return
        work: dict[str, Callable[[Table], Part]] = {"run": self._listing, "chart": self._chart, "picture": self._picture}
        try:
            slide.parts.append(work[block.kind](table))
        except EngineError as error:
            raise table.error("command", str(error)) from None

    def _words(self, table: Table) -> list[str]:
        words = shlex.split(table.text("command"))
        if words[:1] != ["linebounce"]:
            raise table.error("command", "a command begins with linebounce")
        return [str(self.engine.root / word) if word.startswith("programs/") else word for word in words[1:]]

    def _listing(self, table: Table) -> Listing:
        for name, text in table.values.get("files", {}).items():
            write_file(inner_path(self.scratch, str(name)), str(text).encode())
        printed = self.engine.output(self._words(table), self.scratch).splitlines()
        begin = _first(table, "from", printed) if table.text("from") else 0
        end = begin + _first(table, "to", printed[begin:]) + 1 if table.text("to") else len(printed)
        shown = printed[begin:end]
        if wanted := table.texts("lines"):
            for pattern in wanted:
                _first(table, "lines", shown, pattern)
            shown = [line for line in shown if any(re.search(pattern, line) for pattern in wanted)]
        margin = min((len(line) - len(line.lstrip()) for line in shown if line.strip()), default=0)
        return Listing(table.text("command"), "\n".join(line[margin:] for line in shown), bool(table.values.get("wrap")))

    def _chart(self, table: Table) -> Chart:
        directory = self.scratch / f"chart{table.block.line}"
        self.engine.output([*self._words(table), "-o", str(directory)], self.scratch)
        points = json.loads((directory / "results.json").read_bytes())["points"]
        scale = float(table.values.get("scale", 1))
        found = []
        for point in points:
            at, metrics = point["at"], point["metrics"]
            for key, known in (("over", at), ("metric", metrics), ("series", at)):
                if table.text(key) and table.text(key) not in known:
                    raise table.error(key, f"the run has no {table.text(key)}: {', '.join(sorted(known)[:20])}")
            value = metrics[table.text("metric")]["value"] * scale
            x = at[table.text("over")]
            found.append(
                (json.dumps(x) if isinstance(x, bool) else str(x), str(at.get(table.text("series"), "")), float(value))
            )
        return Chart(table.text("axis"), table.text("over_axis"), found)

    def _picture(self, table: Table) -> Picture:
        lesson, played = self._played(table)
        lines = lines_by_name(played.run)
        name, word = table.text("scene"), table.text("line")
        if word not in lines:
            raise table.error("line", f'scene "{name}": the line {not_known(word, list(lines))}')
        begin, end = self.engine.positions(played.file, [table.text("from"), table.text("to")])
        return picture(played.run, word, range(begin, end), table.text("without"), lesson)

    def _played(self, table: Table) -> tuple[str, Played]:
        """The scene of this lecture or of the lesson that the block names, with its title."""
        title, played = "", self.played
        if wanted := table.text("lesson"):
            if wanted not in self.lessons:
                try:
                    lesson = read_lesson(Library(self.engine).find(wanted))
                except UsageError as error:
                    raise table.error("lesson", str(error)) from None
                compiler = Compiler(self.engine, lesson, inner_path(self.scratch, f"lesson{len(self.lessons)}"))
                compiler.compile()
                self.lessons[wanted] = (lesson, compiler.played)
            lesson, played = self.lessons[wanted]
            title = f"{lesson.number}, {lesson.title}"
        name = table.text("scene")
        if name not in played:
            raise table.error("scene", f'there is no scene "{name}" (known: {", ".join(sorted(played))})')
        return title, played[name]


def _first(table: Table, key: str, printed: Sequence[str], pattern: str = "") -> int:
    """The first line that matches the pattern; the default pattern is the text of the key. Raises LessonError if there
    is none."""
    wanted = pattern or table.text(key)
    for number, line in enumerate(printed):
        if re.search(wanted, line):
            return number
    raise table.error(key, f'the command prints no line with "{wanted}"')


def lines_by_name(run: dict[str, Any]) -> dict[str, int]:
    """The number of the line of each word and object of the run."""
    size = int(run["line_bytes"])
    words = {str(entry[2]): number_of(entry[0]) // size for entry in run["words"]}
    return words | {str(one[0]): number_of(one[2]) // size for one in run["objects"]}


def picture(run: dict[str, Any], word: str, window: range, without: str = "", lesson: str = "") -> Picture:
    """The steps of `window` that are about this word's line: changes of its state, messages, accesses. Leaves
    out sentences that match `without`."""
    size = int(run["line_bytes"])
    line = lines_by_name(run)[word]
    number = next(i for i, table in enumerate(run["tables"]) if table["name"] == "cache")
    names = run["tables"][number]["states"]
    states = [names[0]] * len(run["caches"])
    above, _, below = run["tick_ns"].partition("/")
    rows: list[tuple[str, str, list[str]]] = []
    begin, end = window.start, window.stop
    for step, sentence in list(zip(run["log"], run["sentences"], strict=True))[:end]:
        before, said = list(states), ""
        if step[1] == ROW and step[2] == number and step[4] == line:
            states[step[3]] = names[step[7]]
        elif _is_told(step, line, size) and not sentence.startswith("The snoop tells"):
            said = sentence
        begin -= 1
        if begin >= 0:
            continue
        if not rows:
            rows.append(("", "before", before))
        time = f"{step[0] * float(above) / float(below or 1):.0f} ns"
        if said and not (without and re.search(without, said)):
            rows.append((time, said, list(states)))
        elif len(rows) > 1:
            rows[-1] = (rows[-1][0], rows[-1][1], list(states))
    caches = [f"CPU {', '.join(map(str, cache[3]))}" for cache in run["caches"]]
    return Picture(caches, rows, space_time(run, word, line, window, without), lesson)


def _is_told(step: Sequence[Any], line: int, size: int) -> bool:
    """Whether the step is an access to the line, or a message about it."""
    return (step[1] == ACCESS and number_of(step[5]) // size == line) or (step[1] == MESSAGE and step[5] == line)
