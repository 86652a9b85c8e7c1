"""`linebounce new`: each file works as it is, with the commands that are printed for it."""

import shlex

import pytest
from program import ROOT, Program

# Shorter runs than the printed commands make; only whether they work matters here.
SHORTER = ["--set", "run.measure_us=20", "--set", "run.warmup_us=0", "--set", "run.seeds=1"]


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("experiment", "mine.toml"),
        ("machine", "mine.toml"),
        ("lock", "mine.lua"),
        ("program", "mine.lua"),
        ("protocol", "mine.md"),
    ],
)
def test_the_commands_printed_as_next_steps_work(linebounce: Program, kind: str, file: str) -> None:
    said = linebounce("new", kind, "folder/mine")
    assert said.code == 0, said.stderr
    first, *commands = said.stdout.splitlines()
    assert first.startswith(f"Wrote folder/{file}: ")
    assert "@NAME@" not in (linebounce.directory / "folder" / file).read_text()
    assert len(commands) == 2
    for command in commands:
        _, *words = shlex.split(command)
        shorter = SHORTER if words[0] in ("run", "ab") else []
        done = linebounce(*words, *shorter)
        assert done.code == 0, done.stdout + done.stderr


def test_the_commands_of_a_second_lock_work_beside_the_first_ones_results(linebounce: Program) -> None:
    for name in ("first", "second"):
        command = linebounce("new", "lock", name).stdout.splitlines()[-1]
        done = linebounce(*shlex.split(command)[1:], *SHORTER)
        assert done.code == 0, done.stderr


def test_a_lesson_to_start_from_is_the_one_that_teach_has(linebounce: Program) -> None:
    assert linebounce("new", "lesson", "mine").code == 0
    assert (linebounce.directory / "mine.md").read_bytes() == (ROOT / "teach" / "new-lesson.md").read_bytes()


def test_an_existing_file_is_kept(linebounce: Program) -> None:
    (linebounce.directory / "mine.lua").write_text("mine")
    said = linebounce("new", "lock", "mine.lua")
    assert said.code == 2
    assert said.stderr == "linebounce: mine.lua exists already; nothing was written\n"
    assert (linebounce.directory / "mine.lua").read_text() == "mine"


def test_for_an_unknown_kind_the_known_ones_are_named(linebounce: Program) -> None:
    said = linebounce("new", "lokc", "mine")
    assert said.code == 2
    assert "lock" in said.stderr
    assert not list(linebounce.directory.iterdir())


@pytest.mark.parametrize(
    ("kind", "name", "file"),
    [
        ("machine", "p3_xeon_4way", "configs/machines/p3_xeon_4way.toml"),
        ("experiment", "contention/hold", "configs/experiments/contention/hold.toml"),
        ("lock", "mcs", "programs/locks/mcs.lua"),
        ("lock", "qspinlock", "workloads/locks/qspinlock.cpp"),
        ("protocol", "mesi_snoop", "models/protocols/mesi_snoop.md"),
    ],
)
def test_shipped_files_say_where_they_are(linebounce: Program, kind: str, name: str, file: str) -> None:
    assert (ROOT / file).is_file()
    assert linebounce("describe", kind, name).stdout.splitlines()[-1].split()[:2] == ["file", f"{file};"]
