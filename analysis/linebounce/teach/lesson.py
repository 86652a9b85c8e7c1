"""Reads a lesson's file. compiler.py does everything that needs the simulator."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linebounce.errors import meant
from linebounce.teach.source import (
    LUA_KINDS,
    NEEDED_TEXT,
    TEXT,
    Block,
    Field,
    LessonError,
    Table,
    blocks_of,
    read_text,
    table_of,
)

QUESTION_KINDS = ("choice", "multiple", "number", "state", "text")
# The key in a question's `wrong` for the reply to an answer that is not listed there.
ELSE = "else"

_LESSON = {
    "title": NEEDED_TEXT,
    "minutes": Field(int, "a whole number", required=True),
    "goal": NEEDED_TEXT,
    "command": TEXT,
    "shows": TEXT,
    "papers": TEXT,
    "kind": Field(str, "a text", legal=("lesson", "test", "assignment", "lecture")),
}
_MOMENT = {"scene": TEXT, "at": NEEDED_TEXT, "say": NEEDED_TEXT}
_QUESTION = {
    "scene": TEXT,
    "at": TEXT,
    "ask": NEEDED_TEXT,
    "kind": Field(str, "a text", required=True, legal=QUESTION_KINDS),
    "choices": Field(list, "a list of texts"),
    "answer": Field((str, int, float, list), "a text, a number or a list of texts"),
    "answer_from": TEXT,
    "holds": Field((str, list), "a text or a list of texts"),
    "within": Field((int, float), "a number"),
    "unit": TEXT,
    "points": Field(int, "a whole number"),
    "id": TEXT,
    "right": NEEDED_TEXT,
    "wrong": Field(dict, "a table: [wrong]"),
    "then": TEXT,
}
_EDITS = Field(list, "a list of { replace = ..., by = ... }")
_BREAK = {
    "protocol": TEXT,
    "table": TEXT,
    "lock": TEXT,
    "ask": NEEDED_TEXT,
    "hint": TEXT,
    "given": _EDITS,
    "solution": Field(list, "a list of { replace = ..., by = ... }", required=True),
    "until": Field(str, "a text", required=True, legal=("broken", "holds")),
    "options": TEXT,
    "finds": TEXT,
    "changes": Field(int, "a whole number"),
    "points": Field(int, "a whole number"),
    "id": TEXT,
    "right": NEEDED_TEXT,
    "wrong": NEEDED_TEXT,
}


@dataclass(frozen=True)
class Scene:
    """A machine and the program that runs on it."""

    name: str
    block: Block
    program: Block | None

    @property
    def programs_line(self) -> int:
        return self.program.line if self.program else self.block.line


@dataclass(frozen=True)
class Moment:
    """A position in a scene's run, and what to look at there."""

    table: Table
    scene: str
    at: str
    say: str


@dataclass(frozen=True)
class Question:
    """A prediction to make. `answer` is None if the run supplies it."""

    table: Table
    id: str
    scene: str  # the scene whose run answers; empty if the question is not about a run
    at: str
    kind: str
    choices: tuple[str, ...]
    answer: Any
    answer_from: str
    holds: tuple[str, ...]
    then: str
    wrong: dict[str, str]

    @property
    def points(self) -> int:
        return int(self.table.values.get("points", 1))

    @property
    def within(self) -> float:
        """The largest error of a right number."""
        return float(self.table.values.get("within", 0))


@dataclass(frozen=True)
class Break:
    """A task: change a table or lock until the checker's verdict is `until`."""

    table: Table
    id: str
    target: str  # "protocol" or "lock"
    name: str
    given: tuple[tuple[str, str], ...]
    solution: tuple[tuple[str, str], ...]

    @property
    def until(self) -> str:
        return self.table.text("until")

    @property
    def points(self) -> int:
        return int(self.table.values.get("points", 2))


Part = Block | Scene | Moment | Question | Break  # a Block is either prose, or of a kind that only lectures have


@dataclass
class Lesson:
    path: Path
    number: int  # the number in the file's name; 0 without one
    slug: str
    table: Table
    parts: list[Part] = field(default_factory=list)
    programs: dict[str, Block] = field(default_factory=dict)  # Lua text by name
    locks: dict[str, Block] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.table.text("title")

    @property
    def scenes(self) -> dict[str, Scene]:
        return {part.name: part for part in self.parts if isinstance(part, Scene)}

    @property
    def tasks(self) -> list[Question | Break]:
        return [part for part in self.parts if isinstance(part, Question | Break)]


def read_lesson(path: Path, more_kinds: Sequence[str] = ()) -> Lesson:
    """Raises LessonError, with file and line, for the first mistake that can be found without running anything. Blocks
    of `more_kinds` are returned unparsed."""
    blocks = blocks_of(path, read_text(path), more_kinds)
    first, lesson = _begun(path, blocks)
    _add_lua(lesson, blocks)
    for block in blocks:
        if block is not first and block.kind not in LUA_KINDS:
            lesson.parts.append(_PARTS.get(block.kind, _prose)(lesson, block))
    _require_unique(lesson)
    return lesson


def read_head(path: Path, text: str) -> Lesson:
    """The lesson that the text's first block declares, without its parts. Raises LessonError."""
    return _begun(path, blocks_of(path, text))[1]


def _begun(path: Path, blocks: Sequence[Block]) -> tuple[Block, Lesson]:
    first = next((block for block in blocks if block.kind != "prose"), None)
    if first is None or first.kind != "lesson":
        raise LessonError(path, first.line - 1 if first else 1, "a lesson begins with a block ```toml lesson")
    number, _, slug = path.stem.partition("-")
    numbered = number.isdecimal()
    return first, Lesson(path, int(number) if numbered else 0, slug if numbered else path.stem, table_of(path, first, _LESSON))


def _add_lua(lesson: Lesson, blocks: Sequence[Block]) -> None:
    for block in blocks:
        if block.kind in LUA_KINDS:
            known = lesson.programs if block.kind == "program" else lesson.locks
            if block.name in known:
                raise LessonError(lesson.path, block.line - 1, f'the {block.kind} "{block.name}" is defined already')
            known[block.name] = block


def _require_unique(lesson: Lesson) -> None:
    seen: set[str] = set()
    for task in lesson.tasks:
        if task.id in seen:
            raise task.table.error("id", f'the id "{task.id}" is used already')
        seen.add(task.id)


def _prose(_lesson: Lesson, block: Block) -> Part:
    return block


def _again(lesson: Lesson, block: Block) -> Part:
    raise LessonError(lesson.path, block.line - 1, "a lesson has one block ```toml lesson")


def _scene(lesson: Lesson, block: Block) -> Part:
    if block.name in lesson.scenes:
        raise LessonError(lesson.path, block.line - 1, f'the scene "{block.name}" is defined already')
    return Scene(block.name, block, lesson.programs.get(block.name))


def _scene_of(lesson: Lesson, table: Table, default: str) -> str:
    name = table.text("scene", default)
    if name and name not in lesson.scenes:
        known = sorted(lesson.scenes)
        raise table.error("scene", f'there is no scene "{name}" above this: {meant(name, known)} (known: {", ".join(known)})')
    return name


def _last_scene(lesson: Lesson) -> str:
    """The last scene so far, to which a moment or question belongs if it names none. Empty for a test: most of its
    questions are not about a run, and a shown run could give away an answer."""
    names = [] if lesson.table.text("kind") == "test" else list(lesson.scenes)
    return names[-1] if names else ""


def _moment(lesson: Lesson, block: Block) -> Part:
    table = table_of(lesson.path, block, _MOMENT)
    scene = _scene_of(lesson, table, _last_scene(lesson))
    if not scene:
        raise LessonError(lesson.path, block.line - 1, "a moment must follow its scene: ```toml scene NAME")
    return Moment(table, scene, table.text("at"), table.text("say"))


def _next_id(lesson: Lesson, table: Table) -> str:
    return table.text("id") or f"{lesson.slug}.{len(lesson.tasks) + 1}"


def _question(lesson: Lesson, block: Block) -> Part:
    table = table_of(lesson.path, block, _QUESTION)
    scene = _scene_of(lesson, table, _last_scene(lesson))
    wrong = {str(key): value for key, value in table.values.get("wrong", {}).items()}
    for key, value in wrong.items():
        if not isinstance(value, str):
            raise table.error(key, f'why "{key}" is wrong must be a string')
    answer = table.values.get("answer")
    question = Question(
        table,
        _next_id(lesson, table),
        scene,
        table.text("at"),
        table.text("kind"),
        tuple(table.texts("choices")),
        answer,
        table.text("answer_from"),
        tuple(table.texts("holds")),
        table.text("then"),
        wrong,
    )
    if answer is None and not question.answer_from:
        raise table.error("ask", "a question needs answer, or answer_from, which reads the answer from the run")
    if not scene and (question.at or question.then or question.answer_from or question.holds):
        raise table.error("at", "this needs a run: a scene above it")
    _CHECKS[question.kind](question)
    return question


def _check_choice(question: Question) -> None:
    table, choices = question.table, question.choices
    if len(choices) < 2:
        raise table.error("choices", "a choice needs at least two strings: choices = [...]")
    if len(set(choices)) != len(choices):
        raise table.error("choices", "a choice is declared twice")
    answers = question.answer if isinstance(question.answer, list) else [question.answer]
    for answer in answers:
        if answer is not None and answer not in choices:
            raise table.error("answer", f'the answer "{answer}" is none of the choices: {_listed(choices)}')
    for key in question.wrong:
        if key not in choices:
            raise table.error(key, f'"{key}" is none of the choices: {_listed(choices)}')
    # If several choices are right, an answer that omits one of them is wrong, so right choices need a reply, too.
    need = choices if question.kind == "multiple" else [choice for choice in choices if choice not in answers]
    for choice in need:
        if choice not in question.wrong and question.answer is not None:
            raise table.error("wrong", f'[wrong] lacks "{choice}": every choice that can be wrong says why')


def _check_multiple(question: Question) -> None:
    if not isinstance(question.answer, list):
        raise question.table.error("answer", "with several right choices, the answer must be a list of them")
    _check_choice(question)


def _check_open(question: Question) -> None:
    table = question.table
    if ELSE not in question.wrong:
        raise table.error("wrong", f'[wrong] lacks "{ELSE}": the reply to any other answer')
    if question.choices and question.kind != "state":
        raise table.error("choices", f"a question of kind {question.kind} has no choices")
    if question.kind == "number" and isinstance(question.answer, str | list):
        raise table.error("answer", "the answer must be a number")
    if question.kind in ("state", "text") and isinstance(question.answer, int | float):
        raise table.error("answer", "the answer must be a string")


_CHECKS: dict[str, Callable[[Question], None]] = {
    "choice": _check_choice,
    "multiple": _check_multiple,
    "number": _check_open,
    "state": _check_open,
    "text": _check_open,
}


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(f'"{text}"' for text in texts)


def _edits(table: Table, key: str) -> tuple[tuple[str, str], ...]:
    edits = []
    for edit in table.values.get(key, []):
        if not isinstance(edit, dict) or set(edit) != {"replace", "by"} or not all(isinstance(v, str) for v in edit.values()):
            raise table.error(key, f'{key} must be a list of {{ replace = "text", by = "text" }}')
        edits.append((edit["replace"], edit["by"]))
    return tuple(edits)


def _break(lesson: Lesson, block: Block) -> Part:
    table = table_of(lesson.path, block, _BREAK)
    targets = [key for key in ("protocol", "lock") if table.text(key)]
    if len(targets) != 1:
        raise LessonError(lesson.path, block.line - 1, 'a task changes one thing: protocol = "NAME" or lock = "NAME"')
    return Break(
        table,
        _next_id(lesson, table),
        targets[0],
        table.text(targets[0]),
        _edits(table, "given"),
        _edits(table, "solution"),
    )


_PARTS: dict[str, Callable[[Lesson, Block], Part]] = {
    "prose": _prose,
    "lesson": _again,
    "scene": _scene,
    "moment": _moment,
    "question": _question,
    "break": _break,
}
