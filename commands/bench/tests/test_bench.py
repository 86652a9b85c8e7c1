"""`bench` reports the simulator's speed. The figures differ from run to run; the format does not."""

import json
import os
import resource
import signal
from pathlib import Path

import pytest
from program import Program, wait_until

CASES = {"private", "mixed", "contended"}
SHAPES = {(4, 1), (8, 1), (16, 1), (8, 2), (16, 4), (32, 8), (64, 16)}  # CPUs, nodes
KEYS = {
    "name",
    "cpus",
    "nodes",
    "timed_refs_per_s",
    "functional_refs_per_s",
    "ratio",
    "transactions_per_s",
    "kernel_events_per_transaction",
}
QUICK = ("--references", "20000")


def measured(linebounce: Program, *arguments: str) -> list[dict]:
    result = linebounce("bench", "--json", *QUICK, *arguments)
    assert result.code == 0, result.stderr
    document = json.loads(result.stdout)
    assert set(document) == {"cases"}
    return document["cases"]


def test_json_has_every_case_with_exactly_the_keys_of_the_contract(linebounce: Program) -> None:
    cases = measured(linebounce)
    assert {(case["name"], case["cpus"], case["nodes"]) for case in cases} == {
        (name, *shape) for name in CASES for shape in SHAPES
    } | {("replay", 1, 1)}
    assert len(cases) == len(CASES) * len(SHAPES) + 1
    for case in cases:
        assert set(case) == KEYS
        assert case["timed_refs_per_s"] > 0
        assert case["ratio"] == pytest.approx(case["timed_refs_per_s"] / case["functional_refs_per_s"])


def test_bench_can_be_limited_to_one_case_and_one_number_of_cpus(linebounce: Program) -> None:
    cases = measured(linebounce, "--case", "mixed", "--cpus", "8")
    assert [(case["name"], case["cpus"], case["nodes"]) for case in cases] == [("mixed", 8, 1), ("mixed", 8, 2)]


def test_bench_can_be_limited_to_one_number_of_nodes(linebounce: Program) -> None:
    cases = measured(linebounce, "--case", "contended", "--cpus", "8", "--nodes", "1")
    assert [(case["name"], case["cpus"], case["nodes"]) for case in cases] == [("contended", 8, 1)]


def test_a_contended_transaction_costs_at_most_four_kernel_events(linebounce: Program) -> None:
    one_bus = measured(linebounce, "--case", "contended", "--cpus", "8")[0]
    assert one_bus["nodes"] == 1
    assert 1 <= one_bus["kernel_events_per_transaction"] <= 4


def test_the_events_of_a_case_are_the_same_in_every_run(linebounce: Program) -> None:
    runs = [measured(linebounce, "--case", "contended", "--cpus", "4") for _ in range(2)]
    first, second = (cases[0]["kernel_events_per_transaction"] for cases in runs)
    assert first == second


def test_bench_prints_a_line_for_each_case(linebounce: Program) -> None:
    result = linebounce("bench", *QUICK, "--cpus", "4")
    assert result.code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == ["private", "mixed", "contended"]


def test_an_unknown_case_is_refused_with_the_known_ones(linebounce: Program) -> None:
    message = linebounce.refused("bench", "--case", "privat")
    assert all(name in message for name in CASES)


def test_a_case_that_times_out_has_failed_but_is_not_a_bug(linebounce: Program) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (1, resource.RLIM_INFINITY))

    endless = ("bench", "--case", "contended", "--cpus", "4", "--references", "1000000000")
    message = linebounce.refused(*endless, code=4, preexec_fn=limit, timeout=60)
    assert "a limit on its time" in message
    assert "bug" not in message


def test_a_crashing_case_is_reported_as_a_bug_once(linebounce: Program) -> None:
    running = linebounce.start("bench", "--case", "contended", "--cpus", "4", "--references", "1000000000")
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    wait_until(lambda: bool(children.read_text()), running)
    os.kill(int(children.read_text().split()[0]), signal.SIGSEGV)
    errors = running.communicate(timeout=60)[1]
    assert running.returncode == 70, errors
    assert errors.count("a bug in Linebounce") == 1, errors
