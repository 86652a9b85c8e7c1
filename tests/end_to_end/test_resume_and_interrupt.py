"""A run that ends early keeps everything that was finished, and the next call continues from there."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from experiments import experiment
from program import Program, interrupt, wait_until
from results import assert_same_data, check_results_directory, validate

SWEEP = experiment(more='[sweep]\n"machine.cpus" = [1, 2, 4]')
# Two points end soon; the third would take hours.
ENDLESS = experiment(run="warmup_us = 5", more='[sweep]\n"run.measure_us" = [20, 30, 1000000000]')


def finished_points(out: Path) -> set[str]:
    return {path.parent.name for path in out.glob("points/*/results.json")}


@pytest.fixture
def stopped_at_the_third_point(linebounce: Program) -> Path:
    """A results directory after Ctrl-C during the third point."""
    path = linebounce.file("endless.toml", ENDLESS)
    out = linebounce.directory / "out"
    process = linebounce.start("run", path, "-o", out)
    wait_until(lambda: finished_points(out) == {"0", "1"}, process)
    result = interrupt(process)
    assert result.code == 130, result.stderr
    return out


def test_an_interrupted_run_keeps_finished_points_and_says_so(stopped_at_the_third_point: Path) -> None:
    out = stopped_at_the_third_point
    assert finished_points(out) == {"0", "1"}
    manifest = validate(out / "manifest.json", "manifest")
    assert "interrupted" in json.dumps(manifest)
    assert manifest["status"] == "interrupted"


def test_an_interrupted_run_continues_without_repeating_finished_points(
    linebounce: Program, stopped_at_the_third_point: Path
) -> None:
    out = stopped_at_the_third_point
    before = {point: (out / "points" / point / "results.json").stat() for point in ["0", "1"]}
    manifest = (out / "manifest.json").stat().st_ino
    process = linebounce.start("run", "endless.toml", "-o", out)
    # Waits until the manifest is rewritten, which happens after the run begins to handle signals. An earlier signal may be lost
    # if the process that started the tests ignores it.
    wait_until(lambda: (out / "manifest.json").stat().st_ino != manifest, process)
    interrupt(process)
    for point, stat in before.items():
        now = (out / "points" / point / "results.json").stat()
        assert (now.st_mtime_ns, now.st_ino) == (stat.st_mtime_ns, stat.st_ino)


def test_a_terminated_run_keeps_finished_points(linebounce: Program) -> None:
    """SIGTERM to the process only, as sent by `kill` or a batch system."""
    path = linebounce.file("endless.toml", ENDLESS)
    out = linebounce.directory / "out"
    process = linebounce.start("run", path, "-o", out)
    wait_until(lambda: finished_points(out) == {"0", "1"}, process)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode != 0
    assert finished_points(out) == {"0", "1"}


@pytest.mark.usefixtures("signals_count")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGQUIT, 130), (signal.SIGUSR1, 130), (signal.SIGXCPU, 130), (signal.SIGPIPE, -signal.SIGPIPE)],
)
def test_a_run_tidies_up_after_other_signals(linebounce: Program, number: signal.Signals, code: int) -> None:
    """SIGPIPE ends it without a word, as it ends other programs."""
    process = linebounce.start("run", linebounce.file("endless.toml", ENDLESS), "-o", "out")
    wait_until(lambda: finished_points(linebounce.directory / "out") == {"0", "1"}, process)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == code
    assert finished_points(linebounce.directory / "out") == {"0", "1"}
    assert not list((linebounce.directory / "out").rglob(".*"))


@pytest.mark.parametrize("whole_group", [True, False], ids=["with its points", "alone"])
def test_a_killed_run_continues_and_ends_like_an_undisturbed_one(linebounce: Program, whole_group: bool) -> None:
    path = linebounce.file("sweep.toml", SWEEP)
    out = linebounce.directory / "out"
    process = linebounce.start("run", path, "-o", out)
    wait_until(lambda: len(finished_points(out)) >= 1, process)
    if whole_group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate(timeout=30)
    linebounce.run(path, "out")
    assert_same_data(out, linebounce.run(path, "undisturbed"))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "emptied": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-40]),
    "another digit": lambda file: file.write_text(
        re.sub(r"\d(?=\D*\Z)", lambda digit: str((int(digit[0]) + 1) % 10), file.read_text())
    ),
    "a link to itself": lambda file: (file.unlink(), file.symlink_to(file.name)),
    "a link to a device without end": lambda file: (file.unlink(), file.symlink_to("/dev/zero")),
    "a pipe": lambda file: (file.unlink(), os.mkfifo(file)),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("swept", [True, False], ids=["of a sweep", "of one point"])
def test_a_point_with_a_damaged_file_is_run_again_and_named(linebounce: Program, damage: str, swept: bool) -> None:
    path = linebounce.file("sweep.toml", SWEEP if swept else experiment())
    out = linebounce.run(path, "out")
    undisturbed = linebounce.run(path, "undisturbed")
    files = ["locks.csv", "lines.csv", "results.json"] if damage == "another digit" else ["locks.csv", "results.json"]
    for name in files:
        DAMAGES[damage]((out / "points" / "1" if swept else out) / name)
        again = linebounce("run", path, "-o", "out", timeout=60)
        assert again.code == 0, again.stderr
        assert name in again.stderr
        if swept:
            assert "point 1 (machine.cpus = 2)" in again.stderr
            assert "2 points had been run before" in again.stdout
        assert_same_data(out, undisturbed)
    assert linebounce("run", path, "-o", "out").stderr == ""


def test_a_file_that_the_run_did_not_write_makes_a_point_run_again(linebounce: Program) -> None:
    path = linebounce.file("sweep.toml", SWEEP)
    out = linebounce.run(path, "out")
    (out / "points" / "1" / "timeline.csv").write_text("kind,track\n")
    assert "timeline.csv" in linebounce("run", path, "-o", "out").stderr
    assert_same_data(out, linebounce.run(path, "undisturbed"))


def test_a_damaged_point_is_missing_in_a_plan_and_in_a_merge(linebounce: Program) -> None:
    path = linebounce.file("sweep.toml", SWEEP)
    out = linebounce.run(path, "out")
    (out / "points" / "1" / "locks.csv").unlink()
    assert json.loads(linebounce("run", path, "-o", "out", "--plan").stdout)["done"] == [0, 2]
    message = linebounce.refused("run", path, "-o", "out", "--merge", code=3)
    assert "locks.csv is missing" in message
    assert "1 point not run yet: 1" in message


def test_a_killed_runs_complete_seeds_are_used_and_its_leftovers_removed(linebounce: Program) -> None:
    path = linebounce.file("seeds.toml", experiment(run="measure_us = 20\nseeds = 3"))
    out = linebounce.run(path, "out")
    left = out / ".linebounce-seed-2"
    left.write_text("{}")  # what remains of a run that was killed after it had written its manifest
    linebounce.run(path, "out")
    assert not left.exists()


def test_a_finished_run_is_not_repeated_and_shows_its_results_again(linebounce: Program) -> None:
    path = linebounce.file("sweep.toml", SWEEP)
    out = linebounce.run(path, "out")
    before = {point: os.stat(out / "points" / str(point) / "results.json").st_mtime_ns for point in range(3)}
    result = linebounce("run", path, "-o", "out")
    assert result.code == 0
    assert "out" in result.stdout
    assert before == {point: os.stat(out / "points" / str(point) / "results.json").st_mtime_ns for point in range(3)}


def test_an_extended_measurement_is_another_configuration(linebounce: Program) -> None:
    path = linebounce.file("sweep.toml", SWEEP)
    linebounce.run(path, "out")
    assert "--fresh" in linebounce.refused("run", path, "-o", "out", "--set", "run.measure_us=30")


def test_an_interrupt_before_the_first_point_has_ended_shows_nothing(linebounce: Program) -> None:
    path = linebounce.file("long.toml", experiment(run="measure_us = 1000000000"))
    out = linebounce.directory / "out"
    process = linebounce.start("run", path, "-o", out)
    wait_until(lambda: out.exists() and any(out.iterdir()), process)
    interrupted = interrupt(process)
    assert interrupted.code == 130
    assert interrupted.stdout == "", "there is nothing to show"
    assert validate(out / "manifest.json", "manifest")["status"] == "interrupted"


def test_no_process_is_left_behind_by_an_interrupt_of_the_parent_alone(linebounce: Program) -> None:
    path = linebounce.file("endless.toml", ENDLESS)
    out = linebounce.directory / "out"
    process = linebounce.start("run", path, "-o", out, "-j", "2")
    wait_until(lambda: finished_points(out) == {"0", "1"}, process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)  # also waits for all processes that keep its output open
    assert process.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.usefixtures("signals_count")
@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_comes_early_is_an_interrupt_too(linebounce: Program, with_signal: signal.Signals) -> None:
    path = linebounce.file("long.toml", experiment(run="measure_us = 1000000000"))
    interrupted = 0
    for milliseconds in (20, 40, 60, 80, 100, 200, 1000):
        process = linebounce.start("run", path, "-o", "out")
        time.sleep(milliseconds / 1000)
        if catches(process, with_signal):
            assert interrupt(process, with_signal).code == 130
            interrupted += 1
        else:
            interrupt(process, with_signal)
    assert interrupted


def catches(process: subprocess.Popen, with_signal: signal.Signals) -> bool:
    """Whether the program has reached main(). Before that, the signal ends it like any other program, and nothing can be
    lost."""
    caught = re.search(r"^SigCgt:\t(\w+)$", Path(f"/proc/{process.pid}/status").read_text(), re.MULTILINE)
    return bool(caught and int(caught[1], 16) >> (with_signal - 1) & 1)


def test_interrupts_that_were_ignored_from_the_start_stay_so(linebounce: Program) -> None:
    """As under `nohup`, or in a shell's background jobs."""
    path = linebounce.file("short.toml", experiment(run="measure_us = 3000"))
    ignoring = f"trap '' INT; exec {linebounce.executable} run {path} -o out"
    process = subprocess.Popen(["sh", "-c", ignoring], cwd=linebounce.directory, process_group=0, stdout=subprocess.DEVNULL)
    linebounce.started.append(process)
    wait_until((linebounce.directory / "out" / "manifest.json").exists, process)
    while process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.05)
    assert process.returncode == 0


def test_fresh_restarts_a_point_whatever_exists(linebounce: Program) -> None:
    path = linebounce.file("sweep.toml", SWEEP)
    out = linebounce.run(path, "out")
    other = ["--set", "run.measure_us=30"]
    assert linebounce("run", path, "-o", out, "--point", "0", "--point", "1", "--fresh", *other).code == 0
    assert finished_points(out) == {"0", "1"}
    assert "is done:" in linebounce("run", path, "-o", out, "--point", "1", "--fresh", *other).stdout
    assert finished_points(out) == {"0", "1", "1.1"}  # the point's earlier results are kept
    assert linebounce("run", path, "-o", out, *other).code == 0


def test_points_run_by_hand_and_merged_are_the_same_run(linebounce: Program) -> None:
    path = linebounce.file("sweep.toml", SWEEP)
    plan = linebounce("run", path, "--plan")
    assert plan.code == 0
    points = json.loads(plan.stdout)
    points = points["points"] if isinstance(points, dict) else points
    assert [point["at"] for point in points] == [{"machine.cpus": cpus} for cpus in [1, 2, 4]]
    for number in [2, 0, 1]:
        assert linebounce("run", path, "-o", "out", "--point", str(number)).code == 0
    merged = linebounce("run", path, "-o", "out", "--merge")
    assert merged.code == 0, merged.stderr
    check_results_directory(linebounce.directory / "out")
    assert_same_data(linebounce.directory / "out", linebounce.run(path, "at_once"))


def test_several_points_run_in_one_call_and_the_plan_lists_them(linebounce: Program) -> None:
    path = linebounce.file("sweep.toml", SWEEP)
    result = linebounce("run", path, "-o", "out", "--point", "2", "--point", "0")
    assert result.code == 0, result.stderr
    assert finished_points(linebounce.directory / "out") == {"0", "2"}
    plan = json.loads(linebounce("run", path, "-o", "out", "--plan").stdout)
    assert plan["done"] == [0, 2]
    assert "done" not in json.loads(linebounce("run", path, "--plan").stdout)
    assert "--fresh" in linebounce.refused("run", path, "-o", "out", "--plan", "--set", "run.measure_us=30")
    said = linebounce.refused("run", path, "-o", "out", "--point", "1", "--point", "3")
    assert "--point: 3 is out of range; legal: 0 to 2" in said


def test_merging_too_early_is_an_error_that_names_the_missing_points(linebounce: Program) -> None:
    path = linebounce.file("sweep.toml", SWEEP)
    assert linebounce("run", path, "-o", "out", "--point", "0").code == 0
    result = linebounce("run", path, "-o", "out", "--merge")
    assert result.code in {2, 3}
    assert "1" in result.stderr
    assert "2" in result.stderr
