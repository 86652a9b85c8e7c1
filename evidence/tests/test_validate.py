"""`linebounce validate`: fitted and predicted rows on one page, the results of first runs, and the papers' rows beside them."""

import json
import os
from pathlib import Path

import pytest
from program import ROOT, Program, Result

LOCKS = """\
name    = "validation/locks"
title   = "Two locks"
family  = "lock"
machine = "p3_xeon_4way"

[workload]
name           = "critical_section"
outside_cycles = 20000

[run]
warmup_us  = 20
measure_us = 100
seeds      = 4

[sweep]
"workload.lock" = ["tas", "mcs"]
"machine.cpus"  = [1, 4]

[[paper]]
id          = "mail.crowded"
metric      = "throughput.operations_per_s"
at          = { "workload.lock" = "tas", "machine.cpus" = 4 }
relative_to = { "machine.cpus" = 1 }
sign        = "gain"
broken_by   = "one_cpu"
source      = "a mail"

[[paper]]
id          = "mail.mcs_alone"
metric      = "throughput.operations_per_s"
at          = { "workload.lock" = "mcs", "machine.cpus" = 1 }
relative_to = { "workload.lock" = "tas" }
value       = 9
tolerance   = 0.1
why_off     = "nobody has measured this"
source      = "a mail"

[[paper]]
id     = "mail.scaling"
metric = "throughput.operations_per_s"
at     = { "workload.lock" = "tas" }
shape  = "increasing"
over   = "machine.cpus"
source = "a mail"
"""
FITTED = """\
name    = "latencies/p3_xeon_4way"
title   = "What it was fitted to"
family  = "latency"
machine = "p3_xeon_4way"

[workload]
name = "operation_costs"

[[paper]]
id        = "p3.l2_hit"
metric    = "cost.l2_hit"
value     = 12.9
tolerance = 0.03
kind      = "calibrated"
source    = "OLS 2004, table 1"
"""
DOCUMENT = FITTED.replace("latencies/p3_xeon_4way", "table").replace('family  = "latency"\n', "").replace("p3.l2", "ols2004.l2")


class Project:
    """A project with its own experiments."""

    def __init__(self, linebounce: Program) -> None:
        self.linebounce = linebounce
        self.root = linebounce.directory / "project"
        experiments = self.root / "configs/experiments"
        (self.root / "configs").mkdir(parents=True)
        (self.root / "models").symlink_to(ROOT / "models")
        for folder in ("machines", "families", "layouts", "figures"):
            (self.root / "configs" / folder).symlink_to(ROOT / "configs" / folder)
        for name, text in (("validation/locks", LOCKS), ("latencies/p3_xeon_4way", FITTED), ("table", DOCUMENT)):
            self.write(experiments / f"{name}.toml", text)
        self.record = experiments / "validation/records/locks.json"

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def change(self, name: str, old: str, new: str) -> None:
        path = self.root / f"configs/experiments/{name}.toml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def __call__(self, *arguments: str) -> Result:
        return self.linebounce(*arguments, env=os.environ | {"LINEBOUNCE_ROOT": str(self.root)})


@pytest.fixture
def project(linebounce: Program) -> Project:
    return Project(linebounce)


def test_validate_as_json_has_every_row_and_counts_signs_orders_and_figures(project: Project) -> None:
    result = project("validate", "--json")
    assert result.code == 0, result.stderr
    document = json.loads(result.stdout)
    assert (project.linebounce.directory / "out/validate/validation.json").read_text() == result.stdout
    assert document["schema"] == "linebounce.validate/1"
    rows = {row["id"]: row for row in document["rows"]}
    assert list(rows) == ["p3.l2_hit", "mail.crowded", "mail.mcs_alone", "mail.scaling"]
    crowded = rows["mail.crowded"]
    assert (crowded["sign"], crowded["simulated_sign"], crowded["sign_right"], crowded["ok"]) == ("gain", "gain", True, True)
    assert crowded["simulated_change"] == crowded["simulated"] > 0.01
    assert crowded["ci95"] > 0
    alone = rows["mail.mcs_alone"]
    assert alone["ok"] is False
    assert alone["why_off"] == "nobody has measured this"
    assert alone["simulated_over_published"] == pytest.approx((1 + alone["simulated"]) / 10, rel=1e-4)
    predicted = document["score"]["predicted"]
    assert predicted["rows"] == 3
    assert predicted["figures"] == 1
    assert predicted["orders"] == {"right": 1, "of": 1}
    assert predicted["signs"]["of"] == 2
    assert document["score"]["calibrated"]["within_tolerance"] == {"right": 1, "of": 1}
    assert document["verdicts"]["present_day"] == {
        "calibrated": {"within_tolerance": {"right": 1, "of": 1}, "guess": 0},
        "predicted": {"within_tolerance": {"right": 2, "of": 3}, "guess": 0, "lost_when_broken": 1},
    }
    assert list(document["verdicts"]["by_figure_kind"]) == ["latency", "order", "ratio"]
    assert rows["mail.crowded"]["broken_by"] == "one_cpu"
    assert list(document["families"]) == ["latency", "lock"]
    assert list(document["machines"]) == ["p3_xeon_4way"]
    assert document["not_run"] == ["table"]


def test_the_page_says_what_is_off_and_why(project: Project) -> None:
    shown = project("validate").stdout
    assert "3 rows" not in shown
    assert "4 rows of 2 experiments on 1 machine" in shown
    assert "mail.mcs_alone" in shown
    assert "predicted, p3_xeon_4way: nobody has measured this" in shown
    assert "order or shape right" in shown
    assert "Not in it, as there are no results (--all runs them): table" in shown
    project.change("validation/locks", 'why_off     = "nobody has measured this"\n', "")
    assert "no reason known" in project("validate").stdout


def test_existing_results_of_the_papers_are_used(project: Project) -> None:
    assert project("reproduce", "-o", "out/reproduce").code == 0
    assert not (project.linebounce.directory / "out/reproduce/validation").exists()
    document = json.loads(project("validate", "--json").stdout)
    assert document["not_run"] == []
    assert document["documents"]["calibrated"]["rows"] == 1
    assert document["score"]["calibrated"]["rows"] == 1, "they are counted apart"
    project.change("table", 'title   = "What', 'seed = 5\ntitle   = "What')
    assert json.loads(project("validate", "--json").stdout)["not_run"] == ["table"], "results of another configuration"
    everything = json.loads(project("validate", "--all", "--json").stdout)
    assert everything["documents"]["calibrated"]["rows"] == 1


def test_a_run_after_an_explanation_is_not_a_first_one(project: Project) -> None:
    assert "3 rows recorded" in project("validate", "--record").stderr
    (run,) = json.loads(project.record.read_text())["runs"]
    assert run["first"] is False
    assert run["because"] == "a miss was explained before this record: mail.mcs_alone"
    document = json.loads(project("validate", "--json").stdout)
    assert document["first_run"]["predicted"]["rows"] == 0
    assert "3 rows recorded after an earlier run" in project("validate").stdout


def test_a_first_run_is_recorded_once_and_shown_where_it_differs(project: Project) -> None:
    project.change("validation/locks", 'why_off     = "nobody has measured this"\n', "")
    result = project("validate", "--record")
    assert f"{project.record}: 3 rows recorded" in result.stderr
    record = json.loads(project.record.read_text())
    assert record["experiment"] == "validation/locks"
    (run,) = record["runs"]
    assert run["first"] is True
    assert run["machines"]["p3_xeon_4way"]["cpu.clock_mhz"] == 700
    assert run["rows"]["mail.crowded"]["published"] == {"metric": "throughput.operations_per_s", "sign": "gain"}
    assert not project.record.with_name("p3_xeon_4way.json").exists()
    project.change("validation/locks", "outside_cycles = 20000", "outside_cycles = 40000")
    again = project("validate", "--record", "--fresh")
    assert "recorded" not in again.stderr
    assert json.loads(project.record.read_text()) == record
    assert "at first run" in again.stdout
    assert "mail.scaling: " in again.stdout
    assert f"on {run['date']}, now " in again.stdout
    rows = {row["id"]: row for row in json.loads(project("validate", "--json").stdout)["rows"]}
    assert rows["mail.scaling"]["first_simulated"] == run["rows"]["mail.scaling"]["simulated"]


def test_a_fitted_row_that_is_off_is_a_failed_check_and_a_prediction_is_not(project: Project) -> None:
    assert project("validate", "mail").code == 0
    project.change("latencies/p3_xeon_4way", "value     = 12.9", "value     = 12")
    assert project("validate").code == 1
    assert project("validate", "validation/locks").code == 0


def test_validate_reuses_existing_results(project: Project) -> None:
    project("validate")
    manifest = project.linebounce.directory / "out/validate/validation/locks/points/0/manifest.json"
    before = manifest.stat().st_mtime_ns
    assert project("validate").code == 0
    assert manifest.stat().st_mtime_ns == before


def test_a_misspelt_experiment_and_a_damaged_record_are_refused(project: Project) -> None:
    assert "did you mean validation/locks?" in project("validate", "validation/lock").stderr
    project.write(project.record, "[]")
    result = project("validate")
    assert result.code == 3
    assert "locks.json" in result.stderr
