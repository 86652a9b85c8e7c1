"""Programs and locks in Lua run, are configured and are reported like those in C++, and give the same bytes every time."""

import csv
import json
import os
import re
from pathlib import Path

import pytest
from program import ROOT, Program
from results import assert_same_data
from ways import USUAL_WAYS, Way, assert_every_way_agrees

LOCKS = ROOT / "programs" / "locks"
PROGRAMS = sorted((ROOT / "programs").rglob("*.lua"))
LOCKS_FOR_TWO = {"dekker", "peterson"}
SHORT = ["--set", "run.measure_us=40", "--set", "run.warmup_us=5"]
ON_XEON = ["--machine", "p3_xeon_4way"]


def metrics(directory: Path) -> dict:
    return {
        name: m["value"] for name, m in json.loads((directory / "results.json").read_text())["points"][0]["metrics"].items()
    }


def rows(directory: Path, file: str) -> list[dict]:
    with (directory / file).open(newline="") as text:
        return list(csv.DictReader(text))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_every_shipped_program_runs(linebounce: Program, program: Path) -> None:
    cpus = 2 if program.stem in LOCKS_FOR_TWO else 4
    directory = linebounce.run(program, "out", *ON_XEON, *SHORT, "--set", f"machine.cpus={cpus}")
    assert metrics(directory)["throughput.operations"] > 0


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_shipped_program_has_one_page_that_begins_with_its_lesson(program: Path) -> None:
    text = program.read_text()
    lines = text.splitlines()
    assert len(lines) <= 60
    opening = text[: text.index("\ntitle")]
    assert all(line.startswith("-- ") for line in opening.splitlines())
    assert "What it teaches:" in opening


# ---- configuration ----

PROGRAM = """
title = "Counts"
parameters = {{ {{ name = "step", default = 3, min = 1, max = 9, meaning = "added each time" }} }}
tallies = {{ "adds", "sums" }}
function setup() t = place(structure {{ name = "total", "sum" }}, "total") end
local add = named("add", function(cpu) cpu:fetch_add(t.sum, workload.step) end)
function run(cpu) while true do add(cpu) cpu:tally() cpu:tally("sums", {tallied}) cpu:compute(50) end end
"""
EXPERIMENT = """
name = "counting"
title = "t"
machine = "p3_xeon_4way"
[workload]
program = "programs/count.lua"
[run]
measure_us = 20
[sweep]
"workload.step" = [1, 5]
"""


def counting(linebounce: Program, tallied: str = "workload.step") -> Path:
    linebounce.file("sub/programs/count.lua", PROGRAM.format(tallied=tallied))
    return linebounce.file("sub/counting.toml", EXPERIMENT)


def test_parameters_that_a_program_declares_are_swept_as_any(linebounce: Program) -> None:
    directory = linebounce.run(counting(linebounce), "out")
    for point in json.loads((directory / "results.json").read_text())["points"]:
        values = {name: m["value"] for name, m in point["metrics"].items()}
        assert values["program.sums"] == values["throughput.operations"] * point["at"]["workload.step"]


def test_a_programs_parameters_are_checked_like_any_others(linebounce: Program) -> None:
    experiment = counting(linebounce)
    assert "workload.step: 12 is out of range; legal: 1 to 9" in linebounce.refused(
        "run", experiment, "--set", "workload.step=12"
    )
    assert "did you mean workload.step" in linebounce.refused("run", experiment, "--set", "workload.stepp=2")


def test_describe_shows_what_a_file_declares(linebounce: Program) -> None:
    counting(linebounce)
    shown = json.loads(linebounce("describe", "workload", "sub/programs/count.lua", "--json").stdout)
    assert [parameter["name"] for parameter in shown["parameters"]] == ["step"]
    lock = json.loads(linebounce("describe", "lock", str(LOCKS / "ticket.lua"), "--json").stdout)
    assert lock["first_come_first_served"]
    assert {"workload": "critical_section", "parameter": "workload.lock"} in lock["usable_in"]


def test_lines_csv_has_a_programs_fields_and_functions(linebounce: Program) -> None:
    found = rows(linebounce.run(counting(linebounce), "out"), "lines.csv")
    assert {(row["structure"], row["object"], row["field"], row["function"]) for row in found} >= {
        ("total", "total", "sum", "add")
    }


def test_a_changed_program_is_another_configuration(linebounce: Program) -> None:
    experiment = counting(linebounce)
    linebounce.run(experiment, "out")
    counting(linebounce, "2")
    assert "--fresh" in linebounce.refused("run", experiment, "-o", "out")


def test_the_resolved_configuration_of_a_program_runs_again(linebounce: Program) -> None:
    first = linebounce.run(counting(linebounce), "first")
    assert_same_data(first, linebounce.run(first / "config.toml", "again"))


def test_a_lock_of_ones_own_is_swept_beside_others(linebounce: Program) -> None:
    lock = (LOCKS / "tas.lua").read_text()
    linebounce.file("mine.lua", lock)
    experiment = linebounce.file(
        "locks.toml",
        EXPERIMENT.replace('program = "programs/count.lua"', 'name = "critical_section"').replace(
            '"workload.step" = [1, 5]', '"workload.lock" = ["mcs", "mine.lua"]'
        ),
    )
    directory = linebounce.run(experiment, "out")
    assert {row["point"] for row in rows(directory, "locks.csv")} == {"0", "1"}


def test_an_unsuitable_lock_is_refused_with_the_reason(linebounce: Program) -> None:
    seqlock = LOCKS / "seqlock.lua"
    none = linebounce.file("none.lua", "traits = { excludes = false }\nfunction acquire() end\nfunction release() end")
    assert "lists would break" in linebounce.refused("run", "oltp", "--set", f"workload.lock={none}")
    assert "can't be used here" in linebounce.refused("run", "tasklist_walk", "--set", f"workload.lock={seqlock}")


# ---- counters ----

ADDER = """
title = "One word, by addition"
function setup() return counter_word(structure { name = "adder", "sum" }) end
function add(cpu, counter, amount) cpu:fetch_add(counter.sum, amount) end
function read(cpu, counter) return cpu:load(counter.sum) end
"""


def test_a_counter_in_lua_is_the_same_counter(linebounce: Program) -> None:
    """Reports are equal, except for the trial at the beginning: after it, CPUs arrive in another order."""
    run = ["--set", "machine.cpus=4", "--set", "workload.counts=events", "--set", "run.seeds=1", "--set", "run.measure_us=100"]
    native = linebounce.run("counter_scaling", "native", *run, "--set", "workload.counter=atomic")
    adder = linebounce.file("adder.lua", ADDER)
    lua = linebounce.run("counter_scaling", "lua", *run, "--set", f"workload.counter={adder}")
    for metric in ["throughput.operations_per_s", "latency.local_c2c.mean_ns"]:
        assert metrics(lua)[metric] == pytest.approx(metrics(native)[metric], rel=0.05), metric


def test_a_counter_runs_alone_and_under_other_workloads(linebounce: Program) -> None:
    adder = linebounce.file("adder.lua", ADDER)
    directory = linebounce.run(adder, "alone", *ON_XEON, *SHORT)
    assert {row["object"] for row in rows(directory, "lines.csv")} >= {"counter"}
    rcuref = ROOT / "programs" / "rcuref.lua"
    directory = linebounce.run("vfsmount_refcount", "mounts", *SHORT, "--set", f"workload.mount_count={rcuref}")
    assert metrics(directory)["throughput.operations"] > 0


def test_a_counter_that_does_not_count_this_is_refused_with_the_reason(linebounce: Program) -> None:
    adder = linebounce.file("adder.lua", ADDER)
    said = linebounce.refused("run", "vfsmount_refcount", "--set", f"workload.mount_count={adder}")
    assert "adder.lua can't be used here: it counts events, and not references" in said
    said = linebounce.refused("run", "counter_scaling", "--set", f"workload.counter={LOCKS / 'tas.lua'}")
    assert "it is not a counter" in said


COUNTS_WRONG = {
    "racy": ("cpu:fetch_add(counter.sum, amount)", "cpu:store(counter.sum, cpu:load(counter.sum) + amount)"),
    "nothing": ("cpu:fetch_add(counter.sum, amount)", ""),
}


@pytest.mark.parametrize("name", COUNTS_WRONG)
def test_a_counter_that_counts_wrong_ends_the_run(linebounce: Program, name: str) -> None:
    wrong = linebounce.file("wrong.lua", ADDER.replace(*COUNTS_WRONG[name]))
    said = linebounce.refused("run", wrong, *ON_XEON, *SHORT, code=4)
    assert re.search(r"wrong.lua is wrong: with 4 CPUs, \d+ of 128 events are counted", said)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("- 1 >= 0 then return false", "- 1 >= 0 then return true"),
            "a last reference is dropped while the owner holds its own",
        ),
        (("cpu:fetch_add(counter.count, 1)", "cpu:fetch_add(counter.count, 2)"), "the owner drops the last reference"),
    ],
)
def test_references_that_are_lost_or_left_end_the_run(linebounce: Program, change: tuple[str, str], message: str) -> None:
    text = (ROOT / "programs" / "rcuref.lua").read_text()
    assert change[0] in text
    wrong = linebounce.file("wrong.lua", text.replace(*change))
    assert message in linebounce.refused("run", wrong, *ON_XEON, *SHORT, code=4)


# ---- locks that sleep ----


def test_a_run_beyond_the_last_tick_is_refused(linebounce: Program) -> None:
    """65 days of computation at 700 MHz: times would wrap at the last tick, and the run would never end."""
    text = 'title = "Far"\nends = true\nfunction setup() x = place_array("x", 8) end\n'
    text += "function run(cpu)\n  for i = 1, 4000 do cpu:compute(1000000000000) end\n  cpu:store(x, 1)\nend\n"
    said = linebounce.refused("run", linebounce.file("far.lua", text), "-o", "out", *ON_XEON, code=4)
    assert "simulate less time" in said


def test_a_thread_waiting_for_a_parking_lock_sleeps(linebounce: Program) -> None:
    run = ["--set", "run.measure_us=300", "--set", "machine.cpus=8", "--set", "workload.inside_cycles=5000"]
    run += ["--machine", "p3_xeon_8way"]
    parking = metrics(linebounce.run(LOCKS / "mcs_parking.lua", "parking", *run))
    spinning = metrics(linebounce.run(LOCKS / "mcs.lua", "spinning", *run))
    assert parking["time.idle_pct"] > 50
    assert spinning["time.idle_pct"] == 0


# ---- errors ----


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("function run(cpu) cpu:load(nil) end", "bad.lua:1: CPU 0: the word is nil"),
        ("function run(cpu) while true do end end", "bad.lua:1: CPU 0: 10000000 instructions"),
        ("function run(cpu", "bad.lua:1: ')' expected"),
        ("x = 1", "bad.lua: the file defines no program"),
        ("trait = { fifo = true }\nfunction acquire() end\nfunction release() end", "did you mean traits?"),
    ],
)
def test_a_program_in_error_is_one_message_and_exit_code_2(linebounce: Program, text: str, message: str) -> None:
    bad = linebounce.file("bad.lua", text)
    error = linebounce.refused("run", bad, "--machine", "p3_xeon_4way", code=2)
    assert message in error


def test_a_missing_machine_and_a_missing_file_are_named(linebounce: Program) -> None:
    assert "--machine is required" in linebounce.refused("run", LOCKS / "tas.lua")
    assert "none.lua" in linebounce.refused("run", "none.lua", "--machine", "p3_xeon_4way")


# ---- determinism ----

TRIES = """
ends = true
tallies = { "sum", "order" }
function setup() t = place(structure { name = "t", "a", "b" }, "t", { count = 4 }) l = lock("ttas", "l") end
local function digest(cpu)
  local seen = {}
  for i = 1, 40 do seen["key" .. cpu:random(1000)] = {} seen[cpu:random(64)] = true seen[cpu:random(9) / 2] = 1 end
  for i = 1, 20 do seen["key" .. cpu:random(1000)] = nil end
  local sum = 0
  for key, value in pairs(seen) do
    local text = tostring(key) .. tostring(value) .. string.format("%s %q", key, tostring(digest))
    for i = 1, #text do sum = (sum * 31 + text:byte(i)) % 1000003 end
  end
  return sum
end
function run(cpu)
  for round = 1, 60 do
    local sum = digest(cpu)
    cpu:acquire(l)
    cpu:store(t[sum % 4].a, (cpu:load(t[sum % 4].a) * 31 + sum) % 1000003)
    cpu:release(l)
    cpu:compute(1 + sum % 700)
    cpu:tally("sum", sum)
    cpu:tally("order", cpu:load(t[sum % 4].a))
    if round % 7 == 0 then cpu:spin_until_any { { t[0].a, "~=", 0 }, { t[1].a, ">", sum } } end
  end
end
"""


def test_a_program_that_tries_to_differ_gives_the_same_bytes(linebounce: Program) -> None:
    """What could differ between runs: the order of a table's keys, addresses of tables and functions as text, garbage
    collection, races. It must not, with another memory layout or without the speed-ups."""
    program = linebounce.file("tries.lua", TRIES)
    plain = assert_every_way_agrees(linebounce, program, *ON_XEON, ways=[Way.PLAIN, Way.PLAIN, *USUAL_WAYS])
    assert metrics(plain)["throughput.operations"] > 0


# ---- traces ----


def recorded(linebounce: Program) -> None:
    sets = ["--set", "workload.lock=mcs", "--set", "machine.cpus=4", "--set", "run.measure_us=30", "--set", "run.seeds=1"]
    assert linebounce("trace", "record", "lock_scaling", *sets, "-o", "t.lbt").code == 0


def test_a_trace_is_replayed_with_a_lock_of_ones_own(linebounce: Program) -> None:
    recorded(linebounce)
    for lock, output in [("ticket", "native"), (str(LOCKS / "ticket.lua"), "lua")]:
        assert linebounce("trace", "replay", "t.lbt", "--lock", lock, "-o", output, "--quiet").code == 0
    native, lua = (linebounce.directory / output / "lines.csv" for output in ["native", "lua"])
    assert native.read_bytes() == lua.read_bytes()


def test_compare_locks_ranks_a_lock_of_ones_own_beside_the_others(linebounce: Program) -> None:
    recorded(linebounce)
    linebounce.file("mine.lua", (LOCKS / "tas.lua").read_text())
    shown = json.loads(linebounce("compare-locks", "t.lbt", "--with", "mine.lua", "--json").stdout)
    trials = {trial["algorithm"] for trial in shown["machines"][0]["locks"][0]["trials"]}
    assert {"mine.lua", "clh"} <= trials


def test_a_program_that_only_computes_ends_with_the_run(linebounce: Program) -> None:
    linebounce.file("busy.lua", "function run(cpu)\n  while true do cpu:compute(10) cpu:tally() end\nend\n")
    directory = linebounce.run("busy.lua", "out", *ON_XEON, *SHORT, timeout=30)
    clock_ghz = 0.7
    assert metrics(directory)["throughput.operations"] == pytest.approx(4 * 40_000 / (10 / clock_ghz), rel=0.01)


def test_objects_may_be_in_memory_that_no_cpu_is_near(linebounce: Program) -> None:
    far = "ends = true\nfunction setup() word = place_array('word', 64, { node = 2 }) end\n"
    linebounce.file("far.lua", far + "function run(cpu) cpu:load(word) cpu:tally() end\n")
    directory = linebounce.run("far.lua", "out", "--machine", "generic_cxl_32core", "--set", "machine.cpus=1")
    assert metrics(directory)["latency.remote_memory.mean_ns"] > 200
    assert "node must be a whole number from 0 to 1" in linebounce.refused(
        "run", "far.lua", "--machine", "generic_2socket_32core"
    )


def test_the_memory_of_a_program_in_lua_has_a_limit_that_the_environment_raises(linebounce: Program) -> None:
    linebounce.file(
        "big.lua",
        'function setup() big = string.rep("x", 34 * 1024 * 1024) end\nfunction run(cpu) cpu:compute(10) end\n',
    )
    arguments = ("run", "big.lua", "--machine", "p3_xeon_4way", "-o", "out/big")
    assert "more than 64 MiB of memory for one CPU's program; the environment's LINEBOUNCE_LUA_MIB" in linebounce.refused(
        *arguments
    )
    raised = linebounce(*arguments, env={**os.environ, "LINEBOUNCE_LUA_MIB": "1024"})
    assert raised.code == 0, raised.stderr
