"""`linebounce compare` on real results: matched points, intervals over seeds, and failing conditions.

test_compare_output.py tests the order of its output.
"""

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import linebounce
import pytest
from experiments import experiment
from linebounce.compare import command
from linebounce.compare.conditions import parse_condition
from linebounce.compare.student import student_t_95
from linebounce.errors import UsageError
from program import ROOT, Program, Result
from results import read_csv
from scipy.stats import t, ttest_rel

SEEDS = experiment(run="warmup_us = 5\nmeasure_us = 20\nseeds = 4", more='[sweep]\n"machine.cpus" = [2, 4]')


@pytest.fixture(scope="module")
def runs(session_linebounce: Program) -> Path:
    """Results directories: a and b differ in their lock, a and c in their memory. d has one of their points. one_a and
    one_b have one point with one seed."""
    path = session_linebounce.file("compare/seeds.toml", SEEDS)
    one = session_linebounce.file("compare/one.toml", experiment())
    session_linebounce.run(path, "compare/a")
    session_linebounce.run(path, "compare/b", "--set", "workload.lock=mcs")
    session_linebounce.run(path, "compare/locks", "--set", 'workload.lock=["ticket", "mcs"]')
    session_linebounce.run(path, "compare/c", "--set", "machine.memory.latency_ns=300")
    session_linebounce.run(path, "compare/d", "--set", "machine.cpus=4")
    session_linebounce.run(one, "compare/one_a")
    session_linebounce.run(one, "compare/one_b", "--set", "workload.inside_cycles=80")
    session_linebounce.run(path, "compare/machines", "--set", "machine=[p3_xeon_4way,p3_xeon_8way]")
    session_linebounce.run(path, "compare/one_of_them", "--set", "machine=[p3_xeon_8way]")
    session_linebounce.run("operation_costs", "compare/costs")
    directory = session_linebounce.directory / "compare"
    shutil.copytree(directory / "one_b", directory / "other_metrics")
    results = json.loads((directory / "other_metrics" / "results.json").read_text())
    for point in results["points"]:
        point["metrics"] = {f"other.{name}": metric for name, metric in point["metrics"].items()}
    (directory / "other_metrics" / "results.json").write_text(json.dumps(results))
    _without(directory, "b", "failed", lambda _: True)
    _without(directory, "b", "half", lambda metric: metric == "throughput.operations_per_s")
    _without(directory, "one_b", "half_of_one", lambda metric: metric == "throughput.operations_per_s")
    return directory


def _without(directory: Path, run: str, name: str, gone: Callable[[str], bool]) -> None:
    """Removes metrics from a run's last point. A point without any metric counts as failed."""
    shutil.copytree(directory / run, directory / name)
    results = json.loads((directory / name / "results.json").read_text())
    metrics = results["points"][-1]["metrics"]
    results["points"][-1]["metrics"] = {metric: metrics[metric] for metric in metrics if not gone(metric)}
    (directory / name / "results.json").write_text(json.dumps(results))


def compare(directory: Path, *arguments: str) -> Result:
    """Runs the command in a separate process, as from a shell."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "analysis")}
    command_line = [sys.executable, "-m", "linebounce.compare.command", *arguments]
    done = subprocess.run(command_line, cwd=directory, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def here(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(runs)
    return runs


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert command.main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("here")
def test_differences_are_paired_over_seeds(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    rows = document(capsys, "a", "b")["rows"]
    metric = "throughput.operations_per_s"
    at = {"machine.cpus": 4}
    change = next(row for row in rows if row["metric"] == metric and row["at"] == at)["changes"][0]
    sides = []
    for name in ["a", "b"]:
        of_seeds = {
            row["seed"]: float(row["value"])
            for row in read_csv(runs / name / "seeds.csv")
            if row["metric"] == metric and row["point"] == "1"
        }
        sides.append([of_seeds[seed] for seed in sorted(of_seeds)])
    interval = ttest_rel(sides[1], sides[0]).confidence_interval(0.95)
    assert change["difference"] == pytest.approx((interval.low + interval.high) / 2)
    assert change["ci95"] == pytest.approx((interval.high - interval.low) / 2)
    assert change["significant"] == (interval.low > 0 or interval.high < 0)


def test_students_quantile_is_scipys() -> None:
    for degrees in (*range(1, 32), 99, 100, 1000):
        assert student_t_95(degrees) == pytest.approx(t.ppf(0.975, degrees), rel=1e-12)


@pytest.mark.usefixtures("here")
def test_the_largest_change_comes_first_and_those_that_chance_explains_last(capsys: pytest.CaptureFixture[str]) -> None:
    rows = document(capsys, "a", "b")["rows"]
    chance = [row["changes"][0]["significant"] is False for row in rows]
    assert chance == sorted(chance)
    sizes = [
        abs(row["changes"][0]["value"] - row["base"]) / max(abs(row["base"]), abs(row["changes"][0]["value"]), 1e-300)
        for row, explained in zip(rows, chance, strict=True)
        if not explained and ".peaks." not in row["metric"]
    ]
    assert len(sizes) > 20
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.usefixtures("here")
def test_numbered_peaks_do_not_lead_the_list_of_changes(capsys: pytest.CaptureFixture[str]) -> None:
    """Peaks are numbered in order, so one more peak renumbers, and thereby changes, all later ones."""
    rows = document(capsys, "one_a", "one_b")["rows"]
    numbered = [".peaks." in row["metric"] and not row["metric"].endswith("count") for row in rows]
    assert any(numbered)
    assert numbered == sorted(numbered)


@pytest.mark.usefixtures("here")
def test_means_are_of_the_seeds_that_both_have(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    gone = "1,4,throughput.operations_per_s,"
    lines = (runs / "b" / "seeds.csv").read_text().splitlines(keepends=True)
    assert any(line.startswith(gone) for line in lines)
    (runs / "b" / "seeds.csv").write_text("".join(line for line in lines if not line.startswith(gone)))
    try:
        rows = document(capsys, "a", "b")["rows"]
    finally:
        (runs / "b" / "seeds.csv").write_text("".join(lines))
    row = next(row for row in rows if row["metric"] == "throughput.operations_per_s" and row["at"] == {"machine.cpus": 4})
    assert row["changes"][0]["value"] - row["base"] == pytest.approx(row["changes"][0]["difference"])


@pytest.mark.usefixtures("here")
def test_points_are_matched_by_their_swept_values(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "a", "d")
    assert {row["at"]["machine.cpus"] for row in found["rows"]} == {4}
    assert found["headlines"][0]["metric"] == "throughput.operations_per_s"
    assert all(row["changes"][0]["difference"] == 0 for row in found["rows"])
    assert "1 point is in a or d alone" in found["notes"][0]


@pytest.mark.usefixtures("here")
def test_a_run_on_several_machines_is_called_by_them_and_differs_in_no_setting_of_the_experiments_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.main(["machines", "one_of_them"]) == 0
    said = capsys.readouterr().out
    assert "p3_xeon_4way, p3_xeon_8way" in said
    assert "differs in machine." not in said


def test_three_runs_stand_side_by_side_in_terminal_and_page(runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "pages" / "compare.html"
    result = compare(runs, "a", "b", "c", "-o", str(page))
    assert result.code == 0, result.stderr
    assert "locks.section_lock" in result.stdout
    assert " *" in result.stdout
    assert "more metrics at 2 points, " in result.stdout
    text = page.read_text()
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    for part in ["throughput.operations_per_s", "machine.cpus = 4", '<th scope="col">C</th>', "±"]:
        assert part in text


@pytest.mark.usefixtures("here")
def test_one_sweep_is_compared_by_its_locks(capsys: pytest.CaptureFixture[str]) -> None:
    """Comparing a sweep's points by lock gives the same as comparing two runs with one lock each, because all use the
    same seeds."""
    parts = document(capsys, "locks", "--by", "lock")
    runs = document(capsys, "a", "b")
    assert [parts["base"], *parts["others"]] == ["locks ticket", "locks mcs"]
    assert parts["answers"][0]["differences"] == ["workload.lock ticket -> mcs"]
    assert [row["at"] for row in parts["rows"]] == [row["at"] for row in runs["rows"]]
    assert [row["changes"] for row in parts["rows"]] == [row["changes"] for row in runs["rows"]]


@pytest.mark.usefixtures("here")
def test_one_sweep_compared_by_its_locks_has_every_point_and_a_page(runs: Path) -> None:
    said = compare(runs, "locks", "--by", "lock", "-o", "by_lock.html").stdout
    throughput = [line.split()[0] for line in said.splitlines() if " throughput.operations_per_s " in line]
    assert throughput == [str(value) for value in linebounce.open(runs / "locks").swept()["machine.cpus"]]
    page = (runs / "by_lock.html").read_text()
    assert "ticket" in page
    assert "Misses by latency" in page


def test_a_comparison_by_locks_calls_them_by_their_names(runs: Path) -> None:
    said = compare(runs, "locks", "--by", "workload.lock").stdout
    assert "with ticket, " in said
    assert "mcs is " in said


@pytest.mark.usefixtures("here")
def test_runs_without_seeds_have_no_interval(capsys: pytest.CaptureFixture[str]) -> None:
    rows = document(capsys, "one_a", "one_b")["rows"]
    assert all(row["changes"][0]["ci95"] is None for row in rows)
    assert any(row["changes"][0]["difference"] != 0 for row in rows)


@pytest.mark.parametrize(
    ("condition", "held"),
    [
        ("latency.local_memory.mean_ns > +5%", True),
        ("latency.local_memory.mean_ns > +500%", False),
        ("latency.local_memory.mean_ns < -5%", False),
        ("throughput.operations_per_s < -1%", True),
        ("latency.local_memory.mean_ns > +50", True),
        ("latency.local_memory.mean_ns > 100", True),
        ("latency.local_memory.mean_ns < 100", False),
        ("section.lost_updates > 0", False),
    ],
)
def test_a_condition_that_holds_is_exit_code_1(
    here: Path, capsys: pytest.CaptureFixture[str], condition: str, held: bool
) -> None:
    assert here
    assert command.main(["a", "c", "--fail-on", condition]) == held
    said = capsys.readouterr().err
    assert (f"failed on {condition}: c at machine.cpus = 4" in said) == held


@pytest.mark.parametrize(
    ("runs_compared", "said"),
    [
        (["a", "failed"], "failed at machine.cpus = 4: nothing to compare, for the point failed in failed"),
        (["failed", "a"], "a at machine.cpus = 4: nothing to compare, for the point failed in failed"),
        (["a", "b", "half"], "half at machine.cpus = 4: nothing to compare, for half does not have the metric here"),
        (["half", "b"], "b at machine.cpus = 4: nothing to compare, for half does not have the metric here"),
        (["a", "d"], "d at machine.cpus = 2: nothing to compare, for d does not have this point"),
    ],
)
def test_a_condition_that_cannot_be_judged_at_a_point_is_exit_code_1(
    here: Path, capsys: pytest.CaptureFixture[str], runs_compared: list[str], said: str
) -> None:
    assert here
    condition = "throughput.operations_per_s > +9999%"
    assert command.main([*runs_compared, "--fail-on", condition, "--json"]) == 1
    shown = capsys.readouterr()
    assert shown.err == f"linebounce: failed on {condition}: {said}\n"
    assert json.loads(shown.out)["failed"][0]["value"] is None


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("runs_compared", [["a", "failed"], ["failed", "failed"], ["a", "d"]])
def test_a_point_that_cannot_be_compared_is_counted_once(capsys: pytest.CaptureFixture[str], runs_compared: list[str]) -> None:
    notes = document(capsys, *runs_compared)["notes"]
    assert notes[0] == f"1 point is in {' or '.join(runs_compared)} alone, or failed"


@pytest.mark.usefixtures("here")
def test_a_metric_that_the_base_alone_has_is_missing_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    """The metric is known, so naming it is not a mistake. A point at which both directories lack it is skipped."""
    assert command.main(["a", "b", "--fail-on", "locks.section_lock.con_pct > +9999%"]) == 0
    assert command.main(["one_a", "half_of_one", "--fail-on", "throughput.operations_per_s > 1"]) == 1
    assert "half_of_one does not have the metric here" in capsys.readouterr().err


def test_json_with_a_condition_that_holds_is_still_one_document(runs: Path) -> None:
    result = compare(runs, "a", "c", "--json", "--fail-on", "latency.local_memory.mean_ns > +5%")
    assert result.code == 1
    failed = json.loads(result.stdout)["failed"]
    assert {hit["at"]["machine.cpus"] for hit in failed} <= {2, 4}
    assert failed[0]["condition"] == "latency.local_memory.mean_ns > +5%"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (["a", "costs"], 2, "have no point in common"),
        (["one_a", "other_metrics"], 2, "share no metric"),
        (["a", "nowhere"], 3, "there is no such results directory"),
        (["a"], 2, "A --by PATH"),
        (["a", "b", "--by", "cpus"], 2, "A --by PATH"),
        (["one_a", "--by", "lock"], 2, "only one point, so there is nothing to compare"),
        (["d", "--by", "cpus"], 2, "machine.cpus has one value only, 4"),
        (["locks", "--by", "workload.lokc"], 2, "workload.lokc is not swept; did you mean workload.lock?"),
        (["a", "b", "--fail-on", "throughput.operation_per_s < -1%"], 2, "operations_per_s or throughput.operations?"),
        (["a", "b", "--fail-on", "throughput.operations_per_s < 5%"], 2, "needs its sign"),
        (["a", "b", "--fail-on", "throughput.operations_per_s = 5"], 2, "legal: METRIC > +5%"),
        (["a", "b", "-o", "/proc/none.html"], 2, "/proc/none.html"),
    ],
)
def test_an_impossible_comparison_is_a_one_line_error(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, part: str
) -> None:
    assert command.main(arguments) == code
    said = capsys.readouterr().err
    assert part in said
    assert said.count("\n") == 1


def test_conditions_are_parsed_as_they_are_documented() -> None:
    assert parse_condition("a.b>+5%").holds(0, 0.1), "from 0, every rise is above every percentage"
    assert not parse_condition("a.b > +5%").holds(0, 0)
    assert parse_condition("a.b < -.5").holds(2, 1)
    assert parse_condition("a.b > -5%").holds(100, 99)
    assert not parse_condition("a.b > 20").holds(30, 20)
    assert math.isclose(parse_condition("locks.x[3].y < -2.5%").limit, -2.5)
    for wrong in ["", "a.b", "a.b >", "> 5", "a.b > five", "a.b >> 5", "a.b > 5%", "a.b > + 5"]:
        with pytest.raises(UsageError):
            parse_condition(wrong)
