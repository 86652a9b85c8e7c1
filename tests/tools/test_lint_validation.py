"""The lint of predictions: figures come before their first run, and neither they nor the machine change afterwards."""

import json
import subprocess
from pathlib import Path

import pytest
from lint_validation import Checker, History, findings

EXPERIMENT = "configs/experiments/validation/lru.toml"
LATENCY = "configs/experiments/latencies/m.toml"
MACHINE = "configs/machines/m.toml"
RECORD = "configs/experiments/validation/records/lru.json"

ROW = """[[paper]]
id = "c0ffee.rate"
metric = "throughput.operations_per_s"
relative_to = { "layout.changes" = "none" }
value = 0.43
tolerance = 0.15
source = "commit c0ffee"
"""
FIGURES = 'name = "validation/lru"\nfamily = "layout"\nmachine = "m"\n[workload]\nname = "w"\n' + ROW
FITTED = 'name = "latencies/m"\nmachine = "m"\n[[paper]]\nid = "m.l2"\nmetric = "x"\nvalue = 5\nkind = "calibrated"\n'
PARAMETERS = 'name = "m"\ncpus = 4\n[memory]\nlatency_ns = 90\n[sources]\n"memory" = "calibrated: m.l2, less the bus"\n'


def record(latency: float = 90, **row: object) -> str:
    published = {"metric": "throughput.operations_per_s", "value": 0.43, "tolerance": 0.15} | row
    rows = {"c0ffee.rate": {"published": published, "simulated": [0.4], "change": 0.4, "sign": "gain", "ok": True}}
    machines = {"m": {"cpus": 4, "memory.latency_ns": latency}}
    run = {"date": "2026-11-23", "machines": machines, "rows": rows}
    return json.dumps({"schema": "linebounce.first_runs/1", "experiment": "validation/lru", "runs": [run]})


def texts(**changed: str) -> dict[str, str]:
    files = {"machine": PARAMETERS, "latency": FITTED, "figures": FIGURES, "record": record()} | changed
    places = {"machine": MACHINE, "latency": LATENCY, "figures": EXPERIMENT, "record": RECORD}
    return {places[name]: text for name, text in files.items()}


def found(**changed: str) -> list[str]:
    return list(Checker(texts(**changed)).findings())


def test_what_is_as_recorded_is_right() -> None:
    assert found() == []
    assert found(record=record(90.0)) == []
    assert found(figures=FIGURES + 'why_off = "no prefetcher"\n') == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("value = 0.43", "value = 0.40"),
        ("tolerance = 0.15", "tolerance = 0.30"),
        ("operations_per_s", "operations"),
        ("value = 0.43\ntolerance = 0.15", 'sign = "gain"'),
        ("tolerance = 0.15", "tolerance = 0.15\nvisible = 0.5"),
    ],
)
def test_a_figure_that_was_run_stays(old: str, new: str) -> None:
    (finding,) = found(figures=FIGURES.replace(old, new))
    assert finding.startswith(f"{EXPERIMENT}:7: c0ffee.rate is not what it was when it was first run, on 2026-11-23")


def test_a_figure_that_was_run_does_not_go() -> None:
    assert found(figures=FIGURES.replace("c0ffee.rate", "c0ffee.other")) == [
        f"{EXPERIMENT}:1: c0ffee.rate is gone, but it was run on 2026-11-23"
    ]


def test_a_parameter_that_changed_has_a_history() -> None:
    was_80 = record(80)
    (finding,) = found(record=was_80)
    assert finding.startswith(
        f"{MACHINE}:4: memory.latency_ns was 80 when predictions were first run, on 2026-11-23, and is 90"
    )
    steps = '[[history]]\nchanged = { "memory.latency_ns" = [80.0, 85] }\n[[history]]\nchanged.memory.latency_ns = [85, 90]\n'
    assert found(record=was_80, machine=PARAMETERS + steps) == []
    for other in (
        steps.replace("[80.0, 85]", "[70, 85]"),
        steps.replace("[85, 90]", "[85, 95]"),
        steps.replace("memory", "bus"),
    ):
        assert len(found(record=was_80, machine=PARAMETERS + other)) == 1
    added = PARAMETERS.replace("[memory]", "[bus]\noutstanding = 8\n[memory]")
    assert len(found(machine=added)) == 1
    assert found(machine=added + '[[history]]\nchanged = { bus.outstanding = ["default", 8] }\n') == []
    assert found(machine=PARAMETERS.replace("calibrated: m.l2, less", "calibrated: m.l2 again, less")) == []


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("calibrated: c0ffee.rate", "calibrated to a validation row"),
        ("calibrated: what it takes", "calibrated to what?"),
        ("calibrated: c0ffee.rate and m.l2", "calibrated to a validation row"),
    ],
)
def test_a_machine_is_fitted_to_latencies(source: str, problem: str) -> None:
    (finding,) = found(machine=PARAMETERS.replace("calibrated: m.l2, less the bus", source))
    assert finding.startswith(f"{MACHINE}:6: memory: {problem}")


def test_where_there_are_latencies_another_experiments_row_is_not_enough() -> None:
    elsewhere = {"configs/experiments/oltp.toml": FITTED.replace("m.l2", "oltp.cpi")}
    machine = PARAMETERS.replace("m.l2", "oltp.cpi")
    assert len(list(Checker(texts(machine=machine) | elsewhere).findings())) == 1
    without = {file: text for file, text in texts(machine=machine).items() if file != LATENCY}
    assert list(Checker(without | elsewhere).findings()) == []


def test_a_validation_row_says_where_it_is_from_and_is_not_calibrated() -> None:
    assert len(found(figures=FIGURES.replace('source = "commit c0ffee"', ""))) == 1
    assert len(found(figures=FIGURES + 'kind = "calibrated"\n')) == 1
    assert len(found(figures=FIGURES.replace('family = "layout"', ""))) == 1


class Repository:
    """One whose commits a test makes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> None:
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(self.folder), *who, *arguments], check=True, capture_output=True)

    def commit(self, **files: str) -> None:
        for place, text in texts(**files).items():
            if text:
                (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / place).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a change")

    def findings(self, **files: str) -> list[str]:
        return findings(texts(**files), History(self.folder))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_figures_are_committed_before_they_are_run(repository: Repository) -> None:
    repository.commit(record="")
    assert repository.findings() == []
    repository.commit()
    assert repository.findings() == []


def test_figures_and_their_first_run_in_one_commit_are_found(repository: Repository) -> None:
    repository.commit()
    (finding,) = repository.findings()
    assert "adds its figure, and doesn't come before" in finding


def test_a_run_of_figures_that_no_commit_has_is_found(repository: Repository) -> None:
    repository.commit(record="", figures=FIGURES.replace("0.43", "0.44"))
    (finding,) = repository.findings()
    assert finding == f"{EXPERIMENT}:7: c0ffee.rate: it was run, but no commit has its figure yet: commit that first"


def test_a_figure_and_record_that_are_changed_together_are_found(repository: Repository) -> None:
    repository.commit(record="")
    repository.commit()
    nearer = {"figures": FIGURES.replace("0.43", "0.41"), "record": record(value=0.41)}
    repository.commit(**nearer)
    found_then = repository.findings(**nearer)
    assert any("a first run stays as it was" in finding for finding in found_then)
    assert any("it is not what it was before its first run" in finding for finding in found_then)


def test_a_row_that_is_moved_to_another_point_is_found(repository: Repository) -> None:
    repository.commit(record="")
    repository.commit()
    moved = FIGURES.replace('"layout.changes" = "none"', '"layout.changes" = "some"')
    (finding,) = repository.findings(figures=moved)
    assert "it is not what it was before its first run" in finding


def test_what_was_in_sight_becomes_no_prediction(repository: Repository) -> None:
    repository.commit(record="", figures=FIGURES + 'kind = "in_sight"\n')
    repository.commit(figures=FIGURES + 'kind = "in_sight"\n')
    (finding,) = repository.findings()
    assert finding.endswith("it was in_sight when it was first run, and can't become a prediction")
    repository.commit()
    assert repository.findings(figures=FIGURES + 'kind = "in_sight"\n') == []


def test_without_the_whole_history_the_rest_is_checked(tmp_path: Path) -> None:
    history = History(tmp_path / "nothing")
    assert not history.is_whole()
    assert findings(texts(), history) == []
    assert len(findings(texts(record=record(80)), history)) == 1
