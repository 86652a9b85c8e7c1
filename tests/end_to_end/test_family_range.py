"""On a machine of the user's own, the contention family's values are varied, and the answer says whether its order survives."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from experiments import experiment
from program import ROOT, Program
from test_contention import MINIMAL

SWEEP = '[sweep]\n"workload.lock" = ["tas", "mcs"]\n"machine.cpus" = [2, 4]\n'
SHORT = "warmup_us = 5\nmeasure_us = 30\nseeds = 2"
FAMILIES = sorted((ROOT / "configs" / "families").glob("*.toml"))


@pytest.fixture
def machine(linebounce: Program) -> Path:
    return linebounce.file("mine.toml", MINIMAL.format(consistency="tso", protocol="mesi_snoop", clock=2000))


@pytest.fixture
def locks(linebounce: Program, machine: Path) -> Path:
    text = re.sub(r"^machine = .*$", f'machine = "{machine}"', experiment(run=SHORT, more=SWEEP), flags=re.MULTILINE)
    return linebounce.file("locks.toml", text)


def answer(directory: Path) -> str:
    text: str = json.loads((directory / "results.json").read_text())["answer"]["text"]
    return text


def test_the_answer_says_whether_the_order_survives_the_familys_range(linebounce: Program, locks: Path) -> None:
    run = linebounce("run", locks, "-o", "out")
    assert run.code == 0, run.stderr
    directory = linebounce.directory / "out"
    said = answer(directory)
    assert re.search(r"The order (survives all|does not survive the) \d+ changes in what is taken from intel_mesh", said)
    assert re.sub(r"\s+", " ", run.stdout).count("taken from intel_mesh") == 1
    # For each of the two locks: one point with the assumed values, and one for each value of the range. All have the answer's
    # 4 CPUs.
    range_points = json.loads((directory / "family_range" / "results.json").read_text())["points"]
    family = tomllib.loads((ROOT / "configs" / "families" / "intel_mesh.toml").read_text())
    alone = sum(len(values) for path, values in family["ranges"].items() if "sibling" not in path and "issue" not in path)
    assert 2 * (1 + alone - len(family["ranges"]["directory.line_busy_ns"])) <= len(range_points) <= 2 * (1 + alone)
    assert {point["at"]["workload.lock"] for point in range_points} == {"tas", "mcs"}
    config = tomllib.loads((directory / "family_range" / "config.toml").read_text())
    assert config["machine"]["cpus"] == 4
    # The second time nothing is simulated, and the sentence is the same. The resolved configuration gives the same results.
    again = linebounce("run", locks, "-o", "out")
    assert "were there already" in again.stdout
    assert answer(directory) == said
    repeated = linebounce("run", directory / "config.toml", "-o", "repeated")
    assert repeated.code == 0, repeated.stderr
    assert (linebounce.directory / "repeated" / "results.json").read_bytes() == (directory / "results.json").read_bytes()


def test_the_familys_range_can_be_left_out_and_is_not_run_for_a_shipped_machine(linebounce: Program, locks: Path) -> None:
    linebounce("run", locks, "-o", "without", "--no-family-range")
    assert "taken from" not in answer(linebounce.directory / "without")
    linebounce("run", locks, "-o", "shipped", "--machine", "generic_2socket_32core")
    assert "taken from" not in answer(linebounce.directory / "shipped")
    assert not (linebounce.directory / "shipped" / "family_range").exists()


def test_values_that_the_machines_file_states_are_not_varied(linebounce: Program, locks: Path, machine: Path) -> None:
    stated = machine.read_text().replace("[cpu]", "[cpu]\npause_cycles = 140\nspin_exit_cycles = 25\nownership_prefetch = true")
    linebounce.file("mine.toml", stated)
    linebounce("run", locks, "-o", "out")
    config = tomllib.loads((linebounce.directory / "out" / "family_range" / "config.toml").read_text())
    varied = {path for axis in config["sweep"]["together"] for path in axis}
    assert not varied & {"machine.cpu.pause_cycles", "machine.cpu.spin_exit_cycles", "machine.cpu.ownership_prefetch"}
    assert {"machine.cpu.hold_ns", "machine.bus.next", "workload.lock"} <= varied


def test_fresh_removes_the_runs_over_the_range(linebounce: Program, locks: Path) -> None:
    linebounce("run", locks, "-o", "out")
    linebounce("run", locks, "-o", "out", "--fresh", "--no-family-range")
    directory = linebounce.directory / "out"
    assert not (directory / "family_range").exists()
    assert not (directory / "family_range.json").exists()
    assert "taken from" not in answer(directory)


def test_compare_locks_says_whether_its_recommendation_survives(linebounce: Program, machine: Path) -> None:
    synth = ["--threads", "4", "--locks", "1", "--section", "5", "--between", "200", "--shared", "50", "--accesses", "400"]
    assert linebounce("trace", "synth", "-o", "program.lbt", *synth, "--lock", "tas").code == 0
    result = linebounce("compare-locks", "program.lbt", "--machine", machine, "--json")
    assert result.code == 0, result.stderr
    (document,) = json.loads(result.stdout)["machines"]
    assert document["confirmation"], "tas is not the best of all locks"
    assert re.search(
        r"order (survives all|does not survive the) \d+ changes in what is taken from intel_mesh", document["advice"]
    )
    shipped = linebounce("compare-locks", "program.lbt", "--machine", "generic_2socket_32core", "--json")
    assert json.loads(shipped.stdout)["machines"][0]["family_range"] == ""


@pytest.mark.parametrize("path", FAMILIES, ids=lambda path: path.stem)
def test_a_familys_range_has_other_values_of_its_own_parameters(linebounce: Program, path: Path) -> None:
    document = json.loads(linebounce("describe", "family", path.stem, "--json").stdout)
    ranges = tomllib.loads(path.read_text()).get("ranges", {})
    assert (path.stem == "ideal") == (not ranges), "a textbook's machine has no range"
    for parameter in document["parameters"]:
        assert parameter["range"] == ranges.get(parameter["path"].removeprefix("machine."), [])
        assert parameter["value"] not in parameter["range"]
