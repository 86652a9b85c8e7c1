"""Imports the output of tools that run on production machines: DynamoRIO's memory traces and kernel lock statistics."""

import csv
import shutil
import subprocess
from pathlib import Path

import pytest
from linebounce.trace import Trace
from program import Program

VIEW = """Output format:
<--record#-> <--instr#->: <---tid---> <record details>
------------------------------------------------------------
           1           0:     2765542 <marker: version 5>
           2           0:     2765542 <marker: tid 2765542 on core 3>
           3           1:     2765542 ifetch       5 byte(s) @ 0x0000000000404a7e 48 8b 5c 24 08       mov    0x08(%rsp) -> %rbx
           4           1:     2765542 read         8 byte(s) @ 0x00007fdf64e2adc8 by PC 0x0000000000404a7e
------------------------------------------------------------
           5           0:     2765543 <marker: tid 2765543 on core 1>
           6           1:     2765543 ifetch       4 byte(s) @ 0x0000000000401d68 non-branch
           7           1:     2765543 write        8 byte(s) @ 0x00007fdf64e2adc8 by PC 0x0000000000401d68
           8           1:     2765543 <thread 2765543 exited>
View tool results:
              2 : total instructions
"""

CONTENTION = """ contended   total wait     max wait     avg wait         type   caller

       176      1.65 ms     19.43 us      9.38 us        mutex   pipe_read+0x57
        19    811.74 ms    621.76 ms     42.72 ms     spinlock   rcu_core+0xec
         1       143 ns       143 ns       143 ns      rwsem:R   do_user_addr_fault+0x1
"""

REPORT = """                Name   acquired  contended     avg wait   total wait     max wait     min wait

        jiffies_lock        433         32      2.78 us     88.91 us     13.57 us       692 ns
"""

TITLES = "con-bounces contentions waittime-min waittime-max waittime-total waittime-avg acq-bounces acquisitions " + (
    "holdtime-min holdtime-max holdtime-total holdtime-avg"
)


def lock_class(name: str, taken: int, waits: int, wait_us: float, hold_us: float) -> str:
    waiting = f"{waits:14} {waits:14} {0.1:14.2f} {9.0:14.2f} {wait_us:14.2f} {wait_us / waits:14.2f}"
    return f"{name:>40}:{waiting} {taken:14} {taken:14} {0.1:14.2f} {9.0:14.2f} {hold_us:14.2f} {hold_us / taken:14.2f}\n"


def lock_stat(*classes: str) -> str:
    """Formats a file like kernel/locking/lockdep_proc.c."""
    rule = "-" * 221 + "\n"
    titles = f"{'class name':>40} " + " ".join(f"{title:>14}" for title in TITLES.split()) + "\n"
    return f"lock_stat version 0.4\n{rule}{titles}{rule}\n" + "".join(classes)


# For one second, 16 CPUs alternately compute for 20 µs and hold the lock for 1 µs, both on average. Simulated separately,
# without Linebounce.
TREE_LOCK = lock_class("tree_lock", 707716, 472552, 1124782.36, 707025.66)
SITES = """                               ---------
                               tree_lock         400000 [<ffffffff8150ad8e>] insert_node+0x16e/0x1b0
                               tree_lock          72552 [<ffffffff8150b111>] find_node+0x31/0x250
"""
RUN_QUEUES = lock_class("&rq->__lock", 200000, 150, 80.5, 160000)


def test_drmemtrace_is_a_stream_for_each_thread(linebounce: Program) -> None:
    linebounce.file("view.txt", VIEW)
    result = linebounce("import", "view.txt")
    assert result.code == 0, result.stderr
    assert "view.lbt  of view.txt: drmemtrace" in result.stdout
    assert "atomic instructions are not marked" in result.stdout
    with Trace(linebounce.directory / "view.lbt") as trace:
        assert [(stream.name, stream.cpu) for stream in trace.symbols.streams] == [("thread/2765542", 3), ("thread/2765543", 1)]
    assert linebounce("trace", "info", "--check", "view.lbt").code == 0
    found = linebounce("find-sharing", "view.lbt", "--machine", "p3_xeon_4way")
    assert found.code == 0, found.stderr
    linebounce.file("torn.txt", VIEW[: VIEW.index("by PC")].removesuffix("0x00007fdf64e2adc8 ") + "0x\n")
    assert "torn.txt: line 7: expected SIZE byte(s)" in linebounce.refused("import", "torn.txt", code=3)


@pytest.mark.parametrize(
    ("text", "tool", "first"),
    [(CONTENTION, "contention", "rcu_core+0xec"), (REPORT, "report", "jiffies_lock")],
)
def test_perf_lock_is_shown_hottest_first_and_no_trace(linebounce: Program, text: str, tool: str, first: str) -> None:
    linebounce.file("waits.txt", text)
    result = linebounce("import", "waits.txt")
    assert result.code == 0, result.stderr
    assert f"perf lock {tool}" in result.stdout
    assert result.stdout.split("─\n")[1].strip().startswith(first)
    assert "No trace can be made" in result.stdout
    assert not (linebounce.directory / "waits.lbt").exists()
    assert "how long a lock was held" in linebounce.refused("import", "waits.txt", "-o", "x.lbt")


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
@pytest.mark.parametrize("command", ["contention", "report"])
def test_the_output_of_perf_lock_on_this_machine_is_imported(linebounce: Program, command: str) -> None:
    load = ["perf", "bench", "sched", "messaging", "-g", "2", "-l", "50"]
    options = {"cwd": linebounce.directory, "capture_output": True, "timeout": 60}
    subprocess.run(["perf", "lock", "record", "-a", "-o", "lock.data", "--", *load], check=False, **options)
    printed = subprocess.run(["perf", "lock", command, "-i", "lock.data"], check=False, **options).stderr.decode()
    lines = [line for line in printed.splitlines()[1:] if " us " in line]
    if not lines:
        pytest.skip(f"perf saw no lock that was waited for: {printed}")
    linebounce.file("waits.txt", printed)
    result = linebounce("import", "waits.txt")
    assert result.code == 0, result.stderr
    first = lines[0].split()[-1 if command == "contention" else 0]
    assert first.removesuffix("...") in result.stdout


def test_lock_stat_is_shown_by_class_with_where_it_was_waited(linebounce: Program) -> None:
    linebounce.file("lock_stat", lock_stat(RUN_QUEUES, TREE_LOCK, SITES))
    result = linebounce("import", "lock_stat")
    assert result.code == 0, result.stderr
    shown = [line.split()[0] for line in result.stdout.splitlines() if line.startswith("  ") and line.split()]
    assert shown[4:8] == ["tree_lock", "insert_node+0x16e", "find_node+0x31", "&rq->__lock"]
    assert "--seconds and --cpus" in result.stdout
    for options in (("-o", "x.lbt"), ("--seconds", "1"), ("--cpus", "4")):
        message = linebounce.refused("import", "lock_stat", *options)
        assert "--seconds" in message
        assert "--cpus" in message


def replayed_lock(linebounce: Program, trace: str) -> dict[str, str]:
    result = linebounce("trace", "replay", trace, "--machine", "generic_2socket_32core", "-o", "replay")
    assert result.code == 0, result.stderr
    (table,) = Path(linebounce.directory / "replay").rglob("locks.csv")
    return next(row for row in csv.DictReader(table.open()) if row["lock"] == "tree_lock" and not row["call_site"])


def test_the_mix_made_from_lock_stat_waits_as_measured(linebounce: Program) -> None:
    linebounce.file("lock_stat", lock_stat(TREE_LOCK, RUN_QUEUES))
    result = linebounce("import", "lock_stat", "--seconds", "1", "--cpus", "16")
    assert result.code == 0, result.stderr
    assert "Nothing in it was recorded" in result.stdout
    assert "&rq->__lock is left out: it was waited for by 0.075 %" in result.stdout
    row = replayed_lock(linebounce, "lock_stat.lbt")
    # lock_stat says: held 70.7 % of the time, 1 µs each; 66.8 % of acquisitions waited. In the replay, a hand-off takes time.
    assert float(row["hold_mean_us"]) == pytest.approx(1.0, rel=0.05)
    assert float(row["util_pct"]) == pytest.approx(70.7, rel=0.12)
    assert float(row["con_pct"]) == pytest.approx(66.8, rel=0.15)


def test_where_no_lock_could_be_repeated_there_is_no_trace(linebounce: Program) -> None:
    linebounce.file("lock_stat", lock_stat(RUN_QUEUES))
    message = linebounce.refused("import", "lock_stat", "--seconds", "1", "--cpus", "16")
    assert "a trace would not repeat" in message
    assert "the class is many locks" in message
    assert not (linebounce.directory / "lock_stat.lbt").exists()
    linebounce.file("lock_stat", lock_stat("   tree_lock:  12 13\n"))
    assert "lock_stat: line 6: expected 12 numbers" in linebounce.refused("import", "lock_stat", code=3)


def test_options_of_lock_stat_are_for_lock_stat(linebounce: Program) -> None:
    linebounce.file("view.txt", VIEW)
    assert "for lock_stat" in linebounce.refused("import", "view.txt", "--cpus", "4")
