"""`linebounce layout`: searches the order of a structure's members, replays the best, and compares two orders."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from program import ROOT, Program

COMMITS = ROOT / "examples" / "layouts" / "commits"
MACHINE = "generic_2socket_32core"

# A structure in which members that the sender writes alternate with members that all threads read.
TABLE = """.. threads: send=3 look=3

=====================================
conn struct fast path usage breakdown
=====================================

=============== ======== =========== =========== ========
Type            Name     send_access look_access Comments
=============== ======== =========== =========== ========
u64             sent     read_write  -           counts
u64             route    read_mostly read_mostly
u32:4           state    -           read_mostly
u32:2           kind     -           read_mostly
atomic_t        users    read_write  -
struct_unknown  later
u64             peer     -           read_mostly
unsigned_char   cold[72]
=============== ======== =========== =========== ========
"""


# Stands for a kernel's headers, with _Static_assert as BUILD_BUG_ON.
KERNEL = """typedef unsigned long long u64; typedef unsigned u32; typedef struct { int counter; } atomic_t;
#define begin_of(group) __cacheline_group_begin__##group
#define end_of(group) __cacheline_group_end__##group
#define __cacheline_group_begin(group) unsigned char begin_of(group)[0]
#define __cacheline_group_begin_aligned(group) __cacheline_group_begin(group) __attribute__((aligned(64)))
#define __cacheline_group_end(group) unsigned char end_of(group)[0]
#define at(type, member) __builtin_offsetof(type, member)
#define CACHELINE_ASSERT_GROUP_MEMBER(type, group, member) _Static_assert( \\
  at(type, member) >= at(type, begin_of(group)) && at(type, member) < at(type, end_of(group)), "")
#define CACHELINE_ASSERT_GROUP_SIZE(type, group, size) _Static_assert( \\
  at(type, end_of(group)) - at(type, begin_of(group)) <= size, "")
"""


def optimised(linebounce: Program, name: str, *arguments: str | Path) -> dict:
    result = linebounce("layout", "optimise", name, "--machine", MACHINE, "--orders", "2", "--json", *arguments)
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)


def lines_of(layout: dict) -> dict[str, int]:
    return {
        field["name"]: line["line"] for section in layout["sections"] for line in section["lines"] for field in line["fields"]
    }


def test_what_the_sender_writes_leaves_the_line_that_all_read(linebounce: Program) -> None:
    document = optimised(linebounce, "conn", "--accesses", linebounce.file("conn.rst", TABLE))
    assert document["schema"] == "linebounce.layout/1"
    best = next(tried for tried in document["tried"] if tried["name"] == document["best"])
    lines = lines_of(best["layout"])
    assert lines["sent"] == lines["users"]
    assert lines["sent"] not in {lines["route"], lines["peer"], lines["state|kind"]}
    (gain,) = document["confirmed"]
    assert gain["is_gain"]
    # As the model says: of the readers after a write, only the first is served by the writer's cache, but all of them miss.
    saved = (document["model_cost"] - best["model_cost"]) / document["model_cost"]
    assert 1 - gain["misses_after"] / gain["misses_before"] == pytest.approx(saved, abs=0.15)
    assert best["exact"]
    assert any("untouched fields" in sentence or "reconstructed" in sentence for sentence in document["missing"])
    # The kernel's lines that keep the result, and the declaration with its types.
    group = "conn_write_send"
    assert re.search(rf"CACHELINE_ASSERT_GROUP_MEMBER\(struct conn, {group}, sent\);", document["assertions"])
    assert re.search(rf"CACHELINE_ASSERT_GROUP_SIZE\(struct conn, {group}, 12\);", document["assertions"])
    assert re.search(rf"__cacheline_group_begin(_aligned)?\({group}\);\n\tu64 sent;", document["declaration"])
    check = linebounce.file("check.c", KERNEL + document["declaration"] + document["assertions"])
    subprocess.run(["gcc", "-fsyntax-only", check], check=True)
    assert "u32 state:4; u32 kind:2;" in document["declaration"]
    assert "state" not in document["assertions"], "a bit field has no offsetof"


def test_orders_keep_to_a_largest_size_and_a_fixed_beginning(linebounce: Program) -> None:
    table = linebounce.file("conn.rst", TABLE)
    for arguments in (["--max-size", "192"], ["--abi", "keep-first=16"]):
        found = optimised(linebounce, "conn", "--accesses", table, "--layouts", "2", *arguments)["tried"]
        assert found
        for tried in found:
            if arguments[0] == "--max-size":
                assert tried["size_bytes"] <= 192
            else:
                begins = {
                    f["name"]: f["offset_bytes"] for s in tried["layout"]["sections"] for n in s["lines"] for f in n["fields"]
                }
                assert (begins["sent"], begins["route"]) == (0, 8)


def test_words_that_all_write_go_apart_if_their_lines_can_move_at_the_same_time(linebounce: Program) -> None:
    """The best order transfers more lines and still is faster, so counting transfers could not find it."""
    rows = ["Type        Name   push_access  Comments", "atomic64_t  full   read_write", "atomic64_t  empty  read_write"]
    table = linebounce.file("lists.rst", ".. threads: push=6\n\n" + "\n".join(rows) + "\n")
    document = optimised(linebounce, "lists", "--accesses", table)
    (gain,) = document["confirmed"]
    assert gain["is_gain"]
    assert gain["misses_after"] > gain["misses_before"]
    best = next(tried for tried in document["tried"] if tried["name"] == document["best"])
    assert lines_of(best["layout"]) == {"full": 0, "empty": 1}


def test_a_table_of_a_type_that_nobody_knows_asks_for_its_size(linebounce: Program) -> None:
    rows = ["Type        Name  a_access  b_access", "struct_odd  odd   read      write", "u64         n     write     read"]
    table = linebounce.file("t.rst", "\n".join(rows) + "\n")
    refused = linebounce("layout", "optimise", "t", "--accesses", table)
    assert refused.code == 3
    assert "line 2: the size of struct_odd" in refused.stderr
    assert optimised(linebounce, "t", "--accesses", table, "--size", "struct_odd=24")["size_bytes"] == 32


SOURCE = """#include <stdint.h>

struct job {
\tlong done; /* the worker's */
\tlong limit;
\tlong failed, name;
};
"""


def recording(linebounce: Program, source: Path) -> Path:
    """Thread 0 counts in done and failed; the others read limit and name."""
    symbols = (
        f"structure job size=32 fields=done:0:8,limit:8:8,failed:16:8,name:24:8 source={source}:3\n"
        f"object job structure=job size=32 source={source}:3\n"
    )
    streams = "".join(f"stream worker[{i}]\n" for i in range(4))
    operations = []
    for _ in range(300):
        for field in ("done", "failed"):
            operations += [f"worker[0] store job.{field} 8", "worker[0] compute 20"]
        for i in range(1, 4):
            operations += [f"worker[{i}] load job.limit 8", f"worker[{i}] load job.name 8", f"worker[{i}] compute 20"]
    return linebounce.file("jobs.txt", "linebounce trace 1\n" + symbols + streams + "\n".join(operations) + "\nend\n")


def test_a_recorded_programs_source_gets_a_patch_that_compiles(linebounce: Program) -> None:
    source = linebounce.file("job.c", SOURCE)
    document = optimised(linebounce, "job", "--accesses", recording(linebounce, source))
    assert document["best"], document["tried"]
    assert document["confirmed"][0]["gain_pct"] > 5
    assert document["patch"]["why_not"] == ""
    patched = source.parent / "patched"
    (patched / source.relative_to("/").parent).mkdir(parents=True)
    (patched / source.relative_to("/")).write_text(SOURCE)
    subprocess.run(["patch", "-p1", "-d", patched], input=document["patch"]["diff"], text=True, check=True)
    check = patched / "check.c"
    check.write_text(
        (patched / source.relative_to("/")).read_text()
        + '_Static_assert(__builtin_offsetof(struct job, done) / 64 == __builtin_offsetof(struct job, failed) / 64, "");\n'
        + '_Static_assert(__builtin_offsetof(struct job, done) / 64 != __builtin_offsetof(struct job, limit) / 64, "");\n'
    )
    subprocess.run(["gcc", "-fsyntax-only", check], check=True)


def test_a_diff_says_which_members_share_lines_and_what_that_costs(linebounce: Program) -> None:
    """The computed gain has the sign of the published one: one of the two changes was a loss."""
    for name, structure, sign in (("group_load", "task_group", 1), ("mmap_lock_halves", "mm_struct", -1)):
        layouts = COMMITS / f"{name}.toml"
        arguments = [f"{layouts}:{structure}_before", f"{layouts}:{structure}_after", "--accesses", COMMITS / f"{name}.rst"]
        result = linebounce("layout", "diff", *arguments, "--machine", MACHINE, "--orders", "2", "--json")
        assert result.code == 0, result.stderr
        document = json.loads(result.stdout)
        pairs = {frozenset(pair) for pair in document["apart" if sign > 0 else "together"]}
        expected = {"load_avg", "shares"} if sign > 0 else {"count", "owner"}
        assert expected in pairs
        (gain,) = document["gains"]
        assert sign * gain["gain_pct"] > 0, (name, gain)


def test_a_diffs_text_fits_a_commit_message(linebounce: Program) -> None:
    layouts = COMMITS / "group_load.toml"
    result = linebounce(
        "layout", "diff", f"{layouts}:task_group_before", f"{layouts}:task_group_after",
        "--accesses", COMMITS / "group_load.rst", "--machine", MACHINE, "--orders", "2",
    )  # fmt: skip
    assert result.code == 0, result.stderr
    body = result.stdout.splitlines()[1:]
    assert max(map(len, body)) <= 72
    assert any(line.startswith("No longer on one line:") for line in body)
    assert any("misses:" in line for line in body)


def test_structures_and_files_that_are_not_there_are_named(linebounce: Program) -> None:
    trace = recording(linebounce, linebounce.file("job.c", SOURCE))
    result = linebounce("layout", "optimise", "jb", "--accesses", trace)
    assert result.code == 2
    assert "job" in result.stderr
    layouts = COMMITS / "group_load.toml"
    result = linebounce("layout", "diff", layouts, layouts, "--accesses", COMMITS / "group_load.rst")
    assert result.code == 2
    assert "has 2 structures; name one" in result.stderr


def test_a_table_is_a_trace_for_every_other_command(linebounce: Program) -> None:
    result = linebounce("import", linebounce.file("conn.rst", TABLE), "-o", "conn.lbt")
    assert result.code == 0, result.stderr
    assert "untouched fields" in result.stdout
    info = json.loads(linebounce("trace", "info", "conn.lbt", "--json").stdout)
    assert json.dumps(info).count("conn") > 0


@pytest.mark.parametrize("name", sorted(path.stem for path in COMMITS.glob("*.rst")))
def test_each_published_change_has_the_same_members_before_and_after(linebounce: Program, name: str) -> None:
    described = linebounce("describe", "layout", COMMITS / f"{name}.toml", "--json")
    assert described.code == 0, described.stderr
    before, after = (set(lines_of(structure)) for structure in json.loads(described.stdout)["structures"])
    assert before == after
