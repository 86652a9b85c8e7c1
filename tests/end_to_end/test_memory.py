"""How much memory a run takes, and that it does not grow with simulated time."""

from pathlib import Path

import pytest
from experiments import experiment
from memory import peak_mib
from program import Program

pytestmark = pytest.mark.uninstrumented


def of_a_run(linebounce: Program, name: str | Path, output: str, measure_us: int, *more: str) -> float:
    """The peak memory of a run's largest process, whether it simulates or merges."""
    command = [linebounce.executable, "run", name, "--quiet", "-o", output, "--set", f"run.measure_us={measure_us}", *more]
    return peak_mib(command, linebounce.directory)


def test_a_run_twenty_times_as_long_takes_no_more(linebounce: Program) -> None:
    path = linebounce.file("small.toml", experiment())
    short, long = (of_a_run(linebounce, path, f"us{us}", us) for us in (200, 4_000))
    assert long < short + 4


def test_each_row_of_lines_csv_takes_little(linebounce: Program) -> None:
    """`oltp` writes some 65 thousand rows in 10 ms. Half of its memory is for the 16 caches of 12 MiB each."""
    assert of_a_run(linebounce, "oltp", "oltp", 10_000, "--set", "run.warmup_us=5000") < 144
