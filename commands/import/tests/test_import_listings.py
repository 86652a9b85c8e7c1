"""Listings of structures: pahole, BTF, and a binary's debug information."""

import json
import re
import subprocess

import pytest
from imported import imported
from program import Program
from test_lua_layouts import PROGRAM


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


def json_of_btf() -> str:
    """The types of BTF above, as bpftool -j prints them."""
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


def test_members_to_which_btf_gives_no_type_are_not_explained(linebounce: Program) -> None:
    types = "[1] STRUCT 'queue' size=32 vlen=4\n\t'count' type_id=0 bits_offset=0\n\t'tail' type_id=2 bits_offset=64\n"
    types += "\t'head' type_id=0 bits_offset=128\n\t'kind' type_id=3 bits_offset=192\n"
    types += "[2] INT 'long int' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED\n"
    types += "[3] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n"
    linebounce.file("atomic.btf.txt", types)
    result = linebounce("import", "atomic.btf.txt", "--structure", "queue", "-o", "queue.toml")
    assert result.code == 0, result.stderr
    assert "Not explained: bytes 0 to 7 and 16 to 23 of queue" in result.stdout
