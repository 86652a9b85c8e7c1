"""Results directories read by Python: runs some of results_reader.py's executions here, many in ./dev fuzz."""

import os
from pathlib import Path

import pytest
from experiments import experiment
from program import Program
from results_reader import Fuzzer, targets

MANY = int(os.environ.get("LINEBOUNCE_PYTHON_EXECUTIONS", "20000"))


@pytest.fixture(scope="module")
def good(session_linebounce: Program) -> Path:
    run = "measure_us = 30\nseeds = 2\nrecord_timeline = true\ntimeline_us = 5"
    text = experiment(run=run, more='[sweep]\n"machine.memory.latency_ns" = [100, 200]\n')
    return session_linebounce.run(session_linebounce.file("fuzzed/good.toml", text), "fuzzed/good")


@pytest.mark.parametrize("executions", [60, pytest.param(MANY, marks=pytest.mark.thorough)])
def test_a_directory_without_results_is_named_in_a_one_line_error(good: Path, executions: int) -> None:
    names = targets(good)
    assert {"config.toml", "lines.csv", "manifest.json", "results.json", "points/0/timeline.csv"} < {*names}
    for name in names:
        fuzzer = Fuzzer(good, name, seed=1, guided=executions == MANY)
        fuzzer.run(executions)
        fuzzer.end()
        assert fuzzer.verdicts["InputError"] > executions / 10
