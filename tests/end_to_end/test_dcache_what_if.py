"""What OLS 2004 would do next with the dentry cache: finer locks for updates, and path walks that write to no directory."""

import json
from pathlib import Path

from program import Program
from ways import assert_every_way_agrees

SMALL = """\
name    = "small"
title   = "Walks and updates"
machine = "{machine}"

[workload]
name             = "namei"
design           = "{design}"
shared_directory = {shared}
updates_pct      = {updates}
user_us          = 2
tick_us          = 200
operations_per_cpu = {operations}

[set]
"machine.cpus" = {cpus}

[run]
warmup_us  = {warmup}
measure_us = {measure}
"""
DESIGNS = ["parallel_updates", "sequence_walk"]


ENDLESS = {"operations": 0, "warmup": 2000, "measure": 4000}
ENDS = {"operations": 60, "warmup": 0, "measure": 0}


def small(program: Program, *, design: str, **how: object) -> Path:
    values = {"shared": False, "updates": 50, **ENDLESS, **how}
    text = SMALL.format(machine="numaq_16way", design=design, **{**values, "shared": str(values["shared"]).lower()})
    return program.file("small.toml", text)


def operations(program: Program, design: str, **how: object) -> float:
    directory = program.run(small(program, design=design, **how), "out", "--fresh")
    results = json.loads((directory / "results.json").read_text())
    return results["points"][0]["metrics"]["throughput.operations_per_s"]["value"]


def test_dcache_updates_give_the_same_results_in_every_engine_mode(linebounce: Program) -> None:
    """Both designs, with a directory for each CPU and with one for all."""
    path = small(linebounce, design=DESIGNS[0], cpus=6, **ENDS)
    sweep = f'\n[sweep]\n"workload.design" = {json.dumps(DESIGNS)}\n"workload.shared_directory" = [false, true]\n'
    path.write_text(path.read_text() + sweep)
    assert_every_way_agrees(linebounce, path)


def test_a_walk_that_writes_to_no_directory_grows_with_the_cpus(linebounce: Program) -> None:
    alone = operations(linebounce, "sequence_walk", cpus=1, updates=0)
    assert operations(linebounce, "sequence_walk", cpus=8, updates=0) > 7.5 * alone
    assert operations(linebounce, "lazy_lru", cpus=8, updates=0) < 5 * alone


def test_finer_locks_pay_for_directories_of_ones_own(linebounce: Program) -> None:
    assert operations(linebounce, "sequence_walk", cpus=8) > 1.2 * operations(linebounce, "lock_free_walk", cpus=8)
