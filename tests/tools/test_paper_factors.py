"""The distance of figures from a paper's: the median factor for each kind of metric."""

import json
from pathlib import Path

import pytest
from paper_factors import factors, main


def row(name: str, metric: str, ratio: float, kind: str = "predicted") -> dict:
    return {"id": name, "metric": metric, "ratio": ratio, "kind": kind}


ROWS = [
    row("a", "locks.dcache_lock.con_pct", 0.5),
    row("b", "locks.dcache_lock.dput.con_pct", 1.25, "in_sight"),
    row("c", "locks.dcache_lock.con_pct", 8, "calibrated"),
    row("d", "locks.dcache_lock.wait_mean_us", 1.1),
    row("f", "locks.dcache_lock.con_pct", 7) | {"relative_to": {"machine.cpus": 1}},
    {"id": "e", "metric": "locks.dcache_lock.con_pct", "kind": "predicted", "shape": "flat", "simulated": [1, 2]},
]


def test_only_figures_that_nothing_was_fitted_to_count_and_too_small_is_as_bad_as_too_large() -> None:
    assert factors([{"paper": ROWS}]) == {"con_pct": [(2, "a"), (1.25, "b")], "wait_mean_us": [(1.1, "d")]}


def test_a_median_above_its_limit_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "results.json").write_text(json.dumps({"paper": ROWS}))
    monkeypatch.setattr("sys.argv", ["paper_factors", str(tmp_path), "--most", "con_pct=1.7"])
    assert main() == 0
    monkeypatch.setattr("sys.argv", ["paper_factors", str(tmp_path), "--most", "con_pct=1.6"])
    assert main() == 1
    assert "TOO LARGE" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["paper_factors", str(tmp_path), "--most", "hold_mean_us=9"])
    assert main() == 1, "a limit for what isn't there holds nothing"
