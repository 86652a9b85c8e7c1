"""Results directories read by Python: runs some of results_reader.py's executions here, many in ./dev fuzz."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from experiments import experiment
from guided_results import corpus_of
from program import ROOT, Program
from results_reader import Fuzzer, targets

FEW = 60
MANY = int(os.environ.get("LINEBOUNCE_PYTHON_EXECUTIONS", "1000000"))


@pytest.fixture(scope="module")
def good(session_linebounce: Program) -> Path:
    run = "measure_us = 30\nseeds = 2\nrecord_timeline = true\ntimeline_us = 5"
    text = experiment(run=run, more='[sweep]\n"machine.memory.latency_ns" = [100, 200]\n')
    return session_linebounce.run(session_linebounce.file("fuzzed/good.toml", text), "fuzzed/good")


def test_a_directory_without_results_is_named_in_a_one_line_error(good: Path) -> None:
    names = targets(good)
    assert {"config.toml", "lines.csv", "manifest.json", "results.json", "points/0/timeline.csv"} < {*names}
    for name in names:
        corpus = corpus_of(name)
        assert corpus, name
        fuzzer = Fuzzer(good, name, seed=1)
        for content in corpus:
            fuzzer.execute(content)
        fuzzer.run(FEW)
        fuzzer.end()
        assert fuzzer.verdicts["InputError"] > FEW / 10


@pytest.mark.parametrize("executions", [100, pytest.param(MANY, marks=pytest.mark.thorough)])
def test_changes_are_guided_by_what_they_reach(good: Path, executions: int) -> None:
    """Runs in a process of its own, which compiles the package again."""
    script = ROOT / "tests" / "fuzz" / "guided_results.py"
    path = os.pathsep.join([str(ROOT / "analysis"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(script), str(good), str(executions)]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    print(done.stdout)
    rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == targets(good)
    for name, _, _, plain, known, reached, _ in rows:
        assert 10 < int(plain) < int(known) <= int(reached), f"{name}: nothing new was reached"
