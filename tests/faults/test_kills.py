"""kill -9 at any moment: the same command then ends as if nothing had happened; a trace is whole, absent, or recoverable.

`./dev test` tries a few moments of each command; LINEBOUNCE_KILLS=200 pytest tests/faults/test_kills.py tries more.
"""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tarfile
import time
from pathlib import Path

import pytest
from experiments import experiment
from installation import OSQ_HEADER, OSQ_SOURCE
from program import Program
from recorded import Recorder
from results import assert_same_data, check_results_directory, data_files

KILLS = int(os.environ.get("LINEBOUNCE_KILLS", "3"))
SWEEP = experiment(run="warmup_us = 5\nmeasure_us = 300\nseeds = 2", more='[sweep]\n"machine.cpus" = [1, 2, 4]')
ONE = experiment(run="warmup_us = 5\nmeasure_us = 2000")


def kill_after(program: Program, seconds: float, *arguments: str, whole_group: bool = True) -> bool:
    """Returns whether the program was still running."""
    process = program.start(*arguments)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
        return False
    if whole_group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate(timeout=60)
    return True


def seconds_of(program: Program, *arguments: str) -> float:
    began = time.monotonic()
    done = program(*arguments)
    assert done.code == 0, done.stderr
    return time.monotonic() - began


def no_temporaries(directory: Path) -> None:
    left = [path.name for path in directory.rglob(".*") if path.name != ".linebounce-lock"]
    assert not left, left


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_a_run_that_is_killed_again_and_again_comes_to_its_end(linebounce: Program, command: str) -> None:
    chance = random.Random(command)
    path = str(linebounce.file("sweep.toml", SWEEP))
    undisturbed = linebounce.run(path, "undisturbed")
    more = ["--workers", "2"] if command == "sweep" else ["-j", "2"]
    seconds = seconds_of(linebounce, command, path, "-o", "timed", *more)
    killed, kills = 0, KILLS if command == "run" else max(1, KILLS // 5)
    for _ in range(kills):
        shutil.rmtree(linebounce.directory / "out", ignore_errors=True)
        # The second kill comes while the command works on what the first one left.
        for _ in range(2):
            moment = chance.uniform(0, 1.1 * seconds)
            hit = kill_after(linebounce, moment, command, path, "-o", "out", *more, whole_group=chance.random() < 0.7)
            killed += hit
            seconds *= 1 if hit else 0.5  # the program had ended before the kill: the time was measured on a busier machine
        again = linebounce(command, path, "-o", "out", *more)
        assert again.code == 0, again.stderr
        check_results_directory(linebounce.directory / "out")
        assert_same_data(linebounce.directory / "out", undisturbed)
        no_temporaries(linebounce.directory / "out")
    assert killed


def test_fresh_that_is_killed_mixes_nothing(linebounce: Program) -> None:
    chance = random.Random("fresh")
    first = str(linebounce.file("first.toml", SWEEP))
    second = str(linebounce.file("second.toml", SWEEP.replace("300", "310")))
    before = linebounce.run(first, "before")
    undisturbed = linebounce.run(second, "undisturbed")
    for _ in range(KILLS):
        out = linebounce.directory / "out"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(before, out)
        kill_after(linebounce, chance.uniform(0, 0.15), "run", second, "-o", "out", "--fresh", "-j", "2")
        again = linebounce("run", second, "-o", "out")
        if again.code == 2:  # it was killed before it had deleted all earlier results; the manifest goes last
            assert re.search(
                r"out: holds results (of another configuration|with run.measure_us = 300, not 310)\.", again.stderr
            )
            # The next successful command removes temporary files of the killed one.
            there = {name: path for name, path in data_files(out).items() if ".linebounce-tmp-" not in name}
            assert all(path.read_bytes() == (before / name).read_bytes() for name, path in there.items())
            if there.keys() != data_files(before).keys():
                assert json.loads((out / "manifest.json").read_text())["status"] == "interrupted"
        else:
            assert again.code == 0, again.stderr
            assert_same_data(out, undisturbed)


@pytest.mark.parametrize("form", ["lbt", "txt"])
def test_an_unfinished_trace_leaves_no_file(linebounce: Program, form: str) -> None:
    chance = random.Random(form)
    path = str(linebounce.file("one.toml", ONE))
    command = ("trace", "record", path, "-o", f"t.{form}")
    seconds = seconds_of(linebounce, *command)
    trace = linebounce.directory / f"t.{form}"
    whole = trace.read_bytes()
    killed = 0
    for _ in range(KILLS):
        trace.write_text("what was there before")
        hit = kill_after(linebounce, chance.uniform(0, seconds), *command)
        killed += hit
        seconds *= 1 if hit else 0.5
        assert trace.read_bytes() in (whole, b"what was there before")
        assert linebounce(*command).code == 0
        assert trace.read_bytes() == whole
        assert sorted(each.name for each in linebounce.directory.iterdir()) == ["one.toml", trace.name]
    assert killed


def test_a_lock_that_is_killed_again_and_again_is_as_it_was_or_as_it_is_to_be(linebounce: Program) -> None:
    """kill -9 and Ctrl-C: no source is there in part, and the next command deletes what was left."""
    chance = random.Random("lock")
    for name, text in (("old", OSQ_SOURCE), ("new", OSQ_SOURCE + "/* " + "x" * 2000 + " */\n")):
        linebounce.file(f"{name}/include/linux/osq_lock.h", OSQ_HEADER)
        linebounce.file(f"{name}/kernel/locking/osq_lock.c", text)
    with tarfile.open(linebounce.directory / "new.tar.xz", "w:xz") as archive:
        archive.add(linebounce.directory / "new", "linux-6.1")
    out = linebounce.directory / "out"
    command = ("lock", "osq", "--kernel", "new.tar.xz", "-o", "out")
    seconds = seconds_of(linebounce, *command)
    whole = {name: path.read_bytes() for name, path in data_files(out).items()}
    for number in range(3 * KILLS):
        assert linebounce("lock", "osq", "--kernel", "old", "-o", "out").code == 0
        earlier = {name: path.read_bytes() for name, path in data_files(out).items()}
        process = linebounce.start(*command)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(chance.uniform(0, seconds))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT if number % 3 == 0 else signal.SIGKILL)
        process.communicate(timeout=60)
        for folder in ("source", "headers"):
            there = {name: path.read_bytes() for name, path in data_files(out).items() if name.startswith(f"{folder}/")}
            known = [{name: of[name] for name in of if name.startswith(f"{folder}/")} for of in (earlier, whole)]
            assert there in (*known, {}), "a kill between two renames may leave none"
        if number % 3 == 0:
            assert not list(out.glob(".linebounce-tmp-*")), "a signal that can be caught leaves nothing"
        assert linebounce(*command).code == 0
        assert {name: path.read_bytes() for name, path in data_files(out).items()} == whole


COUNTING = """
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile long total;
int main(void) {
  for (int i = 0; i < 200000; i++) {
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
  }
  puts("done");
}
"""


def test_a_recorder_that_is_killed_leaves_its_program_alone_and_a_trace_to_recover(recorder: Recorder) -> None:
    chance = random.Random("recorder")
    linebounce = recorder.linebounce
    program = recorder.compile(COUNTING)
    began = time.monotonic()
    recorder.run("-o", "whole.lbt", "--", program)
    seconds = time.monotonic() - began
    trace = linebounce.directory / "t.lbt"
    for _ in range(KILLS):
        trace.unlink(missing_ok=True)
        command = [recorder.tool("linebounce-record"), "-o", trace.name, "--", program]
        with subprocess.Popen(command, cwd=linebounce.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(chance.uniform(0, seconds))
            running.kill()
            said = running.communicate(timeout=60)[0]
        assert said in (b"done\n", b""), "the program went on to its end, or had not begun"
        if trace.exists():
            recover(linebounce, trace)


def test_a_recording_that_is_killed_leaves_the_earlier_one(recorder: Recorder) -> None:
    """An earlier trace is replaced only by a complete one; what was cut off lies beside it, to be recovered."""
    chance = random.Random("earlier")
    linebounce = recorder.linebounce
    program = recorder.compile(COUNTING)
    began = time.monotonic()
    recorder.run("-o", "t.lbt", "--", program)
    seconds = time.monotonic() - began
    trace, beside = linebounce.directory / "t.lbt", linebounce.directory / ".t.lbt"
    earlier = trace.read_bytes()
    left = 0
    for _ in range(KILLS):
        command = [recorder.tool("linebounce-record"), "-o", trace.name, "--", program]
        with subprocess.Popen(command, cwd=linebounce.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(chance.uniform(0.3 * seconds, seconds))
            running.kill()
            running.communicate(timeout=60)
        if beside.exists():
            left += 1
            assert trace.read_bytes() == earlier
            recover(linebounce, beside)
        assert linebounce("trace", "info", "--check", trace.name).code == 0
        earlier = trace.read_bytes()
    assert left
    recorder.run("-o", "t.lbt", "--", program)
    assert not beside.exists()
    assert trace.read_bytes() != earlier


def recover(linebounce: Program, trace: Path) -> None:
    """A complete trace is read as it is, and an incomplete one up to its damage; neither is mistaken for the other."""
    checked = linebounce("trace", "info", "--check", trace.name)
    assert checked.code in (0, 3), checked.stderr
    recovered = linebounce("trace", "convert", "--recover", trace.name, "recovered.lbt")
    assert recovered.code == 0 or (recovered.code == 3 and trace.stat().st_size < 4096), recovered.stderr
    if recovered.code == 0:
        assert linebounce("trace", "info", "--check", "recovered.lbt").code == 0
