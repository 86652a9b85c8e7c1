"""The costs of contention are fitted to a probe's file; the file of a simulated machine gives that machine's values back."""

import re
import tomllib
from pathlib import Path

import pytest
from program import Program
from simulated_probe import BUSY, HOLD, HOLD_AFTER, INVALIDATION, Changes, SimulatedMachine, few_cpus, probe_text


def probed(linebounce: Program, machine: Path, changes: Changes) -> str:
    return probe_text(SimulatedMachine(linebounce.executable, machine, linebounce.directory, changes))


def fitted(linebounce: Program, probe: str, *arguments: str | Path) -> tuple[dict, str]:
    """The machine's values, and the report's sentences about contention."""
    linebounce.file("a.probe", probe)
    done = linebounce("calibrate", "--from", "a.probe", "-o", "fitted.toml", *arguments)
    assert done.code == 0, done.stderr
    said = " ".join(done.stdout.split("what waiting costs")[1].split())
    machine = SimulatedMachine(linebounce.executable, linebounce.directory / "fitted.toml", linebounce.directory)
    return machine.values, said


@pytest.mark.parametrize(
    ("machine", "known"),
    [
        ("epyc_7742_2socket", {HOLD: 25, HOLD_AFTER: "writes", INVALIDATION: 70, BUSY: 260}),
        ("xeon_gold_6242_2socket", {HOLD: 12, HOLD_AFTER: "compare_exchange", INVALIDATION: 40, BUSY: 300}),
        ("opteron_6172_4socket", {HOLD: 0, INVALIDATION: 30, BUSY: 115}),
    ],
)
def test_a_machine_gets_its_own_hold_invalidation_and_busy_time_back(linebounce: Program, machine: str, known: Changes) -> None:
    file = linebounce.file(f"{machine}.toml", few_cpus(machine, 2 if machine.startswith("opteron") else 3))
    values, said = fitted(linebounce, probed(linebounce, file, known), "--machine", file)
    for path, true in known.items():
        assert values[path] == (true if isinstance(true, str) else pytest.approx(true, rel=0.1)), said
    written = tomllib.loads((linebounce.directory / "fitted.toml").read_text())
    assert written["sources"]["directory.line_busy_ns"] == "calibrated: linebounce-probe a.probe"


def without_rows(probe: str, *operations: str) -> str:
    rows = probe.split("\n")
    return "\n".join(row for row in rows if not any(row.startswith(f'{{operation = "{name}"') for name in operations))


def test_what_the_file_does_not_show_stays_with_the_family_and_the_report_says_why(linebounce: Program) -> None:
    """First a file from an older probe, which has no such measurements; then one that has only stores to shared lines."""
    file = linebounce.file("measured.toml", few_cpus("generic_2socket_32core"))
    family = SimulatedMachine(linebounce.executable, file, linebounce.directory).values
    whole = probed(linebounce, file, {INVALIDATION: 60})
    values, said = fitted(linebounce, whole.split("[contended_line]")[0], "--machine", file)
    assert "an older linebounce-probe wrote it: cpu.hold_ns, bus.invalidation_clocks, directory.line_busy_ns" in said
    assert all(values[path] == family[path] for path in (HOLD, INVALIDATION, BUSY))
    values, said = fitted(linebounce, without_rows(whole, "fetch_add", "increment", "store"), "--machine", file)
    assert values[INVALIDATION] == pytest.approx(60, rel=0.1)
    assert "cpu.hold_ns was not fitted, and stays as in intel_mesh: the file has no additions or increments" in said
    assert "directory.line_busy_ns was not fitted, and stays as in intel_mesh" in said
    written = tomllib.loads((linebounce.directory / "fitted.toml").read_text())
    assert "hold_ns" not in written["cpu"]


def test_for_a_busy_time_hidden_by_a_transfer_the_report_gives_a_range(linebounce: Program) -> None:
    file = linebounce.file("measured.toml", few_cpus("generic_2socket_32core"))
    _, said = fitted(linebounce, probed(linebounce, file, {BUSY: 20}), "--machine", file)
    found = re.search(r"directory\.line_busy_ns [^;]*[;:] ([0-9.]+) to ([0-9.]+) ns (do as well|cannot be told apart)", said)
    assert found is not None, said
    assert float(found[1]) <= 20 <= float(found[2])


def test_the_fit_recovers_the_issue_shares_of_siblings(linebounce: Program) -> None:
    file = linebounce.file("measured.toml", few_cpus("xeon_gold_6242_2socket"))
    shares = {
        f"machine.cpu.{name}_pct": pct
        for name, pct in (("shared_issue", 70), ("spinning_sibling", 55), ("pausing_sibling", 90))
    }
    probe = without_rows(probed(linebounce, file, shares), "fetch_add", "increment", "store", "shared_store")
    values, _ = fitted(linebounce, probe, "--machine", file)
    assert {path: values[path] for path in shares} == shares


def test_stores_that_cost_more_than_a_hand_over_leave_the_matrix_as_it_was_measured(linebounce: Program) -> None:
    """A hand-off invalidates a copy, too, so it limits what that may cost; the report says what the stores would show."""
    file = linebounce.file("measured.toml", few_cpus("xeon_gold_6242_2socket", 2))
    probe = probed(linebounce, file, {HOLD: 12, HOLD_AFTER: "writes", INVALIDATION: 40})
    stores = re.compile(r'{operation = "shared_store".*?}')
    slow = stores.sub(lambda row: re.sub(r"(_ns = )([0-9.]+)", lambda ns: f"{ns[1]}{4 * float(ns[2])}", row[0]), probe)
    assert slow != probe
    values, said = fitted(linebounce, slow, "--machine", file)
    assert f"bus.invalidation_clocks = {values[INVALIDATION]:g} clocks, as much as the matrix leaves to it: with" in said
    table = linebounce("calibrate", "--from", "a.probe", "--machine", file, "-o", "again.toml").stdout.split("RMS of all")[0]
    kinds = re.findall(r"([+-][0-9.]+) %", table)
    assert kinds
    assert all(abs(float(off)) <= 2 for off in kinds), table


def test_rows_of_one_file_that_differ_are_named_with_their_cpus(linebounce: Program) -> None:
    file = linebounce.file("measured.toml", few_cpus("xeon_gold_6242_2socket", 2))
    probe = probed(linebounce, file, {})
    matrix = tomllib.loads(probe)["core_to_core"]["median_ns"]
    load = re.search(r'{from_cpu = (\d+), to_cpu = (\d+).*?access = "load".*?}', probe)
    assert load is not None
    giver, receiver = int(load[1]), int(load[2])

    def with_addition(times: float) -> str:
        addition = re.sub(r"(_ns = )[0-9.]+", rf"\g<1>{matrix[receiver][giver] * times:.3f}", load[0])
        return probe.replace(load[0], load[0] + ", " + addition.replace('"load"', '"fetch_add"'))

    def said(times: float) -> str:
        linebounce.file("a.probe", with_addition(times))
        done = linebounce("calibrate", "--from", "a.probe", "--machine", file, "-o", "a.toml")
        assert done.code == 0, done.stderr
        return " ".join(done.stdout.split())

    assert "contradicts itself" not in said(1.1)
    contradicted = said(1.2)
    assert f"The file contradicts itself: a hand-off between CPUs {giver} and {receiver} took" in contradicted
    assert "Measure a second time, on a quiet machine, and fit that file: linebounce-probe -o second.probe" in contradicted
