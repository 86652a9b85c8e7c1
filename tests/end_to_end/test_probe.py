"""linebounce-probe on the machine that runs the tests: what it writes, what it refuses, and how it ends."""

import os
import signal
import subprocess
import time
import tomllib
from pathlib import Path

import pytest
from program import ROOT, Program

CPUS = sorted(os.sched_getaffinity(0))
needs_two = pytest.mark.skipif(len(CPUS) < 2, reason="handing a line over takes two CPUs")


@pytest.fixture(scope="session")
def measured(session_linebounce: Program) -> Path:
    """A quick measurement of two CPUs."""
    probe = session_linebounce.executable.with_name("linebounce-probe")
    path = session_linebounce.directory / "mine.probe"
    command = [probe, "--quick", "--cpus", f"{CPUS[0]},{CPUS[1]}", "-o", path, "--csv", path.with_suffix(".csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "\r" not in done.stderr, "progress is for terminals"
    return path


def probe(linebounce: Program, *arguments: str, cpus: set[int] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [linebounce.executable.with_name("linebounce-probe"), *arguments],
        cwd=linebounce.directory,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None,
    )


@needs_two
def test_the_file_says_what_it_measured_where(measured: Path) -> None:
    found = tomllib.loads(measured.read_text())
    assert found["probe_format"] == 1
    assert found["topology"]["cpus"] == CPUS[:2]
    assert found["host"]["model"]
    assert 100 < found["host"]["clock_median_mhz"] < 10_000
    assert found["core_to_core"]["pairs_measured"] == found["core_to_core"]["pairs"] == 1


@needs_two
def test_it_ends_under_a_real_time_policy_too(linebounce: Program) -> None:
    """A thread that starts where its creator spins would never run."""
    real_time = ["chrt", "-f", "1"]
    if subprocess.run([*real_time, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("real-time policies are not allowed here")
    tool = linebounce.executable.with_name("linebounce-probe")
    command = [*real_time, tool, "--quick", "--cpus", f"{CPUS[0]},{CPUS[1]}", "-o", "mine.probe"]
    subprocess.run(command, cwd=linebounce.directory, capture_output=True, check=True, timeout=60)
    assert tomllib.loads((linebounce.directory / "mine.probe").read_text())["probe_format"] == 1


@needs_two
def test_quartiles_are_on_both_sides_of_the_median(measured: Path) -> None:
    found = tomllib.loads(measured.read_text())
    tables = ("handover", "load_to_use", "atomic", "bandwidth", "lock_handover", "contended_line")
    rows = [row for table in tables for row in found[table]["rows"]]
    assert len(rows) > 20
    for row in rows:
        unit = "mb_per_s" if "median_mb_per_s" in row else "ns"
        if row["repeats"] > 0:
            assert 0 < row[f"quartile1_{unit}"] <= row[f"median_{unit}"] <= row[f"quartile3_{unit}"], row


@needs_two
def test_farther_levels_take_longer_and_an_atomic_is_not_a_miss(measured: Path) -> None:
    """Nothing more precise holds on a machine that other programs use."""
    found = tomllib.loads(measured.read_text())
    levels = {row["level"]: row["median_ns"] for row in found["load_to_use"]["rows"] if row["level"]}
    if "L1" not in levels:
        pytest.skip("the system shows no caches")
    assert levels["L1"] < levels["memory"] / 3
    fetch_add = next(row for row in found["atomic"]["rows"] if row["operation"] == "fetch_add")
    assert fetch_add["median_ns"] < found["core_to_core"]["median_ns"][0][1]


@needs_two
def test_two_cpus_contend_in_every_way_and_the_machine_is_fitted_to_it(linebounce: Program, measured: Path) -> None:
    rows = tomllib.loads(measured.read_text())["contended_line"]["rows"]
    assert {"shared_store", "fetch_add", "store", "increment"} <= {row["operation"] for row in rows}
    assert all(row["cpus"] in (CPUS[:1], CPUS[:2]) for row in rows)
    done = linebounce("calibrate", "--from", measured, "-o", "mine.toml", "--family", "intel_mesh")
    assert done.code == 0, done.stderr
    assert "what waiting costs" in done.stdout


@needs_two
def test_a_measured_matrix_becomes_a_calibrated_machine_and_its_picture(linebounce: Program, measured: Path) -> None:
    assert (
        linebounce("calibrate", "--from", measured.with_suffix(".csv"), "-o", "mine.toml", "--family", "intel_mesh").code == 0
    )
    run = linebounce("run", "core_to_core", "--machine", "./mine.toml", "--set", "workload.access=atomic", "-o", "out")
    assert run.code == 0, run.stderr
    shown = linebounce("report", "out", "--measured", measured, "--figures", "figures")
    assert shown.code == 0, shown.stderr
    for name in ("measured", "simulated", "difference"):
        assert (linebounce.directory / "figures" / "out" / f"{name}.svg").stat().st_size > 1000
    page = (linebounce.directory / "out.html").read_text()
    assert "Beside the measurement" in page


@needs_two
def test_a_measured_matrix_that_does_not_fit_is_refused(linebounce: Program, measured: Path) -> None:
    run = linebounce("run", "core_to_core", "--machine", "p3_xeon_4way", "-o", "out")
    assert run.code == 0, run.stderr
    said = linebounce.refused("report", "out", "--measured", measured)
    assert "a machine of 4 CPUs, but the measured matrix has 2" in said
    linebounce.file("bad.csv", ",\n1\n")
    assert "the matrix is not square" in linebounce.refused("report", "out", "--measured", "bad.csv", code=3)
    assert "there is no such file" in linebounce.refused("report", "out", "--measured", "nowhere.probe", code=3)


def test_one_cpu_is_refused_with_the_reason(linebounce: Program) -> None:
    done = probe(linebounce, "-o", "one.probe", cpus={CPUS[0]})
    assert done.returncode == 2
    assert f"only CPU {CPUS[0]} may be used, and handing a line over takes two" in done.stderr
    assert list(linebounce.directory.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--quik"], "there is no option --quik"),
        (["--cpus"], "--cpus needs a value"),
        (["--cpus", "0-"], "must be a list of CPUs, such as 0-7,16"),
        (["--cpus", "0,1023"], "CPU 1023 is not one that this program may run on"),
        (["-o", "mine.csv"], "mine.csv: the name of this file ends in .probe, not in .csv"),
        (["--csv", "mine.probe"], "mine.probe: is the file of -o, too"),
        (["-o", "."], ".: this is a folder; give a file"),
        (["-o", "nowhere/mine.probe"], "nowhere/mine.probe: cannot be written: No such file"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_measured(linebounce: Program, arguments: list[str], said: str) -> None:
    begin = time.monotonic()
    done = probe(linebounce, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert time.monotonic() - begin < 5


@needs_two
@pytest.mark.parametrize("seconds", [0.1, 0.5])
def test_an_interrupt_leaves_nothing_half_written(linebounce: Program, seconds: float) -> None:
    command = [linebounce.executable.with_name("linebounce-probe"), "-o", "mine.probe"]
    with subprocess.Popen(command, cwd=linebounce.directory, stderr=subprocess.PIPE, text=True) as running:
        time.sleep(seconds)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=20) == 130
    assert list(linebounce.directory.iterdir()) == []


def test_help_has_examples_and_no_privileges_are_asked_for(linebounce: Program) -> None:
    shown = probe(linebounce, "--help")
    assert shown.returncode == 0
    assert "linebounce calibrate --from mine.probe -o mine.toml" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 120


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_one_command_builds_the_probe(linebounce: Program, compiler: str) -> None:
    output = linebounce.directory / "linebounce-probe"
    flags = ["-std=c11", "-O2", "-pthread", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *flags, ROOT / "probe" / "probe.c", "-o", output], check=True)
    assert "linebounce-probe" in subprocess.run([output, "--version"], capture_output=True, text=True, check=True).stdout
