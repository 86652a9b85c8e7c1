"""Traces as other tools write them: the same accesses, whatever the form."""

import csv
import json
import re

import pytest
from imported import accesses, imported
from linebounce.trace import Trace
from program import Program
from test_import_lock_statistics import BPFTRACE

ORDERED = "0 r 1f00\n1 w 1f00\n1 w 1f08\n0 r 1f00\n2 r 2f40\n0 w 1f04\n"

PIN = "0x401000: R 0x7ffe10\n0x401003: W 0x7ffe18\n0x401010: R 0x7ffe20\n#eof\n"

PACKETS = "r,8192,64,256,700\nw,8256,64,256,1900\nu,8320,64,2500\n7,r,8384,8,256,3000,4198400\n"


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
        ("ls-proc.trace", "A 7f23 0, 3, -1\nL 10,4 7\n", "cadss", ["thread"]),
        ("cores.trace", "3 20734016\n8 20841280 20841280\n", "ramulator", ["thread"]),
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


def test_files_of_several_cpus_are_told_by_all_of_them(linebounce: Program) -> None:
    linebounce.file("core_0.data", "2 1000\n0 1f40\n")
    linebounce.file("core_1.data", "2 1000\n3 1000\n1 1f40\n")
    run = ("run", "core_0.data", "core_1.data", "--protocol", "mesi")
    assert linebounce(*run).code == 0, "Dinero's has a label 3 and a label 1"
    linebounce.file("p0.trace", "L 1000,4\n")
    linebounce.file("p1.trace", "A 7f23 0, 3, -1\nS 1000,4\n")
    message = linebounce.refused("run", "p0.trace", "p1.trace", "--protocol", "mesi")
    assert "p1.trace: may be cadss, but p0.trace may be lackey; name a form that all files have, with --as" in message
    assert linebounce("run", "p0.trace", "p1.trace", "--as", "cadss", "--protocol", "mesi").code == 0


def test_a_line_that_is_not_legal_is_named_by_run_and_steps(linebounce: Program) -> None:
    linebounce.file("bad.trace", "3 20734016\n6 207x\n")
    for command in ("run", "steps"):
        told = linebounce.refused(command, "bad.trace", "--protocol", "mesi", "--as", "ramulator", code=3)
        assert "bad.trace: line 2: expected a number of instructions, the address of a read" in told
        unknown = linebounce.refused(command, "bad.trace", "--protocol", "mesi")
        assert 'line 2 matches no known form: "6 207x"' in unknown


def test_a_benchmarks_number_is_not_a_cpus(linebounce: Program) -> None:
    for name in ("403.gcc", "444.namd"):
        linebounce.file(name, "9 20734016\n")
    result = linebounce("import", "403.gcc", "444.namd", "--as", "ramulator", "-o", "two.lbt")
    assert "403.gcc of CPU 0, 444.namd of CPU 1" in " ".join(result.stdout.split())


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


def test_bpftraces_stacks_are_named_by_who_took_the_lock(linebounce: Program) -> None:
    stack = "@[\n    __mutex_lock.constprop.0+1240\n    mutex_lock+56\n    pipe_write+99\n    vfs_write+300\n]: 42\n"
    said = imported(linebounce, "s.txt", stack + "@lat[\n    mutex_lock+56\n    ep_poll+10\n, worker]: 7000\n")
    assert re.search(r"pipe_write\+99 +42\n", said)
    assert re.search(r"ep_poll\+10 +7.00 ", said)
    assert "stacks_shortened" in said
    assert "nanoseconds_assumed" in said
    linebounce.file("torn.txt", "@wait_ns[a]:\n[256, 5x2)   3 |@@|\n")
    assert "torn.txt: line 2: expected an interval" in linebounce.refused("import", "torn.txt", code=3)


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
