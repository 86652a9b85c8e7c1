"""What `import` says of a file that it does not read, or that another command reads."""

import re

import pytest
from program import Program
from test_import_litmus_forms import SB
from test_import_perf_c2c import C2C


def test_an_unknown_text_is_refused_with_the_forms_that_were_tried(linebounce: Program) -> None:
    linebounce.file("notes.txt", "0 r 1f00\n1 w 1f00\nthen it crashed\n")
    message = linebounce.refused("import", "notes.txt")
    assert "Up to line 2 it could be ordered" in message
    assert 'but line 3 matches no known form: "then it crashed"' in message
    for form in ("perf-c2c", "lock_stat", "matrix", "pahole", "litmus"):
        assert re.search(rf"^  {form} ", message, re.MULTILINE)
    linebounce.file("zeros", b"\0" * 100)
    assert "It is not text" in linebounce.refused("import", "zeros")
    linebounce.file("empty", "")
    assert "It is empty" in linebounce.refused("import", "empty")
    assert "did you mean pinatrace" in linebounce.refused("import", "notes.txt", "--as", "pintrace")


def test_a_command_names_the_kind_of_an_unsuitable_file(linebounce: Program) -> None:
    linebounce.file("report.txt", C2C)
    message = linebounce.refused("trace", "convert", "report.txt", "x.lbt")
    assert "perf c2c report" in message
    assert "linebounce import report.txt" in message
    message = linebounce.refused("calibrate", "--from", "report.txt", "-o", "m.toml")
    assert "linebounce import report.txt" in message
    linebounce.file("x.lbt", "linebounce trace 1\nend\n")
    assert "linebounce trace info" in linebounce.refused("import", "x.lbt")


def test_run_and_check_name_the_command_for_another_tools_file(linebounce: Program) -> None:
    linebounce.file("SB.litmus", SB)
    assert "linebounce import SB.litmus" in linebounce.refused("run", "SB.litmus")
    assert "--murphi" in linebounce.refused("check", "model.m")


MEM_REPORT = """# Samples: 5K of event 'cpu/mem-loads,ldlat=30/P'
# Overhead  Samples  Local Weight  Memory access            Symbol           Shared Object  Data Symbol          Data Object
     6.51%        1  1830          L3 or Remote Cache hit   [k] ring_lookup  [kernel]       [.] counters+0x40    prog
"""

BTF_IN_C = """#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)
#endif
struct job {
\tlong unsigned int id;
};
"""

BROWSER = (
    "Cacheline 0x7f10c0\n  RmtHitm  LclHitm  Off  Code address  rmt hitm  lcl hitm  load\n"
    "   0.00%  50.10%  0x8  0x401136  0 105 82\n"
)

CPUINFO = "processor\t: 0\nphysical id\t: 0\ncore id\t\t: 0\n"

HERD = "Test SB Allowed\nStates 1\n0:EAX=0; 1:EAX=0;\nOk\nWitnesses\nPositive: 1 Negative: 0\nObservation SB Always 1 0\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MEM_REPORT, "perf mem report -D"),
        (BTF_IN_C, "format raw"),
        (HERD, "this is what herd prints"),
        (BROWSER, "perf c2c report --stdio"),
        (CPUINFO, "lscpu -J -e"),
        (" Thread ID   comm\n\n   123  sched-pipe\n", "perf lock contention"),
        ("Package:2 L3Cache:1 Core:4 PU:2\n", "--of xml"),
        ("NAME ONE-SIZE ALL-SIZE WAYS TYPE\nL2 1M 4M 8 Unified\n", "lscpu -J -e"),
        ("type = Type counter\n    integer(kind=8) :: hits\nEnd Type counter\n", "--structure NAME"),
        ("type = record\n    hits: long_integer;\n    ready: boolean;\nend record\n", "--structure NAME"),
    ],
    ids=["mem", "btf", "herd", "browser", "cpuinfo", "lock info", "synthetic", "lscpu -C", "ptype Fortran", "ptype Ada"],
)
def test_what_lacks_what_its_kind_needs_is_refused_with_the_command_that_has_it(
    linebounce: Program, text: str, said: str
) -> None:
    linebounce.file("text.txt", text)
    message = linebounce.refused("import", "text.txt")
    assert said in message
    assert "Known forms" not in message


def test_a_command_that_unwraps_a_text_takes_its_name_as_one_word(linebounce: Program) -> None:
    name = "mail; touch owned.txt"
    linebounce.file(name, "P0: write 120 &lt;-- 80\n")
    message = linebounce.refused("import", name, code=3)
    assert message.rstrip().endswith(f"< '{name}' > FILE")
