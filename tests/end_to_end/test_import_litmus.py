"""Litmus tests from herd's files: Linebounce must allow exactly what an independent enumerator of x86-TSO here allows."""

import re

import pytest
import tso
from program import Program

TESTS = list(tso.all_tests())
# A run takes 0.2 s, so most run only in ./dev fuzz.
EACH = len(TESTS) // 12
PARAMETERS = [
    pytest.param(test, id=test.name, marks=() if number % EACH == 0 else pytest.mark.thorough)
    for number, test in enumerate(TESTS)
]


def test_the_collection_has_at_least_two_hundred_litmus_tests() -> None:
    assert len(TESTS) >= 200
    assert {name.split("+")[0] for name in (test.name for test in TESTS)} >= {"SB", "MP", "LB", "R", "WRC", "IRIW", "3.2W"}


@pytest.mark.parametrize("test", PARAMETERS)
def test_allowed_outcomes_are_those_of_tso_and_no_other_is_seen(linebounce: Program, test: tso.Test) -> None:
    linebounce.file("test.litmus", test.text())
    result = linebounce("import", "test.litmus")
    assert result.code == 0, result.stderr
    expected = tso.outcomes(test.threads, test.finals)
    printed = {
        frozenset((name, int(value)) for name, value in (term.split("=") for term in match.split("; ")))
        for match in re.findall(r"^ +((?:[\w:]+=\d+)(?:; [\w:]+=\d+)*) +\d+", result.stdout, re.MULTILINE)
    }
    assert printed == expected
    asked = any(all((name, value) in outcome for name, value in test.asks.items()) for outcome in expected)
    assert ("allowed by tso" if asked else "forbidden by tso, and never seen") in result.stdout
    assert "forbids: seen 0 times" in result.stdout


def test_forall_counts_what_breaks_it_and_c11_is_read(linebounce: Program) -> None:
    threads = " P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n"
    linebounce.file("all.litmus", "X86 SB\n{ }\n" + threads + "forall (0:EAX=1 \\/ 1:EAX=1)\n")
    said = linebounce("import", "all.litmus").stdout
    assert "does not hold: tso allows other outcomes" in said
    assert re.search(r"0:EAX=0; 1:EAX=0 +\d+ +breaks the condition", said)
    store, load = "atomic_store({}, 1);", "int r0 = atomic_load({});"
    bodies = [
        f"P{i} (atomic_int* x, atomic_int* y) {{\n{store.format(a)}\n{load.format(b)}\n}}\n"
        for i, a, b in ((0, "x", "y"), (1, "y", "x"))
    ]
    linebounce.file("c11.litmus", "C SB\n{}\n" + "".join(bodies) + "exists (0:r0=0 /\\ 1:r0=0)\n")
    assert "forbidden by ia64, and never seen" in linebounce("import", "c11.litmus").stdout
