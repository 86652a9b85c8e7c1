"""Runs the C++ program for the Python tools: finds it, asks for its plan, and runs single steps."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linebounce.commands import UNREADABLE
from linebounce.errors import InputError, UsageError, of_lines
from linebounce.files import make_folder, scratch_folder
from linebounce.records import At
from linebounce.results import read_document


@dataclass(frozen=True)
class Plan:
    """What `linebounce run --plan -o DIR` prints about an experiment."""

    experiment: str
    at: tuple[At, ...]  # each point's settings, by point number
    done: frozenset[int]  # numbers of the points that already have results in DIR

    @property
    def swept(self) -> bool:
        """Whether each point has a directory of its own."""
        return any(self.at)

    def point_directory(self, directory: Path, point: int) -> Path:
        return directory / "points" / str(point) if self.swept else directory

    def point_name(self, point: int) -> str:
        if not self.swept:
            return "the run"
        return f"point {point} ({', '.join(f'{path} = {value}' for path, value in self.at[point].items())})"


def find_program(preferred: str = "") -> str:
    """The program's path: `preferred` if given, otherwise $LINEBOUNCE, the program beside this script, or the one in
    PATH. Raises UsageError if there is none."""
    beside = Path(sys.argv[0]).resolve().parent / "linebounce"
    for candidate in (preferred, os.environ.get("LINEBOUNCE", ""), str(beside)):
        if candidate and os.access(candidate, os.X_OK) and Path(candidate).is_file():
            return str(Path(candidate).absolute())
    found = shutil.which("linebounce")
    if found is None:
        raise UsageError(
            f"the program linebounce is neither beside {Path(sys.argv[0]).name} nor in PATH; name it in LINEBOUNCE=PATH"
        )
    return str(Path(found).absolute())


@dataclass(frozen=True)
class Experiment:
    """What `run` was asked to run: a file or name, and the overrides of the command line."""

    program: str
    source: str  # an absolute path, or the name of a shipped experiment
    overrides: tuple[str, ...] = ()

    def command(self, *arguments: str) -> list[str]:
        return [self.program, "run", self.source, *self.overrides, *arguments]

    def plan(self, directory: Path | None = None) -> Plan:
        """The experiment's points and, for a given directory, which are finished there. Raises UsageError for what `run`
        refuses."""
        output = [] if directory is None else ["-o", str(directory)]
        document: dict[str, Any] = json.loads(checked(self.command("--plan", *output)))
        at = tuple(point["at"] for point in document["points"])
        return Plan(document["experiment"], at, frozenset(document.get("done", ())))

    def start(self, directory: Path, *, fresh: bool) -> None:
        """Prepares the directory for this experiment without running any point. `fresh` sets earlier results
        aside, and says where."""
        make_folder(directory)
        # --merge prepares the directory, and then fails because there are no points yet. The failure is expected.
        arguments = ["-o", str(directory), "--merge", "--quiet", *(["--fresh"] if fresh else [])]
        _, complaints = checked_with_complaints(self.command(*arguments), allowed=(0, UNREADABLE))
        for line in complaints.splitlines():
            if "earlier results are kept in" in line:
                print(line, file=sys.stderr, flush=True)

    def resolved(self) -> str:
        """The text of the resolved config.toml: the same experiment, which refers to no other file."""
        with scratch_folder() as scratch:
            self.start(scratch, fresh=False)
            return read_document(scratch / "config.toml", str)


def checked(command: Sequence[str], allowed: Sequence[int] = (0,)) -> str:
    """Runs the program and returns its output. An exit code that is not in `allowed` raises an error with the program's
    message."""
    return checked_with_complaints(command, allowed)[0]


def checked_with_complaints(command: Sequence[str], allowed: Sequence[int] = (0,)) -> tuple[str, str]:
    """As checked(); also returns what the program said on its standard error."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="surrogateescape", check=False
    )
    if done.returncode in allowed:
        return done.stdout, done.stderr
    message = done.stderr.strip().removeprefix("linebounce: ") or f"{command[0]} ended with {done.returncode}"
    lines = message.splitlines()
    raise of_lines(InputError, lines) if done.returncode == UNREADABLE else of_lines(UsageError, lines)
