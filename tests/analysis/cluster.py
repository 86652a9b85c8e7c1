"""A Dask cluster of real processes, and `linebounce sweep` started as a user would."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from network import listening
from program import INTERNALS, ROOT, Result

SWEEP = [sys.executable, "-m", "linebounce.sweep.command"]


class Sweeps:
    """Starts sweeps, schedulers and workers in one directory; end_all() ends them all."""

    def __init__(self, executable: Path, directory: Path) -> None:
        self.directory = directory
        path = os.pathsep.join([str(ROOT / "analysis"), os.environ.get("PYTHONPATH", "")])
        self.environment = os.environ | {"LINEBOUNCE": str(executable), "PYTHONPATH": path, "NO_COLOR": "1"}
        self.environment["SWEEPS_OF"] = str(directory)
        self.environment.pop("COLUMNS", None)  # pytest loads readline, which sets COLUMNS
        self.started: list[subprocess.Popen[str]] = []

    def start(self, *command: str | Path) -> "subprocess.Popen[str]":
        """Starts a command in its own session, as on a separate terminal."""
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def sweep(self, *arguments: str | Path) -> "subprocess.Popen[str]":
        return self.start(*SWEEP, *arguments)

    def __call__(self, *arguments: str | Path, seconds: float = 60) -> Result:
        return result_of(self.sweep(*arguments), seconds)

    def scheduler(self) -> tuple["subprocess.Popen[str]", str]:
        """Starts a scheduler; returns the process and its address."""
        file = self.directory / "scheduler.json"
        options = ["--port", "0", "--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file)]
        process = self.start(sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", *options)
        wait_for(lambda: file.exists() and '"address"' in file.read_text())
        text = file.read_text()
        return process, text.split('"address": "')[1].split('"')[0]

    def worker(self, address: str) -> "subprocess.Popen[str]":
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.directory / "scratch")]
        return self.start(sys.executable, "-m", "distributed.cli.dask_worker", address, *options)

    def sockets(self) -> set[tuple[str, int]]:
        """The addresses and ports at which these processes, and all that they started, listen."""
        return listening(f"SWEEPS_OF={self.directory}\0")

    def end_all(self) -> None:
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        for process in self.started:
            process.communicate(timeout=10)


def result_of(process: "subprocess.Popen[str]", seconds: float = 60) -> Result:
    stdout, stderr = process.communicate(timeout=seconds)
    assert "Traceback" not in stderr, stderr
    assert not INTERNALS.search(stdout + stderr), stdout + stderr
    return Result(process.returncode, stdout, stderr)


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)


def finished_points(directory: Path) -> set[str]:
    """The points that are finished and saved, so that a kill can't destroy them."""
    return {path.parent.name for path in directory.glob("points/*/manifest.json") if '"complete"' in path.read_text()}
