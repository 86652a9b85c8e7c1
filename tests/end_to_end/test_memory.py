"""How much memory a run takes, and that it does not grow with the simulated time."""

import os
from pathlib import Path

from experiments import experiment
from program import Program

KIB_IN_MIB = 1024


def peak_mib(linebounce: Program, name: str | Path, output: str, measure_us: int) -> float:
    """The largest process of a run, whether it simulated or merged."""
    process = linebounce.start("run", name, "--quiet", "-o", output, "--set", f"run.measure_us={measure_us}")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, process.communicate()
    return usage.ru_maxrss / KIB_IN_MIB


def test_a_run_twenty_times_as_long_takes_no_more(linebounce: Program) -> None:
    path = linebounce.file("small.toml", experiment())
    short, long = (peak_mib(linebounce, path, f"us{us}", us) for us in (200, 4_000))
    assert long < short + 4


def test_each_row_of_lines_csv_takes_little(linebounce: Program) -> None:
    """10 ms of `oltp` have some 80 thousand rows; half of the memory is the 16 caches of 12 MiB each."""
    assert peak_mib(linebounce, "oltp", "oltp", 10_000) < 160
