"""The report's section on where the CPUs' time goes."""

import shutil
from pathlib import Path

import linebounce
import polars as pl
import pytest
from linebounce.report.tables import cpi, cpi_functions


def test_each_cpus_bars_are_all_of_its_time_and_the_functions_all_of_theirs(locks_run: Path) -> None:
    results = linebounce.open(locks_run)
    stacks = cpi(results)
    cpus = stacks.filter(of="cpu").group_by("point", "name").agg(pl.col("share_pct").sum())
    assert len(cpus) == 3 * (1 + 2 + 4)
    assert cpus["share_pct"].to_list() == pytest.approx([100] * len(cpus), abs=0.01)
    functions = stacks.filter(of="function").group_by("point").agg(pl.col("share_pct").sum())
    assert functions["share_pct"].to_list() == pytest.approx([100] * 9, abs=0.01)


def test_a_functions_cycles_per_instruction_are_those_of_the_file(locks_run: Path) -> None:
    results = linebounce.open(locks_run)
    point = results.points[-1].number
    row = cpi_functions(results).filter(point=point, function="critical_section").row(0, named=True)
    own = results.cpi.filter(point=point, function="critical_section")
    assert row["cpi"] == pytest.approx(own["cycles"].sum() / own["instructions"].sum(), rel=1e-3)
    assert row["most_pct"] == pytest.approx(100 * own[row["most_part"]].sum() / own["cycles"].sum(), rel=1e-3)


def test_results_of_a_version_without_the_file_lack_the_section(locks_run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(locks_run, tmp_path / "results"))
    (copy / "cpi.csv").unlink()
    assert linebounce.open(copy).cpi.is_empty()
    assert cpi(linebounce.open(copy)).is_empty()
