"""The part of a sweep that runs on a worker: runs a few points of an experiment with the C++ program.

A worker that sees the client's results directory (the same machine or a shared file system) writes straight into it. A
finished point is then safe, whatever happens to client, scheduler or worker. Any other worker runs the point in a
scratch directory and returns its files with the outcome.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from linebounce.commands import USAGE
from linebounce.errors import InputError
from linebounce.files import read_result, scratch_folder, write_file
from linebounce.program import Experiment, find_program

LOCK = ".linebounce-lock"
_LOCK_POLL_S = 0.05


@dataclass(frozen=True)
class Job:
    """What every worker gets to know about a sweep."""

    name: str  # unique to this sweep
    experiment: Experiment
    directory: Path  # an absolute path
    manifest: str  # digest of the client's manifest.json, by which a worker recognizes the client's directory
    swept: bool
    # The client's working directory, for relative paths in arguments; ignored on a worker without that directory.
    folder: str = ""
    root: str = ""  # the client's LINEBOUNCE_ROOT; ignored on a worker without that directory
    # The resolved experiment, for workers that don't see the directory. Empty if all workers are on this machine.
    resolved: str = ""

    def point_directory(self, point: int) -> Path:
        return self.directory / "points" / str(point) if self.swept else self.directory


@dataclass
class Outcome:
    """The result of one task's points."""

    done: list[int] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)  # the program's message for each failed point
    not_run: list[int] = field(default_factory=list)
    refused: bool = False  # the fault is not the simulation's: the output can't be written, or the experiment is wrong
    simulation_s: float = 0.0  # of the finished points
    wall_s: float = 0.0  # of the whole task
    # Contents of files by their paths in the results directory. Empty if the worker writes into the client's directory.
    files: dict[str, bytes] = field(default_factory=dict)


# State of this worker process: the running programs of each job, and the names of stopped jobs.
_running: dict[str, set[subprocess.Popen[str]]] = {}
_stopped: set[str] = set()


def digest(path: Path) -> str:
    """The digest of a file's content; empty if there is no file."""
    try:
        return hashlib.sha256(read_result(path)).hexdigest()
    except (OSError, InputError):
        return ""


def run_points(job: Job, points: Sequence[int]) -> Outcome:
    """Runs these points in order. Raises UsageError if the worker lacks the program."""
    begun = time.monotonic()
    outcome = _run_points(job, points)
    outcome.wall_s = time.monotonic() - begun
    return outcome


def _run_points(job: Job, points: Sequence[int]) -> Outcome:
    job = replace(job, experiment=replace(job.experiment, program=find_program(job.experiment.program)))
    if job.name in _stopped:
        return Outcome(not_run=list(points))
    if not job.resolved or digest(job.directory / "manifest.json") == job.manifest:
        for point in points:
            wait_until_free(job.point_directory(point), or_until=lambda: job.name in _stopped)
        return _run_here(job, points)
    with scratch_folder() as scratch:
        config = scratch / "experiment.toml"
        write_file(config, job.resolved.encode())
        here = replace(job, directory=scratch / "out", experiment=Experiment(job.experiment.program, str(config)))
        outcome = _run_here(here, points)
        outcome.files = _files_of(here, points)
        return outcome


def stop(job_name: str) -> None:
    """Ends a sweep's running programs on this worker. The worker starts no more of them."""
    _stopped.add(job_name)
    for process in tuple(_running.get(job_name, ())):
        process.send_signal(signal.SIGTERM)


def wait_until_free(directory: Path, or_until: Callable[[], bool]) -> None:
    """Waits while another run uses this directory, such as one of an earlier sweep, or of a worker that was killed.

    The program's lock is in the directory and disappears with the program's process.
    """
    lock = directory / LOCK
    if not lock.is_file():
        return  # opening a pipe would wait for its writer
    with contextlib.suppress(OSError), lock.open("rb") as file:
        while not or_until():
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(_LOCK_POLL_S)


def _run_here(job: Job, points: Sequence[int]) -> Outcome:
    chosen = [argument for point in points for argument in ("--point", str(point))]
    code, log = _run(job, job.experiment.command("-o", str(job.directory), "--quiet", *chosen))
    outcome = Outcome()
    for point in points:
        manifest = _manifest(job.point_directory(point))
        status = manifest.get("status", "")
        if code == 0 or status == "complete":
            outcome.done.append(point)
            outcome.simulation_s += manifest.get("simulation_s", 0.0)
        elif status == "failed":
            outcome.failed[point] = log
        else:
            outcome.not_run.append(point)
    if code != 0 and not outcome.failed and outcome.not_run and job.name not in _stopped:
        # The program ended early. The first point without results is taken to be the cause.
        outcome.failed[outcome.not_run.pop(0)] = log or f"the program ended with {code}"
        outcome.refused = code == USAGE
    return outcome


def _run(job: Job, command: list[str]) -> tuple[int, str]:
    """Runs the program; returns its exit code and output. It gets a session of its own, so that Ctrl-C reaches only the
    client, which then stops the workers."""
    environment = os.environ | ({"LINEBOUNCE_ROOT": job.root} if job.root and Path(job.root).is_dir() else {})
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env=environment,
        cwd=job.folder if job.folder and Path(job.folder).is_dir() else None,
        start_new_session=True,
    ) as process:
        running = _running.setdefault(job.name, set())
        running.add(process)
        if job.name in _stopped:  # stop() was called while the program started
            process.send_signal(signal.SIGTERM)
        try:
            _, log = process.communicate()
        finally:
            running.discard(process)
    return process.returncode, log.strip()


def status_of(directory: Path) -> str:
    """The status in the directory's manifest: complete, failed or interrupted; empty if there is no readable manifest."""
    return str(_manifest(directory).get("status", ""))


def _manifest(directory: Path) -> dict[str, Any]:
    try:
        document = json.loads(read_result(directory / "manifest.json"))
    except (OSError, ValueError, RecursionError, InputError):
        return {}
    return document if isinstance(document, dict) else {}


def _files_of(job: Job, points: Sequence[int]) -> dict[str, bytes]:
    """The files of each point that has ended. A point's manifest is last, because it marks the point as finished."""
    files: dict[str, bytes] = {}
    for point in points:
        if status_of(job.point_directory(point)) not in ("complete", "failed"):
            continue
        paths = [path for path in job.point_directory(point).iterdir() if path.is_file() and not path.name.startswith(".")]
        for path in sorted(paths, key=lambda path: (path.name == "manifest.json", path.name)):
            files[str(path.relative_to(job.directory))] = path.read_bytes()
    return files
