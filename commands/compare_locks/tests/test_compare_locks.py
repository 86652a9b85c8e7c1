"""`linebounce compare-locks`: replays a trace with each of its locks replaced by every suitable lock."""

import json
import math
from pathlib import Path

import pytest
from program import Program
from recorded import Recorder

MACHINE = "p3_xeon_8way"


def suitable(linebounce: Program, *readers: str) -> set[str]:
    """The locks that exclude writers, and whose readers are of these kinds."""
    locks = json.loads(linebounce("list", "locks", "--json").stdout)
    return {
        lock["name"]
        for lock in locks
        if lock["excludes"] and lock["readers"] in ("one_by_one", *readers) and "cpus" not in lock
    }


def synthetic(linebounce: Program, *arguments: str, accesses: int = 2000) -> Path:
    """Eight threads that contend for one lock."""
    contended = ["--threads", "8", "--locks", "1", "--section", "5", "--between", "200", "--shared", "50"]
    options = [*contended, "--accesses", str(accesses), *arguments]
    result = linebounce("trace", "synth", "-o", "program.lbt", *options)
    assert result.code == 0, result.stderr
    return linebounce.directory / "program.lbt"


def compared(linebounce: Program, *arguments: str | Path) -> dict:
    result = linebounce("compare-locks", *arguments, "--json")
    assert result.code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["schema"] == "linebounce.compare_locks/1"
    return document


def test_every_suitable_lock_is_tried_and_ranked_by_throughput(linebounce: Program) -> None:
    document = compared(linebounce, synthetic(linebounce, "--lock", "tas"), "--machine", MACHINE)
    (machine,) = document["machines"]
    (lock,) = machine["locks"]
    assert lock["lock"] == "lock"
    trials = lock["trials"]
    assert {trial["algorithm"] for trial in trials} == suitable(linebounce)
    assert {"cna", "cohort"} <= suitable(linebounce)
    assert [trial["algorithm"] for trial in trials if trial["recorded"]] == ["tas"]
    rates = [trial["throughput_per_s"] for trial in trials]
    assert rates == sorted(rates, reverse=True)
    by_name = {trial["algorithm"]: trial for trial in trials}
    assert by_name["tas"]["change_pct"] == 0
    assert by_name["mcs"]["change_pct"] > 5
    assert by_name["mcs"]["transfers"] < by_name["tas"]["transfers"]
    assert by_name["tas"]["waited_pct"] > 10
    assert machine["advice"].startswith(f"lock: {machine['confirmation']['algorithm']} instead of tas: +")


def test_a_load_with_readers_is_compared_under_reader_writer_locks(linebounce: Program) -> None:
    file = synthetic(linebounce, "--read-sections", "80", "--lock", "rwlock")
    (machine,) = compared(linebounce, file, "--machine", MACHINE)["machines"]
    tried = {trial["algorithm"] for trial in machine["locks"][0]["trials"]}
    assert tried == suitable(linebounce, "together", "read_again")


def test_two_machines_have_a_table_and_a_line_of_advice_each(linebounce: Program) -> None:
    file = synthetic(linebounce, "--lock", "tas", accesses=500)
    arguments = ["compare-locks", file, "--machine", MACHINE, "--machine", "numaq_16way"]
    shown = linebounce(*arguments)
    assert shown.code == 0, shown.stderr
    first = shown.stdout.splitlines()[:2]
    assert MACHINE in first[0]
    assert "numaq_16way" in first[1]
    assert "as recorded" in shown.stdout
    again = linebounce(*arguments)
    assert again.stdout == shown.stdout, "results that are there are used again"


def test_only_the_lock_that_is_named_is_replaced(linebounce: Program) -> None:
    text = "linebounce trace 1\nlock a algorithm=ticket\nlock b algorithm=mcs\nstream x\nstream y\n"
    for _ in range(50):
        for stream in "xy":
            for lock in "ab":
                text += f"{stream} acquire {lock}\n{stream} compute 50\n{stream} release {lock}\n"
    file = linebounce.file("two.txt", text + "end\n")
    (machine,) = compared(linebounce, file, "--machine", MACHINE, "--lock", "b")["machines"]
    assert [lock["lock"] for lock in machine["locks"]] == ["b"]
    # No thread ever waits for b: it can take b only after it has left the section of a, when b is free.
    assert [lock["lock"] for lock in compared(linebounce, file, "--machine", MACHINE)["machines"][0]["locks"]] == ["a"]
    message = linebounce.refused("compare-locks", file, "--machine", MACHINE, "--lock", "c")
    assert "a, b" in message


def test_a_trace_without_locks_is_refused_with_the_reason(linebounce: Program) -> None:
    linebounce.file("t.din", "0 1000\n1 1008\n")
    assert linebounce("trace", "convert", "t.din", "t.lbt", "--from", "dinero").code == 0
    message = linebounce.refused("compare-locks", "t.lbt", "--machine", MACHINE)
    assert "there are no locks to compare: Dinero has no locks" in message


# Three threads contend for a spin lock of the program's own, and occasionally take a mutex.
OWN_SPIN_LOCK = r"""
#include <pthread.h>
#include <stdatomic.h>
static struct { atomic_int lock; long sum; } pool;
static pthread_mutex_t rare = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* a) {
  for (int i = 0; i < 400; ++i) {
    while (atomic_exchange_explicit(&pool.lock, 1, memory_order_acquire)) {}
    pool.sum += i;
    UNLOCK;
    if (i % 40 == 0) { pthread_mutex_lock(&rare); pthread_mutex_unlock(&rare); }
  }
  return a;
}
int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(threads + i, 0, work, 0);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
}
"""
UNLOCKS = {
    "release store": "atomic_store_explicit(&pool.lock, 0, memory_order_release)",
    "sequentially consistent store": "atomic_store(&pool.lock, 0)",
}

READERS = """
#include <pthread.h>
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t count_lock;
static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static long table[64], count, sum;
static void* reader(void* argument) {
  long found = 0;
  for (int i = 0; i < 100; i++) {
    if (i % 10 != 9 || pthread_rwlock_tryrdlock(&table_lock) != 0) pthread_rwlock_rdlock(&table_lock);
    for (int k = 0; k < 64; k++) found += table[k];
    pthread_rwlock_unlock(&table_lock);
    pthread_spin_lock(&count_lock);
    count++;
    pthread_spin_unlock(&count_lock);
  }
  pthread_rwlock_wrlock(&table_lock);
  table[0]++;
  pthread_rwlock_unlock(&table_lock);
  pthread_mutex_lock(&sum_lock);
  sum += found;
  pthread_mutex_unlock(&sum_lock);
  return argument;
}
int main(void) {
  pthread_spin_init(&count_lock, 0);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, reader, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}
"""


def test_a_recorded_programs_locks_run_as_the_nearest_of_ours(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    recorder.record(recorder.compile(READERS))
    chosen = ["--lock", "table_lock", "--lock", "count_lock", "--lock", "sum_lock"]
    arguments = ["trace.lbt", "--machine", MACHINE, *chosen]
    (machine,) = compared(linebounce, *arguments)["machines"]
    locks = {lock["lock"]: lock for lock in machine["locks"]}
    ours = {name: next(trial["algorithm"] for trial in lock["trials"] if trial["recorded"]) for name, lock in locks.items()}
    assert ours == {"table_lock": "glibc_rwlock", "count_lock": "ttas", "sum_lock": "glibc_mutex"}
    assert {name: lock["recorded"] for name, lock in locks.items()} == {
        "table_lock": "pthread_rwlock",
        "count_lock": "pthread_spin",
        "sum_lock": "pthread_mutex",
    }
    shown = linebounce("compare-locks", *arguments).stdout
    assert "table_lock  as glibc_rwlock; recorded: pthread_rwlock\n" in shown
    assert "count_lock  as ttas; recorded: pthread_spin\n" in shown


@pytest.mark.parametrize("algorithm", ["rwlock", "brlock", "seqlock", "mcs"])
def test_a_reader_that_only_tried_gives_the_lock_back(linebounce: Program, algorithm: str) -> None:
    text = f"linebounce trace 1\nlock l algorithm={algorithm}\nstream x\nstream y\n"
    for _ in range(20):
        for stream in "xy":
            text += f"{stream} try_acquire_shared l\n{stream} compute 50\n{stream} release_shared l\n"
            text += f"{stream} acquire l\n{stream} compute 50\n{stream} release l\n"
    file = linebounce.file("tries.txt", text + "end\n")
    result = linebounce("trace", "replay", file, "--machine", MACHINE)
    assert result.code == 0, result.stderr


def throughputs(folder: Path) -> dict[int, list[float]]:
    """Throughputs by recorded order; within an order, in the sequence of the trials."""
    orders: dict[int, list[float]] = {}
    for point in json.loads((folder / "results.json").read_text())["points"]:
        rate = point["metrics"]["throughput.operations_per_s"]["value"]
        orders.setdefault(point["at"]["workload.order"], []).append(rate)
    return orders


def test_a_change_is_the_median_of_pairs_in_the_same_orders(linebounce: Program) -> None:
    file = synthetic(linebounce, "--lock", "tas", accesses=500)
    (machine,) = compared(linebounce, file, "--machine", MACHINE, "--orders", "4")["machines"]
    orders = throughputs(linebounce.directory / machine["directory"] / "replaced")
    assert sorted(orders) == [1, 2, 3, 4]
    assert len({rates[0] for rates in orders.values()}) > 1, "each is another order"
    changes = [
        sorted(100 * (rates[i] / rates[0] - 1) for rates in orders.values()) for i in range(1, len(suitable(linebounce)))
    ]
    # With an even number of factors, the median is the geometric mean of the two in the middle.
    medians = sorted(100 * (math.sqrt((1 + change[1] / 100) * (1 + change[2] / 100)) - 1) for change in changes)
    (lock,) = machine["locks"]
    trials = [trial for trial in lock["trials"] if not trial["recorded"]]
    assert sorted(trial["change_pct"] for trial in trials) == pytest.approx(medians, rel=1e-3, abs=1e-3)
    for trial in trials:
        assert trial["change_low_pct"] <= trial["change_pct"] <= trial["change_high_pct"]


def test_advice_also_gains_in_orders_that_had_no_part_in_its_choice(linebounce: Program) -> None:
    file = synthetic(linebounce, "--lock", "tas", accesses=500)
    (machine,) = compared(linebounce, file, "--machine", MACHINE)["machines"]
    again = machine["confirmation"]
    assert again["change_low_pct"] > 0
    assert again["change_pct"] >= 1
    assert machine["advice"].startswith(f"lock: {again['algorithm']} instead of tas: {again['change_pct']:+.1f} % (")
    orders = throughputs(linebounce.directory / machine["directory"] / "confirmed")
    assert sorted(orders) == [4, 5, 6]


def test_a_recorded_order_without_waits_is_not_a_basis_for_another_lock(linebounce: Program) -> None:
    """The recorded CPUs hand commands from one to the next. In any other order, a CPU waits for its commands."""
    assert linebounce("trace", "record", "timer_churn", "-o", "t.lbt", "--set", "run.measure_us=500").code == 0
    (machine,) = compared(linebounce, "t.lbt", "--lock", "churned.queue_lock")["machines"]
    assert machine["recorded_order_pct"] > 3 * machine["order_pct"]
    changes = {trial["algorithm"]: trial["change_pct"] for trial in machine["locks"][0]["trials"]}
    assert abs(changes["ttas_backoff"]) < machine["recorded_order_pct"] / 2


def test_a_program_in_which_locks_make_no_difference_keeps_its_own(linebounce: Program) -> None:
    text = "linebounce trace 1\nlock l algorithm=ticket\nstream x\nstream y\n"
    for stream in "xy":
        text += f"{stream} compute 100\n{stream} acquire l\n{stream} release l\n{stream} compute 100000\n"
    (machine,) = compared(linebounce, linebounce.file("idle.txt", text + "end\n"), "--machine", MACHINE)["machines"]
    assert machine["confirmation"] is None
    assert machine["advice"] == f"{MACHINE}: leave the locks as they are: no other one gains as much as 1 %"


def readers_only(linebounce: Program, write: str) -> Path:
    text = "linebounce trace 1\nobject x size=64\nlock l algorithm=rwlock\nstream x\nstream y\n"
    for _ in range(50):
        for stream in "xy":
            text += f"{stream} acquire_shared l\n{stream} load x 8\n{stream} release_shared l\n{stream} compute 20\n"
    return linebounce.file("readers.txt", text + f"x acquire l\nx {write} x 8\nx release l\nend\n")


def test_rcu_takes_the_place_of_a_lock_under_which_nobody_writes(linebounce: Program) -> None:
    file = readers_only(linebounce, "load")
    (machine,) = compared(linebounce, file, "--machine", MACHINE)["machines"]
    trials = {trial["algorithm"]: trial for trial in machine["locks"][0]["trials"]}
    assert trials["rcu"]["change_low_pct"] > 0
    assert trials["rcu"]["waited_pct"] == 0
    result = linebounce("trace", "replay", file, "--machine", MACHINE, "--lock", "rcu")
    assert result.code == 0, result.stderr


def test_what_readers_without_a_lock_ask_of_the_program_stands_beside_the_advice(linebounce: Program) -> None:
    file = readers_only(linebounce, "load")
    result = linebounce("advise", file, "--machine", MACHINE)
    assert result.code == 0, result.stderr
    text = " ".join(result.stdout.split())
    assert "by rcu" in text
    assert "Check: a reader then runs beside a writer." in text
    assert "Check: no writer was recorded." in text


def test_rcu_is_refused_where_a_writer_would_have_to_publish_copies(linebounce: Program) -> None:
    file = readers_only(linebounce, "store")
    (machine,) = compared(linebounce, file, "--machine", MACHINE)["machines"]
    assert "rcu" not in {trial["algorithm"] for trial in machine["locks"][0]["trials"]}
    message = linebounce.refused("trace", "replay", file, "--machine", MACHINE, "--lock", "rcu")
    assert "rcu can't take the place of l here: its readers keep nobody out" in message


WRITING_READERS = """
#include <pthread.h>
static pthread_rwlock_t pure = PTHREAD_RWLOCK_INITIALIZER, counted = PTHREAD_RWLOCK_INITIALIZER;
static long value, lookups;
static void* worker(void* argument) {
  for (int i = 0; i < 50; i++) {
    volatile long seen;
    pthread_rwlock_rdlock(&pure);
    seen = value;
    pthread_rwlock_unlock(&pure);
    pthread_rwlock_rdlock(&counted);
    seen = value;
    __atomic_fetch_add(&lookups, 1, __ATOMIC_RELAXED);
    pthread_rwlock_unlock(&counted);
  }
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, worker, NULL);
  worker(NULL);
  pthread_join(thread, NULL);
}
"""


def test_readers_of_a_recorded_program_that_write_are_not_made_to_read_again(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    recorder.record(recorder.compile(WRITING_READERS))
    (machine,) = compared(linebounce, "trace.lbt", "--machine", MACHINE, "--lock", "pure", "--lock", "counted")["machines"]
    tried = {lock["lock"]: {trial["algorithm"] for trial in lock["trials"]} for lock in machine["locks"]}
    assert tried["pure"] - tried["counted"] == {"seqlock"}
    refused = linebounce.refused("trace", "replay", "trace.lbt", "--machine", MACHINE, "--lock", "counted=seqlock")
    assert "its readers may have to read again, and here they write" in refused


def test_readers_that_take_a_lock_again_have_it_already_where_they_have_it_alone(linebounce: Program) -> None:
    text = "linebounce trace 1\nobject x size=64\nlock l algorithm=rwlock\nstream a\nstream b\n"
    for _ in range(20):
        text += "a acquire_shared l\na try_acquire_shared l\na load x 8\na release_shared l\na load x 8\na release_shared l\n"
        text += "b try_acquire_shared l\nb acquire_shared l\nb load x 8\nb release_shared l\nb release_shared l\n"
        text += "b acquire l\nb store x 8\nb release l\n"
    (machine,) = compared(linebounce, linebounce.file("again.txt", text + "end\n"), "--machine", MACHINE)["machines"]
    assert {"mcs", "mutex", "seqlock", "rwlock"} <= {trial["algorithm"] for trial in machine["locks"][0]["trials"]}


@pytest.mark.parametrize("unlock", UNLOCKS)
def test_a_spin_lock_of_the_programs_own_is_found_and_replaced_on_request(linebounce: Program, unlock: str) -> None:
    recorder = Recorder(linebounce)
    recorder.record(recorder.compile(OWN_SPIN_LOCK.replace("UNLOCK", UNLOCKS[unlock])))
    arguments = ("trace.lbt", "--machine", MACHINE)

    document = compared(linebounce, *arguments)
    (word,) = document["word_locks"]
    assert (word["name"], word["acquisitions"], word["streams"]) == ("pool.lock", 1200, 3)
    assert document["word_locks_replaced"] is False
    (machine,) = document["machines"]
    assert [lock["lock"] for lock in machine["locks"]] == ["rare"]
    assert "pool.lock behaves like a lock and was not replaced" in machine["advice"], (
        "no verdict where a hot lock was not tried"
    )

    document = compared(linebounce, *arguments, "--word-locks", "-o", "replaced")
    assert document["word_locks_replaced"] is True
    (machine,) = document["machines"]
    assert "pool.lock" in {lock["lock"] for lock in machine["locks"]}
    assert "not replaced" not in machine["advice"]
    kinds = json.loads(linebounce("trace", "info", "replaced/with_word_locks.lbt", "--json").stdout)["kinds"]
    assert kinds["acquire"] == 1200 + 30
    assert "exchange" not in kinds


def test_a_trace_whose_only_lock_is_a_word_says_how_to_replace_it(linebounce: Program) -> None:
    section = "exchange p.lock 4\nT store p.sum 8\nT store p.lock 4\n"
    text = "linebounce trace 1\nstructure pool size=64 fields=lock:0:4,sum:8:8\nobject p structure=pool size=64\n"
    text += "stream a\nstream b\n" + "".join(f"{thread} {section.replace('T', thread)}" * 30 for thread in "ab") + "end\n"
    file = linebounce.file("own.txt", text)
    assert "p.lock behaves like one: try --word-locks" in linebounce.refused("compare-locks", file, "--machine", MACHINE)
    (machine,) = compared(linebounce, file, "--machine", MACHINE, "--word-locks")["machines"]
    assert [lock["lock"] for lock in machine["locks"]] == ["p.lock"]
