"""`linebounce advise`: the advice for programs with and without something worth changing."""

import json
import os
import pty
import re
import subprocess

import pytest
from program import ROOT, Program
from recorded import Recorder

MACHINES = ("--machine", "p3_xeon_8way", "--machine", "generic_2socket_32core")

# Each of four threads counts in its own counter. APART puts the counters on separate lines; LOCK and UNLOCK guard them.
PROGRAM = r"""
#include <pthread.h>
#include <stdatomic.h>
static struct { volatile long count; APART } counters[4] __attribute__((aligned(64)));
static atomic_int gate;
static void* work(void* me) {
  for (int i = 0; i < 1500; ++i) {
    LOCK;
    ++counters[(long)me].count;
    UNLOCK;
  }
  return me;
}
int main(void) {
  pthread_t threads[4];
  for (long i = 0; i < 4; ++i) pthread_create(threads + i, 0, work, (void*)i);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
}
"""
APART = "char apart[56];"


def advised(linebounce: Program, apart: str, lock: str = "", unlock: str = "") -> dict:
    recorder = Recorder(linebounce)
    program = PROGRAM.replace("APART", apart).replace("UNLOCK", unlock).replace("LOCK", lock)
    recorder.record(recorder.compile(program, "-O1"), options=("--untimed",))
    result = linebounce("advise", "trace.lbt", *MACHINES, "--json", "-o", "out")
    assert result.code == 0, result.stderr
    page = json.loads(result.stdout)
    assert page == json.loads((linebounce.directory / "out" / "advise.json").read_text())
    assert page["schema"] == "linebounce.advise/1"
    assert page["missing"], "what was not seen stands beside each verdict"
    return page


def test_counters_in_one_line_are_to_be_laid_apart_on_both_machines(linebounce: Program) -> None:
    page = advised(linebounce, apart="")
    (change,) = page["changes"]
    assert "counters" in change["what"]
    assert "aligned(64)" in change["edit"], "of the machine with the longer lines"
    assert [gain["machine"] for gain in change["gains"]] == list(MACHINES[1::2])
    assert all(gain["change_low_pct"] > 5 for gain in change["gains"])
    assert change["gains"][0]["confirmed"]
    assert page["verdict"].startswith("One change is worth making")


def test_counters_that_lie_apart_are_left_alone(linebounce: Program) -> None:
    page = advised(linebounce, apart=APART)
    assert page["changes"] == []
    assert page["verdict"].startswith("Nothing that was tried is worth changing: on p3_xeon_8way ")
    assert page["verdict"].endswith(" of the threads' time is computation and hits in the nearest cache, in work.")


def test_a_programs_own_lock_is_among_the_compared_ones(linebounce: Program) -> None:
    spin = "while (atomic_exchange_explicit(&gate, 1, memory_order_acquire)) {}"
    page = advised(linebounce, APART, spin, "atomic_store_explicit(&gate, 0, memory_order_release)")
    assert (linebounce.directory / "out" / "locks" / "with_word_locks.lbt").exists(), "it was taken for a lock"
    for change in page["changes"] + page["depends"]:
        assert change["what"].startswith("replace the lock gate (a word that behaves like one) by ")


@pytest.mark.parametrize("apart", ["", APART])
def test_the_page_begins_with_the_verdict(linebounce: Program, apart: str) -> None:
    page = advised(linebounce, apart)
    shown = linebounce("advise", "trace.lbt", *MACHINES, "-o", "out")
    assert shown.code == 0, shown.stderr
    assert [line.strip() for line in shown.stdout.splitlines()[:2]] == [page["basis"], page["verdict"]]
    assert "not seen" in shown.stdout


# Four threads, each with a counter in an array and its own block from one calloc. They often yield the processor, so that even
# on a busy machine a window of the recording has operations of several threads.
SEVERAL = """
#include <pthread.h>
#include <stdlib.h>
struct args { volatile long sum, rounds; };
static volatile long hits[4];
static struct args *blocks;
static pthread_barrier_t turn;
static void *work(void *me) {
  for (int i = 0; i < 1000; ++i) {
    if (i % 50 == 0) pthread_barrier_wait(&turn);
    hits[(long)me]++;
    blocks[(long)me].sum += i;
  }
  return me;
}
int main(void) {
  pthread_t threads[4];
  blocks = calloc(4, sizeof *blocks);
  pthread_barrier_init(&turn, 0, 4);
  for (long i = 0; i < 4; ++i) pthread_create(threads + i, 0, work, (void *)i);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
}
"""


def recorded_in_its_folder(linebounce: Program) -> Program:
    recorder = Recorder(linebounce)
    recorder.record(recorder.compile(SEVERAL, "-O1", name="several.c"), options=("--untimed",))
    return linebounce


def test_the_diff_can_be_applied_and_compiled_and_its_prediction_holds(linebounce: Program) -> None:
    text = (ROOT / "configs" / "machines" / "generic_2socket_32core.toml").read_text()
    file = linebounce.file("mine.toml", text.replace('"generic_2socket_32core"', '"mine"', 1))
    recorded_in_its_folder(linebounce)
    asked = ("advise", "trace.lbt", *MACHINES, "--machine", str(file), "-o", "out")
    result = linebounce(*asked, "--recheck", "$CC -O1 -g -pthread several.c -o program", "--yes")
    assert result.code == 0, result.stderr
    page = json.loads((linebounce.directory / "out" / "advise.json").read_text())
    change = page["changes"][0]
    assert change["no_diff"] == ""
    assert change["source"].endswith(("several.c:4", "several.c:5"))
    assert len(page["changes"]) == 1, "what gains on shorter lines is a part of it"
    # On a machine with lines of 32 bytes, part of the change is enough, if the linker has put `blocks` and `hits` on one line
    # of 64.
    whole = [gain["machine"] for gain in change["gains"] if not gain["part"]]
    assert whole
    assert [again["machine"] for again in page["recheck"]] == whole
    assert "mine" in whole
    for again in page["recheck"]:
        assert (again["change"], again["held"]) == (1, True), again
        assert again["change_pct"] == pytest.approx(again["predicted_pct"], rel=0.25)
    assert result.stdout.count("the prediction held") == len(page["recheck"])
    diff = linebounce.directory / "out" / "change-1.diff"
    assert f"patch -p1 < {diff.relative_to(linebounce.directory)}" in result.stdout
    done = subprocess.run(["git", "apply", diff], cwd=linebounce.directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    built = (linebounce.directory / "out" / "recheck" / "source" / "several.c").read_text()
    assert (linebounce.directory / "several.c").read_text() == built


def test_two_machines_of_one_name_are_refused(linebounce: Program) -> None:
    recorded_in_its_folder(linebounce)
    file = linebounce.file("mine.toml", (ROOT / "configs" / "machines" / f"{MACHINES[1]}.toml").read_text())
    result = linebounce("advise", "trace.lbt", *MACHINES[:2], "--machine", str(file), "-o", "out")
    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert f'{MACHINES[1]} and {file} are both called "{MACHINES[1]}"' in result.stderr
    assert not (linebounce.directory / "out").exists()


def test_a_build_that_fails_is_named_with_its_log(linebounce: Program) -> None:
    recorded_in_its_folder(linebounce)
    refused = linebounce.refused("advise", "trace.lbt", *MACHINES, "-o", "out", "--recheck", "false", "--yes")
    assert "--recheck: building ended with 1: false (its output is in " in refused
    assert json.loads((linebounce.directory / "out" / "advise.json").read_text())["changes"], "the page is there all the same"


def test_a_program_that_is_not_built_in_the_copy_does_not_count_as_a_recheck(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    recorder.record(recorder.compile(SEVERAL, "-O1", name="several.c"), "two words; true")
    refused = linebounce.refused("advise", "trace.lbt", *MACHINES, "-o", "out", "--recheck", "true", "--yes")
    assert "the program that ran was not built in" in refused
    assert "'two words; true'" in refused, "the command line is kept as it was"


def refused_at_once(linebounce: Program, *, trace: str = "trace.lbt") -> str:
    refused = linebounce.refused("advise", trace, *MACHINES, "-o", "out", "--recheck", "true", "--yes")
    assert not (linebounce.directory / "out").exists(), "nothing was replayed"
    return refused


def test_an_unbuildable_recheck_is_known_before_any_replay(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    program = linebounce.directory / recorder.compile(SEVERAL, "-O1", name="several.c")
    recorder.record(str(program), "two words")
    refused = refused_at_once(linebounce)
    assert f"the program was recorded as {program} 'two words': " in refused
    assert f"record it by a relative path, as ./{program.name}" in refused


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("program ./program; touch it", "not have the form that linebounce-record writes"),
        ("program sh -c 'touch it'", "not a program that the build makes in a copy"),
        ("program ../program", "not a program that the build makes in a copy"),
        ("program /bin/sh -c 'touch it'", "not a program that the build makes in a copy"),
        ("recorder linebounce-record; touch it", "not made by linebounce-record"),
        ("recorder linebounce-record -o it", "not made by linebounce-record"),
        ("recorder linebounce trace convert", "not made by linebounce-record"),
    ],
)
def test_a_trace_executes_only_recorded_operations(linebounce: Program, line: str, complaint: str) -> None:
    recorded_in_its_folder(linebounce)
    assert linebounce("trace", "convert", "trace.lbt", "as.txt").code == 0
    text = linebounce.directory / "as.txt"
    name, value = line.split(" ", 1)
    changed = re.sub(rf"^{name} .*$", lambda _: f'{name} "{value}"', text.read_text(), count=1, flags=re.MULTILINE)
    text.write_text(changed)
    assert complaint in refused_at_once(linebounce, trace="as.txt")
    assert not list(linebounce.directory.rglob("it"))


@pytest.mark.parametrize("kind", ["script", "link"])
def test_an_interpreter_in_the_folder_is_not_run(linebounce: Program, kind: str) -> None:
    recorded_in_its_folder(linebounce)
    build = "rm program; ln -s /bin/sh program" if kind == "link" else "echo '#!/bin/sh' >program; chmod +x program"
    refused = linebounce.refused("advise", "trace.lbt", *MACHINES, "-o", "out", "--recheck", build, "--yes")
    assert "a script or a link to elsewhere is not run" in refused


def test_the_command_in_a_trace_is_shown_and_needs_consent(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    recorder.record(recorder.compile(SEVERAL, "-O1", name="several.c"), "x\x1b[2J")
    command = ["advise", "trace.lbt", *MACHINES, "-o", "out", "--recheck", "true"]
    message = linebounce.refused(*command)
    assert r"would run linebounce-record -o again.lbt -- ./program" in message
    assert r"\u001b[2J" in message
    assert "--yes allows it" in message
    ours, its = pty.openpty()
    with subprocess.Popen(
        [linebounce.executable, *command], cwd=linebounce.directory, stdin=its, stdout=its, stderr=its
    ) as asks:
        os.close(its)
        shown = b""
        while b"[y/N]" not in shown:
            shown += os.read(ours, 1000)
        os.write(ours, b"n\n")
        assert asks.wait(60) == 2
    os.close(ours)
    assert b"sh -c true" in shown
    assert b"-- ./program" in shown
    assert not (linebounce.directory / "out").exists(), "nothing was replayed"


def test_the_window_of_a_recording_is_kept(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    program = recorder.compile(SEVERAL, "-O1", name="several.c")
    recorder.record(program, options=("--window", "500:4000"))
    build = "$CC -O1 -g -pthread several.c -o program"
    linebounce("advise", "trace.lbt", *MACHINES, "-o", "out", "--recheck", build, "--yes")
    shown = linebounce("trace", "info", "out/recheck/again.lbt").stdout
    assert "linebounce-record --window 500:4000" in shown
    for again in json.loads((linebounce.directory / "out" / "advise.json").read_text())["recheck"]:
        assert again["comparable"], again


def test_advice_given_by_most_of_several_recordings_is_given(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    program = recorder.compile(PROGRAM.replace("APART", "").replace("UNLOCK", "").replace("LOCK", ""), "-O1")
    recorder.record(program, options=("--untimed", "--times", "3"))
    traces = ("trace.lbt", "trace-2.lbt", "trace-3.lbt")
    text = (ROOT / "configs" / "machines" / f"{MACHINES[1]}.toml").read_text()
    file = linebounce.file("mine.toml", text.replace(f'"{MACHINES[1]}"', '"mine"', 1))
    result = linebounce("advise", *traces, "--machine", str(file), "-o", "out")
    assert result.code == 0, result.stderr
    assert "One change is worth making, by replays of 3 recordings, trace.lbt and others." in result.stdout
    page = json.loads((linebounce.directory / "out" / "advise.json").read_text())
    (change,) = page["changes"]
    assert page["recordings"] == 3
    assert change["recordings"] >= 2
    assert (linebounce.directory / "out" / "recording_3" / "sharing").is_dir()


def test_no_object_is_cut_into_elements_that_do_not_fill_it(linebounce: Program) -> None:
    """Four threads use pieces of one line that are 24 bytes apart. Elements of 24 bytes would be wrong, because 64 is not a
    multiple of 24."""
    assert linebounce("trace", "synth", "-o", "pieces.lbt", "--accesses", "2000").code == 0
    advice = linebounce("advise", "pieces.lbt", "--machine", "p3_xeon_4way")
    assert advice.code == 0, advice.stderr


def test_a_refusal_leaves_no_folder_behind(linebounce: Program) -> None:
    recorded_in_its_folder(linebounce)
    assert "no_such" in linebounce.refused("advise", "trace.lbt", "--machine", "no_such")
    too_few = ("--machine", MACHINES[1], "--set", "machine.cpus=2")
    assert "machine.cpus" in linebounce.refused("advise", "trace.lbt", *too_few, code=3)
    assert not (linebounce.directory / "out").exists()


# A service: readers look names up in a hash table under a lock for readers, and count in a word of their own.
SERVICE = """
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
struct Session { long user; std::string name; };
std::unordered_map<std::string, Session> table;
std::shared_mutex table_lock;
static void serve(int me) {
  volatile long found = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string key = std::to_string((me * 7 + i * 13) % 16);
    if (i % 50 == me) {
      const std::unique_lock hold(table_lock);
      ++table[key].user;
    } else {
      const std::shared_lock hold(table_lock);
      if (const auto it = table.find(key); it != table.end()) found = it->second.user;
    }
  }
}
int main() {
  for (int i = 0; i < 16; ++i) table[std::to_string(i)] = {i, "n"};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(serve, i);
  for (std::thread& thread : threads) thread.join();
}
"""


def record_service(linebounce: Program, source: str) -> None:
    recorder = Recorder(linebounce)
    recorder.record(recorder.compile(source, "-std=c++17", "-O1", "-g", name="service.cpp"))


def advice(linebounce: Program, *more: str) -> str:
    """The recorded program's names begin with std::, which no other output may show."""
    command = [linebounce.executable, "advise", "trace.lbt", "--machine", MACHINES[3], "-o", "out", *more]
    return subprocess.run(command, cwd=linebounce.directory, stdout=subprocess.PIPE, text=True, check=True).stdout


def test_no_seqlock_is_offered_for_a_hash_table(linebounce: Program) -> None:
    record_service(linebounce, SERVICE)
    page = json.loads(advice(linebounce, "--json"))
    assert not any("seqlock" in change["what"] for change in page["changes"] + page["depends"])
    assert any(sentence.startswith("for table_lock seqlock, because its readers follow ") for sentence in page["not_offered"])


def test_each_lock_that_is_advised_comes_with_what_to_check(linebounce: Program) -> None:
    of_a_mutex = SERVICE.replace("std::shared_mutex table_lock", "std::mutex table_lock")
    record_service(linebounce, of_a_mutex.replace("shared_lock hold", "unique_lock hold"))
    document = advice(linebounce, "--json")
    page = json.loads(document)
    locks = [change for change in page["changes"] + page["depends"] if change["what"].startswith("replace the lock")]
    assert locks, page["verdict"]
    assert all(change["cautions"] for change in locks)
    text = advice(linebounce)
    assert text.count("Check: ") == sum(len(change["cautions"]) for change in locks)
    assert "basic_string<char, " not in text, "names of types are short in texts"
    assert "basic_string<char, " in document, "and whole in JSON"
    trials = linebounce.directory / "out" / "locks" / MACHINES[3] / "replaced"
    lines = [len(file.read_text().splitlines()) for file in trials.rglob("lines.csv")]
    assert set(lines) == {1}, "trials are compared as a whole, so that their lines have a head alone"
