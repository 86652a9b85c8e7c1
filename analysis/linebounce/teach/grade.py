"""Grades a student's answers. Compares predictions with the right answers, and checks tables and locks with the
checkers. Both files are untrusted, so the files that they name must be in the same folder."""

import difflib
import json
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table as Shown
from rich.text import Text

from linebounce.commands import CHECK_FAILED, DONE
from linebounce.console import output
from linebounce.errors import InputError, UnreadableError, UsageError, malformed, meant
from linebounce.files import scratch_folder
from linebounce.teach.compiler import Compiled, Compiler, verdict_of
from linebounce.teach.engine import Engine, EngineError, Verdict
from linebounce.teach.grade_files import GradeFiles
from linebounce.teach.lesson import Break, Lesson, Question, read_lesson
from linebounce.teach.library import Library
from linebounce.teach.marking import mark
from linebounce.teach.source import read_text
from linebounce.teach.variant import is_student, is_varied

_LONGEST = 256 << 10
_MOST_ANSWERS = 1000
_PAGE_FORMAT = "linebounce.answers/1"
# The groups in a file that the lessons' page saved: the group's key there, names of its tests or lessons here, and which of
# several answers counts.
_PAGE_GROUPS: tuple[tuple[str, dict[str, str], str], ...] = (
    ("tests", {"pre": "pre-test", "post": "post-test"}, "given"),
    ("lessons", {}, "first"),
)


@dataclass(frozen=True)
class Graded:
    """The grade of one task."""

    id: str
    given: str
    right: bool
    points: int
    of: int
    says: str


@dataclass(frozen=True)
class Handed:
    """The content of a student's file."""

    path: Path
    assignment: str
    student: str
    answers: dict[str, Any]


@dataclass(frozen=True)
class Sheet:
    """Where the right answers are: `assignment`, one file for all, or `variants`, a folder with a file for each
    student. If neither is set, the assignment that ships with the program."""

    assignment: Path | None = None
    variants: Path | None = None

    def file_for(self, engine: Engine, handed: Handed) -> Path:
        """The assignment of this student. Raises InputError for a student without one."""
        if self.variants:
            own = self.variants / f"{handed.student}.md"
            if not is_student(handed.student) or not own.is_file():
                raise InputError(f'{handed.path}: {self.variants} has no assignment of student "{handed.student}"')
            return own
        if self.assignment:
            return self.assignment
        if not handed.assignment:
            raise InputError(f'{handed.path}: it lacks assignment = "NAME", and no --assignment FILE is given')
        shipped = Library(engine).assignment(handed.assignment)
        if is_varied(shipped):
            raise UsageError(f"{handed.assignment} is another one for each student: give --variants DIR, the teacher's folder")
        return shipped


def grade(engine: Engine, path: Path, sheet: Sheet, *, as_json: bool, files: GradeFiles | None = None) -> int:
    """Grades and prints. Returns 1 if an answer is wrong or missing, otherwise 0. Raises InputError for a student's
    file that can't be read."""
    documents = graded_documents(engine, path, sheet)
    if files:
        files.write(documents)
    if as_json:
        print(json.dumps(documents if path.suffix == ".json" else documents[0], indent=1, ensure_ascii=False))
    else:
        for document in documents:
            _show(document)
    return DONE if all(one["points"] == one["of"] for one in documents) else CHECK_FAILED


def graded_documents(engine: Engine, path: Path, sheet: Sheet) -> list[dict[str, Any]]:
    """The grades in one file: one document, or one for each test and lesson if the lessons' page saved the file."""
    if path.suffix == ".json":
        return _grade_page(engine, path)
    handed = _read(path)
    lesson = read_lesson(sheet.file_for(engine, handed))
    unknown = sorted(set(handed.answers) - {task.id for task in lesson.tasks})
    if unknown:
        ids = sorted(task.id for task in lesson.tasks)
        raise InputError(f'{path}: {lesson.path.name} has no task "{unknown[0]}": {meant(unknown[0], ids)}')
    with scratch_folder() as folder:
        compiler = Compiler(engine, lesson, folder)
        graded = _graded(compiler, compiler.compile(), handed)
    return [_document(lesson, handed, graded)]


def _grade_page(engine: Engine, path: Path) -> list[dict[str, Any]]:
    """Grades a file that the lessons' page saved: each of its tests and lessons like an assignment. Marks in the file
    are ignored."""
    documents = []
    for handed in _read_page(path):
        lesson = read_lesson(Library(engine).assignment(handed.assignment))
        known = {task.id for task in lesson.tasks}
        with scratch_folder() as folder:
            compiler = Compiler(engine, lesson, folder)
            compiled = compiler.compile()
            kept = {key: value for key, value in handed.answers.items() if key in known}
            graded = _graded(compiler, compiled, Handed(path, handed.assignment, handed.student, kept))
        # The page doesn't save the tables that a student changed, so only questions are graded.
        graded = [one for one, task in zip(graded, lesson.tasks, strict=True) if isinstance(task, Question)]
        documents.append(_document(lesson, handed, graded))
    return documents


def _read_page(path: Path) -> list[Handed]:
    text = read_text(path, _LONGEST)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: {malformed('JSON', text, error)}") from None
    if not isinstance(values, dict) or values.get("format") != _PAGE_FORMAT:
        raise InputError(f'{path}: this is not a file of answers saved by the page (format "{_PAGE_FORMAT}")')
    student = values.get("name") if isinstance(values.get("name"), str) else ""
    handed = [
        Handed(path, name, str(student), _page_answers(group, key))
        for members, names, key in _PAGE_GROUPS
        for name, group in _groups(values.get(members), names)
    ]
    return [one for one in handed if one.answers]


def _groups(members: Any, names: dict[str, str]) -> list[tuple[str, Any]]:
    if not isinstance(members, dict):
        return []
    return [(names.get(key, str(key)), group) for key, group in list(members.items())[:_MOST_ANSWERS]]


def _page_answers(group: Any, key: str) -> dict[str, Any]:
    answers = group.get("answers", {}) if isinstance(group, dict) else {}
    if not isinstance(answers, dict):
        return {}
    return {name: one[key] for name, one in list(answers.items())[:_MOST_ANSWERS] if isinstance(one, dict) and key in one}


def _read(path: Path) -> Handed:
    text = read_text(path, _LONGEST)
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path}: {malformed('TOML', text, error)}") from None
    answers = values.get("answers", {})
    if not isinstance(answers, dict) or len(answers) > _MOST_ANSWERS:
        raise InputError(f"{path}: [answers] must be a table of at most {_MOST_ANSWERS} answers")
    for key in values:
        if key not in ("assignment", "student", "answers"):
            raise InputError(f"{path}: {key}: unknown key; legal: assignment, student, [answers]")
    for key in ("assignment", "student"):
        if not isinstance(values.get(key, ""), str):
            raise InputError(f"{path}: {key} must be a string")
    return Handed(path, values.get("assignment", ""), values.get("student", ""), answers)


def _graded(compiler: Compiler, compiled: Compiled, handed: Handed) -> list[Graded]:
    """The grades in the assignment's order. Tasks without an answer are included."""
    graded = []
    for part, form in zip(compiler.lesson.parts, compiled["parts"], strict=True):
        if not isinstance(part, Question | Break):
            continue
        given = handed.answers.get(part.id)
        if given is None:
            graded.append(Graded(part.id, "", False, 0, part.points, "no answer"))
        elif isinstance(part, Question):
            graded.append(_of_question(part, form, given))
        else:
            graded.append(_of_change(compiler, part, form, given, handed.path.parent))
    return graded


def _of_question(question: Question, form: Compiled, given: Any) -> Graded:
    marked = mark(question, form, given)
    shown = ", ".join(map(str, given)) if isinstance(given, list) else str(given)
    return Graded(question.id, shown, marked.right, question.points * marked.right, question.points, marked.says)


def _of_change(compiler: Compiler, task: Break, form: Compiled, given: Any, folder: Path) -> Graded:
    try:
        text = read_text(_inside(folder, given), _LONGEST)
        says = _verdict(compiler, task, form, text)
    except UnreadableError:
        raise  # not the student's mistake
    except (InputError, EngineError) as error:
        says = str(error).replace(f"{compiler.folder}/", "")
    right = not says
    return Graded(task.id, str(given), right, task.points * right, task.points, says or task.table.text("right"))


def _inside(folder: Path, given: Any) -> Path:
    """The path of a file that an answer names. Raises InputError unless the file is in the folder of the answers."""
    if not isinstance(given, str) or not given or "\0" in given:
        raise InputError("the answer must be the name of a file beside the answers")
    root = folder.resolve()
    path = (root / given).resolve()
    if not path.is_relative_to(root) or not path.is_file():
        raise InputError(f'"{given}" is not a file in the folder of the answers')
    return path


def _verdict(compiler: Compiler, task: Break, form: Compiled, text: str) -> str:
    """Why a changed file is not a right answer; empty if it is right."""
    limit = form["changes"]
    changed = _changed_lines(form["text"], text)
    if not changed:
        return "nothing was changed"
    if limit and changed > limit:
        return f"{changed} lines differ from the file that was given; at most {limit} may"
    verdict = verdict_of(compiler.engine, task, text, compiler.folder)
    if verdict.holds != (task.until == "holds"):
        return _with_steps(verdict, verdict.text or task.table.text("wrong"))
    finds = task.table.text("finds")
    if finds and verdict.promise != finds:
        said = f'it is broken in another way: "{verdict.promise}", not "{finds}": {verdict.text}'
        return _with_steps(verdict, said)
    return ""


def _with_steps(verdict: Verdict, said: str) -> str:
    """The counterexample in words, then step by step."""
    return f"{said}\n\n{verdict.steps}" if verdict.steps else said


def _changed_lines(before: str, after: str) -> int:
    """The number of changed lines: of removed or of added ones, whichever are more. Blanks at line ends don't count."""
    old, new = ([line.rstrip() for line in text.splitlines()] for text in (before, after))
    gone = fresh = 0
    for kind, a, b, c, d in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if kind != "equal":
            gone, fresh = gone + b - a, fresh + d - c
    return max(gone, fresh)


def _document(lesson: Lesson, handed: Handed, graded: list[Graded]) -> dict[str, Any]:
    return {
        "assignment": handed.assignment or lesson.path.stem,
        "title": lesson.title,
        "student": handed.student,
        "points": sum(one.points for one in graded),
        "of": sum(one.of for one in graded),
        "answers": [asdict(one) for one in graded],
    }


def _show(document: dict[str, Any]) -> None:
    console = output(100)
    console.print(document["title"] + (f": {document['student']}" if document["student"] else ""), markup=False)
    table = Shown(box=None, padding=(0, 2, 0, 0))
    for name in ("task", "points", "answer", ""):
        table.add_column(name, overflow="fold", justify="right" if name == "points" else "left")
    for one in document["answers"]:
        sign = "✓" if one["right"] else "✗"
        why = "" if one["right"] else one["says"].partition("\n")[0]
        table.add_row(_shown(one["id"]), f"{sign} {one['points']}/{one['of']}", _shown(one["given"][:60]), _shown(why))
    console.print(table)
    console.print(f"{document['points']} of {document['of']} points", markup=False)


def _shown(text: str) -> Text:

    return Text(text)
