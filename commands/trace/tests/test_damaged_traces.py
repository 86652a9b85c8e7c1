"""Recordings of a real multithreaded program, damaged anywhere: what is left is replayed, and no replay waits forever."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from program import Program
from recorded import Recorder
from results import metric_of

# The program's threads: one hands out work through a condition variable, all meet at a barrier, and all use locks.
QUEUE = """
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t begin;
static long ready, taken, sums[3];
static void* worker(void* argument) {
  long mine = (long)argument;
  pthread_barrier_wait(&begin);
  for (int i = 0; i < 300; i++) {
    pthread_mutex_lock(&lock);
    while (ready == 0) pthread_cond_wait(&changed, &lock);
    ready--;
    taken++;
    pthread_mutex_unlock(&lock);
    pthread_cond_broadcast(&changed);
    for (int k = 0; k < 10; k++) {
      __asm__ volatile("" ::: "memory");
      sums[mine] += k;
    }
  }
  return NULL;
}
int main(void) {
  pthread_t threads[3];
  pthread_barrier_init(&begin, NULL, 4);
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, worker, (void*)i);
  pthread_barrier_wait(&begin);
  for (int i = 0; i < 900; i++) {
    pthread_mutex_lock(&lock);
    while (ready > 7) pthread_cond_wait(&changed, &lock);
    ready++;
    pthread_mutex_unlock(&lock);
    pthread_cond_broadcast(&changed);
  }
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  return 0;
}
"""


def cut(content: bytes, at: int) -> bytes:
    return content[:at]


def cut_before_its_index(content: bytes, at: int) -> bytes:
    return content[:at] + content[index_of(content) :]


def overwritten(content: bytes, at: int) -> bytes:
    return content[:at] + bytes(100) + content[at + 100 :]


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]


def index_of(content: bytes) -> int:
    """The offset of the index frame."""
    return int.from_bytes(content[-24:-16], "little")


def as_text(linebounce: Program, trace: str) -> str:
    assert linebounce("trace", "convert", trace, "as.txt").code == 0
    return (linebounce.directory / "as.txt").read_text()


@pytest.fixture(scope="module")
def recording(session_linebounce: Program) -> bytes:
    recorder = Recorder(session_linebounce)
    recorder.compile(QUEUE, name="queue.c", output="queue")
    recorder.run("-o", "queue.lbt", "--", "./queue")
    return (session_linebounce.directory / "queue.lbt").read_bytes()


@pytest.mark.parametrize("damage", [cut, cut_before_its_index, overwritten, flipped])
def test_operations_before_the_damage_are_replayed(
    linebounce: Program, recording: bytes, damage: Callable[[bytes, int], bytes]
) -> None:
    dice = random.Random(damage.__name__)
    linebounce.file("whole.lbt", recording)
    first = recording.index(b"\x28\xb5\x2f\xfd", 32)  # the position after the symbols, which come first
    for folded in (
        (),
        ("--threads", "round_robin", "--set", "machine.cpus=2"),
        ("--threads", "block", "--set", "machine.cpus=2"),
    ):
        for number in range(6):
            at = dice.randrange(first, index_of(recording) - 100)
            linebounce.file("torn.lbt", damage(recording, at))
            out = f"out/{'_'.join(folded[:2])}{number}"  # not --fresh, which keeps what took long, and says so
            command = ("trace", "replay", "torn.lbt", "--recover", "--machine", "p3_xeon_4way", "-o", out, *folded)
            result = linebounce(*command, timeout=60)
            if "there is no operation to replay" in result.stderr:
                assert result.code == 3
                continue
            assert result.code == 0, f"{damage.__name__} at byte {at}, {folded}: {result.stderr}"
            if not result.stderr:  # one flipped bit in 300 has no meaning in the zstd format, and leaves the content unchanged
                assert as_text(linebounce, "torn.lbt") == as_text(linebounce, "whole.lbt"), f"{damage.__name__} at byte {at}"
                continue
            assert "torn.lbt is damaged:\nbyte" in result.stderr
            assert len(result.stderr.splitlines()) < 20


def test_threads_are_replayed_although_their_creation_is_lost(linebounce: Program, recording: bytes) -> None:
    """The main thread performs few operations, so its only block is written last, and is lost first when the file is
    cut off."""
    linebounce.file("torn.lbt", recording[: index_of(recording) - 1])
    result = linebounce("trace", "replay", "torn.lbt", "--recover", "--machine", "p3_xeon_4way", "-o", "out")
    assert result.code == 0, result.stderr
    results = json.loads((linebounce.directory / "out" / "results.json").read_text())
    assert metric_of(results, "replay.operations") > 1000


def test_a_trace_recovered_into_another_file_can_be_replayed_directly(linebounce: Program, recording: bytes) -> None:
    first = recording.index(b"\x28\xb5\x2f\xfd", 32)  # the position after the symbols, which come first
    for share in (0.3, 0.6, 0.9):
        linebounce.file("torn.lbt", recording[: first + int((index_of(recording) - first) * share)])
        assert linebounce("trace", "convert", "--recover", "torn.lbt", "whole.lbt").code == 0
        replayed = linebounce("trace", "replay", "whole.lbt", "--machine", "p3_xeon_4way", "-o", f"out_{share}")
        # In a short recording, an early cut may leave no whole block.
        nothing_left = share < 0.9 and replayed.code == 3 and replayed.stderr.endswith("there is no operation to replay\n")
        assert nothing_left or (replayed.code, replayed.stderr) == (0, "")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["a wake 7"], "line 5: stream 0 (a), operation 1: wake of CPU 7, on which no stream ran; legal: 0"),
        (["a interrupt 7:1 0"], "line 5: stream 0 (a), operation 1: interrupt of CPU 7, on which no stream ran; legal: 0"),
    ],
)
def test_a_cpu_that_the_trace_does_not_have_is_refused(linebounce: Program, lines: list[str], said: str) -> None:
    text = ["linebounce trace 1", "object o size=64", "stream a cpu=0", "a store o+0 8", *lines, "end", ""]
    linebounce.file("t.txt", "\n".join(text))
    assert said in linebounce.refused("trace", "replay", "t.txt", "--machine", "p3_xeon_4way", code=3)
    assert linebounce("trace", "replay", "t.txt", "--recover", "--machine", "p3_xeon_4way", "-o", "out").code == 0


def test_handlers_of_a_cpu_without_a_thread_are_refused(linebounce: Program) -> None:
    linebounce.file("t.txt", "linebounce trace 1\nstream a cpu=0\nstream h cpu=5 vector=3\na clock\nend\n")
    said = linebounce.refused("trace", "replay", "t.txt", "--machine", "p3_xeon_4way", code=3)
    assert "t.txt: h has interrupt handlers of CPU 5, on which no thread ran; legal: 0" in said


@pytest.mark.parametrize("experiment", ["timer_churn", "block_io"])
def test_a_recorded_kernel_that_is_cut_off_is_replayed(session_linebounce: Program, experiment: str) -> None:
    output = f"{experiment}.lbt"
    short = ("--set", "run.warmup_us=50", "--set", "run.measure_us=150")
    result = session_linebounce("trace", "record", experiment, "-o", output, *short)
    assert result.code == 0, result.stderr
    content = (session_linebounce.directory / output).read_bytes()
    dice = random.Random(experiment)
    for _ in range(6):
        at = dice.randrange(len(content) // 2, len(content))  # after the symbols
        session_linebounce.file("torn.lbt", content[:at])
        machine = ("--machine", "itanium2_two_node_16way")
        replayed = session_linebounce("trace", "replay", "torn.lbt", "--recover", *machine, "-o", "torn", "--fresh", timeout=60)
        assert replayed.code == 0, f"cut at byte {at}: {replayed.stderr}"
    shutil.rmtree(Path(session_linebounce.directory) / "torn")
