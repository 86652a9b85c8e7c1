"""Lists the lessons, tests and assignments, and compiles them for the page."""

import base64
import gzip
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from linebounce.errors import UsageError, not_known
from linebounce.teach.compiler import Compiled, compile_lesson
from linebounce.teach.engine import Engine
from linebounce.teach.lesson import read_lesson
from linebounce.teach.source import read_text

_TESTS = {"pre": "pre-test", "post": "post-test"}
_TABLE_MACHINE = "course_8way"  # whose caches the exam table has, as `linebounce steps --accesses` does
_MACHINE = re.compile(r'^\s*machine\s*=\s*"([a-z0-9_]+)"', re.MULTILINE)


class Library:
    """Finds the files of the lessons in the teach/ folder of the source tree or of an installed program."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.lessons = engine.root / "teach" / "lessons"
        self.assignments = engine.root / "teach" / "assignments"

    def lesson_files(self) -> list[Path]:
        """The lessons by number."""
        files = sorted(self.lessons.glob("[0-9][0-9]-*.md"))
        if not files:
            raise UsageError(f"there are no lessons in {self.lessons}")
        return files

    def lecture_files(self) -> list[Path]:
        """The lectures by number."""
        return sorted((self.engine.root / "teach" / "slides").glob("lecture-[0-9].md"))

    def find(self, wanted: str) -> Path:
        """A lesson or test by its number, name or file. Raises UsageError, which lists the legal ones."""
        if wanted.endswith(".md"):
            return Path(wanted)
        files = [*self.lesson_files(), *(self.lessons / f"{name}.md" for name in _TESTS.values())]
        for file in files:
            number, _, slug = file.stem.partition("-")
            if wanted in (file.stem, slug) or (wanted.isdecimal() and number.isdecimal() and int(wanted) == int(number)):
                return file
        if Path(wanted).is_file():
            raise UsageError(f"{wanted}: a lesson's file must be called NAME.md")
        names = [file.stem for file in files]
        raise UsageError(f"lesson {not_known(wanted, names, most_shown=len(names))}")

    def assignment(self, name: str) -> Path:
        """An assignment that ships with the program. Takes only a name, because the name may come from a student's
        file, which must not choose any other file."""
        files = {file.stem: file for folder in (self.assignments, self.lessons) for file in folder.glob("*.md")}
        files |= {file.stem.partition("-")[2]: file for file in self.lessons.glob("[0-9][0-9]-*.md")}
        if name not in files:
            raise UsageError(f"assignment {not_known(name, sorted(files))}")
        return files[name]

    def compiled(self, say: Any = None) -> Compiled:
        """All lessons and whatever else the page needs besides its own files. Raises LessonError for the first mistake."""
        lessons = [self._compile(file, say) for file in self.lesson_files()]
        tests = {key: self._compile(self.lessons / f"{name}.md", say) for key, name in _TESTS.items()}
        parts = [part for lesson in [*lessons, *tests.values()] for part in lesson["parts"]]
        scenes = [part for part in parts if part["kind"] == "scene"]
        return {
            "version": 1,
            "lessons": lessons,
            "tests": {
                **{key: [part for part in test["parts"] if part["kind"] == "question"] for key, test in tests.items()},
                "scenes": [part for test in tests.values() for part in test["parts"] if part["kind"] == "scene"],
            },
            "protocols": self._files("models/protocols", "*.md", None),
            "machines": {
                **self._files("configs/machines", "*.toml", _machines(scenes) | {_TABLE_MACHINE}),
                **self._files("configs/families", "*.toml", None),
            },
            "layouts": {},
            "programs": {part["path"]: self._text(part["path"]) for part in parts if _is_shipped_lock(self.engine, part)},
        }

    def _compile(self, file: Path, say: Any) -> Compiled:
        if say:
            say(file.name)
        return compile_lesson(self.engine, read_lesson(file))

    def _text(self, path: str) -> str:
        return read_text(self.engine.root / path)

    def _files(self, folder: str, pattern: str, names: set[str] | None) -> dict[str, str]:
        files = sorted((self.engine.root / folder).glob(pattern))
        kept = [file for file in files if file.stem != "README" and (names is None or file.stem in names)]
        return {f"{folder}/{file.name}": read_text(file) for file in kept}


def _machines(scenes: Iterable[Compiled]) -> set[str]:
    """The machines that the scenes name, and those that a named machine's file extends."""
    return {name for scene in scenes for name in _MACHINE.findall(scene["experiment"])}


def _is_shipped_lock(engine: Engine, part: Compiled) -> bool:
    return bool(part["kind"] == "break" and part["target"] == "lock" and (engine.root / part["path"]).is_file())


def script(compiled: Compiled) -> str:
    """The compiled lessons as a script for the page. It is a script because a page opened from a file may not fetch
    data. It is compressed because most of it is protocol tables. The same lessons give the same bytes."""
    text = json.dumps(_without_markdown(compiled), ensure_ascii=False, separators=(",", ":"))
    packed = base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()
    return f'window.LINEBOUNCE_LESSONS_PACKED="{packed}";\n'


def _without_markdown(value: Any) -> Any:
    """Drops the Markdown sources, which only the terminal needs; the page shows HTML."""
    if isinstance(value, list):
        return [_without_markdown(one) for one in value]
    if not isinstance(value, dict):
        return value
    source = {"prose": "text", "moment": "text", "question": "text", "break": "question"}.get(value.get("kind", ""))
    return {key: _without_markdown(one) for key, one in value.items() if key != source}
