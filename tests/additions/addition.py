"""The words in which an addition is written down: new files, text at an anchor of a file, and a check that it works.

A sample is what the README of its place asks for under "To add", and nothing else. A text that is inserted beside an anchor
fails if the file no longer has that anchor.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


class AnchorError(AssertionError):
    """A file has no text where an addition belongs."""


@dataclass(frozen=True)
class Edit:
    """Text beside an anchor. `new` has the anchor, too, unless it is replaced."""

    file: str
    anchor: str
    new: str

    def applied(self, text: str) -> str:
        if self.anchor not in text:
            raise AnchorError(f"{self.file} has no {self.anchor!r}")
        return text.replace(self.anchor, self.new, 1)


def after(file: str, anchor: str, text: str) -> Edit:
    return Edit(file, anchor, anchor + text)


def before(file: str, anchor: str, text: str) -> Edit:
    return Edit(file, anchor, text + anchor)


def instead(file: str, anchor: str, text: str) -> Edit:
    return Edit(file, anchor, text)


def row(file: str, behind: str, text: str) -> Edit:
    """A row of a table, behind the one that begins like this."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    neighbour = next((line for line in lines if line.startswith(behind)), behind)
    return after(file, neighbour + "\n", text + "\n")


class Clone:
    """The work tree with samples in it, built in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.build = folder / "build" / "dev"
        self.errors = ""  # what the compilers said
        self.environment = os.environ | {
            "LINEBOUNCE": str(self.build / "linebounce"),
            "PYTHONPATH": os.pathsep.join((str(folder / "build" / "site"), str(folder / "analysis"))),
            "COLUMNS": "100",
        }

    def run(self, *command: str | Path, code: int = 0) -> str:
        """Runs a command in the clone; returns what it printed."""
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        shown = " ".join(str(word) for word in command)
        assert done.returncode == code, f"{shown}: exit code {done.returncode}\n{done.stdout[-4000:]}"
        return done.stdout

    def linebounce(self, *arguments: str | Path, code: int = 0) -> str:
        return self.run(self.build / "linebounce", *arguments, code=code)

    def ctest(self, program: str, cases: str = "*") -> None:
        """Runs those cases of one of the C++ test programs, of which there must be one."""
        shown = self.run("env", f"LINEBOUNCE_ROOT={self.folder}", self.build / program, f"--gtest_filter={cases}")
        assert "[  PASSED  ] 0 tests" not in shown, f"{program} has no case {cases}"

    def pytest(self, file: str, *words: str) -> None:
        """Runs those tests of a file, of which there must be one. `words`: what is behind -k, and further arguments."""
        chosen = ["-k", words[0], *words[1:]] if words else []
        self.run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file, *chosen)

    def lint(self, *files: str) -> str:
        return self.run(sys.executable, "tools/lint.py", *files)


@dataclass(frozen=True)
class Addition:
    kind: str  # as in the index of CONTRIBUTING.md
    readme: str  # the file that says how
    works: Callable[[Clone], None]
    files: Mapping[str, str] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    row: Edit | None = None  # the row of a README that tools/lint.py demands
    targets: tuple[str, ...] = ()  # programs to build, besides linebounce

    @property
    def name(self) -> str:
        return self.kind.replace(" ", "_")

    def touched(self) -> set[str]:
        return {*self.files, *(edit.file for edit in self.edits)}


ADDITIONS: dict[str, Addition] = {}


def addition(kind: str, readme: str, **sample: Any) -> Callable[[Callable[[Clone], None]], Callable[[Clone], None]]:
    """Registers an addition; the function checks in a built clone that it works. `sample`: other members of Addition."""

    def register(works: Callable[[Clone], None]) -> Callable[[Clone], None]:
        assert kind not in ADDITIONS, kind
        ADDITIONS[kind] = Addition(kind, readme, works, **sample)
        return works

    return register


def with_additions(texts: Mapping[str, str], chosen: list[Addition], *, rows: bool = True) -> dict[str, str]:
    """The texts of the tree with these additions, one behind the other. Raises AnchorError, which names the addition."""
    changed = dict(texts)
    for each in chosen:
        for name, text in each.files.items():
            assert name not in changed, f"{each.kind}: there is a {name} already"
            changed[name] = text
        for edit in (*each.edits, *((each.row,) if rows and each.row else ())):
            try:
                changed[edit.file] = edit.applied(changed.get(edit.file, ""))
            except AnchorError as error:
                raise AnchorError(f"{each.kind}: {error}") from None
    return changed
