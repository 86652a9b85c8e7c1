"""check-lock: the shipped locks hold, broken ones are caught, and the report says what was not checked."""

import json
import re
from pathlib import Path

import pytest
from program import ROOT, Program

LOCKS = ROOT / "programs" / "locks"
LOCKS_IN_LUA = [path.stem for path in sorted(LOCKS.glob("*.lua"))]
FUTEX_LOCKS = ("glibc_mutex", "glibc_adaptive_mutex", "glibc_rwlock")
BOTH_HOLD = "both hold the lock"
STUCK = "nobody can go on"
STILL_READS = "may still be reading: its loads may pass its plain stores"

# By name: the changes to a lock in programs/locks, the memory model under which they show, and part of the message.
BROKEN = {
    "Peterson without its fence": ("peterson", [("  cpu:fence()\n", "")], "tso", BOTH_HOLD),
    "Peterson whose second store is not a release": (
        "peterson",
        [("store_release(lock.turn", "store(lock.turn")],
        "ia64",
        "an update was lost",
    ),
    "Peterson that asks before it says": (
        "peterson",
        [("  cpu:store(lock.wants[me], 1)\n", ""), ("  return true\n", "  cpu:store(lock.wants[me], 1)\n  return true\n")],
        "sc",
        BOTH_HOLD,
    ),
    "Dekker without its fence": ("dekker", [("  cpu:fence()\n", "")], "tso", BOTH_HOLD),
    "Dekker that forgets to give the turn away": ("dekker", [("  cpu:store(lock.turn, 1 - cpu.id)\n", "")], "sc", STUCK),
    "a bakery that does not wait for who is choosing": (
        "bakery",
        [('      cpu:spin_until_acquire(entries[other].choosing, "==", 0)\n', "")],
        "sc",
        BOTH_HOLD,
    ),
    "a bakery without its first fence": (
        "bakery",
        [("(mine.choosing, 1)\n  cpu:fence()\n", "(mine.choosing, 1)\n")],
        "tso",
        BOTH_HOLD,
    ),
    "MCS that does not wait for next": (
        "mcs",
        [('    after = cpu:spin_until(mine + node.next, "~=", 0)\n', "    return\n")],
        "sc",
        STUCK,
    ),
    "MCS that marks its node too late": (
        "mcs",
        [
            ("  cpu:store(mine + node.waits, 1)\n", ""),
            (
                "    cpu:store_release(before",
                "    cpu:store_release(before + node.next, mine)\n    cpu:store(mine + node.waits, 1)\n--",
            ),
        ],
        "sc",
        STUCK,
    ),
    "CLH that keeps its own node": ("clh", [("cpu:give_node(nodes, before)", "cpu:give_node(nodes, lock.mine)")], "sc", STUCK),
    "a ticket by a plain increment": (
        "ticket",
        [("cpu:fetch_add(lock.next, 1)\n", "cpu:load(lock.next)\n  cpu:store(lock.next, mine + 1)\n")],
        "sc",
        STUCK,
    ),
    "a ticket lock that calls two at a time": (
        "ticket",
        [("cpu:load(lock.serving) + 1", "cpu:load(lock.serving) + 2")],
        "sc",
        STUCK,
    ),
    "TTAS that forgets the second test": (
        "ttas",
        [
            ("until cpu:exchange(lock.locked, 1) == 0", "until cpu:load(lock.locked) == 0\n  cpu:store(lock.locked, 1)"),
        ],
        "sc",
        BOTH_HOLD,
    ),
    "TTAS that says it is first come, first served": ("ttas", [("fits_4_bytes = true", "fifo = true")], "sc", "already waited"),
    "TAS that never gives back": ("tas", [("  cpu:store_release(lock.locked, 0)\n", "")], "sc", STUCK),
    "a seqlock without its second look": (
        "seqlock",
        [("return cpu:load(lock.sequence) == table.remove(lock.seen)", "do return true end")],
        "sc",
        "half of a writer's data",
    ),
    "a seqlock that lets readers begin within a change": (
        "seqlock",
        [("  if waited then even", "  if false then even")],
        "sc",
        "half of a writer's data",
    ),
    "a writer that does not wait for readers": (
        "rwlock",
        [
            (
                'cpu:spin_until(lock.counter, "==", 0)\n  until cpu:fetch_add(lock.counter, WRITER) == 0',
                'cpu:spin_until(lock.counter, "<", WRITER)\n  until cpu:fetch_add(lock.counter, WRITER) < WRITER',
            )
        ],
        "sc",
        BOTH_HOLD,
    ),
    "a pointer to nothing": ("clh", [('  preset(lock.tail, place(node, name .. ".node").address)\n', "")], "sc", "clh.lua:"),
    "MCS with parking that marks its sleep by a plain store": (
        "mcs_parking",
        [
            (
                "if cpu:compare_exchange(mine + node.state, WAITS, PARKED) == GRANTED then return end",
                "cpu:store(mine + node.state, PARKED)",
            )
        ],
        "sc",
        STUCK,
    ),
    "percpu-rwsem whose reader looks for the writer too early": (
        "percpu_rwsem",
        [("inside, 0)\n  cpu:fence()\n", "inside, 0)\n")],
        "tso",
        STUCK,
    ),
    "percpu-rwsem whose reader leaves by a store that its loads may pass": (
        "percpu_rwsem",
        [("cpu:store_release(lock.readers[cpu.id].inside, 0)", "cpu:store(lock.readers[cpu.id].inside, 0)")],
        "ia64",
        STILL_READS,
    ),
    "BRAVO whose reader takes its mark back by a store that its loads may pass": (
        "bravo",
        [("cpu:store_release(lock.marks[cpu.id].inside, 0)", "cpu:store(lock.marks[cpu.id].inside, 0)")],
        "ia64",
        STILL_READS,
    ),
}


WORD = 'function setup() return lock_word(structure { name = "own_lock", "held" }) end\n'
EXCHANGE = "  while cpu:exchange(lock.held, 1) ~= 0 do end\n"
GIVE = "function release(cpu, lock) cpu:store_release(lock.held, 0) end\n"
TAKE = f"function acquire(cpu, lock)\n{EXCHANGE}  return false\nend\n" + GIVE

# Mistakes in locks that show only with three CPUs, with try_acquire, a random number or the clock; under sc.
BROKEN_ON_THEIR_OWN = {
    "writers who keep out the reader that came first alone": (
        """traits = { readers = "together" }
function setup() return lock_word(structure { name = "own_lock", "writers:4", "turn:4", "readers:4" }) end
function acquire(cpu, lock)
  cpu:fetch_add(lock.writers, 1)
  while cpu:exchange(lock.turn, 1) ~= 0 do end
  cpu:spin_until(lock.readers, "==", 0)
  return false
end
function release(cpu, lock)
  cpu:store(lock.turn, 0)
  cpu:store(lock.writers, 0)
end
function acquire_shared(cpu, lock)
  cpu:fetch_add(lock.readers, 1)
  while cpu:load(lock.writers) > 0 do
    cpu:fetch_add(lock.readers, -1)
    cpu:spin_until(lock.writers, "==", 0)
    cpu:fetch_add(lock.readers, 1)
  end
  return false
end
function release_shared(cpu, lock) cpu:fetch_add(lock.readers, -1) end
""",
        BOTH_HOLD,
        ["writes", "writes", "reads"],
    ),
    "a try that takes what it finds free a moment later": (
        WORD
        + TAKE
        + """function try_acquire(cpu, lock)
  local free = cpu:load(lock.held) == 0
  if free then cpu:store(lock.held, 1) end
  return free
end
""",
        BOTH_HOLD,
        ["writes", "tries"],
    ),
    "a try that leaves a trace when it fails": (
        """function setup() return lock_word(structure { name = "own_lock", "next:4", "serving:4" }) end
function acquire(cpu, lock)
  cpu:spin_until(lock.serving, "==", cpu:fetch_add(lock.next, 1))
  return true
end
function try_acquire(cpu, lock) return cpu:fetch_add(lock.next, 1) == cpu:load(lock.serving) end
function release(cpu, lock) cpu:store_release(lock.serving, cpu:load(lock.serving) + 1) end
""",
        STUCK,
        ["writes", "tries"],
    ),
    "a try that never succeeds": (
        WORD + TAKE + "function try_acquire(cpu, lock) return cpu:exchange(lock.held, 1) == 2 end\n",
        "fails in try_acquire, though nobody else",
        ["writes", "tries"],
    ),
    "a lock that takes it by force if its number comes up": (
        WORD + TAKE.replace("~= 0 do", "~= 0 and cpu:random(1000) ~= 999 do"),
        BOTH_HOLD,
        ["writes", "writes"],
    ),
    "a lock that waits no longer than a while": (
        WORD
        + f"""function acquire(cpu, lock)
  local since = cpu:now_ns()
  while cpu:exchange(lock.held, 1) ~= 0 do
    if cpu:now_ns() - since > 100000 then return true end
  end
  return false
end
{GIVE}""",
        BOTH_HOLD,
        ["writes", "writes"],
    ),
}


@pytest.mark.parametrize("name", BROKEN_ON_THEIR_OWN)
def test_a_lock_is_broken_by_whichever_way_of_taking_it_breaks_it(linebounce: Program, name: str) -> None:
    text, said, roles = BROKEN_ON_THEIR_OWN[name]
    file = linebounce.file("own.lua", 'title = "Broken on its own"\n' + text)
    found = check(linebounce, file, "--consistency", "sc", "--machines", "0")
    assert found["verdict"] == "broken"
    assert said in found["cases"][-1]["violation"]
    assert found["cases"][-1]["roles"] == roles


def test_random_numbers_and_clocks_break_no_right_lock(linebounce: Program) -> None:
    backs_off = "    local since = cpu:now_ns()\n    if cpu:random(3) == 0 then cpu:compute_about(100) end\n"
    text = 'title = "Backs off"\n' + WORD + TAKE.replace(" do end", f" do\n{backs_off}  end")
    file = linebounce.file("right.lua", text)
    (found,) = json.loads(linebounce("check-lock", file, "--quick", "--consistency", "sc", "--json").stdout)
    assert found["verdict"] != "broken", found["cases"][-1]["violation"]


def changed(linebounce: Program, lock: str, changes: list[tuple[str, str]]) -> Path:
    text = re.sub(r" +--.*", "", (LOCKS / f"{lock}.lua").read_text())
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return linebounce.file(f"{lock}.lua", text)


def check(linebounce: Program, *arguments: str | Path, timeout: float = 240) -> dict:
    result = linebounce("check-lock", *arguments, "--json", timeout=timeout)
    (found,) = json.loads(result.stdout)
    assert (result.code == 0) == (found["verdict"] == "holds")
    return found


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_lock_is_caught(linebounce: Program, name: str) -> None:
    lock, changes, model, said = BROKEN[name]
    found = check(linebounce, changed(linebounce, lock, changes), "--consistency", model, "--machines", "0")
    assert found["verdict"] == "broken"
    last = found["cases"][-1]
    assert said in last["violation"]
    assert last["consistency"] == model
    assert last["steps"]


@pytest.mark.parametrize(
    ("name", "holds_under"),
    [
        ("Peterson without its fence", "sc"),
        ("Dekker without its fence", "sc"),
        ("Peterson whose second store is not a release", "tso"),
    ],
)
def test_a_missing_fence_shows_only_where_stores_are_late(linebounce: Program, name: str, holds_under: str) -> None:
    lock, changes, _, _ = BROKEN[name]
    assert check(linebounce, changed(linebounce, lock, changes), "--consistency", holds_under)["verdict"] == "holds"


def test_shipped_cpp_locks_pass_the_checker(linebounce: Program) -> None:
    listed = json.loads(linebounce("list", "locks", "--json").stdout)
    in_cpp = [lock["name"] for lock in listed if "file" not in lock and lock["excludes"]]
    assert "qspinlock" in in_cpp
    for lock in set(in_cpp) - set(FUTEX_LOCKS):
        # A writer of brlock takes one lock for each CPU, so three CPUs have more interleavings than the limit.
        smaller = ["--cpus", "2"] if lock == "brlock" else []
        # qspinlock takes a minute of a processor, which other tests use meanwhile.
        found = check(linebounce, lock, "--machines", "3", *smaller, timeout=900)
        assert found["verdict"] == "holds"
        assert {case["consistency"] for case in found["cases"]} == {"sc", "tso", "ia64", "c11"}
        assert len(found["trials"]) == 3


@pytest.mark.parametrize("lock", FUTEX_LOCKS)
def test_glibcs_locks_pass_the_checker(linebounce: Program, lock: str) -> None:
    """A wait in the kernel takes some twenty steps, so the cases that the default limit looks at take minutes."""
    found = check(linebounce, lock, "--machines", "3", "--cpus", "2", "--acquisitions", "1", "--states", "30000")
    assert found["verdict"] in ("holds", "incomplete")
    assert {case["consistency"] for case in found["cases"]} == {"sc", "tso", "ia64", "c11"}
    assert all(
        case["all_states"] for case in found["cases"] if case["consistency"] in ("sc", "tso") and "tries" not in case["roles"]
    )


@pytest.mark.parametrize("lock", LOCKS_IN_LUA)
def test_shipped_lua_locks_pass_the_checker(linebounce: Program, lock: str) -> None:
    found = check(linebounce, lock, "--machines", "2", "--cpus", "2", "--acquisitions", "1")
    assert found["verdict"] == "holds"


@pytest.mark.parametrize("lock", LOCKS_IN_LUA)
def test_a_quick_check_calls_no_lock_broken(linebounce: Program, lock: str) -> None:
    (found,) = json.loads(linebounce("check-lock", lock, "--quick", "--consistency", "tso", "--json").stdout)
    assert found["verdict"] in ("holds", "incomplete")


def test_a_lock_is_the_same_by_name_and_by_file(linebounce: Program) -> None:
    here, there = (check(linebounce, name, "--machines", "0") for name in ("ticket", LOCKS / "ticket.lua"))
    assert here["cases"] == there["cases"]


def test_a_violation_is_drawn_a_column_a_cpu(linebounce: Program) -> None:
    lock, changes, _, _ = BROKEN["Peterson without its fence"]
    result = linebounce("check-lock", changed(linebounce, lock, changes), "--consistency", "tso")
    assert result.code == 1
    first = result.stdout.splitlines()[0]
    assert re.search(r"peterson\.lua +broken under tso: CPU 0 and CPU 1 both hold the lock", first)
    assert re.search(r"^ +CPU 0 +CPU 1$", result.stdout, re.MULTILINE)
    inside = [line for line in result.stdout.splitlines() if line.endswith("[inside]")]
    assert len(inside) == 2


GIVES_UP = """title = "Takes the lock by force after a hundred looks"
function setup() return lock_word(structure { name = "impatient_lock", "held" }) end
function acquire(cpu, lock)
  local looks = 0
  while cpu:exchange(lock.held, 1) ~= 0 and looks < 100 do looks = looks + 1 end
  return looks > 0
end
function release(cpu, lock) cpu:store_release(lock.held, 0) end
"""


def test_a_lock_that_counts_its_turns_is_not_taken_to_wait(linebounce: Program) -> None:
    found = check(linebounce, linebounce.file("impatient.lua", GIVES_UP), "--consistency", "sc", "--machines", "0")
    assert found["verdict"] != "holds"


def test_a_limit_of_states_is_reported(linebounce: Program) -> None:
    result = linebounce("check-lock", "mcs", "--states", "100", "--machines", "0")
    assert result.code == 1
    assert "not everything was looked at" in result.stdout
    assert "--states N looks further" in result.stdout
    assert not re.search("^ .* holds", result.stdout)


def test_a_lock_that_excludes_no_thread_is_not_checked(linebounce: Program) -> None:
    assert check(linebounce, "none")["verdict"] == "not_checkable"


def test_random_machines_are_the_same_each_time(linebounce: Program) -> None:
    one, two = (check(linebounce, "ticket", "--machines", "4", "--seed", "7", "--consistency", "sc") for _ in range(2))
    assert one == two


# A lock that is correct on two CPUs, so that the check finds no error in any order of its small cases.
ONLY_TWO = """title = "A word for two, whatever else there is"
function setup() return lock_word(structure { name = "narrow_lock", "held" }) end
function acquire(cpu, lock)
  if cpu.id > 2 then return false end
  while cpu:exchange(lock.held, 1) ~= 0 do end
  return false
end
function release(cpu, lock) if cpu.id <= 2 then cpu:store_release(lock.held, 0) end end
"""


def test_random_machines_find_what_small_cases_cannot(linebounce: Program) -> None:
    found = check(linebounce, linebounce.file("narrow.lua", ONLY_TWO))
    assert found["verdict"] == "broken"
    assert "narrow.lua does not exclude: CPU " in found["trials"][-1]["failure"]
    again = linebounce("run", found["experiment"], "-o", "again")
    assert again.code != 0
    both = r"CPU (\d+) takes section_lock in critical_section at [\d.]+ µs, while CPU (?!\1\b)\d+ holds it, taken in "
    assert re.search(r"^linebounce: narrow\.lua does not exclude: " + both, again.stderr)
    assert again.stderr.strip().endswith("To see how: linebounce check-lock narrow.lua")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mcss"], "mcs"),
        (["missing.lua"], "missing.lua"),
        (["mcs", "--consistency", "weak"], "known: sc, tso, ia64"),
        (["mcs", "--cpus", "9"], "--cpus"),
    ],
)
def test_bad_arguments_of_check_lock_are_refused(linebounce: Program, arguments: list[str], said: str) -> None:
    assert said in linebounce.refused("check-lock", *arguments)


def test_a_lock_for_two_is_refused_on_more_cpus(linebounce: Program) -> None:
    said = linebounce.refused("run", LOCKS / "peterson.lua", "--machine", "p3_xeon_4way")
    assert "for at most 2 CPUs" in said
    assert "--set machine.cpus=2" in said


@pytest.mark.parametrize("returns", ["", "return 0"])
def test_a_lock_must_say_whether_it_waited(linebounce: Program, returns: str) -> None:
    text = (LOCKS / "tas.lua").read_text().replace("  return true\n", f"  {returns}\n")
    file = linebounce.file("tas.lua", text)
    said = linebounce.refused("run", file, "--machine", "p3_xeon_4way", code=1)
    assert "acquire must return true or false" in said
    found = check(linebounce, file, "--consistency", "sc", "--machines", "0")
    assert "acquire must return true or false" in found["cases"][-1]["violation"]


def test_a_step_that_fails_shows_what_it_saw(linebounce: Program) -> None:
    text = """function setup()
  local lock = lock_word(structure { name = "preset_lock", "held" })
  preset(lock.held, 7)
  return lock
end
function acquire(cpu, lock) error("seen " .. cpu:load(lock.held)) end
function release() end
"""
    found = check(linebounce, linebounce.file("preset.lua", text), "--consistency", "sc", "--machines", "0")
    last = found["cases"][-1]
    assert "seen 7" in last["violation"]
    assert last["steps"][-1]["text"] == "load lock.held: 7"


# Both CPUs announce themselves, see each other's announcement, and retract their own, at the same pace forever.
POLITE = """traits = { cpus = 2 }
function setup() return lock_word(structure { name = "polite_lock", { "wants", count = 2 } }) end
function acquire(cpu, lock)
  while true do
    cpu:store(lock.wants[cpu.id], 1)
    cpu:fence()
    if cpu:load(lock.wants[1 - cpu.id]) == 0 then return false end
    cpu:store(lock.wants[cpu.id], 0)
  end
end
function release(cpu, lock) cpu:store_release(lock.wants[cpu.id], 0) end
"""


def test_a_livelock_is_named(linebounce: Program) -> None:
    file = linebounce.file("polite.lua", POLITE)
    result = linebounce("check-lock", file, "--consistency", "sc", "--machines", "0", "--states", "3000")
    assert result.code == 1
    assert "not everything was looked at" in result.stdout
    assert "livelock" in result.stdout


# Wrong verdicts found in a review of the checker, each with the lock that showed it.


def test_a_section_may_not_leak_out_behind_the_release(linebounce: Program) -> None:
    file = changed(linebounce, "mcs", [("store_release", "store")])
    assert "an update was lost" in check(linebounce, file, "--consistency", "ia64", "--machines", "0")["cases"][-1]["violation"]
    assert check(linebounce, file, "--consistency", "tso", "--machines", "0")["verdict"] == "holds"


def test_equal_consecutive_loads_are_not_waiting(linebounce: Program) -> None:
    four = "  cpu:load(lock.serving)\n" * 4
    file = changed(linebounce, "ticket", [("  local mine = cpu:fetch_add", four + "  local mine = cpu:fetch_add")])
    found = check(linebounce, file, "--consistency", "sc", "--machines", "0", "--cpus", "2", "--acquisitions", "1")
    assert found["verdict"] == "holds"


def test_a_thread_that_releases_and_reacquires_overtakes_a_waiter(linebounce: Program) -> None:
    file = changed(linebounce, "tas", [("fits_4_bytes = true", "cpus = 2, fifo = true")])
    found = check(linebounce, file, "--consistency", "sc", "--machines", "0")
    assert "already waited" in found["cases"][-1]["violation"]


def test_a_case_that_cannot_be_made_is_refused(linebounce: Program) -> None:
    assert "for at most 2 CPUs" in linebounce.refused("check-lock", LOCKS / "peterson.lua", "--cpus", "3")


def test_the_checker_chooses_the_times_that_a_lock_reads(linebounce: Program) -> None:
    asks = [("  cpu:waits()\n", "  cpu:waits()\n  local now = cpu:now_ns()\n")]
    assert check(linebounce, changed(linebounce, "tas", asks))["verdict"] == "holds"


def test_a_model_that_is_named_twice_counts_once(linebounce: Program) -> None:
    once = ("check-lock", "tas", "--consistency", "sc", "--machines", "0")
    assert linebounce(*once, "--consistency", "sc").stdout == linebounce(*once).stdout
