"""The ways in which recordings end: crashes, exits, signals to the recorder, full disks. The programs are compiled with
linebounce-cc."""

import resource
import signal
import subprocess
import time

import pytest
from linebounce.trace_symbols import Kind
from recorded import Recorder

CRASH = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long steps[100];
int main(int count, char** arguments) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 100; i++) *(volatile long*)&steps[i] = i;
  if (count > 1) _exit(atoi(arguments[1]));
  abort();
}
"""


def test_a_crash_ends_the_trace_and_is_passed_on(recorder: Recorder) -> None:
    program = recorder.compile(CRASH)
    result = recorder.run("-o", "trace.lbt", "--", program, code=128 + 6)
    assert "killed by signal 6 (Aborted)" in result.stderr
    recording = recorder.read("trace.lbt")
    assert recording.touched("main")["steps"] == 100
    assert any("signal 6" in sentence for sentence in recording.missing)


def test_a_longer_recording_of_that_name_is_kept(recorder: Recorder) -> None:
    counted = recorder.compile(
        "#include <stdlib.h>\nvolatile int n;\nint main(int c, char** v) { while (n < atoi(v[1])) ++n; }"
    )
    assert "kept" not in recorder.run("-o", "t.lbt", "--", counted, "50").stderr
    assert "kept" not in recorder.run("-o", "t.lbt", "--", counted, "500").stderr
    assert "is kept in t.lbt.1" in recorder.run("-o", "t.lbt", "--", counted, "5").stderr
    assert recorder.read("t.lbt").touched("main")["n"] < 100
    assert recorder.read("t.lbt.1").touched("main")["n"] > 500


def test_an_empty_recording_leaves_the_earlier_one_where_it_is(recorder: Recorder) -> None:
    counted = recorder.compile(COUNTING)
    recorder.run("-o", "t.lbt", "--", counted, "50")
    before = (recorder.linebounce.directory / "t.lbt").read_bytes()
    for window in (("--after", "100"), ("--from", "absent"), ("--window", "99999999:5")):
        result = recorder.run("-o", "t.lbt", *window, "--", counted, "50", code=2)
        assert "t.lbt keeps its earlier recording, of " in result.stderr
        assert "Next:" not in result.stderr
    assert (recorder.linebounce.directory / "t.lbt").read_bytes() == before
    assert not [*recorder.linebounce.directory.glob("*t.lbt?*"), *recorder.linebounce.directory.glob(".t.lbt*")]


def test_the_program_itself_is_no_output(recorder: Recorder) -> None:
    counted = recorder.compile(COUNTING)
    result = recorder.run("-o", "program", "--", counted, "5", code=2)
    assert "program: is the program that is to be recorded; name another file with -o" in result.stderr


def test_an_exit_in_the_middle_keeps_all_operations(recorder: Recorder) -> None:
    recording = recorder.record(recorder.compile(CRASH), "9", code=9)
    assert recording.touched("main")["steps"] == 100
    assert recording.counts("main")[Kind.RELEASE] == 1  # the recorder adds one for the lock that is held at the end


def test_ending_the_recorder_ends_the_program_and_leaves_a_trace(recorder: Recorder) -> None:
    source = """
#include <stdio.h>
#include <unistd.h>
long steps[100];
int main(void) {
  for (int i = 0; i < 100; i++) *(volatile long*)&steps[i] = i;
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}
"""
    command = [recorder.tool("linebounce-record"), "-o", "trace.lbt", "--", recorder.compile(source)]
    with subprocess.Popen(command, cwd=recorder.linebounce.directory, stdout=subprocess.PIPE) as running:
        assert running.stdout.readline() == b"ready\n"
        running.terminate()
        assert running.wait(timeout=30) == 128 + 15
    assert recorder.read("trace.lbt").touched("main")["steps"] == 100


# A thread counts for the given number of milliseconds; without a number, until its input ends.
COUNTING = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile long total;
static void* count_forever(void* argument) {
  for (;;) {
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    usleep(1000);
  }
  return argument;
}
int main(int count, char** arguments) {
  pthread_t thread;
  pthread_create(&thread, NULL, count_forever, NULL);
  while (total < 2) usleep(1000);
  puts("ready");
  fflush(stdout);
  if (count > 1) usleep(1000 * atoi(arguments[1]));
  else getchar();
  puts("done");
}
"""


def started(recorder: Recorder, program: str, *options: str) -> subprocess.Popen:
    """Starts the recorder and waits until its program runs and has taken the lock twice."""
    arguments = [recorder.tool("linebounce-record"), "-o", "trace.lbt", *options, "--", program]
    pipe = subprocess.PIPE
    # The tests may be a shell's background job, which ignores SIGINT; the recorder would inherit that.
    running = subprocess.Popen(
        arguments,
        cwd=recorder.linebounce.directory,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    assert running.stdout.readline() == b"ready\n"
    return running


def recovered_acquisitions(recorder: Recorder) -> int:
    """The acquisitions in a truncated trace."""
    if recorder.linebounce("trace", "convert", "--recover", "trace.lbt", "whole.lbt").code != 0:
        return 0
    whole = recorder.read("whole.lbt")
    return whole.acquisitions("lock") if whole.symbols.locks else 0


def test_a_thread_that_never_ends_ends_with_the_program(recorder: Recorder) -> None:
    recording = recorder.record(recorder.compile(COUNTING), "30")
    assert recording.acquisitions("lock") > 1


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (signal.SIGINT, 128 + 2),
        (signal.SIGTERM, 128 + 15),
        (signal.SIGUSR1, 128 + 10),
        (signal.SIGALRM, 128 + 14),
        (signal.SIGXCPU, 128 + 24),
    ],
)
def test_a_signal_to_the_recorder_ends_the_program(recorder: Recorder, ending: signal.Signals, code: int) -> None:
    with started(recorder, recorder.compile(COUNTING)) as running:
        running.send_signal(ending)
        assert running.wait(timeout=30) == code
        assert b"killed by signal" in running.stderr.read()
    assert recorder.read("trace.lbt").acquisitions("lock") > 1


def test_the_second_of_several_runs_can_be_interrupted_too(recorder: Recorder) -> None:
    with started(recorder, recorder.compile(COUNTING), "--times", "2") as running:
        running.stdin.write(b"\n")
        running.stdin.flush()
        assert [running.stdout.readline() for _ in range(2)] == [b"done\n", b"ready\n"]
        running.send_signal(signal.SIGTERM)
        assert running.wait(timeout=10) == 128 + signal.SIGTERM
    assert recorder.read("trace-2.lbt").acquisitions("lock") > 1


@pytest.mark.uninstrumented
def test_the_least_stack_is_enough(recorder: Recorder) -> None:
    least = 256 << 10
    done = recorder.linebounce(
        *("record", "-o", "trace.lbt", "--", recorder.compile(COUNTING), "20"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (least, least)),
    )
    assert done.code == 0, done.stderr


def test_a_limit_on_file_sizes_is_an_error(recorder: Recorder) -> None:
    refused = subprocess.run(
        [recorder.tool("linebounce-record"), "-o", "trace.lbt", "--", recorder.compile(COUNTING), "0"],
        cwd=recorder.linebounce.directory,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)),
    )
    said = "linebounce-record: cannot make the memory for events: File too large\n"
    assert (refused.returncode, refused.stderr) == (2, said)


def test_a_killed_recorders_trace_is_readable_and_the_program_continues(recorder: Recorder) -> None:
    with started(recorder, recorder.compile(COUNTING)) as running:
        latest = time.monotonic() + 60
        while recovered_acquisitions(recorder) <= 100:
            assert time.monotonic() < latest
            time.sleep(0.2)
        running.kill()
        running.wait()
        running.stdin.close()
        assert running.stdout.read() == b"done\n"
    refused = recorder.linebounce("trace", "info", "trace.lbt")
    assert refused.code == 3
    assert recovered_acquisitions(recorder) > 100


def test_a_recorder_that_has_ended_keeps_no_program_waiting(recorder: Recorder) -> None:
    """The recorder is killed while the program waits for it. The process that started it reads the program's output to the
    end before it checks how the recorder ended."""
    command = [recorder.tool("linebounce-record"), "-o", "trace.lbt", "--", recorder.compile(COUNTING), "300"]
    for milliseconds in (0, 5, 10, 20, 40):
        with subprocess.Popen(command, cwd=recorder.linebounce.directory, stdout=subprocess.PIPE) as running:
            time.sleep(milliseconds / 1000)
            running.kill()
            assert running.stdout.read() in (b"ready\ndone\n", b"")


def test_on_a_full_disk_the_program_comes_to_its_end(recorder: Recorder) -> None:
    result = recorder.run("-o", "/dev/full", "--", recorder.compile(COUNTING), "3000", code=2)
    assert result.stdout == "ready\ndone\n"
    assert "No space left on device; the program goes on, unrecorded" in result.stderr
    assert "read with --recover" in result.stderr


def test_on_a_full_disk_the_program_still_loads_libraries(recorder: Recorder) -> None:
    source = """
#include <dlfcn.h>
#include <unistd.h>
volatile long steps;
int main(void) {
  for (int i = 0; i < 250; i++) {
    for (int k = 0; k < 1000; k++) steps++;
    usleep(10000);
  }
  return dlopen("libm.so.6", RTLD_NOW) == NULL;
}
"""
    result = recorder.run("-o", "/dev/full", "--", recorder.compile(source), code=2)
    assert "the program goes on, unrecorded" in result.stderr


def test_a_trace_that_no_command_can_read_is_told(recorder: Recorder) -> None:
    """The program damages its own trace, once the recorder has written the beginning."""
    source = """
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
volatile long steps;
int main(void) {
  struct stat trace;
  do {
    for (int i = 0; i < 1000; i++) steps++;
    usleep(1000);
  } while (stat("trace.lbt", &trace) != 0 || trace.st_size < 100);
  const int file = open("trace.lbt", O_WRONLY);
  return pwrite(file, "damage", 6, 50) == 6 ? 7 : 1;
}
"""
    result = recorder.run("-o", "trace.lbt", "--", recorder.compile(source), code=3)
    assert (
        "linebounce-record: the trace was read back, and other commands will refuse it: trace.lbt: byte 28: " in result.stderr
    )
    assert "Next:" not in result.stderr
    assert recorder.linebounce("trace", "info", "trace.lbt").code == 3


def test_a_trace_that_cannot_be_read_back_is_told(recorder: Recorder) -> None:
    result = recorder.run("-o", "/dev/null", "--", recorder.compile(COUNTING), "10", code=3)
    assert "/dev/null: is no regular file, so the trace was not read back and checked" in result.stderr


def test_an_output_that_cannot_be_written_is_refused_before_the_program_runs(recorder: Recorder) -> None:
    program = recorder.compile(COUNTING)
    for output, why in [("missing/trace.lbt", "No such file or directory"), (".", "Is a directory")]:
        refused = recorder.run("-o", output, "--", program, "0", code=2)
        assert f"{output}: cannot be written: {why}" in refused.stderr
        assert refused.stdout == ""


# All threads meet 50 times. The last to come to the last meeting is main, which ends the program before another thread can run.
MEETING = """
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
static pthread_barrier_t barrier;
static volatile long steps[4];
static void* meet(void* number) {
  for (int i = 0; i < 50; i++) {
    if (number == NULL && i == 49) usleep(20000);
    steps[(long)number]++;
    pthread_barrier_wait(&barrier);
  }
  return number;
}
int main(void) {
  pthread_t thread;
  cpu_set_t one;
  CPU_ZERO(&one);
  sched_getaffinity(0, sizeof(one), &one);
  for (int cpu = 0, found = 0; cpu < CPU_SETSIZE; cpu++) {
    if (CPU_ISSET(cpu, &one) && found++ > 0) CPU_CLR(cpu, &one);
  }
  sched_setaffinity(0, sizeof(one), &one);
  pthread_barrier_init(&barrier, NULL, 4);
  for (long i = 1; i < 4; i++) pthread_create(&thread, NULL, meet, (void*)i);
  meet(NULL);
  _exit(0);
}
"""


@pytest.mark.parametrize("is_binary", [False, True])
def test_a_program_that_ends_behind_a_barrier_leaves_a_whole_trace(recorder: Recorder, is_binary: bool) -> None:
    recording = recorder.record_binary(MEETING) if is_binary else recorder.record(recorder.compile(MEETING))
    assert {recording.counts(name)[Kind.BARRIER] for name in recording.streams} == {50}
    replays(recorder)


def replays(recorder: Recorder) -> None:
    """The trace replays to its end: nobody waits for ever."""
    replayed = recorder.linebounce("trace", "replay", "trace.lbt", "--machine", "p3_xeon_8way", "-o", "replay")
    assert replayed.code == 0, replayed.stderr


def test_a_barrier_may_be_made_anew_while_its_threads_leave_it(recorder: Recorder) -> None:
    source = """
#include <pthread.h>
static pthread_barrier_t barrier;
static volatile long steps[4];
static void* meet(void* number) {
  steps[(long)number]++;
  pthread_barrier_wait(&barrier);
  return number;
}
int main(void) {
  pthread_t threads[4];
  for (int round = 0; round < 200; round++) {
    pthread_barrier_init(&barrier, NULL, 4);
    for (long i = 1; i < 4; i++) pthread_create(&threads[i], NULL, meet, (void*)i);
    meet(NULL);
    pthread_barrier_destroy(&barrier);
    pthread_barrier_init(&barrier, NULL, 1);
    pthread_barrier_wait(&barrier);
    for (int i = 1; i < 4; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
  }
}
"""
    recording = recorder.record(recorder.compile(source))
    assert recording.counts("main")[Kind.BARRIER] == 200 * 2
    assert sum(recording.counts(name)[Kind.BARRIER] for name in recording.streams) == 200 * (4 + 1)


def test_a_barrier_that_another_process_shares_keeps_nobody_waiting(recorder: Recorder) -> None:
    source = """
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_barrier_t* barrier = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_barrier_init(barrier, &shared, 2);
  const int is_child = fork() == 0;
  for (int i = 0; i < 10; i++) pthread_barrier_wait(barrier);
  if (is_child) _exit(0);
  wait(NULL);
}
"""
    recording = recorder.record(recorder.compile(source))
    assert recording.counts("main")[Kind.BARRIER] == 0
    assert any(sentence.startswith("9 round(s) of barriers") for sentence in recording.missing), recording.missing


@pytest.mark.parametrize("is_binary", [False, True])
def test_an_openmp_program_that_ends_inside_a_region_leaves_a_whole_trace(recorder: Recorder, is_binary: bool) -> None:
    source = """
#include <omp.h>
#include <unistd.h>
static volatile long steps[4];
int main(void) {
  #pragma omp parallel num_threads(4)
  steps[omp_get_thread_num()]++;
  #pragma omp parallel num_threads(4)
  {
    steps[omp_get_thread_num()]++;
    if (omp_get_thread_num() == 0) {
      usleep(200000);
      _exit(0);
    }
  }
}
"""
    program = recorder.compile_plainly(source, "-fopenmp") if is_binary else recorder.compile(source, "-fopenmp")
    recording = recorder.record(program, options=("--binary",) if is_binary else ())
    # The beginnings and ends of two regions. Main comes to the second region's end where it ends the program.
    assert {recording.counts(name)[Kind.BARRIER] for name in recording.streams} == {4}
    assert recording.streams["main"][-1].kind == Kind.BARRIER
    replays(recorder)
