"""`linebounce what-if`: a change against its base, paired by seed, and the metrics that it compares."""

import json
import tomllib
from pathlib import Path
from statistics import mean

import pytest
from experiments import experiment
from program import EXPERIMENTS, Program, shipped_experiments
from results import check_results_directory, metric_of, read_csv
from ways import assert_every_way_agrees

LATENCY = "latency.kernel_us_per_operation"
RATE = "throughput.operations_per_s"
SEEDS = "warmup_us = 5\nmeasure_us = 60\nseeds = 5"
WHAT_IFS = [name for name in shipped_experiments() if name.startswith("what_if/")]


def pair(
    linebounce: Program, name: str = "pair", *, values: str = '["tas", "mcs"]', run: str = SEEDS, workload: str = ""
) -> Path:
    """An experiment that changes the lock."""
    text = experiment(run=run, more=f'[sweep]\n"workload.lock" = {values}\n', **({"workload": workload} if workload else {}))
    return linebounce.file(f"{name}.toml", text.replace('"small"', f'"{name}"'))


def ranked(linebounce: Program, *arguments: str | Path) -> list[dict]:
    result = linebounce("what-if", *arguments, "--json")
    assert result.code == 0, result.stderr
    assert result.stderr == "", "progress is for terminals"
    document = json.loads(result.stdout)
    assert document["schema"] == "linebounce.what_if/1"
    return document["experiments"]


def by_seed(directory: Path, point: int, metric: str) -> list[float]:
    rows = read_csv(directory / "points" / str(point) / "seeds.csv")
    return [float(row["value"]) for row in rows if row["metric"] == metric]


def test_a_change_is_the_mean_of_the_differences_between_equal_seeds(linebounce: Program) -> None:
    (effect,) = ranked(linebounce, pair(linebounce), "-o", "out")
    check_results_directory(linebounce.directory / "out/pair")
    assert effect["base"] == {"workload.lock": "tas"}
    assert effect["changed"] == {"workload.lock": "mcs"}
    assert effect["seeds"] == 5
    for metric, change in [(LATENCY, effect["latency_per_operation"]), (RATE, effect["throughput"])]:
        before, after = (by_seed(linebounce.directory / "out/pair", point, metric) for point in (0, 1))
        assert len(before) == len(after) == 5
        differences = [new - old for old, new in zip(before, after, strict=True)]
        spread = sum((difference - mean(differences)) ** 2 for difference in differences)
        assert change["base"] == pytest.approx(mean(before), rel=1e-5)
        assert change["changed"] == pytest.approx(mean(after), rel=1e-5)
        assert change["change_pct"] == pytest.approx(100 * mean(differences) / mean(before), rel=1e-4)
        assert change["ci95_pct"] == pytest.approx(100 * 2.776 * (spread / 4 / 5) ** 0.5 / mean(before), rel=1e-3)
        assert change["significant"] == (abs(change["change_pct"]) > change["ci95_pct"])


def test_the_largest_gain_comes_first_and_the_file_says_what_the_terminal_says(linebounce: Program) -> None:
    better = pair(linebounce, "better", values='["tas", "mcs"]')
    worse = pair(linebounce, "worse", values='["mcs", "tas"]')
    effects = ranked(linebounce, worse, better, "-o", "out")
    assert {effect["experiment"] for effect in effects} == {"better", "worse"}
    changes = [effect["latency_per_operation"]["change_pct"] for effect in effects]
    assert changes == sorted(changes)
    assert changes[0] < 0 < changes[1]
    assert json.loads((linebounce.directory / "out/what_if.json").read_text())["experiments"] == effects
    shown = linebounce("what-if", worse, better, "-o", "out")
    assert shown.code == 0
    assert 0 < shown.stdout.index(effects[0]["experiment"]) < shown.stdout.index(effects[1]["experiment"])
    assert f"{changes[0]:+.1f} ±" in shown.stdout


def test_lines_add_up_to_the_latency_of_an_operation(linebounce: Program) -> None:
    (effect,) = ranked(linebounce, pair(linebounce), "-o", "out")
    changed = [abs(line["changed_us"] - line["base_us"]) for line in effect["lines"]]
    assert changed == sorted(changed, reverse=True)
    for side in ["base", "changed"]:
        whole = sum(line[f"{side}_us"] for line in effect["lines"])
        assert 0 < whole <= effect["latency_per_operation"][side] * 1.0001
    lock = next(line for line in effect["lines"] if line["structure"] == "tas_lock")
    assert lock["base_us"] > 0
    assert lock["changed_us"] == 0, "the change has another lock"


def test_what_if_reuses_existing_results(linebounce: Program) -> None:
    path = pair(linebounce)
    linebounce.run(path, "out/pair")
    manifests = [linebounce.directory / f"out/pair/points/{point}/manifest.json" for point in (0, 1)]
    written = [manifest.stat().st_mtime_ns for manifest in manifests]
    ranked(linebounce, path, "-o", "out")
    assert [manifest.stat().st_mtime_ns for manifest in manifests] == written


def test_an_invalid_pair_is_refused_before_anything_runs(linebounce: Program) -> None:
    good = pair(linebounce)
    three = pair(linebounce, "three", values='["tas", "mcs", "ticket"]')
    message = linebounce.refused("what-if", good, three)
    assert "three has 3 points" in message
    assert "exactly two" in message
    assert not (linebounce.directory / "out").exists()
    single = linebounce.file("single.toml", experiment(run=SEEDS))
    assert "has 1 point;" in linebounce.refused("what-if", single)


def test_one_seed_has_no_interval(linebounce: Program) -> None:
    one = pair(linebounce, run="warmup_us = 5\nmeasure_us = 20")
    assert "run.seeds" in linebounce.refused("what-if", one)


def test_a_workload_without_operations_is_refused(linebounce: Program) -> None:
    values = experiment(
        workload='name = "core_to_core"',
        run="measure_us = 0\nseeds = 2",
        more='[sweep]\n"machine.memory.latency_ns" = [100, 200]',
    )
    message = linebounce.refused("what-if", linebounce.file("matrix.toml", values))
    assert LATENCY in message
    assert "operations" in message


def test_unknown_names_are_refused_with_the_known_ones(linebounce: Program) -> None:
    message = linebounce.refused("what-if", "what_if/align_rk")
    assert "did you mean what_if/align_rq" in message


def test_a_point_whose_files_are_damaged_is_run_again(linebounce: Program) -> None:
    path = pair(linebounce)
    whole = linebounce("what-if", path, "-o", "out")
    assert whole.code == 0, whole.stderr
    (linebounce.directory / "out/pair/points/1/seeds.csv").unlink()
    again = linebounce("what-if", path, "-o", "out")
    assert again.code == 0, again.stderr
    assert "seeds.csv is missing; it was run again" in again.stderr
    assert again.stdout == whole.stdout


def test_a_failed_run_is_reported_and_the_others_are_ranked(linebounce: Program) -> None:
    text = experiment(
        workload='name = "lock_mistakes"\nlock = "ticket"',
        run="measure_us = 0\nseeds = 2",
        more='[set]\n"machine.cpus" = 2\n[sweep]\n"workload.mistake" = ["none", "deadlock"]',
    )
    broken = linebounce.file("broken.toml", text.replace('"small"', '"broken"'))
    result = linebounce("what-if", broken, pair(linebounce), "-o", "out", "--json")
    assert result.code == 4
    assert "deadlock" in result.stderr
    assert [effect["experiment"] for effect in json.loads(result.stdout)["experiments"]] == ["pair"]


@pytest.mark.parametrize("seeds", [1, 3])
def test_latency_of_an_operation_is_that_of_all_kernel_misses(linebounce: Program, seeds: int) -> None:
    path = linebounce.file("one.toml", experiment(run=f"warmup_us = 5\nmeasure_us = 60\nseeds = {seeds}"))
    results = check_results_directory(linebounce.run(path, "out"))
    rows = read_csv(linebounce.directory / "out/latency.csv")
    hits = {"l1", "l2", "l3"}
    missed = [row for row in rows if row["kind"] == "kernel" and row["source"] not in hits]
    assert any(row["source"] == "upgrade" for row in missed)
    total_us = sum(float(row["latency_ns"]) * int(row["count"]) for row in missed) / 1000
    operations = metric_of(results, RATE) * 60e-6 * seeds
    assert metric_of(results, LATENCY) == pytest.approx(total_us / operations, rel=1e-3 if seeds == 1 else 0.1)
    assert (linebounce.directory / "out/seeds.csv").exists() == (seeds > 1)


def test_the_shipped_what_ifs_are_pairs_over_five_seeds(linebounce: Program) -> None:
    assert len(WHAT_IFS) >= 19
    for name in WHAT_IFS:
        plan = linebounce("run", name, "--plan")
        assert plan.code == 0, plan.stderr
        assert len(json.loads(plan.stdout)["points"]) == 2, name
        assert tomllib.loads((EXPERIMENTS / f"{name}.toml").read_text())["run"]["seeds"] >= 5, name


def test_a_subsystems_latency_is_that_of_its_structures_lines(linebounce: Program) -> None:
    quick = ["run.warmup_us=1000", "run.measure_us=1500", "workload.sessions_per_cpu=6", "workload.service_us=100"]
    out = linebounce.run("oltp", "out", *(word for value in quick for word in ["--set", value]))
    results = json.loads((out / "results.json").read_text())
    suffix = ".latency_us_per_operation"
    metrics = results["points"][0]["metrics"]
    subsystems = {name: metric["value"] for name, metric in metrics.items() if name.endswith(suffix)}
    assert {f"subsystem.{name}{suffix}" for name in ["scheduler", "timers", "slab", "io", "inodes"]} <= set(subsystems)
    assert sum(subsystems.values()) <= metric_of(results, LATENCY) * 1.0001
    inodes = [row for row in read_csv(out / "lines.csv") if row["structure"] == "inode_data"]
    total_us = sum(float(row["latency_ns_mean"]) * int(row["count"]) for row in inodes) / 1000
    operations = metric_of(results, RATE) * 1500e-6
    assert subsystems[f"subsystem.inodes{suffix}"] == pytest.approx(total_us / operations, rel=1e-3)


def test_subsystems_are_shown_with_their_own_interval(linebounce: Program) -> None:
    load = "[workload]\nsessions_per_cpu = 6\nservice_us = 100\nuser_instructions = 30000\n"
    quick = f"{load}[run]\nwarmup_us = 1000\nmeasure_us = 1500\nseeds = 2\n"
    layout = '[[layout.change]]\nname = "apart"\nstructure = "inode_data"\nread_mostly = ["global"]\n'
    text = f'name = "mine"\ntitle = "t"\nextends = "oltp"\n{quick}{layout}[sweep]\n"layout.changes" = ["none", "apart"]\n'
    (effect,) = ranked(linebounce, linebounce.file("mine.toml", text), "-o", "out")
    inodes = next(subsystem for subsystem in effect["subsystems"] if subsystem["name"] == "inodes")
    metric = "subsystem.inodes.latency_us_per_operation"
    for side, point in [("base", 0), ("changed", 1)]:
        assert inodes[side] == pytest.approx(mean(by_seed(linebounce.directory / "out/mine", point, metric)), rel=1e-5)
    assert inodes["change_pct"] < -20, "a global that is only read is no longer on the lock's line"


HANDED = """\
name    = "handed"
title   = "Submission where completion is"
extends = "oltp"

[workload]
sessions_per_cpu         = 6
service_us               = 100
submit_where_interrupted = {handed}

[run]
warmup_us  = 500
measure_us = 1500
"""


def handed(linebounce: Program, *, there: bool) -> Path:
    return linebounce.file("handed.toml", HANDED.format(handed=str(there).lower()))


def test_submission_elsewhere_gives_the_same_results_in_every_engine_mode(linebounce: Program) -> None:
    assert_every_way_agrees(linebounce, handed(linebounce, there=True))


def test_data_used_by_completion_is_in_the_submitting_cpus_cache(linebounce: Program) -> None:
    """Submitting a command writes it, completing it reads it. On one CPU these loads hit."""
    shares = {}
    for there in [False, True]:
        out = linebounce.run(handed(linebounce, there=there), f"there_{there}")
        rows = read_csv(out / "lines.csv")
        done = [row for row in rows if row["structure"] == "scsi_cmnd" and row["function"].startswith("scsi_")]
        misses = sum(int(row["count"]) for row in done if row["source"].endswith("_c2c"))
        results = json.loads((out / "results.json").read_text())
        ios = metric_of(results, "oltp.reads_per_s") + metric_of(results, "oltp.writes_per_s")
        shares[there] = misses / ios
        assert any(row["structure"] == "submit_queue" for row in rows) == there
    assert shares[True] < shares[False] / 2
