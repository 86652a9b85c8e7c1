"""`layout optimise` gives one answer, whatever tells it about the structure: a program, a listing, a layout, or a recording."""

import json
import shutil
import subprocess

import pytest
from program import Program
from recorded import Recorder

PROGRAM = """#include <thread>
struct alignas(32) Block { long first, second; };
struct Shared {
  long hits;
  long double mean;
  unsigned state : 3, kind : 7;
  alignas(16) int limit;
  long misses;
  __int128 sum;
  Block block;
  char last;
};
alignas(64) Shared shared;
int main() {
  auto hits = [] { for (int i = 0; i < 2000; i++) { ++shared.hits; asm volatile("" ::: "memory"); } };
  auto misses = [] { for (int i = 0; i < 2000; i++) { ++shared.misses; asm volatile("" ::: "memory"); } };
  std::thread a(hits), b(misses);
  a.join(), b.join();
}
"""
TABLE = """.. threads: put=3 get=3

Shared struct fast path usage breakdown

Type Name put_access get_access
long hits read_write -
long_double mean read_mostly read_mostly
long misses - read_write
__int128 sum - read_mostly
int limit read_mostly -
"""
MACHINE = "generic_2socket_32core"

KERNEL = """[1] INT 'long' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
[2] STRUCT 'list' size=16 vlen=2
\t'next' type_id=3 bits_offset=0
\t'prev' type_id=3 bits_offset=64
[3] PTR '(anon)' type_id=2
"""
MODULE = """[4] STRUCT 'Shared' size=32 vlen=3
\t'hits' type_id=1 bits_offset=0
\t'queue' type_id=2 bits_offset=64
\t'misses' type_id=1 bits_offset=192
[5] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
[6] STRUCT 'own' size=4 vlen=1
\t'count' type_id=5 bits_offset=0
"""


def answer(linebounce: Program, accesses: str, *door: str) -> dict:
    command = ["layout", "optimise", "Shared", "--accesses", accesses, "--machine", MACHINE, "--orders", "2", "--json"]
    result = linebounce(*command, "--layouts", "3", *door)
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)


def places(layout: dict) -> list[tuple[str, int, int]]:
    lines = [line for section in layout["sections"] for line in section["lines"]]
    return [(field["name"], field["offset_bytes"], field["size_bytes"]) for line in lines for field in line["fields"]]


@pytest.fixture
def program(recorder: Recorder) -> str:
    return recorder.compile(PROGRAM, "-std=c++20", "-g", name="program.cpp")


def test_a_program_a_listing_and_a_layout_of_one_structure_get_one_answer(linebounce: Program, program: str) -> None:
    if not shutil.which("pahole"):
        pytest.skip("there is no pahole here: ./dev setup installs it (dwarves)")
    linebounce.file("accesses.rst", TABLE)
    listing = ["pahole", "-C", "Shared,Block", program]
    printed = subprocess.run(listing, cwd=linebounce.directory, check=True, capture_output=True, text=True).stdout
    linebounce.file("shared.pahole", printed)
    assert linebounce("import", program, "--structure", "Shared", "-o", "shared.toml").code == 0
    by_program = answer(linebounce, "accesses.rst", "--binary", program)
    assert ("mean", 16, 16) in places(by_program["before"])
    for door in ("shared.pahole", "shared.toml"):
        assert answer(linebounce, "accesses.rst", "--pahole", door) == by_program
    wide = {"mean": 16, "limit": 16, "sum": 16, "block.first": 32}
    for tried in by_program["tried"]:
        offsets = {name: offset for name, offset, _ in places(tried["layout"])}
        assert {name: offsets[name] % alignment for name, alignment in wide.items()} == dict.fromkeys(wide, 0)


def test_a_recording_has_the_structure_as_the_program_does(linebounce: Program, recorder: Recorder, program: str) -> None:
    linebounce.file("accesses.rst", TABLE)
    recorder.record(program)
    recorded = answer(linebounce, "trace.lbt")
    assert places(recorded["before"]) == places(answer(linebounce, "accesses.rst", "--binary", program)["before"])
    for tried in recorded["tried"]:
        offsets = {name: offset for name, offset, _ in places(tried["layout"])}
        assert (offsets["sum"] % 16, offsets["block.first"] % 32) == (0, 0)


def test_a_kernel_modules_structure_needs_the_base_at_every_door(linebounce: Program) -> None:
    linebounce.file("module.txt", MODULE)
    linebounce.file("kernel.txt", KERNEL)
    linebounce.file("accesses.rst", ".. threads: put=2\n\nType Name put_access\nlong hits read_write\nlong misses read_write\n")
    arguments = ["layout", "optimise", "Shared", "--accesses", "accesses.rst", "--machine", MACHINE]
    for door in ("--pahole", "--binary"):
        assert "type 1 is not in the file" in linebounce.refused(*arguments, door, "module.txt", code=3)
    by_listing = answer(linebounce, "accesses.rst", "--pahole", "module.txt", "--base", "kernel.txt")
    assert answer(linebounce, "accesses.rst", "--binary", "module.txt", "--base", "kernel.txt") == by_listing
    assert ("queue.next", 8, 8) in places(by_listing["before"])
    assert "--base is for BTF" in linebounce.refused(*arguments, "--base", "kernel.txt")
