"""Reports for runs in which points failed, and the drawings of their machines."""

from collections.abc import Callable
from pathlib import Path

import linebounce
import pytest
from experiments import experiment
from linebounce import InputError
from program import Program, Result

# An experiment on two nodes. Its first point deadlocks, so the first point of each machine has no metrics.
FAILING = experiment(
    workload='name = "lock_mistakes"\nlock = "ticket"',
    run="measure_us = 0",
    top='machine = "itanium2_two_node_16way"',
    more='[sweep]\n"workload.mistake" = [MISTAKES]\n"machine.cpus" = [2, 4]',
)

Command = Callable[..., Result]


@pytest.fixture(scope="module")
def half(session_linebounce: Program) -> Path:
    """Points 0 and 1 end in a deadlock, 2 and 3 succeed."""
    return failing_run(session_linebounce, "half", '"deadlock", "none"')


@pytest.fixture(scope="module")
def none(session_linebounce: Program) -> Path:
    return failing_run(session_linebounce, "none", '"deadlock"')


def failing_run(program: Program, name: str, mistakes: str) -> Path:
    path = program.file(f"{name}.toml", FAILING.replace("MISTAKES", mistakes))
    program.refused("run", path, "-o", name, code=4)
    return program.directory / name


def test_a_run_without_a_finished_point_says_why_it_has_nothing(
    none: Path, half: Path, command: Command, tmp_path: Path
) -> None:
    for directory in (none, half / "points" / "0"):
        why = "deadlock: CPUs wait for each other's locks (seed 1)"
        said = f"{directory}: no point of the run finished, so there are no results: {why}"
        with pytest.raises(InputError, match="no point of the run finished"):
            _ = linebounce.open(directory).lines
        report = command("report", directory, "-o", tmp_path / "page.html")
        assert (report.code, report.stderr) == (3, f"linebounce: {said}\n")
        compared = command("compare", half, directory)
        assert (compared.code, compared.stderr) == (3, f"linebounce: {said}\n")
    assert not (tmp_path / "page.html").exists()


def test_the_machine_of_a_point_that_failed_is_its_own(half: Path, command: Command, tmp_path: Path) -> None:
    assert command("report", half, "-o", tmp_path / "page.html").code == 0
    section = (tmp_path / "page.html").read_text().partition('data-section="machine"')[2].partition("</section>")[0]
    machines = section.split("<div data-machine=")[1:]
    # One node's eight CPUs are drawn. The first point uses one of them, the second two.
    assert [machine.count("not used") for machine in machines] == [7, 6]
    assert all("network of 2 nodes" in machine for machine in machines)
