"""What a program does between its accesses: how both recorders see it, and what a replay and its answers make of it."""

import json
import re
import subprocess

import pytest
from linebounce.trace import Writer
from linebounce.trace_symbols import Kind, Object, Operation, Stream, Summary
from program import Program
from recorded import Recorder, Recording

# Two threads do WORK, 300 times each, and count beside each other.
BETWEEN = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static struct { _Atomic long n; } count[2];
static volatile double sink[16];
static pthread_barrier_t begin;
__attribute__((noinline)) static long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static double work(long me, double x) {
  WORK
  return x;
}
static void* run(void* argument) {
  const long me = (long)argument;
  double x = 1;
  pthread_barrier_wait(&begin);
  for (int i = 0; i < 300; ++i) {
    x = work(me, x);
    atomic_fetch_add_explicit(&count[me].n, 1, memory_order_relaxed);
  }
  sink[8 * me] = x;
  return 0;
}
int main(void) {
  pthread_t threads[2];
  pthread_barrier_init(&begin, 0, 2);
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i], 0, run, (void*)i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
}
"""
REGISTERS = "for (int k = 0; k < 20000; ++k) x = x * 1.0000001 + 1e-9;"
SLEEP = "nanosleep(&(struct timespec){0, 100000}, 0);"
KINDS = {
    "registers": REGISTERS,
    "a library": 'char text[64]; for (int k = 0; k < 200; ++k) { snprintf(text, 64, "%.17g", x + k); x += text[3]; }',
    "recursion": "x += fib(19);",
    "sleep": SLEEP,
}


def sharing_pct(linebounce: Program, trace: str = "trace.lbt") -> tuple[float, list[float]]:
    """The share of the threads' time that is false sharing, and at both ends of the program's pace."""
    result = linebounce("advise", trace, "--time", "--json", "--machine", "generic_2socket_32core", "-o", "out")
    assert result.code == 0, result.stderr
    shares = [it for it in json.loads(result.stdout)["time"][0]["shares"] if it["class"] == "false_sharing"]
    return sum(it["pct"] for it in shares), [sum(it["pct_over_pace"][end] for it in shares) for end in (0, 1)]


@pytest.mark.parametrize("work", KINDS.values(), ids=KINDS.keys())
def test_a_compiled_program_that_seldom_counts_is_not_said_to_share(recorder: Recorder, linebounce: Program, work: str) -> None:
    recorder.record(recorder.compile(BETWEEN.replace("WORK", work), "-g"))
    usual, (fast, slow) = sharing_pct(linebounce)
    assert usual < 3
    assert slow <= usual + 0.05 <= fast + 0.1


@pytest.mark.parametrize("work", [REGISTERS, SLEEP], ids=["registers", "sleep"])
def test_a_binary_that_seldom_counts_is_not_said_to_share(recorder: Recorder, linebounce: Program, work: str) -> None:
    recorder.record_binary(BETWEEN.replace("WORK", work))
    usual, _ = sharing_pct(linebounce)
    assert usual < 3


def test_a_program_that_only_counts_shares_as_before(recorder: Recorder, linebounce: Program) -> None:
    """Otherwise the tests above would pass without any sharing."""
    recorder.record_binary(BETWEEN.replace("WORK", "").replace("300", "3000"))
    assert sharing_pct(linebounce)[0] > 20


def operations(recording: Recording, kind: Kind) -> int:
    """The sum of the arguments of all threads' operations of a kind."""
    return sum(it.argument for stream in recording.streams.values() for it in stream if it.kind == kind)


@pytest.mark.parametrize("binary", [False, True], ids=["compiled", "binary"])
def test_a_sleep_is_a_wait_and_no_computation(recorder: Recorder, binary: bool) -> None:
    source = BETWEEN.replace("WORK", SLEEP)
    recording = recorder.record_binary(source) if binary else recorder.record(recorder.compile(source, "-g"))
    nanoseconds = operations(recording, Kind.BLOCKED)
    assert nanoseconds > 2 * 300 * 100_000
    assert operations(recording, Kind.EXECUTE) * 0.3 < nanoseconds / 5, "cycles of 0.3 ns"


def test_a_computation_of_a_hundred_nanoseconds_is_measured(recorder: Recorder) -> None:
    """60 multiplications and additions, each of which waits for the one before: six to eight cycles each. A sample of them is
    measured, or two instructions would be assumed."""
    source = BETWEEN.replace("WORK", REGISTERS.replace("20000", "60")).replace("300", "20000")
    recording = recorder.record(recorder.compile(source, "-g"))
    assert 60 * 4 / 0.7 < operations(recording, Kind.EXECUTE) / 40000 < 60 * 16 / 0.7


EMULATED = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
static void* work(void* memory) {
  for (int i = 0; i < 100; ++i) {
    mprotect(memory, 4096, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE);
    close(open("/proc/self/maps", O_RDONLY));
  }
  return memory;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, work, mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
}
"""


def test_what_only_the_emulator_waits_for_is_no_wait_of_the_program(recorder: Recorder) -> None:
    """400 calls, which take an emulator about a millisecond each and the system some microseconds."""
    assert operations(recorder.record_binary(EMULATED), Kind.BLOCKED) < 400 * 10_000


INTERRUPTED = """
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <x86intrin.h>
static volatile int interrupts;
static volatile long words[64];
__attribute__((no_sanitize("thread"))) static void interrupt(int number) {
  const uint64_t begin = __rdtsc();
  while (__rdtsc() - begin < 60000) continue;
  interrupts = interrupts + number / number;
}
__attribute__((no_sanitize("thread"))) static int is_over(void) { return interrupts >= 50; }
int main(void) {
  const struct itimerval often = {{0, 400}, {0, 400}};
  signal(SIGALRM, interrupt);
  setitimer(ITIMER_REAL, &often, 0);
  while (!is_over())
    for (int i = 0; i < 64; ++i) words[i] = words[i] + 1;
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, 0);
}
"""


def test_interrupts_are_no_computation_of_the_program(recorder: Recorder) -> None:
    """50 interrupts of 60000 ticks, some 20 us each, at random places of a loop that only counts. The best of several
    recordings counts: a hypervisor may take the processor for a millisecond, which no clock of the guest shows."""
    program = recorder.compile(INTERRUPTED, "-g")
    tries: list[int] = []
    while len(tries) < 5 and not any(it < 0.2 * 50 * 60000 / 0.7 for it in tries):
        recording = recorder.record(program)
        (stream,) = recording.streams.values()
        accesses = sum(1 + it.repeats for it in stream if it.kind in (Kind.LOAD, Kind.STORE))
        tries.append(operations(recording, Kind.EXECUTE) - 2 * accesses)
    assert min(tries) < 0.2 * 50 * 60000 / 0.7, tries
    assert any("seldom takes so long" in sentence for sentence in recording.missing), recording.missing


FAULTS = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
enum { kHalf = 64 << 20, kPages = 8000 };
static char* memory;
static atomic_int begun, done;
static volatile long sum;
// Protects half of the memory again and again, for which the kernel holds the lock of the whole of it.
static void* protect(void* none) {
  for (int i = 0; !atomic_load(&done); ++i) {
    mprotect(memory, kHalf + (kPages << 12), i % 2 ? PROT_READ : PROT_READ | PROT_WRITE);
    atomic_store(&begun, i > 1);
  }
  return none;
}
__attribute__((no_sanitize("thread"))) static long touch(int page) { return *(volatile char*)(memory + kHalf + (page << 12)); }
static void* fault(void* none) {
  while (!atomic_load(&begun)) continue;
  for (int i = 0; i < kPages; ++i) sum = sum + touch(i);
  atomic_store(&done, 1);
  return none;
}
int main(void) {
  memory = mmap(0, kHalf + (kPages << 12), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, kHalf + (kPages << 12), MADV_NOHUGEPAGE);
  for (long at = 0; at < kHalf; at += 4096) memory[at] = 1;
  pthread_t threads[2];
  pthread_create(&threads[0], 0, protect, 0);
  pthread_create(&threads[1], 0, fault, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
}
"""


def test_a_page_fault_that_waits_for_the_memory_map_is_no_wait_of_the_program(recorder: Recorder) -> None:
    recording = recorder.record(recorder.compile(FAULTS, "-g"))
    (waits,) = [
        [it.argument for it in stream if it.kind == Kind.BLOCKED]
        for name, stream in recording.streams.items()
        if "fault" in str(name)
    ]
    assert not waits


ARENAS = """
#include <pthread.h>
#include <stdlib.h>
enum { kThreads = 16 };
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int words[64];
// The first free() of a thread makes an arena of memory, while other threads are created.
static void* work(void* sum) {
  for (int i = 0; i < 600; ++i) {
    pthread_rwlock_rdlock(&lock);
    *(volatile int*)sum += words[i % 64];
    pthread_rwlock_unlock(&lock);
  }
  free(sum);
  return NULL;
}
int main(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], 0, work, malloc(64));
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], 0);
}
"""


def test_a_free_that_waits_for_the_memory_map_is_no_wait_of_the_program(recorder: Recorder) -> None:
    """Three of four recordings had such waits, of 10 to 37 ms, before the recorder knew them."""
    program = recorder.compile(ARENAS, "-g")
    for _ in range(6):
        recording = recorder.record(program)
        waits = {name: [it.argument for it in stream if it.kind == Kind.BLOCKED] for name, stream in recording.streams.items()}
        assert not any(waits[name] for name in waits if name != "main"), waits


def test_a_computation_before_each_eighth_access_is_measured(recorder: Recorder) -> None:
    """Nine tenths of what the same program computes with all of its computation at one place."""
    once = "if (now % 8 == 0) " + REGISTERS
    source = BETWEEN.replace("WORK", once).replace("long me, double x", "long now, double x").replace("work(me", "work(i")
    recording = recorder.record(recorder.compile(source, "-g"))
    assert operations(recording, Kind.EXECUTE) > 0.9 * 2 * (300 // 8) * 20000 * 4


def test_a_binary_has_as_many_instructions_as_were_executed(recorder: Recorder) -> None:
    """20000 rounds of four instructions in each of 300 items of two threads."""
    recording = recorder.record_binary(BETWEEN.replace("WORK", REGISTERS))
    assembly = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", recorder.linebounce.directory / "plain"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    body = assembly.split("<work>:")[1].split("\n\n")[0] if "<work>:" in assembly else assembly
    loop = re.search(r"(?P<first>[0-9a-f]+):\s+mulsd.*?\n(?P<rest>(?:.*\n)*?.*jne\s+(?P=first))", body)
    assert loop is not None, body
    of_round = 1 + loop["rest"].count("\n") + 1
    expected = of_round * 20000 * 300 * 2
    assert operations(recording, Kind.EXECUTE) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("work", [REGISTERS, SLEEP], ids=["registers", "sleep"])
def test_an_untimed_recording_has_no_computation_and_answers_say_so_first(
    recorder: Recorder, linebounce: Program, work: str
) -> None:
    program = recorder.compile(BETWEEN.replace("WORK", work), "-g")
    recording = recorder.record(program, options=("--untimed",))
    assert operations(recording, Kind.BLOCKED) == 0
    assert operations(recording, Kind.EXECUTE) < 20 * 2 * 300, "a few for each access and call"
    assert "instructions between accesses: two for each access are assumed" in recording.missing
    shown = linebounce("advise", "trace.lbt", "--time", "-o", "out").stdout
    assert " ".join(shown.split()).startswith("The recording has no computation, because it was made with --untimed: ")
    plain = linebounce("advise", "trace.lbt", "--time", "--plain", program, "--yes", "-o", "out")
    assert plain.code == 2
    assert "trace.lbt has no computation: record the program without --untimed" in plain.stderr


def test_instructions_that_are_counted_can_not_be_left_out(recorder: Recorder) -> None:
    refused = recorder.run("--binary", "--untimed", "--", "./program", code=2)
    assert "--untimed" in refused.stderr


def test_an_earlier_recording_is_read_and_said_to_have_no_computation(linebounce: Program) -> None:
    path = linebounce.directory / "old.lbt"
    with Writer(path) as writer:
        word = writer.define(Object("word", size=8))
        for name in ("a", "b"):
            stream = writer.define(Stream(name))
            for _ in range(100):
                writer.append(stream, Operation(Kind.EXECUTE, 0, 0, 0, 16))
                writer.append(stream, Operation(Kind.STORE, 8, 0, word, 0))
        missing = ["instructions between accesses: two for each access are assumed"]
        writer.finish(Summary(program="./old", recorder="linebounce-record", missing=missing))
    result = linebounce("advise", "old.lbt", "--time", "-o", "out")
    assert result.code == 0, result.stderr
    assert " ".join(result.stdout.split()).startswith("The recording has no computation: an earlier version made it.")


# The kernel wakes the waiter in UNLOCK, which takes microseconds; nothing is computed.
WAKES = """
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t asks, answers;
static void* wait_for_it(void* argument) {
  for (int i = 0; i < 200; ++i) {
    sem_wait(&asks);
    ANSWER;
  }
  return argument;
}
int main(void) {
  pthread_t thread;
  sem_init(&asks, 0, 0);
  sem_init(&answers, 0, 0);
  pthread_create(&thread, 0, wait_for_it, 0);
  for (int i = 0; i < 200; ++i) {
    nanosleep(&(struct timespec){0, 100000}, 0);
    WAKE;
  }
  pthread_join(thread, 0);
}
"""


@pytest.mark.parametrize(
    ("answer", "wake", "kind"),
    [
        (
            "pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex)",
            "pthread_mutex_lock(&mutex); sem_post(&asks); nanosleep(&(struct timespec){0, 100000}, 0); "
            "pthread_mutex_unlock(&mutex)",
            Kind.RELEASE,
        ),
        ("(void)0", "sem_post(&asks)", Kind.SIGNAL),
    ],
    ids=["mutex", "semaphore"],
)
def test_waking_another_thread_is_no_computation(recorder: Recorder, answer: str, wake: str, kind: Kind) -> None:
    trace = recorder.record(recorder.compile(WAKES.replace("ANSWER", answer).replace("WAKE", wake)))
    behind: list[int] = []  # instructions between a wake-up and the next operation
    wakes = False
    for it in trace.streams["main"]:
        if it.kind == kind:
            wakes = True
            behind.append(0)
        elif it.kind == Kind.EXECUTE and wakes:
            behind[-1] += it.argument
        else:
            wakes = False
    assert len(behind) >= 200
    assert sorted(behind)[len(behind) // 2] < 3000, sorted(behind)


@pytest.mark.parametrize("command", ["advise", "find-sharing", "compare-locks"])
def test_answers_say_before_the_verdict_over_which_range_they_were_tried(
    recorder: Recorder, linebounce: Program, command: str
) -> None:
    locked = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); x += 1; pthread_mutex_unlock(&m);"
    recorder.record(recorder.compile(BETWEEN.replace("WORK", locked), "-g"))
    result = linebounce(command, "trace.lbt", "-o", "out", "--orders", "2")
    assert result.code == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "Sizes rest on how long the program computed where it was recorded. How long" in said
    assert "each size was also tried with 0.43 and 2.9 times as many clock cycles" in said


def test_a_pace_that_is_set_is_not_varied(recorder: Recorder, linebounce: Program) -> None:
    recorder.record(recorder.compile(BETWEEN.replace("WORK", REGISTERS), "-g"))
    pace = ("--set", "machine.cpu.cycles_per_instruction=1")
    result = linebounce("advise", "trace.lbt", "--time", "--json", *pace, "-o", "out")
    page = json.loads(result.stdout)
    assert page["basis"] == ""
    assert all(it["pct_over_pace"] is None for it in page["time"][0]["shares"])
