"""Makes an assignment for each student of a class: the same protocol with other names of states, other numbers and
another mistake. Mistakes are chosen so that the checker finds a different counterexample in each student's table."""

import json
import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linebounce.errors import InputError, UsageError, malformed
from linebounce.files import scratch_folder, write_file
from linebounce.teach.engine import Engine, EngineError
from linebounce.teach.source import read_text

_BLOCK = re.compile(r"^```toml variant\n(.*?)^```\n+", re.MULTILINE | re.DOTALL)
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_TO_BOTH = "send data to requestor, memory"
KINDS = ("next state", "action left out")
_NAMES = (
    "Amber", "Birch", "Cedar", "Delta", "Ember", "Fjord", "Grove", "Heron", "Iris", "Jade", "Kelp", "Larch",
    "Maple", "Nova", "Onyx", "Pearl", "Quartz", "Reed", "Slate", "Tulip", "Umber", "Violet", "Willow",
    "Yarrow", "Zephyr",
)  # fmt: skip
_MESSAGES = (
    "Ask", "Call", "Claim", "Deliver", "Fetch", "Hail", "Notify", "Offer", "Plead", "Return", "Signal",
    "Yield",
)  # fmt: skip
_STUDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class Mistake:
    """A mistake in one row of a table: the row before and after."""

    line: int  # index in the list of the table's lines
    right: str
    wrong: str
    promise: str
    counterexample: str  # the counterexample with numbers in place of names: equal if two tables break in the same way


def is_varied(path: Path) -> bool:
    return bool(_BLOCK.search(read_text(path)))


def common_text(path: Path) -> str:
    """The assignment's text for all students. Keeps its {{placeholders}}, and drops the block on how variants are drawn."""
    return _BLOCK.sub("", read_text(path))


def is_student(name: str) -> bool:
    return bool(_STUDENT.fullmatch(name))


def read_roster(path: Path) -> list[str]:
    """The students' IDs, one on each line of the file. Raises InputError for an ID that can't be a file's name, or
    occurs twice."""
    students = [line.strip() for line in read_text(path).splitlines() if line.strip() and not line.startswith("#")]
    for number, student in enumerate(students, 1):
        if not _STUDENT.fullmatch(student):
            raise InputError(f'{path}: student {number}, "{student}": an ID has letters, digits, ".", "_" and "-"')
    if len(set(students)) != len(students):
        raise InputError(f"{path}: a student is listed twice")
    if not students:
        raise InputError(f"{path}: there is no student in it")
    return students


def make_variants(engine: Engine, assignment: Path, students: Sequence[str], seed: str) -> dict[str, str]:
    """Maps each student to an assignment with its answers, as Markdown. The same class and seed give the same
    assignments."""
    text = read_text(assignment)
    found = _BLOCK.search(text)
    if found is None:
        raise UsageError(f"{assignment} is the same for all students: it has no block ```toml variant")
    asked = _variant_of(assignment, found[1])
    body = text[: found.start()] + text[found.end() :]
    lines = _tables_only(read_text(_protocol_file(engine, assignment, asked))).splitlines()
    mistakes = _distinct_mistakes(engine, asked, lines, random.Random(f"{seed} {assignment.stem}"), len(students))
    made = {}
    for student, mistake in zip(students, mistakes, strict=True):
        draw = random.Random(f"{seed} {assignment.stem} {student}")
        made[student] = _filled(assignment, body, _values(asked, lines, mistake, draw))
    return made


def _protocol_file(engine: Engine, assignment: Path, asked: dict[str, Any]) -> Path:
    file = engine.root / "models" / "protocols" / f"{asked.get('protocol', '')}.md"
    if not re.fullmatch(r"[a-z_]+", str(asked.get("protocol", ""))) or not file.is_file():
        raise UsageError(f'{assignment}: the block variant needs protocol = "NAME", a protocol that ships')
    return file


def _variant_of(assignment: Path, text: str) -> dict[str, Any]:
    try:
        asked = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{assignment}: the block variant: {malformed('TOML', text, error)}") from None
    unknown = sorted(set(asked) - {"protocol", "kinds", "finds", "numbers"})
    if unknown:
        raise UsageError(f"{assignment}: the block variant has no key {unknown[0]}; known: protocol, kinds, finds, numbers")
    wrong = sorted(set(asked.get("kinds", [])) - set(KINDS))
    if wrong:
        raise UsageError(f'{assignment}: there is no kind of mistake "{wrong[0]}"; known: {", ".join(KINDS)}')
    return asked


# ---- mistakes ----


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _rows(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The rows of the caches' table that can happen, as pairs of line number and cells."""
    cache = False
    for number, line in enumerate(lines):
        if line.startswith("## "):
            cache = line == "## cache"
        cells = _cells(line) if cache and line.startswith("|") else []
        if len(cells) == 5 and cells[0] != "in" and cells[2] != "impossible" and set(cells[0]) != {"-"}:
            yield number, cells


def _changed_rows(lines: Sequence[str], kinds: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Every mistake of these kinds that one row can have."""
    states = list(dict.fromkeys(cells[0] for _, cells in _rows(lines) if "," not in cells[0]))
    for number, cells in _rows(lines):
        actions = [part.strip() for part in cells[2].split(";")]
        if "next state" in kinds and "free" not in actions and cells[2] != "stall":
            for state in [*states, "="]:
                if state != cells[3]:
                    yield number, [*cells[:3], state, cells[4]]
        if "action left out" in kinds and actions not in (["-"], ["hit"], ["stall"]):
            for i in range(len(actions)):
                rest = actions[:i] + actions[i + 1 :]
                yield number, [*cells[:2], "; ".join(rest) or "-", *cells[3:]]
            if _TO_BOTH in actions:
                yield number, [*cells[:2], cells[2].replace(_TO_BOTH, "send data to requestor"), *cells[3:]]


def _distinct_mistakes(
    engine: Engine, asked: dict[str, Any], lines: Sequence[str], draw: random.Random, count: int
) -> list[Mistake]:
    """Chooses `count` mistakes that the checker finds, each by a different counterexample."""
    protocol = asked["protocol"]
    tries = list(_changed_rows(lines, asked.get("kinds", KINDS)))
    draw.shuffle(tries)
    found: dict[str, Mistake] = {}
    with scratch_folder() as folder:
        for number, cells in tries:
            if len(found) == count:
                break
            mistake = _tried(engine, folder / f"{protocol}.md", lines, number, cells)
            if mistake and mistake.promise in asked.get("finds", [mistake.promise]):
                found.setdefault(mistake.counterexample, mistake)
    if len(found) < count:
        raise UsageError(f"{protocol} can be broken in {len(found)} different ways by such mistakes, but the class has {count}")
    return list(found.values())


def _tried(engine: Engine, file: Path, lines: Sequence[str], number: int, cells: list[str]) -> Mistake | None:
    """The mistake with the checker's counterexample. None if the checker refuses the table, or finds no violation."""
    wrong = _row(cells)
    write_file(file, "\n".join([*lines[:number], wrong, *lines[number + 1 :]]).encode())
    try:
        verdict = engine.check(file)
    except EngineError:
        return None
    violation = json.loads(verdict.output).get("violation")
    if not violation:
        return None
    return Mistake(number, lines[number], wrong, verdict.promise, _shape(verdict.promise, violation["steps"]))


def _shape(promise: str, steps: Sequence[dict[str, Any]]) -> str:
    """The counterexample with a number in place of each name, so that it can be compared with one of a table with other
    names."""
    numbers: dict[str, int] = {}

    def number(name: str) -> int:
        return numbers.setdefault(name, len(numbers))

    shape = [(step["step"], step["cache"], number(step.get("message", "")), *map(number, step["states"])) for step in steps]
    return json.dumps([promise, shape])


# ---- a student's own table ----


def _tables_only(text: str) -> str:
    """The protocol's tables without prose and without the reasons of rows, which would reveal the mistake."""
    kept = ["# A protocol", ""]
    prose = False
    for line in text.splitlines():
        if line.startswith("## "):
            prose = line[3:] not in ("Messages", "cache", "memory")
            kept += [] if prose else [line, ""]
        elif line.startswith("|") and not prose:
            cells = _cells(line)
            if cells[0] == "in" or (len(cells) == 5 and set(cells[0]) != {"-"}):
                cells = [*cells[:4], "why" if cells[0] == "in" else "-"]
            kept += _by_state(cells) if set(cells[0]) != {"-"} else [line]
        elif kept[-1]:
            kept.append("")
    return "\n".join(kept) + "\n"


_WORD = re.compile(r"(?<![A-Za-z])(Own_|Other_)?([A-Za-z]+(?:_[A-Z]+)?)(?![A-Za-z_])")


def _by_state(cells: list[str]) -> list[str]:
    """Splits a row for several states into one for each, so that a mistake concerns one state. Rows that only say
    impossible, stall or hit stay whole."""
    if len(cells) != 5 or cells[2] in ("impossible", "stall", "hit"):
        return [_row(cells)]
    return [_row([state.strip(), *cells[1:]]) for state in cells[0].split(",")]


def _renamed(line: str, names: dict[str, str]) -> str:
    """A line of the table with states and messages renamed. Cells with meanings stay as they are, because there "I" is
    an English word."""
    cells = _cells(line) if line.startswith("|") else []
    if not cells:
        return line
    meaning = len(cells) - 1 if len(cells) in (2, 3) else -1

    def name(word: re.Match[str], i: int) -> str:
        return word[0] if word[2] == "I" and i == meaning else (word[1] or "") + names.get(word[2], word[2])

    return _row([_WORD.sub(lambda word, i=i: name(word, i), cell) for i, cell in enumerate(cells)])  # type: ignore[misc]


def _new_names(text: str, draw: random.Random) -> dict[str, str]:
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    declared = {
        section.split("\n", 1)[0]: [
            _cells(line)[0] for line in section.splitlines() if line.startswith("|") and len(_cells(line)) in (2, 3)
        ]
        for section in sections
    }
    messages = [name for name in declared["Messages"] if name != "message" and set(name) != {"-"}]
    events = {"Load", "Store", "Evict", "Data", "state", "event"}
    states = [name for name in declared["cache"] if re.fullmatch(r"[A-Za-z]+(_[A-Z]+)?", name) and name not in events]
    states = [name for name in states if not name.startswith(("Own_", "Other_"))]
    return dict(zip(states, draw.sample(_NAMES, len(states)), strict=True)) | dict(
        zip(messages, draw.sample(_MESSAGES, len(messages)), strict=True)
    )


def _values(asked: dict[str, Any], lines: Sequence[str], mistake: Mistake, draw: random.Random) -> dict[str, str]:
    """The text for each placeholder in this student's assignment."""
    values = {name: str(draw.choice(choices)) for name, choices in sorted(asked.get("numbers", {}).items())}
    names = _new_names("\n".join(lines), draw)
    given = [*lines[: mistake.line], mistake.wrong, *lines[mistake.line + 1 :]]
    table = "\n".join(_renamed(line, names) for line in given)
    edit = {"replace": _renamed(mistake.wrong, names), "by": _renamed(mistake.right, names)}
    values["mistake"] = (
        f"protocol = \"mine\"\ntable    = '''\n{table}\n'''\nchanges  = 1\n"
        f"solution = [{{ replace = {json.dumps(edit['replace'])}, by = {json.dumps(edit['by'])} }}]"
    )
    return values


def _filled(assignment: Path, body: str, values: dict[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        if found[1] not in values:
            raise UsageError(f"{assignment}: {found[0]} is not given; known: {', '.join(sorted(values))}")
        return values[found[1]]

    return _PLACEHOLDER.sub(value, body)
