"""Structures as data: changed in the experiment file, drawn, and imported from a program's debug information."""

import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from experiments import line_of
from program import ROOT, Program
from results import assert_same_data, check_results_directory, read_csv
from ways import assert_every_way_agrees

# The shipped dentry cache under dbench, for 3 ms. It has no changes of its own.
BASE = """\
extends = "dcache_dbench"
name    = "{name}"
title   = "A dentry laid out otherwise"

[workload]
clients = 8

[run]
warmup_us  = 100
measure_us = 3000

[set]
"machine.cpus" = 4
"""
# Moves the count to another line than name, parent and hash chain, which a path walk reads.
CHANGES = """
[[layout.change]]
name      = "count_apart"
structure = "dentry"
split     = ["d_count"]

[[layout.change]]
name        = "aligned"
structure   = "dentry"
align_bytes = 512
"""
C_PROGRAM = """\
struct list_head { struct list_head *next, *prev; };
typedef struct { unsigned int slock; } spinlock_t;
struct limits { int soft, hard; };
struct queue {
  spinlock_t lock;
  unsigned stopped : 1, frozen : 3, : 2, depth : 10;
  struct list_head entries;
  union { void *owner; unsigned long bits; struct { int pid, tgid; }; };
  union { int single; struct limits pair; } limit;
  struct { int count; struct limits each[3]; } nest;
  int (*run)(struct queue *, void (*)(int));
  void (*table[4])(void);
  int (*(*chooser)(int))(char);
  const char *const names[2];
  enum { IDLE, BUSY } state;
  struct limits grid[2][2];
  long clock __attribute__((aligned(64)));
  struct queue *rest[];
};
struct queue queue;
#define AT(member) __builtin_offsetof(struct queue, member)
#define SIZE(member) sizeof(((struct queue *)0)->member)
const unsigned long facts[] __attribute__((section("said"))) = {
  AT(lock), SIZE(lock), AT(entries), SIZE(entries.next), AT(owner), SIZE(owner), AT(limit), SIZE(limit), AT(nest.count), 4,
  AT(nest.each), SIZE(nest.each), AT(run), SIZE(run), AT(table), SIZE(table), AT(chooser), SIZE(chooser), AT(names),
  SIZE(names), AT(state), SIZE(state), AT(grid), SIZE(grid), AT(clock), SIZE(clock)
};
"""
FACTS = ["lock", "entries.next", "owner|bits|pid|tgid", "limit", "nest.count", "nest.each", "run", "table", "chooser", "names"]
FACTS += ["state", "grid", "clock"]


def changed(linebounce: Program, more: str = "", name: str = "changed") -> Path:
    return linebounce.file(f"{name}.toml", BASE.format(name=name) + CHANGES + more)


def places(directory: Path, point: int = 0) -> dict[str, set[tuple[int, int]]]:
    """For each missed field of a dentry: its line in the object and its offset in that line."""
    found: dict[str, set[tuple[int, int]]] = {}
    for row in read_csv(directory / "lines.csv"):
        if row["structure"] == "dentry" and int(row["point"]) == point:
            found.setdefault(row["field"], set()).add((int(row["line"]), int(row["offset"])))
    return found


@pytest.fixture(scope="module")
def swept(session_linebounce: Program) -> Path:
    path = changed(session_linebounce, '\n[sweep]\n"layout.changes" = ["none", "count_apart", "all"]\n', "swept")
    return session_linebounce.run(path, "swept")


def test_a_change_moves_a_field_in_lines_csv(swept: Path) -> None:
    before, after, both = (places(swept, point) for point in range(3))
    assert before["d_count"] == {(0, 0)}
    assert after["d_count"] == {(4, 0)}, "behind 112 bytes of other fields, on a line of 32"
    assert both["d_count"] == {(4, 0)}
    at_start = [{field for field, where in fields.items() if (0, 0) in where} for fields in (before, after)]
    assert at_start[0] == {"d_count"}
    assert at_start[1] <= {"d_flags"}, "what follows moves up"


def test_the_choice_is_a_swept_path_like_any_other(swept: Path) -> None:
    document = json.loads((swept / "results.json").read_text())
    assert [point["at"] for point in document["points"]] == [
        {"layout.changes": "none"},
        {"layout.changes": "count_apart"},
        {"layout.changes": "all"},
    ]


def test_an_extension_without_its_changes_equals_the_experiment_that_it_extends(linebounce: Program, swept: Path) -> None:
    plain = linebounce.run(linebounce.file("plain.toml", BASE.format(name="plain")), "plain")
    unchanged = linebounce.run(changed(linebounce), "unchanged", "--set", "layout.changes=none")
    assert (plain / "lines.csv").read_bytes() == (unchanged / "lines.csv").read_bytes()
    results = [json.loads((out / "results.json").read_text())["points"][0]["metrics"] for out in (plain, unchanged, swept)]
    assert results[0] == results[1] == results[2]


def test_the_resolved_configuration_gives_the_same_results_again(linebounce: Program, swept: Path) -> None:
    resolved = tomllib.loads((swept / "config.toml").read_text())
    assert "extends" not in resolved
    assert [change["name"] for change in resolved["layout"]["change"]] == ["count_apart", "aligned"]
    assert_same_data(swept, linebounce.run(swept / "config.toml", "again"))


def test_a_changed_layout_gives_the_same_results_in_every_engine_mode(linebounce: Program) -> None:
    assert_every_way_agrees(linebounce, changed(linebounce))


def test_results_of_another_layout_are_not_reused(linebounce: Program) -> None:
    path = changed(linebounce)
    linebounce.run(path, "out")
    path.write_text(path.read_text().replace("align_bytes = 512", "align_bytes = 256"))
    assert "another" in linebounce.refused("run", path, "-o", "out")
    linebounce.run(path, "out", "--fresh")


def test_a_chosen_layout_on_the_command_line_is_an_override(linebounce: Program) -> None:
    row = """
[[paper]]
id        = "a.row"
metric    = "throughput.operations_per_s"
value     = 1
tolerance = 0.1
"""
    path = changed(linebounce, row)
    first = linebounce.run(path, "as_written")
    second = linebounce.run(path, "overridden", "--set", "layout.changes=none")
    ok = [json.loads((out / "results.json").read_text())["paper"][0]["ok"] for out in (first, second)]
    assert ok == [False, None]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('structure = "dentry"', 'structure = "dentri"', ["inode", "did you mean dentry?"]),
        ('["d_count"]', '["d_coun"]', ["d_iname", "did you mean d_count?"]),
        ('["d_count"]', '["d_name.len"]', ["d_name.name", "stay together"]),
        ("= 512", "= 500", ["not a power of two", "256 and 512"]),
    ],
)
def test_bad_changes_name_file_line_and_legal_values(linebounce: Program, old: str, new: str, words: list[str]) -> None:
    text = changed(linebounce).read_text().replace(old, new)
    message = linebounce.refused("run", linebounce.file("changed.toml", text))
    assert f"changed.toml:{line_of(text, new)}:" in message
    assert all(word in message for word in words), message


@pytest.mark.parametrize("section", ["per_cpu", "read_mostly"])
def test_a_workloads_own_fields_cannot_be_moved_out_of_its_objects(linebounce: Program, section: str) -> None:
    text = f"""{BASE.format(name="x")}
[[layout.change]]
structure = "dentry"
order     = ["d_hash"]

[[layout.change]]
structure = "dentry"
{section} = ["d_count"]
"""
    message = linebounce.refused("run", linebounce.file("x.toml", text))
    place = f"x.toml:{line_of(text, section + ' = ')}:{len(section) + 5}: layout.change.{section}: "
    assert place in message, message
    assert "d_count cannot be moved out of it; legal here: order, split, align_bytes" in message


def test_an_unknown_choice_is_refused_with_the_names(linebounce: Program) -> None:
    message = linebounce.refused("run", changed(linebounce), "--set", "layout.changes=alignd")
    assert "known: all, none, count_apart, aligned; did you mean aligned?" in message


def test_a_layout_whose_fields_overlap_is_refused(linebounce: Program) -> None:
    text = """\
name  = "mine"
title = "mine"

[structure.s]
size_bytes = 16
fields = [
  { name = "a", offset_bytes = 0, size_bytes = 8 },
  { name = "b", offset_bytes = 4, size_bytes = 4 },
]
"""
    path = linebounce.file("mine.toml", text)
    message = linebounce.refused("describe", "layout", path)
    assert f"mine.toml:{line_of(text, chr(34) + 'b')}:" in message
    assert "b (bytes 4 to 7) overlaps a (bytes 0 to 7); the first legal offset for its 4 bytes is 8" in message


def test_a_layouts_path_is_taken_from_the_experiments_folder(linebounce: Program) -> None:
    (linebounce.directory / "deep").mkdir()
    text = BASE.format(name="x").replace("clients = 8", 'clients = 8\nlayout = "own.toml"')
    linebounce.file("deep/x.toml", text)
    assert "deep/own.toml" in linebounce.refused("run", "deep/x.toml", code=2)


# ---- experiments in folders ----


def test_an_experiment_in_a_folder_has_the_folder_in_its_name(linebounce: Program) -> None:
    root = linebounce.directory / "project"
    shutil.copytree(ROOT / "configs", root / "configs")
    shutil.copytree(ROOT / "models" / "protocols", root / "models" / "protocols")
    name = "layouts/count_apart"
    linebounce.file(f"project/configs/experiments/{name}.toml", BASE.format(name=name) + CHANGES)
    own = {"env": os.environ | {"LINEBOUNCE_ROOT": str(root)}}
    assert name in linebounce("list", "experiments", "--search", "layouts/", **own).stdout
    result = linebounce("run", name, "--quiet", **own)
    assert result.code == 0, result.stderr
    check_results_directory(linebounce.directory / "out" / name)
    assert f"did you mean {name}?" in linebounce.refused("run", "layouts/count_apar", **own)
    assert "there is no such file" in linebounce.refused("run", "elsewhere/count_apart", **own)


# ---- describe layout ----


def test_describe_layout_draws_lines_with_the_fields_that_share_them(linebounce: Program) -> None:
    printed = linebounce("describe", "layout", "linux_2_4_16", "dentry", "--line-bytes", "64").stdout
    first, second = printed.split("line 0")[1].split("line 1")
    assert "d_count" in first
    assert "d_alias" in first
    assert "d_name.hash" in second
    assert "aaaabbbbcccc" in first, "a letter a byte"
    assert max(len(line) for line in printed.splitlines()) <= 100


def test_describe_layout_as_json_says_the_same(linebounce: Program) -> None:
    document = json.loads(linebounce("describe", "layout", "dentry_seq", "--machine", "p3_xeon_4way", "--json").stdout)
    assert document["name"] == "linux_2_4_16", "the only file that has it"
    assert document["line_bytes"] == 32
    (structure,) = document["structures"]
    lines = structure["sections"][0]["lines"]
    assert [line["line"] for line in lines] == list(range(5))
    assert lines[2]["fields"][1] == {"name": "d_name.len", "offset_in_line": 4, "offset_bytes": 68, "size_bytes": 4}


def test_describe_layout_shows_a_structure_before_and_after(linebounce: Program) -> None:
    path = changed(linebounce)
    printed = linebounce("describe", "layout", "linux_2_4_16", "--experiment", path).stdout
    before, after = printed.split('layout.changes = "all"')
    assert "begins at multiples of 128" in before
    assert "begins at multiples of 512" in after
    assert "\ninode" not in before, "no change of it"
    document = json.loads(linebounce("describe", "layout", "linux_2_4_16", "--experiment", path, "--json").stdout)
    assert document["line_bytes"] == 32
    assert document["structures"][0]["size_bytes"] == 112
    assert document["changed"][0]["structures"][0]["size_bytes"] == 512


def test_describe_layout_knows_an_own_file_by_its_path(linebounce: Program) -> None:
    linebounce.file("own.toml", (ROOT / "configs" / "layouts" / "linux_2_4_16.toml").read_text())
    text = changed(linebounce).read_text().replace("clients = 8", 'clients = 8\nlayout = "own.toml"')
    linebounce.file("changed.toml", text)
    printed = linebounce("describe", "layout", "own.toml", "dentry", "--experiment", "changed.toml").stdout
    assert 'layout.changes = "all"' in printed


def test_describe_layout_refuses_missing_names(linebounce: Program) -> None:
    assert "did you mean dentry?" in linebounce.refused("describe", "layout", "linux_2_4_16", "dentri")
    assert "powers of two" in linebounce.refused("describe", "layout", "linux_2_4_16", "--line-bytes", "100")
    assert "for layouts" in linebounce.refused("describe", "machine", "p3_xeon_4way", "--line-bytes", "64")
    assert "changes no structure" in linebounce.refused("describe", "layout", "linux_2_4_16", "--experiment", "operation_costs")


# ---- pahole ----


@pytest.fixture
def compiled(linebounce: Program) -> Path:
    """A C program with debug information; a separate section has the compiler's own offsets and sizes of its structure."""
    if not shutil.which("pahole"):
        pytest.skip("there is no pahole here: ./dev setup installs it (dwarves)")
    source = linebounce.file("queue.c", C_PROGRAM)
    subprocess.run(["gcc", "-g", "-c", source, "-o", source.with_suffix(".o")], check=True)
    return source.with_suffix(".o")


@pytest.mark.parametrize("options", [[], ["--expand_types"]], ids=["plain", "expanded"])
def test_a_structure_of_a_compiled_program_can_be_put_in(linebounce: Program, compiled: Path, options: list[str]) -> None:
    printed = subprocess.run(["pahole", *options, "-C", "queue", compiled], check=True, capture_output=True, text=True).stdout
    path = linebounce.file("queue.pahole", printed)
    facts = linebounce.directory / "facts"
    subprocess.run(["objcopy", "-O", "binary", "-j", "said", compiled, facts], check=True)
    said = [int.from_bytes(facts.read_bytes()[i : i + 8], "little") for i in range(0, 16 * len(FACTS), 8)]
    (structure,) = json.loads(linebounce("describe", "layout", path, "--line-bytes", "4096", "--json").stdout)["structures"]
    (line,) = structure["sections"][0]["lines"]
    fields = {field["name"].removesuffix(".slock"): field for field in line["fields"]}
    for name, offset, size in zip(FACTS, said[::2], said[1::2], strict=True):
        # An array of structures has a field for each member of each element.
        parts = [
            field for known, field in fields.items() if known == name or known.startswith((f"{name}.", f"{name}[", f"{name}+"))
        ]
        assert min(part["offset_bytes"] for part in parts) == offset, name
        assert max(part["offset_bytes"] + part["size_bytes"] for part in parts) == offset + size, name
    assert "stopped|frozen|depth" in fields
    assert structure["alignment_bytes"] == 64


def test_pahole_text_that_is_cut_off_is_refused_with_its_line(linebounce: Program, compiled: Path) -> None:
    printed = subprocess.run(["pahole", "-C", "queue", compiled], check=True, capture_output=True, text=True).stdout
    lines = printed.splitlines(keepends=True)
    for kept in range(1, len(lines)):
        message = linebounce.refused("describe", "layout", linebounce.file("cut.pahole", "".join(lines[:kept])))
        assert f"cut.pahole:{kept + 1}:1: " in message
        assert "cut off in queue, which begins in line 1: expected" in message
