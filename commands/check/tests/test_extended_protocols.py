"""A user's protocol may extend another one and list only the rows that differ."""

import json
import re

from program import Program

# In this protocol a line moves to its reader, whether it has been written or not. Two rows differ from mesi_snoop.
MOVING = """# MESI, where a line goes to whoever reads it

As mesi_snoop, but whoever has a line alone passes it on instead of sharing it.

| property | value |
|----------|-------|
| extends  | mesi_snoop |

## cache

| in | on         | do                                                 | then | why |
|----|------------|----------------------------------------------------|------|-----|
| M  | Other_GetS | assert owned; send data to requestor, memory; free | I    | the reader gets the line alone |
| E  | Other_GetS | free                                               | I    | memory has the same data and sends it |
"""
BESIDE = """# Mine, once more

| property | value |
|----------|-------|
| extends  | moving.md |

## cache

| in | on    | do    | then | why |
|----|-------|-------|------|-----|
| E  | Evict | stall | =    | a line without other copies stays |
"""


def test_two_rows_are_a_protocol_that_is_checked_and_runs(linebounce: Program) -> None:
    linebounce.file("moving.md", MOVING)
    assert len(MOVING.splitlines()) <= 30
    document = json.loads(linebounce("check", "moving.md", "--json").stdout)
    assert document["violation"] is None
    # No two CPUs ever share a line, so the rows for shared copies never run, and `check` says so.
    assert "S" in {row["state"] for row in document["unreached_rows"]}
    short = ("--set", "run.measure_us=2", "--set", "machine.cpus=2", "--machine", "p3_xeon_4way")
    linebounce("run", "counter_scaling", *short, "--set", "machine.bus.protocol=moving.md", "-o", "out")
    transitions = (linebounce.directory / "out" / "transitions.csv").read_text()
    assert "Other_GetS" in transitions


def test_the_page_marks_what_is_inherited(linebounce: Program) -> None:
    linebounce.file("moving.md", MOVING)
    page = linebounce("describe", "protocol", "moving.md").stdout
    assert "extends: mesi_snoop" in page
    assert "    Other_GetS: free -> I\n" in page
    assert "    Store: hit -> M  (mesi_snoop)\n" in page


def test_a_file_beside_is_extended_and_the_rows_say_where_they_are_from(linebounce: Program) -> None:
    linebounce.file("moving.md", MOVING)
    linebounce.file("mine.md", BESIDE)
    page = linebounce("describe", "protocol", "mine.md").stdout
    for row in ("    Evict: stall\n", "    Other_GetS: free -> I  (moving)\n", "    Store: hit -> M  (mesi_snoop)\n"):
        assert row in page


def test_a_path_is_taken_from_the_folder_of_the_file_that_says_it(linebounce: Program) -> None:
    folder = linebounce.directory / "mine"
    folder.mkdir()
    (folder / "moving.md").write_text(MOVING)
    (folder / "mine.md").write_text(BESIDE)
    assert "(moving)" in linebounce("describe", "protocol", "mine/mine.md").stdout


def test_an_error_names_the_file_and_line_of_the_row(linebounce: Program) -> None:
    linebounce.file("moving.md", MOVING.replace("free       ", "release    "))
    linebounce.file("mine.md", BESIDE)
    line = next(i for i, line in enumerate(MOVING.splitlines(), 1) if line.startswith("| E  |"))
    assert f"moving.md:{line}: " in linebounce.refused("check", "mine.md")
    linebounce.file("moving.md", MOVING + "\n| without | why |\n|---|---|\n| MI_A | gone |\n")
    assert re.search(r"mesi_snoop\.md:\d+: cache: unknown state 'MI_A'", linebounce.refused("check", "moving.md"))


def test_an_inherited_row_that_breaks_a_promise_is_named_with_its_file(linebounce: Program) -> None:
    impossible = MOVING.replace("| in |", "| without | why |\n|-----|-----|\n| II_A | no need |\n\n| in |") + (
        "| MI_A | Other_GetS, Other_GetM | - | = | the buffer says nothing |\n"
    )
    linebounce.file("moving.md", impossible)
    verdict = linebounce("check", "moving.md", "--json")
    assert verdict.code == 1
    rows = [line for step in json.loads(verdict.stdout)["violation"]["steps"] for column in step["rows"] for line in column]
    assert any(re.fullmatch(r"mesi_snoop\.md:\d+", line) for line in rows if isinstance(line, str))


def test_an_unknown_base_and_a_circle_are_refused(linebounce: Program) -> None:
    linebounce.file("mine.md", BESIDE.replace("moving.md", "mesi_snop"))
    message = linebounce.refused("check", "mine.md")
    assert "mine.md:5: extends: " in message
    assert "mesi_snoop" in message
    linebounce.file("mine.md", BESIDE)
    assert re.search(r"mine\.md:5: extends: .*moving\.md", linebounce.refused("check", "mine.md"))
    linebounce.file("moving.md", MOVING.replace("mesi_snoop |", "mine.md |"))
    assert "extends mine.md, which extends this file" in linebounce.refused("check", "mine.md")
    linebounce.file("mine.md", BESIDE.replace("moving.md", "mine.md"))
    assert "extends mine.md, which extends this file" in linebounce.refused("check", "mine.md")


def test_a_changed_base_makes_results_out_of_date(linebounce: Program) -> None:
    linebounce.file("moving.md", MOVING)
    linebounce.file("mine.md", BESIDE)
    run = ("run", "counter_scaling", "--machine", "p3_xeon_4way", "--set", "run.measure_us=2", "--set", "machine.cpus=2",
           "--set", "machine.bus.protocol=mine.md", "-o", "out")  # fmt: skip
    linebounce(*run)
    linebounce.file("moving.md", MOVING.replace("passes it on", "hands it on"))
    assert linebounce(*run).code == 2
