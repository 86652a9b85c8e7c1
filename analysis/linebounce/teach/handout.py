"""Writes an assignment as a folder for students: the questions without answers, the files to change, and an answer form."""

from pathlib import Path

from linebounce.errors import UsageError
from linebounce.files import folder_written_whole, scratch_folder, write_file
from linebounce.teach.compiler import Compiled, Compiler
from linebounce.teach.engine import Engine
from linebounce.teach.lesson import Break, Lesson, Part, Question, Scene, read_lesson
from linebounce.teach.source import Block


def hand_out(engine: Engine, assignment: Path, directory: Path) -> Path:
    """Returns the file to read first. Raises UsageError if the folder exists already."""
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
                write_file(made / _file(part), form["text"].encode())
            elif isinstance(part, Scene):
                write_file(made / f"{part.name}.toml", form["experiment"].encode())
                write_file(made / (form["file"] or f"{part.name}.lua"), form["program"].encode())
        write_file(made / "answers.toml", _form(lesson).encode())
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


def _form(lesson: Lesson) -> str:
    """The answer form, in which all answers are commented out."""
    lines = [f'assignment = "{lesson.path.stem}"', 'student    = ""', "", "[answers]"]
    for task in lesson.tasks:
        kind = task.kind if isinstance(task, Question) else "change"
        sample = {"number": "0", "multiple": '["..."]', "change": f'"{_file(task)}"' if isinstance(task, Break) else ""}
        lines.append(f"# {task.id} = {sample.get(kind, chr(34) * 2)}")
    return "\n".join(lines) + "\n"
