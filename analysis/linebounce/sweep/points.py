"""The part of a sweep that runs on a worker: a few points of an experiment, by the C++ program, into the results directory.

A worker that sees the client's results directory (a shared file system, or the same machine) writes straight into it: a point
that has finished is safe whatever happens to client, scheduler or worker. On one that does not see it the point runs in a
scratch directory, and its files go back with the answer.
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
from linebounce.files import scratch_folder, write_file
from linebounce.program import Experiment, find_program

LOCK = ".linebounce-lock"
_LOCK_POLL_S = 0.05


@dataclass(frozen=True)
class Job:
    """One sweep, as described to every worker."""

    name: str  # its own, and no other sweep's
    experiment: Experiment
    directory: Path  # absolute
    manifest: str  # digest of its manifest.json, by which a worker knows that it sees the same directory
    swept: bool
    folder: str = ""  # the client's working directory, for relative paths in what it was given; used where it exists
    root: str = ""  # LINEBOUNCE_ROOT of the client, likewise
    resolved: str = ""  # the experiment for workers that do not see the directory; empty if all are on this machine

    def point_directory(self, point: int) -> Path:
        return self.directory / "points" / str(point) if self.swept else self.directory


@dataclass
class Outcome:
    """What became of the points of one task."""

    done: list[int] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)  # with what the program said
    not_run: list[int] = field(default_factory=list)
    refused: bool = False  # what failed is not the simulation: an output that can't be written, or the experiment
    simulation_s: float = 0.0  # of the points that are done
    wall_s: float = 0.0  # of the task
    files: dict[str, bytes] = field(default_factory=dict)  # by their path in the results directory; empty where it is shared


# Of this worker process: what it runs for each job, and the jobs that were told to stop.
_running: dict[str, set[subprocess.Popen[str]]] = {}
_stopped: set[str] = set()


def digest(path: Path) -> str:
    """Of a file's content; empty if there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def run_points(job: Job, points: Sequence[int]) -> Outcome:
    """Runs these points one after the other. Raises UsageError on a worker without the program."""
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
    """Ends what this worker runs of a sweep, and lets it begin no more of it."""
    _stopped.add(job_name)
    for process in tuple(_running.get(job_name, ())):
        process.send_signal(signal.SIGTERM)


def wait_until_free(directory: Path, or_until: Callable[[], bool]) -> None:
    """Waits while a run of this very directory is under way: that of a worker that was killed, or of an earlier sweep.

    The program's lock lies in the directory and goes with its process.
    """
    with contextlib.suppress(OSError), (directory / LOCK).open("rb") as file:
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
        # The program itself ended early: at the first point that has no end.
        outcome.failed[outcome.not_run.pop(0)] = log or f"the program ended with {code}"
        outcome.refused = code == USAGE
    return outcome


def _run(job: Job, command: list[str]) -> tuple[int, str]:
    """Exit code and what it said. Its own session: Ctrl-C is for the client, which then stops the workers."""
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
        if job.name in _stopped:  # told so in this moment
            process.send_signal(signal.SIGTERM)
        try:
            _, log = process.communicate()
        finally:
            running.discard(process)
    return process.returncode, log.strip()


def status_of(directory: Path) -> str:
    """In the directory's manifest: complete, failed or interrupted; empty if there is none that can be read."""
    return str(_manifest(directory).get("status", ""))


def _manifest(directory: Path) -> dict[str, Any]:
    try:
        document = json.loads((directory / "manifest.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _files_of(job: Job, points: Sequence[int]) -> dict[str, bytes]:
    """Of each point that has come to an end, the manifest last: with it, it is done."""
    files: dict[str, bytes] = {}
    for point in points:
        if status_of(job.point_directory(point)) not in ("complete", "failed"):
            continue
        paths = [path for path in job.point_directory(point).iterdir() if path.is_file() and not path.name.startswith(".")]
        for path in sorted(paths, key=lambda path: (path.name == "manifest.json", path.name)):
            files[str(path.relative_to(job.directory))] = path.read_bytes()
    return files
