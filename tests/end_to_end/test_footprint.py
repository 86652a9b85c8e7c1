"""Instruction-cache and TLB misses, which only machines that configure them have."""

import json
import tomllib
from pathlib import Path

import pytest
from experiments import experiment
from program import Program
from ways import assert_every_way_agrees

# 64 KiB of user code run between requests that walk paths.
HTTPERF = experiment(
    workload='name = "httperf"\nuser_us = 20\nopen_us = 5\ndentries = 400', run="warmup_us = 200\nmeasure_us = 2000"
)
TLB = {"tlb_entries": 8, "tlb_miss_cycles": 30}
CODE = {"code_cache_kib": 16, "code_line_bytes": 32}


def footprint(parameters: dict[str, int]) -> list[str]:
    return [part for name, value in parameters.items() for part in ["--set", f"machine.footprint.{name}={value}"]]


def metrics(directory: Path) -> dict[str, float]:
    (point,) = json.loads((directory / "results.json").read_text())["points"]
    return {name: metric["value"] for name, metric in point["metrics"].items()}


@pytest.fixture
def httperf(linebounce: Program) -> Path:
    return linebounce.file("httperf.toml", HTTPERF)


def test_a_machine_without_a_footprint_reports_none(linebounce: Program, httperf: Path) -> None:
    out = linebounce.run(httperf, "out")
    assert not [name for name in metrics(out) if name.startswith("footprint")]
    assert "footprint" not in tomllib.loads((out / "config.toml").read_text())["machine"]


def test_misses_are_counted_by_function(linebounce: Program, httperf: Path) -> None:
    without = metrics(linebounce.run(httperf, "without"))
    found = metrics(linebounce.run(httperf, "with", *footprint(TLB | CODE)))
    for kind in ["tlb_misses", "code_misses"]:
        total = found.pop(f"footprint.{kind}")
        by_function = {name: count for name, count in found.items() if name.startswith("footprint.") and name.endswith(kind)}
        assert sum(by_function.values()) == total > 0
        assert {f"footprint.httpd.{kind}", f"footprint.d_lookup.{kind}"} <= by_function.keys()
    assert 0 < found["footprint.time_pct"] < 50
    assert found["locks.dcache_lock.hold_mean_us"] > without["locks.dcache_lock.hold_mean_us"]


def test_free_operations_change_only_the_counts(linebounce: Program, httperf: Path) -> None:
    without = metrics(linebounce.run(httperf, "without"))
    free = footprint(TLB | CODE | {"tlb_miss_cycles": 0, "code_miss_cycles": 0})
    counted = metrics(linebounce.run(httperf, "counted", *free))
    assert counted["footprint.tlb_misses"] > 0
    assert {name: value for name, value in counted.items() if not name.startswith("footprint.")} == without


def test_a_footprint_gives_the_same_results_without_speed_ups(linebounce: Program, httperf: Path) -> None:
    arguments = ["--machine", "p4_xeon_ht_2way", *footprint(TLB | CODE), "--set", "workload.serving_cpus=3"]
    assert_every_way_agrees(linebounce, httperf, *arguments)


def test_settings_without_an_effect_are_refused(linebounce: Program, httperf: Path) -> None:
    message = linebounce.refused("run", httperf, *footprint({"code_miss_cycles": 20}))
    assert "machine.footprint.code_miss_cycles: has no effect, machine.footprint.code_cache_kib is 0" in message


def test_the_code_cache_has_the_machines_lines_unless_it_says_otherwise(linebounce: Program) -> None:
    sets = ["--set", "machine.line_bytes=128", "--set", "machine.footprint.code_cache_kib=16", "--set", "run.measure_us=1"]
    for own, size in ((), 128), (("--set", "machine.footprint.code_line_bytes=32"), 32):
        out = linebounce.run("operation_costs", f"out{size}", *sets, *own)
        config = tomllib.loads((out / "config.toml").read_text())
        assert config["machine"]["footprint"]["code_line_bytes"] == size
