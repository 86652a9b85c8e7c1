"""A lock used wrongly gives exit code 4 and says who held what and where; an unsuitable lock gives exit code 2 and the
reason."""

import json
import re

import pytest
from experiments import experiment, line_of
from program import Program


def mistake(name: str, *, lock: str = "ticket", cpus: int = 3) -> str:
    return experiment(
        workload=f'name = "lock_mistakes"\nmistake = "{name}"\nlock = "{lock}"',
        run="measure_us = 0",
        more=f'[set]\n"machine.cpus" = {cpus}',
    )


def failure(linebounce: Program, text: str) -> str:
    path = linebounce.file("small.toml", text)
    return linebounce.refused("run", path, "-o", "out", code=4)


def test_without_a_mistake_the_workload_runs_to_its_end(linebounce: Program) -> None:
    linebounce.run(linebounce.file("small.toml", mistake("none")), "out")


@pytest.mark.parametrize("lock", ["ticket", "ttas", "mcs", "mutex"])
def test_a_deadlock_is_reported_with_both_holders_their_call_sites_and_the_cycle(linebounce: Program, lock: str) -> None:
    message = failure(linebounce, mistake("deadlock", lock=lock, cpus=2))
    assert "deadlock" in message
    for cpu, other in [(0, 1), (1, 0)]:
        assert re.search(rf"CPU {cpu} holds lock_{cpu}, taken in take_both\b", message), message
        assert re.search(rf"CPU {cpu} awaits lock_{other}, in take_next\b", message), message


def test_a_cycle_of_three_names_all_three(linebounce: Program) -> None:
    message = failure(linebounce, mistake("deadlock"))
    for cpu in range(3):
        assert re.search(rf"CPU {cpu} awaits lock_{(cpu + 1) % 3}\b", message), message


def test_a_lock_taken_twice_is_reported_with_both_call_sites(linebounce: Program) -> None:
    message = failure(linebounce, mistake("recursive"))
    assert "recursive acquire" in message
    wants = re.search(r"CPU (\d) wants (lock_\d), in work\b", message)
    assert wants, message
    assert re.search(rf"CPU {wants[1]} holds {wants[2]}, taken in take_both\b", message), message


def test_a_release_of_a_free_lock_names_lock_cpu_and_place(linebounce: Program) -> None:
    message = failure(linebounce, mistake("released_twice"))
    assert re.search(r"release of a lock that is not held: CPU \d releases lock_\d in work\b", message), message


def test_a_lock_that_is_never_released_ends_the_run_and_its_holder_is_named(linebounce: Program) -> None:
    message = failure(linebounce, mistake("forgotten_release"))
    assert re.search(r"CPU 0 holds lock_0, taken in take_both\b", message), message
    assert re.search(r"CPU [12] awaits lock_0\b", message), message
    assert "recursive" not in message


def test_the_failure_is_reported_with_the_seed(linebounce: Program) -> None:
    assert re.search(r"\bseed 1\b", failure(linebounce, mistake("recursive")))


# Existing but unsuitable locks: workload, parameter, lock, and what the reason must say.
UNSUITABLE = {
    "a seqlock where a reader sleeps": ("multi_user", "directory_lock", "seqlock", ["reader.*sleeps", "mutex"]),
    "a spin lock where a reader sleeps": ("multi_user", "directory_lock", "ticket", ["reader.*sleeps", "mutex"]),
    "a sleeping lock where nobody may sleep": ("multi_user", "dcache_lock", "mutex", ["may not sleep", "ttas"]),
    "readers that read again where they take a reference": ("fget", "file_lock", "seqlock", ["reference", "rwlock"]),
    "no lock where a list would break": ("locks_per_4k_write", "lock", "none", ["journal", "ttas"]),
    "no lock where nobody would wait": ("lock_mistakes", "lock", "none", ["nobody waits", "ticket"]),
}


@pytest.mark.parametrize("case", UNSUITABLE)
def test_a_lock_that_does_not_suit_is_refused_with_the_reason(linebounce: Program, case: str) -> None:
    workload, parameter, lock, says = UNSUITABLE[case]
    text = experiment(workload=f'name = "{workload}"\n{parameter} = "{lock}"')
    message = linebounce.refused("run", linebounce.file("small.toml", text), "-o", "out")
    line = line_of(text, f"{parameter} = ")
    assert f"small.toml:{line}:" in message
    assert f"workload.{parameter}" in message
    assert "is not known" not in message
    for part in [lock, *says]:
        assert re.search(part, message), f'"{part}" is not in:\n{message}'


def test_describe_says_which_locks_a_workload_refuses_and_why(linebounce: Program) -> None:
    document = json.loads(linebounce("describe", "workload", "multi_user", "--json").stdout)
    parameter = next(item for item in document["parameters"] if item["name"] == "directory_lock")
    assert "mutex" in parameter["choices"]
    assert "sleeps" in parameter["refusals"]["seqlock"]
    assert not set(parameter["choices"]) & set(parameter["refusals"])
    printed = " ".join(linebounce("describe", "workload", "multi_user").stdout.split())
    assert re.search(r"not [a-z_, ]*\bseqlock\b[a-z_, ]*: a reader of this workload sleeps", printed), printed


def test_describe_lock_shows_its_promises_and_where_it_may_be_used(linebounce: Program) -> None:
    document = json.loads(linebounce("describe", "lock", "seqlock", "--json").stdout)
    assert document["readers"] == "read_again"
    assert document["first_come_first_served"] is False
    assert {"workload": "critical_section", "parameter": "workload.lock"} in document["usable_in"]
    assert [item["parameter"] for item in document["refused_by"] if item["workload"] == "fget"] == ["workload.file_lock"]
    printed = linebounce("describe", "lock", "ticket").stdout
    assert "first come, first served" in printed
    assert "spins" in printed
    listed = {entry["name"]: entry for entry in json.loads(linebounce("list", "locks", "--json").stdout)}
    assert listed["mutex"]["sleeps"] is True
    assert listed["mcs"]["first_come_first_served"] is True
    assert listed["mcs"]["library"] == "ConcurrencyKit (ck_spinlock_mcs)"
    assert "library" not in listed["hbo"]


def test_more_cpus_than_the_machine_has_are_refused(linebounce: Program) -> None:
    path = linebounce.file("small.toml", experiment())
    message = linebounce.refused("run", path, "-o", "out", "--set", "machine.cpus=5")
    for part in ["machine.cpus", "5", "4"]:
        assert part in message
