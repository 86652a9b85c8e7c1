"""series.csv: quantities over simulated time."""

from itertools import groupby
from pathlib import Path

import pytest
from program import ROOT, Program
from results import assert_same_data, read_csv
from ways import Way, assert_every_way_agrees

FILLED = ROOT / "tests/support/filled.lua"
EXPERIMENT = f"""\
name    = "filled"
machine = "p3_xeon_4way"
[workload]
name = "program"
program = "{FILLED}"
[run]
warmup_us  = 5
measure_us = 40
seeds      = 2
[sweep]
"machine.cpus" = [1, 4]
"""
ALONE = ["--set", "run.seeds=1"]


@pytest.fixture
def filled(linebounce: Program) -> Path:
    return linebounce.file("filled.toml", EXPERIMENT)


def test_each_series_goes_from_the_warm_up_to_the_end_in_the_order_of_time(linebounce: Program, filled: Path) -> None:
    rows = read_csv(linebounce.run(filled, "out") / "series.csv")
    series = {key: list(part) for key, part in groupby(rows, lambda row: (row["point"], row["name"]))}
    assert list(series) == [(point, name) for point in "01" for name in ("program.emptied", "program.filled")]
    for part in series.values():
        times = [float(row["time_us"]) for row in part]
        assert times == sorted(times)
        assert 0 < times[0] <= times[-1] < 45
    assert float(series["1", "program.filled"][0]["time_us"]) < 5
    assert float(series["1", "program.filled"][-1]["time_us"]) > 44


# The machine has one CPU. So fetch_add returns the sampled value, and each emptying finds what was filled since the one
# before.
def test_values_are_those_that_the_program_had(linebounce: Program, filled: Path) -> None:
    rows = read_csv(linebounce.run(filled, "out", *ALONE) / "points" / "0" / "series.csv")
    expected, emptied = 0, 0
    for row in sorted(rows, key=lambda row: (float(row["time_us"]), row["name"] == "program.emptied")):
        if row["name"] == "program.filled":
            expected += 1
            assert float(row["value"]) == expected
        else:
            assert float(row["value"]) == expected
            expected = 0
            emptied += 1
    assert emptied > 0


def test_the_series_is_that_of_the_first_seed(linebounce: Program, filled: Path) -> None:
    several = linebounce.run(filled, "several") / "series.csv"
    assert several.read_bytes() == (linebounce.run(filled, "one", *ALONE) / "series.csv").read_bytes()
    other = linebounce.run(filled, "other", *ALONE, "--seed", "2") / "series.csv"
    assert several.read_bytes() != other.read_bytes()


def test_a_series_is_the_same_without_speed_ups(linebounce: Program, filled: Path) -> None:
    assert_every_way_agrees(linebounce, filled, *ALONE, ways=[Way.BOTH_OFF])


def test_a_resumed_sweep_has_every_point(linebounce: Program, filled: Path) -> None:
    whole = linebounce.run(filled, "whole")
    linebounce("run", filled, "-o", "parts", "--point", "1")
    assert_same_data(whole, linebounce.run(filled, "parts"))


def test_a_run_without_series_has_no_series_file(linebounce: Program) -> None:
    short = ["--set", "run.measure_us=20", "--set", "run.warmup_us=2"]
    assert not (linebounce.run("core_to_core", "out", *short) / "series.csv").exists()


def test_the_terminal_draws_each_series_in_one_line(linebounce: Program, filled: Path) -> None:
    shown = linebounce("run", filled, "-o", "out").stdout
    assert shown.count("over time") == 2
    line = next(line for line in shown.splitlines() if "program.filled" in line)
    assert "█" in line
    rows = read_csv(linebounce.directory / "out" / "points" / "0" / "series.csv")
    highest = max(float(row["value"]) for row in rows if row["name"] == "program.filled")
    assert line.split()[3] == f"{highest:.1f}"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ('cpu:sample("Wrong", 1)', "small letters"),
        ("cpu:sample(1, 1)", "small letters"),
        ('cpu:sample("x", "y")', "must be a number"),
        ('cpu:sample("x", 0 / 0)', "must be finite"),
    ],
)
def test_a_wrong_sample_is_refused_with_its_line(linebounce: Program, call: str, error: str) -> None:
    wrong = linebounce.file("wrong.lua", f"function run(cpu)\n  {call}\nend\n")
    message = linebounce.refused("run", wrong, "--machine", "p3_xeon_4way")
    assert "wrong.lua:2" in message
    assert error in message
