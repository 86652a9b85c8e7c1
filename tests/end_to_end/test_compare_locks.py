"""`linebounce compare-locks`: every lock in the place of each lock of a trace, by running it."""

import json
from pathlib import Path

from program import Program

MACHINE = "p3_xeon_8way"
SUITABLE = {"tas", "ttas", "ttas_backoff", "ticket", "mcs", "clh", "qspinlock", "mutex"}


def synthetic(linebounce: Program, *arguments: str, accesses: int = 2000) -> Path:
    """Eight threads that fight for one lock."""
    options = [
        "--threads",
        "8",
        "--accesses",
        str(accesses),
        "--locks",
        "1",
        "--section",
        "5",
        "--between",
        "200",
        "--shared",
        "50",
    ]
    result = linebounce("trace", "synth", "-o", "program.lbt", "--shared", "50", *options, *arguments)
    assert result.code == 0, result.stderr
    return linebounce.directory / "program.lbt"


def compared(linebounce: Program, *arguments: str | Path) -> dict:
    result = linebounce("compare-locks", *arguments, "--json")
    assert result.code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["schema"] == "linebounce.compare_locks/1"
    return document


def test_every_suitable_lock_is_tried_and_ranked_by_throughput(linebounce: Program) -> None:
    document = compared(linebounce, synthetic(linebounce, "--lock", "tas"), "--machine", MACHINE)
    (machine,) = document["machines"]
    (lock,) = machine["locks"]
    assert lock["lock"] == "lock"
    trials = lock["trials"]
    assert {trial["algorithm"] for trial in trials} == SUITABLE
    assert [trial["algorithm"] for trial in trials if trial["recorded"]] == ["tas"]
    rates = [trial["throughput_per_s"] for trial in trials]
    assert rates == sorted(rates, reverse=True)
    by_name = {trial["algorithm"]: trial for trial in trials}
    assert by_name["tas"]["change_pct"] == 0
    assert by_name["mcs"]["change_pct"] > 5
    assert by_name["mcs"]["transfers"] < by_name["tas"]["transfers"]
    assert by_name["tas"]["waited_pct"] > 10
    assert machine["advice"].startswith(f"lock: {trials[0]['algorithm']} instead of tas: +")


def test_readers_bring_locks_for_readers(linebounce: Program) -> None:
    file = synthetic(linebounce, "--read-sections", "80", "--lock", "rwlock")
    (machine,) = compared(linebounce, file, "--machine", MACHINE)["machines"]
    tried = {trial["algorithm"] for trial in machine["locks"][0]["trials"]}
    assert tried == SUITABLE | {"rwlock", "brlock", "seqlock"}


def test_two_machines_have_a_table_and_a_line_of_advice_each(linebounce: Program) -> None:
    file = synthetic(linebounce, "--lock", "tas", accesses=500)
    arguments = ["compare-locks", file, "--machine", MACHINE, "--machine", "numaq_16way"]
    shown = linebounce(*arguments)
    assert shown.code == 0, shown.stderr
    last = shown.stdout.splitlines()[-2:]
    assert MACHINE in last[0]
    assert "numaq_16way" in last[1]
    assert "as recorded" in shown.stdout
    again = linebounce(*arguments)
    assert again.stdout == shown.stdout, "results that are there are used again"


def test_only_the_lock_that_is_named_is_replaced(linebounce: Program) -> None:
    text = "linebounce trace 1\nlock a algorithm=ticket\nlock b algorithm=mcs\nstream x\nstream y\n"
    for _ in range(50):
        for stream in "xy":
            for lock in "ab":
                text += f"{stream} acquire {lock}\n{stream} compute 50\n{stream} release {lock}\n"
    file = linebounce.file("two.txt", text + "end\n")
    (machine,) = compared(linebounce, file, "--machine", MACHINE, "--lock", "b")["machines"]
    assert [lock["lock"] for lock in machine["locks"]] == ["b"]
    # Nobody waits for b: who comes out of a's section finds b free.
    assert [lock["lock"] for lock in compared(linebounce, file, "--machine", MACHINE)["machines"][0]["locks"]] == ["a"]
    message = linebounce.refused("compare-locks", file, "--machine", MACHINE, "--lock", "c")
    assert "a, b" in message


def test_a_trace_without_locks_is_refused_with_the_reason(linebounce: Program) -> None:
    linebounce.file("t.din", "0 1000\n1 1008\n")
    assert linebounce("trace", "convert", "t.din", "t.lbt", "--from", "dinero").code == 0
    message = linebounce.refused("compare-locks", "t.lbt", "--machine", MACHINE)
    assert "there are no locks to compare: Dinero knows no locks" in message
