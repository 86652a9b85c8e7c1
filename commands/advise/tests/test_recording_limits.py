"""What limits a verdict from a recording stands before the verdict, in every command that reads the recording; where it
could reverse the verdict, there is none."""

import json
import signal
import subprocess
from pathlib import Path

import pytest
from program import Program
from recorded import Recorder

MACHINE = ("--machine", "p3_xeon_8way")

# Two threads count in one structure under a lock; then the program ends as END says.
ENDS = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct pair { long left, right; };
static struct pair pair;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* mine) {
  for (int i = 0; i < 300; i++) {
    pthread_mutex_lock(&lock);
    ++*(volatile long*)mine;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}
int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, work, &pair.left);
  pthread_create(&threads[1], 0, work, &pair.right);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  END;
}
"""
ABORTED = "The program was killed by signal 6 (Aborted): what it would have done next was not recorded."

# A parent and its child count beside each other in memory that both have. WITH: MAP_SHARED or MAP_PRIVATE.
FORKS = """
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
struct tally { long parents, childs; };
int main(void) {
  struct tally* tally = mmap(0, 4096, PROT_READ | PROT_WRITE, WITH | MAP_ANONYMOUS, -1, 0);
  const pid_t child = fork();
  volatile long* mine = child ? &tally->parents : &tally->childs;
  for (int i = 0; i < 2000; i++) ++*mine;
  if (child) waitpid(child, 0, 0);
  return 0;
}
"""
SHARES_TALLY = "Another process shares `tally`: what that process does to it was not recorded."

CLONES = """
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
static struct { volatile long makers, clones; } tally;
static int count(void* mine) { for (int i = 0; i < 2000; i++) ++*(volatile long*)mine; return 0; }
int main(void) {
  enum { kBytes = 65536 };
  char* stack = malloc(kBytes);
  const int clone_id = clone(count, stack + kBytes, FLAGS | SIGCHLD, (void*)&tally.clones);
  count((void*)&tally.makers);
  int status = 0;
  waitpid(clone_id, &status, 0);
  return tally.makers == 2000 && status == 0 ? 0 : 1;
}
"""


@pytest.fixture
def died(recorder: Recorder) -> Recorder:
    """Has a recording of a program that called abort()."""
    recorder.record(recorder.compile(ENDS.replace("END", "abort()"), "-g"), code=128 + signal.SIGABRT)
    return recorder


def text(linebounce: Program, *command: str, code: int = 0) -> str:
    result = linebounce(*command)
    assert result.code == code, result.stdout + result.stderr
    return result.stdout


def advised(linebounce: Program, trace: str = "trace.lbt", machine: str = "p3_xeon_8way") -> str:
    return text(linebounce, "advise", trace, "--machine", machine, "--orders", "2")


# The commands that read a recording, by name.
JUDGES = {
    "advise": ("advise", "trace.lbt", *MACHINE, "--orders", "2"),
    "advise --time": ("advise", "trace.lbt", *MACHINE, "--time"),
    "find-sharing": ("find-sharing", "trace.lbt", *MACHINE, "--orders", "2"),
    "compare-locks": ("compare-locks", "trace.lbt", *MACHINE, "--orders", "2"),
    "layout optimise": ("layout", "optimise", "pair", "--accesses", "trace.lbt", *MACHINE, "--orders", "2"),
    "trace info": ("trace", "info", "trace.lbt"),
    "trace replay": ("trace", "replay", "trace.lbt", *MACHINE),
    "run": ("run", "trace.lbt", *MACHINE, "-o", "run"),
}


@pytest.mark.parametrize("command", JUDGES.values(), ids=JUDGES.keys())
def test_how_the_program_died_is_the_first_line_of_every_command_that_reads_the_trace(
    died: Recorder, command: tuple[str, ...]
) -> None:
    assert text(died.linebounce, *command).splitlines()[0].strip() == ABORTED


def test_a_changed_layouts_table_begins_with_how_the_program_died(died: Recorder) -> None:
    for name, order in (("before", ("left", "right")), ("after", ("right", "left"))):
        members = "".join(f"\tlong {member}; /* {8 * at} 8 */\n" for at, member in enumerate(order))
        died.linebounce.file(f"{name}.pahole", f"struct pair {{\n{members}\n\t/* size: 16, cachelines: 1, members: 2 */\n}};\n")
    table = text(
        died.linebounce, "layout", "diff", "before.pahole:pair", "after.pahole:pair", "--accesses", "trace.lbt", *MACHINE
    )
    assert " ".join(table.split()).startswith(ABORTED)


def test_a_copy_of_the_trace_still_says_how_the_program_died(died: Recorder) -> None:
    copied = died.linebounce("trace", "convert", "trace.lbt", "copy.txt")
    assert copied.code == 0
    assert ABORTED in copied.stderr
    assert text(died.linebounce, "trace", "info", "copy.txt").splitlines()[0].strip() == ABORTED


def test_json_has_the_limits_and_a_verdict_that_can_be_quoted_alone(died: Recorder) -> None:
    page = json.loads(text(died.linebounce, "advise", "trace.lbt", *MACHINE, "--orders", "2", "--json"))
    assert page["limits"] == [{"name": "killed", "bearing": "may_add", "sentence": ABORTED}]
    assert page["verdict"].startswith(ABORTED)
    assert json.loads(text(died.linebounce, "trace", "info", "trace.lbt", "--json"))["limits"] == page["limits"]


def test_a_gate_does_not_pass_recordings_of_a_program_that_died(died: Recorder) -> None:
    result = died.linebounce(
        "gate", "--base", "trace.lbt", "--head", "trace.lbt", *MACHINE, "--orders", "2", "--json", "gate.json"
    )
    assert result.code == 5
    assert result.stdout.splitlines()[0] == f"No verdict: trace.lbt: {ABORTED}"


# A program with nothing to change in what was recorded of it.
APART = (
    ENDS.replace("long left, right;", "long left; char apart[120]; long right;")
    .replace("pthread_mutex_lock(&lock);", "")
    .replace("pthread_mutex_unlock(&lock);", "")
)


def test_after_a_death_that_nothing_was_found_is_no_verdict(recorder: Recorder) -> None:
    recorder.record(recorder.compile(APART.replace("END", "return 0"), "-g"))
    assert "\n  Nothing that was tried is worth changing" in advised(recorder.linebounce)
    recorder.record(recorder.compile(APART.replace("END", "abort()"), "-g"), code=128 + signal.SIGABRT)
    assert advised(recorder.linebounce).splitlines()[2].startswith("  No verdict: in what was recorded, nothing")
    sharing = text(recorder.linebounce, "find-sharing", "trace.lbt", *MACHINE)
    assert "No verdict: no line of what was recorded is shared falsely" in sharing


def test_a_program_that_dies_below_a_script_is_known_to_have_died(recorder: Recorder) -> None:
    """The recorder cannot ask for the status of another process's child."""
    for end, limit in (
        ("return 3", ""),
        ("_exit(3)", ""),
        ("abort()", "The program ended without an exit, as one that is killed does"),
    ):
        program = recorder.compile(APART.replace("END", end), "-g")
        script = recorder.linebounce.file("run.sh", f"#!/bin/sh\n{program} 2>/dev/null\nexit 0\n")
        script.chmod(0o755)
        recorder.record("./run.sh")
        limits = json.loads(text(recorder.linebounce, "trace", "info", "trace.lbt", "--json"))["limits"]
        assert [it["sentence"].split(":")[0] for it in limits] == ([limit] if limit else [])


def test_a_death_after_the_window_is_none_of_the_recordings(recorder: Recorder) -> None:
    program = recorder.compile(ENDS.replace("END", "abort()"), "-g")
    recorder.record(program, options=("--window", "0:500"), code=128 + signal.SIGABRT)
    shown = text(recorder.linebounce, "trace", "info", "trace.lbt")
    assert "  Only a part of the run was recorded: --window 0:500.\n" in shown.partition("trace.lbt")[0]
    assert "killed" not in shown


def test_a_recording_that_the_recorder_did_not_finish_is_judged_by_what_could_be_read(recorder: Recorder) -> None:
    recorder.record(recorder.compile(APART.replace("END", "return 0").replace("300", "30000"), "-g"))
    whole = recorder.linebounce.directory / "trace.lbt"
    whole.write_bytes(whole.read_bytes()[:-100])
    assert recorder.linebounce("advise", "trace.lbt", *MACHINE).code == 3
    assert recorder.linebounce("trace", "convert", "--recover", "trace.lbt", "usable.lbt").code == 0
    lines = advised(recorder.linebounce, "usable.lbt").splitlines()
    assert lines[0].startswith("  The recording was damaged, and this is what could be read:")
    assert "No verdict: in what was recorded, nothing" in " ".join(" ".join(lines).split())


@pytest.fixture
def forked(recorder: Recorder) -> Recorder:
    recorder.record(recorder.compile(FORKS.replace("WITH", "MAP_SHARED"), "-g"))
    return recorder


@pytest.mark.parametrize("command", ["advise", "find-sharing", "trace info", "trace replay"])
def test_memory_that_a_child_shares_is_named_first(forked: Recorder, command: str) -> None:
    assert text(forked.linebounce, *JUDGES[command]).splitlines()[0].strip() == SHARES_TALLY


def test_with_memory_that_a_child_shares_there_is_no_verdict(forked: Recorder) -> None:
    page = json.loads(text(forked.linebounce, "advise", "trace.lbt", *MACHINE, "--json"))
    assert page["verdict"].startswith(SHARES_TALLY)
    assert "No verdict. In what was recorded, on p3_xeon_8way" in page["verdict"]
    assert page["changes"] == page["depends"] == page["conditional"] == []
    assert "No verdict." in text(forked.linebounce, "find-sharing", "trace.lbt", *MACHINE)
    layout = text(forked.linebounce, "layout", "optimise", "tally", "--accesses", "trace.lbt", *MACHINE)
    assert layout.splitlines()[0] == SHARES_TALLY
    assert "tally: no verdict" in layout.splitlines()


# A child that shares nothing may still be where the program's threads are.
def test_memory_that_a_child_has_a_copy_of_is_not_shared(recorder: Recorder) -> None:
    recorder.record(recorder.compile(FORKS.replace("WITH", "MAP_PRIVATE"), "-g"))
    lines = advised(recorder.linebounce).splitlines()
    assert lines[0].strip() == "The program made 1 child process(es) by fork, which were not recorded."
    assert not any("shares `" in line for line in lines)


def test_memory_that_was_mapped_after_the_child_was_made_is_not_shared(recorder: Recorder) -> None:
    recorder.record(
        recorder.compile(
            FORKS.replace("WITH", "MAP_SHARED")
            .replace("const pid_t child = fork();", "const pid_t child = 1;")
            .replace("int main(void) {", "int main(void) {\n  const pid_t other = fork();\n  if (other == 0) _exit(0);")
            .replace("waitpid(child", "waitpid(other"),
            "-g",
        )
    )
    assert "shares `" not in text(recorder.linebounce, "trace", "info", "trace.lbt")


@pytest.mark.parametrize("flags", ["CLONE_VM", "CLONE_VM | CLONE_FS | CLONE_FILES"])
def test_a_clone_with_the_programs_memory_leaves_no_verdict(recorder: Recorder, flags: str) -> None:
    recorder.record(recorder.compile(CLONES.replace("FLAGS", flags), "-g"))
    lines = advised(recorder.linebounce).splitlines()
    assert lines[0].strip().startswith("The program made 1 thread(s) or process(es) by clone")
    assert any(line.strip().startswith("No verdict.") for line in lines)


def test_a_clone_with_a_copy_of_the_memory_is_a_child(recorder: Recorder) -> None:
    recording = recorder.record(recorder.compile(CLONES.replace("FLAGS", "0"), "-g"))
    assert recording.touched("main")["tally"] == 2 * 2000 + 1, "the child's are not among them"
    assert "1 child process(es) made by fork" in recording.missing


def test_a_recording_of_one_thread_says_so_and_does_not_say_that_nothing_is_worth_changing(recorder: Recorder) -> None:
    source = "static volatile long n;\nint main(void) { for (int i = 0; i < 1000; i++) n++; return 0; }\n"
    recorder.record(recorder.compile(source, "-g"))
    lines = advised(recorder.linebounce).splitlines()
    assert lines[0].strip().startswith("Only one thread was recorded, so")
    assert not any(line.strip().startswith("Nothing") for line in lines)


def test_threads_of_code_that_was_not_compiled_for_it_are_counted_before_the_verdict(recorder: Recorder) -> None:
    library = """
#include <pthread.h>
static long counts[8];
static void* add(void* mine) { for (int i = 0; i < 1000; i++) ++*(volatile long*)mine; return 0; }
void run_threads(void) {
  pthread_t threads[8];
  for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, add, &counts[i]);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
}
"""
    directory: Path = recorder.linebounce.directory
    recorder.linebounce.file("library.c", library)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "library.c", "-o", "libadd.so"], cwd=directory, check=True)
    main = "void run_threads(void);\nstatic volatile long n;\nint main(void) { n++; run_threads(); return 0; }\n"
    recorder.record(recorder.compile(main, "-g", "-L.", "-ladd", "-Wl,-rpath,$ORIGIN"))
    first = advised(recorder.linebounce, machine="generic_2socket_32core").splitlines()[0].strip()
    assert first == "Of 9 recorded threads only main was seen to touch memory, so nothing that they share could be seen."
