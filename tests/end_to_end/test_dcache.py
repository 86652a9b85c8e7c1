"""The dentry cache under dbench's load: 300 ms already reproduce what OLS 2002 measured."""

import json
import re
import statistics
import tomllib
from collections.abc import Callable

import pytest
from experiments import experiment
from paper_factors import factors
from program import ROOT, Program
from results import metric_of, read_csv
from ways import assert_every_way_agrees

SHIPPED = ROOT / "configs" / "experiments" / "dcache_dbench.toml"
# The paper's tables: design, locked_dput, clients, CPUs.
TABLES = [
    ("global_lock", True, 19, 4),
    ("rcu_lookup", True, 19, 4),
    ("separate_lru_lock", True, 19, 4),
    ("global_lock", False, 24, 8),
    ("lazy_lru", False, 24, 8),
]
DESIGNS = ["global_lock", "rcu_lookup", "separate_lru_lock", "lazy_lru", "lazy_lru_timer", "fast_walk", "lock_free_walk"]
SMALL = """\
name    = "small"
title   = "A small dentry cache"
machine = "p3_xeon_4way"

[workload]
name                = "dbench"
clients             = 4
directories         = 2
files_per_directory = 6
walks_per_cpu       = 20
{workload}

[run]
warmup_us  = 0
measure_us = 0
"""


def toml(value: object) -> str:
    return json.dumps(value)


@pytest.fixture(scope="module")
def tables(session_linebounce: Program) -> dict:
    """The points of the shipped experiment that have tables, with 300 ms of each."""
    text = SHIPPED.read_text()
    start, rows = text.split("[sweep]")[0], re.findall(r"\[\[paper\]\]\n(?:[^\n]+\n)+", text)
    designs, locked, clients, cpus = (toml(list(column)) for column in zip(*TABLES, strict=True))
    sweep = (
        f'[[sweep.together]]\n"workload.design" = {designs}\n"workload.locked_dput" = {locked}\n'
        f'"workload.clients" = {clients}\n"machine.cpus" = {cpus}\n'
    )
    start = start.replace("measure_us = 3000000", "measure_us = 300000")
    wanted = [row for row in rows if "\nmetric" in row and "locks." in row and "shape" not in row and "relative_to" not in row]
    path = session_linebounce.file("tables.toml", start + sweep + "\n" + "\n".join(wanted))
    directory = session_linebounce.run(path, "tables", "-j", "2")
    return json.loads((directory / "results.json").read_text())


def value(tables: dict, design: str, locked: bool, metric: str) -> float:
    point = next(
        p for p in tables["points"] if p["at"]["workload.design"] == design and p["at"]["workload.locked_dput"] == locked
    )
    return point["metrics"][metric]["value"]


def is_frequent(tables: dict, row: dict) -> bool:
    """Whether the lock is taken often enough at this row for 300 ms to be meaningful."""
    point = next(p for p in tables["points"] if row["at"].items() <= p["at"].items())
    total = point["metrics"].get(row["metric"].rsplit(".", 1)[0] + ".total")
    return total is not None and total["value"] > 1000


def test_contention_and_waits_that_were_not_fitted_are_near_the_papers(tables: dict) -> None:
    frequent = [row for row in tables["paper"] if is_frequent(tables, row)]
    found = factors([{"paper": frequent}])
    for metric, most in [("con_pct", 1.25), ("wait_mean_us", 1.4)]:
        values = [factor for factor, _ in found[metric]]
        assert len(values) >= 10
        assert statistics.median(values) <= most, f"{metric}: {found[metric]}"


def test_each_design_relieves_the_lock(tables: dict) -> None:
    con = "locks.dcache_lock.con_pct"
    baseline = value(tables, "global_lock", True, con)
    rcu = value(tables, "rcu_lookup", True, con)
    assert baseline > rcu
    assert baseline > value(tables, "separate_lru_lock", True, "locks.d_lru_lock.con_pct")
    assert value(tables, "separate_lru_lock", True, con) < 0.2 * rcu
    assert value(tables, "lazy_lru", False, con) < 0.2 * value(tables, "global_lock", False, con)


def test_the_proportions_are_those_of_the_papers_totals(tables: dict) -> None:
    def total(site: str) -> float:
        return value(tables, "global_lock", False, f"locks.dcache_lock.{site}.total") / lookups

    lookups = value(tables, "global_lock", False, "locks.dcache_lock.d_lookup.total")
    assert total("dput") == pytest.approx(1384623 / 12726262, rel=0.15)
    assert total("d_instantiate") == pytest.approx(352739 / 12726262, rel=0.2)
    assert total("d_delete") == pytest.approx(238340 / 12726262, rel=0.2)
    assert total("d_move") == pytest.approx(45800 / 12726262, rel=0.4)


def test_every_dcache_design_gives_the_same_results_in_every_engine_mode(linebounce: Program) -> None:
    text = SMALL.format(workload="user_us = 1\ntick_us = 200\nlru_timer_us = 300")
    swept = f'{text}\n[sweep]\n"workload.design" = {toml(DESIGNS)}\n'
    assert_every_way_agrees(linebounce, linebounce.file("each_design.toml", swept))


def test_a_field_moves_with_the_layout_file(linebounce: Program) -> None:
    """d_name.hash is the first field of its line that a look-up reads; in the changed file it follows the name."""
    shipped = (ROOT / "configs" / "layouts" / "linux_2_4_16.toml").read_text()
    dentry, others = shipped.split("[structure.dentry_rcu]")
    dentry = dentry.replace('"d_name.hash", offset_bytes = 72, ', '"d_name.hash", offset_bytes = 104,').replace(
        '"d_iname",     offset_bytes = 96, size_bytes = 16', '"d_iname",     offset_bytes = 96, size_bytes = 8'
    )
    moved = f"{dentry}[structure.dentry_rcu]{others}"
    layout = linebounce.file("mine.toml", moved)
    for name, line in [("linux_2_4_16", "2"), (str(layout), "3")]:
        path = linebounce.file("small.toml", SMALL.format(workload=f'layout = "{name}"'))
        rows = read_csv(linebounce.run(path, f"out_{line}", "--fresh") / "lines.csv")
        assert {row["line"] for row in rows if row["structure"] == "dentry" and row["field"] == "d_name.hash"} == {line}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace('name = "d_count"', 'name = "count"'), "dentry has no field d_count"),
        (lambda text: text.replace("size_bytes      = 112", "size_bytes      = 100"), "ends behind its structure"),
        (lambda text: text.replace("alignment_bytes", "alignment"), "alignment"),
        (lambda text: text.split("[structure.inode]")[0], "no structure inode"),
    ],
)
def test_a_layout_that_cannot_be_used_is_refused(linebounce: Program, change: Callable[[str], str], says: str) -> None:
    layout = linebounce.file("mine.toml", change((ROOT / "configs" / "layouts" / "linux_2_4_16.toml").read_text()))
    result = linebounce("run", linebounce.file("small.toml", SMALL.format(workload=f'layout = "{layout}"')), "-o", "out")
    assert result.code == 2, result.stderr
    assert says in result.stderr


def test_the_shipped_experiment_has_all_of_the_papers_call_sites() -> None:
    rows = tomllib.loads(SHIPPED.read_text())["paper"]
    assert len([row for row in rows if row["kind"] != "calibrated" and row.get("metric", "").endswith("con_pct")]) >= 20
    assert not [row for row in rows if row["kind"] == "calibrated" and row["at"]["workload.design"] != "global_lock"]


def test_a_web_server_and_compilers_use_the_cache_too(linebounce: Program) -> None:
    for name in ["httperf", "compile"]:
        text = experiment(workload=f'name = "{name}"', run="warmup_us = 8000\nmeasure_us = 20000")
        directory = linebounce.run(linebounce.file(f"{name}.toml", text), name)
        results = json.loads((directory / "results.json").read_text())
        assert metric_of(results, "locks.dcache_lock.d_lookup.total") > 100
