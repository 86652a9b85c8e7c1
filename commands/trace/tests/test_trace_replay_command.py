"""`trace record` and `trace replay`, as a user meets them; and traces that are damaged or make no sense."""

import json
from pathlib import Path

import pytest
from program import Program
from results import check_results_directory, metric_of, read_csv

HEAD = "linebounce trace 1\n"
BEFORE_AND_BEHIND = {
    "unbalanced.txt": (
        "lock l\nobject o size=64\nstream a\na store o+0 8\na release l\na store o+0 8\nend\n",
        "line 6: stream 0 (a), operation 1: release of l, which the stream does not hold",
    ),
    "wait.txt": (
        "event e\nobject o size=64\nstream a\na store o+0 8\na wait e 1\na store o+0 8\nend\n",
        "line 6: stream 0 (a), operation 1: wait for 1 signals of e; the trace has 0",
    ),
    "outside.txt": (
        "object o size=64\nstream a\na store o+0 8\na store o+64 8\na store o+0 8\nend\n",
        "line 5: stream 0 (a), operation 1: store of 8 bytes at 64 of o, which has 64",
    ),
}


def replay(linebounce: Program, *arguments: str) -> dict:
    """The results of a replay into out/."""
    result = linebounce("trace", "replay", *arguments, "--machine", "p3_xeon_4way", "-o", "out", "--fresh")
    assert result.code == 0, result.stderr
    check_results_directory(linebounce.directory / "out")
    return json.loads((linebounce.directory / "out" / "results.json").read_text())


def record(linebounce: Program, output: str = "t.lbt", *arguments: str) -> Path:
    result = linebounce("trace", "record", "timer_churn", "-o", output, "--set", "run.measure_us=200", *arguments)
    assert (result.code, result.stderr) == (0, "")
    return linebounce.directory / output


def synthetic(linebounce: Program, name: str = "s.lbt", *arguments: str) -> Path:
    result = linebounce("trace", "synth", "-o", name, "--accesses", "20000", "--locks", "2", *arguments)
    assert result.code == 0, result.stderr
    return linebounce.directory / name


def test_a_recorded_run_is_replayed_with_the_same_misses(linebounce: Program) -> None:
    record(linebounce)
    assert sorted(path.name for path in linebounce.directory.iterdir()) == ["t.lbt"]
    result = linebounce("trace", "replay", "t.lbt", "-o", "out")
    assert result.code == 0, result.stderr
    table = result.stdout.split("Results: out/")[1]
    assert "recorded      replayed    difference" in table
    check_results_directory(linebounce.directory / "out")
    results = json.loads((linebounce.directory / "out" / "results.json").read_text())
    metrics = results["points"][0]["metrics"]
    differences = {name: it["value"] for name, it in metrics.items() if name.startswith("replay.misses.")}
    assert len(differences) >= 4
    assert all(abs(value) < 2 for value in differences.values()), differences


def test_another_lock_or_machine_is_not_held_against_the_recorded_run(linebounce: Program) -> None:
    record(linebounce)
    for other in (("--lock", "mcs"), ("--machine", "numaq_16way"), ("--set", "machine.memory.latency_ns=300")):
        result = linebounce("trace", "replay", "t.lbt", *other, "-o", "out", "--fresh")
        assert result.code == 0, result.stderr
        assert "difference" not in result.stdout


def test_a_replay_takes_another_lock_and_another_placement_of_threads(linebounce: Program) -> None:
    synthetic(linebounce)
    assert metric_of(replay(linebounce, "s.lbt", "--threads", "0 0 1 1", "--lock", "mcs"), "replay.operations") > 80000
    one = linebounce.refused("trace", "replay", "s.lbt", "--machine", "p3_xeon_4way", "--lock", "nolock=mcs", "-o", "o")
    assert "--lock nolock=mcs: the trace has no lock of this name" in one
    assert "must be an algorithm" in linebounce.refused("trace", "replay", "s.lbt", "--machine", "p3_xeon_4way", "--lock", "=x")


def test_a_trace_of_the_same_name_is_not_answered_with_old_results(linebounce: Program) -> None:
    synthetic(linebounce)
    first = replay(linebounce, "s.lbt")
    synthetic(linebounce, "s.lbt", "--seed", "2")
    refused = linebounce.refused("trace", "replay", "s.lbt", "--machine", "p3_xeon_4way", "-o", "out")
    assert "holds results with the same settings, but a file that they name has changed." in refused
    assert replay(linebounce, "s.lbt")["points"] != first["points"]


def test_a_trace_is_looked_for_beside_its_experiment(linebounce: Program) -> None:
    synthetic(linebounce, "s.lbt")
    folder = linebounce.directory / "experiments"
    folder.mkdir()
    text = 'name = "e"\nmachine = "p3_xeon_4way"\n[workload]\nname = "replay"\ntrace = "../s.lbt"\n'
    (folder / "e.toml").write_text(text)
    linebounce.run("experiments/e.toml", "out")


def test_a_replay_without_a_machine_asks_for_one(linebounce: Program) -> None:
    synthetic(linebounce)
    assert "--machine is required" in linebounce.refused("trace", "replay", "s.lbt")


def test_a_recording_that_fails_leaves_the_trace_that_was_there(linebounce: Program) -> None:
    before = synthetic(linebounce).read_bytes()
    linebounce.refused("trace", "record", "timer_churn", "-o", "s.lbt", "--set", "workload.name=core_to_core")
    assert (linebounce.directory / "s.lbt").read_bytes() == before
    assert [path.name for path in linebounce.directory.iterdir()] == ["s.lbt"]


def test_names_of_real_programs_are_cleaned_in_metrics_alone(linebounce: Program) -> None:
    locks = ["lru_locks+5280", "LRU_locks+5280", "a::(anonymous namespace)::log", "log"]
    text = "".join(f'lock "{name}"\n' for name in locks) + "object o size=64\nstream a\n"
    text += "".join(f'a acquire "{name}"\na store o+0 8\na release "{name}"\n' for name in locks)
    linebounce.file("names.txt", HEAD + text + "end\n")
    metrics = replay(linebounce, "names.txt")["points"][0]["metrics"]
    assert {name.split(".")[1] for name in metrics if name.startswith("locks.")} == {
        "lru_locks_5280",
        "lru_locks_5280-2",
        "a___anonymous_namespace___log",
        "log",
    }
    rows = (linebounce.directory / "out" / "locks.csv").read_text()
    assert all(name in rows for name in locks)


@pytest.mark.parametrize("name", BEFORE_AND_BEHIND)
def test_nonsense_is_refused_after_the_operations_before_it_are_replayed(linebounce: Program, name: str) -> None:
    text, said = BEFORE_AND_BEHIND[name]
    linebounce.file(name, HEAD + text)
    refused = linebounce.refused("trace", "replay", name, "--machine", "p3_xeon_4way", code=3)
    assert f"{name}: {said}" in refused
    assert len(refused.splitlines()) == 1
    assert metric_of(replay(linebounce, name, "--recover"), "replay.operations") == 1


def test_a_lock_that_a_damaged_trace_still_holds_is_let_go(linebounce: Program) -> None:
    text = "lock l\nobject o size=64\nstream a\nstream b\na acquire l\na store o+0 8\na store o+64 8\na release l\n"
    linebounce.file("held.txt", HEAD + text + "b compute 100000\nb acquire l\nb store o+0 8\nb release l\nend\n")
    assert metric_of(replay(linebounce, "held.txt", "--recover"), "replay.operations") == 7


def test_no_thread_waits_at_a_barrier_for_one_that_has_ended(linebounce: Program) -> None:
    text = "barrier b parties=2\nlock l\nobject o size=64\nstream a\nstream b\na barrier b\na release l\na barrier b\n"
    linebounce.file("barrier.txt", HEAD + text + "b barrier b\nb store o+0 8\nb barrier b\nend\n")
    assert metric_of(replay(linebounce, "barrier.txt", "--recover"), "replay.operations") == 3


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda content: content[: len(content) // 2], "no index at the end"),
        (
            lambda content: (
                content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 1]) + content[len(content) // 2 + 1 :]
            ),
            "byte",
        ),
    ],
    ids=["truncated", "flipped"],
)
def test_a_damaged_file_is_refused_and_recovered(linebounce: Program, damage, said: str) -> None:
    content = synthetic(linebounce).read_bytes()
    linebounce.file("torn.lbt", damage(content))
    refused = linebounce.refused("trace", "replay", "torn.lbt", "--machine", "p3_xeon_4way", code=3)
    assert "torn.lbt: byte" in refused
    assert said in refused
    assert len(refused.splitlines()) == 1
    assert metric_of(replay(linebounce, "torn.lbt", "--recover"), "replay.operations") > 1000


def test_objects_of_one_name_and_other_sizes_are_each_their_own(linebounce: Program) -> None:
    """A program allocates buffers of many sizes at one address."""
    linebounce.file(
        "t.txt", HEAD + "object buffer size=64\nobject buffer size=4096\nstream a\na load #0+56 8\na load #1+4088 8\nend\n"
    )
    replay(linebounce, "t.txt")
    (row,) = read_csv(linebounce.directory / "out" / "lines.csv")
    assert (row["object"], row["count"]) == ("buffer", "2")


def test_operations_that_take_no_time_are_replayed(linebounce: Program) -> None:
    linebounce.file("enters.txt", HEAD + "function f\nstream a\na enter f\na leave\nend\n")
    assert "throughput.operations_per_s" not in replay(linebounce, "enters.txt")["points"][0]["metrics"]


def test_a_file_that_is_not_a_trace_is_refused(linebounce: Program) -> None:
    content = synthetic(linebounce).read_bytes()
    linebounce.file("magic.lbt", b"XXXX" + content[4:])
    for recover in ((), ("--recover",)):
        refused = linebounce.refused("trace", "replay", "magic.lbt", "--machine", "p3_xeon_4way", *recover, code=3)
        assert "magic.lbt: byte 0: this is not a trace" in refused


def test_a_structure_that_is_too_large_to_be_placed_is_refused(linebounce: Program) -> None:
    linebounce.file("big.txt", f"{HEAD}structure big size=4294967296\nobject o size=64\nstream a\na store o+0 8\nend\n")
    refused = linebounce("trace", "replay", "big.txt", "--machine", "p3_xeon_4way")
    assert refused.code == 2
    assert "structure big has 4294967296 bytes; those of a replay have at most 2147483647" in refused.stderr


@pytest.mark.parametrize("where", ["", "alignment=64", "address=4096"])
def test_objects_after_a_large_object_are_separate_from_it(linebounce: Program, where: str) -> None:
    size = 2**32 + 128  # the program touches the place where the lower 32 bits of the address wrap
    behind = where.replace("4096", str(4096 + size))
    symbols = f"object big size={size} {where}\nobject behind size=64 {behind}\n"
    operations = f"a store big+0 8\na store big+128 8\na store big+{2**32} 8\na store behind+0 8\n"
    linebounce.file("big.txt", f"{HEAD}{symbols}stream a\n{operations}end\n")
    results = replay(linebounce, "big.txt")
    assert metric_of(results, "latency.local_memory.count") == 4


def test_more_threads_than_cpus_are_refused_unless_they_take_turns(linebounce: Program) -> None:
    synthetic(linebounce, "s.lbt", "--threads", "8")
    refused = linebounce.refused("trace", "replay", "s.lbt", "--machine", "p3_xeon_4way", "-o", "o", code=3)
    assert "s.lbt: the trace has 8 threads and the machine 4 CPUs" in refused
    assert "round_robin" in refused
    assert metric_of(replay(linebounce, "s.lbt", "--threads", "round_robin"), "replay.operations") > 160000


TWO_IN_FUNCTIONS = """linebounce trace 1
object x size=256 alignment=64
object y size=256 alignment=64
function fa user=yes
function fb user=yes
event go
event back
stream a
stream b
a enter fa
a load x 8
a wait go 1
a load x+64 8
a signal back
a leave
a load x+128 8
b enter fb
b load y 8
b signal go
b wait back 1
b load y+64 8
b leave
b load y+128 8
end
"""
READER_WAITS = """linebounce trace 1
object x size=64 alignment=64
lock l algorithm=rwlock
event go
stream a
stream b
stream c
a acquire_shared l
a load x 8
a wait go 1
a release_shared l
b acquire_shared l
b release_shared l
b acquire l
b store x 8
b release l
c compute 100000
c signal go
end
"""


def functions_of(directory: Path) -> set[tuple[str, str, str]]:
    rows = [line.split(",") for line in (directory / "lines.csv").read_text().splitlines()[1:]]
    return {(row[2], row[3], row[6]) for row in rows if row[2] in ("x", "y")}


def test_threads_of_one_cpu_stay_in_their_own_functions(linebounce: Program) -> None:
    (linebounce.directory / "two.txt").write_text(TWO_IN_FUNCTIONS)
    replay(linebounce, "two.txt")
    apart = functions_of(linebounce.directory / "out")
    assert {("x", "2", "fa"), ("x", "4", "program"), ("y", "2", "fb"), ("y", "4", "program")} <= apart
    replay(linebounce, "two.txt", "--threads", "0 0")
    assert functions_of(linebounce.directory / "out") == apart


@pytest.mark.parametrize("lock", ["recorded", "brlock", "mcs"])
def test_a_writer_lets_a_reader_of_its_cpu_come_to_its_end(linebounce: Program, lock: str) -> None:
    (linebounce.directory / "reader.txt").write_text(READER_WAITS)
    replay(linebounce, "reader.txt", "--threads", "0 0 1", "--lock", lock)


def test_threads_in_blocks_use_every_cpu(linebounce: Program) -> None:
    """A thread that does little, like main, and four that work. If threads ran in blocks of two, only three of the four
    CPUs would be used."""
    symbols = "".join(f"object x{i} size=64 alignment=64\nstream t{i}\n" for i in range(5))
    work = "".join(f"t{i} store x{i} 8\nt{i} compute {100000 if i else 10}\n" for i in range(5))
    (linebounce.directory / "five.txt").write_text(HEAD + symbols + work + "end\n")
    assert metric_of(replay(linebounce, "five.txt", "--threads", "block"), "time.idle_pct") < 5


def test_a_thread_that_does_nothing_need_not_be_created(linebounce: Program) -> None:
    (linebounce.directory / "idle.txt").write_text(
        HEAD + "object x size=64\nstream a\nstream b created=yes\na store x 8\nend\n"
    )
    replay(linebounce, "idle.txt")


def test_a_deadlocked_replay_names_what_each_thread_waits_for(linebounce: Program) -> None:
    text = "event e\nevent f\nstream a\nstream b\na wait e 1\na signal f\nb wait f 1\nb signal e\nend\n"
    (linebounce.directory / "circle.txt").write_text(HEAD + text)
    result = linebounce("trace", "replay", "circle.txt", "--machine", "p3_xeon_4way")
    assert result.code == 4
    assert "CPU 0 awaits e, in program" in result.stderr
    assert "CPU 1 awaits f, in program" in result.stderr


def test_a_lock_that_replaces_none_is_reported_to_change_nothing(linebounce: Program) -> None:
    assert linebounce("trace", "synth", "refcount", "-o", "r.lbt", "--operations", "100").code == 0
    replay = ("trace", "replay", "r.lbt", "--machine", "p3_xeon_8way", "-o", "out")
    assert "--lock mcs changed nothing: the trace has no locks" in linebounce(*replay, "--lock", "mcs").stdout
    assert "changed nothing" not in linebounce(*replay, "--fresh").stdout
