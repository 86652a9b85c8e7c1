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
    assert ("allowed by x86-TSO" if asked else "forbidden by x86-TSO, and never seen") in result.stdout
    assert "forbids: seen 0 times" in result.stdout


def test_forall_counts_what_breaks_it_and_c11_is_read(linebounce: Program) -> None:
    threads = " P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n"
    linebounce.file("all.litmus", "X86 SB\n{ }\n" + threads + "forall (0:EAX=1 \\/ 1:EAX=1)\n")
    said = linebounce("import", "all.litmus").stdout
    assert "does not hold: x86-TSO allows other outcomes" in said
    assert re.search(r"0:EAX=0; 1:EAX=0 +\d+ +breaks the condition", said)
    store, load = "atomic_store({}, 1);", "int r0 = atomic_load({});"
    bodies = [
        f"P{i} (atomic_int* x, atomic_int* y) {{\n{store.format(a)}\n{load.format(b)}\n}}\n"
        for i, a, b in ((0, "x", "y"), (1, "y", "x"))
    ]
    linebounce.file("c11.litmus", "C SB\n{}\n" + "".join(bodies) + "exists (0:r0=0 /\\ 1:r0=0)\n")
    said = " ".join(linebounce("import", "c11.litmus").stdout.split())
    assert "No verdict: Linebounce has no memory model of C11. Never seen in 2000 rounds on a machine with ia64's" in said
    assert "which can't end so" in said
    linebounce.file("c11_all.litmus", (linebounce.directory / "c11.litmus").read_text().replace("exists (", "forall ~("))
    said = " ".join(linebounce("import", "c11_all.litmus").stdout.split())
    assert "The condition held in all 2000 rounds" in said
    assert "which can't break it" in said


def test_a_test_with_too_many_orders_is_not_judged_by_its_runs(linebounce: Program) -> None:
    """Eight threads that write three words and read two have millions of states under tso."""
    columns = [[f"MOV [{'xyz'[(thread + i) % 3]}],${thread + 1}" for i in range(3)] for thread in range(8)]
    for thread, column in enumerate(columns):
        column += [f"MOV EAX,[{'xyz'[thread % 3]}]", f"MOV EBX,[{'xyz'[(thread + 1) % 3]}]"]
    rows = "".join(" " + " | ".join(column[i] for column in columns) + " ;\n" for i in range(5))
    head = " | ".join(f"P{thread}" for thread in range(8)) + " ;\n"
    linebounce.file("many.litmus", f"X86 many\n{{ }}\n {head}{rows}exists (0:EAX=1 /\\ 1:EAX=2 /\\ x=3)\n")
    result = linebounce("import", "many.litmus")
    assert result.code == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "not decided: there are too many candidates" in said or "allowed by x86-TSO" in said
    assert "2000 rounds" in said
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


def kernel(name: str, *threads: str, asks: str, comment: str = "") -> str:
    """A test in the kernel's C. Each thread has all variables."""
    functions = "".join(
        f"P{number}(int *a, int *b, spinlock_t *l)\n{{\n\tint r0; int r1;\n\t{body}\n}}\n"
        for number, body in enumerate(threads)
    )
    return f"C {name}\n{comment}{{ }}\n{functions}exists ({asks})\n"


def judged(linebounce: Program, text: str, *options: str) -> str:
    linebounce.file("t.litmus", text)
    result = linebounce("import", "t.litmus", *options)
    assert result.code == 0, result.stderr
    return " ".join(result.stdout.split())


def test_a_test_in_c_is_judged_by_the_kernels_model(linebounce: Program) -> None:
    releases = ("WRITE_ONCE(*a, 2); smp_store_release(b, 1);", "WRITE_ONCE(*b, 2); smp_store_release(a, 1);")
    said = judged(linebounce, kernel("both", *releases, asks="a=2 /\\ b=2", comment="(* Result: Sometimes *)\n"))
    assert "allowed by the Linux kernel's model, and never seen in 2000 rounds" in said
    assert "The file says Sometimes, as this verdict does." in said
    twice = ("WRITE_ONCE(*a, 1);", "r0 = READ_ONCE(*a); r1 = READ_ONCE(*a);")
    said = judged(linebounce, kernel("twice", *twice, asks="1:r0=1 /\\ 1:r1=0", comment="(* Result: Sometimes *)\n"))
    assert "forbidden by the Linux kernel's model, and never seen in 2000 rounds" in said
    assert 'Rule "coherence"' in said
    assert "The file says Sometimes: another verdict than this one." in said


def test_what_the_machine_cannot_run_is_judged_all_the_same(linebounce: Program) -> None:
    lock = "spin_lock(l); WRITE_ONCE(*a, 1); r0 = READ_ONCE(*b); spin_unlock(l);"
    other = lock.replace("*a", "*c").replace("*b", "*a").replace("*c", "*b")
    said = judged(linebounce, kernel("locked", lock, other, asks="0:r0=0 /\\ 1:r0=0"))
    assert "forbidden by the Linux kernel's model" in said
    assert "Not run on the machine: the machine has no spinlocks in litmus tests." in said
    assert "an experiment" not in said
    stuck = "spin_lock(l); WRITE_ONCE(*a, 1);"
    assert "no execution ends" in judged(linebounce, kernel("stuck", stuck, stuck, asks="a=1"))
    race = judged(linebounce, kernel("race", "*a = 1;", "r0 = READ_ONCE(*a);", asks="1:r0=1"))
    assert "a data race: the Linux kernel's model promises nothing" in race


def test_another_model_can_be_chosen_or_written(linebounce: Program) -> None:
    threads = " P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n"
    buffering = "X86 SB\n{ }\n" + threads + "exists (0:EAX=0 /\\ 1:EAX=0)\n"
    assert "allowed by x86-TSO" in judged(linebounce, buffering)
    linebounce.file("mine.model", 'title "mine"\nrule all: acyclic po | rf | co | fr "One order."\n')
    linebounce.file("SB.litmus", buffering)
    result = linebounce("import", "SB.litmus", "--model", "mine.model")
    assert "forbidden by mine" in result.stdout
    assert "FORBIDDEN" in result.stdout
    assert result.code == 4, "the machine is an x86 with store buffers"
    assert re.search(r"SB: the machine ended with 0:EAX=0; 1:EAX=0 in \d+ of 2000 rounds, which mine forbids", result.stderr)
    assert 'Rule "all": One order.' in result.stderr
    assert re.search(r"Round \d+ ended so:\n +0.0 ns  CPU \d puts [xy]=1 into its store buffer\n", result.stderr)
    loads = re.findall(r"CPU (\d) loads ([xy])=0\n", result.stderr)
    stores = re.findall(r"CPU (\d) stores ([xy])=1\n", result.stderr)
    assert {word for _, word in loads} == {word for _, word in stores} == {"x", "y"}
    assert {*loads, *stores} == {(cpu, word) for cpu in {cpu for cpu, _ in loads} for word in "xy"}, "two CPUs, both words"
    linebounce.file("bad.model", 'title "bad"\nrule all: acyclic pu "One order."\n')
    assert "line 2: pu is not defined" in linebounce.refused("import", "SB.litmus", "--model", "bad.model")
    assert "did you mean" in linebounce.refused("import", "SB.litmus", "--model", "x86-tos")


def test_seven_threads_take_seconds(linebounce: Program) -> None:
    writers = [f"WRITE_ONCE(*a, {number});" for number in range(1, 8)]
    said = judged(linebounce, kernel("seven", *writers, asks="a=7"))
    assert "allowed by the Linux kernel's model, and seen in" in said
