"""Forms of other tools' versions and options, three or more of each kind: facts of public documentation, figures of our own.

Each is imported, or refused with a sentence that says what is missing and which command has it. Those of machines are in
test_import_machine_forms.py.
"""

import json
import re
import textwrap

import pytest
from linebounce.trace import Trace
from program import Program


def imported(linebounce: Program, name: str, text: str, *options: str) -> str:
    linebounce.file(name, text)
    result = linebounce("import", name, *options)
    assert result.code == 0, result.stderr
    return result.stdout


# ---- perf c2c ----

RULE = "  -------------------------------------------------------------\n"
PARETO = "=================\n      Shared Cache Line Distribution Pareto\n=================\n#\n"
N_A = "#   Num  RmtHitm  LclHitm   L1 Hit  L1 Miss      N/A              Offset  Node  PA        "


def c2c(titles: str, counts: str, *rows: str) -> str:
    return PARETO + titles + "\n# .....  .......\n#\n" + RULE + counts + "\n" + RULE + "".join(row + "\n" for row in rows)


# Linux 4.10: each row has a process, and neither a node nor records.
FIRST = c2c(
    "#   Num      Rmt      Lcl   L1 Hit  L1 Miss   Offset      Pid        Code address  rmt hitm  lcl hitm  load  cpus  Symbol",
    "      0       20       80       50        0            0x602180",
    "   50.00%   60.00%    0.00%    0.00%   0x0   4711   0x400b4f  900  300  250  3  [.] reader  a.so  a.c:1   0{0-1} 1{24}",
    "   50.00%   40.00%  100.00%    0.00%   0x8   4711   0x400b99   900   300   250   2  [.] writer  prog  a.c:15   0{2,4}",
)
# -N: beside each node how many CPUs, which share of HITM and of stores.
NODE_COUNTS = c2c(
    N_A + "Code address  rmt hitm  lcl hitm  load  records  cpus  Symbol  Object  Source:Line  Node{cpus %hitms %stores}",
    "      0       20       80       50        0        0      0x602180",
    "   50.00%   60.00%    0.00%    0.00%    0.00%   0x0   0   1   0x400b4f   900   300   250  70   3  [.] reader  prog  a.c:1"
    "   0{ 2  60.0%   n/a}  1{ 1  40.0%    n/a}",
    "   50.00%   40.00%  100.00%    0.00%    0.00%   0x8   0   1   0x400b99   900   300   250  50   2  [.] writer  prog  a.c:2"
    "   0{ 2 100.0% 100.0%}",
)
# -g, as a graph, flat and folded.
CHAINS = NODE_COUNTS.replace(
    "  1{ 1  40.0%    n/a}\n",
    "\n            |\n            ---main\n               |\n               |--60.00%--work\n                --40.00%--go\n\n"
    "            60.00%\n                main\n                worker\n 40.00% main;start\n\n",
)
# Broken at 72 columns by a mail program, which quotes it as well.
BROKEN = "".join(f"> {line}\n" for row in NODE_COUNTS.splitlines() for line in textwrap.wrap(row, 72) or [""])
# -c pid,tid: no code.
THREADS = c2c(
    N_A + "Pid   Tid  rmt hitm  lcl hitm  load  records  cpus  Node",
    "      0       20       80       50        0        0      0x602180",
    "   50.00%   60.00%    0.00%    0.00%    0.00%   0x0   0   1   4711   4712:a prog   900   300   250   70   3   0{0-1}",
    "   50.00%   40.00%  100.00%    0.00%    0.00%   0x8   0   1   4711   4713:a prog   900   300   250   50   2   0{2,4}",
)


@pytest.mark.parametrize(
    ("text", "names", "cpus"),
    [
        (FIRST, {"reader", "writer"}, {"0-1,24", "2,4"}),
        (NODE_COUNTS, {"reader", "writer"}, {""}),
        (CHAINS, {"reader", "writer"}, {""}),
        (BROKEN, {"reader", "writer"}, {""}),
        (THREADS, {""}, {"0-1", "2,4"}),
    ],
    ids=["4.10", "nodes", "chains", "broken", "threads"],
)
def test_columns_of_other_kernels_and_options_of_perf_c2c(
    linebounce: Program, text: str, names: set[str], cpus: set[str]
) -> None:
    imported(linebounce, "report.txt", text)
    (line,) = json.loads(linebounce("lines", "out/report", "--json").stdout)["lines"]
    assert {row["function"] for row in line["rows"]} == names
    assert {row["cpus"] for row in line["rows"]} == cpus
    assert (", CPUs" in linebounce("lines", "out/report").stdout) == (cpus != {""}), "none are listed without -NN"
    loads = {row["offset"]: row for row in line["rows"] if row["access"] == "load"}
    assert {offset: (row["local_hitm"], row["remote_hitm"]) for offset, row in loads.items()} == {0: (48, 10), 8: (32, 10)}
    # 48 at 300 cycles of 3,000 MHz, and 10 at 900.
    assert loads[0]["latency_ns_mean"] == pytest.approx((48 * 100 + 10 * 300) / 58, rel=0.01)


# ---- samples of memory ----

DUMP = """# PID, TID, IP, ADDR, LOCAL WEIGHT, DSRC, SYMBOL
 4711  4712 0x0000000000401000 0x0167ffd0010   225 0x26a100142 /usr/bin/prog:reader
 4711  4713 0x0000000000401010 0x0167ffd0018     0 0x005080144 /usr/bin/prog:writer(int, long)
 4711  4713 0x0000000000401020 0x0167ffd0018    90 0x68100142 /usr/bin/prog:???
"""
DUMP_PAGES = """# PID, TID, IP, ADDR, PHYS ADDR, DATA PAGE SIZE, LOCAL WEIGHT, DSRC, SYMBOL
4711,4712,0x401000,0x7ffd0010,0x123010,4K,225,0x26a100142,/usr/bin/prog:reader
4711,4713,0x401010,0x7ffd0018,0x123018,4K,0,0x5080144,/usr/bin/prog:writer
4711,4713,0x401020,0x7ffd0018,0x123018,4K,90,0x68100142,/usr/bin/prog:???
"""
SPE = """ prog 4711/4712 [012] 98.000100:  1 l1d-access: 7ffd0010 100 401000 reader+0x10 (/tmp/prog)
 prog 4711/4712 [012] 98.000100:  1 memory: 7ffd0010 100 401000 reader+0x10 (/tmp/prog)
 prog 4711/4713 [013] 98.000300:  1 memory: 7ffd0018 10468100022 |OP STORE|LVL L1 hit|SNP None 401010 writer+0x10 (/tmp/prog)
 prog 4711/4713 [013] 98.000400:  1 memory: 7ffd0018 10468100022 |OP LOAD|LVL L1 hit|SNP None 401020 [unknown] (/tmp/prog)
"""


@pytest.mark.parametrize(
    ("text", "first"), [(DUMP, "FETCH_ADD"), (DUMP_PAGES, "FETCH_ADD"), (SPE, "LOAD")], ids=["dump", "pages", "spe"]
)
def test_samples_that_perf_mem_dumps_are_those_of_perf_script(linebounce: Program, text: str, first: str) -> None:
    said = imported(linebounce, "samples.txt", text)
    assert "samples.lbt  of samples.txt: perf-script" in said
    with Trace(linebounce.directory / "samples.lbt") as trace:
        kinds = [
            [one.kind.name for one in trace.operations(number) if one.kind.name not in ("ENTER", "LEAVE")]
            for number in range(2)
        ]
        names = {function.name for function in trace.symbols.functions}
        assert {one.address for one in trace.symbols.objects} == {0x7FFD0000}
    assert kinds == [[first], ["STORE", "LOAD"]]
    assert {name.partition("(")[0] for name in names} == {"reader", "writer"}


MEM_REPORT = """# Samples: 5K of event 'cpu/mem-loads,ldlat=30/P'
# Overhead  Samples  Local Weight  Memory access            Symbol           Shared Object  Data Symbol          Data Object
     6.51%        1  1830          L3 or Remote Cache hit   [k] ring_lookup  [kernel]       [.] counters+0x40    prog
"""
BTF_IN_C = """#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)
#endif
struct job {
\tlong unsigned int id;
};
"""
BROWSER = (
    "Cacheline 0x7f10c0\n  RmtHitm  LclHitm  Off  Code address  rmt hitm  lcl hitm  load\n"
    "   0.00%  50.10%  0x8  0x401136  0 105 82\n"
)
CPUINFO = "processor\t: 0\nphysical id\t: 0\ncore id\t\t: 0\n"
HERD = "Test SB Allowed\nStates 1\n0:EAX=0; 1:EAX=0;\nOk\nWitnesses\nPositive: 1 Negative: 0\nObservation SB Always 1 0\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MEM_REPORT, "perf mem report -D"),
        (BTF_IN_C, "format raw"),
        (HERD, "this is what herd prints"),
        (BROWSER, "perf c2c report --stdio"),
        (CPUINFO, "lscpu -J -e"),
        (" Thread ID   comm\n\n   123  sched-pipe\n", "perf lock contention"),
        ("Package:2 L3Cache:1 Core:4 PU:2\n", "--of xml"),
        ("NAME ONE-SIZE ALL-SIZE WAYS TYPE\nL2 1M 4M 8 Unified\n", "lscpu -J -e"),
        ("type = Type counter\n    integer(kind=8) :: hits\nEnd Type counter\n", "--structure NAME"),
        ("type = record\n    hits: long_integer;\n    ready: boolean;\nend record\n", "--structure NAME"),
    ],
    ids=["mem", "btf", "herd", "browser", "cpuinfo", "lock info", "synthetic", "lscpu -C", "ptype Fortran", "ptype Ada"],
)
def test_what_lacks_what_its_kind_needs_is_refused_with_the_command_that_has_it(
    linebounce: Program, text: str, said: str
) -> None:
    linebounce.file("text.txt", text)
    message = linebounce.refused("import", "text.txt")
    assert said in message
    assert "Known forms" not in message


def test_members_to_which_btf_gives_no_type_are_not_explained(linebounce: Program) -> None:
    types = "[1] STRUCT 'queue' size=32 vlen=4\n\t'count' type_id=0 bits_offset=0\n\t'tail' type_id=2 bits_offset=64\n"
    types += "\t'head' type_id=0 bits_offset=128\n\t'kind' type_id=3 bits_offset=192\n"
    types += "[2] INT 'long int' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED\n"
    types += "[3] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n"
    linebounce.file("atomic.btf.txt", types)
    result = linebounce("import", "atomic.btf.txt", "--structure", "queue", "-o", "queue.toml")
    assert result.code == 0, result.stderr
    assert "Not explained: bytes 0 to 7 and 16 to 23 of queue" in result.stdout


# ---- statistics of locks ----

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
    # What grep leaves of /proc/lock_stat.
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


# ---- traces ----

TRACES = {
    # Pin's SimpleExamples/pinatrace: sizes, and values of up to 64 bytes.
    "pinatrace": (
        "#\n# Memory Access Trace Generated By Pin\n#\n0x7f40: R 0x00007ffe00100000  8  0x1234\n"
        "0x7f44: W 0x00007ffe00100008  4    0x99\n0x7f48: R 0x00007ffe00100040  8  0x00000000000000010000000000000002\n#eof\n",
        "RWR",
    ),
    # --trace-superblocks=yes, --time-stamp=yes.
    "lackey": (
        "==00:00:00:00.012 4711== Lackey, an example Valgrind tool\nSB 04001090\nI  04001090,3\n S 1ffefffe28,8\nSB 04001d80\n"
        "I  04001d80,1\n L 1ffefffe20,8\n==00:00:00:01.100 4711== Counted 0 calls to main()\n",
        "WR",
    ),
    # Dinero IV's extended format.
    "read-write": ("r 1000 4\nw 1004 4\ni 400000 4\nm 0 4\nr 1040 8\n", "RWR"),
    "read-write (ramulator)": ("0x1f00 R\n0x1f40 W\n0x2f00 R\n", "RWR"),
    "read-write (words)": ("load 0x1f00\nstore 0x1f04\n", "RW"),
    # The exercises in Hennessy and Patterson's textbook.
    "ordered": ("P0: read 120\nP0: write 120 <-- 80\n", "RW"),
    "ordered (titles)": ("cpu,op,address\n0,R,0x1f00\n0,W,0x1f00\n", "RW"),
    "ordered (threads)": ("T0 R 0x1f00\nT0 W 0x1f00\n", "RW"),
}


@pytest.mark.parametrize("form", TRACES)
def test_other_forms_of_traces_have_the_same_accesses(linebounce: Program, form: str) -> None:
    text, accesses = TRACES[form]
    said = imported(linebounce, "in.txt", text, "-o", "t.lbt")
    assert f"t.lbt  of in.txt: {form.partition(' ')[0]}" in said
    with Trace(linebounce.directory / "t.lbt") as trace:
        kinds = [one.kind.name for number in range(len(trace.symbols.streams)) for one in trace.operations(number)]
    assert "".join({"LOAD": "R", "STORE": "W"}.get(kind, "") for kind in kinds) == accesses


# ---- litmus tests ----

LITMUS = {
    # What diy7 writes around a test, and which final values to print.
    "diy": (
        'X86 SB\n"Fre PodWR Fre PodWR"\nPrefetch=0:x=F,0:y=T\nCom=Fr Fr\nOrig=PodWR Fre PodWR Fre\n{\n}\n'
        " P0          | P1          ;\n MOV [x],$1  | MOV [y],$1  ;\n MOV EAX,[y] | MOV EAX,[x] ;\nlocations [x; y; 0:EAX;]\n"
        "exists (0:EAX=0 /\\ 1:EAX=0)\n",
        "allowed by x86-TSO",
    ),
    # Comments of both kinds, in front of the head, behind it and among the statements.
    "comments": (
        "(* Store\n buffering *)\nC SB (* with volatile *)\n{}\n"
        + "".join(
            f"P{i}(volatile int *x, volatile int *y)\n{{\n  /* first\n     the store */\n  *{a} = 1; // {i}\n"
            f"  int r0 = *{b};\n}}\n"
            for i, (a, b) in enumerate((("x", "y"), ("y", "x")))
        )
        + "exists (0:r0=0 /\\ 1:r0=0)\n",
        "a data race: the Linux kernel's model promises nothing",
    ),
    # AT&T's syntax, types of variables, and ~exists.
    "X86_64": (
        "X86_64 MP\n{\nint64_t x; int64_t y;\n}\n P0          | P1            ;\n movq $1,(x) | movq (y),%rax ;\n"
        " movq $1,(y) | movq (x),%rbx ;\n~exists (1:rax=1 /\\ 1:rbx=0)\n",
        "forbidden by x86-TSO",
    ),
    # Offsets of 0, as compilers print them.
    "AArch64": (
        "AArch64 MP\n{\n0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x;\n}\n P0             | P1             ;\n"
        " MOV X0,#1      | LDR X0,[X1,#0] ;\n STR X0,[X1,#0] | LDR X2,[X3,#0] ;\n STR X0,[X3,#0] |                ;\n"
        "exists (1:X0=1 /\\ 1:X2=0)\n",
        "allowed by the Arm architecture's model for AArch64, and seen in",
    ),
    "C11": (
        "C SB\n{ [x] = 0; [y] = 0; }\n"
        + "".join(
            f"P{i} (atomic_int* x, atomic_int* y) {{\n  atomic_store_explicit({a}, 1, memory_order_relaxed);\n"
            f"  atomic_thread_fence(memory_order_seq_cst);\n  int r0 = atomic_load_explicit({b}, memory_order_relaxed);\n}}\n"
            for i, (a, b) in enumerate((("x", "y"), ("y", "x")))
        )
        + "exists (0:r0=0 /\\ 1:r0=0)\n",
        "no memory model of C11. Never seen in 2000 rounds",
    ),
}


@pytest.mark.parametrize("form", LITMUS)
def test_litmus_tests_as_other_tools_write_them(linebounce: Program, form: str) -> None:
    text, verdict = LITMUS[form]
    assert verdict in imported(linebounce, "t.litmus", text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LITMUS["diy"][0].replace("X86", "PPC"), "PPC has no memory model here: expected one of X86, X86_64, AArch64"),
        (LITMUS["diy"][0].partition("locations")[0], "expected the condition, exists (...)"),
        (LITMUS["AArch64"][0].replace("LDR X2,[X3,#0]", "CBNZ X0,LC00  "), "there is no label LC00"),
        (LITMUS["AArch64"][0].replace("LDR X2,[X3,#0]", "LDR X2,[X3,#4]"), "[X3,#4]: a part of a variable, or an array"),
    ],
    ids=["power", "no condition", "branch", "offset"],
)
def test_litmus_tests_that_cannot_run_say_which_line_and_why(linebounce: Program, text: str, said: str) -> None:
    linebounce.file("t.litmus", text)
    assert said in linebounce.refused("import", "t.litmus", code=3)


# ---- layouts ----

LAYOUTS = {
    # pahole -E: inner structures in place.
    "expanded": """struct job {
\tstruct list_head {
\t\tstruct list_head * next;                 /*     0     8 */
\t\tstruct list_head * prev;                 /*     8     8 */
\t} queue; /*     0    16 */
\t/* typedef spinlock_t */ struct spinlock {
\t\tunion {
\t\t\tstruct raw_spinlock {
\t\t\t\tint counter;             /*    16     4 */
\t\t\t} rlock; /*    16     4 */
\t\t};                                               /*    16     4 */
\t} lock; /*    16     4 */

\t/* XXX 4 bytes hole, try to pack */

\tlong                       count;                /*    24     8 */

\t/* size: 32, cachelines: 1, members: 3 */
\t/* last cacheline: 32 bytes */
};
""",
    # A class with a base and methods.
    "class": """class job : public Base {
public:

\t/* class Base                <ancestor>; */      /*     0    16 */

\tstruct atomic<long int>    lock;                 /*    16     8 */
\tstruct atomic<long int>    count;                /*    24     8 */
\tvoid job(class job *, int);

\t/* size: 32, cachelines: 1, members: 3 */
\t/* last cacheline: 32 bytes */
};
""",
    "hexadecimal": """struct job {
\tlong unsigned int          queue[2];             /*     0  0x10 */
\tint                        lock;                 /*  0x10   0x4 */

\t/* XXX 4 bytes hole, try to pack */

\tlong                       count;                /*  0x18   0x8 */

\t/* size: 32, cachelines: 1, members: 3 */
};
""",
    # gdb 12: ptype/ox.
    "gdb": """/* offset      |    size */  type = struct job {
/* 0x0000      |  0x0010 */    unsigned long queue[2];
/* 0x0010      |  0x0004 */    int lock;
/* XXX  4-byte hole      */
/* 0x0018      |  0x0008 */    long count;

                               /* total size (bytes):   32 */
                             }
""",
}


@pytest.mark.parametrize("form", LAYOUTS)
def test_other_forms_of_listings_are_the_same_layout(linebounce: Program, form: str) -> None:
    linebounce.file("listing.txt", LAYOUTS[form])
    shown = linebounce("describe", "layout", "listing.txt", "--line-bytes", "64", "--json")
    assert shown.code == 0, shown.stderr
    (job,) = json.loads(shown.stdout)["structures"]
    (line,) = job["sections"][0]["lines"]
    places = {field["name"].partition(".")[0]: field["offset_bytes"] for field in line["fields"]}
    assert (job["name"], places["lock"], places["count"]) == ("job", 16, 24)
