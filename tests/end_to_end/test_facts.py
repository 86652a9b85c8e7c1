"""The facts of probe/facts: the simulator keeps those that their heads name, and linebounce-probe runs the same files."""

import os
import re
import subprocess
from pathlib import Path

import facts
import pytest
from program import ROOT, Program

FILES = sorted(facts.FACTS.glob("*.fact"))


def test_there_are_a_dozen_and_each_says_where_it_was_measured_and_simulated() -> None:
    assert len(FILES) >= 12
    for file in FILES:
        fact = facts.read(file)
        assert "# Measured: " in file.read_text(), file
        assert len(fact.holds) >= 2, file
        assert sorted(fact.holds + fact.fails) == sorted(facts.MACHINES), file
        assert fact.claims, file


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_fact_holds_where_its_head_says_so(linebounce: Program, file: Path) -> None:
    fact = facts.read(file)
    for machine in ("epyc_7773x_1socket", "xeon_gold_6242_2socket"):
        held, ns = facts.holds(fact, machine, linebounce.executable)
        assert held == (machine in fact.holds), (machine, ns)


def probe(linebounce: Program, *files: Path) -> subprocess.CompletedProcess[str]:
    command = [linebounce.executable.with_name("linebounce-probe"), "--quick", "--facts", *files]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="the probe needs two CPUs")
def test_the_probe_runs_the_same_files(linebounce: Program) -> None:
    done = probe(linebounce, *FILES)
    assert done.returncode in (0, 1), done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(FILES)
    for line, file in zip(lines, FILES, strict=True):
        assert re.match(rf"(holds|FAILS|untried) +{re.escape(str(file))}: ", line), line
    failing = any(line.startswith("FAILS") for line in lines)
    assert done.returncode == int(failing)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="the probe needs two CPUs")
def test_a_claim_that_fails_is_said_and_gives_exit_code_1(linebounce: Program) -> None:
    file = linebounce.file("wrong.fact", "one: 1 cpu: add apart\ntwo: 1 cpu: add apart; compute 1000\nclaim: one > 2 * two\n")
    done = probe(linebounce, file)
    assert done.returncode == 1, done.stdout
    assert done.stdout.startswith("FAILS")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("one: 1 cpu: subtract word\n", ":1: an operation"),
        ("one: 1 cpu: add here\n", ":1: word, mine or apart"),
        ("one: add word\n", ":1: a program is"),
        ("# a head\none: 1 cpu: add word\nclaim: one > two\n", ":3: a claim is"),
        ("one: 1 cpu: add word\nclaim: one > 1 * two\n", ":2: a claim needs programs"),
        ("one: 1 cpu: add word\n", "no claim"),
        ("nothing\n", ":1: neither"),
    ],
)
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="the probe needs two CPUs")
def test_a_wrong_file_is_refused_with_its_line(linebounce: Program, text: str, said: str) -> None:
    done = probe(linebounce, linebounce.file("wrong.fact", text))
    assert done.returncode == 2
    assert said in done.stderr, done.stderr


def test_the_simulated_program_knows_the_probes_operations() -> None:
    named = re.search(r"fact_operations\[kFactOperations\] = \{(.*?)\}", (ROOT / "probe" / "facts.h").read_text(), re.DOTALL)
    assert named
    operations = re.findall(r'"(\w+)"', named[1])
    assert "add" in operations
    lua = (ROOT / "programs" / "fact.lua").read_text()
    assert all(re.search(rf'\b{name} = function|"{name}"', lua) for name in operations)
