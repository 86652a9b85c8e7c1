"""HAMMER, as a user runs it: who takes the per-mount lock, and that no speed-up of the engine changes a byte."""

import json
from pathlib import Path

import pytest
from experiments import experiment
from program import Program
from results import metric_of, read_csv
from ways import assert_every_way_agrees

SMALL = "warmup_us = 100\nmeasure_us = 2000"
LOAD = """name = "hammer"
blocks = 256
buffers = 64
inodes = 60
uneven_inodes = 30
even_inodes = 10
meta_buffers = 50
write_speed = 200
series_us = 100
"""
AFTER = 'lock_before_getblk = false\nflush_order = "sorted"\nflush_groups = "even"\ninodes_freed = "steady"\n'


def run(linebounce: Program, more: str, name: str) -> Path:
    return linebounce.run(linebounce.file(f"{name}.toml", experiment(workload=LOAD + more, run=SMALL)), name, "--fresh")


def results_of(directory: Path) -> dict:
    return json.loads((directory / "results.json").read_text())


def mount_lock_takers(directory: Path) -> set[str]:
    return {row["call_site"] for row in read_csv(directory / "locks.csv") if row["lock"] == "hammer_mount_lock"} - {""}


def test_reads_without_the_lock_do_not_touch_its_line(linebounce: Program) -> None:
    before = run(linebounce, "", "before")
    after = run(linebounce, "lock_before_getblk = false\n", "after")
    others = {"hammer_vop_write", "hammer_flusher_flush", "hammer_sync_inode"}
    assert mount_lock_takers(before) == others | {"hammer_vop_read"}
    assert mount_lock_takers(after) == others
    touched = {row["function"] for row in read_csv(after / "lines.csv") if "hammer_mount_lock" in row["object"]}
    assert touched
    assert touched <= others
    reads = "hammer.reads_per_s"
    assert metric_of(results_of(after), reads) > 1.2 * metric_of(results_of(before), reads)


def test_series_add_up_to_what_was_counted(linebounce: Program) -> None:
    directory = run(linebounce, AFTER, "after")
    rows = [row for row in read_csv(directory / "series.csv") if row["name"] == "hammer.reads_per_s"]
    stretch_s = 100e-6
    measured = sum(float(row["value"]) for row in rows if float(row["time_us"]) >= 100) * stretch_s
    assert measured == pytest.approx(metric_of(results_of(directory), "hammer.reads_per_s") * 2e-3, rel=0.02)


@pytest.mark.parametrize("more", ["", AFTER, "invalidate = true\n" + AFTER])
def test_hammer_gives_the_same_results_in_every_engine_mode(linebounce: Program, more: str) -> None:
    file = linebounce.file("case.toml", experiment(workload=LOAD + more, run=SMALL))
    assert (assert_every_way_agrees(linebounce, file) / "series.csv").exists()


@pytest.mark.parametrize("name", ["hammer_reads", "hammer_flush"])
def test_the_shipped_hammer_experiments_run(linebounce: Program, name: str) -> None:
    linebounce.run(name, name, "--fresh", "--set", "run.warmup_us=100", "--set", "run.measure_us=300")
