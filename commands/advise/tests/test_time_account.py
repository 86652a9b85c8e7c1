"""The first part of `advise`, where the time goes: each tick of each thread is in one class."""

import json
import re

import pytest
from program import Program
from recorded import Recorder

MACHINES = ("generic_2socket_32core", "p3_xeon_8way")

# Four threads leave a barrier together; each repeats BODY, with its number `me`.
PROGRAM = r"""
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static pthread_barrier_t go;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) atomic_long events;
static _Alignas(64) volatile long hits[4];
static _Alignas(64) struct { _Alignas(64) volatile long own; } apart[4];
static _Alignas(64) volatile long table[128];
static _Alignas(64) atomic_long published;
static void* work(void* number) {
  const long me = (long)number;
  pthread_barrier_wait(&go);
  for (int i = 0; i < 400; ++i) {
    BODY;
    if (i % 20 == 0) sched_yield();
  }
  return number;
}
int main(void) {
  pthread_t threads[4];
  pthread_barrier_init(&go, 0, 4);
  for (long i = 0; i < 4; ++i) pthread_create(threads + i, 0, work, (void*)i);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
}
"""

CASES = {
    "counter": ("events++", "true_sharing", "events"),
    "neighbours": ("hits[me]++", "false_sharing", "hits"),
    "alone": ("apart[me].own++", "compute", ""),
    "published": (
        "if (me == 0) atomic_fetch_add(&published, 1); else (void)atomic_load(&published)",
        "communication",
        "published",
    ),
    "section": (
        "if (i % 4) continue; pthread_mutex_lock(&mutex); for (int k = 0; k < 128; ++k) table[k] += me; "
        "pthread_mutex_unlock(&mutex)",
        "lock",
        "mutex",
    ),
}


def advised(linebounce: Program, body: str, *machines: str) -> dict:
    recorder = Recorder(linebounce)
    recorder.record(recorder.compile(PROGRAM.replace("BODY", body), "-O1", "-g"), options=("--untimed",))
    options = [word for machine in machines or MACHINES[:1] for word in ("--machine", machine)]
    result = linebounce("advise", "trace.lbt", *options, "--orders", "2", "--json", "-o", "out")
    assert result.code == 0, result.stderr
    page: dict = json.loads(result.stdout)
    return page


@pytest.mark.parametrize("case", CASES)
def test_the_bottleneck_is_named_and_every_tick_belongs_to_one_class(linebounce: Program, case: str) -> None:
    body, what, name = CASES[case]
    machines = MACHINES if what == "true_sharing" else MACHINES[:1]
    page = advised(linebounce, body, *machines)
    assert [account["machine"] for account in page["time"]] == list(machines)
    for account in page["time"]:
        assert sum(share["ticks"] for share in account["shares"]) == account["ticks"] > 0
        assert sum(share["pct"] for share in account["shares"]) == pytest.approx(100, abs=0.1)
        assert len({(share["class"], share["name"]) for share in account["shares"]}) == len(account["shares"])
        bottleneck = account["bottleneck"]
        assert (bottleneck["class"], bottleneck["name"]) == (what, name), account
        if name:
            line = next(n for n, text in enumerate(PROGRAM.split("\n"), 1) if name in text)
            assert bottleneck["source"].endswith(f"program.c:{line}")
            assert bottleneck["functions"] == ["work"]
        if what == "true_sharing":
            assert (bottleneck["writers"], bottleneck["writes"]) == (4, 1600)
        if what == "lock":
            assert bottleneck["held_pct"] > 70, "the section itself is the bottleneck"
    if not page["changes"]:
        assert page["time"][0]["bottleneck"]["text"] + "." in page["verdict"]


def test_no_threads_time_is_counted_before_it_begins_or_after_it_ends(linebounce: Program) -> None:
    """Four workers that take nearly all of the run, and main, which waits for them."""
    page = advised(linebounce, CASES["counter"][0])
    replay = ("trace", "replay", "trace.lbt", "--machine", MACHINES[0], "-o", "replayed", "--quiet")
    assert linebounce(*replay).code == 0
    point = json.loads((linebounce.directory / "replayed" / "results.json").read_text())["points"][0]["metrics"]
    run_us = 1e6 * point["replay.operations"]["value"] / point["throughput.operations_per_s"]["value"]
    assert 4.7 * run_us < page["time"][0]["thread_us"] <= 5 * run_us


def test_the_page_begins_with_where_the_time_goes(linebounce: Program) -> None:
    advised(linebounce, CASES["counter"][0])
    shown = linebounce("advise", "trace.lbt", "--machine", MACHINES[0], "--orders", "2", "-o", "out").stdout
    verdict, table = shown.split("\n\n")[:2]
    assert "true sharing of events (an event counter), which 4 threads write, in work" in verdict
    head, *shares = table.split("\n")
    assert head.strip() == f"Where the threads' time goes on {MACHINES[0]}:"
    assert sum(float(line.split(" %")[0]) for line in shares) == pytest.approx(100, abs=0.01)


def test_other_counters_are_tried_in_the_place_of_a_count_that_all_threads_change(linebounce: Program) -> None:
    page = advised(linebounce, CASES["counter"][0])
    assert page["changes"] == []
    assert [change["what"].split(",")[0] for change in page["conditional"]] == [
        "count events per thread",
        "add to events only every 64 adds of a thread",
        "stripe events over 8 counts on lines of their own",
    ]
    assert [change["alternative_to"] for change in page["conditional"]] == [0, 1, 1]
    for change in page["conditional"]:
        (gain,) = change["gains"]
        assert gain["confirmed"]
        assert gain["change_low_pct"] > 300
        assert "value that an add returns" not in change["only_if"], "the recorder saw that nobody uses it"
        assert change["seen"] == "events is an event counter: 1600 additions, the program looks at no result"
        assert re.search(r"^On generic_2socket_32core \d+ of [\d ]+ transfers of lines remain", change["remains"]), change
    assert page["verdict"].startswith("On generic_2socket_32core ")
    assert "It helps, only if nobody needs the exact sum after every add" in page["verdict"]


def test_counting_per_thread_loses_where_the_sum_is_read_in_the_loop(linebounce: Program) -> None:
    body = "if (i % 4 == me) events++; for (int k = 0; k < 8; ++k) apart[me].own += atomic_load(&events)"
    page = advised(linebounce, body)
    per_thread = [sentence for sentence in page["no_help"] if sentence.startswith("count events per thread")]
    assert re.search(r": -[1-9]\d\.\d % ", per_thread[0]), page["no_help"]


# An object's reference count beside fields that its readers need, and a count of events. A change that cures one leaves the
# other as it is.
REFERENCE = r"""
#include <pthread.h>
#include <stdatomic.h>
static _Alignas(64) struct config { const char* name; atomic_int references; } config;
static _Alignas(64) atomic_long events;
static pthread_barrier_t go;
static void* work(void* me) {
  pthread_barrier_wait(&go);
  for (int i = 0; i < 400; ++i) {
    atomic_fetch_add(&config.references, 1);
    events++;
    atomic_fetch_sub(&config.references, 1);
  }
  return me;
}
int main(void) {
  pthread_t threads[4];
  pthread_barrier_init(&go, 0, 4);
  for (long i = 0; i < 4; ++i) pthread_create(threads + i, 0, work, (void*)i);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
}
"""


def test_several_counts_are_also_cured_together(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    recorder.record(recorder.compile(REFERENCE, "-O1", "-g"), options=("--untimed",))
    result = linebounce("advise", "trace.lbt", "--machine", MACHINES[0], "--orders", "2", "--json", "-o", "out")
    page = json.loads(result.stdout)
    assert {share["name"] for share in page["time"][0]["shares"][:2]} == {"config.references", "events"}
    best = page["conditional"][0]
    assert "take config.references out of the readers' path (RCU, hazard pointers)" in best["what"]
    assert "count events per thread" in best["what"]
    assert "it is a reference count" in best["only_if"]
    alone = next(
        change for change in page["conditional"] if change["what"].startswith("take config") and ";" not in change["what"]
    )
    assert alone["remains"].endswith("most on events.")
    assert best["gains"][0]["change_low_pct"] > 5 * alone["gains"][0]["change_high_pct"]


def test_an_unknown_form_of_a_count_is_refused(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    recorder.record(recorder.compile(REFERENCE, "-O1", "-g"), options=("--untimed",))
    replay = ("trace", "replay", "trace.lbt", "--machine", MACHINES[0], "-o", "out", "--set")
    refused = linebounce.refused(*replay, 'workload.count="halved events+0"')
    assert "legal: per_thread, batched, striped, removed and a word" in refused
    refused = linebounce.refused(*replay, 'workload.count="striped nothing+0"')
    assert "workload.count: the trace has no word nothing+0" in refused


def test_lines_names_variables_without_fields(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    recorder.record(recorder.compile(REFERENCE, "-O1", "-g"), options=("--untimed",))
    assert linebounce("trace", "replay", "trace.lbt", "--machine", MACHINES[0], "-o", "replayed", "--quiet").code == 0
    rows = [row.split(",") for row in (linebounce.directory / "replayed" / "lines.csv").read_text().splitlines()]
    assert any(row[1:6] == ["events", "events", "0", "0", ""] and row[7] == "atomic" for row in rows)
    shown = linebounce("lines", "replayed").stdout
    assert re.search(r"^ *[12] +events +0 ", shown, re.MULTILINE), shown
    assert re.search(r"^ +0  events +work +atomic ", shown, re.MULTILINE), shown


def test_no_other_counter_is_tried_for_a_condition_that_many_threads_signal(linebounce: Program) -> None:
    lines = ["linebounce trace 1", "event ready", *(f"stream {t}" for t in "abc")]
    lines += [f"{t} {what}" for _ in range(200) for t in "abc" for what in ("signal ready", "compute 5")]
    file = linebounce.file("signals.txt", "\n".join([*lines, "end"]) + "\n")
    result = linebounce("advise", file, "--machine", MACHINES[0], "--json")
    assert result.code == 0, result.stderr
    page = json.loads(result.stdout)
    assert page["time"][0]["bottleneck"]["name"] == "ready"
    assert page["conditional"] == []
