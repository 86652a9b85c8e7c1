"""Each sentence of linebounce/lock.h, and of the two headers for the kernel's locks, in a lock that would fail without it."""

import json
import re
import subprocess

import pytest
from program import ROOT, Program

# The lines in front of a lock of one word, and its release.
HEAD = "#include <linebounce/lock.h>\n#include <stdatomic.h>\nstruct own { _Atomic int held; long other; };\n"
TAKE = "  while (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire)) linebounce_pause();\n"
GIVE = "void release(struct own *lock) { atomic_store_explicit(&lock->held, 0, memory_order_release); }\n"
QUICK = ("--cpus=2", "--acquisitions=1", "--machines=0", "--states=20000")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "lock_header_cache"))


def own(acquire: str = TAKE, *, traits: str = "", head: str = HEAD, more: str = "", release: str = GIVE) -> str:
    declared = f'LINEBOUNCE_LOCK(struct own, .title = "Own"{traits})'
    return f"{head}{declared}\n{more}void acquire(struct own *lock) {{\n{acquire}}}\n{release}"


def verdict(linebounce: Program, text: str, *arguments: str, name: str = "own.c") -> str:
    path = linebounce.file(name, text)
    return str(json.loads(linebounce("check-lock", path, "--json", *QUICK, *arguments).stdout)[0]["verdict"])


def per_s(linebounce: Program, text: str, name: str, cpus: int = 1, machine: str = "p3_xeon_4way") -> float:
    path = linebounce.file(f"{name}.c", text)
    settings = (f"--machine={machine}", f"--set=machine.cpus={cpus}", "--set=run.measure_us=200", "--unchecked", "--quiet")
    results = linebounce.run(path, f"out_{name}", *settings)
    metrics = json.loads((results / "results.json").read_text())["points"][0]["metrics"]
    return float(metrics["throughput.operations_per_s"]["value"])


# ---- lock.h ----


def test_a_lock_needs_acquire_and_release_and_nothing_else(linebounce: Program) -> None:
    assert verdict(linebounce, own()) == "holds"
    for name, text in (("acquire", own().replace("void acquire(", "void acquired(")), ("release", own(release=""))):
        message = linebounce.refused("check-lock", linebounce.file("own.c", text))
        assert name in message


GCC = "  while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE)) linebounce_pause();\n"
SYNC = "  while (__sync_lock_test_and_set(&lock->held, 1)) linebounce_pause();\n"
PLAIN = "#include <linebounce/lock.h>\nstruct own { int held; };\n"
CPP = """#include <atomic>
#include <linebounce/lock.h>
struct own { std::atomic<int> held; };
LINEBOUNCE_LOCK(own, .title = "Own")
void acquire(own* lock) { while (lock->held.exchange(1)) linebounce_pause(); }
void release(own* lock) { lock->held.store(0); }
"""
# Peterson's lock for two CPUs, whose variables are volatile.
VOLATILE = """#include <linebounce/lock.h>
struct own { volatile int wants[2], turn; };
LINEBOUNCE_LOCK(struct own, .title = "Own", .most_cpus = 2)
void acquire(struct own *lock) {
  const int me = linebounce_cpu();
  lock->wants[me] = 1;
  lock->turn = 1 - me;
  __sync_synchronize();
  while (lock->wants[1 - me] && lock->turn != me) linebounce_pause();
}
void release(struct own *lock) { lock->wants[linebounce_cpu()] = 0; }
"""
KINDS = {
    "C11": ("own.c", own()),
    "__atomic": (
        "own.c",
        own(
            GCC,
            head=PLAIN,
            release=("void release(struct own *lock) { __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE); }\n"),
        ),
    ),
    "__sync": (
        "own.c",
        own(SYNC, head=PLAIN, release="void release(struct own *lock) { __sync_lock_release(&lock->held); }\n"),
    ),
    "std::atomic": ("own.cpp", CPP),
    "volatile": ("own.c", VOLATILE),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_atomic_access_works(linebounce: Program, kind: str) -> None:
    name, text = KINDS[kind]
    assert verdict(linebounce, text, "--consistency=tso", name=name) == "holds"


def test_the_files_variables_are_simulated_memory(linebounce: Program) -> None:
    shared = own(
        "  while (atomic_exchange(&held, 1)) linebounce_pause();\n",
        more="static _Atomic int held;\n",
        release="void release(struct own *lock) { atomic_store(&held, 0); }\n",
    )
    assert verdict(linebounce, shared) == "holds"
    assert verdict(linebounce, shared.replace("static _Atomic", "static _Thread_local _Atomic")) == "broken", (
        "a copy for each CPU"
    )


def test_a_zeroed_object_is_a_free_lock_unless_there_is_an_init(linebounce: Program) -> None:
    take = """  do
    while (!atomic_load(&lock->held)) linebounce_pause();
  while (!atomic_exchange_explicit(&lock->held, 0, memory_order_acquire));
"""
    give = GIVE.replace(", 0, memory", ", 1, memory")
    made = own(take, release=give, more="void init(struct own *lock) { lock->held = 1; }\n")
    assert verdict(linebounce, made) == "holds"
    assert verdict(linebounce, own(take, release=give)) == "broken", "nobody gets it"


def test_try_acquire_returns_without_waiting(linebounce: Program) -> None:
    tries = "linebounce_bool try_acquire(struct own *lock) { return !atomic_exchange(&lock->held, 1); }\n"
    assert verdict(linebounce, own(more=tries)) == "holds"
    assert verdict(linebounce, own(more=tries.replace("!atomic", "1 | atomic"))) == "broken", "the lock was not taken"


READERS = """void acquire_shared(struct own *lock) {
  for (;;) {
    const int seen = atomic_load(&lock->held);
    int expected = seen;
    if (seen >= 0 && atomic_compare_exchange_strong(&lock->held, &expected, seen + 1)) return;
    linebounce_pause();
  }
}
void release_shared(struct own *lock) { atomic_fetch_sub(&lock->held, 1); }
"""
WRITES = """  for (;;) {
    int expected = 0;
    if (atomic_compare_exchange_strong(&lock->held, &expected, -1)) return;
    linebounce_pause();
  }
"""


def test_several_readers_may_hold_the_lock_at_once_and_no_writer_beside_them(linebounce: Program) -> None:
    assert verdict(linebounce, own(WRITES, more=READERS)) == "holds"
    wrong = READERS.replace("seen >= 0 &&", "seen >= -1 &&")
    assert verdict(linebounce, own(WRITES, more=wrong)) == "broken"


SEQUENCE = """static _Thread_local int begun;
void acquire_shared(struct own *lock) {
  while ((begun = atomic_load(&lock->held)) & 1) linebounce_pause();
}
linebounce_bool end_shared(struct own *lock) { return atomic_load(&lock->held) == begun; }
"""


def test_end_shared_tells_a_reader_to_start_again(linebounce: Program) -> None:
    take = """  for (;;) {
    int seen = atomic_load(&lock->held);
    if (!(seen & 1) && atomic_compare_exchange_strong(&lock->held, &seen, seen + 1)) return;
    linebounce_pause();
  }
"""
    give = "void release(struct own *lock) { atomic_fetch_add(&lock->held, 1); }\n"
    assert verdict(linebounce, own(take, release=give, more=SEQUENCE)) in ("holds", "incomplete")
    wrong = SEQUENCE.replace("atomic_load(&lock->held) == begun", "1")
    assert verdict(linebounce, own(take, release=give, more=wrong)) == "broken"


WAIT = """  do
    while (atomic_load(&lock->held)) linebounce_pause();
  while (atomic_exchange(&lock->held, 1));
"""


def test_fifo_is_tested(linebounce: Program) -> None:
    for traits, expected in ((", .fifo = 1", "broken"), ("", "holds")):
        path = linebounce.file("own.c", own(WAIT, traits=traits))
        command = ("check-lock", path, "--cpus=2", "--acquisitions=2", "--consistency=sc", "--machines=0", "--json")
        assert json.loads(linebounce(*command).stdout)[0]["verdict"] == expected


NESTED = """linebounce trace 1
object o size=8
lock l algorithm=tas
stream a
stream b cpu=1
a acquire_shared l
a compute 20000
a acquire_shared l
a load o 8
a release_shared l
a release_shared l
b compute 2000
b acquire l
b store o 8
b release l
end
"""


def test_replays_leave_out_a_nested_read_of_a_lock_whose_readers_wait(linebounce: Program) -> None:
    """A writer that waits keeps new readers out, and so the reader that it waits for. Without the trait the replay would not
    end."""
    readers = READERS.replace("seen >= 0 &&", "seen >= 0 && !*(volatile long *)&lock->other &&")
    done = "{ *(volatile long *)&lock->other = 0; return; }"
    writes = "  *(volatile long *)&lock->other = 1;\n" + WRITES.replace("return;", done)
    linebounce.file("own.c", own(writes, more=readers, traits=", .readers_wait_nested = 1"))
    linebounce.file("nested.txt", NESTED)
    whole = ("--set", "run.warmup_us=0", "--set", "run.measure_us=0", "--unchecked", "--quiet")
    command = ("trace", "replay", "nested.txt", "--lock", "own.c", "--machine", "p3_xeon_4way", "-o", "out", *whole)
    result = linebounce(*command, timeout=60)
    assert result.code == 0, result.stderr


def test_a_lock_of_nodes_is_listed_as_one_and_most_cpus_is_a_limit(linebounce: Program) -> None:
    linebounce.file("own.c", own(WAIT, traits=", .numa_aware = 1, .most_cpus = 2"))
    described = linebounce("describe", "lock", "own.c").stdout
    assert "waiters of the holder's node come first" in described
    assert "at most 2" in described
    assert linebounce("check-lock", "own.c", "--quick").code == 0
    assert "at most 2 CPUs" in linebounce.refused("check-lock", "own.c", "--cpus", "3")
    two, three = (
        ("run", "own.c", "--machine=p3_xeon_4way", f"--set=machine.cpus={n}", "-o", f"o{n}", "--quiet") for n in (2, 3)
    )
    assert linebounce(*two).code == 0
    assert linebounce(*three).code != 0


@pytest.mark.parametrize("pause", ["__builtin_ia32_pause()", '__asm__ volatile("pause")', '__asm__ volatile("rep; nop")'])
def test_every_form_of_a_pause_is_one(linebounce: Program, pause: str) -> None:
    own_pause = per_s(linebounce, own(), "own", cpus=4)
    other = per_s(linebounce, own(TAKE.replace("linebounce_pause()", pause)), "other", cpus=4)
    none = per_s(linebounce, own(TAKE.replace(" linebounce_pause()", "")), "none", cpus=4)
    assert own_pause == other
    assert own_pause > 0 < none


CALLS = {
    "cpu": "sum += linebounce_cpu();",
    "cpus": "sum += linebounce_cpus();",
    "node_of": "sum += linebounce_node_of(0);",
    "cache_of": "sum += linebounce_cache_of(0);",
    "now_ns": "sum += (int)linebounce_now_ns();",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_question_about_the_machine_takes_no_time(linebounce: Program, call: str) -> None:
    loop = "  volatile int sum = 0;\n  for (int i = 0; i < {}; ++i) {{ {} }}\n"
    asked = per_s(linebounce, own(loop.format(50, CALLS[call]) + TAKE), "asked")
    plain = per_s(linebounce, own(loop.format(50, "sum += i;") + TAKE), "plain")
    assert asked == pytest.approx(plain, rel=1e-3)


def test_the_machines_cpus_and_nodes_are_told(linebounce: Program) -> None:
    right = """  if (linebounce_cpus() != 4 || linebounce_cpu() < 0 || linebounce_cpu() > 3) __builtin_trap();
  if (linebounce_node_of(linebounce_cpu()) != 0) __builtin_trap();
  if (linebounce_cache_of(linebounce_cpu()) != linebounce_cpu()) __builtin_trap();
"""
    assert per_s(linebounce, own(right + TAKE), "told", cpus=4) > 0


def test_another_cpus_copy_of_a_variable_has_an_address(linebounce: Program) -> None:
    """The holder tells the next CPU, whose flag is its own thread-local variable."""
    text = own(
        "  while (linebounce_cpu() != 0 && !atomic_load(&mine)) linebounce_pause();\n  atomic_store(&mine, 0);\n",
        more="static _Thread_local _Atomic int mine;\n",
        release="""void release(struct own *lock) {
  _Atomic int *next = linebounce_of_cpu((void *)&mine, 1 - linebounce_cpu());
  atomic_store(next, 1);
}
""",
    )
    # CPU 1 gets the lock after CPU 0: its copy is set by the other one.
    assert verdict(linebounce, text) == "holds"


# ---- kernel.h ----

KERNEL = """#include <linebounce/kernel.h>
struct own { int wants[2], turn; atomic_t count; u8 byte; u16 half; u64 word; };
LINEBOUNCE_LOCK(struct own, .title = "Own", .most_cpus = 2)
"""
PETERSON = """void acquire(struct own *lock) {{
  const int me = smp_processor_id();
  WRITE_ONCE(lock->wants[me], 1);
  smp_store_release(&lock->turn, 1 - me);
  {fence}
  while (READ_ONCE(lock->wants[1 - me]) && READ_ONCE(lock->turn) != me) cpu_relax();
  smp_mb();
}}
void release(struct own *lock) {{ smp_store_release(&lock->wants[smp_processor_id()], 0); }}
"""
# What is a full fence, and what is not, where loads pass earlier stores.
FENCES = {
    "smp_mb();": "holds",
    "xchg(&lock->word, 1);": "holds",
    "(void)atomic_fetch_add(1, &lock->count);": "holds",
    "(void)atomic_add_return(1, &lock->count);": "holds",
    "smp_store_mb(lock->half, 1);": "holds",
    "barrier();": "broken",
    "smp_wmb();": "broken",
    "atomic_set(&lock->count, 1);": "broken",
    "smp_store_release(&lock->byte, 1);": "broken",
    "(void)atomic_read(&lock->count);": "broken",
}


@pytest.mark.parametrize("fence", FENCES)
def test_the_kernels_orders_are_the_simulated_ones(linebounce: Program, fence: str) -> None:
    text = KERNEL + PETERSON.format(fence=fence)
    assert verdict(linebounce, text, "--consistency=tso") == FENCES[fence]


# Where stores pass each other, a release needs an operation that has that order. In the model every operation that reads and
# writes is a full fence.
RELEASES = {
    "smp_store_release(&lock->turn, 0);": "holds",
    "(void)xchg(&lock->turn, 0);": "holds",
    "smp_wmb(); WRITE_ONCE(lock->turn, 0);": "holds",
    "WRITE_ONCE(lock->turn, 0);": "broken",
    "smp_rmb(); WRITE_ONCE(lock->turn, 0);": "broken",
    "atomic_set((atomic_t *)&lock->turn, 0);": "broken",
    "atomic_set_release((atomic_t *)&lock->turn, 0);": "holds",
}


@pytest.mark.parametrize("release", RELEASES)
def test_a_store_has_the_order_of_its_name(linebounce: Program, release: str) -> None:
    take = "void acquire(struct own *lock) { while (cmpxchg_acquire(&lock->turn, 0, 1) != 0) cpu_relax(); }\n"
    text = f"{KERNEL}{take}void release(struct own *lock) {{ {release} }}\n"
    assert verdict(linebounce, text, "--consistency=ia64") == RELEASES[release]


ORDERS = {"": "SEQ_CST", "_relaxed": "RELAXED", "_acquire": "ACQUIRE", "_release": "RELEASE"}


def test_an_operation_has_the_order_of_its_name_and_one_without_a_result_has_none() -> None:
    """As the compiler sees it: no interleaving tells the orders of operations that read and write apart."""
    command = ["gcc", "-E", "-P", "-I", ROOT / "include", ROOT / "include" / "linebounce" / "kernel.h"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    macros = subprocess.run(["gcc", "-dM", "-E", "-x", "c", "/dev/null"], capture_output=True, text=True, check=True).stdout
    numbers = {name: re.search(rf"#define __ATOMIC_{name} (\d)", macros)[1] for name in ORDERS.values()}
    for prefix in ("atomic", "atomic_long", "atomic64"):
        for operation in ("add_return", "fetch_sub", "inc_return", "fetch_or", "xchg", "cmpxchg", "try_cmpxchg"):
            for suffix, order in ORDERS.items():
                (body,) = re.findall(rf"\b{prefix}_{operation}{suffix}\([^)]*\) \{{(.*?)\}}", text)
                # The last argument, or the one before, because a comparison that fails is relaxed.
                used = re.findall(r", (\d), 0\)" if "cmpxchg" in operation else r", (\d)\)", body)
                assert used == [numbers[order]], (prefix, operation, suffix)
        for operation in ("add", "sub", "inc", "dec", "or", "and"):
            (body,) = re.findall(rf"\bvoid {prefix}_{operation}\([^)]*\) \{{(.*?)\}}", text)
            assert re.search(rf", {numbers['RELAXED']}\);", body), operation


@pytest.mark.parametrize("field", ["byte", "half", "turn", "word"])
def test_words_of_1_to_8_bytes_are_exchanged_and_compared(linebounce: Program, field: str) -> None:
    for take in (f"xchg(&lock->{field}, 1) != 0", f"cmpxchg(&lock->{field}, 0, 1) != 0"):
        text = f"""{KERNEL}void acquire(struct own *lock) {{ while ({take}) cpu_relax(); }}
void release(struct own *lock) {{ smp_store_release(&lock->{field}, 0); }}
"""
        assert verdict(linebounce, text) == "holds"


def test_an_option_that_nobody_has_set_is_off(linebounce: Program) -> None:
    held = "IS_ENABLED(CONFIG_SMP) && !IS_ENABLED(CONFIG_NOBODY_HAS_SET_IT)"
    text = f"""{KERNEL}#if !({held})
#error
#endif
static s16 taken(struct own *lock) {{ return {held} ? (s16)xchg(&lock->turn, 1) : (s16)0; }}
void acquire(struct own *lock) {{ while (taken(lock)) cpu_relax(); }}
void release(struct own *lock) {{ smp_store_release(&lock->turn, 0); }}
"""
    assert verdict(linebounce, text) == "holds"


def test_a_condition_may_use_the_loaded_value(linebounce: Program) -> None:
    text = f"""{KERNEL}void acquire(struct own *lock) {{
  do smp_cond_load_acquire(&lock->turn, VAL == 0); while (cmpxchg_acquire(&lock->turn, 0, 1) != 0);
}}
void release(struct own *lock) {{ smp_store_release(&lock->turn, 0); }}
"""
    assert verdict(linebounce, text) == "holds"


# ---- kernel_tasks.h ----


def test_a_sleeping_task_wakes_when_its_state_changes(linebounce: Program) -> None:
    """CPU 1 sleeps until CPU 0 has woken it, by way of a queue; without the wake-up nobody goes on."""
    text = """#include <linebounce/kernel_tasks.h>
struct own { struct task_struct *sleeper; int free; };
LINEBOUNCE_LOCK(struct own, .title = "Own", .most_cpus = 2)
void acquire(struct own *lock) {
  if (smp_processor_id() == 0) return;
  smp_store_release(&lock->sleeper, current);
  set_current_state(TASK_UNINTERRUPTIBLE);
  if (!smp_load_acquire(&lock->free)) schedule();
}
void release(struct own *lock) {
  if (smp_processor_id() != 0) return;
  DEFINE_WAKE_Q(queue);
  smp_store_release(&lock->free, 1);
  smp_mb();
  struct task_struct *task = smp_load_acquire(&lock->sleeper);
  if (task) wake_q_add(&queue, task);
  if (!wake_q_empty(&queue)) wake_up_q(&queue);
}
"""
    assert verdict(linebounce, text) == "holds"
    assert verdict(linebounce, text.replace("  if (!wake_q_empty(&queue)) wake_up_q(&queue);\n", "")) == "broken"
