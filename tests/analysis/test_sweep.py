"""`linebounce sweep` with real schedulers, workers and kills: finished points stay, and the final results are those of `run
-j1`."""

import os
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cluster import Sweeps, finished_points, result_of, wait_for
from experiments import experiment
from linebounce.errors import UsageError
from linebounce.program import Experiment
from linebounce.sweep import cluster as clusters
from linebounce.sweep import command
from linebounce.sweep.dispatch import write_files
from linebounce.sweep.points import Job, run_points
from linebounce.sweep.sensitivity import variations_of
from program import Program
from results import assert_same_data, check_results_directory

# Twelve points, each long enough to be killed while it runs.
SLOW = experiment(run="warmup_us = 5", more='[sweep]\n"run.measure_us" = [' + ", ".join(str(3000 + k) for k in range(12)) + "]")
SHORT = experiment(more='[sweep]\n"workload.outside_cycles" = [' + ", ".join(str(50 + k) for k in range(40)) + "]")
# Points 2 and 3 end in a deadlock.
FAILING = experiment(
    workload='name = "lock_mistakes"\nlock = "ticket"',
    run="measure_us = 0",
    more='[sweep]\n"workload.mistake" = ["none", "deadlock"]\n"machine.cpus" = [2, 3]',
)


@pytest.fixture
def sweeps(executable: Path, tmp_path: Path) -> Iterator[Sweeps]:
    sweeps = Sweeps(executable, tmp_path)
    yield sweeps
    sweeps.end_all()


@pytest.fixture(scope="module")
def slow_by_run(session_linebounce: Program) -> Path:
    """The results of `run -j1` for SLOW."""
    return session_linebounce.run(session_linebounce.file("slow.toml", SLOW), "slow_j1", "-j", "1")


def test_a_sweep_on_this_machine_is_the_same_as_a_run(sweeps: Sweeps, linebounce: Program) -> None:
    path = linebounce.file("short.toml", SHORT)
    result = sweeps(path, "-o", "out")
    assert result.code == 0, result.stderr
    assert "dashboard http://127.0.0.1:" in result.stderr
    assert "Results:" in result.stdout
    check_results_directory(sweeps.directory / "out")
    assert_same_data(sweeps.directory / "out", linebounce.run(path, "run", "-j", "1"))


def test_an_experiment_without_a_sweep_is_one_point(sweeps: Sweeps, linebounce: Program) -> None:
    path = linebounce.file("one.toml", experiment())
    for _ in range(2):  # the second sweep finds complete results
        result = sweeps(path, "-o", "out")
        assert result.code == 0, result.stderr
        assert_same_data(sweeps.directory / "out", linebounce.run(path, "run"))
    failing = linebounce.file("failing.toml", FAILING.split("[sweep]")[0] + '[set]\n"workload.mistake" = "deadlock"\n')
    result = sweeps(failing, "-o", "failed")
    assert result.code == 1, result.stderr
    assert "the run failed twice" in result.stderr
    assert "CPU 0 holds lock_0" in result.stderr


def test_a_killed_worker_loses_nothing(sweeps: Sweeps, linebounce: Program, slow_by_run: Path) -> None:
    _, address = sweeps.scheduler()
    workers = [sweeps.worker(address) for _ in range(2)]
    path, out = linebounce.file("slow.toml", SLOW), sweeps.directory / "out"
    process = sweeps.sweep(path, "-o", out, "--scheduler", address)
    wait_for(lambda: len(finished_points(out)) >= 4)
    workers[0].kill()
    result = result_of(process)
    assert result.code == 0, result.stderr
    check_results_directory(out)
    assert_same_data(out, slow_by_run)


def test_a_killed_client_continues_with_the_same_command(sweeps: Sweeps, linebounce: Program, slow_by_run: Path) -> None:
    path, out = linebounce.file("slow.toml", SLOW), sweeps.directory / "out"
    process = sweeps.sweep(path, "-o", out)
    wait_for(lambda: len(finished_points(out)) >= 2)
    process.kill()
    process.communicate(timeout=30)
    before = {point: (out / "points" / point / "results.json").stat() for point in finished_points(out)}
    assert len(before) < 12
    result = sweeps(path, "-o", out)
    assert result.code == 0, result.stderr
    for point, stat in before.items():
        assert (out / "points" / point / "results.json").stat().st_ino == stat.st_ino, "run again"
    assert_same_data(out, slow_by_run)


def test_a_killed_scheduler_is_reported_and_loses_nothing(sweeps: Sweeps, linebounce: Program, slow_by_run: Path) -> None:
    scheduler, address = sweeps.scheduler()
    sweeps.worker(address)
    path, out = linebounce.file("slow.toml", SLOW), sweeps.directory / "out"
    process = sweeps.sweep(path, "-o", out, "--scheduler", address)
    wait_for(lambda: len(finished_points(out)) >= 2)
    scheduler.kill()
    result = result_of(process)
    assert result.code == 1, result.stderr
    said = re.search(r"the scheduler is gone; (\d+) of 12 points are finished", result.stderr)
    kept = finished_points(out)
    assert said, result.stderr
    assert 2 <= int(said[1]) <= len(kept)
    assert len(kept) >= 2
    result = sweeps(path, "-o", out)
    assert result.code == 0, result.stderr
    assert_same_data(out, slow_by_run)


def test_ctrl_c_keeps_finished_points_and_leaves_no_process(sweeps: Sweeps, linebounce: Program) -> None:
    path = linebounce.file(
        "endless.toml", experiment(run="warmup_us = 5", more='[sweep]\n"run.measure_us" = [20, 30, 1000000000]')
    )
    out = sweeps.directory / "out"
    process = sweeps.sweep(path, "-o", out)
    wait_for(lambda: finished_points(out) == {"0", "1"} and (out / "points" / "2").exists())
    os.killpg(process.pid, signal.SIGINT)
    result = result_of(process, 30)
    assert result.code == 130, result.stderr
    assert "the same command goes on" in result.stderr
    assert finished_points(out) == {"0", "1"}
    # While a worker runs a point it holds the point's lock. After the kill the lock is free.
    assert linebounce("run", path, "-o", out, "--point", "1").code == 0
    assert linebounce("run", path, "-o", out, "--merge").code == 3


def test_a_sweep_on_this_machine_listens_on_loopback_alone(sweeps: Sweeps, linebounce: Program) -> None:
    path = linebounce.file("long.toml", experiment(run="warmup_us = 5\nmeasure_us = 2000000"))
    sweeps.sweep(path, "-o", "out")
    wait_for((sweeps.directory / "out" / "manifest.json").exists)
    assert len(sweeps.sockets()) == 2, "HTTP servers of the scheduler and the worker"
    assert {address for address, _ in sweeps.sockets()} == {"127.0.0.1"}


def test_a_missing_scheduler_is_reported_in_one_line(
    linebounce: Program, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(clusters, "CONNECT_TIMEOUT_S", 1)
    monkeypatch.setenv("LINEBOUNCE", str(linebounce.executable))
    path, out = linebounce.file("short.toml", SHORT), linebounce.directory / "out"
    assert command.main([str(path), "-o", str(out), "--scheduler", "tcp://127.0.0.1:1"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "tcp://127.0.0.1:1 (waited 1 s)" in said
    assert "check that" in said
    assert not out.exists()


def test_bad_requests_are_one_line_with_code_2(sweeps: Sweeps, linebounce: Program) -> None:
    path = linebounce.file("short.toml", SHORT)
    for arguments, part in [
        (["--scheduler", "localhost"], "tcp://host:8786"),
        (["--slurm", "queue"], "KEY=VALUE"),
        (["--set", "machine.memory.latncy_ns=3"], "latency_ns"),
        (["--vary", "machine.memory.latncy_ns=20%", "--metric", "x"], "did you mean machine.memory.latency_ns"),
        (["--vary", "machine.memory.latency_ns=20", "--metric", "x"], "PATH=N%"),
    ]:
        result = sweeps(path, "-o", "out", *arguments)
        assert result.code == 2, result.stderr
        assert part in result.stderr
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "module", "package"),
    [
        (["--slurm", "queue=normal"], "dask_jobqueue", "dask-jobqueue"),
        (["--kubernetes", "name=sweep"], "dask_kubernetes", "dask-kubernetes"),
    ],
)
def test_a_missing_package_is_named(sweeps: Sweeps, linebounce: Program, option: list[str], module: str, package: str) -> None:
    hidden = linebounce.file(f"hidden/{module}.py", f"raise ModuleNotFoundError(name='{module}')\n").parent
    sweeps.environment["PYTHONPATH"] = f"{hidden}{os.pathsep}{sweeps.environment['PYTHONPATH']}"
    result = sweeps(linebounce.file("short.toml", SHORT), "-o", "out", *option)
    assert result.code == 2
    assert f"pip install {package}" in result.stderr


def test_a_worker_without_the_directory_sends_the_files(linebounce: Program, tmp_path: Path) -> None:
    path = linebounce.file("short.toml", SHORT)
    out = tmp_path / "out"
    given = Experiment(str(linebounce.executable), str(path))
    given.start(out, fresh=False)
    # A worker on another machine has neither the experiment's file nor the output directory.
    far = replace(given, source="/nowhere/short.toml")
    job = Job("far", far, out, manifest="of another directory", swept=True, resolved=given.resolved())
    for points in [range(20), range(20, 40)]:
        outcome = run_points(job, list(points))
        assert outcome.done == list(points)
        assert not finished_points(out) & {str(point) for point in points}
        write_files(out, outcome.files)
    assert linebounce("run", path, "-o", out, "--merge").code == 0
    check_results_directory(out)
    assert_same_data(out, linebounce.run(path, "run", "-j", "1"))


def test_the_umask_determines_who_may_read_a_workers_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_files(tmp_path, {"points/0/metrics.csv": b"a"})
    finally:
        os.umask(before)
    written = tmp_path / "points" / "0" / "metrics.csv"
    assert (written.read_bytes(), written.stat().st_mode & 0o777) == (b"a", 0o640)
    assert list(written.parent.iterdir()) == [written]


def test_fresh_replaces_the_results_of_another_sweep(sweeps: Sweeps, linebounce: Program) -> None:
    path = linebounce.file("short.toml", SHORT)
    assert sweeps(path, "-o", "out").code == 0
    other = ["--set", "workload.inside_cycles=30"]
    refused = sweeps(path, "-o", "out", *other)
    assert refused.code == 2
    assert "--fresh" in refused.stderr
    assert sweeps(path, "-o", "out", *other, "--fresh").code == 0
    assert_same_data(sweeps.directory / "out", linebounce.run(path, "run", *other))


def test_failed_points_are_run_twice_and_told_and_the_others_merged(sweeps: Sweeps, linebounce: Program) -> None:
    path, out = linebounce.file("failing.toml", FAILING), sweeps.directory / "out"
    result = sweeps(path, "-o", out)
    assert result.code == 1, result.stderr
    assert "failed twice" in result.stderr
    assert "CPU 0 holds lock_0, taken in take_both" in result.stderr, "the point's log"
    assert "2 of 4 points failed: 2 3" in result.stderr
    assert finished_points(out) == {"0", "1"}
    assert '"failed"' in (out / "manifest.json").read_text()
    # The same command again runs the failed points again, and they fail again.
    assert sweeps(path, "-o", out).code == 1


def test_output_that_cannot_be_written_ends_a_sweep_at_once(sweeps: Sweeps, linebounce: Program) -> None:
    path, out = linebounce.file("short.toml", SHORT), sweeps.directory / "out"
    out.mkdir()
    assert linebounce("run", path, "-o", out, "--merge").code == 3, "there is nothing to merge yet"
    (out / "points").touch()
    result = sweeps(path, "-o", out)
    assert result.code == 2, result.stderr
    assert re.search(rf"linebounce: {out}/points/\d: the directory cannot be made: Not a directory", result.stderr)
    assert "failed" not in result.stderr


def test_linebounce_sweep_runs_this_package_on_the_program_that_was_called(sweeps: Sweeps, linebounce: Program) -> None:
    script = linebounce.file("bin/linebounce-sweep", f'#!/bin/sh\nexec "{sys.executable}" -m linebounce.sweep.command "$@"\n')
    script.chmod(0o755)
    del sweeps.environment["LINEBOUNCE"]
    sweeps.environment["PATH"] = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    path = linebounce.file("short.toml", SHORT)
    result = result_of(sweeps.start(linebounce.executable, "sweep", path, "-o", "out"))
    assert result.code == 0, result.stderr
    assert len(finished_points(sweeps.directory / "out")) == 40


def test_sensitivity_finds_the_parameter_that_moves_the_metric(sweeps: Sweeps, linebounce: Program) -> None:
    path = linebounce.file("one.toml", experiment())
    vary = ["--vary", "machine.memory.latency_ns=20%", "--vary", "machine.bus=20%"]
    result = sweeps(path, "-o", "out", *vary, "--metric", "latency.local_memory.mean_ns")
    assert result.code == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("machine.")]
    assert {"machine.memory.latency_ns", "machine.bus.clock_mhz", "machine.bus.snoop_clocks"} <= {row[0] for row in rows}
    elasticities = {row[0]: float(row[-1]) for row in rows}
    assert [abs(value) for value in elasticities.values()] == sorted(map(abs, elasticities.values()), reverse=True)
    assert 0.1 < elasticities["machine.memory.latency_ns"] < 1
    assert elasticities["machine.bus.clock_mhz"] < 0, "a faster bus shortens it"
    # `run` accepts the experiment made for the sweep, and finds its results complete.
    again = linebounce("run", "out/sensitivity.toml", "-o", "out")
    assert again.code == 0, again.stderr
    assert "there already" in again.stdout


def test_sensitivity_is_paired_over_seeds(sweeps: Sweeps, linebounce: Program) -> None:
    path = linebounce.file("one.toml", experiment(run="warmup_us = 5\nmeasure_us = 20\nseeds = 3"))
    arguments = ["--vary", "machine.cpu.clock_mhz=10%", "--metric", "throughput.operations_per_s"]
    result = sweeps(path, "-o", "out", *arguments)
    assert result.code == 0, result.stderr
    assert " ± " in next(line for line in result.stdout.splitlines() if line.startswith("machine.cpu.clock_mhz"))
    wrong = sweeps(path, "-o", "out", *arguments[:-1], "throughput.operation_per_s")
    assert wrong.code == 2
    assert "did you mean throughput.operations_per_s" in wrong.stderr


def test_what_is_off_is_not_varied(sweeps: Sweeps, linebounce: Program) -> None:
    path = linebounce.file("one.toml", experiment(run="warmup_us = 5\nmeasure_us = 20"))
    refused = sweeps(path, "-o", "out", "--vary", "machine.bus.snoop_waits_ns=20%", "--metric", "throughput.operations_per_s")
    assert refused.code == 2
    assert "machine.bus.snoop_waits_ns is -1, which turns it off" in refused.stderr


def test_a_missing_metric_stops_a_sensitivity_at_the_first_points(sweeps: Sweeps, linebounce: Program) -> None:
    more = '[sweep]\n"workload.lock" = ["tas", "mcs"]'
    path = linebounce.file("one.toml", experiment(run="warmup_us = 5\nmeasure_us = 30000", more=more))
    vary = ["--vary", "machine.cpu.clock_mhz=10%", "--vary", "machine.bus=20%", "--vary", "machine.memory=10%"]
    result = sweeps(path, "-o", "out", *vary, "--workers", "1", "--metric", "throughput.operation_per_s")
    assert result.code == 2
    assert "did you mean throughput.operations_per_s?" in result.stderr
    kept = finished_points(sweeps.directory / "out")
    points = linebounce("run", "out/sensitivity.toml", "--plan").stdout.count('"at"')
    assert 2 <= len(kept) < points / 2
    assert "0" in kept
    # The next time, the unknown metric is reported before a cluster starts.
    again = sweeps(path, "-o", "out", *vary, "--metric", "foo")
    assert (again.code, again.stderr.count("\n")) == (2, 1)
    assert '--metric: "foo" is not known; there are ' in again.stderr


def test_percentages_stay_whole_and_below_100() -> None:
    base = {"workload": {"read_pct": 30, "hit_pct": 90, "all_pct": 100, "rest_pct": 97.5}, "machine": {"x_ns": 30}}
    values = {name: variations_of(f"workload.{name}=25%", base)[0] for name in base["workload"]}
    assert {name: (found.lower, found.higher) for name, found in values.items()} == {
        "read_pct": (22, 38),
        "hit_pct": (68, 100),
        "all_pct": (75, 100),
        "rest_pct": (73.125, 100),
    }
    assert all(isinstance(found.higher, int) for name, found in values.items() if name != "rest_pct")
    assert variations_of("machine.x_ns=25%", base)[0].lower == 22.5


def test_files_from_a_worker_stay_in_the_results_directory(tmp_path: Path) -> None:
    here, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    (here / "points").mkdir(parents=True)
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("precious")
    (here / "results.json").symlink_to(elsewhere / "precious")
    (here / "points" / "0").symlink_to(elsewhere)
    write_files(here, {"results.json": b"results"})
    assert (here / "results.json").read_text() == "results"
    with pytest.raises(UsageError, match="points/0: is a symbolic link, and nothing is written elsewhere"):
        write_files(here, {"points/0/results.json": b"results"})
    assert {path.name: path.read_text() for path in elsewhere.iterdir()} == {"precious": "precious"}
