"""The run's answer is the same sentence everywhere, about one point; also sweeps on the command line, and `ab`."""

import json
import re
from pathlib import Path

import pytest
from program import ROOT, Program

LOCKS = """
name    = "locks"
title   = "Two locks"
machine = "p3_xeon_4way"
[workload]
name = "critical_section"
[run]
measure_us = 100
seeds      = 3
[sweep]
"workload.lock" = ["ticket", "mcs"]
"machine.cpus"  = [1, 4]
"""

WHO_WAITS = """
[question]
text    = "Who waits least?"
metric  = "locks.section_lock.wait_mean_us"
compare = "machine.cpus"
"""


def results_of(directory: Path) -> dict:
    return json.loads((directory / "results.json").read_text())


def test_the_terminal_prints_the_answer_of_results_json_and_the_point_that_it_speaks_of(linebounce: Program) -> None:
    printed = linebounce("run", linebounce.file("locks.toml", LOCKS), "-o", "out").stdout
    answer = results_of(linebounce.directory / "out")["answer"]
    assert answer["text"].startswith("At 4 CPUs ")
    assert answer["text"] in printed
    assert answer["why"] in printed
    assert (answer["compared"], answer["over"]) == ("workload.lock", "machine.cpus")
    assert f"\n  Point {answer['point']}: " in printed
    shown = json.loads(linebounce("lines", "out", "--json").stdout)
    assert shown["point"] == answer["point"]


def test_the_winner_is_the_best_at_equal_cpus(linebounce: Program) -> None:
    """A single CPU never waits, so its throughput with any lock is higher than that of four CPUs together."""
    linebounce("run", linebounce.file("locks.toml", LOCKS), "-o", "out")
    results = results_of(linebounce.directory / "out")
    best = results["points"][results["answer"]["point"]]
    rate = "throughput.operations_per_s"
    others = [point for point in results["points"] if point["at"]["machine.cpus"] == 4]
    assert best["at"]["machine.cpus"] == 4
    assert best["metrics"][rate]["value"] == max(point["metrics"][rate]["value"] for point in others)


def test_why_is_the_difference_in_time_per_operation(linebounce: Program) -> None:
    """The lock is never free, so an operation (1 / rate) takes the time of a hold plus that of the hand-off."""
    linebounce("run", linebounce.file("locks.toml", LOCKS), "-o", "out", "--machine", "p3_xeon_8way", "--set", "machine.cpus=8")
    results = results_of(linebounce.directory / "out")
    answer = results["answer"]
    said = re.match(
        r"Under (\w+) section_lock changes hands in ([\d.]+) (ns|µs), under (\w+) in ([\d.]+) (ns|µs)", answer["why"]
    )
    assert said, answer["why"]
    for lock, amount, unit in (said.group(1, 2, 3), said.group(4, 5, 6)):
        metrics = next(point["metrics"] for point in results["points"] if point["at"]["workload.lock"] == lock)
        free = 1 - metrics["locks.section_lock.util_pct"]["value"] / 100
        between_ns = free * 1e9 / metrics["throughput.operations_per_s"]["value"]
        assert float(amount) * (1000 if unit == "µs" else 1) == pytest.approx(between_ns, rel=0.01)


def test_a_list_on_the_command_line_is_a_sweep(linebounce: Program) -> None:
    linebounce.file("locks.toml", LOCKS)
    run = ("run", "locks.toml", "-o", "out", "--set", "machine.bus.clock_mhz=[100,133]", "--set", "workload.lock=[tas, clh]")
    assert linebounce(*run, "--set", "machine.cpus=2", "--set", "run.seeds=1").code == 0
    points = results_of(linebounce.directory / "out")["points"]
    places = {(point["at"]["machine.bus.clock_mhz"], point["at"]["workload.lock"]) for point in points}
    assert places == {(100, "tas"), (100, "clh"), (133, "tas"), (133, "clh")}
    linebounce("run", "locks.toml", "-o", "machines", "--set", "machine=[p3_xeon_4way,p3_xeon_8way]", "--set", "run.seeds=1")
    answer = results_of(linebounce.directory / "machines")["answer"]["text"]
    assert "p3_xeon_4way" in answer
    assert "p3_xeon_8way" in answer
    assert "expected a list of values" in linebounce.refused("run", "locks.toml", "--set", "machine.cpus=[]")


def test_ab_compares_two_settings_with_the_same_seeds(linebounce: Program) -> None:
    linebounce.file("locks.toml", LOCKS)
    sides = ("--set", "machine.bus.clock_mhz=100", "--set", "machine.bus.clock_mhz=133")
    once = ("--set", "workload.lock=mcs", "--set", "machine.cpus=4")
    printed = linebounce("ab", "locks.toml", *sides, *once, "-o", "out").stdout
    results = results_of(linebounce.directory / "out")
    assert results["answer"]["compared"] == "machine.bus.clock_mhz"
    assert re.search(r"At 4 CPUs clock_mhz = 133 is fastest: .* ±\d+ % more than clock_mhz = 100, the runner-up", printed), (
        printed
    )
    assert "5 seeds each" in printed
    other = ("--set", "machine.bus.clock_mhz=100", "--set", "machine.bus.clock_mhz=200")
    kept = (linebounce.directory / "out" / "results.json").read_bytes()
    assert "--fresh" in linebounce.refused("ab", "locks.toml", *other, *once, "-o", "out")
    assert (linebounce.directory / "out" / "results.json").read_bytes() == kept, "results that the user named stay"
    assert "two values" in linebounce.refused("ab", "locks.toml", *once)
    assert "one at a time" in linebounce.refused("ab", "locks.toml", *sides, *once, "--set", "machine.cpus=2")


def test_a_question_chooses_the_metric_and_the_alternatives(linebounce: Program) -> None:
    asked = (
        LOCKS + '[question]\ntext = "Who waits least?"\nmetric = "locks.section_lock.wait_mean_us"\ncompare = "machine.cpus"\n'
    )
    printed = linebounce("run", linebounce.file("asked.toml", asked), "-o", "out").stdout
    answer = results_of(linebounce.directory / "out")["answer"]
    assert answer["question"] == "Who waits least?"
    assert answer["metric"] == "locks.section_lock.wait_mean_us"
    assert answer["compared"] == "machine.cpus"
    assert answer["text"] in printed
    wrong = asked.replace('= "machine.cpus"', '= "machine.bus.clock_mhz"')
    refused = linebounce.refused("run", linebounce.file("wrong.toml", wrong), "-o", "wrong")
    assert re.search(r'wrong\.toml:\d+:\d+: question\.compare: "machine\.bus\.clock_mhz" is not swept', refused), refused


def test_similar_warnings_become_one_sentence_and_files_are_called_by_their_names(linebounce: Program) -> None:
    lock = linebounce.file("my_lock.lua", (ROOT / "programs/locks/mcs.lua").read_text(encoding="utf-8"))
    settings = ("--set", f"workload.lock=[{lock},mcs]", "--set", "run.measure_us=20", "--set", "run.seeds=1")
    printed = linebounce("run", linebounce.file("locks.toml", LOCKS), "-o", "out", *settings).stdout
    assert str(linebounce.directory / "my_lock.lua") not in printed
    assert "my_lock" in printed
    assert printed.count("WARNING") == 1, printed
    assert "few operations were measured" in printed


def test_an_experiment_that_sweeps_something_else_does_not_inherit_a_question(linebounce: Program) -> None:
    base = LOCKS + '[question]\ntext = "Who waits least?"\ncompare = "machine.cpus"\n'
    linebounce.file("base.toml", base)
    linebounce.file(
        "mine.toml", 'name = "mine"\ntitle = "t"\nextends = "base.toml"\n[sweep]\n"workload.lock" = ["mcs", "ttas"]\n'
    )
    plan = linebounce("run", "mine.toml", "--plan")
    assert plan.code == 0, plan.stderr
    linebounce.file("asks.toml", 'name = "asks"\ntitle = "t"\nextends = "mine.toml"\n[question]\ncompare = "machine.cpus"\n')
    assert "is not swept" in linebounce.refused("run", "asks.toml", "--plan")


# Each sweeps other words or numbers, too, which are places in which its question is asked.
QUESTIONS = {
    "counter_scaling": ("workload.counter", "machine.cpus=[1,2]"),
    "far_atomics": ("machine.bus.protocol", "machine.cpus=[1,2]"),
    "migratory_reads": ("machine.bus.protocol", "machine.cpus=[1,2]"),
    "contention/hold": ("machine.cpu.hold_ns", "machine.cpus=2"),
    "contention/home_busy": ("machine.directory.line_busy_ns", "machine.cpus=[2,4]"),
    "contention/spin_exit": ("machine.cpu.spin_exit_cycles", "machine.cpus=2"),
    "validation/ring": ("workload.remembered", "run.seeds=1"),
}


@pytest.mark.parametrize("experiment", QUESTIONS)
def test_a_shipped_experiment_answers_its_own_question(linebounce: Program, experiment: str) -> None:
    compared, setting = QUESTIONS[experiment]
    short = ("--set", setting, "--set", "run.measure_us=5", "--set", "run.warmup_us=0")
    results = linebounce.run(experiment, "out", *short, "--quiet")
    answer = json.loads((results / "results.json").read_text())["answer"]
    assert answer["question"].endswith("?")
    assert answer["compared"] == compared
