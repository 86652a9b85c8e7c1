"""Litmus tests from herd's files: Linebounce must allow exactly what an independent enumerator of x86-TSO here allows."""

import json
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
    said = linebounce("import", "c11.litmus").stdout
    assert "No verdict: Linebounce has no memory model of C11. Never seen in 2000 rounds" in said
    linebounce.file("c11_all.litmus", (linebounce.directory / "c11.litmus").read_text().replace("exists (", "forall ~("))
    said = linebounce("import", "c11_all.litmus").stdout
    assert "The condition held in all 2000 rounds" in said
    assert "which can't break it" in said


def test_a_test_with_too_many_orders_is_run_without_a_verdict(linebounce: Program) -> None:
    """Eight threads that write three words and read two have millions of states under tso."""
    columns = [[f"MOV [{'xyz'[(thread + i) % 3]}],${thread + 1}" for i in range(3)] for thread in range(8)]
    for thread, column in enumerate(columns):
        column += [f"MOV EAX,[{'xyz'[thread % 3]}]", f"MOV EBX,[{'xyz'[(thread + 1) % 3]}]"]
    rows = "".join(" " + " | ".join(column[i] for column in columns) + " ;\n" for i in range(5))
    head = " | ".join(f"P{thread}" for thread in range(8)) + " ;\n"
    linebounce.file("many.litmus", f"X86 many\n{{ }}\n {head}{rows}exists (0:EAX=1 /\\ 1:EAX=2 /\\ x=3)\n")
    result = linebounce("import", "many.litmus")
    assert result.code == 0, result.stderr
    assert "No verdict: all its orders under tso would be tried, and they have more than 100000 states." in result.stdout
    assert "2000 rounds" in result.stdout
    assert "forbid" not in result.stdout
    experiment = linebounce.directory / "many.toml"
    judged = experiment.read_text().replace('judge = "none"', 'judge = "machine"')
    assert judged != experiment.read_text()
    said = linebounce.refused("run", linebounce.file("judged.toml", judged), "-o", "judged")
    assert "workload.threads: to judge this test, all its orders under tso would be tried" in said
    assert "workload.judge=none only counts outcomes" in said


def test_threads_that_share_nothing_have_few_orders(linebounce: Program) -> None:
    """Seven writers of words of their own, under ia64, took minutes."""
    threads = " || ".join(f"{word} = 1" for word in "xyzabcd")
    asks = " ".join(f"{word}=1" for word in "xyzabcd")
    workload = f'name = "litmus"\nthreads = "{threads}"\nasks = "{asks}"\nrounds = 200\n'
    text = f'name = "seven"\ntitle = "Seven writers"\nmachine = "itanium2_two_node_16way"\n[workload]\n{workload}'
    experiment = linebounce.file("seven.toml", text + "[run]\nwarmup_us = 0\nmeasure_us = 0\n")
    results = linebounce.run(experiment, "out", "--quiet")
    (point,) = json.loads((results / "results.json").read_text())["points"]
    assert point["metrics"]["litmus.asked"]["value"] == 200
    assert point["metrics"]["litmus.forbidden"]["value"] == 0
    together = experiment.read_text().replace(threads, " || ".join(["x = 1"] * 7)).replace(asks, "x=1")
    said = linebounce.refused("run", linebounce.file("together.toml", together), "-o", "together")
    assert "all its orders under ia64 would be tried, and they have more than 100000 states" in said
