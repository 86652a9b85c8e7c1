"""Failed tries of locks in a replay. If a try was part of a wait, the replay waits. If the thread did something else
after it, the replay does, too. No verdict rests on tries that would end differently."""

import csv
import json
from pathlib import Path

import pytest
from experiments import experiment
from program import Program
from recorded import Recorder

MACHINE = "generic_2socket_32core"
THREADS = "abcd"


def trace(linebounce: Program, lines: list[str], name: str = "t.txt", threads: str = THREADS) -> Path:
    head = ["linebounce trace 1", "object x size=64", "function retry", "lock l algorithm=mutex", "lock m algorithm=mutex"]
    return linebounce.file(name, "\n".join([*head, *(f"stream {thread}" for thread in threads), *lines, "end"]) + "\n")


def replayed(linebounce: Program, file: Path | str, *arguments: str, output: str = "out") -> tuple[dict, dict]:
    """The metrics, and the row of each lock."""
    result = linebounce("trace", "replay", file, "--machine", MACHINE, "-o", output, "--fresh", *arguments)
    assert result.code == 0, result.stderr
    metrics = json.loads((linebounce.directory / output / "results.json").read_text())["points"][0]["metrics"]
    with (linebounce.directory / output / "locks.csv").open() as file_of_locks:
        rows = {row["lock"]: row for row in csv.DictReader(file_of_locks) if not row["call_site"]}
    return {name: metric["value"] for name, metric in metrics.items()}, rows


def sections(take: str, *, times: int = 40) -> list[str]:
    lines = []
    for _ in range(times):
        for t in THREADS:
            lines += [f"{t} {each}" for each in [*take.split(", "), "compute 6000", "store x 8", "release l", "compute 20"]]
    return lines


# A wait by tries, in the forms that recorders write: without time between tries, with time, from another function, and without
# a failed try.
TAKES = [
    "try_acquire l failed, try_acquire l failed, try_acquire l",
    "try_acquire l failed, compute 60, try_acquire l failed, compute 60, try_acquire l",
    "enter retry, try_acquire l failed, leave, enter retry, try_acquire l, leave",
    "try_acquire l",
    "try_acquire l failed, acquire l",
]


@pytest.mark.parametrize("take", TAKES)
def test_a_program_that_only_tries_holds_its_lock_as_long_and_as_often_as_one_that_waits(
    linebounce: Program, take: str
) -> None:
    _, waits = replayed(linebounce, trace(linebounce, sections("acquire l")))
    metrics, tries = replayed(linebounce, trace(linebounce, sections(take)))
    assert tries["l"]["total"] == waits["l"]["total"] == str(40 * len(THREADS))
    assert float(tries["l"]["util_pct"]) == pytest.approx(float(waits["l"]["util_pct"]), abs=5)
    assert float(tries["l"]["rjct"]) > 0, "the replayed machine decides how often a try fails"
    assert metrics["replay.tries_otherwise"] == 0


def test_the_recorded_time_between_tries_decides_how_many_fail(linebounce: Program) -> None:
    failed = []
    for cycles in (50, 800):
        take = f"try_acquire l failed, compute {cycles}, try_acquire l"
        _, rows = replayed(linebounce, trace(linebounce, sections(take)))
        failed.append(float(rows["l"]["rjct"]))
    assert failed[0] > 2 * failed[1] > 0


MEASURED = (
    'missing "the number of instructions: what is computed for 30 ns and more is measured in time, and written as instructions '
    'of 0.7 cycles; two are assumed for each access"'
)


@pytest.mark.parametrize(("head", "short_turns", "is_wait"), [(MEASURED, 12, True), (MEASURED, 3, False), ("", 12, False)])
def test_a_long_turn_of_a_wait_is_the_hosts_where_time_was_measured_and_it_is_rare(
    linebounce: Program, head: str, short_turns: int, is_wait: bool
) -> None:
    fails = ["try_acquire l failed"] * short_turns
    take = ", ".join([*fails, "execute 380000", "try_acquire l failed", "try_acquire l"])
    _, rows = replayed(linebounce, trace(linebounce, [*([head] if head else []), *sections(take, times=4)]))
    assert (rows["l"]["total"] == str(4 * len(THREADS))) == is_wait, rows["l"]


# A thread that does something else if its try fails, while another thread holds the lock or not.
def busy_or_free(busy: int, free: int) -> list[str]:
    lines = ["event held", "event tried", "event given"]
    for i in range(busy):
        lines += ["a acquire l", "a signal held", f"a wait tried {i + 1}", "a release l", "a signal given"]
        lines += [f"b wait held {i + 1}", "b try_acquire l failed", "b store x 8", "b signal tried", f"b wait given {i + 1}"]
    for _ in range(free):
        lines += ["b try_acquire l failed", "b store x 8", "b compute 100"]
    return lines


@pytest.mark.parametrize(("busy", "free"), [(20, 0), (99, 1), (20, 5)])
def test_a_failed_try_that_led_elsewhere_fails_and_is_counted_where_it_would_not(
    linebounce: Program, busy: int, free: int
) -> None:
    file = trace(linebounce, busy_or_free(busy, free), threads="ab")
    metrics, rows = replayed(linebounce, file)
    assert metrics["replay.tries_otherwise"] == free
    assert metrics["replay.tries_otherwise_pct"] == pytest.approx(100 * free / (busy + free))
    assert rows["l"]["total"] == str(busy + free), "with those that are given back at once"
    result = linebounce("compare-locks", file, "--machine", MACHINE, "--lock", "l", "--json")
    assert result.code == 0, result.stderr
    (machine,) = json.loads(result.stdout)["machines"]
    share = 100 * free / (busy + free)
    assert machine["tries_otherwise_pct"] == pytest.approx(share)
    if share > 5:
        assert f"no verdict, as {share:.1f} % of the program's tries of locks" in machine["advice"]
        assert machine["confirmation"] is None
    else:
        assert "no verdict" not in machine["advice"]
        assert (" % of the program's tries" in machine["advice"]) == (free > 0)


def test_every_verdict_is_withheld_where_a_replay_decides_otherwise(linebounce: Program) -> None:
    # Both threads count in one line, so a change could gain something.
    lines = busy_or_free(0, 10)
    lines += [f"{t} {what} x+{8 * 'ab'.index(t)} 8" for _ in range(200) for t in "ab" for what in ("load", "store")]
    file = trace(linebounce, lines, threads="ab")
    for command in ("advise", "find-sharing"):
        shown = linebounce(command, file, "--machine", MACHINE)
        assert shown.code == 0, shown.stderr
        assert "No verdict: 100.0 % of the program's tries" in " ".join(shown.stdout.split())


@pytest.mark.parametrize("other", ["try_acquire", "acquire"])
def test_a_thread_that_tries_a_lock_while_others_wait_for_its_lock_gives_up(linebounce: Program, other: str) -> None:
    lines = []
    for _ in range(30):
        for t, first, take, second in (("a", "l", "try_acquire", "m"), ("b", "m", other, "l")):
            lines += [f"{t} acquire {first}", f"{t} compute 300", f"{t} {take} {second}", f"{t} compute 100"]
            lines += [f"{t} release {second}", f"{t} release {first}"]
    metrics, _ = replayed(linebounce, trace(linebounce, lines, threads="ab"))
    assert metrics["replay.tries_otherwise"] > 0, "the threads went on without the lock, which is said"


def test_threads_of_one_cpu_that_try_let_the_holder_run(linebounce: Program) -> None:
    take = "try_acquire l failed, compute 60, try_acquire l"
    for arguments in (["--threads", "0 0 0 0"], ["--threads", "0 0 1 1"]):
        metrics, rows = replayed(linebounce, trace(linebounce, sections(take)), *arguments)
        assert rows["l"]["total"] == str(40 * len(THREADS))
        assert metrics["replay.tries_otherwise"] == 0


def test_a_lock_without_tries_takes_no_tried_locks_place(linebounce: Program) -> None:
    file = trace(linebounce, sections(TAKES[1], times=10))
    message = linebounce.refused("trace", "replay", file, "--machine", MACHINE, "--lock", "l=cna")
    assert "the program tries the lock, and it has no try" in message
    result = linebounce("compare-locks", file, "--machine", MACHINE, "--json")
    assert result.code == 0, result.stderr
    (lock,) = json.loads(result.stdout)["machines"][0]["locks"]
    tried = {trial["algorithm"] for trial in lock["trials"]}
    assert {"ticket", "mcs", "clh", "ttas"} <= tried
    assert not {"cna", "bakery", "mcs_parking"} & tried


LOOP = """
title = "Takes a lock by trying"
function setup()
  l = lock("ttas", "l")
  shared = place(structure { name = "shared", "count:8", align = "line" }, "shared")
end
function run(cpu)
  for i = 1, 40 do
    while not cpu:try_acquire(l) do cpu:compute(30 + 40 * cpu.id) end
    cpu:store(shared.count, cpu:load(shared.count) + 1)
    cpu:compute(150)
    cpu:release(l)
  end
end
"""


def test_a_replay_of_a_simulated_loop_of_tries_misses_as_the_run_did(linebounce: Program) -> None:
    linebounce.file("loop.lua", LOOP)
    original = linebounce.file(
        "loop.toml", experiment(workload='name = "program"\nprogram = "loop.lua"', run="warmup_us = 0\nmeasure_us = 200")
    )
    for command in (
        ["trace", "record", original, "-o", "run.lbt"],
        ["trace", "replay", "run.lbt", "-o", "replay"],
        ["run", original, "-o", "run"],
    ):
        result = linebounce(*command)
        assert result.code == 0, result.stderr
    for table in ("latency.csv", "lines.csv"):
        assert (linebounce.directory / "run" / table).read_text() == (linebounce.directory / "replay" / table).read_text()


# Three threads that do nothing but run sections.
SECTIONS = r"""
#include <pthread.h>
static pthread_spinlock_t gate;
static pthread_barrier_t go;
static long cells[512];
static void* work(void* a) {
  pthread_barrier_wait(&go);
  for (int i = 0; i < 40; ++i) {
    TAKE;
    for (int k = 0; k < 512; ++k) cells[k] += k;
    pthread_spin_unlock(&gate);
  }
  return a;
}
int main(void) {
  pthread_t threads[3];
  pthread_spin_init(&gate, 0);
  pthread_barrier_init(&go, 0, 3);
  for (int i = 0; i < 3; ++i) pthread_create(threads + i, 0, work, 0);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
}
"""


def test_a_recorded_loop_of_tries_keeps_its_lock_as_busy_as_waiting_does(linebounce: Program) -> None:
    found, advised = [], []
    for take in ("pthread_spin_lock(&gate)", "while (pthread_spin_trylock(&gate)) {}"):
        recorder = Recorder(linebounce)
        recorder.record(recorder.compile(SECTIONS.replace("TAKE", take)), options=("--untimed",))
        _, rows = replayed(linebounce, "trace.lbt")
        found.append(rows["gate"])
        page = linebounce("advise", "trace.lbt", "--machine", MACHINE, "--json")
        assert page.code == 0, page.stderr
        advised.append(json.loads(page.stdout))
    waits, tries = found
    assert tries["total"] == waits["total"] == "120"
    assert float(tries["util_pct"]) == pytest.approx(float(waits["util_pct"]), abs=1)
    assert float(waits["util_pct"]) > 90
    assert advised[1]["time"][0]["bottleneck"]["name"] == "gate", "the tries are waiting for the lock"
    assert [change["what"] for change in advised[1]["changes"]] == [change["what"] for change in advised[0]["changes"]]
