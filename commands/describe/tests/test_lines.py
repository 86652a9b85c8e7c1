"""`linebounce lines`: cache lines from a results directory; and measured tables of lines beside the simulated ones."""

import json
import os
import re
import shutil
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
from program import ROOT, Program
from results import assert_same_data, read_csv
from ways import assert_every_way_agrees

SUBSYSTEM = 'alignment_bytes = 128\nsubsystem       = "dcache"'
EXPERIMENT = """\
name    = "small"
title   = "A dentry cache on two nodes"
machine = "itanium2_two_node_16way"

[workload]
name   = "dbench"
layout = "{layout}"

[run]
warmup_us  = 50
measure_us = 800
{seeds}

{more}
"""
TABLE = """\
[[table]]
id            = "mine.fig1"
file          = "./measured.csv"
structure     = "ttas_lock"
field         = "locked"
min_samples   = 50
tolerance_abs = 10
source        = "My paper, figure 1"
"""
HEADER = "samples,remote_pct,instruction,function,offset_in_line,field\n"
SAMPLED = {"local_c2c", "remote_c2c"}


def experiment(linebounce: Program, more: str = "", seeds: str = "") -> Path:
    """The dentries belong to a subsystem, in a layout of the test's own."""
    shipped = (ROOT / "configs" / "layouts" / "linux_2_4_16.toml").read_text()
    assert "alignment_bytes = 128" in shipped
    layout = linebounce.file("layout.toml", shipped.replace("alignment_bytes = 128", SUBSYSTEM))
    return linebounce.file("small.toml", EXPERIMENT.format(layout=layout, more=more, seeds=seeds))


def lines(linebounce: Program, *arguments: str | Path) -> dict:
    result = linebounce("lines", *arguments, "--json")
    assert result.code == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def is_sampled(row: dict) -> bool:
    return row["access"] in {"load", "atomic"} and row["source"] in SAMPLED


def lock_rows(directory: Path) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Samples of dcache_lock as the paper's hardware takes them, by function and access: counts and remote shares."""
    uses = defaultdict(list)
    for row in read_csv(directory / "lines.csv"):
        if row["object"] == "dcache_lock" and is_sampled(row):
            uses[row["function"], row["access"]].append((int(row["count"]), float(row["remote_pct"])))
    return uses


def remote_pct(rows: list[tuple[int, float]]) -> float:
    return sum(count * share for count, share in rows) / sum(count for count, _ in rows)


@pytest.fixture
def directory(linebounce: Program) -> Path:
    return linebounce.run(experiment(linebounce), "out")


def test_the_lines_shown_are_those_of_lines_csv(linebounce: Program, directory: Path) -> None:
    shown = lines(linebounce, directory, "--top", "1000000")
    rows = [row for row in read_csv(directory / "lines.csv") if row["field"] != "[]"]
    expected = defaultdict(float)
    for row in rows:
        expected[row["structure"], row["object"], row["line"]] += int(row["count"]) * float(row["latency_ns_mean"])
    assert len(shown["lines"]) == len(expected)
    for line in shown["lines"]:
        latency = expected[line["structure"], line["object"], str(line["line"])]
        assert line["latency_ns"] == pytest.approx(latency, rel=1e-5)
        assert line["misses"] == sum(row["samples"] for row in line["rows"])
        assert line["local_pct"] + line["remote_pct"] == pytest.approx(100)
        assert line["loads"] + line["stores"] == line["misses"]
        assert line["local_hitm"] + line["remote_hitm"] <= line["misses"]
        assert line["travel_ns"] + line["queueing_ns"] == pytest.approx(line["latency_ns"], rel=1e-4)
        assert sum(line["queueing_ns_by_resource"].values()) == pytest.approx(line["queueing_ns"], rel=1e-4)
    latencies = [line["latency_ns"] for line in shown["lines"]]
    assert latencies == sorted(latencies, reverse=True)
    assert sum(line["misses"] for line in shown["lines"]) == sum(int(row["count"]) for row in rows)


def test_as_sampled_counts_sampled_misses_and_its_rows_add_up(linebounce: Program, directory: Path) -> None:
    sampled = lines(linebounce, directory, "--as-sampled", "--top", "1000000")
    rows = [row for row in read_csv(directory / "lines.csv") if is_sampled(row)]
    assert sampled["as_sampled"] is True
    assert sampled["misses"] == sum(int(row["count"]) for row in rows)
    lock = next(line for line in sampled["lines"] if line["object"] == "dcache_lock")
    uses = lock_rows(directory)
    assert {(row["function"], row["access"]) for row in lock["rows"]} == uses.keys()
    for row in lock["rows"]:
        use = uses[row["function"], row["access"]]
        assert row["samples"] == sum(count for count, _ in use)
        assert row["remote_pct"] == pytest.approx(remote_pct(use), abs=1e-3)

    dentries = lines(linebounce, directory, "--structure", "dentry", "--sum", "--top", "1")["lines"]
    assert [line["object"] for line in dentries] == [None]
    own = [row for row in read_csv(directory / "lines.csv") if row["structure"] == "dentry" and row["line"] == "0"]
    assert len({row["object"] for row in own}) > 1
    assert dentries[0]["misses"] == sum(int(row["count"]) for row in own)


def test_the_table_fits_and_names_what_it_shows(linebounce: Program, directory: Path) -> None:
    printed = linebounce("lines", directory, "--top", "2", env=os.environ | {"COLUMNS": "80"}).stdout
    assert all(len(line) <= 80 for line in printed.splitlines())
    for word in ["object", "CPUs", "loads", "stores", "local HITM", "remote HITM", "latency", "home node", "queueing"]:
        assert word in printed
    for word in ["offset", "object.field", "function", "access", "misses", "mean"]:
        assert word in printed
    joined = "".join(word for word in printed.split())
    assert "dcache_lock." in joined
    assert "locked" in joined
    assert "2 of" in printed
    assert "dcache  " in printed[printed.index("500 lines") :]


def test_subsystems_share_the_top_lines(linebounce: Program, directory: Path) -> None:
    metrics = json.loads((directory / "results.json").read_text())["points"][0]["metrics"]
    share = metrics["subsystem.dcache.latency_pct"]
    assert share["unit"] == "%"
    # The share of dentries in the latency of the kernel's reads that have a supplier. The run has fewer than 500 lines, so
    # the metric's top 500 are all of them.
    reads = [row for row in read_csv(directory / "lines.csv") if row["access"] != "store"]
    rows = [row for row in reads if row["field"] != "[]" and row["source"] != "upgrade"]
    assert len({(row["structure"], row["object"], row["line"]) for row in rows}) <= 500

    def latency(some: list[dict]) -> float:
        return sum(int(row["count"]) * float(row["latency_ns_mean"]) for row in some)

    expected = 100 * latency([row for row in rows if row["structure"] == "dentry"]) / latency(rows)
    assert share["value"] == pytest.approx(expected, rel=1e-3)
    assert lines(linebounce, directory)["subsystems"][0]["latency_pct"] == share["value"]
    # Only transfers between caches.
    moved = [row for row in rows if row["source"] in {"local_c2c", "remote_c2c"}]
    assert metrics["latency.top500_transfers_share_pct"]["value"] == pytest.approx(
        100 * latency(moved) / latency([row for row in reads if row["source"] != "upgrade"]), rel=1e-3
    )
    expected = 100 * latency([row for row in moved if row["structure"] == "dentry"]) / latency(moved)
    assert metrics["subsystem.dcache.transfers_latency_pct"]["value"] == pytest.approx(expected, rel=1e-3)


def test_lines_shows_the_chosen_point_of_a_sweep(linebounce: Program) -> None:
    directory = linebounce.run(experiment(linebounce, '[sweep]\n"machine.cpus" = [2, 16]'), "out")
    assert "point 1 of 2  machine.cpus = 16" in linebounce("lines", directory).stdout  # the point that the answer is about
    assert "point 0 of 2  machine.cpus = 2" in linebounce("lines", directory, "--point", "0").stdout
    assert "point 0 of 2  machine.cpus = 2" in linebounce("lines", directory, "--point", "cpus=2").stdout
    shown = lines(linebounce, directory, "--point", "1")
    assert shown["at"] == {"machine.cpus": 16}
    assert shown["misses"] == sum(int(row["count"]) for row in read_csv(directory / "points" / "1" / "lines.csv"))
    assert "--point: 2 is out of range; legal: 0 to 1" in linebounce.refused("lines", directory, "--point", "2")


def test_a_point_that_failed_is_not_one_without_misses(linebounce: Program) -> None:
    mistakes = 'name = "mistakes"\ntitle = "Fails"\nmachine = "p3_xeon_4way"\n[workload]\nname = "lock_mistakes"\n{}[run]\n{}'
    both = mistakes.format("", 'measure_us = 0\n[sweep]\n"workload.mistake" = ["none", "deadlock"]\n')
    assert linebounce("run", linebounce.file("both.toml", both), "-o", "both").code == 4
    assert "point 0 of 2, 1 of them finished" in linebounce("lines", "both").stdout
    message = linebounce.refused("lines", "both", "--point", "1", code=3)
    assert "both: point 1 has not finished: deadlock: CPUs wait for each other's locks" in message
    only = mistakes.format('mistake = "deadlock"\n', "measure_us = 0\n")
    assert linebounce("run", linebounce.file("only.toml", only), "-o", "only").code == 4
    assert "only: no point has finished: deadlock: CPUs wait" in linebounce.refused("lines", "only", code=3)
    (linebounce.directory / "only/manifest.json").unlink()
    assert "only: no point has finished\n" in linebounce.refused("lines", "only", code=3)


def test_unreadable_input_is_reported_in_one_line(linebounce: Program, directory: Path) -> None:
    def refused(*arguments: str | Path, code: int) -> str:
        message = linebounce.refused("lines", *arguments, code=code)
        assert code == 2 or message.count("\n") == 1
        return message

    assert "nowhere: there is no such results directory; `linebounce run EXPERIMENT -o nowhere` makes one" in refused(
        "nowhere", code=3
    )
    whole = (directory / "lines.csv").read_text()
    for cut in [whole[:-1], whole[: len(whole) // 2], "point,", ""]:
        (directory / "lines.csv").write_text(cut)
        assert "out/lines.csv" in refused(directory, code=3)
    (directory / "lines.csv").unlink()
    assert "out/lines.csv" in refused(directory, code=3)
    (directory / "lines.csv").write_text(whole)
    results = (directory / "results.json").read_text()
    (directory / "results.json").write_text(results[: len(results) // 2])
    assert "out/results.json" in refused(directory, code=3)
    (directory / "results.json").write_text(results.replace("linebounce.results/1", "linebounce.results/99"))
    assert 'schema is "linebounce.results/99", this program reads "linebounce.results/1"' in refused(directory, code=3)
    (directory / "results.json").write_text(results.replace('"linebounce.results/1"', "[" * 200_000 + "]" * 200_000))
    assert "out/results.json: not a results.json of schema" in refused(directory, code=3)
    (directory / "results.json").write_text(results)
    (directory / "lines.csv").write_text(whole.replace("\n0,", "\n1,"))
    assert "out/lines.csv: its points are not those of" in refused(directory, code=3)
    (directory / "lines.csv").write_text(whole)
    assert "did you mean dentry?" in refused(directory, "--structure", "dentri", code=2)
    assert "--top" in refused(directory, "--top", "0", code=2)
    assert linebounce("lines").stdout.startswith("  out, the latest results below out/")
    shutil.rmtree(directory)
    assert "DIR is missing" in refused(code=2)


def test_an_experiment_can_ask_for_lines(linebounce: Program) -> None:
    path = experiment(linebounce, "[report]\nlines = 1")
    printed = linebounce("run", path, "-o", "out").stdout
    assert "dcache_lock." in printed
    assert "object.field" in printed
    assert "500 lines" in printed
    assert tomllib.loads((linebounce.directory / "out" / "config.toml").read_text())["report"] == {"lines": 1}
    silent = linebounce("run", experiment(linebounce), "-o", "silent").stdout
    assert "dcache_lock.locked" not in silent


def measured(linebounce: Program, uses: dict[tuple[str, str], list[tuple[int, float]]], extra: str = "") -> None:
    """A measured table that the simulation matches in every row."""
    instructions = {"load": "ld4", "atomic": "cmpxchg4.acq"}
    rows = [
        f"{sum(count for count, _ in use)},{remote_pct(use)},{instructions[access]},{function},0,locked\n"
        for (function, access), use in sorted(uses.items())
    ]
    linebounce.file("measured.csv", HEADER + "".join(rows) + extra)


def test_measured_tables_are_scored_row_by_row(linebounce: Program, directory: Path) -> None:
    uses = lock_rows(directory)
    measured(linebounce, uses, extra="70,5,ld4,never_called,0,locked\n")
    out = linebounce.run(experiment(linebounce, TABLE), "tables")
    results = json.loads((out / "results.json").read_text())
    metrics = {name: metric["value"] for name, metric in results["points"][0]["metrics"].items()}
    paper = {row["id"]: row for row in results["paper"]}
    counts = {use: sum(count for count, _ in rows) for use, rows in uses.items()}
    scored = [use for use, count in counts.items() if count >= 50]
    assert len(scored) >= 2
    assert len(paper) == len(scored) + 1
    assert metrics["tables.rows"] == len(paper)
    assert metrics["tables.rows_within_10_points"] == len(scored)
    assert 0.5 < metrics["tables.rank_correlation_median"] < 1, "all in order but for the row that is never sampled"
    assert metrics["table.mine.fig1.samples"] == sum(counts.values())
    for function, access in scored:
        both = (function, "load") in uses and (function, "atomic") in uses
        key = f"{function}.locked" + (f".{access}" if both else "")
        row = paper[f"mine.fig1.{key}"]
        assert row["ok"] is True
        assert row["tolerance_abs"] == 10
        assert row["simulated"] == pytest.approx(row["paper"], abs=1e-3)
        assert metrics[f"table.mine.fig1.{key}.samples"] == counts[function, access]
    never = paper["mine.fig1.never_called.locked"]
    assert never["simulated"] is None
    assert never["ok"] is False, "a row that is never sampled is a miss"


def test_the_terminal_shows_measured_and_simulated_rows_side_by_side(linebounce: Program, directory: Path) -> None:
    measured(linebounce, lock_rows(directory), extra="70,5,ld4,never_called,0,locked\n")
    printed = linebounce("run", experiment(linebounce, TABLE), "-o", "tables").stdout
    table = printed[printed.index("mine.fig1") :]
    assert "rank correlation" in table.splitlines()[0]
    never = next(line for line in table.splitlines() if "never_called" in line)
    assert never.split() == ["0", "never_called", "locked", "load", "70", "0", "5.0", "-", "✗"]
    assert "✓" in table
    assert "predicted" in printed[printed.index("within tolerance") :]


def test_several_seeds_give_means(linebounce: Program, directory: Path) -> None:
    measured(linebounce, lock_rows(directory))
    out = linebounce.run(experiment(linebounce, TABLE, seeds="seeds = 2"), "seeds")
    metrics = json.loads((out / "results.json").read_text())["points"][0]["metrics"]
    assert "ci95" in metrics["tables.rank_correlation_median"]
    again = linebounce.run(out / "config.toml", "again")
    assert_same_data(out, again)


def test_a_measured_table_is_the_same_in_every_engine_mode(linebounce: Program, directory: Path) -> None:
    measured(linebounce, lock_rows(directory))
    assert_every_way_agrees(linebounce, experiment(linebounce, TABLE))


def test_a_table_of_a_missing_object_is_refused(linebounce: Program) -> None:
    linebounce.file("measured.csv", HEADER + "70,5,ld4,f,0,locked\n")
    message = linebounce.refused("run", experiment(linebounce, TABLE.replace("ttas_lock", "tas_lock")), "-o", "bad")
    assert re.search(r"small.toml:\d+:17: table.structure: the structure .tas_lock. is not known; known: .*\bdentry\b", message)
    assert "did you mean ttas_lock?" in message
    message = linebounce.refused("run", experiment(linebounce, TABLE.replace('"locked"', '"blocked"')), "-o", "worse")
    wanted = r'small.toml:\d+:17: table.field: structure ttas_lock: the field "blocked" is not known; known: locked'
    assert re.search(wanted, message)
    linebounce.file("measured.csv", HEADER + "70,5,st4,f,0,locked\n")
    message = linebounce.refused("run", experiment(linebounce, TABLE), "-o", "unread")
    assert "measured.csv:2: instruction" in message


NOT_MEASURABLE = """\
[[table]]
id            = "fig6"
file          = "ols2007/fig06_kmem_list3.csv"
structure     = "{structure}"
field         = "{field}"
{home}
min_samples   = 50
tolerance_abs = 10
"""
CHURN = """\
name    = "churn"
title   = "Slab without lists for each node"
machine = "itanium2_two_node_16way"

[workload]
name      = "slab_churn"
allocator = "slub"

[run]
warmup_us  = 10
measure_us = 100

"""


@pytest.mark.parametrize(
    ("structure", "field", "home", "words"),
    [
        ("kmem_list3", "list_lock", "", "no kmem_list3.list_lock in this run"),
        ("kmem_cache_node", "list_lock", "home = 60", "no kmem_cache_node.list_lock whose home is node 60 in this run"),
    ],
)
def test_a_table_that_this_variant_does_not_need_is_not_measurable(
    linebounce: Program, structure: str, field: str, home: str, words: str
) -> None:
    table = NOT_MEASURABLE.format(structure=structure, field=field, home=home)
    result = linebounce("run", linebounce.file("churn.toml", CHURN + table), "-o", "out")
    assert result.code == 0, result.stderr
    assert f"fig6  not measurable: {words}" in result.stdout
    results = json.loads((linebounce.directory / "out" / "results.json").read_text())
    metrics = results["points"][0]["metrics"]
    assert metrics["tables.rows"]["value"] == 0
    assert not [name for name in metrics if name.startswith("table.")]
    assert {(row["simulated"], row["ok"]) for row in results["paper"]} == {(None, False)}


@pytest.mark.parametrize(
    ("structure", "field", "words"),
    [
        ("kmem_list4", "list_lock", "table.structure: .*did you mean kmem_list3?"),
        ("kmem_list3", "lost_lock", "table.field: .*did you mean list_lock?"),
    ],
)
def test_undeclared_fields_are_refused_in_every_variant(linebounce: Program, structure: str, field: str, words: str) -> None:
    table = NOT_MEASURABLE.format(structure=structure, field=field, home="")
    message = linebounce.refused("run", linebounce.file("churn.toml", CHURN + table), "-o", "out")
    assert re.search(r"churn.toml:\d+:17: " + words, message)


def test_shares_of_a_run_are_kept_when_its_table_is_corrected(linebounce: Program, directory: Path) -> None:
    measured(linebounce, lock_rows(directory))
    linebounce.run(experiment(linebounce, TABLE), "out2")
    corrected = experiment(linebounce, TABLE.replace("tolerance_abs = 10", "tolerance_abs = 5"))
    assert "were there already" in linebounce("run", corrected, "-o", "out2").stdout
    rows = json.loads((linebounce.directory / "out2" / "results.json").read_text())["paper"]
    assert {row["tolerance_abs"] for row in rows} == {5}


def test_the_figures_say_where_they_come_from() -> None:
    figures = ROOT / "configs" / "figures" / "ols2007"
    assert len(list(figures.glob("*.csv"))) == 13
    assert "OLS 2007" in (figures.parent / "README.md").read_text()
