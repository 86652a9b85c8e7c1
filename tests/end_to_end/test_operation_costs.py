"""The experiment on the first page: the cost of each operation on a 4-way Pentium III Xeon, beside OLS 2004, table 1."""

import re
from pathlib import Path

import pytest
from program import Program
from results import check_results_directory, paper_rows
from ways import Way, assert_every_way_agrees

# Table 1 of Sarma and McKenney, "Issues with Selected Scalability Features of the 2.6 Kernel", OLS 2004; in nanoseconds.
TABLE_1 = {
    "instruction": 0.7,
    "clock_cycle": 1.4,
    "l2_hit": 12.9,
    "atomic_increment": 58.2,
    "cmpxchg_atomic_increment": 107.3,
    "atomic_increment_cache_transfer": 113.2,
    "main_memory": 162.4,
    "cpu_local_lock": 163.7,
    "cmpxchg_blind_cache_transfer": 170.4,
    "cmpxchg_cache_transfer_and_invalidate": 360.9,
}


def costs(results: dict) -> dict[str, float]:
    """Each row of table 1 as simulated, in ns."""
    return {
        row["metric"].removeprefix("cost."): row["simulated"]
        for row in paper_rows(results).values()
        if row["id"].startswith("ols2004.table1.")
    }


@pytest.fixture(scope="module")
def as_shipped(session_linebounce: Program) -> Path:
    return session_linebounce.run("operation_costs", "operation_costs")


@pytest.fixture(scope="module")
def results(as_shipped: Path) -> dict:
    return check_results_directory(as_shipped)


def changed(program: Program, *settings: str) -> dict[str, float]:
    arguments = [part for setting in settings for part in ("--set", setting)]
    return costs(check_results_directory(program.run("operation_costs", "changed", *arguments)))


def shipped_value(directory: Path, key: str) -> float:
    """A machine parameter from the resolved configuration."""
    found = re.search(rf"^{key} = ([\d.]+)", (directory / "config.toml").read_text().split("[machine.memory]")[1], re.MULTILINE)
    return float(found.group(1))


def test_all_ten_rows_are_there_with_the_papers_figures(results: dict) -> None:
    rows = {row["metric"].removeprefix("cost."): row for row in results["paper"] if row["id"].startswith("ols2004.table1.")}
    assert {name: row["paper"] for name, row in rows.items()} == TABLE_1
    assert all(row["unit"] == "ns" for row in rows.values())


def test_calibrated_rows_are_within_three_percent(results: dict) -> None:
    calibrated = {row["id"]: row["ratio"] for row in results["paper"] if row["kind"] == "calibrated"}
    assert 1 <= len(calibrated) <= 6
    assert all(abs(ratio - 1) <= 0.03 for ratio in calibrated.values()), calibrated


def test_three_rows_are_in_sight_and_within_ten_percent(results: dict) -> None:
    """The measured programs were chosen with the table known, so these rows are not predictions."""
    rows = [row for row in results["paper"] if row["kind"] == "in_sight"]
    assert len(rows) == 3
    assert all(abs(row["ratio"] - 1) <= 0.10 for row in rows), rows
    assert not [row for row in results["paper"] if row["kind"] == "predicted"]


def test_the_clock_cycle_is_an_input(results: dict) -> None:
    (row,) = [row for row in results["paper"] if row["metric"] == "cost.clock_cycle"]
    assert row["kind"] == "input"


def test_slower_memory_costs_a_miss_just_that_and_leaves_hits_alone(
    linebounce: Program, as_shipped: Path, results: dict
) -> None:
    before = costs(results)
    after = changed(linebounce, f"machine.memory.latency_ns={shipped_value(as_shipped, 'latency_ns') + 100}")
    assert after["main_memory"] - before["main_memory"] == pytest.approx(100, rel=0.02)
    for row in ["instruction", "l2_hit", "atomic_increment", "cmpxchg_atomic_increment", "cpu_local_lock"]:
        assert after[row] == before[row]


def test_twice_the_clock_halves_an_instruction_and_a_cycle(linebounce: Program, results: dict) -> None:
    before = costs(results)
    after = changed(linebounce, "machine.cpu.clock_mhz=1400")
    assert after["instruction"] == pytest.approx(before["instruction"] / 2, rel=0.01)
    assert after["clock_cycle"] == pytest.approx(before["clock_cycle"] / 2, rel=0.01)
    assert after["main_memory"] > before["main_memory"] / 2, "memory does not become faster with the CPU"


def test_a_slower_atomic_costs_its_stated_time_which_is_measured_not_read(linebounce: Program, results: dict) -> None:
    before = costs(results)
    after = changed(linebounce, "machine.cpu.atomic_latency_cycles=109")
    assert after["atomic_increment"] > before["atomic_increment"] + 50
    assert after["atomic_increment_cache_transfer"] > before["atomic_increment_cache_transfer"]
    assert after["main_memory"] == before["main_memory"]


def test_a_slower_bus_makes_transfers_dearer_and_leaves_private_lines_alone(linebounce: Program, results: dict) -> None:
    before = costs(results)
    after = changed(linebounce, "machine.bus.clock_mhz=50")
    for row in ["main_memory", "atomic_increment_cache_transfer", "cmpxchg_cache_transfer_and_invalidate"]:
        assert after[row] > before[row]
    for row in ["instruction", "l2_hit", "atomic_increment", "cpu_local_lock"]:
        assert after[row] == before[row]


def test_with_a_machine_changed_on_the_command_line_no_row_is_judged(linebounce: Program) -> None:
    changed_run = linebounce.run("operation_costs", "changed", "--set", "machine.memory.latency_ns=200")
    rows = check_results_directory(changed_run)["paper"]
    assert rows
    assert all(row["ok"] is None for row in rows)


def test_another_engine_setting_still_judges_rows(linebounce: Program, as_shipped: Path) -> None:
    assert_every_way_agrees(linebounce, "operation_costs", plain=as_shipped, ways=[Way.RUN_AHEAD_OFF])


def test_run_prints_the_table_a_histogram_and_where_the_results_are(session_linebounce: Program, as_shipped: Path) -> None:
    printed = session_linebounce("run", "operation_costs", "-o", as_shipped)
    assert printed.code == 0
    for name, value in TABLE_1.items():
        row = next((line for line in printed.stdout.splitlines() if name in line), None)
        assert row is not None, f"{name} is not in the table"
        assert str(value) in row
    assert "local HITM" in printed.stdout
    assert str(as_shipped) in printed.stdout
    assert "\x1b" not in printed.stdout, "colours only on a terminal"


def test_reproduce_shows_paper_and_simulated_side_by_side(linebounce: Program) -> None:
    whole = linebounce("reproduce", "operation_costs")
    assert whole.code == 0, whole.stdout + whole.stderr
    assert all(str(value) in whole.stdout for value in TABLE_1.values())
    one = linebounce("reproduce", "ols2004.table1.l2_hit")
    assert one.code == 0
    assert "12.9" in one.stdout
    assert "360.9" not in one.stdout
