"""linebounce-record --binary: records programs that were not compiled with linebounce-cc, in QEMU."""

import json
import os
import subprocess

import pytest
from linebounce.trace_symbols import FAILED, RELEASE, Kind
from recorded import Recording

THREADS = 2
ROUNDS = 1000

# Threads count with every kind of operation; two counters share a line.
COUNTERS = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static long under_lock;
static atomic_long built_in;
static long inline_assembler;
static volatile long beside[2];
struct node { volatile long value; struct node* next; };

__attribute__((noinline)) static void count(intptr_t number) {
  pthread_mutex_lock(&lock);
  ++under_lock;
  pthread_mutex_unlock(&lock);
  ++built_in;
  __asm__ volatile("lock incq %0" : "+m"(inline_assembler));
  ++beside[number];
}

static void* work(void* number) {
  struct node* node = malloc(sizeof *node);
  for (int i = 0; i < 1000; ++i) count((intptr_t)number);
  pthread_rwlock_rdlock(&table_lock);
  node->value = 1;
  pthread_rwlock_unlock(&table_lock);
  free(node);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (intptr_t i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return under_lock == 2000 && built_in == 2000 && inline_assembler == 2000 ? 0 : 1;
}
"""


def flags_on(recording: Recording, thread: str, kind: Kind, name: str) -> list[int]:
    """The flags of a thread's operations on an object."""
    names = [each.name for each in recording.symbols.objects]
    return [each.flags for each in recording.streams[thread] if each.kind == kind and names[each.id] == name]


def count_on(recording: Recording, thread: str, kind: Kind, name: str) -> int:
    return len(flags_on(recording, thread, kind, name))


@pytest.mark.parametrize("flags", [(), ("-no-pie", "-fcf-protection=none"), ("-O0",)], ids=" ".join)
def test_an_unmodified_program_is_counted_exactly(recorder, flags):
    recording = recorder.record_binary(COUNTERS, *flags)
    assert recording.acquisitions("lock") == THREADS * ROUNDS
    assert recording.acquisitions("table_lock") == THREADS
    for thread in ("work[0]", "work[1]"):
        counts = recording.counts(thread)
        assert (counts[Kind.ACQUIRE], counts[Kind.RELEASE], counts[Kind.ACQUIRE_SHARED]) == (ROUNDS, ROUNDS, 1)
        for name in ("built_in", "inline_assembler"):
            assert count_on(recording, thread, Kind.FETCH_ADD, name) == ROUNDS
            assert count_on(recording, thread, Kind.STORE, name) == 0
        for name in ("under_lock", "beside"):
            assert count_on(recording, thread, Kind.STORE, name) == ROUNDS
            assert count_on(recording, thread, Kind.LOAD, name) == ROUNDS
        # The trace has none of the accesses that the C library makes for a lock or an allocation.
        assert recording.touched(thread)["lock"] == 0


def test_threads_functions_and_blocks_of_an_unmodified_program_have_names(recorder):
    recording = recorder.record_binary(COUNTERS)
    assert set(recording.streams) == {"main", "work[0]", "work[1]"}
    assert recording.counts("main")[Kind.CREATE] == THREADS
    assert recording.counts("main")[Kind.JOIN] == THREADS
    functions = [each.name for each in recording.symbols.functions]
    entered = [functions[each.id] for each in recording.streams["work[1]"] if each.kind == Kind.ENTER]
    assert entered[0] == "work"
    assert entered.count("count") == ROUNDS
    assert recording.touched("work[0]")["node[0]"] + recording.touched("work[1]")["node[0]"] > 0


def test_a_window_begins_with_a_function(recorder):
    recorder.run("--binary", "--from", "count", "-o", "trace.lbt", "--", recorder.compile_plainly(COUNTERS))
    recording = recorder.read("trace.lbt")
    assert recording.acquisitions("lock") == THREADS * ROUNDS
    assert recording.counts("main")[Kind.CREATE] < THREADS


def test_the_summary_says_what_cannot_be_seen(recorder):
    missing = "\n".join(recorder.record_binary(COUNTERS).missing)
    assert "inside the C library's functions for locks, threads and memory" in missing


# Each function uses the result of its operation in another way: in a branch at once, in a later branch, or as a value.
OUTCOMES = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
static atomic_long fails, stores, decides;
static volatile int seen;
static void* work(void* unused) {
  (void)unused;
  for (int i = 0; i < 100; ++i) {
    long expected = 7;
    if (!atomic_compare_exchange_strong(&fails, &expected, 7)) ++seen;
    expected = i;
    if (atomic_compare_exchange_strong(&stores, &expected, i + 1)) ++seen;
    expected = 0;
    while (!atomic_compare_exchange_weak(&decides, &expected, expected + 1)) ++seen;
  }
  return NULL;
}
int main(void) {
  pthread_t thread;
  if (THREADED) {
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
  } else {
    work(NULL);
  }
  return seen == 299 ? 0 : 1;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("threaded", [0, 1])  # QEMU emulates the operation differently if there is only one thread
def test_a_compare_and_exchange_that_failed_has_stored_nothing(recorder, compiler, level, threaded):
    recording = recorder.record_binary(OUTCOMES, level, f"-DTHREADED={threaded}", compiler=compiler)
    thread = "work[0]" if threaded else "main"
    failed = {
        name: [flags & FAILED != 0 for flags in flags_on(recording, thread, Kind.COMPARE_EXCHANGE, name)]
        for name in ("fails", "stores", "decides")
    }
    assert failed["fails"] == [True] * 100
    assert failed["stores"] == [False] * 100
    assert failed["decides"] == [False] + [True, False] * 99
    assert not any("may have failed" in each for each in recording.missing)


# Nothing in the program depends on whether the exchange stored.
UNKNOWN_OUTCOME = """
#include <stdatomic.h>
static atomic_long word;
int main(void) {
  for (int i = 0; i < 10; ++i) atomic_compare_exchange_strong(&word, &(long){1}, 2);
}
"""


def test_a_compare_and_exchange_that_may_have_failed_is_counted(recorder):
    recording = recorder.record_binary(UNKNOWN_OUTCOME)
    assert "10 compare-and-exchange(s) that may have failed: they are written as if they had stored" in recording.missing


SPIN_LOCK = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_int word;
static long counter;
static void* work(void* unused) {
  for (int i = 0; i < 1000; ++i) {
    while (atomic_exchange_explicit(&word, 1, memory_order_acquire))
      while (atomic_load_explicit(&word, memory_order_relaxed)) {}
    ++counter;
    atomic_store_explicit(&word, 0, memory_order_release);
  }
  return unused;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return counter == 2000 ? 0 : 1;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_plain_store_that_frees_a_spin_lock_is_a_release(recorder, level):
    recording = recorder.record_binary(SPIN_LOCK, level)
    for thread in ("work[0]", "work[1]"):
        assert flags_on(recording, thread, Kind.STORE, "word") == [RELEASE] * 1000
        assert flags_on(recording, thread, Kind.STORE, "counter") == [0] * 1000


FENCES = """
#include <stdatomic.h>
int main(void) {
  for (volatile int i = 0; i < 10; ++i) atomic_thread_fence(memory_order_seq_cst);
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_fences_are_not_accesses_to_the_stack(recorder, compiler):
    recording = recorder.record_binary(FENCES, compiler=compiler)
    assert recording.counts("main")[Kind.FENCE] == 10
    assert recording.counts("main")[Kind.FETCH_ADD] == 0


SIDE_BY_SIDE = """
#include <pthread.h>
#include <stdint.h>
static volatile long beside[3] __attribute__((aligned(64)));
static void* work(void* number) {
  for (int i = 0; i < 2000; ++i) ++beside[(intptr_t)number];
  return NULL;
}
int main(void) {
  pthread_t threads[3];
  for (intptr_t i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
}
"""


def test_false_sharing_of_an_unmodified_program_is_found(recorder):
    program = recorder.compile_plainly(SIDE_BY_SIDE)
    recorder.run("--binary", "-o", "trace.lbt", "--", program)
    result = recorder.linebounce("find-sharing", "trace.lbt", "--machine", "p3_xeon_4way", "--json", timeout=120)
    assert result.code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["falsely_shared_lines"] >= 1
    assert "beside" in json.dumps(document["lines"][0])


# If a function ends with a call, the compiler jumps to the called function: here, to the lock's.
TAIL_CALLS = """
#include <pthread.h>
static struct table { long count; pthread_mutex_t mutex; } table = {0, PTHREAD_MUTEX_INITIALIZER};
__attribute__((noinline)) static int lock_table(void) { return pthread_mutex_lock(&table.mutex); }
__attribute__((noinline)) static int unlock_table(void) { return pthread_mutex_unlock(&table.mutex); }
int main(void) {
  for (int i = 0; i < 100; ++i) {
    lock_table();
    ++*(volatile long*)&table.count;
    unlock_table();
  }
}
"""


def test_a_lock_is_silent_inside_when_it_is_jumped_to(recorder):
    recording = recorder.record_binary(TAIL_CALLS)
    assert recording.acquisitions("table.mutex") == 100
    assert recording.touched("main")["table"] == 200  # the count's loads and stores


LOCAL_LOCK = """
#include <pthread.h>
__attribute__((noinline)) static void take(pthread_mutex_t* mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
}
int main(void) {
  pthread_mutex_t local = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < 10; ++i) take(&local);
}
"""


# In optimised code, clang addresses local variables relative to the stack pointer. The recorder does not know its value
# there, so it can't tell which variable the lock is.
@pytest.mark.parametrize(
    ("compiler", "flag", "name"),
    [
        ("gcc", "-O2", "main::local"),
        ("gcc", "-O0", "main::local"),
        ("clang", "-O0", "main::local"),
        ("clang", "-O2", "main::local-"),
    ],
)
def test_a_lock_on_the_stack_is_named_by_its_function(recorder, compiler, flag, name):
    recording = recorder.record_binary(LOCAL_LOCK, flag, compiler=compiler)
    (lock,) = (each.name for each in recording.symbols.locks)
    assert lock.startswith(name) if name.endswith("-") else lock == name
    assert recording.acquisitions(lock) == 10


CPP = """
#include <mutex>
#include <thread>
#include <vector>
struct Node { long value = 0; std::mutex mutex; };
int main() {
  std::vector<std::thread> threads;
  Node* node = new Node;
  for (int i = 0; i < 2; ++i) threads.emplace_back([node] {
    for (int k = 0; k < 50; ++k) { std::lock_guard<std::mutex> guard(node->mutex); ++node->value; }
  });
  for (std::thread& each : threads) each.join();
  return node->value == 100 ? 0 : 1;
}
"""


def test_cpp_threads_locks_and_objects_are_known(recorder):
    recording = recorder.record_binary(CPP, compiler="g++", name="plain.cpp")
    assert recording.acquisitions("Node[0].mutex") == 100
    assert len(recording.streams) == 3


def test_without_qemu_the_package_is_named(recorder):
    program = recorder.compile_plainly("int main(void) { return 0; }")
    command = [recorder.tool("linebounce-record"), "--binary", "--", program]
    environment = os.environ | {"PATH": str(recorder.linebounce.directory)}
    done = subprocess.run(
        command, cwd=recorder.linebounce.directory, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "qemu-user" in done.stderr


def test_a_static_program_is_refused(recorder):
    program = recorder.compile_plainly("int main(void) { return 0; }", "-static")
    result = recorder.run("--binary", "--", program, code=2)
    assert "linked statically" in result.stderr
