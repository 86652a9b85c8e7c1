"""perf c2c's reports of all versions, as people retype them; perf mem's dumps."""

import json
import re
import textwrap

import pytest
from imported import imported
from linebounce.trace import Trace
from program import Program
from results import read_csv
from test_lua_layouts import LISTING

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


def test_peer_snoops_of_perf_c2c_count_as_hitm_and_that_is_said(linebounce: Program) -> None:
    titles = (
        "  Shared Cache Line Distribution Pareto\n#   Num  RmtPeer  LclPeer  L1 Hit  L1 Miss  N/A  Offset  Node  PA"
        "  Code address  rmt peer  lcl peer  load  records  CPUs  Symbol  Object  Source:Line  Node\n"
    )
    rows = (
        "  -----------\n  0  10  800  1000  3  5  0xaaaac17d6000\n  -----------\n"
        "  100.00%  25.00%  0.00%  0.00%  0.00%  0x8  0  1  0xaaaac17c25ac  30  172  102  1204  4  [.] f  a.out  f.c:1  0{0}\n"
        "  0.00%  75.00%  100.00%  100.00%  100.00%  0x20  0  1  0xaaaac17c2608  0  42  102  904  4  [.] g  a.out f.c:6  0{2}\n"
    )
    # perf's own titles say so in the line above.
    own = titles.replace("RmtPeer  LclPeer", "Rmt  Lcl").replace("#   Num", "#        -- Peer Snoop --\n#   Num")
    for form in (titles, own):
        assert "peers_as_hitm" in imported(linebounce, "peer.txt", form + rows)
    (line,) = json.loads(linebounce("lines", "out/peer", "--json").stdout)["lines"]
    assert (line["local_hitm"], line["remote_hitm"]) == (800, 10)


COLUMNS_RULE = "-------  -------  ------  ------  ------  ------  ------------------------"

CHANGELOG = f"""Subject: [PATCH] queue: count per node

The count of waiting jobs is 30% of all misses.

1. perf c2c of the queue's line:
{COLUMNS_RULE}
 Rmt      Lcl     Store   Data    Load    Total    Symbol
Hitm%    Hitm%   L1 Hit%  offset  cycles  records
{COLUMNS_RULE}
 200       50       40    0xff14d52c4682d800
{COLUMNS_RULE}
30.00%   20.00%    0.00%  0x8     3489    415   job_find
10.00%    0.00%   25.00%  0x8     0       33    job_add
60.00%   80.00%    0.00%  0x28    2712    107   operator new[](unsigned long)
 0.00%    0.00%   75.00%  0x28    5992    33    job_take

2. the same for its lock:
{COLUMNS_RULE}
 10       20       30    0xff14d52c4682d840
{COLUMNS_RULE}
100.00%   100.00%   100.00%  0x0     99    60   lock_slow

Signed-off-by: Someone <someone@example.org>
"""


@pytest.mark.parametrize("quote", ["", "> "])
def test_perf_c2c_as_changelogs_shorten_it(linebounce: Program, quote: str) -> None:
    imported(linebounce, "mail.txt", "".join(f"{quote}{line}\n" for line in CHANGELOG.splitlines()))
    lines = json.loads(linebounce("lines", "out/mail", "--json").stdout)["lines"]
    assert [(line["remote_hitm"], line["local_hitm"]) for line in lines] == [(200, 50), (10, 20)]
    rows = {(row["offset"], row["access"], row["function"]): row for row in lines[0]["rows"]}
    assert rows[8, "load", "job_find"]["remote_hitm"] == 60
    assert rows[8, "load", "job_find"]["latency_ns_mean"] == pytest.approx(3489 / 3, rel=0.01)
    assert rows[40, "load", "operator new[](unsigned long)"]["local_hitm"] == 40
    assert rows[40, "store", "job_take"]["samples"] == 30
    assert {function for _, _, function in rows} == {"job_find", "job_add", "operator new[](unsigned long)", "job_take"}


def test_a_report_may_be_pasted_from_a_lines_row_on(linebounce: Program) -> None:
    row = C2C.index("      0      100      300")
    imported(linebounce, "paste.txt", C2C[row:])
    assert len(json.loads(linebounce("lines", "out/paste", "--json").stdout)["lines"]) == 2


def test_a_listing_beside_a_report_names_the_fields_at_its_offsets(linebounce: Program) -> None:
    linebounce.file("job.pahole", LISTING)
    linebounce.file("report.txt", C2C)
    assert "name the one that lies in the lines" in linebounce.refused("import", "report.txt", "--layout", "job.pahole")
    result = linebounce("import", "report.txt", "job.pahole", "--structure", "job")
    assert result.code == 0, result.stderr
    assert "structure_at_first_line" in result.stdout
    lines = json.loads(linebounce("lines", "out/report", "--json").stdout)["lines"]
    assert {row["offset"]: row["field"] for row in lines[0]["rows"]} == {8: "name", 32: "name"}
    assert {row["field"] for row in lines[1]["rows"]} == {""}, "another line is not of the structure"
    # The structure begins 24 bytes before the line: offset 8 is its byte 32, and offset 32 its byte 56.
    placed = linebounce("import", "report.txt", "--layout", "job.pahole", "--structure", "job", "--at", "0x7f10c0a80028")
    assert "structure_at_first_line" not in placed.stdout
    lines = json.loads(linebounce("lines", "out/report", "--json").stdout)["lines"]
    assert {row["offset"]: row["field"] for row in lines[0]["rows"]} == {8: "name", 32: "done"}
    elsewhere = linebounce.refused("import", "report.txt", "--layout", "job.pahole", "--structure", "job", "--at", "0x10")
    assert "none of the report's samples lies" in elsewhere
