"""The operating system's nodes beside the interconnect's: what locks, programs and memory see of them."""

import json
import re
from pathlib import Path

import pytest
from experiments import experiment
from program import MACHINES, Program
from results import read_csv

# A program in Lua that counts what its machine says, and has an object on each node.
ASKS = """
tallies = { "nodes", "caches", "here", "cache" }
ends = true

function setup()
  local word = structure { name = "word", "value" }
  for node = 0, machine.nodes - 1 do
    last = place(word, "of_node" .. node, { node = node })
  end
  pages = place_array("pages", 8 * 4096, { node = machine.nodes - 1 })
end

function run(cpu)
  if cpu.id ~= machine.cpus - 1 then return end
  for _ = 1, machine.nodes do cpu:tally("nodes") end
  for _ = 1, machine.caches do cpu:tally("caches") end
  for _ = 1, machine.node_of[cpu.id] do cpu:tally("here") end
  for _ = 1, machine.cache_of[cpu.id] do cpu:tally("cache") end
  cpu:store(last.value, 1)
  for page = 0, 7 do cpu:load(pages + page * 4096) end
end
"""


def machine(program: Program, name: str, os_nodes: str) -> Path:
    text = (MACHINES / f"{name}.toml").read_text()
    stated = re.sub(r"^cpus +=", f'os_nodes = "{os_nodes}"\ncpus =', text, count=1, flags=re.MULTILINE)
    assert stated != text
    return program.file(f"{name}_{re.sub('[^a-z0-9]', '', os_nodes)}.toml", stated.partition("[[history]]")[0])


def asked(program: Program, file: str | Path, *sets: str) -> tuple[dict[str, float], dict[str, int]]:
    """What the last CPU counted; how many pages it read from each home."""
    lua = program.file("asks.lua", ASKS)
    text = f'name = "asks"\ntitle = "asks"\nmachine = "{file}"\n[workload]\nname = "program"\nprogram = "{lua}"\n'
    asks = program.file("asks.toml", text + "[run]\nwarmup_us = 0\nmeasure_us = 0\n")
    out = program.run(asks, "out", "--fresh", *sets)
    metrics = json.loads((out / "results.json").read_text())["points"][0]["metrics"]
    homes: dict[str, int] = {}
    for row in read_csv(out / "lines.csv"):
        if row["object"] == "pages":
            homes[row["home"]] = homes.get(row["home"], 0) + int(row["count"])
    counts = {name: metrics.get(f"program.{name}", {}).get("value", 0) for name in ("caches", "here", "cache")}
    return counts, homes


def test_a_program_sees_the_operating_systems_nodes_and_its_last_level_cache(linebounce: Program) -> None:
    """Two nodes of the interconnect with four L3s of eight cores each; CPU 63 is the last one of the second node."""
    usual, homes = asked(linebounce, "generic_ccx_64core", "--set", "machine.cpu_order=fill")
    assert usual == {"caches": 8, "here": 1, "cache": 7}
    assert homes == {"1": 8}
    whole, homes = asked(linebounce, machine(linebounce, "generic_ccx_64core", "machine"), "--set", "machine.cpu_order=fill")
    assert whole == {"caches": 8, "here": 0, "cache": 7}
    assert homes == {"0": 4, "1": 4}, "pages of the one node are interleaved over both memories"
    each, homes = asked(linebounce, machine(linebounce, "generic_ccx_64core", "cache"), "--set", "machine.cpu_order=fill")
    assert each == {"caches": 8, "here": 7, "cache": 7}
    assert homes == {"1": 8}


def test_an_object_is_placed_on_a_node_of_the_operating_system(linebounce: Program) -> None:
    file = machine(linebounce, "generic_2socket_32core", "nps2")
    text = experiment(workload='name = "false_sharing"', run="warmup_us = 1\nmeasure_us = 5", top=f'machine = "{file}"\n')
    plain = linebounce.run(linebounce.file("plain.toml", text), "plain")
    name = read_csv(plain / "lines.csv")[0]["object"]
    for node, home in (("1", "0"), ("2", "1"), ("3", "1")):
        placed = linebounce.file("placed.toml", text + f'[placement]\n"{name}" = "node {node}"\n')
        out = linebounce.run(placed, "placed", "--fresh")
        assert {row["home"] for row in read_csv(out / "lines.csv") if row["object"] == name} == {home}
    refused = linebounce.file("refused.toml", text + f'[placement]\n"{name}" = "node 4"\n')
    assert "node 0, node 1, node 2, node 3" in linebounce.refused("run", refused, "-o", "refused")


def test_hand_offs_within_and_between_nodes_are_those_of_the_operating_system(linebounce: Program) -> None:
    def hand_offs(file: str | Path) -> tuple[bool, bool]:
        out = linebounce.run("lock_scaling", "out", "--fresh", "--machine", str(file), *sets)
        metrics = json.loads((out / "results.json").read_text())["points"][0]["metrics"]
        means = [metrics.get(f"locks.section_lock.handoff_{kind}_mean_ns", {}).get("value") for kind in ("local", "remote")]
        return means[0] is not None, means[1] is not None

    sets = ["--set=machine.cpus=16", "--set=workload.lock=ttas", "--set=run.measure_us=50", "--set=run.seeds=1"]
    assert hand_offs("epyc_7773x_1socket") == (True, False)
    assert hand_offs(machine(linebounce, "epyc_7773x_1socket", "cache")) == (True, True)
    assert hand_offs("generic_2socket_32core") == (True, True)
    assert hand_offs(machine(linebounce, "generic_2socket_32core", "machine")) == (True, False)


LOCK_IN_C = """#include <linebounce/lock.h>
struct own { int held; };
LINEBOUNCE_LOCK(struct own, .title = "Own")
void acquire(struct own *lock) {
  if (linebounce_cache_of(linebounce_cpu()) != linebounce_cpu() / 8 % 8) __builtin_trap();
  if (linebounce_node_of(linebounce_cpu()) != 0) __builtin_trap();
  while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE)) linebounce_pause();
}
void release(struct own *lock) { __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE); }
"""


def test_a_lock_in_c_asks_for_its_last_level_cache(linebounce: Program) -> None:
    lock = linebounce.file("own.c", LOCK_IN_C)
    sets = ["--set=machine.cpus=16", f"--set=workload.lock={lock}", "--set=run.measure_us=20", "--set=run.seeds=1"]
    linebounce.run("lock_scaling", "out", "--machine", "epyc_7773x_1socket", "--unchecked", *sets)


def test_describe_machine_draws_both_kinds_of_nodes(linebounce: Program) -> None:
    usual = linebounce("describe", "machine", "generic_2socket_32core").stdout
    assert "operating system: the same 2 nodes" in usual
    file = machine(linebounce, "generic_2socket_32core", "nps2")
    drawn = linebounce("describe", "machine", str(file)).stdout
    assert 'operating system: os_nodes = "nps2"' in drawn
    assert "OS node 3" in drawn
    assert "memory of node 1" in drawn
    nodes = json.loads(linebounce("describe", "machine", str(file), "--json").stdout)["os_nodes"]
    assert [len(node["cpus"]) for node in nodes] == [8, 8, 8, 8]
    assert [node["memory_of_nodes"] for node in nodes] == [[0], [0], [1], [1]]


@pytest.mark.parametrize("os_nodes", ["socket", "0 1", "0 0 0 0 0 0 0 2"])
def test_nodes_that_do_not_fit_the_machine_are_refused_at_their_place(linebounce: Program, os_nodes: str) -> None:
    file = machine(linebounce, "epyc_7773x_1socket", os_nodes)
    assert re.search(r"\.toml:\d+:\d+: os_nodes: ", linebounce.refused("describe", "machine", str(file)))


def test_a_report_of_locks_says_which_nodes_they_saw(linebounce: Program) -> None:
    report = ("lock-report", "ticket", "mcs", "--cpus=16", "--set=run.measure_us=20", "--set=run.seeds=1", "--machines")
    assert "The operating system has 1 node with all CPUs." in linebounce(*report, "epyc_7773x_1socket").stdout
    file = machine(linebounce, "epyc_7773x_1socket", "cache")
    said = " ".join(linebounce(*report, str(file)).stdout.split())
    assert "The operating system has 2 nodes: CPU 0, 1, 2 ... 7; CPU 8, 9, 10 ... 15." in said
