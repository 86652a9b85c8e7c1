"""The C++ program, for the tools that run it: where it is, what it plans, and its single steps."""

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
from linebounce.errors import InputError, UsageError
from linebounce.files import scratch_folder
from linebounce.records import At
from linebounce.results import read_document


@dataclass(frozen=True)
class Plan:
    """What `linebounce run --plan -o DIR` says of an experiment."""

    experiment: str
    at: tuple[At, ...]  # of each point, which count from 0
    done: frozenset[int]  # points that DIR has already

    @property
    def swept(self) -> bool:
        """Whether points have directories of their own."""
        return any(self.at)

    def point_directory(self, directory: Path, point: int) -> Path:
        return directory / "points" / str(point) if self.swept else directory

    def point_name(self, point: int) -> str:
        if not self.swept:
            return "the run"
        return f"point {point} ({', '.join(f'{path} = {value}' for path, value in self.at[point].items())})"


def find_program(preferred: str = "") -> str:
    """`preferred` if it is there, else $LINEBOUNCE, else beside this script, else in PATH. UsageError if nowhere."""
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
    """An experiment as `run` is given it: a file or a name, and what the command line overrides."""

    program: str
    source: str  # a file's absolute path, or a name
    overrides: tuple[str, ...] = ()

    def command(self, *arguments: str) -> list[str]:
        return [self.program, "run", self.source, *self.overrides, *arguments]

    def plan(self, directory: Path | None = None) -> Plan:
        """The points; with a directory also which of them it has. UsageError for what `run` refuses."""
        output = [] if directory is None else ["-o", str(directory)]
        document: dict[str, Any] = json.loads(checked(self.command("--plan", *output)))
        at = tuple(point["at"] for point in document["points"])
        return Plan(document["experiment"], at, frozenset(document.get("done", ())))

    def start(self, directory: Path, *, fresh: bool) -> None:
        """Makes the directory this experiment's, with none of its points; `fresh` deletes earlier results."""
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot make {directory}: {error.strerror}") from None
        # There is nothing to merge, and it says so: that is the purpose.
        arguments = ["-o", str(directory), "--merge", "--quiet", *(["--fresh"] if fresh else [])]
        checked(self.command(*arguments), allowed=(0, UNREADABLE))

    def resolved(self) -> str:
        """The resolved config.toml: the same experiment without any other file."""
        with scratch_folder() as scratch:
            self.start(scratch, fresh=False)
            return read_document(scratch / "config.toml", str)


def checked(command: Sequence[str], allowed: Sequence[int] = (0,)) -> str:
    """Runs the program to its end and returns what it prints. What it says of an error becomes ours."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="surrogateescape", check=False
    )
    if done.returncode in allowed:
        return done.stdout
    message = done.stderr.strip().removeprefix("linebounce: ") or f"{command[0]} ended with {done.returncode}"
    raise (InputError if done.returncode == UNREADABLE else UsageError)(message)
