"""Shows the progress of a sweep as a bar, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from linebounce.console import errors

if TYPE_CHECKING:
    from linebounce.sweep import dispatch

_SPEED_OVER_S = 600  # in seconds: the remaining time is estimated from the speed over this last stretch


class ProgressBar:
    """Shows the points done and failed, and the remaining time."""

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
        self._bar = Progress(*columns, console=errors(), disable=not sys.stderr.isatty(), speed_estimate_period=_SPEED_OVER_S)
        # Points that were finished before this sweep count in the bar but not in the speed.
        self._task = self._bar.add_task(label, total=progress.points, completed=progress.done, failed="")

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def show(self, line: str) -> None:
        """Updates the bar; prints `line` above it unless empty."""
        failed = len(self._progress.failed)
        ended = self._progress.done + self._progress.underway + failed
        self._bar.update(self._task, completed=ended, failed=f"{failed} failed" if failed else "")
        if line:
            self._tell(line)

    def close(self) -> None:
        self._bar.stop()
