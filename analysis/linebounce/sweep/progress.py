"""The progress of a sweep: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from linebounce.sweep import dispatch

_SPEED_OVER_S = 600  # the time left goes by the speed of so many seconds
_LINES = 10  # at most, of a log file
_LINE_AFTER_S = 10.0


class ProgressBar:
    """Points done, failed, and the time that is left."""

    def __init__(self, label: str, progress: dispatch.Progress, tell: Callable[[str], None]) -> None:
        self._progress = progress
        self._tell = tell
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("[red]{task.fields[failed]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        console = Console(stderr=True)
        self._terminal = sys.stderr.isatty()
        self._bar = Progress(*columns, console=console, disable=not self._terminal, speed_estimate_period=_SPEED_OVER_S)
        # What was there already is part of the bar, and not of the speed.
        self._task = self._bar.add_task(label, total=progress.points, completed=progress.done, failed="")
        self._begun = self._told_at = time.monotonic()
        self._at_first = self._told = progress.done

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def show(self, line: str) -> None:
        """As it is now; a line that is not empty is told to the user."""
        failed = len(self._progress.failed)
        ended = self._progress.done + self._progress.underway + failed
        said = f"{failed} failed" if failed else ""
        if self._terminal:
            self._bar.update(self._task, completed=ended, failed=said)
        elif line == "":
            line = self._line(ended, said)
        if line:
            self._tell(line)

    def close(self) -> None:
        self._bar.stop()

    def _line(self, ended: int, failed: str) -> str:
        """For a log file, with each tenth of the points; empty before there is news."""
        now = time.monotonic()
        if ended - self._told < self._progress.points / _LINES or now - self._told_at < _LINE_AFTER_S:
            return ""
        self._told, self._told_at = ended, now
        points = self._progress.points
        left_s = (now - self._begun) / (ended - self._at_first) * (points - ended)
        return f"{ended} of {points} points{f', {failed}' if failed else ''}, {_duration(left_s)} left"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
