"""linebounce-record for OpenMP programs (gcc's libgomp): the trace has who waits for whom."""

import json

import pytest
from linebounce.trace_symbols import Kind
from program import Program
from recorded import Recorder, Recording

THREADS = 4

EVERYTHING = r"""
#include <omp.h>
#include <stdio.h>
static long counts[4], total, locked, copy;
static omp_lock_t lock;
int main(void) {
  omp_init_lock(&lock);
  #pragma omp parallel num_threads(4)
  {
    counts[omp_get_thread_num()] += 1;
    #pragma omp barrier
    #pragma omp critical(sum)
    total += counts[omp_get_thread_num()];
    omp_set_lock(&lock);
    ++locked;
    omp_unset_lock(&lock);
    #pragma omp single
    copy = total;
  }
  #pragma omp parallel for num_threads(4) schedule(dynamic, 5) reduction(+ : total)
  for (int i = 0; i < 200; ++i) total += i;
  #pragma omp parallel num_threads(4)
  #pragma omp single
  for (int i = 0; i < 10; ++i) {
    #pragma omp task firstprivate(i)
    {
      #pragma omp atomic
      counts[i % 4] += i;
    }
  }
  printf("%ld %ld %ld\n", total, locked, counts[0] + counts[1] + counts[2] + counts[3]);
}
"""


def test_an_unmodified_openmp_program_is_recorded_with_its_regions_and_order(recorder: Recorder) -> None:
    recording = recorder.record_binary(EVERYTHING, "-fopenmp")
    assert len(recording.streams) == THREADS
    assert {recording.counts(name)[Kind.BARRIER] for name in recording.streams} == {3 + 3 + 2}
    for thread in recording.streams:
        # The critical section's lock and the program's, plus locks of the C library.
        assert recording.counts(thread)[Kind.ACQUIRE] >= 2
        assert recording.touched(thread)["locked"] >= 2
        assert recording.touched(thread)["counts"] >= 3  # its own count, read, written and read again


# Each thread writes its own value, then reads its neighbour's: with BARRIER in between, every read is a transfer.
NEIGHBOURS = r"""
#include <pthread.h>
static struct { long value; char apart[120]; } slots[4];
static volatile long sink;
#ifndef _OPENMP
static pthread_barrier_t barrier;
#endif
static void rounds(int me) {
  for (int i = 0; i < 100; ++i) {
    slots[me].value = i;
    BARRIER;
    sink += slots[(me + 1) % 4].value;
    BARRIER;
  }
}
"""
WITH_OPENMP = """
#include <omp.h>
static void meet(void) {
#pragma omp barrier
}
int main(void) {
#pragma omp parallel num_threads(4)
  rounds(omp_get_thread_num());
}
"""
WITH_PTHREADS = """
static void meet(void) { pthread_barrier_wait(&barrier); }
static void* work(void* me) {
  rounds((int)(long)me);
  return me;
}
int main(void) {
  pthread_t threads[4];
  pthread_barrier_init(&barrier, 0, 4);
  for (long i = 0; i < 4; ++i) pthread_create(threads + i, 0, work, (void*)i);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
}
"""


def recorded(linebounce: Program, source: str, *flags: str) -> Recording:
    recorder = Recorder(linebounce)
    return recorder.record(recorder.compile(source, *flags))


def test_regions_barriers_critical_sections_and_tasks_are_in_the_trace(linebounce: Program) -> None:
    recording = recorded(linebounce, EVERYTHING, "-fopenmp")
    assert len(recording.streams) == THREADS
    barriers = {each.name: each.parties for each in recording.symbols.barriers}
    names = ("openmp_region_begins", "openmp_region_ends", "openmp_barrier")
    assert barriers == {f"{name}[{THREADS}]": THREADS for name in names}
    passes = {name: recording.counts(name)[Kind.BARRIER] for name in recording.streams}
    # Barriers: three regions with one at the beginning and one at the end of each (3 + 3), the program's own, and one after
    # the first `single` (2). The other `single` ends with its region.
    assert set(passes.values()) == {3 + 3 + 2}
    assert recording.acquisitions(".gomp_critical_user_sum") == THREADS
    assert recording.acquisitions("lock._x[0]") == THREADS
    posts, waits = (sum(recording.counts(name)[kind] for name in recording.streams) for kind in (Kind.SIGNAL, Kind.WAIT))
    assert (posts, waits) == (10, 10)
    assert not any("libgomp" in sentence for sentence in recording.missing), "what it does is recorded where it is called"


def test_the_programs_own_results_are_those_without_recording(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    result = recorder.run("-o", "trace.lbt", "--", recorder.compile(EVERYTHING, "-fopenmp"))
    assert result.stdout.split() == [str(19900 + 4), "4", str(4 + 45)]


def test_threads_are_named_by_the_region_that_they_were_made_for(linebounce: Program) -> None:
    names = set(recorded(linebounce, EVERYTHING, "-fopenmp").streams)
    assert "main" in names
    assert not any("gomp" in name for name in names)


def test_named_critical_sections_share_a_line(linebounce: Program) -> None:
    source = """
#include <omp.h>
static struct { _Alignas(64) long count; } counts[2];
int main(void) {
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 200; ++i) {
    if (omp_get_thread_num() == 0) {
#pragma omp critical(left)
      counts[0].count++;
    } else {
#pragma omp critical(right)
      counts[1].count++;
    }
  }
}
"""
    recorded(linebounce, source, "-fopenmp", "-O1")
    shared = linebounce("find-sharing", "trace.lbt")
    assert shared.code == 0, shared.stderr
    assert ".gomp_critical_user_left" in shared.stdout
    assert ".gomp_critical_user_right" in shared.stdout


def test_a_barriers_order_is_transferred_as_with_pthreads_barriers(linebounce: Program) -> None:
    transfers = {}
    for name, text, flags in (("openmp", WITH_OPENMP, ["-fopenmp"]), ("pthreads", WITH_PTHREADS, [])):
        source = "static void meet(void);\n" + NEIGHBOURS.replace("BARRIER", "meet()") + text
        recorded(linebounce, source, *flags)
        replayed = linebounce("trace", "replay", "trace.lbt", "--machine", "p3_xeon_8way", "-o", name)
        assert replayed.code == 0, replayed.stderr
        (point,) = json.loads((linebounce.directory / name / "results.json").read_text())["points"]
        transfers[name] = point["metrics"]["latency.local_c2c.count"]["value"]
    assert transfers["pthreads"] > 4 * 100 * 2 * 0.9
    assert abs(transfers["openmp"] / transfers["pthreads"] - 1) < 0.1


# Sections whose locks are libgomp's own: gcc gives them no variable.
UNNAMED = r"""
#include <stdio.h>
static long hits;
static long double wide;
int main(void) {
  double low = 0, high = 0;
  #pragma omp parallel num_threads(2)
  for (int i = 0; i < 30; ++i) {
    #pragma omp critical
    hits += 1;
    #pragma omp atomic
    wide += 1;
  }
  #pragma omp parallel for num_threads(2) reduction(+ : low, high)
  for (int i = 0; i < 64; ++i) low += i, high += 2 * i;
  printf("%ld %Lg %g %g\n", hits, wide, low, high);
}
"""


@pytest.mark.parametrize("is_binary", [False, True])
def test_sections_without_a_name_take_locks_that_every_command_can_read(recorder: Recorder, is_binary: bool) -> None:
    recording = recorder.record_binary(UNNAMED, "-fopenmp") if is_binary else recorded(recorder.linebounce, UNNAMED, "-fopenmp")
    assert recording.acquisitions("openmp_critical") == 2 * 30
    # Each thread adds its two sums of the reduction in one section.
    assert recording.acquisitions("openmp_atomic") == 2 * 30 + 2
    own = [each for each in recording.symbols.locks if each.name.startswith("openmp_")]
    assert {(each.algorithm, each.word_bytes) for each in own} == {("openmp_lock", 4)}
