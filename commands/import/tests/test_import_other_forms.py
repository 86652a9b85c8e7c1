"""Further forms of what `import` reads: other versions and options of the same tools, and other spellings of the same table."""

import csv
import json
import re
import subprocess

import pytest
from program import Program
from test_import_forms import BTF, C2C, accesses, imported
from test_lua_layouts import LISTING, PROGRAM

# ---- traces ----


@pytest.mark.parametrize(
    "text",
    [
        "0,r,0x1f00\n1,w,0x1f00\n",
        "core 0: LD 0x1f00\ncore 1: ST 0x1f00\n",
        "0 1f00 r\n1 1f00 w\n",
        "P0: READ 1f00\nP1: WRITE 1f00\n",
    ],
)
def test_an_ordered_trace_may_be_spelled_otherwise(linebounce: Program, text: str) -> None:
    said = imported(linebounce, "t.txt", text, "-o", "t.lbt")
    assert "t.lbt  of t.txt: ordered" in said, "not as Dinero's, whose lines also begin with 0 or 1"
    first, second = accesses(linebounce.directory / "t.lbt")
    assert (first[0], second[0]) == ("cpu/0", "cpu/1")
    assert [name for name, _ in first[1] if name in ("load", "store")] == ["load"]
    assert [name for name, _ in second[1] if name in ("load", "store")] == ["store"]


# ---- lock statistics ----

MAPS = """{"type": "attached_probes", "data": {"probes": 3}}
{"type": "printf", "data": "tracing @wait_ns\\n"}
{"type": "map", "data": {"@wait_ns": {"mutex_lock,cat": 1200, "down_read,dog": 400}}}
{"type": "map", "data": {"@n": {"mutex_lock,cat": 3, "down_read,dog": 2}}}
{"type": "hist", "data": {"@hold_us": {"mutex_lock,cat": [{"min": 0, "max": 2, "count": 3}, {"min": 2, "max": 4, "count": 1}]}}}
{"type": "stats", "data": {"@s_us": {"x": {"count": 4, "average": 5, "total": 20}}}}
{"type": "map", "data": {"@stack_ns": {"\\n    mutex_lock+5\\n    ep_poll+1\\n": 77}}}
"""


def test_bpftraces_json_gives_the_same_rows_as_its_text(linebounce: Program) -> None:
    imported(linebounce, "maps.json", MAPS, "-o", "maps.csv")
    with (linebounce.directory / "maps.csv").open() as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"mutex_lock,cat", "down_read,dog", "x", "ep_poll+1"}
    assert (rows["mutex_lock,cat"]["waits"], rows["mutex_lock,cat"]["wait_total_us"]) == ("3", "1.2")
    # Three holds of 1 us and one of 3 us, if each takes the middle of its interval.
    assert (rows["mutex_lock,cat"]["acquisitions"], rows["mutex_lock,cat"]["hold_total_us"]) == ("4", "6.0")
    assert (rows["x"]["waits"], rows["x"]["wait_total_us"]) == ("4", "20.0")
    imported(linebounce, "maps.json", MAPS, "-o", "rows.json")
    assert len(json.loads((linebounce.directory / "rows.json").read_text())) == 4
    assert "linebounce tables" in linebounce.refused("import", "maps.json", "-o", "maps.parquet")
    damaged = linebounce.file("damaged.json", MAPS.replace('"count": 4,', '"count": -4,'))
    assert "line 6" in linebounce.refused("import", damaged, code=3)


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


# ---- perf c2c ----


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


RULE = "-------  -------  ------  ------  ------  ------  ------------------------"
CHANGELOG = f"""Subject: [PATCH] queue: count per node

The count of waiting jobs is 30% of all misses.

1. perf c2c of the queue's line:
{RULE}
 Rmt      Lcl     Store   Data    Load    Total    Symbol
Hitm%    Hitm%   L1 Hit%  offset  cycles  records
{RULE}
 200       50       40    0xff14d52c4682d800
{RULE}
30.00%   20.00%    0.00%  0x8     3489    415   job_find
10.00%    0.00%   25.00%  0x8     0       33    job_add
60.00%   80.00%    0.00%  0x28    2712    107   operator new[](unsigned long)
 0.00%    0.00%   75.00%  0x28    5992    33    job_take

2. the same for its lock:
{RULE}
 10       20       30    0xff14d52c4682d840
{RULE}
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


# ---- machines ----

TABLE = [[0, 40, 90, 92], [40, 0, 91, 89], [90, 91, 0, 39], [92, 89, 39, 0]]
PINGPONG = """avg latency to communicate a modified line from one core to another
times are in ns

          1       2       3
 0:    40.0    90.0    92.0
 1:            91.0    89.0
 2:                    39.0

"""
PAIRS = [(a, b, TABLE[a][b]) for a in range(4) for b in range(a + 1, 4)]
MATRICES = {
    "pingpong of multichase": PINGPONG,
    "a list of pairs": "from,to,latency_ns\n" + "".join(f"{a},{b},{ns}\n" for a, b, ns in PAIRS),
    "Markdown": "| CPU | 0 | 1 | 2 | 3 |\n|---|---|---|---|---|\n"
    + "".join(f"| {i} | {' | '.join(map(str, row))} |\n" for i, row in enumerate(TABLE)),
    "upper triangle, last row cut": "\t0\t1\t2\t3\n0\t\t40\t90\t92\n1\t\t\t91\t89\n2\t\t\t\t39\n3\n",
    "lower triangle, rows cut": ",0,1,2,3\n0\n1,40\n2,90,91\n3,92,89,39\n",
    "labels with colons": "cpu: 0 1 2 3\n" + "".join(f"{i}: {' '.join(map(str, row))}\n" for i, row in enumerate(TABLE)),
}


@pytest.mark.parametrize("text", MATRICES.values(), ids=MATRICES.keys())
def test_other_spellings_of_a_matrix_are_the_same_machine(linebounce: Program, text: str) -> None:
    said = imported(linebounce, "m.txt", text, "-o", "mine.toml")
    assert "4 CPUs: 2 nodes, 2 buses" in said
    assert re.search(r"one bus +2 +39\.5", said), "the means of the pairs 0-1 and 2-3"


def test_a_list_with_a_pair_twice_is_not_a_matrix(linebounce: Program) -> None:
    linebounce.file("m.csv", "from,to,latency_ns\n0,1,40\n0,1,41\n1,2,5\n")
    linebounce.refused("import", "m.csv", "-o", "mine.toml")


EXTENDED = """CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE    MAXMHZ
  0    0      0    0 0:0:0:0          yes 3600.0000
  1    1      1    1 1:1:1:1          yes 3600.0000
  2    0      0    2 2:2:2:0          yes 3600.0000
  3    1      1    3 3:3:3:1          yes 3600.0000
  4    -      -    - :::               no         -
"""
SUMMARY = """Architecture:            x86_64
CPU(s):                  4
  On-line CPU(s) list:   0-3
Model name:              AMD EPYC 7763 64-Core Processor
  Thread(s) per core:    1
  Core(s) per socket:    2
NUMA:
  NUMA node(s):          2
  NUMA node0 CPU(s):     0,2
  NUMA node1 CPU(s):     1,3
"""
ACROSS = "0,90,40,91\n90,0,92,39\n40,92,0,90\n91,39,90,0\n"


@pytest.mark.parametrize("text", [EXTENDED, SUMMARY], ids=["lscpu -e", "lscpu"])
def test_lscpus_texts_say_the_structure_as_well(linebounce: Program, text: str) -> None:
    linebounce.file("cpus.txt", text)
    linebounce.file("m.csv", ACROSS)
    result = linebounce("import", "cpus.txt", "m.csv", "-o", "mine.toml")
    assert result.code == 0, result.stderr
    assert "4 CPUs: 2 nodes" in result.stdout
    machine = (linebounce.directory / "mine.toml").read_text()
    # Only the summary names the processor, from which the contention family follows.
    assert ('contention = "amd_zen"' in machine) == (text == SUMMARY)


@pytest.mark.parametrize("prompt", ["$ lscpu\n", "root@host:~# lscpu\n", "# lscpu\n ", "[me@node01 ~]$ lscpu -J -e\n"])
def test_lscpu_may_stand_behind_a_prompt(linebounce: Program, prompt: str) -> None:
    rows = [{"cpu": i, "node": i % 2, "socket": i % 2, "core": i, "l1d:l1i:l2:l3": f"{i}:{i}:{i}:{i % 2}"} for i in range(4)]
    text = f"{json.dumps({'cpus': rows})}\nroot@host:~# \n" if "-J" in prompt else SUMMARY
    linebounce.file("cpus.txt", prompt + text)
    linebounce.file("m.csv", ACROSS)
    result = linebounce("import", "cpus.txt", "m.csv", "-o", "mine.toml")
    assert result.code == 0, result.stderr
    assert "4 CPUs: 2 nodes" in result.stdout


def test_a_summary_shows_cores_of_two_threads_if_its_nodes_do(linebounce: Program) -> None:
    text = SUMMARY.replace("core:    1", "core:    2")
    linebounce.file("cpus.txt", text)
    linebounce.file("m.csv", "0,90,10,90\n90,0,90,10\n10,90,0,90\n90,10,90,0\n")
    result = linebounce("import", "cpus.txt", "m.csv", "-o", "mine.toml")
    assert result.code == 0, result.stderr
    assert "CPUs n and n + 2 are taken for one core's" in result.stdout
    assert re.search(r"one core +2 +10", result.stdout)
    # Here the nodes are blocks of CPUs, so that both ways to number threads are possible.
    linebounce.file("cpus.txt", text.replace("0,2", "0-1").replace("1,3", "2-3"))
    assert "does not say which CPUs share a core" in linebounce.refused("import", "cpus.txt", "m.csv", "-o", "b.toml", code=3)


def test_a_topology_with_other_numbers_than_the_matrix_is_refused(linebounce: Program) -> None:
    cores = [0, 0, 1, 1, 2, 2, 3, 3]  # of the matrix's CPUs
    latencies = [[0 if a == b else 10 if cores[a] == cores[b] else 100 for b in range(8)] for a in range(8)]
    linebounce.file("m.csv", "".join(f"{','.join(map(str, row))}\n" for row in latencies))
    linebounce.file("cpus.json", json.dumps({"cpus": [{"cpu": i, "node": 0, "socket": 0, "core": i % 4} for i in range(8)]}))
    message = linebounce.refused("import", "cpus.json", "m.csv", "-o", "mine.toml")
    assert "number the CPUs differently" in message
    assert "with the threads of a core one after the other" in message
    assert not (linebounce.directory / "mine.toml").exists()
    alone = linebounce("import", "m.csv", "-o", "mine.toml")  # as the message says
    assert alone.code == 0, alone.stderr


# ---- layouts ----

SOURCE = """
struct Node { Node* next; int key; union { long whole; int half; }; };
struct alignas(64) Job { long id; char name[40]; int refs; int state; long done; Node node; };
namespace first { struct Twin { long a; int b; }; }
namespace second { template <class T> struct Box { struct Twin { int a; T b; } twin; }; }
Job job;
first::Twin one;
second::Box<char> two;
int main() { return job.refs + job.node.key + one.b + two.twin.b; }
"""


def test_a_structure_of_a_binarys_debug_information_is_a_layout_for_programs(linebounce: Program) -> None:
    linebounce.file("job.cpp", SOURCE)
    subprocess.run(["g++", "-g", "-O1", "job.cpp", "-o", "job"], cwd=linebounce.directory, check=True)
    result = linebounce("import", "job", "--structure", "Job", "-o", "job.toml")
    assert result.code == 0, result.stderr
    fields = re.findall(
        r'name = "([^"]+)"\noffset_bytes = (\d+)\nsize_bytes = (\d+)', (linebounce.directory / "job.toml").read_text()
    )
    expected = [("id", 0, 8), ("name", 8, 40), ("refs", 48, 4), ("state", 52, 4), ("done", 56, 8)]
    node = [("node.next", 64, 8), ("node.key", 72, 4), ("node+12", 76, 4), ("node.whole|node.half", 80, 8)]
    assert [(name, int(offset), int(size)) for name, offset, size in fields] == expected + node
    program = PROGRAM.replace('default = "job.pahole"', 'default = "job.toml"').replace('layout "job"', 'layout "Job"')
    linebounce.run(linebounce.file("count.lua", program), "out", "--machine", "generic_2socket_32core")
    assert "it has Job" in linebounce.refused("import", "job", "--structure", "Jo", code=3)
    message = linebounce.refused("import", "job", "--structure", "Twin", code=3)
    assert "has several structures Twin; name one: first::Twin, second::Box<char>::Twin" in message
    twin = linebounce("import", "job", "--structure", "second::Box<char>::Twin", "-o", "twin.toml")
    assert "second::Box<char>::Twin  8 bytes" in twin.stdout, twin.stderr
    subprocess.run(["strip", "job"], cwd=linebounce.directory, check=True)
    assert "compile it with -g" in linebounce.refused("import", "job", "--structure", "Job", code=3)
    assert "linebounce import" in linebounce.refused("describe", "layout", "./job")


def test_paholes_hexadecimal_listing_is_read(linebounce: Program) -> None:
    text = "struct foo {\n\tint  a; /* 0 0x4 */\n\tlong b; /* 0x8 0x8 */\n\n\t/* size: 16, cachelines: 1, members: 2 */\n};\n"
    said = imported(linebounce, "foo.txt", text, "-o", "foo.toml")
    assert "lines of 64 bytes" in said
    assert re.search(r"\+8 +8 +8 +b", said)


MEMORYLESS = """<?xml version="1.0"?>
<topology version="2.0"><object type="Machine" os_index="0">
 <info name="CPUModel" value="Intel(R) Xeon(R) Gold 6242 CPU @ 2.80GHz"/>
 <object type="Package" os_index="0"><object type="Core" os_index="0"><object type="PU" os_index="0"/></object>
  <object type="Core" os_index="1"><object type="PU" os_index="1"/></object></object>
 <object type="Package" os_index="1"><object type="NUMANode" os_index="1"/>
  <object type="Core" os_index="2"><object type="PU" os_index="2"/></object>
  <object type="Core" os_index="3"><object type="PU" os_index="3"/></object></object>
</object></topology>
"""


def test_a_package_whose_memory_may_not_be_used_is_a_node_of_its_own(linebounce: Program) -> None:
    linebounce.file("topo.xml", MEMORYLESS)
    linebounce.file("m.csv", "0,40,90,92\n40,0,91,89\n90,91,0,39\n92,89,39,0\n")
    result = linebounce("import", "topo.xml", "m.csv", "-o", "mine.toml")
    assert result.code == 0, result.stderr
    assert "4 CPUs: 2 nodes" in result.stdout
    assert 'contention = "assumed: the family of Intel(R) Xeon(R) Gold 6242' in (linebounce.directory / "mine.toml").read_text()


# ---- litmus tests ----

X86_64 = """X86_64 SB+mfences
"Store buffering with fences"
{
uint64_t x; uint64_t y; uint64_t 0:rax; uint64_t 1:rax;
}
 P0            | P1            ;
 movq $1,(x)   | movq $1,(y)   ;
 mfence        | mfence        ;
 movq (y),%rax | movq (x),%rax ;
locations [x;y;]
~exists (0:rax=0 /\\ 1:rax=0)
"""
KERNEL = """C MP+pooncerelease+poacquireonce

(*
 * Result: Never
 *)

{}

P0(int *buf, int *flag)
{
	WRITE_ONCE(*buf, 1);
	smp_store_release(flag, 1);
}

P1(int *buf, int *flag)
{
	int r0;
	int r1;

	r0 = smp_load_acquire(flag);
	r1 = READ_ONCE(*buf);
}

exists (1:r0=1 /\\ 1:r1=0) (* Bad outcome. *)
"""
ARM = """AArch64 LB
{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }
 P0          | P1          ;
 LDR W0,[X1] | LDR W0,[X1] ;
 MOV W2,#1   | MOV W2,#1   ;
 STR W2,[X3] | STR W2,[X3] ;
exists (0:X0=1 /\\ 1:X0=1)
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (X86_64, "forbidden by x86-TSO"),
        (KERNEL, "The file says Never, as this verdict does."),
        (
            ARM,
            "allowed by the Arm architecture's model for AArch64, and never seen in 2000 rounds: the simulated core completes "
            "a load",
        ),
    ],
    ids=["AT&T with types", "the kernel's with a comment", "AArch64"],
)
def test_litmus_tests_of_other_collections_are_run(linebounce: Program, text: str, said: str) -> None:
    assert said in imported(linebounce, "test.litmus", text)


def json_of_btf() -> str:
    """The types of test_import_forms, as bpftool -j prints them."""
    types: list[dict] = []
    for line in BTF.splitlines():
        name = re.search(r"'([^']*)'", line)
        assert name, line
        entry: dict = {"name": name[1], **{key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", line)}}
        if head := re.match(r"\[(\d+)\] (\w+)", line):
            types.append({"id": int(head[1]), "kind": head[2], **entry})
        else:
            types[-1].setdefault("members", []).append(entry)
    return json.dumps({"types": types})


def test_btf_as_json_is_the_same_layout_as_its_text(linebounce: Program) -> None:
    imported(linebounce, "btf.txt", BTF, "--structure", "job", "-o", "text.toml")
    imported(linebounce, "btf.json", json_of_btf(), "--structure", "job", "-o", "json.toml")
    text, from_json = ((linebounce.directory / f"{name}.toml").read_text() for name in ("text", "json"))
    assert text.partition("[structure")[2] == from_json.partition("[structure")[2]
    linebounce.file("torn.json", json_of_btf().replace('"kind"', '"king"', 1))
    assert "as bpftool -j prints it" in linebounce.refused(
        "import", "torn.json", "--as", "btf", "--structure", "job", "-o", "x.toml"
    )


def test_a_command_that_unwraps_a_text_takes_its_name_as_one_word(linebounce: Program) -> None:
    name = "mail; touch owned.txt"
    linebounce.file(name, "P0: write 120 &lt;-- 80\n")
    message = linebounce.refused("import", name, code=3)
    assert message.rstrip().endswith(f"< '{name}' > FILE")
