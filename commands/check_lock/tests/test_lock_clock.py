"""check-lock and the clock: time passes, or it doesn't, at each look of a lock in Lua or C, and waits time out."""

import json
from pathlib import Path

import pytest
from program import Program

BOTH_HOLD = "both hold the lock"
STUCK = "nobody can go on"


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "lock_cache"))


def in_lua(linebounce: Program, fields: str, acquire: str, release: str = "  cpu:store_release(lock.held, 0)") -> Path:
    return linebounce.file(
        "timed.lua",
        f"""title = "Looks at the clock"
function setup() return lock_word(structure {{ name = "timed", {fields} }}) end
function acquire(cpu, lock)
{acquire}
end
function release(cpu, lock)
{release}
end
""",
    )


def in_c(linebounce: Program, fields: str, acquire: str, release: str = "  atomic_store(&lock->held, 0);") -> Path:
    return linebounce.file(
        "timed.c",
        f"""#include <linebounce/lock.h>
#include <stdatomic.h>
struct timed {{ {fields} }};
LINEBOUNCE_LOCK(struct timed, .title = "Looks at the clock")
void acquire(struct timed *lock) {{
{acquire}
}}
void release(struct timed *lock) {{
{release}
}}
""",
    )


HELD = '"held"'
HELD_IN_C = "_Atomic unsigned held;"
# By name: the lock's fields and its acquire and, if it differs, its release, in Lua and in C; and the violation, empty if none.
TWINS = {
    "a waiter that goes in after a while": (
        (
            HELD,
            """  local since = cpu:now_ns()
  while cpu:exchange(lock.held, 1) ~= 0 do
    if cpu:now_ns() - since > 100000 then return true end
  end
  return false""",
        ),
        (
            HELD_IN_C,
            """  const unsigned since = linebounce_now_ns();
  while (atomic_exchange(&lock->held, 1)) {
    if (linebounce_now_ns() - since > 100000) return;
    linebounce_pause();
  }""",
        ),
        BOTH_HOLD,
    ),
    "a waiter that looks at the clock every 16th turn, and then goes in": (
        (
            HELD,
            """  local since, turns = cpu:now_ns(), 0
  while cpu:exchange(lock.held, 1) ~= 0 do
    turns = turns + 1
    if turns % 16 == 0 and cpu:now_ns() - since > 10000 then return true end
  end
  return false""",
        ),
        (
            HELD_IN_C,
            """  const unsigned long long since = linebounce_clock_ns();
  unsigned turns = 0;
  while (atomic_exchange(&lock->held, 1))
    if (!(++turns & 0xf) && linebounce_clock_ns() - since > 10000) return;""",
        ),
        BOTH_HOLD,
    ),
    "a waiter that only backs off for a while": (
        (
            HELD,
            """  while cpu:exchange(lock.held, 1) ~= 0 do
    local since = cpu:now_ns()
    while cpu:now_ns() - since < 1000 do end
  end
  return false""",
        ),
        (
            HELD_IN_C,
            """  while (atomic_exchange(&lock->held, 1))
    for (unsigned since = linebounce_now_ns(); linebounce_now_ns() - since < 1000;) linebounce_pause();""",
        ),
        "",
    ),
    "a waiter that looks at the clock for no purpose": (
        (HELD, "  while cpu:exchange(lock.held, 1) ~= 0 do cpu:now_ns() end\n  return false"),
        (HELD_IN_C, "  while (atomic_exchange(&lock->held, 1)) linebounce_now_ns();"),
        "",
    ),
    "a waiter that waits anew after each time-out": (
        (
            HELD,
            """  while cpu:exchange(lock.held, 1) ~= 0 do
    local since = cpu:now_ns()
    while cpu:load(lock.held) ~= 0 and cpu:now_ns() - since < 5000 do end
  end
  return false""",
        ),
        (
            HELD_IN_C,
            """  while (atomic_exchange(&lock->held, 1)) {
    const unsigned since = linebounce_now_ns();
    while (atomic_load(&lock->held) && linebounce_now_ns() - since < 5000) linebounce_pause();
  }""",
        ),
        "",
    ),
    "a waiter that waits anew after each time-out for a lock that is never given back": (
        (
            HELD,
            """  while cpu:exchange(lock.held, 1) ~= 0 do
    local since = cpu:now_ns()
    while cpu:load(lock.held) ~= 0 and cpu:now_ns() - since < 5000 do end
  end
  return false""",
            "",
        ),
        (
            HELD_IN_C,
            """  while (atomic_exchange(&lock->held, 1)) {
    const unsigned since = linebounce_now_ns();
    while (atomic_load(&lock->held) && linebounce_now_ns() - since < 5000) linebounce_pause();
  }""",
            "",
        ),
        STUCK,
    ),
    "a waiter that takes the lock from a holder that has had it for a while, by the holder's clock": (
        (
            f'{HELD}, "since:8"',
            """  while cpu:exchange(lock.held, 1) ~= 0 do
    if cpu:now_ns() - cpu:load(lock.since) > 1000000 then break end
  end
  cpu:store(lock.since, cpu:now_ns())
  return false""",
        ),
        (
            f"{HELD_IN_C} unsigned long long since;",
            """  while (atomic_exchange(&lock->held, 1))
    if (linebounce_clock_ns() - lock->since > 1000000) break;
  lock->since = linebounce_clock_ns();""",
        ),
        BOTH_HOLD,
    ),
    "a holder that finds a later time than its own": (
        (
            f'{HELD}, "since:8"',
            """  while cpu:exchange(lock.held, 1) ~= 0 do end
  if cpu:load(lock.since) > cpu:now_ns() then cpu:store(lock.held, 0) end
  cpu:store(lock.since, cpu:now_ns())
  return false""",
        ),
        (
            f"{HELD_IN_C} unsigned long long since;",
            """  while (atomic_exchange(&lock->held, 1)) linebounce_pause();
  const unsigned long long since = lock->since;
  if (since > linebounce_clock_ns()) atomic_store(&lock->held, 0);
  lock->since = linebounce_clock_ns();""",
        ),
        "",
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_lock_that_looks_at_the_clock_has_one_verdict_in_lua_and_in_c(linebounce: Program, name: str) -> None:
    lua, c, violation = TWINS[name]
    for file in (in_lua(linebounce, *lua), in_c(linebounce, *c)):
        output = linebounce("check-lock", file, "--cpus=2", "--acquisitions=1", "--machines=0", "--json").stdout
        (found,) = json.loads(output)
        assert found["verdict"] == ("broken" if violation else "holds"), (file.name, output)
        if violation:
            assert violation in found["cases"][-1]["violation"], file.name


def test_a_time_out_is_one_step_of_a_violation(linebounce: Program) -> None:
    """The turns up to the look at the clock see what the turns before saw; nobody wants to read them."""
    (_, (fields, acquire), _) = TWINS["a waiter that looks at the clock every 16th turn, and then goes in"]
    file = in_c(linebounce, fields, acquire)
    said = linebounce("check-lock", file, "--cpus=2", "--acquisitions=1", "--machines=0", "--consistency=sc").stdout
    assert "waits in vain, until time has passed" in said
    assert "looks at the clock: 0 s" in said
    assert said.count("exchange lock.held") <= 4, said


def test_times_that_were_left_out_are_named(linebounce: Program) -> None:
    (_, (fields, acquire), _) = TWINS["a waiter that waits anew after each time-out"]
    said = linebounce("check-lock", in_c(linebounce, fields, acquire), "--quick").stdout
    assert "time that passes more than 2 times for a CPU in one call" in said


def test_the_kernels_clocks_do_not_wrap_after_four_seconds(linebounce: Program) -> None:
    """CPU 0 waits until both clocks reach a time that a clock of 32 bits never shows."""
    text = """#include <linebounce/kernel_tasks.h>
struct timed { int held; };
LINEBOUNCE_LOCK(struct timed, .title = "Waits for jiffies")
void acquire(struct timed *lock) {
  while (linebounce_cpu() == 0 && (!time_after(jiffies, 5ul * HZ) || sched_clock() < 5000000000ull)) cpu_relax();
  while (xchg(&lock->held, 1)) cpu_relax();
}
void release(struct timed *lock) { smp_store_release(&lock->held, 0); }
"""
    file = linebounce.file("jiffies.c", text)
    (found,) = json.loads(
        linebounce("check-lock", file, "--cpus=2", "--acquisitions=1", "--machines=0", "--consistency=sc", "--json").stdout
    )
    assert found["verdict"] == "holds", found


HOST_CLOCKS = {
    "a cycle counter": ("#include <x86intrin.h>", "__rdtsc() > 0", "executes rdtsc"),
    "a cycle counter in inline assembler": (
        "static inline unsigned ticks(void) { unsigned low, high; "
        '__asm__ volatile("rdtsc" : "=a"(low), "=d"(high)); return low; }',
        "ticks() > 0",
        "can't be simulated: rdtsc",
    ),
    "a system call": ("#include <time.h>", "time(0) > 0", "calls time, which is not in this file"),
    "a clock of the C library": (
        "#include <time.h>\nstatic long ns(void) { struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now); "
        "return now.tv_nsec; }",
        "ns() >= 0",
        "calls clock_gettime, which is not in this file",
    ),
}


@pytest.mark.parametrize("name", HOST_CLOCKS)
def test_a_lock_that_asks_the_host_for_the_time_is_told_what_to_ask(linebounce: Program, name: str) -> None:
    head, condition, message = HOST_CLOCKS[name]
    file = in_c(linebounce, HELD_IN_C, f"  while (atomic_exchange(&lock->held, 1) && {condition}) linebounce_pause();")
    file.write_text(head + "\n" + file.read_text())
    said = linebounce.refused("check-lock", file)
    assert message in said
    assert "linebounce_now_ns() tells simulated time" in said


def test_a_random_number_of_the_host_is_refused(linebounce: Program) -> None:
    body = (
        "  unsigned drawn = 0;\n  __builtin_ia32_rdrand32_step(&drawn);\n"
        "  while (atomic_exchange(&lock->held, 1)) linebounce_pause();"
    )
    file = in_c(linebounce, HELD_IN_C, body)
    file.write_text('#pragma GCC target("rdrnd")\n' + file.read_text())
    assert "executes rdrand" in linebounce.refused("check-lock", file)


def test_of_a_loops_stores_to_a_local_variable_others_see_the_last(linebounce: Program) -> None:
    """They cost one store, made when the variable's address is stored where another CPU can see it. It excludes nobody."""
    acquire = """  struct node { volatile int turns; } mine;
  for (int turn = 1; turn <= 20; ++turn) mine.turns = turn;
  atomic_store(&lock->queue, (unsigned long)&mine);"""
    file = in_c(linebounce, "_Atomic unsigned long queue;", acquire, "")
    said = linebounce("check-lock", file, "--cpus=2", "--acquisitions=1", "--machines=0", "--consistency=sc").stdout
    assert said.count("store timed.stack[0] = ") == 1, said
    assert "store timed.stack[0] = 20" in said
