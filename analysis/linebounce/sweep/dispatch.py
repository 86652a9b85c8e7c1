"""The client's side of a sweep: hands points to the workers of a Dask cluster until every point has ended.

A few tasks at a time are submitted for each worker thread, so that a worker always has its next task but no worker
holds all of them. A task has several points if they are short: each start of the program reads and checks the whole
experiment, which should stay a small share of the time.
"""

import asyncio
import contextlib
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import distributed

from linebounce.errors import UsageError, of_lines
from linebounce.files import write_file
from linebounce.own_folder import inner_path, name_problem
from linebounce.sweep.points import Job, Outcome, run_points, status_of, stop
from linebounce.visible import visible_name

_ATTEMPTS = 2  # runs of a point before it counts as failed
# The largest share of a task's time that may go to starting the program: normally, and at the end of a sweep.
_START_SHARE = 0.03
_LARGEST_START_SHARE = 0.5
_TASKS_AHEAD = 2  # for each thread of a worker: the running task, and the next one
_POLL_S = 0.5
_TELL_AFTER_S = 10.0  # time without any worker
_STOP_TIMEOUT_S = 10.0


# Exceptions that Dask raises when the scheduler is gone.
_LOST = (OSError, RuntimeError, asyncio.CancelledError, distributed.client.FuturesCancelledError)


class SchedulerLostError(Exception):
    """The scheduler went away while points were running."""


@dataclass
class Progress:
    """The progress of a sweep."""

    points: int
    done: int = 0
    underway: int = 0  # includes finished points of tasks that are still running
    failed: dict[int, str] = field(default_factory=dict)  # the program's message for each failed point


class Dispatcher:
    """Runs the points of one job. Calls `show` after every change, and `no_worker` while the cluster has no worker."""

    def __init__(self, client: Any, job: Job, progress: Progress, show: Callable[[str], None], no_worker: str) -> None:
        self.client = client
        self.job = job
        self.progress = progress
        self.show = show
        self.no_worker = no_worker
        self.waiting: deque[int] = deque()
        # Points whose task failed. Each runs again in its own task, so that an error message names one point.
        self.again: deque[int] = deque()
        self.running: dict[Any, list[int]] = {}
        self.attempts: Counter[int] = Counter()
        # Measured on finished tasks, in seconds: the time for a point without the program's start, and the time for a start.
        self.point_s = math.inf
        self.start_s = math.inf
        self.finished_of: dict[Any, int] = {}  # by running task: how many of its points already have results in the directory

    def run(self, points: Iterable[int]) -> None:
        """Runs these points until each has succeeded or failed. Raises SchedulerLostError; also UsageError if no worker
        can run a point or write its results."""
        self.waiting.extend(points)
        try:
            self._work()
        except _LOST as error:
            raise SchedulerLostError from error

    def stop(self) -> None:
        """Ends the running points; workers start no more of them. Never raises, because it is called to clean up after a
        failure."""
        with contextlib.suppress(*_LOST):
            self.client.cancel(list(self.running))
            self.client.run(stop, self.job.name, on_error="ignore")

    def _work(self) -> None:
        last_seen = time.monotonic()
        told = False
        while self.waiting or self.again or self.running:
            threads = sum(self.client.nthreads().values())
            if threads > 0:
                last_seen, told = time.monotonic(), False
            elif not told and time.monotonic() - last_seen > _TELL_AFTER_S:
                told = True
                self.show(f"the scheduler has no worker, waiting for one: {self.no_worker}")
            self._hand_out(max(1, threads))
            self._take_back()

    def _hand_out(self, threads: int) -> None:
        ahead = _TASKS_AHEAD if self.point_s < math.inf else 1
        while (self.waiting or self.again) and len(self.running) < ahead * threads:
            points = [self.again.popleft()] if self.again else self._next_points(threads)
            future = self.client.submit(run_points, self.job, points, pure=False)
            self.running[future] = points

    def _next_points(self, threads: int) -> list[int]:
        """How many points the next task gets. Normally enough to keep the program's start a small share of the task's
        time. Fewer towards the end, so that all threads finish together, but still so many that starting the program is
        not most of the work."""
        starts = self.start_s / max(self.point_s, 1e-3) if self.start_s < math.inf else 0.0
        fair = math.ceil(len(self.waiting) / (_TASKS_AHEAD * threads))
        least = min(math.ceil(starts / _LARGEST_START_SHARE), math.ceil(len(self.waiting) / threads))
        wanted = max(1, least, min(math.ceil(starts / _START_SHARE), fair))
        return [self.waiting.popleft() for _ in range(wanted)]

    def _take_back(self) -> None:
        wait: Any = distributed.wait
        finished = set()
        with contextlib.suppress(TimeoutError):
            finished = wait(list(self.running), timeout=_POLL_S, return_when="FIRST_COMPLETED").done
        if self.client.status != "running":
            raise SchedulerLostError
        for future in finished:
            points = self.running.pop(future)
            self.finished_of.pop(future, None)
            self._note(self._outcome(future, points))
        self._look_at_running()
        self.show("")

    def _look_at_running(self) -> None:
        """Counts the finished points of running tasks, if workers write into this directory. A task runs its points in
        order."""
        for future, points in self.running.items():
            finished = self.finished_of.get(future, 0)
            while finished < len(points) and status_of(self.job.point_directory(points[finished])) == "complete":
                finished += 1
            self.finished_of[future] = finished
        self.progress.underway = sum(self.finished_of.values()) if self.job.swept else 0

    def _outcome(self, future: Any, points: list[int]) -> Outcome:
        if future.status in ("cancelled", "lost"):
            raise SchedulerLostError
        error = future.exception()
        if error is None:
            outcome: Outcome = future.result()
            return outcome
        if isinstance(error, distributed.scheduler.KilledWorker):
            return Outcome(failed={points[0]: f"every worker that ran it has died: {_first_line(error)}"}, not_run=points[1:])
        if isinstance(error, ModuleNotFoundError) or "deserialization" in str(error):
            raise UsageError("the scheduler or a worker cannot load the Python package linebounce: install there what is here")
        raise UsageError(f"a worker cannot run points: {_first_line(error)}")

    def _note(self, outcome: Outcome) -> None:
        write_files(self.job.directory, outcome.files)
        self.progress.done += len(outcome.done)
        if outcome.done:
            self.point_s = outcome.simulation_s / len(outcome.done)
            if len(outcome.done) == 1:
                self.start_s = min(self.start_s, outcome.wall_s - outcome.simulation_s)
        self.waiting.extendleft(reversed(outcome.not_run))
        for point, log in outcome.failed.items():
            self.attempts[point] += 1
            if self.attempts[point] < _ATTEMPTS:
                self.again.append(point)
            elif outcome.refused:  # every other point would be refused, too
                raise of_lines(UsageError, log.removeprefix("linebounce: ").splitlines() or ["it said nothing"])
            else:
                self.progress.failed[point] = log


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def write_files(directory: Path, files: dict[str, bytes]) -> None:
    """Writes the files that a worker sent, in the order in which they arrived. Replaces links, so that nothing is written
    outside the directory. Raises UsageError."""
    for name, content in files.items():
        folder, _, last = name.rpartition("/")
        if problem := name_problem(name):
            raise UsageError(f"{visible_name(name)}: a worker sends a file of this name: {problem}")
        path = (inner_path(directory, folder) if folder else directory) / last
        if path.is_symlink():
            path.unlink()
        write_file(path, content)
