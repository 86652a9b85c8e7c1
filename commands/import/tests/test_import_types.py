"""Structures from BTF and from listings of which not all can be read. tests/types has the readers' own tests."""

import json
import shutil
import subprocess

import pytest
from program import Program

PROGRAM = """
struct list { struct list *next, *prev; };
struct job { struct list queue; unsigned kind : 3, age : 7; long count; };
struct job job;
"""

MODULE = """[2001] INT 'long' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
[2002] STRUCT 'entry' size=24 vlen=2
\t'count' type_id=2001 bits_offset=0
\t'queue' type_id=7 bits_offset=64
[2003] STRUCT 'own' size=8 vlen=1
\t'count' type_id=2001 bits_offset=0
"""

KERNEL = """[7] STRUCT 'list' size=16 vlen=2
\t'next' type_id=8 bits_offset=0
\t'prev' type_id=8 bits_offset=64
[8] PTR '(anon)' type_id=7
[2000] INT 'long' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
"""

LISTING = """struct marker {

\t/* size: 0, cachelines: 0, members: 0 */
};
struct job {
\tint                        refs;                 /*     0     4 */

\t/* size: 4, cachelines: 1, members: 1 */
};
struct slot {
\tint                        a;                    /*     0     4 */

\t/* size: 4, cachelines: 1, members: 1 */
};
struct slot {
\tlong                       b;                    /*     0     8 */

\t/* size: 8, cachelines: 1, members: 1 */
};
"""


def fields(linebounce: Program, layout: str, name: str) -> list[tuple[str, int, int]]:
    described = json.loads(linebounce("describe", "layout", layout, "--json").stdout)["structures"]
    (structure,) = [one for one in described if one["name"] == name]
    return [
        (field["name"], field["offset_bytes"], field["size_bytes"])
        for line in structure["sections"][0]["lines"]
        for field in line["fields"]
    ]


def test_an_object_file_with_btf_alone_is_read(linebounce: Program) -> None:
    if not shutil.which("pahole"):
        pytest.skip("there is no pahole here: ./dev setup installs it (dwarves)")
    linebounce.file("a.c", PROGRAM)
    for command in ("gcc -g -c a.c", "pahole -J a.o", "strip --strip-debug a.o"):
        subprocess.run(command.split(), cwd=linebounce.directory, check=True)
    result = linebounce("import", "a.o", "--structure", "job", "-o", "job.toml")
    assert result.code == 0, result.stderr
    assert fields(linebounce, "job.toml", "job") == [
        ("queue.next", 0, 8),
        ("queue.prev", 8, 8),
        ("kind|age", 16, 2),
        ("count", 24, 8),
    ]
    assert "has no BTF" in linebounce.refused("import", linebounce.executable, "--as", "btf", "-o", "x.toml")


def test_a_modules_types_need_those_of_its_kernel(linebounce: Program) -> None:
    linebounce.file("module.txt", MODULE)
    linebounce.file("kernel.txt", KERNEL)
    said = linebounce.refused("import", "module.txt", "--structure", "entry", "-o", "x.toml", code=3)
    assert "queue: type 7 is not in the file" in said
    assert "--base" in said
    result = linebounce("import", "module.txt", "-o", "own.toml")
    assert result.code == 0
    assert "Not read: entry: queue:" in result.stdout
    result = linebounce("import", "module.txt", "--base", "kernel.txt", "--structure", "entry", "-o", "entry.toml")
    assert result.code == 0, result.stderr
    assert fields(linebounce, "entry.toml", "entry") == [("count", 0, 8), ("queue.next", 8, 8), ("queue.prev", 16, 8)]
    assert linebounce("import", "module.txt", "--base", "kernel.txt", "--structure", "list", "-o", "list.toml").code == 0
    linebounce.file("other.txt", KERNEL.replace("[2000]", "[1999]"))
    other = linebounce.refused("import", "module.txt", "--base", "other.txt", "--structure", "entry", "-o", "x.toml")
    assert "the base is of another kernel" in other
    linebounce.file("course.txt", "0 r 1000\n1 w 1000\n")
    assert "--base is for BTF" in linebounce.refused("import", "course.txt", "--base", "kernel.txt", "-o", "x.lbt")


def test_what_can_not_be_read_of_a_listing_is_named(linebounce: Program) -> None:
    linebounce.file("all.pahole", LISTING)
    result = linebounce("import", "all.pahole", "--structure", "job", "-o", "job.toml")
    assert result.code == 0
    assert "marker" not in result.stdout
    assert "Not read: marker: has no bytes" in linebounce("import", "all.pahole", "-o", "all.toml").stdout
    assert "marker: has no bytes" in linebounce.refused("import", "all.pahole", "--structure", "marker", "-o", "x.toml", code=3)
    several = linebounce.refused("import", "all.pahole", "--structure", "slot", "-o", "x.toml")
    assert "slot#1 (4 bytes), slot#2 (8 bytes)" in several
    assert linebounce("import", "all.pahole", "--structure", "slot#2", "-o", "slot.toml").code == 0
    assert fields(linebounce, "slot.toml", "slot#2") == [("b", 0, 8)]
