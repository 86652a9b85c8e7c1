"""Runs the program for lessons: the steps of a scene's run, the positions of moments, and the verdicts of the checkers."""

import csv
import json
import os
import re
import resource
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linebounce.commands import UNREADABLE
from linebounce.errors import UnreadableError, UsageError
from linebounce.program import find_program

# In seconds. A lesson's run takes milliseconds and a proof takes seconds; a longer run is a mistake, or an attack.
_LONGEST_S = 300
# Limits for programs that strangers wrote: seconds of processor time, bytes of a file, bytes of address space. A lock in C
# needs 64 GiB of address space, most of it unused.
_LIMITS = ((resource.RLIMIT_CPU, 120), (resource.RLIMIT_FSIZE, 64 << 20))
_MEMORY, _NATIVE_MEMORY = 4 << 30, 68 << 30
_ROOMY = 64 << 20  # bytes of a cache in which a line for each question stays
# The longest counterexample to show to a student, in steps.
_MOST_STEPS = 60
# A folder that the root of the lessons, machines, protocols and programs must have. The root is the source tree, or
# lib/linebounce of an installed program.
_DATA = Path("models/protocols")

Document = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    """The verdict of `check` or `check-lock` on a file."""

    holds: bool
    promise: str  # which promise is broken; empty if all hold
    text: str  # the violation, in words
    output: str  # the program's whole output
    steps: str  # the counterexample, one step a line; empty if all promises hold


def _told(steps: Sequence[Document]) -> list[str]:
    """Formats a counterexample of `check`: each step, then the states of the caches, and of memory or directory, after
    it."""
    lines = []
    for number, step in enumerate(steps, 1):
        who, message = f"cache {step['cache']}" if "cache" in step else "", str(step.get("message", ""))
        words = (f"{who}'s", message, "is ordered") if step["step"] == "order" else (who, str(step["step"]), message)
        lines.append(f"{number}. {' '.join(word for word in words if word)}: {', '.join(step['states'])}")
    return lines


class EngineError(Exception):
    """The program's error message about a file."""


@dataclass(frozen=True)
class Confined:
    """Runs the program on files that strangers wrote: with limits, and without this process's environment."""

    folder: Path  # for the files that the program keeps between runs
    native: bool = False  # a lock in C

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.folder)}

    def limit(self) -> None:
        memory = _NATIVE_MEMORY if self.native else _MEMORY
        for which, most in (*_LIMITS, (resource.RLIMIT_AS, memory)):
            resource.setrlimit(which, (most, most))


class Engine:
    def __init__(self, program: str = "", confined: Confined | None = None) -> None:
        self.program = program or find_program()
        self.confined = confined
        self.root = _root_of(Path(self.program))

    def steps(self, experiment: Path, most: int = 0) -> Document:
        """The document of one run, or of its first `most` steps if `most` is not 0. Raises EngineError if the program
        refuses the experiment, or the run fails."""
        done = self._run("steps", str(experiment), *(["--steps", str(most)] if most else []))
        if done.returncode != 0:
            raise EngineError(_message(done))
        document: Document = json.loads(done.stdout)
        return document

    def table(self, trace: Path, protocol: str) -> list[dict[str, str]]:
        """The rows of a trace's accesses on an atomic bus, in caches so large that nothing leaves. Raises EngineError."""
        done = self._run("steps", str(trace), "--protocol", protocol, "--cache-bytes", str(_ROOMY), "--format", "csv")
        if done.returncode != 0:
            raise EngineError(_message(done))
        return list(csv.DictReader(done.stdout.splitlines()))

    def protocol(self, name: str) -> Document:
        """What `describe` says of a protocol."""
        done = self._run("describe", "protocol", name, "--json")
        if done.returncode != 0:
            raise EngineError(_message(done))
        document: Document = json.loads(done.stdout)
        return document

    def positions(self, experiment: Path, moments: Sequence[str]) -> list[int]:
        """The step of each moment, in order. Raises EngineError, which names the first moment that is malformed or
        never happens."""
        done = self._run("steps", str(experiment), *(word for moment in moments for word in ("--at", moment)))
        if done.returncode not in (0, 1):
            raise EngineError(_message(done))
        lines = [line.split("\t") for line in done.stdout.splitlines() if line.strip()]
        for position, moment, *_ in lines:
            if position == "-":
                raise EngineError(f'"{moment}" never happens in this run')
        return [int(position) for position, *_ in lines]

    def check(self, protocol: Path) -> Verdict:
        """Raises EngineError for a table that can't be read."""
        done = self._run("check", str(protocol), "--json")
        if done.returncode not in (0, 1):
            raise EngineError(_message(done))
        document = json.loads(done.stdout)
        violation = document.get("violation") or {}
        promise, text = (str(violation.get(key, "")) for key in ("promise", "text"))
        steps = "\n".join(_told(violation.get("steps", []))[:_MOST_STEPS])
        return Verdict(done.returncode == 0, promise, text, done.stdout, steps)

    def check_lock(self, lock: Path, *arguments: str) -> Verdict:
        done = self._run("check-lock", str(lock), *arguments, "-o", str(lock.with_suffix(".shown")))
        if done.returncode not in (0, 1):
            raise EngineError(_message(done))
        if done.returncode == 0:
            return Verdict(True, "", "", done.stdout, "")
        first, *others = [line for line in done.stdout.splitlines() if line.strip()] or [""]
        return Verdict(False, "", first.strip(), done.stdout, "\n".join(others[:_MOST_STEPS]))

    def output(self, arguments: Sequence[str], folder: Path) -> str:
        """What a command prints when it runs in this folder. A check that finds an error counts as success; any other
        failure raises EngineError."""
        done = self._run(*arguments, folder=folder)
        if done.returncode not in (0, 1):
            raise EngineError(_message(done))
        return done.stdout

    def metric(self, program: Path, machine: str, directory: Path, name: str) -> float:
        """A metric of one run of a program or lock. Raises EngineError if the run is refused, fails, or lacks the metric."""
        done = self._run("run", str(program), "--machine", machine, "--quiet", "-o", str(directory))
        if done.returncode != 0:
            raise EngineError(_message(done))
        metrics = json.loads((directory / "results.json").read_bytes())["points"][0]["metrics"]
        if name not in metrics:
            raise EngineError(f"the run has no {name}")
        return float(metrics[name]["value"])

    def _run(self, *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [self.program, *arguments]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="surrogateescape",
                check=False,
                timeout=_LONGEST_S,
                env=self.confined.environment() if self.confined else None,
                preexec_fn=self.confined.limit if self.confined else None,
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
    """Splits "FILE:LINE:COLUMN: what" into line and message. The line is 0 if the message is about another file or has
    no line."""
    found = re.search(rf"(?:\S*/)?{re.escape(file)}:(\d+)(?::\d+)?:\s*(.*)", message, re.DOTALL)
    return (int(found[1]), found[2].strip()) if found else (0, message)
