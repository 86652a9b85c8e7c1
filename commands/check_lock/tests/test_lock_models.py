"""check-lock under c11: what each model says of a lock, what a lock claims, and what of its code has run."""

import json
import re
from pathlib import Path

import pytest
from program import ROOT, Program

INCLUDES = "#include <linebounce/lock.h>\n#include <stdatomic.h>\n"
SIZE = ("--cpus=2", "--acquisitions=1", "--machines=0")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "lock_cache"))


def checked(linebounce: Program, file: Path | str, *more: str) -> dict:
    return json.loads(linebounce("check-lock", file, "--json", *SIZE, *more).stdout)[0]


def native(linebounce: Program, name: str, fields: str, bodies: tuple[str, str], traits: str = "") -> Path:
    acquire, release = bodies
    text = f"""{INCLUDES}struct own {{ {fields} }};
LINEBOUNCE_LOCK(struct own{traits})
void acquire(struct own *lock) {{
{acquire}
}}
void release(struct own *lock) {{
{release}
}}
"""
    return linebounce.file(name, text)


def exchanged(linebounce: Program, take: str, give: str, traits: str = "") -> Path:
    """A lock of one word, taken and given back in these orders."""
    return native(
        linebounce,
        f"exchange_{take}_{give}.c",
        "_Atomic int held;",
        (
            f"  while (atomic_exchange_explicit(&lock->held, 1, memory_order_{take})) linebounce_pause();",
            f"  atomic_store_explicit(&lock->held, 0, memory_order_{give});",
        ),
        traits,
    )


@pytest.mark.parametrize(
    ("take", "give", "broken"),
    [
        ("acquire", "release", []),
        ("seq_cst", "seq_cst", []),
        ("relaxed", "release", ["c11"]),
        ("release", "release", ["c11"]),
        ("acquire", "relaxed", ["ia64", "c11"]),
    ],
)
def test_an_exchange_must_acquire_and_a_store_release(linebounce: Program, take: str, give: str, broken: list[str]) -> None:
    found = checked(linebounce, exchanged(linebounce, take, give))
    assert [model for model, verdict in found["models"].items() if verdict == "broken"] == broken
    assert found["verdict"] == ("broken" if broken else "holds")


def test_fences_stand_for_the_orders_of_operations(linebounce: Program) -> None:
    take = "  while (atomic_exchange_explicit(&lock->held, 1, memory_order_relaxed)) linebounce_pause();"
    give = "  atomic_store_explicit(&lock->held, 0, memory_order_relaxed);"
    acquires, releases = (f"atomic_thread_fence(memory_order_{order});" for order in ("acquire", "release"))
    for name, before, after, holds in (
        ("both", releases, acquires, True),
        ("one", releases, "", False),
        ("other", "", acquires, False),
    ):
        file = native(linebounce, f"fences_{name}.c", "_Atomic int held;", (take + after, before + give))
        assert (checked(linebounce, file, "--consistency=c11")["verdict"] == "holds") == holds, name


def test_a_lock_is_broken_only_under_models_that_it_claims(linebounce: Program) -> None:
    file = exchanged(linebounce, "relaxed", "release", ', .models = "sc tso ia64"')
    said = linebounce("check-lock", file, *SIZE)
    assert said.code == 0
    assert "under sc, tso and ia64; broken under c11, which it does not claim: an update was lost" in " ".join(
        said.stdout.split()
    )
    said = linebounce("check-lock", exchanged(linebounce, "relaxed", "release"), *SIZE)
    assert said.code == 1
    assert "holds under sc, tso and ia64; broken under c11: an update was lost" in " ".join(said.stdout.split())
    assert "an old value; the newest is 1" in said.stdout


def test_a_model_that_is_asked_for_by_name_counts_as_claimed(linebounce: Program) -> None:
    file = exchanged(linebounce, "relaxed", "release", ', .models = "sc tso ia64"')
    for model, code in (("sc", 0), ("c11", 1)):
        assert linebounce("check-lock", file, *SIZE, f"--consistency={model}").code == code


@pytest.mark.parametrize(("leaves", "sees"), [("release", "acquire"), ("relaxed", "acquire"), ("release", "relaxed")])
def test_a_writer_must_be_ordered_after_the_loads_of_readers(linebounce: Program, leaves: str, sees: str) -> None:
    """The reader's last load may take effect after its store, or the writer's first store before its load: c11 leaves
    out both. What must order them is looked for instead."""
    text = f"""{INCLUDES}struct own {{ _Atomic int writer, reader[2]; }};
LINEBOUNCE_LOCK(struct own, .most_cpus = 2)
void acquire(struct own *lock) {{
  while (atomic_exchange(&lock->writer, 1)) linebounce_pause();
  atomic_thread_fence(memory_order_seq_cst);
  for (int cpu = 0; cpu < 2; cpu++)
    while (atomic_load_explicit(&lock->reader[cpu], memory_order_{sees})) linebounce_pause();
}}
void release(struct own *lock) {{ atomic_store_explicit(&lock->writer, 0, memory_order_release); }}
void acquire_shared(struct own *lock) {{
  _Atomic int *mine = &lock->reader[linebounce_cpu()];
  for (;;) {{
    atomic_store_explicit(mine, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&lock->writer, memory_order_acquire)) return;
    atomic_store_explicit(mine, 0, memory_order_relaxed);
    while (atomic_load_explicit(&lock->writer, memory_order_relaxed)) linebounce_pause();
  }}
}}
void release_shared(struct own *lock) {{
  atomic_store_explicit(&lock->reader[linebounce_cpu()], 0, memory_order_{leaves});
}}
"""
    found = checked(linebounce, linebounce.file("marks.c", text), "--consistency=c11")
    if (leaves, sees) == ("release", "acquire"):
        assert found["verdict"] == "holds"
    else:
        (violation,) = {case["violation"] for case in found["cases"] if case["violation"]}
        assert re.fullmatch(
            r"CPU (\d) holds the lock, but CPU \d may still be reading: nothing orders its loads before what CPU \1 stores",
            violation,
        )


def test_a_model_that_does_not_exist_is_refused(linebounce: Program) -> None:
    for text in (exchanged(linebounce, "acquire", "release", ', .models = "sc arm"'),):
        said = linebounce("check-lock", text)
        assert said.code == 2
        assert 'legal: some of "sc tso ia64 c11"' in said.stderr


def test_before_a_run_only_the_machine_s_own_model_counts(linebounce: Program) -> None:
    file = exchanged(linebounce, "relaxed", "release")
    said = linebounce("run", "lock_scaling", "--native", "--machine=p3_xeon_4way", "--quick", "--set", f"workload.lock={file}")
    assert "is broken" not in said.stderr


def test_an_operation_that_never_ran_is_named(linebounce: Program) -> None:
    acquire = """  while (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire)) linebounce_pause();
  if (atomic_load_explicit(&lock->never, memory_order_relaxed))
    atomic_store_explicit(&lock->held, 2, memory_order_release);"""
    release = "  atomic_store_explicit(&lock->held, 0, memory_order_release);"
    file = native(linebounce, "never.c", "_Atomic int held, never;", (acquire, release))
    found = checked(linebounce, file)
    assert found["operations"] == {"all": 4, "ran": 3, "not_run": ["never.c:8"]}
    said = linebounce("check-lock", file, *SIZE)
    assert "never.c holds as far as it ran" in " ".join(said.stdout.split())
    assert "3 of 4 operations of its source on shared memory ran; not never.c:8" in " ".join(said.stdout.split())
    places = json.loads(linebounce("check-lock", file, "--weaken", "--json", "--consistency=sc").stdout)[0]["places"]
    assert 8 not in [place["line"] for place in places]


def test_an_operation_of_init_counts_as_run(linebounce: Program) -> None:
    file = exchanged(linebounce, "acquire", "release")
    file.write_text(file.read_text() + "void init(struct own *lock) { atomic_store(&lock->held, 0); }\n")
    assert checked(linebounce, file)["operations"]["not_run"] == []


def test_lua_names_what_never_ran_and_weaken_leaves_it_alone(linebounce: Program) -> None:
    text = (ROOT / "programs" / "locks" / "tas.lua").read_text(encoding="utf-8")
    text = text.replace("function release(cpu, lock)\n", "function release(cpu, lock)\n  if false then cpu:fence() end\n")
    file = linebounce.file("unreached.lua", text)
    line = 1 + text[: text.index("cpu:fence()")].count("\n")
    assert checked(linebounce, file)["operations"]["not_run"] == [f"unreached.lua:{line}"]
    found = json.loads(linebounce("check-lock", file, "--weaken", "--json", "--consistency=sc").stdout)[0]
    assert found["unreached"] == [f"unreached.lua:{line}"]
    assert line not in [place["line"] for place in found["places"]]


def test_no_claim_rests_on_a_search_that_was_cut(linebounce: Program) -> None:
    said = linebounce("check-lock", "bravo", "--states=30", "--machines=0")
    assert "overtaken as far as was looked" in said.stdout or "was overtaken" in said.stdout
    assert "No waiter was overtaken;" not in said.stdout


def test_weaken_says_what_loads_and_updates_need_under_c11(linebounce: Program) -> None:
    said = linebounce("check-lock", exchanged(linebounce, "seq_cst", "seq_cst"), "--weaken", "--json", "--machine=p3_xeon_4way")
    found = {place["order"]: place["weakest"] for place in json.loads(said.stdout)[0]["places"]}
    assert found["update seq_cst"] == {"c11": "update acquire"}
    assert found["store seq_cst"]["c11"] == "store release"


# ---- code that would end the check, or never end ----


def test_a_trap_is_a_violation_with_steps(linebounce: Program) -> None:
    acquire = """  while (atomic_exchange(&lock->held, 1)) linebounce_pause();
  if (lock->owner) __builtin_trap();
  lock->owner = 1;"""
    file = native(linebounce, "trap.c", "_Atomic int held; int owner;", (acquire, "  atomic_store(&lock->held, 0);"))
    found = checked(linebounce, file)
    assert found["verdict"] == "broken"
    (violation,) = {case["violation"] for case in found["cases"] if case["violation"]}
    assert re.search(r"trap\.c:7: .* trap", violation)
    assert found["cases"][-1]["steps"]


def test_a_loop_that_nobody_can_end_is_named_by_its_line(linebounce: Program) -> None:
    acquire = "  while (lock->held);\n  __sync_lock_test_and_set(&lock->held, 1);"
    file = native(linebounce, "plain.c", "int held;", (acquire, "  __sync_lock_release(&lock->held);"))
    found = checked(linebounce, file, "--consistency=sc")
    assert found["verdict"] == "broken"
    assert re.search(r"plain\.c:6: .*nobody can end it", found["cases"][-1]["violation"])


def test_sixteen_bytes_are_refused_with_their_line(linebounce: Program) -> None:
    acquire = "  __int128 seen = 0;\n  while (!__atomic_compare_exchange_n(&lock->both, &seen, 1, 0, 5, 5)) seen = 0;"
    file = native(
        linebounce, "wide.c", "_Alignas(16) __int128 both;", (acquire, "  __atomic_store_n((long *)&lock->both, 0, 3);")
    )
    said = linebounce("check-lock", file)
    assert said.code == 2
    assert "wide.c:7: has an atomic operation of 16 bytes" in said.stderr


def test_cpus_that_wait_for_each_other_in_loops_of_compare_exchanges_are_a_deadlock(linebounce: Program) -> None:
    acquire = """  for (int seen = 0; !atomic_compare_exchange_weak(&lock->word, &seen, seen + 1);) linebounce_pause();
  for (int one = 1; !atomic_compare_exchange_weak(&lock->word, &one, -1); one = 1) linebounce_pause();"""
    file = native(linebounce, "upgrade.c", "_Atomic int word;", (acquire, "  atomic_store(&lock->word, 0);"))
    found = checked(linebounce, file, "--consistency=sc")
    assert found["cases"][-1]["violation"].startswith("nobody can go on")
    assert len(found["cases"][-1]["steps"]) < 15


def test_a_quick_check_of_a_lock_that_counts_to_a_million_is_quick(linebounce: Program) -> None:
    acquire = """  for (unsigned turns = 512; atomic_exchange_explicit(&lock->held, 1, memory_order_acquire); turns *= 2)
    for (unsigned i = 0; i < turns % 1048576; i++) __asm__ volatile("" ::: "memory");"""
    release = "  atomic_store_explicit(&lock->held, 0, memory_order_release);"
    file = native(linebounce, "backs_off.c", "_Atomic int held;", (acquire, release))
    said = linebounce("check-lock", file, "--quick", timeout=30)
    assert "no violation found" in said.stdout or "holds" in said.stdout
