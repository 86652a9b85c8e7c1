"""`linebounce explain`: a miss's stages leave no gap, and each wait names what it was for."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from experiments import experiment
from program import Program
from results import read_csv
from ways import engine_settings

ONE_BUS, DIRECTORY, BROADCAST = "p3_xeon_4way", "generic_2socket_32core", "opteron_6172_4socket"
KINDS = [
    (ONE_BUS, "local HITM"),
    (ONE_BUS, "upgrade"),
    (DIRECTORY, "local HITM"),
    (DIRECTORY, "remote HITM"),
    (DIRECTORY, "upgrade"),
    (BROADCAST, "local HITM"),
    (BROADCAST, "remote HITM"),
    (BROADCAST, "upgrade"),
]
MANY = [word for percentile in range(1, 101, 7) for word in ("--percentile", str(percentile))]
CONTENDED = 'name = "critical_section"\nlock = "ttas"\noutside_cycles = 300'
MIXED = 'name = "random_references"\noperations = 1500\nshared_lines = 5\nprivate_lines = 500'


def on(program: Program, machine: str, workload: str = CONTENDED, measure_us: int = 60) -> Path:
    run = f"warmup_us = {5 if measure_us else 0}\nmeasure_us = {measure_us}"
    return program.file("what.toml", experiment(top=f'machine = "{machine}"', workload=workload, run=run))


def explained(program: Program, what: str | Path, *arguments: str) -> dict[str, Any]:
    result = program("explain", what, "--json", *arguments)
    assert result.code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def assert_stages_add_up(miss: dict[str, Any]) -> None:
    end = 0
    for stage in miss["stages"]:
        assert stage["start_ticks"] == end
        assert stage["ticks"] > 0
        end += stage["ticks"]
    assert end == miss["ticks"]
    waits = [stage for stage in miss["stages"] if stage["kind"] == "queueing"]
    assert sum(stage["ticks"] for stage in waits) == miss["queueing_ticks"]
    # A miss that waited in its core joined another miss's fill, so its stages show only that fill's waits.
    if miss["waits_ticks"]["core"] == 0:
        assert sum(miss["waits_ticks"].values()) == miss["queueing_ticks"], "as an ordinary run counts it"
    for wait in waits:
        assert wait["text"].startswith("waits ")
        assert wait["at"] in wait["text"]


@pytest.mark.parametrize(("machine", "kind"), KINDS)
def test_the_stages_of_a_miss_add_up_to_its_latency(linebounce: Program, machine: str, kind: str) -> None:
    found = explained(linebounce, on(linebounce, machine), "--miss", kind, *MANY)
    assert len(found["misses"]) == len(MANY) / 2
    for miss in found["misses"]:
        assert_stages_add_up(miss)
    latencies = [miss["ticks"] for miss in found["misses"]]
    assert latencies == sorted(latencies)


@pytest.mark.parametrize(
    "machine", ["generic_chiplet_64core", "graviton2_1socket", "p4_xeon_ht_2way", "xeon_gold_6242_2socket"]
)
def test_stages_add_up_on_machines_with_groups_far_atomics_threads_and_meshes(linebounce: Program, machine: str) -> None:
    file = on(linebounce, machine, MIXED, 0)
    few = ("--set", "machine.cpus=4" if "ht" in machine else "machine.cpus=8")
    for kind, count in explained(linebounce, file, *few)["counts"].items():
        for miss in explained(linebounce, file, *few, "--miss", kind, *MANY)["misses"] if count else ():
            assert_stages_add_up(miss)


def test_the_latency_is_the_one_that_latency_csv_has_at_this_percentile(linebounce: Program) -> None:
    file = on(linebounce, ONE_BUS)
    rows = read_csv(linebounce.run(file, "out") / "latency.csv")
    cycles = sorted(
        cycle for row in rows if row["source"] == "local_c2c" for cycle in [int(row["latency_cycles"])] * int(row["count"])
    )
    found = explained(linebounce, "out", "--miss", "local_c2c")
    assert found["counts"]["local_c2c"] == len(cycles)
    ns, ticks = map(Fraction, found["tick_ns"].split("/"))
    ticks_per_cycle = round(Fraction(1000, 700) * ticks / ns)
    for miss in found["misses"]:
        rank = -(-len(cycles) * miss["percentile"] // 100)
        assert miss["ticks"] // ticks_per_cycle == cycles[rank - 1]


def test_each_stage_of_an_upgrade_on_an_idle_bus_takes_what_the_machine_file_says(linebounce: Program) -> None:
    """CPUs 0 and 1 have loaded the line, and one stores to it. The store waits for the next edge of the bus clock and
    for nothing else: then come arbitration, snoop and response. No cache sends data."""
    text = """\
title = "An upgrade"
ends = true
function setup() x, y = place_array("x", 8), place_array("y", 8) end
function run(cpu)
  if cpu.id > 1 then return end
  cpu:load(x)
  cpu:compute(2000)
  if cpu.id == 0 then cpu:store(x, 1) cpu:fence() end
end
"""
    found = explained(linebounce, linebounce.file("upgrade.lua", text), "--machine", ONE_BUS, "--miss", "upgrade")
    assert found["counts"]["upgrade"] == 1
    stages = {stage["stage"]: stage for stage in found["misses"][0]["stages"]}
    assert list(stages) == ["look-up", "bus arbitration", "snoop", "response", "fill"]
    assert all(stage["kind"] == "travel" for stage in stages.values())
    machine = json.loads(linebounce("describe", "machine", ONE_BUS, "--json").stdout)
    bus = {parameter["path"]: parameter["value"] for parameter in machine["parameters"]}
    clock_ns = 1000 / bus["machine.bus.clock_mhz"]
    assert stages["snoop"]["ns"] == pytest.approx(bus["machine.bus.snoop_clocks"] * clock_ns, abs=0.01)
    assert stages["response"]["ns"] == pytest.approx(bus["machine.bus.response_clocks"] * clock_ns, abs=0.01)
    to_the_edge = stages["bus arbitration"]["ns"] - bus["machine.bus.arbitration_clocks"] * clock_ns
    assert 0 < to_the_edge <= clock_ns


def test_an_explanation_is_the_same_in_every_engine_mode(linebounce: Program) -> None:
    file = on(linebounce, DIRECTORY)
    plain = linebounce("explain", file, "--json", *MANY)
    for setting in ("run_ahead=false", "parked_spins=false", "reverse_construction=true"):
        assert linebounce("explain", file, "--json", *MANY, *engine_settings(setting)).stdout == plain.stdout


def test_a_wait_at_the_home_counts_the_requests_before_it(linebounce: Program) -> None:
    """Eight nodes of one core each add to one counter: a slow miss waits for the others' requests."""
    workload = 'name = "atomic_scaling"'
    busy = ("--set", "machine.directory.line_busy_ns=400")
    found = explained(linebounce, on(linebounce, "xeon_e7_8867l_8socket", workload), "--miss", "remote HITM", *busy)
    turns = [s for s in found["misses"][1]["stages"] if s["stage"] == "directory" and s["kind"] == "queueing"]
    assert turns
    for wait in turns:
        assert wait["same_line"] == wait["behind"]
        assert (wait["behind"] - 1) * 400 < wait["ns"] <= wait["behind"] * 400
        assert f"behind {wait['behind']} request" in wait["text"]
        assert "for the same line at node" in wait["text"]


def test_results_keep_the_findings_of_their_own_run(linebounce: Program) -> None:
    out = linebounce.run(on(linebounce, ONE_BUS), "out")
    explained(linebounce, "out", "--set", "machine.cpus=2")
    assert not (out / "explain.json").exists()
    found = explained(linebounce, "out", "--percentile", "90")
    kept = json.loads((out / "explain.json").read_text())
    assert kept.pop("hash") == json.loads((out / "manifest.json").read_text())["hash"]
    assert kept.pop("point") == 0
    assert kept == found
    linebounce.run(on(linebounce, ONE_BUS), "out", "--fresh")
    assert not (out / "explain.json").exists()


def test_results_and_their_experiment_say_the_same_of_a_point(linebounce: Program) -> None:
    sweep = '[sweep]\n"machine.cpus" = [2, 4]\n"workload.lock" = ["ttas", "mcs"]'
    file = linebounce.file("what.toml", experiment(workload='name = "critical_section"', more=sweep))
    linebounce.run(file, "out")
    point = ("--point", "lock=mcs,cpus=2")
    from_results = explained(linebounce, "out", *point)
    assert from_results == explained(linebounce, file, *point)
    assert from_results["at"] == {"machine.cpus": 2, "workload.lock": "mcs"}
    assert explained(linebounce, file)["at"] == {"machine.cpus": 4, "workload.lock": "mcs"}
    answer = json.loads((linebounce.directory / "out" / "results.json").read_text())
    assert explained(linebounce, "out")["at"] == answer["points"][answer["answer"]["point"]]["at"]


def test_a_line_is_chosen_by_object_field_or_structure(linebounce: Program) -> None:
    file = on(linebounce, ONE_BUS, MIXED, 0)
    some = explained(linebounce, file)["misses"][0]
    of_line = explained(linebounce, file, "--line", some["object"])
    assert all(miss["object"] == some["object"] for miss in of_line["misses"])
    assert sum(of_line["counts"].values()) < sum(explained(linebounce, file)["counts"].values())


def test_an_unexplainable_request_is_refused_with_the_available_ones(linebounce: Program) -> None:
    file = on(linebounce, ONE_BUS)
    assert "remote HITM" in linebounce.refused("explain", file, "--miss", "romote HITM")
    refused = linebounce.refused("explain", file, "--miss", "remote_c2c")
    assert "there are: local_c2c (" in refused
    refused = linebounce.refused("explain", file, "--line", "section_lock.loked")
    assert "did you mean section_lock.locked?" in refused
    sweep = linebounce.file("sweep.toml", experiment(more='[sweep]\n"machine.cpus" = [2, 4]'))
    assert "2, 4" in linebounce.refused("explain", sweep, "--point", "cpus=3")
    assert "machine.cpus" in linebounce.refused("explain", sweep, "--point", "cpu=2")
    (linebounce.directory / "empty").mkdir()
    assert "config.toml" in linebounce.refused("explain", "empty", code=3)


def test_the_waterfall_has_a_row_for_each_stage_and_a_sentence_for_each_kind_of_wait(linebounce: Program) -> None:
    file = on(linebounce, ONE_BUS)
    text = linebounce("explain", file, "--miss", "local HITM", "--percentile", "99").stdout
    miss = explained(linebounce, file, "--miss", "local HITM", "--percentile", "99")["misses"][0]
    for stage in miss["stages"]:
        assert f"{stage['ns']:.1f}" in text
    waits = {(s["stage"], s["at"]) for s in miss["stages"] if s["kind"] == "queueing"}
    assert sum(line.strip().startswith("* ") and ": " in line for line in text.splitlines()) == len(waits) > 0
