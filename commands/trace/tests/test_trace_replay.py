"""Replaying a recorded run on the machine that recorded it gives the same bytes in every table."""

from pathlib import Path

import pytest
from experiments import experiment
from program import Program
from test_random_differential import MACHINES, settings
from ways import Way, assert_every_way_agrees

# The other files differ in names, not in measurements.
TABLES = ["latency.csv", "lines.csv", "locks.csv"]
# Programs run to their end, so that nothing is cut off.
RUN = "warmup_us = 0\nmeasure_us = 0"
CASES = [("plain", 1), ("tso", 2), ("ia64", 3), ("two threads, tiny", 4), ("dragon", 5)]


@pytest.mark.parametrize(("machine", "seed"), CASES)
def test_a_replay_has_the_tables_of_the_run(linebounce: Program, machine: str, seed: int) -> None:
    workload = f'name = "random_references"\noperations = 150\nshared_lines = {1 + seed % 5}'
    original = linebounce.file("original.toml", experiment(workload=workload, run=RUN))
    replay = linebounce.file("replay.toml", experiment(workload='name = "replay"\ntrace = "run.lbt"', run=RUN))
    arguments = [*settings(MACHINES[machine]), "--seed", str(seed)]
    recorded = linebounce("trace", "record", original, "-o", "run.lbt", *arguments)
    assert recorded.code == 0, recorded.stderr
    run = linebounce.run(original, "run", *arguments)
    replayed = assert_every_way_agrees(linebounce, replay, *arguments, ways=[Way.BOTH_OFF, Way.ALL_OTHERS])
    for table in TABLES:
        assert (run / table).read_bytes() == (replayed / table).read_bytes(), table


SHORT = ["--set", "run.warmup_us=50", "--set", "run.measure_us=300", "--set", "run.seeds=1"]
# Dentries, a reference count, timers, slab, block layer, and all of these together; their runs are cut off at the end.
SHIPPED = ["dcache_fast_walk", "vfsmount_refcount", "timer_churn", "slab_churn", "block_io", "oltp"]


def misses(table: Path) -> list[str]:
    """The table's lines except hits of L1. When the run is cut off during a spin, the run goes on spinning, but the
    trace has a single load."""
    return [line for line in table.read_text().splitlines() if ",l1," not in line]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_replay_of_a_shipped_experiment_has_the_tables_of_the_run(linebounce: Program, name: str) -> None:
    for command in (
        ["trace", "record", name, "-o", "run.lbt", *SHORT],
        ["trace", "replay", "run.lbt", "-o", "replay"],
        ["run", name, "--point", "0", "-o", "run", *SHORT],
    ):
        result = linebounce(*command)
        assert result.code == 0, result.stderr
    swept = linebounce.directory / "run" / "points" / "0"
    run = swept if swept.exists() else linebounce.directory / "run"
    for table in TABLES:
        assert misses(run / table) == misses(linebounce.directory / "replay" / table), table
