"""A folder of litmus tests: one experiment, one table."""

import re

from program import Program

STORE_BUFFERING = """X86 SB
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
"""
FENCED = STORE_BUFFERING.replace("SB", "SB+mfences").replace(" MOV EAX", " MFENCE | MFENCE ;\n MOV EAX", 1)


def rows(text: str) -> dict[str, tuple[str, str, int, str, int]]:
    """Returns each test's model, verdict, times seen, outcomes, and times that a forbidden outcome was seen."""
    found = re.findall(
        r"^  (\S+) +(x86-tso|linux-kernel) +(allowed|forbidden) +(\d+) +(\d+ of \d+) +(\d+)(?: +\w+)?$", text, re.MULTILINE
    )
    return {name: (model, verdict, int(seen), outcomes, int(bad)) for name, model, verdict, seen, outcomes, bad in found}


def test_a_folder_of_litmus_tests_is_one_table_with_a_line_for_each(linebounce: Program) -> None:
    linebounce.file("tests/SB.litmus", STORE_BUFFERING)
    linebounce.file("tests/again.litmus", STORE_BUFFERING.replace("X86 SB", "X86 again"))
    linebounce.file("tests/fences/SB+mfences.litmus", FENCED)
    linebounce.file("tests/power.litmus", STORE_BUFFERING.replace("X86", "PPC"))
    linebounce.file("tests/README", "not a test")
    result = linebounce("import", "tests/")
    assert result.code == 0, result.stderr
    shown = rows(result.stdout)
    assert set(shown) == {"SB", "again", "SB+mfences"}
    model, verdict, seen, outcomes, forbidden = shown["SB"]
    assert (model, verdict, outcomes, forbidden) == ("x86-tso", "allowed", "4 of 4", 0)
    assert seen > 0
    assert shown["SB+mfences"] == ("x86-tso", "forbidden", 0, "3 of 3", 0)
    assert shown["again"] == shown["SB"], "the same threads are run once"
    assert "3 tests: of the outcomes asked about, 2 are allowed (2 of them seen), and 1 are forbidden." in result.stdout
    assert "Not read: 1 of 4 files" in result.stdout
    assert "power.litmus: line 1: PPC has no memory model here" in result.stdout
    assert "`linebounce import tests/` runs them all" in linebounce.refused("run", "tests/")
    assert linebounce("run", "tests.toml", "--plan").stdout.count('"point"') == 2


def test_a_verdict_other_than_the_files_own_is_said(linebounce: Program) -> None:
    comment = '"SB"\n(*\n * Result: Never\n *)\n{'
    linebounce.file("t/SB.litmus", STORE_BUFFERING.replace("{", comment, 1))
    linebounce.file("t/fenced.litmus", FENCED.replace("{", comment, 1))
    result = linebounce("import", "t")
    assert result.code == 0, result.stderr
    assert "Another verdict than the file's own: SB." in result.stdout


C11 = """C {name}
(* Result: {result} *)
{{ }}
P0(atomic_int *x, atomic_int *y) {{ {store}(x, 1{order}); {store}(y, 1{order}); }}
P1(atomic_int *x, atomic_int *y) {{ int r0; int r1; r0 = {load}(y{order}); r1 = {load}(x{order}); }}
exists (1:r0=1 /\\ 1:r1=0)
"""
RELAXED = {"store": "atomic_store_explicit", "load": "atomic_load_explicit", "order": ", memory_order_relaxed"}


def test_a_folders_tests_that_have_no_model_get_no_verdict(linebounce: Program) -> None:
    linebounce.file("t/SB.litmus", STORE_BUFFERING)
    linebounce.file("t/plain.litmus", C11.format(name="plain", result="Sometimes", **RELAXED))
    linebounce.file(
        "t/fenced.litmus", C11.format(name="total", result="Never", store="atomic_store", load="atomic_load", order="")
    )
    linebounce.file("t/mistaken.litmus", C11.format(name="mistaken", result="Never", **RELAXED))
    linebounce.file("t/LB.litmus", C11.format(name="always", result="Always", **RELAXED))
    result = linebounce("import", "t")
    assert result.code == 0, result.stderr
    assert set(rows(result.stdout)) == {"SB"}
    said = re.findall(r"^  (\S+) +- +no verdict +(\d+) +(\d+) +- +(\w+)$", result.stdout, re.MULTILINE)
    shown = {name: (int(seen), int(outcomes), stated) for name, seen, outcomes, stated in said}
    assert set(shown) == {"plain", "total", "mistaken", "always"}
    assert shown["plain"][0] > 0
    assert shown["plain"][1:] == (4, "Sometimes")
    assert shown["total"] == (0, 3, "Never")
    flat = " ".join(result.stdout.split())
    assert "1 test: of the outcomes asked about, 1 are allowed" in flat
    assert "4 tests without such a verdict: Linebounce has no memory model of C11." in flat
    assert "The file's result rules out what was seen: always, mistaken." in flat
    assert "Another verdict" not in flat


def test_several_litmus_files_are_imported_together(linebounce: Program) -> None:
    linebounce.file("SB.litmus", STORE_BUFFERING)
    linebounce.file("fenced.litmus", FENCED)
    result = linebounce("import", "SB.litmus", "fenced.litmus", "-o", "both.toml")
    assert result.code == 0, result.stderr
    assert set(rows(result.stdout)) == {"SB", "SB+mfences"}


def test_a_folder_that_has_no_test_to_run_is_refused(linebounce: Program) -> None:
    linebounce.file("empty/README", "nothing")
    assert "a folder without litmus tests" in linebounce.refused("import", "empty")
    assert "only litmus tests are imported by folder" in linebounce.refused("import", "empty", "--as", "matrix")
    linebounce.file("power/SB.litmus", STORE_BUFFERING.replace("X86", "PPC"))
    linebounce.file("power/LB.litmus", STORE_BUFFERING.replace("X86", "MIPS"))
    message = linebounce.refused("import", "power", code=3)
    assert "none of the 2 files" in message
    assert "LB.litmus: line 1" in message
