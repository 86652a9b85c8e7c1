"""Files that people already have, as other tools write them: `import` recognises them by content or asks."""

import csv
import json
import re
from pathlib import Path

import pytest
from linebounce.trace import Trace
from program import Program
from results import read_csv

ORDERED = "0 r 1f00\n1 w 1f00\n1 w 1f08\n0 r 1f00\n2 r 2f40\n0 w 1f04\n"
PIN = "0x401000: R 0x7ffe10\n0x401003: W 0x7ffe18\n0x401010: R 0x7ffe20\n#eof\n"
PACKETS = "r,8192,64,256,700\nw,8256,64,256,1900\nu,8320,64,2500\n7,r,8384,8,256,3000,4198400\n"
MATRIX = [[0, 40, 90, 92], [41, 0, 91, 89], [90, 91, 0, 39], [92, 89, 40, 0]]

C2C = """=================================================
      Shared Cache Line Distribution Pareto
=================================================
#
#        ----- HITM -----  -- Store Refs --  Data address               ---- cycles ----                  Shared
#   Num  RmtHitm  LclHitm   L1 Hit  L1 Miss  Offset  Node  PA  Code  rmt  lcl  load  records  CPUs  Symbol Object Source Node
# .....  .......  .......  .......  .......  ......  ....  ..  ....  ...  ...  ....  .......  ....  ...... ...... ...... ....
#
  -------------------------------------------------------------
      0      100      300      200       50      0x7f10c0a80040
  -------------------------------------------------------------
    75.00%  60.00%   0.00%   0.00%  0x8  0  1  0x401136  600  300  250  900  4  [.] reader  pool.so  pool.c:10  0{0-1} 1{2-3}
    25.00%  40.00% 100.00% 100.00% 0x20  0  1  0x401188  640  320  260  700  4  [.] writer  pool.so  pool.c:22  0{0-1} 1{2-3}

  -------------------------------------------------------------
      1       10      400       80        0  0xffff888101230000
  -------------------------------------------------------------
    100.00% 100.00% 100.00% 0.00% 0x10 1 1 0xffffffff81a0  500  200  190  600  2  [k] sys_sync  [kernel]  sync.c:7  0{1}  1{3}
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

SB = """X86 SB+po+mfence
"one fence of two"
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MFENCE      ;
             | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
"""


def accesses(path: Path) -> list[tuple[str, list[tuple[str, int]]]]:
    """Returns each stream's name and its operations with their arguments."""
    with Trace(path) as trace:
        return [
            (stream.name, [(operation.kind.name.lower(), operation.argument) for operation in trace.operations(number)])
            for number, stream in enumerate(trace.symbols.streams)
        ]


def imported(linebounce: Program, name: str, text: str, *options: str) -> str:
    linebounce.file(name, text)
    result = linebounce("import", name, *options)
    assert result.code == 0, result.stderr
    return result.stdout


def test_a_trace_of_several_cpus_in_one_order_is_replayed_in_that_order(linebounce: Program) -> None:
    # Two CPUs access one word in turn, five times each: every turn but the first finds the line modified in another cache.
    turns = "".join(f"{cpu} r 4000\n{cpu} w 4000\n" for _ in range(5) for cpu in (0, 1))
    said = imported(linebounce, "turns.txt", turns)
    assert "CPU r ADDRESS" not in said
    assert "order_kept" in said
    assert linebounce("trace", "info", "--check", "turns.lbt").code == 0
    result = linebounce("trace", "replay", "turns.lbt", "--machine", "p3_xeon_4way", "-o", "out")
    assert result.code == 0, result.stderr
    with (linebounce.directory / "out" / "lines.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["object"] == "page_4"]
    transfers = sum(int(row["count"]) for row in rows if row["source"] in ("local_c2c", "remote_c2c"))
    assert transfers == 9


@pytest.mark.parametrize(
    ("name", "text", "form", "streams"),
    [
        ("course.txt", ORDERED, "ordered", ["cpu/0", "cpu/1", "cpu/2"]),
        ("pin.out", PIN, "pinatrace", ["thread"]),
        ("packets.txt", PACKETS, "gem5-packets", ["thread"]),
        ("one.trc", "r 4000\nw 0x4008\nR 4010\n", "read-write", ["thread"]),
        ("cmu.trace", "L 10,4\nS 18, 8\nM 20,1\n", "lackey", ["thread"]),
        ("quoted.txt", "> 0 r 1f00\n> 1 w 1f00\n", "ordered", ["cpu/0", "cpu/1"]),
    ],
)
def test_traces_of_courses_and_simulators_are_recognised_by_their_lines(
    linebounce: Program, name: str, text: str, form: str, streams: list[str]
) -> None:
    said = imported(linebounce, name, text, "-o", "t.lbt")
    assert f"t.lbt  of {name}: {form}" in said
    assert [stream for stream, _ in accesses(linebounce.directory / "t.lbt")] == streams
    assert linebounce("trace", "info", "--check", "t.lbt").code == 0
    assert linebounce("trace", "convert", name, "u.lbt").code == 0, "convert tells it likewise"


def test_packets_of_another_kind_are_counted(linebounce: Program) -> None:
    said = imported(linebounce, "packets.txt", PACKETS)
    assert "1 packets are neither reads nor writes" in said
    assert "lost" in said


def test_an_ambiguous_file_is_not_guessed_at(linebounce: Program) -> None:
    linebounce.file("core_0.data", "0 0x1000\n2 0x29\n1 0x1040\n")
    message = linebounce.refused("import", "core_0.data")
    assert "linebounce import core_0.data --as per-core" in message
    assert "linebounce import core_0.data --as dinero" in message
    message = linebounce.refused("trace", "convert", "core_0.data", "x.lbt")
    assert "linebounce trace convert core_0.data x.lbt --from per-core" in message
    said = imported(linebounce, "core_0.data", "0 0x1000\n2 0x29\n1 0x1040\n", "--as", "per-core")
    assert "core_0.lbt" in said
    ((_, operations),) = accesses(linebounce.directory / "core_0.lbt")
    assert ("compute", 0x29) in operations


def test_several_files_are_one_trace_with_a_cpu_each(linebounce: Program) -> None:
    linebounce.file("core_2.data", "0 1000\n")
    linebounce.file("core_5.data", "1 1000\n2 ff\n")
    result = linebounce("import", "core_2.data", "core_5.data", "--as", "per-core", "-o", "two.lbt")
    assert result.code == 0, result.stderr
    assert "core_2.data of CPU 2, core_5.data of CPU 5" in result.stdout
    assert [stream for stream, _ in accesses(linebounce.directory / "two.lbt")] == ["cpu/2", "cpu/5"]
    linebounce.file("pin.out", PIN)
    linebounce.file("course.txt", ORDERED)
    assert "only files of the same form can be joined" in linebounce.refused("import", "pin.out", "course.txt")


def test_an_unknown_text_is_refused_with_the_forms_that_were_tried(linebounce: Program) -> None:
    linebounce.file("notes.txt", "0 r 1f00\n1 w 1f00\nthen it crashed\n")
    message = linebounce.refused("import", "notes.txt")
    assert "Up to line 2 it could be ordered" in message
    assert 'but line 3 matches no known form: "then it crashed"' in message
    for form in ("perf-c2c", "lock_stat", "matrix", "pahole", "litmus"):
        assert re.search(rf"^  {form} ", message, re.MULTILINE)
    linebounce.file("zeros", b"\0" * 100)
    assert "It is not text" in linebounce.refused("import", "zeros")
    linebounce.file("empty", "")
    assert "It is empty" in linebounce.refused("import", "empty")
    assert "did you mean pinatrace" in linebounce.refused("import", "notes.txt", "--as", "pintrace")


def test_a_command_names_the_kind_of_an_unsuitable_file(linebounce: Program) -> None:
    linebounce.file("report.txt", C2C)
    message = linebounce.refused("trace", "convert", "report.txt", "x.lbt")
    assert "perf c2c report" in message
    assert "linebounce import report.txt" in message
    message = linebounce.refused("calibrate", "--from", "report.txt", "-o", "m.toml")
    assert "linebounce import report.txt" in message
    linebounce.file("x.lbt", "linebounce trace 1\nend\n")
    assert "linebounce trace info" in linebounce.refused("import", "x.lbt")


def test_run_and_check_name_the_command_for_another_tools_file(linebounce: Program) -> None:
    linebounce.file("SB.litmus", SB)
    assert "linebounce import SB.litmus" in linebounce.refused("run", "SB.litmus")
    assert "--murphi" in linebounce.refused("check", "model.m")


def matrix_text(separator: str, *, numbered: bool = False, upper: bool = False) -> str:
    rows = [[str(ns) if not upper or j > i else "" for j, ns in enumerate(row)] for i, row in enumerate(MATRIX)]
    if numbered:
        rows = [["CPU", *(str(i) for i in range(4))], *([str(i), *row] for i, row in enumerate(rows))]
    return "\n".join(separator.join(row) for row in rows) + "\n"


MCTOP = (
    "#box #HWCs 4 #Nodes 1 SMT 1\n"
    + "".join(f"{i}    {j}    {3 * MATRIX[i][j]}\n" for i in range(4) for j in range(4))
    + "#Mem_latencies 1\n0    0    290\n"
)


@pytest.mark.parametrize(
    "text",
    [
        matrix_text(","),
        matrix_text("\t"),
        matrix_text(";", upper=True),
        matrix_text(";", numbered=True).replace("40", "40,0"),
        matrix_text("  ", numbered=True),
        "0\n40 0\n90 91 0\n92 89 40 0\n",
        "> " + matrix_text(" ", numbered=True).strip().replace("\n", "\n> ") + "\n",
        MCTOP,
    ],
    ids=["commas", "tabs", "upper", "numbered", "c2clat", "triangle", "quoted", "mctop"],
)
def test_matrices_of_all_forms_give_one_machine(linebounce: Program, text: str) -> None:
    linebounce.file("m.txt", text)
    result = linebounce("import", "m.txt", "-o", "m.toml")
    assert result.code == 0, result.stderr
    assert (linebounce.directory / "m.toml").exists()
    shown = linebounce("describe", "machine", "m.toml", "--json")
    assert json.loads(shown.stdout)["cpus"] == 4
    assert ("3000 MHz is assumed" in result.stdout) == (text is MCTOP)


CPUS = json.dumps(
    {"cpus": [{"cpu": i, "node": i % 2, "socket": i % 2, "core": i, "l1d:l1i:l2:l3": f"{i}:{i}:{i}:{i % 2}"} for i in range(4)]}
)


def xml_package(number: int, cpus: list[int]) -> str:
    cores = "".join(f'<object type="Core" os_index="{i}"><object type="PU" os_index="{i}"/></object>' for i in cpus)
    node = f'<object type="NUMANode" os_index="{number}"/>'
    return f'<object type="Package" os_index="{number}">{node}<object type="L3Cache" depth="3">{cores}</object></object>'


TOPOLOGY = f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine" os_index="0">
{xml_package(0, [0, 2])}
{xml_package(1, [1, 3])}
</object></topology>
"""
# The matrix does not distinguish the four CPUs, so their nodes come from the other file.
FLAT = "0,60,61,60\n60,0,60,61\n61,60,0,60\n60,61,60,0\n"
MLC = """Intel(R) Memory Latency Checker - v3.9
Measuring idle latencies (in ns)...
\t\tNuma node
Numa node\t     0\t     1
       0\t  80.0\t 140.0
       1\t 141.0\t  80.5
Measuring cache-to-cache transfer latency (in ns)...
Local Socket L2->L2 HIT  latency\t42.0
Local Socket L2->L2 HITM latency\t47.0
Remote Socket L2->L2 HITM latency (data address homed in writer socket)
\t\t\tReader Numa Node
Writer Numa Node     0\t     1
            0\t     -\t 106.0
            1\t 106.5\t     -
Remote Socket L2->L2 HITM latency (data address homed in reader socket)
\t\t\tReader Numa Node
Writer Numa Node     0\t     1
            0\t     -\t 126.0
            1\t 126.5\t     -
"""


@pytest.mark.parametrize(
    ("structure", "latencies"),
    [
        (("cpus.json", CPUS), ("m.csv", FLAT)),
        (("topo.xml", TOPOLOGY), ("m.csv", FLAT)),
        (("topo.xml", TOPOLOGY), ("mlc.txt", MLC)),
    ],
    ids=["lscpu", "lstopo", "mlc"],
)
def test_a_machine_is_made_of_a_file_with_its_structure_and_one_with_its_latencies(
    linebounce: Program, structure: tuple[str, str], latencies: tuple[str, str]
) -> None:
    for name, text in (structure, latencies):
        linebounce.file(name, text)
    result = linebounce("import", structure[0], latencies[0], "-o", "mine.toml")
    assert result.code == 0, result.stderr
    text = (linebounce.directory / "mine.toml").read_text()
    assert re.search(r"^nodes = 2$", text, re.MULTILINE)
    assert re.search(r"^cpus = 4$", text, re.MULTILINE)
    is_of_mlc = latencies[0] == "mlc.txt"
    assert ("local memory, load to use" in result.stdout) == is_of_mlc
    assert ("differ by up to 19 %" in " ".join(result.stdout.split())) == is_of_mlc
    # CPUs 0 and 2 share a node, in the operating system's numbering.
    run = linebounce("run", "core_to_core", "--machine", "mine.toml", "-o", "matrix", "--set", "workload.access=atomic")
    assert run.code == 0, run.stderr


def test_structure_alone_is_not_a_machine_and_the_message_says_what_is_missing(linebounce: Program) -> None:
    linebounce.file("cpus.json", CPUS)
    assert "core-to-core-latency" in linebounce.refused("import", "cpus.json", "-o", "mine.toml")
    linebounce.file("mlc.txt", MLC)
    assert "lscpu -J -e" in linebounce.refused("import", "mlc.txt", "-o", "mine.toml")
    linebounce.file("idle.txt", MLC[MLC.index("Measuring idle") : MLC.index("Measuring cache")])
    assert "mlc --c2c_latency" in linebounce.refused("import", "idle.txt", "-o", "mine.toml")
    linebounce.file("m.csv", "0,5,6\n5,0,7\n6,7,0\n")
    assert "has 4 CPUs, and the matrix 3" in linebounce.refused("import", "cpus.json", "m.csv", "-o", "mine.toml")


def test_a_report_of_perf_c2c_is_shown_in_its_own_order(linebounce: Program) -> None:
    said = imported(linebounce, "report.txt", C2C)
    assert "reconstruction" in said
    result = linebounce("lines")
    assert result.code == 0, result.stderr
    shown = re.findall(r"^ *\d+ (0x[0-9a-f]+) +\d+ ", result.stdout, re.MULTILINE)
    assert shown == ["0x7f10c0a80040", "0xffff888101230000"]
    lines = json.loads(linebounce("lines", "out/report", "--json").stdout)["lines"]
    assert [line["local_hitm"] for line in lines] == [300, 400]
    assert [line["remote_hitm"] for line in lines] == [100, 10]
    first = {(row["offset"], row["access"], row["function"]): row for row in lines[0]["rows"]}
    assert {offset for offset, _, _ in first} == {8, 32}
    assert first[8, "load", "reader"]["local_hitm"] == 180
    assert first[8, "load", "reader"]["cpus"] == "0-3"
    assert first[32, "store", "writer"]["samples"] == 250
    assert first[32, "store", "writer"]["latency_ns_mean"] is None, "perf times loads only"
    # At 3,000 MHz. Of 100 remote HITM 75 took 600 cycles and 25 took 640; of 300 local ones 180 took 300 and 120 took 320.
    assert "A load takes 128 ns." in result.stdout
    assert {line["queueing_ns"] for line in lines} == {None}, "perf does not say what a miss waited for"
    assert "queueing," not in result.stdout
    rows = read_csv(linebounce.directory / "out" / "report" / "lines.csv")
    assert {value for row in rows for column, value in row.items() if "queueing" in column or "travel" in column} == {""}
    assert linebounce("tables", "out/report").stdout == f"lines: {len(rows)} rows\n"
    assert linebounce("tables", "out/report", "lines", "-o", "lines.parquet").code == 0
    assert (linebounce.directory / "lines.parquet").read_bytes().startswith(b"PAR1")
    assert "has no table locks" in linebounce.refused("tables", "out/report", "locks")
    # Pasted without titles and quoted in an e-mail.
    body = C2C[C2C.index("  -----") :]
    imported(linebounce, "mail.txt", "> " + body.replace("\n", "\n> "))
    again = json.loads(linebounce("lines", "out/mail", "--json").stdout)["lines"]
    assert [line["rows"] for line in again] == [line["rows"] for line in lines]


def test_the_reconstruction_of_a_report_has_its_shares_of_hitm(linebounce: Program) -> None:
    imported(linebounce, "report.txt", C2C)
    trace = "out/report/report.reconstruction.lbt"
    replayed = linebounce("trace", "replay", trace, "--machine", "generic_2socket_32core", "-o", "replay")
    assert replayed.code == 0, replayed.stderr
    assert "a reconstruction" in (linebounce.directory / "replay" / "config.toml").read_text()
    lines = json.loads(linebounce("lines", "replay", "--json").stdout)["lines"]
    line = next(one for one in lines if one["object"].startswith("line_0_"))
    hitm = {row["offset"]: row["local_hitm"] + row["remote_hitm"] for row in line["rows"] if row["access"] == "load"}
    # 400 in total: 75 + 180 of them at offset 8, 25 + 120 at offset 32.
    assert 100 * hitm[8] / (hitm[8] + hitm[32]) == pytest.approx(63.75, abs=5)


C2C_STATS = """=================================================
            Trace Event Information
=================================================
  Total records                     :       9000
  Load Operations                   :       4000
  Load L1D hit                      :       3000
  Load Local HITM                   :        150
  Load Remote HITM                  :         50
  Load LLC Misses                   :         80
  LLC Misses to Local DRAM          :       25.0%
  Store Operations                  :       5000
  Store L1D Hit                     :       4500

=================================================
    Global Shared Cache Line Event Information
=================================================
  Total Shared Cache Lines          :         12
  LLC hits on shared lines          :        150
"""


def test_the_statistics_of_perf_c2c_are_a_table_that_says_what_it_lacks(linebounce: Program) -> None:
    said = imported(linebounce, "stats.txt", C2C_STATS)
    assert "Of 4000 sampled loads, 200 found their line modified" in said
    assert re.search(r"Load Local HITM +150 +3.75 %", said)
    assert re.search(r"Store L1D Hit +4500 +90 %", said)
    assert said.index("of lines with HITM") < said.index("Total Shared Cache Lines")
    assert "counts_alone" in said
    assert not (linebounce.directory / "out").exists()
    assert "counts alone" in linebounce.refused("import", "stats.txt", "-o", "x")
    # A whole report begins with these statistics.
    imported(linebounce, "report.txt", C2C_STATS + C2C)
    assert len(json.loads(linebounce("lines", "out/report", "--json").stdout)["lines"]) == 2


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


def test_bpftraces_maps_of_one_key_are_one_row(linebounce: Program) -> None:
    said = imported(linebounce, "b.txt", BPFTRACE)
    rows = {line.split()[0]: line for line in said.splitlines() if line.startswith(("  pipe", "  futex"))}
    assert "4711" not in said, "a thread that was still waiting"
    # 30 are of about 384 ns, and 10 of about 1,536 ns.
    assert re.search(r"pipe_write +40 +26\.9 us +672 ns +90.0 us", rows["pipe_write"].replace("µs", "us"))
    assert re.search(r"futex_wake +8 +16.0 us +2.00 us", rows["futex_wake"].replace("µs", "us"))
    assert "histograms" in said
    assert "holds_uncounted" in said
    assert "script_decides" in said
    assert "nanoseconds_assumed" not in said
    assert "no trace can be made" in linebounce.refused("import", "b.txt", "-o", "x.lbt")


def test_tables_are_printed_as_markdown(linebounce: Program) -> None:
    said = imported(linebounce, "b.txt", BPFTRACE.replace("pipe_write", "pipe|write"), "--format", "markdown")
    lines = said.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("| key "))
    assert lines[head - 1] == ""
    assert set(lines[head + 1]) == set("|-:")
    assert "| pipe\\|write | 40 |" in said
    assert len({line.count("|") - line.count("\\|") for line in lines[head : head + 4]}) == 1
    assert re.search(r"^\| doubt \| .* \| script_decides \|$", said, re.MULTILINE)


def test_bpftraces_stacks_are_named_by_who_took_the_lock(linebounce: Program) -> None:
    stack = "@[\n    __mutex_lock.constprop.0+1240\n    mutex_lock+56\n    pipe_write+99\n    vfs_write+300\n]: 42\n"
    said = imported(linebounce, "s.txt", stack + "@lat[\n    mutex_lock+56\n    ep_poll+10\n, worker]: 7000\n")
    assert re.search(r"pipe_write\+99 +42\n", said)
    assert re.search(r"ep_poll\+10 +7.00 ", said)
    assert "stacks_shortened" in said
    assert "nanoseconds_assumed" in said
    linebounce.file("torn.txt", "@wait_ns[a]:\n[256, 5x2)   3 |@@|\n")
    assert "torn.txt: line 2: expected an interval" in linebounce.refused("import", "torn.txt", code=3)


def x86_litmus(first: str, second: str, condition: str = "exists (0:EAX=0 /\\ 1:EAX=0)") -> str:
    """Returns a test with two threads' instructions, separated by semicolons."""
    columns = [first.split("; "), second.split("; ")]
    rows = max(len(column) for column in columns)
    text = "".join(" " + " | ".join((column + [""] * rows)[row] for column in columns) + " ;\n" for row in range(rows))
    return f"X86 test\n{{ x=0; y=0; }}\n P0 | P1 ;\n{text}{condition}\n"


STORE_BUFFERING = ("MOV [x],$1; MOV EAX,[y]", "MOV [y],$1; MOV EAX,[x]")


def test_a_litmus_test_runs_under_its_model(linebounce: Program) -> None:
    said = imported(linebounce, "SB.litmus", x86_litmus(*STORE_BUFFERING))
    assert "allowed by x86-TSO, and seen" in said
    assert "seen 0 times" in said
    fenced = [thread.replace("; ", "; MFENCE; ") for thread in STORE_BUFFERING]
    assert "forbidden by x86-TSO, and never seen" in imported(linebounce, "both.litmus", x86_litmus(*fenced))
    assert linebounce("run", "both.toml", "-o", "again").code == 0


def test_other_architectures_litmus_tests_are_judged_by_their_models(linebounce: Program) -> None:
    message_passing = """AArch64 MP+popl+poap
{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }
 P0           | P1           ;
 MOV W0,#1    | LDAR W0,[X1] ;
 STR W0,[X1]  | LDR W2,[X3]  ;
 MOV W2,#1    |              ;
 STLR W2,[X3] |              ;
exists (1:X0=1 /\\ 1:X2=0)
"""
    said = imported(linebounce, "MP.litmus", message_passing)
    assert "forbidden by the Arm architecture's model for AArch64" in said
    plain = message_passing.replace("STLR", "STR ").replace("LDAR", "LDR ")
    assert "allowed by the Arm" in imported(linebounce, "plain.litmus", plain)
    barriers = plain.replace(" MOV W2,#1    |              ;", " DMB ISHST    |              ;\n MOV W2,#1    |              ;")
    barriers = barriers.replace("| LDR  W0,[X1] ;", "| LDR W0,[X1]  ;").replace(
        " STR W0,[X1]  | LDR W2,[X3]  ;", " STR W0,[X1]  | DMB ISHLD    ;\n              | LDR W2,[X3]  ;"
    )
    said = imported(linebounce, "barriers.litmus", barriers)
    assert "forbidden by the Arm" in said
    assert "full fences stand for the barriers" in said
    kernel = """C MP+once
{}
P0(int *x, int *y)
{
  WRITE_ONCE(*x, 1);
  WRITE_ONCE(*y, 1);
}
P1(int *x, int *y)
{
  int r0;
  int r1;
  r0 = READ_ONCE(*y);
  r1 = READ_ONCE(*x);
}
exists (1:r0=1 /\\ 1:r1=0)
"""
    assert "allowed by the Linux kernel's model" in imported(linebounce, "C.litmus", kernel)


LISA = """LISA MP
{ }
 P0             | P1              ;
 w[once] x 1    | r[acquire] r1 y ;
 w[release] y 1 | r[once] r2 x    ;
exists (1:r1=1 /\\ 1:r2=0)
"""


def test_lisa_and_the_kernels_barriers_are_translated(linebounce: Program) -> None:
    assert "forbidden by the Linux kernel's model" in imported(linebounce, "MP.litmus", LISA)
    weak = LISA.replace("[acquire]", "[once]").replace("[release]", "[once]")
    assert "allowed by the Linux kernel's model" in imported(linebounce, "weak.litmus", weak)
    fenced = weak.replace(" w[once] y", " f[wmb] | f[rmb] ;\n w[once] y")
    said = imported(linebounce, "fenced.litmus", fenced)
    assert "forbidden by the Linux kernel's model" in said
    assert "full fences stand for the barriers" in said
    kernel = """C SB
{}
P0(int *x, int *y) { int r0; smp_store_mb(*x, 1); r0 = READ_ONCE(*y); }
P1(int *x, int *y) { int r0; WRITE_ONCE(*y, 1); smp_mb(); r0 = atomic_read(x); }
exists (0:r0=0 /\\ 1:r0=0)
"""
    assert "forbidden by the Linux kernel's model" in imported(linebounce, "SB.litmus", kernel)
    linebounce.file("branch.litmus", LISA.replace("r[once] r2 x    ", "rmw[] r2 x      "))
    assert "line 5: has no counterpart here: known are r[]" in linebounce.refused("import", "branch.litmus", code=3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("MFENCE     ", "CLFLUSH [x]"), "line 6: CLFLUSH has no counterpart here"),
        (("x=0;", "int x[2]={0,1};"), "line 3: arrays and structures have no counterpart here"),
        (("1:EAX=0)", "1:EAX)"), 'expected "=" before'),
        (("1:EAX", "7:EAX"), "there is no thread P7"),
        (("exists (0:EAX=0 /\\ 1:EAX=0)", "exists (0:EAX=0 & 1:EAX=0)"), 'expected ")" before'),
    ],
)
def test_a_litmus_test_with_unsupported_parts_is_refused(linebounce: Program, change: tuple[str, str], said: str) -> None:
    linebounce.file("t.litmus", SB.replace(*change))
    assert said in linebounce.refused("import", "t.litmus", code=3)


def test_a_listing_has_the_line_size_that_it_speaks_of(linebounce: Program) -> None:
    listing = """struct job {
\tlong unsigned int          id;                   /*     0     8 */
\tchar                       name[56];             /*     8    56 */
\t/* --- cacheline 1 boundary (64 bytes) --- */
\tint                        state;                /*    64     4 */

\t/* size: 72, cachelines: 2, members: 3 */
\t/* padding: 4 */
\t/* last cacheline: 8 bytes */
};
"""
    linebounce.file("job.pahole", listing)
    assert json.loads(linebounce("describe", "layout", "job.pahole", "--json").stdout)["line_bytes"] == 64
    old = """struct job {
        long                       id;                   /*     0     8 */
        char                       name[56];             /*     8    56 */
        int                        state;                /*    64     4 */
}; /* size: 72, cachelines: 2 */
   /* last cacheline: 8 bytes */
"""
    linebounce.file("old.txt", old)
    assert json.loads(linebounce("describe", "layout", "old.txt", "--json").stdout)["line_bytes"] == 64
    said = imported(linebounce, "old.txt", old, "-o", "job.toml")
    assert "lines of 64 bytes" in said
    described = json.loads(linebounce("describe", "layout", "job.toml", "--json").stdout)
    assert [field["name"] for field in described["structures"][0]["sections"][0]["lines"][0]["fields"]] == ["id", "name"]


BTF = """[1] INT 'unsigned long' size=8 bits_offset=0 nr_bits=64 encoding=(none)
[2] STRUCT 'list_head' size=16 vlen=2
\t'next' type_id=3 bits_offset=0
\t'prev' type_id=3 bits_offset=64
[3] PTR '(anon)' type_id=2
[4] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
[5] ARRAY '(anon)' type_id=4 index_type_id=1 nr_elems=40
[6] INT 'unsigned int' size=4 bits_offset=0 nr_bits=32 encoding=(none)
[7] TYPEDEF 'u32' type_id=6
[8] UNION '(anon)' size=8 vlen=2
\t'whole' type_id=1 bits_offset=0
\t'parts' type_id=9 bits_offset=0
[9] STRUCT '(anon)' size=8 vlen=2
\t'low' type_id=7 bits_offset=0
\t'high' type_id=7 bits_offset=32
[10] STRUCT 'job' size=72 vlen=5
\t'queue' type_id=2 bits_offset=0
\t'name' type_id=5 bits_offset=128
\t'(anon)' type_id=8 bits_offset=448
\t'ready' type_id=7 bits_offset=512 bitfield_size=1
\t'late' type_id=7 bits_offset=513 bitfield_size=2
"""


def test_a_kernels_types_are_a_layout(linebounce: Program) -> None:
    said = imported(linebounce, "btf.txt", BTF, "--structure", "job", "-o", "job.toml")
    assert "lines of 64 bytes" in said
    (job,) = json.loads(linebounce("describe", "layout", "job.toml", "--json").stdout)["structures"]
    assert job["name"] == "job"
    lines = job["sections"][0]["lines"]
    assert [field["name"] for line in lines for field in line["fields"]] == [
        "queue.next", "queue.prev", "name", "whole|parts", "ready|late",
    ]  # fmt: skip
    assert "did you mean job" in linebounce.refused("import", "btf.txt", "--structure", "jobs", "-o", "x.toml")
    linebounce.file("torn.txt", BTF.replace("bits_offset=448", "bits_offset=x"))
    assert "torn.txt:19" in linebounce.refused("import", "torn.txt")
