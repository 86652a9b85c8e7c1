"""Locks in C: checked and timed as they are, with the verdicts and figures of the same locks in Lua."""

import json
import shutil
from pathlib import Path

import pytest
from program import ROOT, Program

HERE = Path(__file__).resolve().parent / "locks_in_c"
LUA = ROOT / "programs" / "locks"
TICKET = LUA / "ticket.c"
# By lock: its file in C, and the same lock in Lua.
PAIRS = {
    "ticket": (TICKET, LUA / "ticket.lua"),
    "mcs": (HERE / "mcs.c", LUA / "mcs.lua"),
    "clh": (HERE / "clh.c", LUA / "clh.lua"),
    "rwlock": (HERE / "rwlock.c", LUA / "rwlock.lua"),
    "broken": (HERE / "broken.c", HERE / "broken.lua"),
}
# Machines, with their numbers of CPUs, on which one cycle more or less between two operations does not decide who gets a line
# next (docs/lock-in-c.md).
MACHINES = {
    "generic_2socket_32core": 32,
    "xeon_gold_6242_2socket": 16,
    "graviton2_1socket": 16,
    "opteron_8431_8socket": 16,
    "x445_8way": 8,
}
CONTENDED = """name = "contended"
title = "Every CPU wants the lock"
machine = "p3_xeon_4way"
[workload]
name = "critical_section"
lock = "ttas"
data_lines = 1
inside_cycles = 50
outside_cycles = 1000
[run]
warmup_us = 50
measure_us = 4000
"""
# Two CPUs that take turns by loads and stores.
PETERSON = (HERE / "peterson.c").read_text(encoding="utf-8")
FENCE = "  atomic_thread_fence(memory_order_seq_cst);\n"


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "lock_cache"))


def checked(linebounce: Program, *arguments: str | Path) -> dict:
    return json.loads(linebounce("check-lock", *arguments, "--machines=0", "--json").stdout)[0]


def lock(linebounce: Program, body: str, name: str = "own.c", head: str = "") -> Path:
    """A lock file with this body of acquire()."""
    return linebounce.file(
        name,
        f"""#include <linebounce/lock.h>
{head}
struct own {{ int held; }};
LINEBOUNCE_LOCK(struct own, .title = "Own")
void acquire(struct own *lock) {{
{body}
}}
void release(struct own *lock) {{ __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE); }}
""",
    )


@pytest.mark.parametrize("name", PAIRS)
def test_a_lock_in_c_has_the_verdict_of_the_same_lock_in_lua(linebounce: Program, name: str) -> None:
    verdicts = [checked(linebounce, path, "--cpus=2", "--acquisitions=1")["verdict"] for path in PAIRS[name]]
    assert verdicts == (["broken"] * 2 if name == "broken" else ["holds"] * 2)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_lock_in_c_is_as_fast_as_the_same_lock_in_lua(linebounce: Program, machine: str) -> None:
    names = [name for name in PAIRS if name != "broken"]
    locks = json.dumps([str(path) for name in names for path in PAIRS[name]])
    settings = [f"workload.lock={locks}", f"machine.cpus={MACHINES[machine]}"]
    directory = linebounce.run(
        linebounce.file("contended.toml", CONTENDED),
        "out",
        f"--machine={machine}",
        *(f"--set={setting}" for setting in settings),
        "--quiet",
        "--unchecked",
    )
    rates, transfers = {}, {}
    for point in json.loads((directory / "results.json").read_text())["points"]:
        metrics = {name: metric["value"] for name, metric in point["metrics"].items()}
        path = point["at"]["workload.lock"]
        rates[path] = metrics["throughput.operations_per_s"]
        supplied = sum(metrics.get(f"latency.{source}.count", 0) for source in ("local_c2c", "remote_c2c", "upgrade"))
        transfers[path] = supplied / rates[path]
    for name in names:
        in_c, in_lua = map(str, PAIRS[name])
        assert rates[in_c] == pytest.approx(rates[in_lua], rel=0.05), name
        assert transfers[in_c] == pytest.approx(transfers[in_lua], rel=0.01), name
    orders = [sorted(names, key=lambda name, which=which: rates[str(PAIRS[name][which])]) for which in (0, 1)]
    assert orders[0] == orders[1]


def test_without_its_fence_petersons_lock_is_broken_where_stores_wait_in_a_buffer(linebounce: Program) -> None:
    assert checked(linebounce, HERE / "peterson.c", "--acquisitions=1")["verdict"] == "holds"
    broken = linebounce.file("peterson.c", PETERSON.replace(FENCE, ""))
    said = linebounce("check-lock", broken, "--consistency=tso", "--machines=0")
    assert said.code == 1
    assert "both hold the lock" in said.stdout
    assert "store lock.wants[0] = 1" in said.stdout


def weakest(linebounce: Program, path: Path | str, *arguments: str) -> list[tuple[str, dict[str, str]]]:
    models = [f"--consistency={model}" for model in ("sc", "tso", "ia64")]
    said = linebounce("check-lock", path, "--weaken", "--json", *models, *arguments)
    return [(place["order"], place["weakest"]) for place in json.loads(said.stdout)[0]["places"] if "weakest" in place]


@pytest.mark.parametrize(
    ("path", "now", "weaker"), [(TICKET, "store release", "store relaxed"), ("ticket", "store_release", "store")]
)
def test_a_ticket_lock_needs_its_release_only_where_stores_pass_each_other(
    linebounce: Program, path: Path | str, now: str, weaker: str
) -> None:
    found = weakest(linebounce, path, "--machine=p3_xeon_4way")
    assert found == [(now, {"sc": weaker, "tso": weaker, "ia64": now})]


def test_petersons_fence_is_needed_with_a_store_buffer_and_its_releases_where_stores_pass_each_other(
    linebounce: Program,
) -> None:
    orders = weakest(linebounce, HERE / "peterson.c", "--machine=p3_xeon_4way")
    store = ("store release", {"sc": "store relaxed", "tso": "store relaxed", "ia64": "store release"})
    assert orders == [store, ("fence seq_cst", {"sc": "none", "tso": "fence seq_cst", "ia64": "fence seq_cst"}), store]


def test_weaken_names_the_line_of_the_lock_that_a_wrapping_header_was_called_from(linebounce: Program) -> None:
    wrapper = "static inline void inner(int *at, int value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }\n"
    outer = "static inline void outer(int *at) {\n  inner(at, 0);\n}\n"
    linebounce.file("wrappers.h", "\n" * 40 + wrapper + outer)
    text = """#include <linebounce/lock.h>
#include "wrappers.h"
struct own { int held; };
LINEBOUNCE_LOCK(struct own)
void acquire(struct own *lock) { while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE)) linebounce_pause(); }
void release(struct own *lock) { outer(&lock->held); }
"""
    said = linebounce(
        "check-lock", linebounce.file("wrapped.c", text), "--weaken", "--json", "--machine=p3_xeon_4way", "--consistency=sc"
    )
    places = json.loads(said.stdout)[0]["places"]
    chains = [place["chain"] for place in places if place["order"] == "store release"]
    assert chains == [["wrapped.c:6", "wrappers.h:43", "wrappers.h:41"]]


def test_a_file_cannot_make_a_lock_in_c_run_unless_the_user_says_native(linebounce: Program) -> None:
    lock(linebounce, "  while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE)) linebounce_pause();")
    experiment = linebounce.file("theirs.toml", CONTENDED.replace('"ttas"', '"own.c"').replace("4000", "20"))
    assert "--native" in linebounce.refused("run", experiment)
    assert "--native" in linebounce.refused("explain", experiment)
    assert not list((linebounce.directory.parent / "lock_cache").glob("**/own-*.so"))
    results = linebounce.run(experiment, "out", "--native", "--quiet")
    assert "--native" in linebounce.refused("explain", results)
    assert "--native" in linebounce.refused("run", results / "config.toml", "-o", "again")


REFUSED = {
    "a call of the C library": ("  getpid();", "#include <unistd.h>", "own.c:6: calls getpid"),
    "printing": (
        '  printf("%p\\n", (void *)lock);',
        "#include <stdio.h>",
        "calls printf, which is not in this file; a lock prints nothing: `linebounce steps`",
    ),
    "a system call": ('  __asm__ volatile("syscall");', "", "own.c:6: has inline assembler that can't be simulated: syscall"),
    "an error of the compiler": ("  lock->hold = 1;", "", "has no member named"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_simulated_is_refused_with_its_place(linebounce: Program, name: str) -> None:
    body, head, message = REFUSED[name]
    assert message in linebounce.refused("check-lock", lock(linebounce, body, head=head))


def test_a_null_pointer_is_an_error_of_the_lock_and_not_of_the_program(linebounce: Program) -> None:
    path = lock(
        linebounce, "  struct own *other = lock->held ? lock : (struct own *)0;\n  __atomic_store_n(&other->held, 1, 0);"
    )
    said = linebounce("check-lock", path, "--machines=0")
    assert said.code == 1
    assert "own.c:7: CPU 0: accesses 0x0" in said.stdout


def test_locks_in_cpp_with_nodes_on_the_stack_and_bits_in_a_word_hold(linebounce: Program) -> None:
    text = """#include <atomic>
#include <linebounce/lock.h>
struct waiter { std::atomic<waiter*> next{nullptr}; std::atomic<bool> waits{true}; };
struct stack_queue { std::atomic<waiter*> tail; std::atomic<unsigned> held; };
LINEBOUNCE_LOCK(stack_queue, .title = "Waiters queue on their stacks, for a bit")
void acquire(stack_queue* lock) {
  waiter me;
  waiter* before = lock->tail.exchange(&me);
  if (before) {
    before->next.store(&me, std::memory_order_release);
    while (me.waits.load(std::memory_order_acquire)) linebounce_pause();
  }
  while (lock->held.fetch_or(1) & 1) linebounce_pause();
  waiter* last = &me;
  if (lock->tail.compare_exchange_strong(last, nullptr)) return;
  waiter* after;
  while (!(after = me.next.load(std::memory_order_acquire))) linebounce_pause();
  after->waits.store(false, std::memory_order_release);
}
void release(stack_queue* lock) { lock->held.fetch_and(~1u); }
"""
    path = linebounce.file("stack_queue.cpp", text)
    assert checked(linebounce, path, "--cpus=2", "--acquisitions=1")["verdict"] == "holds"
    assert linebounce("run", path, "--machine=p3_xeon_8way", "--set=run.measure_us=100", "--unchecked").code == 0


@pytest.mark.parametrize("compiler", ["cc", "clang"])
def test_a_local_variable_that_other_cpus_cannot_reach_keeps_what_the_compiler_does_not_report(
    linebounce: Program, compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler does not report the variable's initial value. An earlier call has published the same place of the
    stack, with another value in it."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    monkeypatch.setenv("CC", compiler)
    text = """#include <linebounce/lock.h>
#include <stdatomic.h>
#define APART __attribute__((noinline))
struct node { struct node *_Atomic next; };
struct list { int count, marks; };
struct own { _Atomic int held; struct node *_Atomic seen; };
LINEBOUNCE_LOCK(struct own, .title = "Own")
static APART void add(struct list *list) { list->count++; }
static APART int sum(const struct list *list) { return list->count; }
static APART void publish(struct own *lock) {
  struct node mine;
  atomic_store(&mine.next, &mine);
  atomic_store(&lock->seen, &mine);
}
void acquire(struct own *lock) {
  publish(lock);
  struct list list = {0, 0};
  while (atomic_exchange(&lock->held, 1)) linebounce_pause();
  add(&list);
  list.marks = list.count;
  add(&list);
  if (sum(&list) != 2 || list.marks != 1) __builtin_abort();
}
void release(struct own *lock) { atomic_store_explicit(&lock->held, 0, memory_order_release); }
"""
    path = linebounce.file("own.c", text)
    assert checked(linebounce, path, "--cpus=2", "--acquisitions=2", "--states=3000")["verdict"] != "broken"


def test_a_spin_that_is_recognised_late_leaves_other_loops_waiting(linebounce: Program) -> None:
    """The first loop's registers settle at its fourth turn. The second reads words of two sizes, so it is never recognised as
    a spin: if each number of its turns were a case of its own, too, the search would not end."""
    body = """  const int mine = linebounce_cpu() + 100;
  int last = 0, before = 0, older = 0;
  do {
    while (__atomic_load_n(&lock->held, __ATOMIC_SEQ_CST)) {
      linebounce_pause();
      older = before, before = last, last = mine;
    }
    while (__atomic_load_n(&lock->held, __ATOMIC_SEQ_CST) | (__atomic_load_n(&lock->other, __ATOMIC_SEQ_CST) != 0))
      linebounce_pause();
  } while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_SEQ_CST));
  if (last + before + older == 12) linebounce_pause();"""
    path = lock(linebounce, body)
    path.write_text(path.read_text().replace("int held;", "int held; long other;"))
    assert checked(linebounce, path, "--cpus=2", "--acquisitions=1", "--states=20000")["verdict"] == "holds"


def test_a_spin_that_is_recognised_late_is_searched_turn_by_turn(linebounce: Program) -> None:
    """After three turns, and not after more, this lock forgets to take itself."""
    body = """  int turns = 0;
  do {
    while (__atomic_load_n(&lock->held, __ATOMIC_SEQ_CST)) {
      linebounce_pause();
      if (turns < 5) ++turns;
    }
    if (turns == 3) break;
  } while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_SEQ_CST));"""
    arguments = ("--cpus=2", "--acquisitions=2", "--states=20000", "--consistency=sc")
    assert checked(linebounce, lock(linebounce, body), *arguments)["verdict"] == "broken"


def test_a_loop_that_reads_the_clock_ends_by_itself(linebounce: Program) -> None:
    body = """  const unsigned began = linebounce_now_ns();
  while (!__atomic_load_n(&lock->never, __ATOMIC_RELAXED) && linebounce_now_ns() - began < 1000) linebounce_pause();
  while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE)) linebounce_pause();"""
    path = lock(linebounce, body)
    path.write_text(path.read_text().replace("int held;", "int held, never;"))
    results = linebounce.run(path, "out", "--machine=p3_xeon_4way", "--set=machine.cpus=1", "--unchecked", "--quiet")
    metrics = json.loads((results / "results.json").read_text())["points"][0]["metrics"]
    # 1 µs in that loop, and 1000 cycles at 700 MHz outside.
    assert metrics["throughput.operations_per_s"]["value"] == pytest.approx(1e6 / (1 + 1000 / 700), rel=0.1)


def test_a_weak_compare_exchange_may_fail_for_no_reason_and_a_missing_retry_is_found(linebounce: Program) -> None:
    """An mcs lock whose release takes a failure for a successor, and waits for it. A strong one fails only if there is one."""
    before, release, after = (HERE / "mcs.c").read_text(encoding="utf-8").partition("void release")
    assert "atomic_compare_exchange_strong" in after
    weak = before + release + after.replace("atomic_compare_exchange_strong", "atomic_compare_exchange_weak")
    found = checked(linebounce, linebounce.file("weak.c", weak), "--cpus=2", "--acquisitions=1", "--consistency=sc")
    assert found["verdict"] == "broken"
    last = found["cases"][-1]
    assert "nobody can go on: CPU" in last["violation"]
    assert "fails for no reason, as a weak one may" in json.dumps(last)
    retried = lock(
        linebounce,
        "  int free = 0;\n  while (!__atomic_compare_exchange_n(&lock->held, &free, 1, 1, __ATOMIC_ACQUIRE, 0)) free = 0;",
    )
    assert checked(linebounce, retried, "--cpus=2", "--acquisitions=2")["verdict"] == "holds"


def test_a_try_that_fails_because_its_weak_compare_exchange_does_is_no_mistake(linebounce: Program) -> None:
    tried = """#include <linebounce/lock.h>
struct own {{ int held; }};
LINEBOUNCE_LOCK(struct own, .title = "Own")
_Bool try_acquire(struct own *lock) {{
  int free = 0;
  return __atomic_compare_exchange_n(&lock->held, &free, 1, {weak}, __ATOMIC_ACQUIRE, 0){more};
}}
void acquire(struct own *lock) {{ while (!try_acquire(lock)) while (__atomic_load_n(&lock->held, 0)) linebounce_pause(); }}
void release(struct own *lock) {{ __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE); }}
"""
    right = linebounce.file("right.c", tried.format(weak=1, more=""))
    wrong = linebounce.file("wrong.c", tried.format(weak=0, more=" && linebounce_cpu() != 1"))
    assert checked(linebounce, right, "--cpus=2")["verdict"] == "holds"
    assert checked(linebounce, wrong, "--cpus=2")["verdict"] == "broken"
