"""Broken locks from files are refused before anything is simulated, or found when two CPUs are inside."""

import re
from pathlib import Path

import pytest
from program import Program

# Each of these locks keeps some CPUs apart but not all: readers from writers, writers from writers, or CPU 0 from the others.
WRONG = {
    "by_load_and_store": """function setup() return lock_word(structure { name = "w", "held" }) end
function acquire(cpu, lock)
  while cpu:load(lock.held) ~= 0 do end
  cpu:store(lock.held, 1)
  return false
end
function release(cpu, lock) cpu:store_release(lock.held, 0) end
""",
    "first_cpu_need_not_wait": """function setup() return lock_word(structure { name = "w", "held" }) end
function acquire(cpu, lock)
  while cpu:exchange(lock.held, 1) ~= 0 and cpu.id > 0 do end
  return false
end
function release(cpu, lock) cpu:store_release(lock.held, 0) end
""",
    "writers_ignore_readers": """traits = { readers = "together" }
function setup() return lock_word(structure { name = "w", "held" }) end
function acquire(cpu, lock)
  while cpu:exchange(lock.held, 1) ~= 0 do end
  return false
end
function release(cpu, lock) cpu:store_release(lock.held, 0) end
function acquire_shared(cpu, lock) cpu:spin_until_acquire(lock.held, "==", 0) return false end
function release_shared(cpu, lock) end
""",
}

# Correct if stores stay in order, wrong if they may pass each other.
PLAIN_RELEASE = """function setup() return lock_word(structure { name = "w", "held" }) end
function acquire(cpu, lock)
  while cpu:exchange(lock.held, 1) ~= 0 do end
  return false
end
function release(cpu, lock) cpu:store(lock.held, 0) end
"""

SHORT = ["--machine", "p3_xeon_4way", "--set", "run.measure_us=40", "--set", "run.warmup_us=0"]


@pytest.mark.parametrize("setup", ['error("no")', "while true do end", 'structure { name = "w", "a", "a" }'])
@pytest.mark.parametrize("command", [["check-lock"], ["run", *SHORT]], ids=lambda words: words[0])
def test_a_mistake_in_setup_is_the_users(linebounce: Program, command: list[str], setup: str) -> None:
    linebounce.file(
        "l.lua", f"function setup() {setup} end\nfunction acquire(cpu, lock) end\nfunction release(cpu, lock) end\n"
    )
    assert re.match("linebounce: l.lua:(1:)? ", linebounce.refused(*command, "l.lua"))


def wrong_lock(linebounce: Program, name: str) -> Path:
    return linebounce.file(f"{name}.lua", f'title = "{name}"\n' + WRONG[name])


@pytest.mark.parametrize("name", WRONG)
def test_a_run_refuses_a_lock_that_breaks_and_shows_the_steps(linebounce: Program, name: str) -> None:
    lock = wrong_lock(linebounce, name)
    said = linebounce.refused("run", lock, *SHORT, code=1)
    assert re.search(rf"{name}\.lua is broken: CPU \d and CPU \d both hold the lock", said)
    assert re.search(r"^ +1  CPU \d: ", said, re.MULTILINE)
    assert "--unchecked" in said


@pytest.mark.parametrize("name", WRONG)
def test_an_unchecked_broken_lock_ends_the_run_where_two_cpus_are_inside(linebounce: Program, name: str) -> None:
    lock = wrong_lock(linebounce, name)
    mixed = ["--set", "workload.read_pct=50"]
    said = linebounce.refused("run", lock, "--unchecked", *SHORT, *mixed, code=4)
    assert re.search(
        rf"{name}\.lua does not exclude: CPU (\d) takes section_lock.* in critical_section at [\d.]+ µs, "
        r"while CPU (?!\1)\d holds it",
        said,
    )


def test_a_lock_is_refused_under_the_memory_model_of_the_machine_that_runs_it(linebounce: Program) -> None:
    lock = linebounce.file("plain.lua", 'title = "plain release"\n' + PLAIN_RELEASE)
    linebounce.run(lock, "out", *SHORT)
    on_itanium = ["--machine", "itanium2_single_node", "--set", "run.measure_us=40"]
    assert "an update was lost" in linebounce.refused("run", lock, "-o", "other", *on_itanium, code=1)


def test_a_run_refuses_a_lock_in_c_whose_loop_nobody_can_end(linebounce: Program) -> None:
    source = """#include <linebounce/lock.h>
struct own { int held; };
LINEBOUNCE_LOCK(struct own)
void acquire(struct own *lock) {
  while (lock->held);
  __sync_lock_test_and_set(&lock->held, 1);
}
void release(struct own *lock) { __sync_lock_release(&lock->held); }
"""
    lock = linebounce.file("endless.c", source)
    assert re.search(r"endless\.c:5: .*nobody can end it", linebounce.refused("run", lock, *SHORT, code=1))


def test_replays_and_comparisons_refuse_a_broken_lock(linebounce: Program) -> None:
    lock = wrong_lock(linebounce, "first_cpu_need_not_wait")
    recorded = ["--set", "workload.lock=mcs", "--set", "machine.cpus=4", "--set", "run.measure_us=30", "--set", "run.seeds=1"]
    assert linebounce("trace", "record", "lock_scaling", "-o", "t.lbt", *recorded).code == 0
    assert "both hold the lock" in linebounce.refused("trace", "replay", "t.lbt", "--lock", lock, code=1)
    assert "both hold the lock" in linebounce.refused("compare-locks", "t.lbt", "--with", lock, code=1)
    assert "does not exclude: CPU" in linebounce.refused("trace", "replay", "t.lbt", "--lock", lock, "--unchecked", code=4)
