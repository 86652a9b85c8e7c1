"""Lists the lessons, tests and assignments: `linebounce teach` without options."""

import json

from linebounce.console import output
from linebounce.teach.engine import Engine
from linebounce.teach.lesson import Lesson, read_head, read_lesson
from linebounce.teach.library import Library
from linebounce.teach.variant import common_text, is_varied


def list_lessons(engine: Engine, as_json: bool) -> int:
    library = Library(engine)
    tests = [library.lessons / f"{name}.md" for name in ("pre-test", "post-test")]
    files = [*library.lesson_files(), *tests, *sorted(library.assignments.glob("*.md"))]
    lessons = [read_head(file, common_text(file)) if is_varied(file) else read_lesson(file) for file in files]
    if as_json:
        print(json.dumps([_described(lesson) for lesson in lessons], indent=1))
        return 0
    console = output(100)
    for lesson in lessons:
        name = str(lesson.number) if lesson.number else lesson.slug
        minutes = f"{lesson.table.values['minutes']} min"
        console.print(f"  {name:<12} {minutes:>7}  {lesson.title}", markup=False)
    console.print("\nlinebounce teach --lesson 1 plays one here; -o DIR or --serve makes the page.", markup=False)
    return 0


def _described(lesson: Lesson) -> dict[str, object]:
    return {
        "name": lesson.path.stem,
        "title": lesson.title,
        "kind": lesson.table.text("kind", "lesson"),
        "minutes": lesson.table.values["minutes"],
        "goal": lesson.table.text("goal"),
        "tasks": [task.id for task in lesson.tasks],
    }
