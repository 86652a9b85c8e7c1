"""Runs linebounce as a user would, and checks its files and messages."""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from results import check_results_directory

ROOT = Path(__file__).resolve().parent.parent.parent
MACHINES = ROOT / "configs" / "machines"

EXPERIMENTS = ROOT / "configs" / "experiments"


def shipped_experiments() -> list[str]:
    """The names of shipped experiments: `NAME`, or `FOLDER/NAME` for one in a folder."""
    return sorted(str(path.relative_to(EXPERIMENTS).with_suffix("")) for path in EXPERIMENTS.rglob("*.toml"))


# Text that no user should see: a C++ exception's type, a library's prefix, SystemC's banner. A recorded program may have
# objects of the library's types, as "std::thread[2]", and a lock may be its std::mutex.
INTERNALS = re.compile(
    r"std::(?!thread\[\d|(shared_)?mutex\b|atomic_flag\b|sync::Mutex\b)|terminate called|what\(\)|json\.exception|toml::|CLI::|fmt::|SystemC 2"
    r"|Accellera|Error: \(E\d+\)|OSCI|linebounce::\w*(Error|Failure)|Segmentation fault|core dumped|basic_string|Assertion"
)


@dataclass
class Result:
    code: int
    stdout: str
    stderr: str


class Program:
    def __init__(self, executable: Path, directory: Path) -> None:
        self.executable = executable
        self.directory = directory
        self.started: list[subprocess.Popen] = []

    def __call__(self, *arguments: str | Path, timeout: float = 240, **options) -> Result:
        """Runs the program to its end. Fails the test if the output shows its internals."""
        done = subprocess.run(
            [self.executable, *arguments],
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            **options,
        )
        shown = INTERNALS.search(done.stdout + done.stderr)
        assert not shown, f"shows its inside ({shown.group()}):\n{done.stdout}{done.stderr}"
        return Result(done.returncode, done.stdout, done.stderr)

    def run(self, experiment: str | Path, output: str, *arguments: str, **options) -> Path:
        """Makes a run that must succeed; returns its results directory, checked against the contract."""
        result = self("run", experiment, "-o", output, *arguments, **options)
        assert result.code == 0, result.stderr
        directory = self.directory / output
        check_results_directory(directory)
        return directory

    def refused(self, *arguments: str | Path, code: int = 2, **options) -> str:
        """Makes a call that must end in an error; returns the message."""
        result = self(*arguments, **options)
        assert result.code == code, f"exit code {result.code}\n{result.stdout}{result.stderr}"
        assert result.stderr.strip(), "no error message on stderr"
        return result.stderr

    def start(self, *arguments: str | Path) -> subprocess.Popen:
        """Starts the program in its own process group, as a shell does."""
        process = subprocess.Popen(
            [self.executable, *arguments],
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        self.started.append(process)
        return process

    def end_all(self) -> None:
        """Kills everything that a test started and that still runs, however the test ended."""
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def file(self, name: str, text: str | bytes) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path


def wait_until(condition: Callable[[], bool], process: subprocess.Popen, seconds: float = 60) -> None:
    """Waits until a running process has made the condition true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, f"ended early: {process.communicate()}"
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)


def interrupt(process: subprocess.Popen, with_signal: signal.Signals = signal.SIGINT, seconds: float = 30) -> Result:
    """Sends a signal to every process of the group, as a terminal does on Ctrl-C."""
    os.killpg(process.pid, with_signal)
    stdout, stderr = process.communicate(timeout=seconds)
    assert not INTERNALS.search(stdout + stderr), stdout + stderr
    return Result(process.returncode, stdout, stderr)
