"""Fixtures: the program, its builds, and a results directory that is checked against the contract whenever a test makes one."""

import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from linebounce.interrupts import INTERRUPTS
from program import ROOT, Program
from recorded import Recorder

# Readline, which pytest loads, sets this variable in the process's environment without Python's knowledge. Commands would
# then wrap lines inside sentences that tests look for.
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")


# Files whose tests take minutes together, the longest first. They are started before all others, so that no worker waits for
# another at the end.
LONGEST = [
    "test_readme_pictures.py",
    "test_check_protocols.py",
    "test_report_page.py",
    "test_printed_commands.py",
    "test_check_lock.py",
    "test_report_command.py",
    "test_faulty_disk.py",
    "test_numa_machines.py",
    "test_instruction_counts.py",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Starts the longest tests first, and before them those that wait for `./dev teach`, which compiles for minutes."""
    order = {name: i for i, name in enumerate(LONGEST)}
    items.sort(
        key=lambda item: ("teach_build" not in getattr(item, "fixturenames", ()), order.get(item.path.name, len(LONGEST)))
    )


@pytest.fixture(scope="session", autouse=True)
def _interrupts_arrive() -> None:
    """Enables SIGINT. A process that ignores the signal passes that on to all processes that it starts, so tests of
    Ctrl-C would fail."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _tests_of_terminals_say_that_there_are_none() -> Iterator[None]:
    """Without /dev/pts, tests that need a pseudo-terminal are skipped, and the run's end says so in one line."""
    with pytest.MonkeyPatch.context() as patch:
        try:
            for end in os.openpty():
                os.close(end)
        except OSError as error:
            reason = f"no pseudo-terminals here ({error.strerror}): mount -t devpts devpts /dev/pts"
            patch.setattr(pty, "openpty", lambda: pytest.skip(reason))
            patch.setattr(pty, "fork", lambda: pytest.skip(reason))
        yield


@pytest.fixture(scope="session")
def executable() -> Path:
    path = Path(os.environ.get("LINEBOUNCE", ROOT / "build" / "release" / "linebounce"))
    if not path.exists():
        pytest.fail(f"{path} does not exist: run ./dev build, or name another program in LINEBOUNCE")
    os.environ["LINEBOUNCE"] = str(path)  # the Python package checks traces with this program
    return path


@pytest.fixture
def linebounce(executable: Path, tmp_path: Path) -> Iterator[Program]:
    """The program, run in a new directory."""
    program = Program(executable, tmp_path)
    yield program
    program.end_all()


@pytest.fixture
def signals_count() -> Iterator[None]:
    """Programs that the test starts ignore no signal, even if nohup or a script's & has started the tests."""
    ignored = [number for number in INTERRUPTS if signal.getsignal(number) == signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def recorder(linebounce: Program) -> Recorder:
    """linebounce-cc and linebounce-record in that directory."""
    return Recorder(linebounce)


@pytest.fixture(scope="session")
def session_linebounce(executable: Path, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The program, for runs that several tests use."""
    return Program(executable, tmp_path_factory.mktemp("shared"))


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 KiB."""
    mount = tmp_path / "disk"
    mount.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", mount], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"a small file system needs root: {done.stderr.strip()}")
    yield mount
    subprocess.run(["umount", mount], check=True)
