"""Runs commands and makes one of their file calls after another fail, with faults.c; checks what must hold however they end."""

import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from program import INTERNALS

SOURCE = Path(__file__).with_name("faults.c")
FULL_DISK = {"create", "write", "writev", "fsync", "mkdir"}
# The errors that each call may return on a broken disk, or in a process with too many open files.
ERRORS = {
    "open": [errno.EIO, errno.EMFILE],
    "create": [errno.EACCES],
    "read": [errno.EIO],
    "pread": [errno.EIO],
    "pread64": [errno.EIO],
    "write": [errno.EIO],
    "writev": [errno.EIO],
    "fwrite": [errno.EIO],
    "fflush": [errno.EIO],
    "fclose": [errno.EIO],
    "fsync": [errno.EIO],
    "close": [errno.EIO],
    "ftruncate": [errno.EIO],
    "rename": [errno.EIO],
    "mkdir": [errno.EACCES],
    "unlink": [errno.EACCES],
}
TEMPORARY = re.compile(r"^\.linebounce-tmp-[0-9a-f]+-?|^\.(?!linebounce-)(?=[^.]+\.(lbt|txt|json)$)")
# Additional messages of a sweep, of a merge without all points, of a recording before the disk was full, of one that could
# not be read back, where earlier results are, and, on a slow computer, how long the replays take.
ALSO_SAID = re.compile(
    r"^linebounce: dashboard |: \d points? not run yet: |: \d+ rows? recorded$|: \d+ operations of \d+ thread"
    r"|: earlier results are kept in |: about \d+ replays on "
)
MADE_AT = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d UTC")  # in a report
SIMULATION_FAILED = 4
USAGE, UNREADABLE = 2, 3  # exit codes for output that can't be written, and for input or results that can't be read
NOT_COMPARED = {"manifest.json", ".linebounce-lock"}
SCRATCH = "scratch"  # the folder for temporary files, whose calls fail, too
INSTALLED = "installed"


@dataclass(frozen=True)
class Case:
    """A command with its inputs and outputs, as names in its directory."""

    command: tuple[str, ...]
    needs: tuple[str, ...]
    writes: tuple[str, ...] = ()
    faults: int = 10  # the number of faults that ./dev test tries
    reproducible: bool = True  # the output has the same bytes each time
    # Merges existing results. So a point that can't be read has no metrics, and the manifest calls the results incomplete.
    merges: bool = False
    installed: bool = False  # with machines, protocols and lessons exposed to the faults, too: see installation.py
    until: str = ""  # sends Ctrl-C when the output has a line that begins like this
    code: int = 0  # without faults
    only_once: bool = False  # the command refuses to replace its own output


@dataclass(frozen=True)
class Call:
    number: int
    name: str
    path: str

    @property
    def file(self) -> str:
        """The file's name as a user knows it."""
        return TEMPORARY.sub("", Path(self.path).name)


@dataclass(frozen=True)
class Fault:
    call: Call
    error: int
    is_full: bool  # the disk stays full

    def __str__(self) -> str:
        stays = " from here on" if self.is_full else ""
        return f"call {self.call.number}: {self.call.name} {self.call.path}: {errno.errorcode[self.error]}{stays}"

    @property
    def variables(self) -> dict[str, str]:
        if self.is_full:
            return {"FAULTS_FULL": str(self.call.number)}
        return {"FAULTS_AT": str(self.call.number), "FAULTS_ERROR": str(self.error)}


@dataclass
class Outcome:
    code: int
    said: str
    errors: str
    files: dict[str, bytes] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)  # temporary files
    status: str = ""  # from the manifest of a results directory


class FaultyDisk:
    """Runs a case repeatedly, each time in a new directory."""

    def __init__(self, program: Path, library: Path, inputs: Path, place: Path, longest: float = 120) -> None:
        """`longest`: the time limit of a command in seconds. A command that takes longer is killed, and its test fails."""
        self.program, self.library, self.inputs, self.place, self.longest = program, library, inputs, place, longest

    def directory(self, case: Case) -> Path:
        """A directory in the state before the command. Its name is always the same, because it may appear in output."""
        made = self.place / "run"
        shutil.rmtree(made, ignore_errors=True)
        (made / SCRATCH).mkdir(parents=True)
        for name in (*case.needs, *([INSTALLED] if case.installed else [])):
            source = self.inputs / name
            if source.is_dir():
                shutil.copytree(source, made / name, symlinks=True)
            else:
                shutil.copy2(source, made / name)
        return made

    def run(self, case: Case, directory: Path, variables: dict[str, str] | None = None) -> Outcome:
        there = set((directory / SCRATCH).iterdir())
        count, log, allocations = self.place / "count", self.place / "log", self.place / "allocations"
        count.write_bytes(bytes(8))
        allocations.write_bytes(bytes(8))
        log.unlink(missing_ok=True)
        program = directory / INSTALLED / "linebounce" if case.installed else self.program
        state = {"LD_PRELOAD": self.library, "FAULTS_UNDER": directory, "FAULTS_COUNT": count, "FAULTS_LOG": log}
        state |= {"FAULTS_MEMORY": allocations}
        state |= {"TMPDIR": directory / SCRATCH, "LINEBOUNCE": program}
        with (
            subprocess.Popen(
                [program, *case.command],
                cwd=directory,
                env=os.environ | {name: str(value) for name, value in (state | (variables or {})).items()},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            ) as running,
            ended_after(running, self.longest),
        ):
            said = interrupt_after(running, case.until) if case.until else ""
            rest, errors = running.communicate()
        outcome = Outcome(running.returncode, said + rest, errors)
        for name in case.writes:
            for path in [directory / name, *sorted((directory / name).rglob("*"))]:
                if path.is_file() and path.name not in NOT_COMPARED and not path.name.startswith("."):
                    outcome.files[str(path.relative_to(directory))] = MADE_AT.sub(b"", path.read_bytes())
            if (directory / name / "manifest.json").exists():
                outcome.status = json.loads((directory / name / "manifest.json").read_bytes())["status"]
        outcome.left = sorted(str(path) for path in directory.rglob(".*") if TEMPORARY.match(path.name))
        outcome.left += sorted(map(str, set((directory / SCRATCH).glob("linebounce*")) - there))
        return outcome

    def calls(self) -> list[Call]:
        """The calls of the last run."""
        log = self.place / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        split = (line.split(" ", 2) for line in lines)
        return sorted((Call(int(number), name, path) for number, name, path in split), key=lambda call: call.number)

    def allocations(self) -> int:
        """The allocations of the last run, in linebounce's own processes."""
        return int.from_bytes((self.place / "allocations").read_bytes(), sys.byteorder)


def numbers(most: int) -> list[int]:
    """Call numbers to fail at: all up to 500, then each 1.3 times the one before."""
    chosen = list(range(1, min(500, most) + 1))
    while chosen and chosen[-1] * 1.3 < most:
        chosen.append(int(chosen[-1] * 1.3) + 1)
    return chosen


def faults_of(calls: list[Call]) -> Iterator[Fault]:
    for call in calls:
        if call.name in FULL_DISK:
            yield Fault(call, errno.ENOSPC, is_full=True)
        for error in ERRORS[call.name]:
            yield Fault(call, error, is_full=False)


def transfers(calls: list[Call]) -> set[int]:
    """The numbers of the reads and writes to shorten and to interrupt."""
    found = {call.number for call in calls if call.name in ("read", "pread", "pread64", "write")}
    return found.intersection(numbers(max(found, default=0)))


def sample(faults: list[Fault], number: int) -> list[Fault]:
    """Chooses `number` faults, always the same. First come one of each call and one of each kind of file, before any
    second one."""
    chance = random.Random(1)
    chance.shuffle(faults)
    seen: dict[tuple[str, ...], int] = {}

    def turn(fault: Fault) -> tuple[int, ...]:
        kinds = [(fault.call.name, str(fault.error)), (fault.call.name, re.sub(r"\d+", "", fault.call.file))]
        turns = []
        for kind in kinds:
            seen[kind] = seen.get(kind, 0) + 1
            turns.append(seen[kind])
        return tuple(turns)

    return sorted(faults, key=turn)[:number]


def hold_without_memory(case: Case, number: int, outcome: Outcome, before: dict[str, bytes], undisturbed: Outcome) -> None:
    """What must hold when an allocation fails: the same as in hold(), and one line says that memory ran out."""
    about = f"{' '.join(case.command)}: allocation {number}: exit code {outcome.code}\n{outcome.errors}"
    assert "a bug in Linebounce" not in outcome.errors, about
    if outcome.code == case.code:
        assert outcome.files == undisturbed.files or not case.reproducible, about
        return
    assert outcome.code in (USAGE, UNREADABLE, SIMULATION_FAILED), about
    for name, content in outcome.files.items():
        is_merged = case.merges and "points" not in Path(name).parts and outcome.status != "complete"
        assert content in (before.get(name), undisturbed.files.get(name)) or is_merged or not case.reproducible, about + name
    lines = [line for line in outcome.errors.splitlines() if not ALSO_SAID.search(line)]
    assert len(lines) == 1, about
    assert re.search("memory", lines[0], re.IGNORECASE), about
    assert not outcome.left, f"{about}{outcome.left}"


def hold(case: Case, fault: Fault | None, outcome: Outcome, before: dict[str, bytes], undisturbed: Outcome) -> None:
    """What must hold: nothing wrong was written, nothing finished was lost, and one line names the file and the reason."""
    about = f"{' '.join(case.command)}: {fault}: exit code {outcome.code}\n{outcome.errors}"
    shown = INTERNALS.search(outcome.said + outcome.errors)
    assert not shown, about
    assert "Traceback" not in outcome.errors, about
    assert "a bug in Linebounce" not in outcome.errors, about
    if outcome.code == case.code:
        assert outcome.files.keys() == undisturbed.files.keys(), about
        assert outcome.files == undisturbed.files or not case.reproducible, about
    else:
        assert fault is not None, about
        assert outcome.code in (UNREADABLE, USAGE), about
        for name, content in outcome.files.items():
            known = (before.get(name), undisturbed.files.get(name))
            is_merged = case.merges and "points" not in Path(name).parts and outcome.status != "complete"
            assert content in known or is_merged or not case.reproducible, f"{about}{name}"
        assert not before.keys() - outcome.files.keys() - undisturbed.files.keys(), about
        lines = [line for line in outcome.errors.splitlines() if not ALSO_SAID.search(line)]
        assert len(lines) == 1, about
        assert os.strerror(fault.error) in lines[0], about
        # The command may make the temporary file in another folder. Then it goes on, and the disk is full at a later call.
        went_on = fault.is_full and SCRATCH in Path(fault.call.path).parts
        assert went_on or names_file(case, fault.call, lines[0]), about
    if not fault or fault.call.name != "unlink":
        assert not outcome.left, f"{about}{outcome.left}"


@contextmanager
def ended_after(running: subprocess.Popen[str], seconds: float) -> Iterator[None]:
    """Kills the command and all processes that it started when this time is over, and raises TimeoutError. Those
    processes hold the command's pipes open."""
    too_late = threading.Event()

    def kill() -> None:
        too_late.set()
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)

    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        yield
    except BaseException:
        kill()
        raise
    finally:
        timer.cancel()
    if too_late.is_set():
        raise TimeoutError(f"{running.args} took more than {seconds} s")


def interrupt_after(running: subprocess.Popen[str], line: str) -> str:
    """Sends Ctrl-C after a line; returns the output until then, or all of it if the line never comes."""
    assert running.stdout
    said = ""
    for read in running.stdout:
        said += read
        if read.startswith(line):
            running.send_signal(signal.SIGINT)
            break
    return said


def names_file(case: Case, call: Call, line: str) -> bool:
    """Whether the message names the file or its directory. If the directory can't be made, the message may name the
    file that the command wanted to write there."""
    to_be_there = case.writes if call.name == "mkdir" else ()
    return any(name in line for name in (call.file, Path(call.path).parent.name, *to_be_there))


def make_library(folder: Path) -> Path:
    library = folder / "faults.so"
    command = ["gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", SOURCE, "-o", library]
    subprocess.run(command, check=True, timeout=60)
    return library
