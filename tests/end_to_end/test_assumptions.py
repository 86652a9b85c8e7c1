"""Values that a machine file omits are assumed, and every answer that depends on them says so in the same words."""

import json
import re
from pathlib import Path

import pytest
from experiments import experiment
from program import MACHINES, Program
from test_contention import MINIMAL

ASSUMED = "Contention as in intel_mesh, assumed: mine names no `contention`"
LATENCIES_ALONE = MINIMAL.format(consistency="tso", protocol="mesi_snoop", clock=2000)
SHORT = "warmup_us = 5\nmeasure_us = 20\nseeds = 2"


@pytest.fixture
def machine(linebounce: Program) -> Path:
    return linebounce.file("mine.toml", LATENCIES_ALONE)


@pytest.fixture
def trace(linebounce: Program) -> Path:
    options = ["--threads", "4", "--locks", "1", "--section", "5", "--between", "200", "--shared", "50", "--accesses", "200"]
    assert linebounce("trace", "synth", "-o", "program.lbt", *options).code == 0
    return linebounce.directory / "program.lbt"


def flowing(text: str) -> str:
    """The text without the terminal's line breaks."""
    return re.sub(r"\s+", " ", text)


def test_answers_about_a_trace_say_what_they_assume(linebounce: Program, machine: Path, trace: Path) -> None:
    for command in (["trace", "replay"], ["compare-locks"], ["find-sharing"], ["advise"]):
        arguments: list[str | Path] = [*command, trace, "--machine", machine, *(["--orders", "2"] if len(command) == 1 else [])]
        result = linebounce(*arguments)
        assert result.code == 0, result.stderr
        assert flowing(result.stdout).count(ASSUMED) == 1, command
        if len(command) == 1:
            document = json.loads(linebounce(*arguments, "--json").stdout)
            said = document["machines"][0] if command == ["compare-locks"] else document
            (sentence,) = said["assumptions"]
            assert sentence.startswith(ASSUMED)


def test_a_what_if_says_what_it_assumes(linebounce: Program, machine: Path) -> None:
    text = experiment(run=SHORT, more='[sweep]\n"workload.lock" = ["tas", "mcs"]\n')
    change = linebounce.file("change.toml", re.sub(r"^machine = .*$", f'machine = "{machine}"', text, flags=re.MULTILINE))
    assert ASSUMED in flowing(linebounce("what-if", change).stdout)
    (effect,) = json.loads(linebounce("what-if", change, "--json").stdout)["experiments"]
    assert effect["assumptions"][0].startswith(ASSUMED)


def test_results_keep_their_assumptions_for_whoever_reads_them_or_runs_them_again(linebounce: Program, machine: Path) -> None:
    small = linebounce.file("small.toml", experiment(run=SHORT))
    directory = linebounce.run(small, "out", "--machine", str(machine))
    (sentence,) = json.loads((directory / "results.json").read_text())["assumptions"]
    assert sentence.startswith(ASSUMED)
    merged = linebounce("run", small, "--machine", machine, "-o", "out", "--merge")
    assert ASSUMED in flowing(merged.stdout), "`linebounce sweep` prints what the merge prints"
    assert ASSUMED in flowing(linebounce("lines", "out").stdout)
    assert json.loads(linebounce("lines", "out", "--json").stdout)["assumptions"] == [sentence]
    steps = json.loads(linebounce("steps", small, "--machine", machine, "--steps", "10").stdout)
    assert steps["assumptions"] == [sentence]
    again = linebounce.run(directory / "config.toml", "again")
    assert (again / "results.json").read_bytes() == (directory / "results.json").read_bytes()
    stated = linebounce("run", directory / "config.toml", "-o", "stated", "--set", "machine.contention=intel_ring")
    assert "assumed" not in stated.stdout


def test_swept_parameters_are_not_listed_as_assumptions(linebounce: Program, machine: Path) -> None:
    families = linebounce.file(
        "families.toml", experiment(run=SHORT, more='[sweep]\n"machine.contention" = ["ideal", "arm_mesh"]\n')
    )
    directory = linebounce.run(families, "out", "--machine", str(machine))
    assert "assumptions" not in json.loads((directory / "results.json").read_text())
    alone = linebounce.run(directory / "points/0/config.toml", "alone")
    assert "assumptions" not in json.loads((alone / "results.json").read_text())


def test_each_swept_machine_that_leaves_something_out_is_named(linebounce: Program, machine: Path) -> None:
    other = linebounce.file("other.toml", LATENCIES_ALONE.replace('"mine"', '"other"'))
    sweep = f'[sweep]\nmachine = ["{machine}", "{other}", "generic_2socket_32core"]\n'
    run = linebounce("run", linebounce.file("machines.toml", experiment(run=SHORT, more=sweep)), "-o", "out")
    assert run.code == 0, run.stderr
    assert re.findall(r"(\w+) names no `contention`", flowing(run.stdout)) == ["mine", "other"]


@pytest.mark.parametrize("name", sorted(path.stem for path in MACHINES.glob("*.toml")))
def test_a_shipped_machine_leaves_nothing_to_be_assumed(linebounce: Program, name: str) -> None:
    """If a shipped machine omitted a value, `validate` and `reproduce` would have to report assumptions: they run only
    shipped machines."""
    assert json.loads(linebounce("describe", "machine", name, "--json").stdout)["assumptions"] == []
