"""The same configuration and seed give the same bytes in every data file, however the program was built and is run.

Always uses fresh directories: a run that finds finished points would compare a file with itself.
"""

import json
import os
import tomllib
from pathlib import Path

import pytest
from experiments import experiment, machine_file
from program import EXPERIMENTS, Program, shipped_experiments
from results import assert_same_data, data_files
from ways import BUILDS, EVERY_WAY, Way, assert_every_way_agrees, existing_builds

EVERY_LOCK = '["each that the program lists"]'


def locked(lock: str, data_lines: int = 2, read_pct: int = 0) -> str:
    return (
        f'name = "critical_section"\nlock = "{lock}"\ndata_lines = {data_lines}\noutside_cycles = 60\ninside_cycles = 20\n'
        f"read_pct = {read_pct}\nrcu_tick_us = 4"
    )


def every_lock(settings: str = "", **keywords: str) -> str:
    """Writers and readers under each lock, except those for exactly two CPUs."""
    sweep = f'[sweep]\n"workload.lock" = {EVERY_LOCK}'
    return experiment(workload=locked("ticket", read_pct=40), more=f"{settings}\n{sweep}", **keywords)


# Small runs in which much can go wrong: races for few lines, parked spins of every kind, a warm-up that ends inside a run-ahead
# window or a spin, caches so small that they evict constantly, late stores, several runs per point.
CASES = {
    "ticket": experiment(workload=locked("ticket")),
    "tas": experiment(workload=locked("tas")),
    "ttas": experiment(workload=locked("ttas"), run="warmup_us = 1\nmeasure_us = 30"),
    "mcs": experiment(workload=locked("mcs"), run="warmup_us = 0\nmeasure_us = 30"),
    "false sharing": experiment(workload='name = "false_sharing"\noutside_cycles = 7'),
    "all sizes, several seeds": experiment(
        run="warmup_us = 3\nmeasure_us = 10\nseeds = 3", more='[sweep]\n"machine.cpus" = [1, 2, 3, 4]'
    ),
    "tiny caches": experiment(
        workload=locked("mcs", data_lines=60),
        more='[set]\n"machine.cache.L1D.size_kib" = 1\n"machine.cache.L1D.ways" = 1\n'
        '"machine.cache.L2.size_kib" = 2\n"machine.cache.L2.ways" = 2',
    ),
    "total store order": experiment(
        workload=locked("ticket", data_lines=5),
        more='[set]\n"machine.cpu.consistency" = "tso"\n"machine.cpu.store_buffer_entries" = 4',
    ),
    "late stores in any order": experiment(
        workload=locked("mcs", data_lines=5),
        more='[set]\n"machine.cpu.consistency" = "ia64"\n"machine.cpu.store_buffer_entries" = 4',
    ),
    "litmus test": experiment(
        workload='name = "litmus"\ntest = "isa2"\nrounds = 200',
        run="warmup_us = 0\nmeasure_us = 0",
        more='[set]\n"machine.cpu.consistency" = "ia64"\n"machine.cpu.store_buffer_entries" = 16',
    ),
    "every lock": every_lock(),
    "every lock, late stores in any order": every_lock(
        '[set]\n"machine.cpu.consistency" = "ia64"\n"machine.cpu.store_buffer_entries" = 4'
    ),
    "every lock, hardware threads": every_lock('[set]\n"machine.cpu.threads_per_core" = 2'),
    "every lock, two nodes": every_lock('[set]\n"machine.cpus" = 6', top='machine = "itanium2_two_node_16way"'),
    "every lock, updates": every_lock('[set]\n"machine.bus.protocol" = "dragon_snoop"'),
    "updates, false sharing": experiment(
        workload='name = "false_sharing"\noutside_cycles = 7', more='[set]\n"machine.bus.protocol" = "dragon_snoop"'
    ),
    "hardware threads": experiment(workload=locked("ticket"), more='[set]\n"machine.cpu.threads_per_core" = 2'),
}


def case_file(program: Program, name: str, case: str) -> Path:
    locks = [lock["name"] for lock in json.loads(program("list", "locks", "--json").stdout) if "cpus" not in lock]
    return program.file(name, CASES[case].replace(EVERY_LOCK, json.dumps(locks)))


@pytest.mark.parametrize("case", CASES)
def test_results_are_the_same_in_every_build_and_engine_mode(linebounce: Program, case: str) -> None:
    assert_every_way_agrees(linebounce, case_file(linebounce, "case.toml", case), ways=[*EVERY_WAY, *existing_builds()])


@pytest.mark.parametrize("build", BUILDS)
def test_each_build_to_compare_exists(build: Way) -> None:
    if build not in existing_builds():
        pytest.skip(f"there is no build/{build.value} (./dev test makes dev and clang, ./dev fuzz asan)")


def test_another_seed_changes_the_results(linebounce: Program) -> None:
    """If different seeds gave the same bytes, all of these tests would compare constants."""
    path = linebounce.file("case.toml", CASES["mcs"])
    first, second = (data_files(linebounce.run(path, f"out_{seed}", "--seed", seed)) for seed in ("1", "2"))
    assert any(first[name].read_bytes() != second[name].read_bytes() for name in first if name != "config.toml")


def test_folder_locale_and_time_zone_do_not_change_the_results(linebounce: Program) -> None:
    here, elsewhere = (linebounce.file(name, CASES["mcs"]) for name in ("case.toml", "deep/er/case.toml"))
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "LANG": "de_DE.UTF-8", "TZ": "Asia/Kathmandu", "COLUMNS": "40"}
    assert_same_data(linebounce.run(here, "out"), linebounce.run(elsewhere, "elsewhere/out", env=environment))


def test_a_horizon_one_tick_too_far_is_caught(linebounce: Program) -> None:
    """The self-test of run-ahead: its invariants stop a run with a deliberately wrong horizon."""
    path = linebounce.file("case.toml", CASES["ticket"])
    result = linebounce("run", path, "-o", "out", "--set", "engine.horizon_slack_ticks=1")
    assert result.code == 4, result.stderr
    assert "invariant" in result.stderr.lower()


def test_a_machine_of_ones_own_is_the_same_machine(linebounce: Program) -> None:
    """A copy of the machine file in another place gives the same figures."""
    plain = linebounce.run(linebounce.file("plain.toml", CASES["ticket"]), "plain")
    path = machine_file(linebounce, lambda text: text + "\n# a copy\n")
    out = linebounce.run(linebounce.file("case.toml", experiment(workload=locked("ticket"), top=f'machine = "{path}"')), "out")
    for name in ["latency.csv", "lines.csv", "transitions.csv"]:
        assert (out / name).read_bytes() == (plain / name).read_bytes()


def measure_us(name: str) -> int:
    """The measured time in microseconds that the file states, or the file that it extends."""
    table = tomllib.loads((EXPERIMENTS / f"{name}.toml").read_text())
    base = measure_us(table["extends"]) if "extends" in table else 0
    return table.get("run", {}).get("measure_us", base)


def shortened(name: str) -> list[str]:
    """Settings that shorten experiments with seconds of simulated time for these tests."""
    long = measure_us(name) > 100_000
    return ["--set", "run.warmup_us=1000", "--set", "run.measure_us=10000"] if long else []


@pytest.mark.thorough
@pytest.mark.parametrize("name", shipped_experiments())
def test_a_shipped_experiment_has_the_same_results_in_every_build_and_engine_mode(linebounce: Program, name: str) -> None:
    ways = [*EVERY_WAY, *existing_builds()]
    assert_every_way_agrees(linebounce, name, *shortened(name), ways=ways, timeout=3600)
