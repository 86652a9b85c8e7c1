"""Real results, made once for all tests here, and a browser."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
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


@pytest.fixture(autouse=True)
def the_program_that_is_tested(executable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For what runs it from Python."""
    monkeypatch.setenv("LINEBOUNCE", str(executable))


@pytest.fixture(scope="session")
def locks_run(session_linebounce: Program) -> Path:
    """A sweep over locks and CPUs, three seeds a point."""
    return session_linebounce.run(session_linebounce.file("locks.toml", LOCKS), "locks")


@pytest.fixture(scope="session")
def costs_run(session_linebounce: Program) -> Path:
    """Paper rows with relative tolerances, one point."""
    return session_linebounce.run("operation_costs", "operation_costs")


@pytest.fixture(scope="session")
def matrix_run(session_linebounce: Program) -> Path:
    """Core-to-core latencies on four nodes that a ring joins."""
    return session_linebounce.run("core_to_core", "core_to_core", "--machine", "numaq_16way")


@pytest.fixture(scope="session")
def crossbar_run(session_linebounce: Program) -> Path:
    """The same on two nodes with a switch between them, whose links have no limit of their own."""
    return session_linebounce.run("core_to_core", "crossbar", "--machine", "itanium2_two_node_16way")


@pytest.fixture(scope="session")
def oltp_run(session_linebounce: Program) -> Path:
    """16 CPUs in two nodes with subsystems, many locks and 10^5 rows in lines.csv."""
    short = ["--set", "run.measure_us=25000", "--set", "run.warmup_us=5000"]
    return session_linebounce.run("oltp", "oltp", *short)


@pytest.fixture(scope="session")
def timeline_run(session_linebounce: Program) -> Path:
    """16 CPUs on two nodes, and what each of them, the buses and the links did in the first 100 us of the measured time."""
    short = ["--set", "run.measure_us=500", "--set", "run.warmup_us=500"]
    record = ["--set", "run.record_timeline=true", "--set", "run.timeline_us=100"]
    return session_linebounce.run("oltp", "timeline", *short, *record)


@pytest.fixture(scope="session")
def grace_run(session_linebounce: Program) -> Path:
    """A timeline in which grace periods end."""
    record = ["--set", "run.record_timeline=true", "--set", "run.timeline_us=5000"]
    return session_linebounce.run("tcp_hash", "grace", *record)


@pytest.fixture(scope="session")
def command() -> Callable[..., Result]:
    """A command of the package in a process of its own: command("report", DIR, ...)."""

    def run(name: str, *arguments: str | Path, cwd: Path | None = None) -> Result:
        environment = os.environ | {"PYTHONPATH": str(ROOT / "analysis")}
        module = [sys.executable, "-m", f"linebounce.{name}.command"]
        done = subprocess.run(
            [*module, *arguments],
            cwd=cwd,
            env=environment,
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
    """Debian's Chromium. Root has no sandbox to run it in."""
    chromium = shutil.which("chromium")
    assert chromium, "chromium is not installed: ./dev setup installs it"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()
