"""Traces that Linebounce did not record: synthetic ones and other tools'."""

import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from linebounce.trace import Trace
from memory import peak_mib
from program import Program


def converted(linebounce: Program, content: str | bytes, source: str) -> tuple[str, str]:
    """Returns the program's message and the trace as text."""
    linebounce.file("in", content)
    result = linebounce("trace", "convert", "in", "out.txt", "--from", source)
    assert result.code == 0, result.stderr
    return result.stdout, (linebounce.directory / "out.txt").read_text()


def operations(text: str, kind: str) -> int:
    return len(re.findall(rf"^\S+ {kind} ", text, re.MULTILINE))


def test_a_dinero_trace_is_converted(linebounce: Program) -> None:
    said, text = converted(linebounce, "2 400\n2 404\n0 1000\n1 1004\n", "dinero")
    assert "no locks" in said
    assert "no locks" in text, "what is missing is in the trace, too"
    lines = [line for line in text.splitlines() if line.startswith("thread ")]
    assert lines == ["thread execute 1", "thread load page_1+0 4", "thread store page_1+4 4"]


def test_a_champsim_trace_is_converted(linebounce: Program) -> None:
    record = struct.pack("<QBB2s4s2Q4Q", 0x400000, 0, 0, b"\1\0", b"\2\0\0\0", 0x2010, 0, 0x1008, 0, 0, 0)
    assert len(record) == 64
    said, text = converted(linebounce, record * 3, "champsim")
    assert "all accesses belong to one" in said
    assert operations(text, "load") == operations(text, "store") == 3


def test_the_output_of_perf_script_is_converted(linebounce: Program) -> None:
    head = "app 10/{thread} [00{thread}] 5.{thread}: 1 cpu/mem-{kind}/P: "
    line = head + "7f00{place:04x} 68100142 |OP {kind}| 400123 work+0x1 (/bin/app)\n"
    text = "".join(line.format(thread=i % 3 + 1, kind="loads" if i % 2 else "stores", place=8 * i) for i in range(12))
    said, trace = converted(linebounce, text, "perf-script")
    assert "samples" in said
    assert operations(trace, "load") == operations(trace, "store") == 6
    assert re.search(r"^stream app/1 cpu=1$", trace, re.MULTILINE)


def recorded_by_perf(directory: Path, *options: str) -> None:
    """Page faults also have addresses, and need no processor that can sample accesses."""
    command = ["perf", "record", "--quiet", "-e", "page-faults", "-c", "1", *options, "-o", "perf.data", "/bin/true"]
    done = subprocess.run(command, cwd=directory, capture_output=True, timeout=60, check=False)
    if done.returncode != 0:
        pytest.skip(f"perf may not record here: {done.stderr.decode()}")


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_perf_data_is_imported_by_one_command(linebounce: Program) -> None:
    recorded_by_perf(linebounce.directory, "-d")
    result = linebounce("import", "perf.data")
    assert result.code == 0, result.stderr
    assert "perf.lbt  of perf.data: perf-data" in result.stdout
    assert "takes samples" in result.stdout, "what samples can't tell is said"
    with Trace(linebounce.directory / "perf.lbt") as trace:
        (stream,) = trace.symbols.streams
        assert stream.name.startswith("true/")
        assert len(list(trace.operations(0))) > 20
    assert linebounce("trace", "convert", "perf.data", "out.txt").code == 0, "convert knows it, too"


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_perf_data_without_addresses_is_refused_with_a_remedy(linebounce: Program) -> None:
    recorded_by_perf(linebounce.directory)
    assert "record with perf mem record, or -d" in linebounce.refused("import", "perf.data", code=3)
    assert not (linebounce.directory / "perf.lbt").exists()


def test_import_refuses_unknown_files(linebounce: Program) -> None:
    linebounce.file("perf.data", "PERFILE2 and nothing that perf could read")
    assert "perf" in linebounce.refused("import", "perf.data", code=3)
    linebounce.file("notes.txt", "a text")
    assert "is not in a known form. Line 1 matches no known form" in linebounce.refused("import", "notes.txt")
    assert "there is no such file" in linebounce.refused("import", "nothing", code=3)


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_the_output_of_lackey_on_a_real_program_is_converted(linebounce: Program) -> None:
    log = linebounce.directory / "lackey.log"
    command = ["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={log}", "/bin/true"]
    subprocess.run(command, check=True, timeout=120)
    lines = log.read_text().splitlines()
    kinds = {kind: sum(line.startswith(f" {kind} ") for line in lines) for kind in "LSM"}
    assert kinds["L"] > 1000
    _, text = converted(linebounce, log.read_bytes(), "lackey")
    # An unaligned access becomes several operations.
    assert operations(text, "load") >= kinds["L"] + kinds["M"]
    assert operations(text, "store") >= kinds["S"] + kinds["M"]
    instructions = sum(int(count) for count in re.findall(r"^thread execute (\d+)$", text, re.MULTILINE))
    assert 0 < instructions < sum(line.startswith("I ") for line in lines)
    assert linebounce("trace", "convert", "out.txt", "out.lbt").code == 0, "it is a trace as any other"


@pytest.mark.parametrize(
    ("source", "content", "said"),
    [
        ("dinero", "0 1000\nx\n", "in: line 2: expected a label"),
        ("lackey", " L 1000,4\nhello world\n", "in: line 2: expected I, L, S or M"),
        ("champsim", "short", "in: record 1: only 5 of its 64 bytes"),
        ("champsim", b"\x1f\x8b\x08compressed", "decompress it first: gzip -dc"),
        ("perf-script", "nothing here\n", "in: line 1: expected COMMAND"),
    ],
)
def test_unreadable_input_is_reported_with_its_place(linebounce: Program, source: str, content: str | bytes, said: str) -> None:
    linebounce.file("in", content)
    assert said in linebounce.refused("trace", "convert", "in", "out.lbt", "--from", source, code=3)
    assert "in: cannot be opened" not in said


def test_a_missing_file_and_an_unknown_format_are_errors(linebounce: Program) -> None:
    assert "nowhere" in linebounce.refused("trace", "convert", "nowhere", "out.lbt", "--from", "dinero", code=3)
    linebounce.file("in", "")
    message = linebounce.refused("trace", "convert", "in", "out.lbt", "--from", "gem5")
    assert "champsim" in message


def test_the_same_seed_makes_the_same_file(linebounce: Program) -> None:
    for name, seed in [("a.lbt", "1"), ("b.lbt", "1"), ("c.lbt", "2")]:
        assert linebounce("trace", "synth", "-o", name, "--accesses", "1000", "--seed", seed).code == 0
    a, b, c = ((linebounce.directory / f"{name}.lbt").read_bytes() for name in "abc")
    # The traces contain the command line, which differs in the file's name.
    assert len(a) == len(b)
    assert a != c


def test_bad_options_are_refused_with_the_legal_ones(linebounce: Program) -> None:
    assert "1 to 1024" in linebounce("trace", "synth", "--help").stdout
    assert "--threads" in linebounce.refused("trace", "synth", "-o", "x", "--threads", "0")
    assert "multiple of 8" in linebounce.refused("trace", "synth", "-o", "x", "--object-size", "12")
    assert "ticket" in linebounce.refused("trace", "synth", "-o", "x", "--locks", "1", "--lock", "none")
    for skew in ("nan", "8.1"):
        assert f"{skew} is out of range; legal: 0 to 8" in linebounce.refused("trace", "synth", "-o", "x", "--skew", skew)


@pytest.mark.uninstrumented
def test_ten_million_operations_are_made_in_constant_memory(linebounce: Program) -> None:
    arguments = ["trace", "synth", "-o", "large.lbt", "--threads", "4", "--accesses", "2500000"]
    assert peak_mib([linebounce.executable, *arguments], linebounce.directory) < 100
    assert Path(linebounce.directory / "large.lbt").stat().st_size > 1_000_000


@pytest.mark.parametrize("load", ["dentry", "refcount", "timer", "slab"])
def test_loads_of_kernels_are_replayed_on_any_machine(linebounce: Program, load: str) -> None:
    options = ("--threads", "4", "--operations", "300")
    assert linebounce("trace", "synth", load, "-o", "load.lbt", *options).stdout == "load.lbt: 1200 operations of 4 threads\n"
    content = (linebounce.directory / "load.lbt").read_bytes()
    assert linebounce("trace", "synth", load, "-o", "load.lbt", *options).code == 0
    assert (linebounce.directory / "load.lbt").read_bytes() == content
    for machine in ("p3_xeon_4way", "itanium2_split_node"):
        result = linebounce("trace", "replay", "load.lbt", "--machine", machine, "-o", machine)
        assert result.code == 0, result.stderr
        assert "local HITM" in result.stdout


def test_numbers_of_a_load_that_contradict_each_other_are_refused(linebounce: Program) -> None:
    assert "--array 8" in linebounce.refused("trace", "synth", "slab", "-o", "x", "--array", "8", "--batch", "9")
    assert "--output" in linebounce.refused("trace", "synth")
    assert "mcs" in linebounce.refused("trace", "synth", "timer", "-o", "x", "--lock", "mcss")
