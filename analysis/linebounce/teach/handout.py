"""Writes an assignment as a folder for students: the questions without answers, the files to change, and an answer form."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from linebounce.errors import UsageError
from linebounce.files import folder_written_whole, scratch_folder, write_file
from linebounce.own_folder import inner_path
from linebounce.teach.compiler import Compiled, Compiler
from linebounce.teach.engine import Engine
from linebounce.teach.lesson import Break, Lesson, Part, Question, Scene, read_lesson
from linebounce.teach.source import Block
from linebounce.teach.variant import make_variants


@dataclass(frozen=True)
class Class:
    """The class, if every student gets an assignment of their own, and what the assignments are drawn from."""

    students: Sequence[str]
    seed: str
    only: str = ""  # the one student whose folder is written; empty: all


def folder_for_teacher(directory: Path) -> Path:
    """The folder for the teacher: beside the students' folder, with -teacher at the end of its name."""
    named = directory if directory.name else directory.absolute()
    return named.with_name(f"{named.name}-teacher")


def hand_out_class(engine: Engine, assignment: Path, directory: Path, to: Class) -> list[Path]:
    """Writes a folder for each student into `directory`, and all assignments with their answers into a folder
    beside it. Returns both folders. Raises UsageError if one exists already, or a student is not in the class."""
    if to.only and to.only not in to.students:
        raise UsageError(f'--student: "{to.only}" is not in the roster')
    for_teacher = folder_for_teacher(directory)
    for folder in (directory, for_teacher):
        if folder.exists():
            raise UsageError(f"{folder} exists already")
    made = make_variants(engine, assignment, to.students, to.seed)
    with folder_written_whole(for_teacher) as answers, folder_written_whole(directory) as handed:
        for student, text in made.items():
            own = inner_path(answers, f"{student}.md")
            write_file(own, text.encode())
            if to.only in ("", student):
                hand_out(engine, own, inner_path(handed, student), name=assignment.stem, student=student)
    return [directory, for_teacher]


def hand_out(engine: Engine, assignment: Path, directory: Path, *, name: str = "", student: str = "") -> Path:
    """Writes an assignment's folder, and returns the file to read first. `name`: the assignment's name, if the file's
    name is another. Raises UsageError if the folder exists already."""
    lesson = read_lesson(assignment)
    if directory.exists():
        raise UsageError(f"{directory} exists already")
    with scratch_folder() as folder:
        compiled = Compiler(engine, lesson, folder).compile()
    forms = list(zip(lesson.parts, compiled["parts"], strict=True))
    text = f"# {lesson.title}\n\n" + "\n\n".join(_asked(part, form) for part, form in forms) + "\n"
    with folder_written_whole(directory) as made:
        for part, form in forms:
            if isinstance(part, Break):
                write_file(inner_path(made, _file(part)), form["text"].encode())
            elif isinstance(part, Scene):
                write_file(inner_path(made, f"{part.name}.toml"), form["experiment"].encode())
                write_file(inner_path(made, form["file"] or f"{part.name}.lua"), form["program"].encode())
        write_file(made / "answers.toml", _form(lesson, name or lesson.path.stem, student).encode())
        write_file(made / "assignment.md", text.encode())
    return directory / "assignment.md"


def _file(task: Break) -> str:
    return f"{task.id}.md" if task.target == "protocol" else f"{task.id}.lua"


def _asked(part: Part, form: Compiled) -> str:
    if isinstance(part, Block):
        return part.plain
    if isinstance(part, Scene):
        return f"The machine is in `{part.name}.toml`, its program in `{form['file']}`:\n\n```lua\n{form['program']}```"
    if isinstance(part, Question):
        choices = "".join(f"\n- {choice}" for choice in form["choices"])
        return f"**{part.id}** ({_points(part.points)}). {part.table.text('ask')}" + (f"\n{choices}" if choices else "")
    if isinstance(part, Break):
        return f"**{part.id}** ({_points(part.points)}). {part.table.text('ask')}\n\nThe file: `{_file(part)}`."
    return part.say


def _points(points: int) -> str:
    return f"{points} point{'s' if points > 1 else ''}"


def _form(lesson: Lesson, name: str, student: str) -> str:
    """The answer form. It has a line for each answer, commented out."""
    lines = [f'assignment = "{name}"', f'student    = "{student}"', "", "[answers]"]
    for task in lesson.tasks:
        kind = task.kind if isinstance(task, Question) else "change"
        sample = {"number": "0", "multiple": '["..."]', "change": f'"{_file(task)}"' if isinstance(task, Break) else ""}
        lines.append(f"# {task.id} = {sample.get(kind, chr(34) * 2)}")
    return "\n".join(lines) + "\n"
