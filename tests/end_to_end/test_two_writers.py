"""Of two processes writing the same file, the second is refused or writes elsewhere; the file stays whole."""

import signal
import subprocess
from pathlib import Path

import pytest
from experiments import experiment
from program import Program, wait_until
from recorded import Recorder

BUSY = "is being written by another process; wait for it, or choose another file"
ENDLESS = experiment(run="warmup_us = 5\nmeasure_us = 1000000000")

# Runs until its standard input ends.
WAITING = """
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long total;
int main(void) {
  pthread_mutex_lock(&lock);
  ++total;
  pthread_mutex_unlock(&lock);
  puts("begun");
  fflush(stdout);
  getchar();
}
"""


@pytest.fixture
def recording(linebounce: Program) -> "subprocess.Popen[str]":
    """A running recording of t.lbt."""
    recorder = Recorder(linebounce)
    command = [recorder.tool("linebounce-record"), "-o", "t.lbt", "--", recorder.compile(WAITING)]
    process = subprocess.Popen(
        command, cwd=linebounce.directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def whole(linebounce: Program, trace: str) -> None:
    checked = linebounce("trace", "info", "--check", trace)
    assert checked.code == 0, checked.stderr


def test_a_second_recording_of_a_trace_is_refused_before_its_program_runs(
    linebounce: Program, recording: "subprocess.Popen[str]"
) -> None:
    (linebounce.directory / "small.toml").write_text(experiment())
    second = linebounce("record", "-o", "t.lbt", "--", "touch", "ran")
    assert (second.code, BUSY in second.stderr) == (2, True), second.stderr
    assert not (linebounce.directory / "ran").exists()
    assert BUSY in linebounce.refused("trace", "record", "small.toml", "-o", "t.lbt")
    recording.communicate("\n", timeout=60)
    assert recording.returncode == 0
    whole(linebounce, "t.lbt")


def test_a_recording_whose_file_is_removed_does_not_end_successfully(
    linebounce: Program, recording: "subprocess.Popen[str]"
) -> None:
    (linebounce.directory / "t.lbt").unlink()
    _, said = recording.communicate("\n", timeout=60)
    assert recording.returncode == 2
    assert "t.lbt: was deleted or replaced while it was written: this trace is lost" in said


@pytest.mark.usefixtures("signals_count")
def test_a_file_under_way_has_one_writer(linebounce: Program) -> None:
    path = linebounce.file("endless.toml", ENDLESS)
    command = ("trace", "record", path, "-o", "out.txt")
    under_way = linebounce.directory / ".out.txt"
    first = linebounce.start(*command)
    wait_until(under_way.exists, first)
    assert BUSY in linebounce.refused(*command)
    first.send_signal(signal.SIGHUP)
    assert first.wait(60) == 130
    assert {file.name for file in Path(linebounce.directory).iterdir()} == {"endless.toml"}


def spellings(folder: Path, name: str) -> list[str]:
    """Other names of a file or directory: absolute, by way of another folder, and through links to its folder and itself."""
    (folder / "sub").mkdir()
    (folder / "folder").symlink_to(".")
    (folder / "link").mkdir()
    (folder / "link" / name).symlink_to(f"../{name}")
    return [str(folder / name), f"./sub/../{name}", f"folder/{name}", f"link/{name}"]


def test_a_file_under_way_has_one_writer_by_whatever_name(linebounce: Program) -> None:
    """A hard link is another file once one of the two is written: its writer replaces that name alone."""
    path = linebounce.file("endless.toml", ENDLESS)
    small = linebounce.file("small.toml", experiment())
    (linebounce.file("out.lbt", "of before")).with_name("hard.lbt").hardlink_to(linebounce.directory / "out.lbt")
    first = linebounce.start("trace", "record", path, "-o", "out.lbt")
    wait_until((linebounce.directory / ".out.lbt").exists, first)
    for name in spellings(linebounce.directory, "out.lbt"):
        assert f"{name}: {BUSY}" in linebounce.refused("trace", "record", small, "-o", name)
    assert linebounce("trace", "record", small, "-o", "hard.lbt").code == 0
    whole(linebounce, "hard.lbt")
    first.terminate()
    assert first.wait(60) == 130
    assert (linebounce.directory / "out.lbt").read_text() == "of before"
    assert (linebounce.directory / "link" / "out.lbt").is_symlink()


def test_a_recording_has_one_writer_by_whatever_name(linebounce: Program, recording: "subprocess.Popen[str]") -> None:
    small = linebounce.file("small.toml", experiment())
    (linebounce.directory / "hard.lbt").hardlink_to(linebounce.directory / "t.lbt")
    for name in [*spellings(linebounce.directory, "t.lbt"), "hard.lbt"]:
        assert f"{name}: {BUSY}" in linebounce.refused("trace", "record", small, "-o", name)
        assert f"{name}: {BUSY}" in linebounce.refused("record", "-o", name, "--", "touch", "ran")
    recording.communicate("\n", timeout=60)
    assert recording.returncode == 0
    whole(linebounce, "t.lbt")


def test_a_results_directory_has_one_writer_by_whatever_name(linebounce: Program) -> None:
    path = linebounce.file("endless.toml", ENDLESS)
    first = linebounce.start("run", path, "-o", "out")
    wait_until((linebounce.directory / "out" / "manifest.json").exists, first)
    for name in spellings(linebounce.directory, "out"):
        assert "another run (process" in linebounce.refused("run", path, "-o", name)
    first.terminate()
    assert first.wait(60) == 130


def test_a_results_directory_has_one_writer(linebounce: Program) -> None:
    path = linebounce.file("endless.toml", ENDLESS)
    first = linebounce.start("run", path, "-o", "out")
    wait_until((linebounce.directory / "out" / "manifest.json").exists, first)
    assert "another run (process" in linebounce.refused("run", path, "-o", "out")
    assert "another run (process" in linebounce.refused("run", path, "-o", "out", "--fresh")
    first.terminate()
    assert first.wait(60) == 130
