"""Exercises of the kinds that courses have published with solutions, with other numbers; the answers are worked out by hand."""

import csv
import io
import struct

import pytest
from program import Program

READ, WRITE, END = 1 << 62, 2 << 62, 3 << 62


def last_row(program: Program, before: str, access: str, *options: str) -> dict[str, str]:
    """The access's row, after those that bring the caches into the exercise's state."""
    done = program("steps", "--accesses", f"{before}; {access}", "--format", "csv", *options)
    assert done.code == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))[-1]


# Four CPUs with four lines of 64 bytes each, MESI: P3 has set 1 in M, P0 set 0 in E, P1 set 3 in E.
DRAWING = "P3 W 0x2c44; P0 R 0x1b00; P1 R 0x1bc8; P2 R 0x4480"


@pytest.mark.parametrize(
    ("access", "told", "after"),
    [
        ("P3 W 0x2c7c", ["hit", "", ""], {"P3": "M"}),
        ("P1 R 0x1bfc", ["hit", "", ""], {"P1": "E"}),
        ("P0 W 0x1b04", ["hit", "", ""], {"P0": "M"}),
        ("P2 R 0x1bc0", ["miss", "BusRd", "memory"], {"P1": "S", "P2": "S"}),
        ("P0 W 0x2c40", ["miss", "BusRdX", "P3"], {"P3": "I", "P0": "M"}),
        ("P0 R 0x2c40", ["miss", "BusRd", "P3"], {"P3": "S", "P0": "S"}),
    ],
)
def test_an_access_to_drawn_caches_of_four_cpus(
    linebounce: Program, access: str, told: list[str], after: dict[str, str]
) -> None:
    shape = ("--protocol", "mesi", "--cache-bytes", "256", "--ways", "1", "--line-bytes", "64")
    row = last_row(linebounce, DRAWING, access, *shape)
    assert [row["result"], row["bus"], row["data_from"]] == told
    states = {cpu: row[f"{cpu}_after"] for cpu in ("P0", "P1", "P2", "P3")}
    assert states == {"P0": "I", "P1": "I", "P2": "I", "P3": "I"} | after


# Hennessy's and Patterson's kind: MSI, four lines of 8 bytes.
WORDS = "P0 R 0x508; P2 R 0x508; P0 W 0x510; P1 W 0x528; P2 R 0x520"


@pytest.mark.parametrize(
    ("access", "after", "told"),
    [
        ("P0: read 520", {"P0": "S", "P2": "S"}, ["BusRd", "", ""]),
        ("P0: read 530", {"P0": "S"}, ["BusWB, BusRd", "P0", "0x510"]),
        ("P2: write 508 <-- 77", {"P0": "I", "P2": "M"}, ["BusUpgr", "", ""]),
        ("P1: write 510 <-- 77", {"P0": "I", "P1": "M"}, ["BusRdX", "P0", ""]),
        ("P2: read 528", {"P1": "S", "P2": "S"}, ["BusRd", "P1", "0x508"]),
    ],
)
def test_an_access_to_caches_of_four_small_lines(
    linebounce: Program, access: str, after: dict[str, str], told: list[str]
) -> None:
    shape = ("--protocol", "msi", "--cache-bytes", "32", "--ways", "1", "--line-bytes", "8")
    row = last_row(linebounce, WORDS, access, *shape)
    assert [row["bus"], row["to_memory"], row["evicts"]] == told
    assert {cpu: row[f"{cpu}_after"] for cpu in after} == after


def trf(processors: int, rows: list[tuple[int, ...]]) -> bytes:
    entries = [entry for row in rows for entry in row] + [END] * processors
    return b"4TRF" + struct.pack(">I", processors) + b"".join(struct.pack(">Q", entry) for entry in entries)


@pytest.mark.parametrize(
    ("processors", "rows", "hits"),
    [
        # A line that is written is there for the read behind it.
        (2, [(WRITE | 0x40, WRITE | 0x80), (0, 0), (READ | 0x40, READ | 0x80)], [(1, 0), (1, 0)]),
        # Reads and writes of one line in turn: all but the first hit.
        (2, [(READ | 0x40, 0), (WRITE | 0x44, 0), (READ | 0x40, 0), (WRITE | 0x40, 0)], [(1, 2), (0, 0)]),
        # The other processor's write takes the line away.
        (2, [(READ | 0x40, 0), (0, WRITE | 0x40), (0, 0), (READ | 0x40, 0)], [(0, 0), (0, 0)]),
        # A race for a line, then all read: the last one to write still has it.
        (3, [(WRITE | 0x40,) * 3, (0, 0, 0), (READ | 0x40,) * 3], [(0, 0), (0, 0), (1, 0)]),
        # Five lines of one set of four: the first has left.
        (1, [(READ | 0x1000 * i,) for i in (0, 1, 2, 3, 4, 0)], [(0, 0)]),
    ],
)
def test_a_laboratorys_unit_test_has_its_hits(
    linebounce: Program, processors: int, rows: list[tuple[int, ...]], hits: list[tuple[int, int]]
) -> None:
    trace = linebounce.file("unit.trf", trf(processors, rows))
    form = linebounce.file("form.txt", "[each cache]\n{reads} {read_misses} {writes} {write_misses}\n[end]\n")
    shape = ("--cache-bytes", "16384", "--ways", "4", "--line-bytes", "32")
    done = linebounce("run", trace, "--protocol", "msi", *shape, "--listing", form)
    assert done.code == 0, done.stderr
    counted = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    assert [(reads - read_misses, writes - write_misses) for reads, read_misses, writes, write_misses in counted] == hits
