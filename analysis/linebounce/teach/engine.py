"""The program, asked: what a scene's run does step by step, where a moment is, and what the checkers say."""

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linebounce.commands import UNREADABLE
from linebounce.errors import UnreadableError, UsageError
from linebounce.program import find_program

# A lesson's run takes milliseconds, a proof seconds. What takes longer is no lesson, or a file made to take for ever.
_LONGEST_S = 300
# Where the lessons, machines, protocols and programs are: the source tree, or lib/linebounce of an installed program.
_DATA = Path("models/protocols")

Document = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    """What `check` or `check-lock` says of a file."""

    holds: bool
    promise: str  # that is broken; empty if it holds
    text: str  # what is broken, for a reader
    output: str  # all that was printed


class EngineError(Exception):
    """What the program says against a file."""


class Engine:
    def __init__(self, program: str = "") -> None:
        self.program = program or find_program()
        self.root = _root_of(Path(self.program))

    def steps(self, experiment: Path) -> Document:
        """The document of one run. EngineError if the experiment is refused, or its run fails."""
        done = self._run("steps", str(experiment))
        if done.returncode != 0:
            raise EngineError(_message(done))
        document: Document = json.loads(done.stdout)
        return document

    def positions(self, experiment: Path, moments: Sequence[str]) -> list[int]:
        """Where each moment is, one after the other. EngineError, which names it, for one that is none or never comes."""
        done = self._run("steps", str(experiment), *(word for moment in moments for word in ("--at", moment)))
        if done.returncode not in (0, 1):
            raise EngineError(_message(done))
        lines = [line.split("\t") for line in done.stdout.splitlines() if line.strip()]
        for position, moment, *_ in lines:
            if position == "-":
                raise EngineError(f'"{moment}" never happens in this run')
        return [int(position) for position, *_ in lines]

    def check(self, protocol: Path) -> Verdict:
        """EngineError for a table that can't be read."""
        done = self._run("check", str(protocol), "--json")
        if done.returncode not in (0, 1):
            raise EngineError(_message(done))
        document = json.loads(done.stdout)
        violation = document.get("violation") or {}
        return Verdict(done.returncode == 0, str(violation.get("promise", "")), str(violation.get("text", "")), done.stdout)

    def check_lock(self, lock: Path, *arguments: str) -> Verdict:
        done = self._run("check-lock", str(lock), *arguments, "-o", str(lock.with_suffix(".shown")))
        if done.returncode not in (0, 1):
            raise EngineError(_message(done))
        first = next((line.strip() for line in done.stdout.splitlines() if line.strip()), "")
        return Verdict(done.returncode == 0, "", "" if done.returncode == 0 else first, done.stdout)

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [self.program, *arguments]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="surrogateescape",
                check=False,
                timeout=_LONGEST_S,
            )
        except subprocess.TimeoutExpired:
            raise EngineError(f"linebounce {arguments[0]} has not ended after {_LONGEST_S} s") from None
        if done.returncode == UNREADABLE:
            raise UnreadableError(_message(done))
        return done


def _root_of(program: Path) -> Path:
    for folder in program.resolve().parents:
        if (folder / _DATA).is_dir():
            return folder
    raise UsageError(f"there is no folder {_DATA} above {program}: it belongs to a source tree or an installation")


def _message(done: subprocess.CompletedProcess[str]) -> str:
    said = done.stderr.strip().removeprefix("linebounce: ")
    return said or f"the program ended with {done.returncode}"


def place_in(message: str, file: str) -> tuple[int, str]:
    """Of "FILE:LINE:COLUMN: what" the line and the message; 0 if no line of this file is named."""
    found = re.search(rf"(?:\S*/)?{re.escape(file)}:(\d+)(?::\d+)?:\s*(.*)", message, re.DOTALL)
    return (int(found[1]), found[2].strip()) if found else (0, message)
