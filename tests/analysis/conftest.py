"""Real results, made once for all tests here, and a browser."""

import fcntl
import importlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from program import ROOT, Program, Result

LOCKS = """\
name    = "locks"
title   = "Three locks under contention"
machine = "p3_xeon_4way"

[workload]
name           = "critical_section"
data_lines     = 2
outside_cycles = 500

[run]
warmup_us  = 20
measure_us = 200
seeds      = 3

[sweep]
"workload.lock" = ["tas", "ticket", "mcs"]
"machine.cpus"  = [1, 2, 4]
"""


SERIES = f"""\
name    = "series"
title   = "A counter that is filled and emptied"
machine = "p3_xeon_4way"

[workload]
name    = "program"
program = "{ROOT}/tests/support/filled.lua"

[run]
warmup_us  = 5
measure_us = 200
"""


@pytest.fixture(autouse=True)
def the_program_that_is_tested(executable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program's path, for the Python package."""
    monkeypatch.setenv("LINEBOUNCE", str(executable))


@pytest.fixture(scope="session")
def run_once(executable: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Returns the directory of a run that all of pytest's processes share: the first process that needs it runs the
    experiment."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "runs"
    folder.mkdir(exist_ok=True)

    def run(experiment: str, output: str, *arguments: str, text: str = "") -> Path:
        with (folder / f"{output}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (folder / output / "results.json").exists():
                return folder / output
            program = Program(executable, folder)
            return program.run(program.file(experiment, text) if text else experiment, output, *arguments)

    return run


@pytest.fixture(scope="session")
def locks_run(run_once: Callable[..., Path]) -> Path:
    """A sweep over locks and CPUs with three seeds for each point."""
    return run_once("locks.toml", "locks", text=LOCKS)


@pytest.fixture(scope="session")
def costs_run(run_once: Callable[..., Path]) -> Path:
    """Paper rows with relative tolerances; one point."""
    return run_once("operation_costs", "operation_costs")


@pytest.fixture(scope="session")
def matrix_run(run_once: Callable[..., Path]) -> Path:
    """Core-to-core latencies on four nodes in a ring."""
    return run_once("core_to_core", "core_to_core", "--machine", "numaq_16way")


@pytest.fixture(scope="session")
def crossbar_run(run_once: Callable[..., Path]) -> Path:
    """Core-to-core latencies on two nodes with a switch between them, whose links have no bandwidth limit."""
    return run_once("core_to_core", "crossbar", "--machine", "itanium2_two_node_16way")


@pytest.fixture(scope="session")
def series_run(run_once: Callable[..., Path], executable: Path) -> Path:
    """Two quantities over time, and two explained misses."""
    results = run_once("series.toml", "series", text=SERIES)
    assert Program(executable, results.parent)("explain", results).code == 0
    return results


@pytest.fixture(scope="session")
def oltp_run(run_once: Callable[..., Path]) -> Path:
    """16 CPUs in two nodes, with subsystems, many locks and 10^5 rows in lines.csv."""
    short = ["--set", "run.measure_us=25000", "--set", "run.warmup_us=5000"]
    return run_once("oltp", "oltp", *short)


@pytest.fixture(scope="session")
def timeline_run(run_once: Callable[..., Path]) -> Path:
    """16 CPUs on two nodes, with a timeline of CPUs, buses and links for the first 100 us of the measured time."""
    short = ["--set", "run.measure_us=500", "--set", "run.warmup_us=500"]
    record = ["--set", "run.record_timeline=true", "--set", "run.timeline_us=100"]
    return run_once("oltp", "timeline", *short, *record)


@pytest.fixture(scope="session")
def grace_run(run_once: Callable[..., Path]) -> Path:
    """A timeline that contains ends of grace periods."""
    record = ["--set", "run.record_timeline=true", "--set", "run.timeline_us=5000"]
    return run_once("tcp_hash", "grace", *record)


@pytest.fixture(scope="session")
def command() -> Callable[..., Result]:
    """Calls a command of the package in this process: command("report", DIR, ...). Tests about processes use `process`."""

    def run(name: str, *arguments: str | Path, cwd: Path | None = None) -> Result:
        module = importlib.import_module(f"linebounce.{name}.command")
        said, complained = io.StringIO(), io.StringIO()
        with redirect_stdout(said), redirect_stderr(complained), chdir(cwd or Path.cwd()):
            try:
                code = module.main([*map(str, arguments)])
            except SystemExit as exit_:  # raised for a wrong command line, and by --help
                code = exit_.code
        return Result(code, said.getvalue(), complained.getvalue())

    return run


@pytest.fixture(scope="session")
def process() -> Callable[..., Result]:
    """Runs a command in a separate process."""

    def run(name: str, *arguments: str | Path, cwd: Path | None = None) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", f"linebounce.{name}.command", *arguments],
            env=os.environ | {"PYTHONPATH": str(ROOT / "analysis")},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium. As root it has to run without its sandbox."""
    chromium = shutil.which("chromium")
    assert chromium, "chromium is not installed: ./dev setup installs it"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()
