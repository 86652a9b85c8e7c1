"""The output directory may be unwritable, full, hold other results, or be in use."""

import errno
import os
import re
import resource
from pathlib import Path

import pytest
from experiments import experiment
from program import Program, interrupt, wait_until
from results import assert_same_data, check_results_directory

LONG = experiment(run="warmup_us = 5\nmeasure_us = 100000000")


@pytest.fixture
def small(linebounce: Program) -> Path:
    return linebounce.file("small.toml", experiment())


def test_a_directory_that_cannot_be_made_is_an_error(linebounce: Program, small: Path) -> None:
    assert "/proc/out" in linebounce.refused("run", small, "-o", "/proc/out")


def test_a_file_in_the_directorys_place_is_an_error_and_stays(linebounce: Program, small: Path) -> None:
    taken = linebounce.file("taken", "mine")
    assert "taken" in linebounce.refused("run", small, "-o", "taken")
    assert "taken" in linebounce.refused("run", small, "-o", "taken/below")
    assert taken.read_text() == "mine"


def test_a_directory_with_foreign_files_keeps_them(linebounce: Program, small: Path) -> None:
    notes = linebounce.file("out/notes.txt", "mine")
    linebounce("run", small, "-o", "out")
    linebounce("run", small, "-o", "out", "--fresh")
    assert notes.read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_permission_is_an_error(linebounce: Program, small: Path) -> None:
    (linebounce.directory / "closed").mkdir(mode=0o555)
    assert "closed" in linebounce.refused("run", small, "-o", "closed/out")


def test_a_full_disk_is_an_error_that_names_the_file(linebounce: Program, small: Path, tiny_disk: Path) -> None:
    (tiny_disk / "filler").write_bytes(b"x" * 12 * 1024)
    message = linebounce.refused("run", small, "-o", tiny_disk / "out")
    assert str(tiny_disk) in message
    assert os.strerror(errno.ENOSPC) in message


# Commands that write one file, without its name; and how this ends.
WRITERS = {
    "record": (("trace", "record", "small.toml", "-o"), ".lbt"),
    "synth": (("trace", "synth", "--accesses", "10", "-o"), ".lbt"),
    "steps": (("steps", "small.toml", "-o"), ".json"),
    "murphi": (("check", "msi_snoop", "--murphi"), ".m"),
}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("writer", WRITERS)
def test_a_link_stays_a_link_and_a_device_a_device(linebounce: Program, writer: str) -> None:
    here = linebounce.directory
    command, ending = WRITERS[writer]
    (here / f"new{ending}").symlink_to(f"far{ending}")
    (here / f"far{ending}").symlink_to("sub/file")
    (here / "sub").mkdir()
    (here / f"loop{ending}").symlink_to(f"loop{ending}")
    (here / f"null{ending}").symlink_to("/dev/null")
    (here / f"folder{ending}").symlink_to("sub")
    before = everything_in(here)
    for name, why in [
        (f"new{ending}", ""),
        (f"loop{ending}", os.strerror(errno.ELOOP)),
        (f"null{ending}", ""),
        ("/dev/null", ""),
        (f"folder{ending}", os.strerror(errno.EISDIR)),
    ]:
        done = linebounce(*command, name)
        assert (done.code, done.stderr) == ((2, f"linebounce: {name}: cannot be written: {why}\n") if why else (0, "")), name
    assert Path("/dev/null").is_char_device()
    assert (here / "sub" / "file").stat().st_size > 0
    (here / "sub" / "file").unlink()
    assert everything_in(here) == before
    (here / "sub").rmdir()
    assert linebounce.refused(*command, f"new{ending}") == f"linebounce: new{ending}: cannot be written: " + (
        os.strerror(errno.ENOENT) + "\n"
    )
    assert (here / f"new{ending}").is_symlink()


def everything_in(folder: Path) -> list[tuple[Path, str]]:
    """The files, with what links point to."""
    return sorted((path, os.readlink(path) if path.is_symlink() else "") for path in folder.rglob("*"))


def test_a_recording_of_nothing_leaves_a_link_as_it_was(linebounce: Program) -> None:
    (linebounce.directory / "t.lbt").symlink_to("far.lbt")
    assert "nothing was recorded" in linebounce.refused("record", "-o", "t.lbt", "--", "true")
    assert everything_in(linebounce.directory) == [(linebounce.directory / "t.lbt", "far.lbt")]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["link", "pipe", "hard link", "folder"])
def test_what_has_the_name_of_the_unfinished_file_is_not_written(linebounce: Program, kind: str) -> None:
    """A file behind a link would be overwritten, and a pipe would wait for its reader."""
    mine, there = linebounce.file("mine", "precious"), linebounce.directory / ".out.lbt"
    make = {"link": there.symlink_to, "hard link": there.hardlink_to}
    if kind == "pipe":
        os.mkfifo(there)
    elif kind == "folder":
        there.mkdir()
    else:
        make[kind](mine)
    refused = linebounce.refused("trace", "record", "small.toml", "-o", "out.lbt", timeout=30)
    assert refused == "linebounce: .out.lbt: is in the way; move it, or choose another file\n"
    assert mine.read_text() == "precious"


def test_a_file_that_cannot_grow_is_an_error(linebounce: Program, small: Path) -> None:
    """With a limit on file sizes, writes end early (Python and its children ignore the limit's signal)."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))

    assert "out" in linebounce.refused("run", small, "-o", "out", preexec_fn=limit, restore_signals=False)


def test_results_of_another_configuration_are_refused_and_stay(linebounce: Program, small: Path) -> None:
    first = linebounce.run(small, "out")
    before = (first / "results.json").read_bytes()
    message = linebounce.refused("run", small, "-o", "out", "--set", "machine.memory.latency_ns=200")
    expected = r"out: holds results with machine\.memory\.latency_ns = \d+, not 200\. Choose .* with -o, .* with --fresh, .*\.$"
    assert re.search(expected, message.strip())
    assert (first / "results.json").read_bytes() == before
    linebounce.refused("run", small, "-o", "out", "--seed", "2")


def test_fresh_starts_over_and_keeps_the_earlier_results(linebounce: Program, small: Path) -> None:
    swept = linebounce.file("swept.toml", experiment(more='[sweep]\n"machine.cpus" = [1, 2, 4]'))
    linebounce.run(swept, "out")
    again = linebounce("run", small, "-o", "out", "--fresh")
    assert "out: earlier results are kept in out.1" in again.stderr
    assert_same_data(linebounce.directory / "out", linebounce.run(small, "other"))
    assert_same_data(linebounce.directory / "out.1", linebounce.run(swept, "swept"))
    assert "1 of 3" not in linebounce("run", swept, "-o", "out.1").stdout  # still whole: nothing runs again
    assert "kept in out.2" in linebounce("run", small, "-o", "out/", "--fresh").stderr


def test_results_in_a_folder_of_the_experiments_name_do_not_hide_it(linebounce: Program) -> None:
    short = ("run", "oltp", "--set", "run.warmup_us=10", "--set", "run.measure_us=20", "--set", "run.seeds=1", "-o", "oltp")
    for _ in range(2):
        done = linebounce(*short)
        assert done.code == 0, done.stderr


def test_ab_keeps_the_results_of_another_pair_in_its_default_folder(linebounce: Program, small: Path) -> None:
    for value in ("100", "200"):
        pair = ("--set", "machine.memory.latency_ns=50", "--set", f"machine.memory.latency_ns={value}")
        done = linebounce("ab", small, *pair)
        assert done.code == 0, done.stderr
    assert "earlier results are kept in" in done.stderr
    assert len(list((linebounce.directory / "out").glob("ab_*/results.json"))) == 2


def test_a_refused_run_writes_nothing_and_leaves_the_directory_to_the_corrected_one(linebounce: Program) -> None:
    """Half of this sweep counts references, which a compare-and-exchange loop does not: the workload says so when it is set
    up, which is after the plan was made and before anything runs."""
    sweep = ["ab", "counter_scaling", "--set", "workload.counter=cmpxchg_loop", "--set", "workload.counter=atomic"]
    short = ["--set", "machine.cpus=[1,2]", "--set", "run.warmup_us=5", "--set", "run.measure_us=5", "-o", "out"]
    assert "does not count references" in linebounce.refused(*sweep, *short)
    assert not list((linebounce.directory / "out").rglob("*"))
    corrected = linebounce(*sweep, *short, "--set", 'workload.counts=["events"]')
    assert corrected.code == 0, corrected.stderr


def test_engine_switches_do_not_make_it_another_configuration(linebounce: Program, small: Path) -> None:
    linebounce.run(small, "out")
    linebounce.run(small, "out", "--set", "engine.run_ahead=false")


def test_of_two_runs_at_once_into_one_directory_the_second_is_refused(linebounce: Program) -> None:
    """The second run is refused and disturbs nothing; after the first has ended, the directory is free again."""
    long = linebounce.file("long.toml", LONG)
    out = linebounce.directory / "out"
    first = linebounce.start("run", long, "-o", out)
    try:
        wait_until(out.exists, first)
        wait_until(lambda: any(out.iterdir()), first)
        message = linebounce.refused("run", long, "-o", out)
        assert str(out) in message
        assert first.poll() is None
    finally:
        interrupt(first)
    small = linebounce.file("small.toml", experiment())
    linebounce.run(small, "out", "--fresh")
    check_results_directory(out)
