"""Statistics of locks: lock_stat, perf lock, klockstat, bpftrace and others, hottest first."""

import re

import pytest
from imported import imported
from program import Program

BPFTRACE = """Attaching 4 probes...
^C

@contended[pipe_write]: 40
@contended[futex_wake]: 8
@max_us[pipe_write]: 90
@start[4711]: 81234567890123

@wait_ns[pipe_write]:
[256, 512)            30 |@@@@@@@@@@@@@@@@@@@@|
[1K, 2K)              10 |@@@@@@              |

@wait_ns[futex_wake]: count 8, average 2000, total 16000
@hold_us[futex_wake]: 24
"""


LOCK_STAT_03 = """lock_stat version 0.3
-------------------------------------------------
 class name    con-bounces contentions waittime-min waittime-max waittime-total acq-bounces acquisitions holdtime-min \
holdtime-max holdtime-total
-------------------------------------------------

   a_lock-W:     3     8           0.20          12.00          48.00     11       2000           0.10    4.00         800.00
   a_lock-R:     0     0           0.00           0.00           0.00     23       9000           0.20    2.00        1900.00
   ---------
     a_lock               8          [<ffffffff8027c08f>] add_entry+0x5f/0x190
"""


@pytest.mark.parametrize("quoted", [False, True])
def test_lock_stat_before_linux_3_13_is_read_whole_or_broken_by_a_mailer(linebounce: Program, quoted: bool) -> None:
    text = LOCK_STAT_03
    if quoted:
        text = text.replace("4.00         800.00", "4.00\n         800.00").replace("] add_entry", "]\nadd_entry")
        text = "".join(f"> {line}\n" for line in text.splitlines())
    said = imported(linebounce, "lock_stat.txt", text)
    assert "a_lock (writers)" in said
    assert "add_entry" in said
    assert ("lines_joined" in said) == quoted


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_perf_lock_with_a_separator_is_read_by_its_titles(linebounce: Program, separator: str) -> None:
    titles = f"{separator} ".join(["contended", "total wait", "max wait", "avg wait", "type", "caller"])
    rows = [
        ["19", "194232", "21415", "10222", "spinlock", "worker+0x1f0"],
        ["4", "862748", "23843", "215687", "rwsem:R", "fault+0x4"],
    ]
    said = imported(linebounce, "x.csv", f"# output: {titles}\n" + "".join(f"{separator} ".join(row) + "\n" for row in rows))
    assert said.index("fault+0x4") < said.index("worker+0x1f0"), "hottest first"
    assert "863" in said or "862" in said


KLOCK_OLD = """
                      Caller    Average Spin           Count        Max spin      Total spin
            b'queue_put+0x10'             700            8000           86318         5600000
            b'queue_get+0x20'             400            2000           86105          800000

                      Caller    Average Hold           Count        Max hold      Total hold
            b'queue_put+0x10'             600            8000           96473         4800000
"""

KLOCK_NEW = """
                               Caller  Avg Wait    Count   Max Wait   Total Wait
                       queue_put+0x10    700 ns     8000    86.3 us       5.6 ms
                          do_put+0x60
                              Max PID 12, COMM worker, Lock no-ksym (0xffff8881)
                       queue_get+0x20    400 ns     2000    86.1 us     800.0 us

                               Caller  Avg Hold    Count   Max Hold   Total Hold
                       queue_put+0x10    600 ns     8000    96.5 us       4.8 ms
"""


@pytest.mark.parametrize("text", [KLOCK_OLD, KLOCK_NEW], ids=["bcc", "libbpf"])
def test_klockstat_is_shown_by_caller_with_holds(linebounce: Program, text: str) -> None:
    said = imported(linebounce, "k.txt", text)
    assert said.index("queue_put+0x10") < said.index("queue_get+0x20")
    assert "mean hold" in said
    assert "600 ns" in said
    assert "waits_are_all" in said
    assert "names callers and no locks" in linebounce.refused("import", "k.txt", "-o", "x.lbt")


def test_tables_are_printed_as_markdown(linebounce: Program) -> None:
    said = imported(linebounce, "b.txt", BPFTRACE.replace("pipe_write", "pipe|write"), "--format", "markdown")
    lines = said.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("| key "))
    assert lines[head - 1] == ""
    assert set(lines[head + 1]) == set("|-:")
    assert "| pipe\\|write | 40 |" in said
    assert len({line.count("|") - line.count("\\|") for line in lines[head : head + 4]}) == 1
    assert re.search(r"^\| doubt \| .* \| script_decides \|$", said, re.MULTILINE)


WAITS = " contended   total wait     max wait     avg wait "

LOCKS = {
    # -o: owners, of which perf may not know the name.
    "owner": (WAITS + "         pid   owner\n\n  3  219.28 us  201.32 us  73.09 us   -1   Unknown\n"
              "  5   12.10 us    5.00 us   2.42 us 4711   worker\n", "Unknown/-1", "worker/4711"),
    "owner-x": ("# output: contended, total wait, max wait, avg wait, pid, owner\n3, 219280, 201320, 73093, -1, Unknown\n"
                "5, 12100, 5000, 2420, 4711, worker\n", "Unknown/-1", "worker/4711"),
    # -l: addresses, of which few have a symbol.
    "address": (WAITS + "           address   symbol\n\n  1  2.37 ms  2.37 ms  2.37 ms  ffff8881007d3f28  siglock (spinlock)\n"
                "  7  1.45 us   900 ns   207 ns  ffff888100aa0010   (mutex)\n", "siglock (spinlock)", "(mutex)"),
    "cgroup": (WAITS + "  cgroup\n\n  11  12.1 us  5.0 us  1.1 us  /system.slice/ssh.service\n  4  2.1 us  1.0 us  525 ns  /\n",
               "/system.slice/ssh.service", "/"),
    # -v: stacks, and at the end what was lost.
    "stacks": (WAITS + "        type   caller\n\n  9  1.65 ms  19.43 us  9.38 us  rwsem:W  adjust+0x2a\n"
               "                 0xffffffff81234567  down_write+0x10\n                 0xffffffff8123beef  adjust+0x2a\n"
               "  2  9.0 us  5.0 us  4.5 us  mutex  poll+0x9\n\n=== output for debug ===\n\nbad: 5, total: 200\n",
               "adjust+0x2a (rwsem:W)", "poll+0x9 (mutex)"),
    # Before Linux 5.18, perf lock report has nanoseconds without a unit.
    "report": ("                Name   acquired  contended   avg wait (ns) total wait (ns)   max wait (ns)   min wait (ns)\n\n"
               " &zone->lock      500         10            1000           10000            3000             200\n"
               "     rq_lock      800          2             400             800             500             300\n",
               "&zone->lock", "rq_lock"),
    # -p of libbpf's klockstat: threads.
    "klockstat": ("        Tid    Comm    Avg Wait    Count   Max Wait   Total Wait\n"
                  "       4711    worker    700 ns     8000    86.3 us       5.6 ms\n"
                  "       4712    other     400 ns     2000    86.1 us     800.0 us\n\n"
                  "        Tid    Comm    Avg Hold    Count   Max Hold   Total Hold\n"
                  "       4711    worker    600 ns     8000    96.5 us       4.8 ms\n", "4711 worker", "4712 other"),
    # Rows that grep picked from /proc/lock_stat, without the titles.
    "grep": ("  tree_lock-W:   46   84   0.26   939.10   16371.53   194.90   47291   29223   0.16   2220.69   26916.32   5.99\n"
             "  tree_lock-R:   37   100   1.31   2.61   32.52   0.30   212344   343166   0.10   77.91   950.20   2.77\n",
             "tree_lock (writers)", "tree_lock (readers)"),
    # lhist() with its open ends.
    "bpftrace": ("@wait_usecs[a]:\n(..., 0)     0 |      |\n[0, 10)     40 |@@@@@@|\n[1000, ...)  1 |@     |\n\n"
                 "@wait_usecs[b]:\n[0, 10)      4 |@@@@@@|\n", "a", "b"),
}  # fmt: skip


@pytest.mark.parametrize("form", LOCKS)
def test_other_forms_of_lock_statistics_are_shown_hottest_first(linebounce: Program, form: str) -> None:
    text, first, second = LOCKS[form]
    said = re.sub(" +", " ", imported(linebounce, "locks.txt", text))
    rows = said.split("─\n")[1].splitlines()
    assert rows[0].startswith(f" {first} ")
    assert any(row.startswith(f" {second} ") for row in rows[1:])
    assert ("titles_assumed" in said) == (form == "grep")


def test_klockstats_times_may_have_their_unit_attached(linebounce: Program) -> None:
    text = """                          Caller   Avg Spin  Count   Max spin Total spin
              queue_put+0x10    3.2us       5     11.2us     16.1us

                          Caller   Avg Hold  Count   Max hold Total hold
              queue_put+0x10    22.2us      5     45.3us    111.0us
"""
    said = imported(linebounce, "k.txt", text)
    assert re.search(r"queue_put\+0x10 +5 +16.1 µs", said)
    linebounce.file("odd.txt", text.replace("us", " parsecs"))
    assert "no line below the titles" in linebounce.refused("import", "odd.txt", code=3)


def test_perf_lock_may_have_a_separator_without_blanks_and_a_stack(linebounce: Program) -> None:
    text = "# output: contended|total wait|max wait|avg wait|type|caller|stacktrace\n7|9000|3000|1285|mutex|take+0x5a|a+0x1\n"
    assert re.search(r"take\+0x5a \(mutex\) +7 +9.00 µs", imported(linebounce, "x.txt", text))


def test_keys_that_bpftrace_writes_alike_are_added_up(linebounce: Program) -> None:
    """bpftrace 0.17's output for @wait_ns["a,b", "c"] = 100, ["a", "b,c"] = 250 and ["q", "r"] = 300."""
    text = """{"type": "attached_probes", "data": {"probes": 1}}


{"type": "map", "data": {"@wait_ns": {"q,r": 300, "a,b,c": 100, "a,b,c": 250}}}
{"type": "map", "data": {"@total_ns": 77}}
{"type": "stats", "data": {"@held_ns": {"count": 2, "average": 6, "total": 12}}}
"""
    said = imported(linebounce, "b.json", text)
    assert re.search(r"a,b,c +350 ns.*q,r +300 ns.*@total_ns +77.0 ns", said, re.DOTALL)
