"""Locks on the shipped machines: how each scales with CPUs, and what a queue lock's hand-off consists of."""

import json
import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from statistics import mean

import pytest
from experiments import experiment
from program import MACHINES, ROOT, Program
from results import read_csv

XEON = "p3_xeon_8way"
ITANIUM = "itanium2_two_node_16way"
ATOMIC_NS = 11 / 1.6  # the machine's atomic operation, without the time until its line arrives

Throughput = dict[str, dict[int, float]]  # by lock and number of CPUs


def results_of(directory: Path) -> dict:
    return json.loads((directory / "results.json").read_text())


def value(point: dict, metric: str) -> float:
    return point["metrics"][metric]["value"]


def throughput(results: dict) -> Throughput:
    found: Throughput = defaultdict(dict)
    for point in results["points"]:
        at = point["at"]
        found[at["workload.lock"]][at["machine.cpus"]] = value(point, "throughput.operations_per_s")
    return found


@pytest.fixture(scope="module", params=[XEON, ITANIUM])
def scaling(session_linebounce: Program, request: pytest.FixtureRequest) -> Throughput:
    return throughput(
        results_of(session_linebounce.run("lock_scaling", f"scaling_{request.param}", "--machine", request.param))
    )


def test_tas_falls_with_every_cpu_that_contends(scaling: Throughput) -> None:
    contended = [rate for cpus, rate in sorted(scaling["tas"].items()) if cpus > 1]
    assert all(more < fewer * 0.8 for fewer, more in pairwise(contended))


@pytest.mark.parametrize("lock", ["mcs", "clh"])
def test_queue_locks_stay_as_fast_from_four_cpus_on(scaling: Throughput, lock: str) -> None:
    """This also holds when CPUs are added on the other bus or node, because the CPUs alternate between both from the
    start."""
    rates = [rate for cpus, rate in scaling[lock].items() if cpus >= 4]
    assert max(rates) < 1.2 * min(rates)


@pytest.mark.parametrize("lock", ["mcs", "clh"])
def test_queue_locks_stay_as_fast_inside_a_node(linebounce: Program, lock: str) -> None:
    run = ["--set", "machine.cpu_order=fill", "--set", f"workload.lock={lock}", "--set", "machine.cpus=4"]
    four = results_of(linebounce.run("lock_scaling", "four", "--machine", ITANIUM, *run))
    eight = results_of(linebounce.run("lock_scaling", "eight", "--machine", ITANIUM, *run[:-1], "machine.cpus=8"))
    rates = [value(results["points"][0], "throughput.operations_per_s") for results in [four, eight]]
    assert max(rates) < 1.2 * min(rates)


@pytest.mark.parametrize("machine", [XEON, ITANIUM])
def test_tickets_throughput_is_between_that_of_tas_and_mcs(linebounce: Program, machine: str) -> None:
    """Runs ten times as long as shipped: with two CPUs on each of two nodes, ticket is faster than tas by less than
    half a percent."""
    rates = {}
    for lock in ["tas", "ticket", "mcs"]:
        run = ["--machine", machine, "--set", f"workload.lock={lock}", "--set", "run.measure_us=5000"]
        results = results_of(linebounce.run("lock_scaling", lock, *run))
        rates[lock] = {p["at"]["machine.cpus"]: value(p, "throughput.operations_per_s") for p in results["points"]}
    for cpus, rate in rates["ticket"].items():
        if cpus >= 4:
            assert rates["tas"][cpus] < rate < rates["mcs"][cpus], cpus


def test_a_lock_alone_is_as_fast_as_its_atomic_operations(scaling: Throughput) -> None:
    """One exchange for tas and clh, plus at most a few stores for the others; writers of rwlock add twice."""
    alone = {lock: rates[1] for lock, rates in scaling.items()}
    assert max(alone.values()) == pytest.approx(alone["tas"], rel=0.01)
    assert min(alone.values()) > 0.9 * alone["tas"]


# ---- the hand-off ----

# The section only computes: with data it would end with its stores, for which a release waits.
HAND_OVER = experiment(
    workload='name = "critical_section"\ndata_lines = 0\ninside_cycles = 100\noutside_cycles = 1000',
    run="warmup_us = 50\nmeasure_us = 1000",
    top=f'machine = "{ITANIUM}"',
    more='[sweep]\n"workload.lock" = ["mcs", "clh"]\n"machine.cpus" = [8, 16]\n"machine.cpu_order" = ["spread", "fill"]',
)


@pytest.fixture(scope="module")
def hand_overs(session_linebounce: Program) -> Path:
    return session_linebounce.run(session_linebounce.file("hand_over.toml", HAND_OVER), "hand_over")


@pytest.fixture(scope="module")
def matrices(session_linebounce: Program) -> dict[str, Path]:
    """What a receiver pays for a line: with a load, with an atomic operation, and with an atomic operation after a read
    of the same line."""
    settings = ["--machine", ITANIUM, "--set", "workload.repetitions=2"]
    return {
        access: session_linebounce.run("core_to_core", f"to_{access}", *settings, "--set", f"workload.access={access}")
        for access in ["load", "atomic", "upgrade"]
    }


def cost(matrix: Path, state: str, *, across: bool, home_at_receiver: bool | None = None) -> float:
    """The mean over pairs of CPUs within a node or across nodes (cpu_order is "spread"), over all homes or for one."""
    chosen = []
    for row in read_csv(matrix / "matrix.csv"):
        giver, receiver, home = (int(row[key]) % 2 for key in ["from_cpu", "to_cpu", "home_node"])
        at_receiver = home_at_receiver is None or (home == receiver) == home_at_receiver
        if row["state"] == state and (giver != receiver) == across and at_receiver:
            chosen.append(float(row["latency_ns"]))
    return mean(chosen)


def transfers_of_clh(matrices: dict[str, Path], *, across: bool) -> float:
    """The releaser stores into its successor's node, on which the successor spins. In series:  1. the releaser's store
    needs the right to write, which it takes from the successor's copy (an upgrade; nodes move between CPUs, so their
    homes may be anywhere); 2. the successor, whose copy is gone, loads the modified line."""
    take_right = cost(matrices["upgrade"], "Shared", across=across) - ATOMIC_NS
    return take_right + cost(matrices["load"], "Modified", across=across)


def transfers_of_mcs(matrices: dict[str, Path], *, across: bool) -> float:
    """The home of the waiter's queue node is the waiter's machine node. The waiter has read it, and so has the
    successor that linked itself into it. In series:  1. the releaser, which has no copy, stores to the shared line; its
    home is the waiter's node, another node or the releaser's own; 2. the waiter loads the modified line."""
    take_line = cost(matrices["atomic"], "Shared", across=across, home_at_receiver=not across) - ATOMIC_NS
    return take_line + cost(matrices["load"], "Modified", across=across)


def share_across_nodes(directory: Path, point: int) -> float:
    """The share of hand-offs between nodes. Waiters load their flag twice, after each of two writes by a neighbour in the
    queue; the source of these loads shows where the neighbour is."""
    loads: dict[str, int] = defaultdict(int)
    for row in read_csv(directory / "points" / str(point) / "lines.csv"):
        if row["field"] == "waits" and row["access"] == "load":
            loads[row["source"]] += int(row["count"])
    return loads["remote_c2c"] / (loads["remote_c2c"] + loads["local_c2c"])


@pytest.mark.parametrize("point", range(8))
def test_the_core_to_core_matrix_has_the_cost_of_a_hand_over(hand_overs: Path, matrices: dict[str, Path], point: int) -> None:
    """With 8 or more CPUs the queue is never empty: sections follow each other, and the time outside sections is the
    hand-off. Eight consecutive CPUs fill one node, so no hand-off crosses nodes then."""
    found = results_of(hand_overs)["points"][point]
    across = share_across_nodes(hand_overs, point)
    assert value(found, "locks.section_lock.con_pct") > 99
    assert (across == 0) == (found["at"]["machine.cpu_order"] == "fill" and found["at"]["machine.cpus"] == 8)
    measured = 1e9 / value(found, "throughput.operations_per_s") - 1000 * value(found, "locks.section_lock.hold_mean_us")
    transfers = transfers_of_clh if found["at"]["workload.lock"] == "clh" else transfers_of_mcs
    expected = across * transfers(matrices, across=True) + (1 - across) * transfers(matrices, across=False)
    assert measured == pytest.approx(expected, rel=0.1)


# ---- the experiments as shipped ----


@pytest.mark.parametrize("machine", sorted(path.stem for path in MACHINES.glob("*.toml")))
def test_every_lock_of_lock_scaling_runs_on_every_machine(linebounce: Program, machine: str) -> None:
    """Runs each with four CPUs, which every machine has. `scaling` has already run two of them with all their CPUs."""
    shipped = (ROOT / "configs/experiments/lock_scaling.toml").read_text()
    four = shipped.replace('"1..N"', "[4]")
    short = ["--set", "run.seeds=1", "--set", "run.warmup_us=20", "--set", "run.measure_us=80"]
    rates = throughput(results_of(linebounce.run(linebounce.file("four.toml", four), "out", "--machine", machine, *short)))
    assert len(rates) == 18
    assert all(by_cpus.keys() == {4} and by_cpus[4] > 0 for by_cpus in rates.values())


def test_lock_selection_has_every_lock_and_the_fastest_first(linebounce: Program) -> None:
    """Except locks for a fixed number of CPUs."""
    listed = [lock["name"] for lock in json.loads(linebounce("list", "locks", "--json").stdout) if "cpus" not in lock]
    result = linebounce("run", "lock_selection", "-o", "out")
    assert result.code == 0, result.stderr
    rates = selection(linebounce.directory / "out")
    assert sorted(rates) == sorted(listed)
    printed = [name for name in re.findall(r"^  (\S+) +\d", result.stdout, re.MULTILINE) if name in rates]
    assert printed == sorted(rates, key=lambda lock: -rates[lock])


def selection(directory: Path) -> dict[str, float]:
    return {
        point["at"]["workload.lock"]: value(point, "throughput.operations_per_s") for point in results_of(directory)["points"]
    }


def test_races_occur_only_without_a_lock(linebounce: Program) -> None:
    for point in results_of(linebounce.run("lock_selection", "out"))["points"]:
        lock = point["at"]["workload.lock"]
        wrong = [point["metrics"][f"section.{what}"]["value"] for what in ["lost_updates", "torn_reads"]]
        if lock == "none":
            assert all(count > 0 for count in wrong)
            assert value(point, "locks.section_lock.races") > wrong[0]
        else:
            assert wrong == [0, 0]
            assert "locks.section_lock.races" not in point["metrics"]


def test_a_lock_that_starves_says_so(linebounce: Program) -> None:
    """With requests for a line served in order, one of 32 CPUs keeps a test-and-set lock.  The CPUs that never get the
    lock count as waiting."""
    settings = ("workload.lock=tas", "machine.cpus=32", "run.seeds=1", "machine.bus.next=first")
    point = [word for setting in settings for word in ("--set", setting)]
    command = ("run", "lock_scaling", "--machine", "generic_2socket_32core", *point, "-o", "out")
    result = linebounce(*command)
    assert result.code == 0
    assert "WARNING" in result.stdout
    (point,) = results_of(linebounce.directory / "out")["points"]
    assert any("31 CPUs got less than a tenth of an equal share" in warning for warning in point["warnings"])
    assert any(re.match(r"31 of \d+ waits for section_lock had not ended", warning) for warning in point["warnings"])
    assert value(point, "locks.section_lock.waiting") == 31
    assert value(point, "locks.section_lock.wait_max_us") > 400


def test_a_hand_off_costs_more_with_every_waiter_that_shares_the_lines(linebounce: Program) -> None:
    """A hand-off of mcs takes no longer with more waiters: those further back in the queue do nothing."""
    points = results_of(linebounce.run("lock_handoff", "out", "--set", "run.seeds=1"))["points"]
    handoff: Throughput = defaultdict(dict)
    for point in points:
        if (metric := point["metrics"].get("locks.section_lock.handoff_mean_ns")) is not None:
            handoff[point["at"]["workload.lock"]][point["at"]["machine.cpus"]] = metric["value"]
    for lock in ("ticket", "ttas"):
        waits = [ns for _, ns in sorted(handoff[lock].items())]
        assert len(waits) == 4
        assert all(more > fewer for fewer, more in pairwise(waits)), lock
    # With two sockets, more hand-offs stay inside one than with eight.
    across = [handoff["mcs"][cpus] for cpus in (16, 32, 64)]
    assert max(across) < 1.2 * min(across)
    assert handoff["ticket"][64] > 2 * handoff["mcs"][64]


def test_the_home_serves_a_ticket_locks_waiters_one_after_the_other(linebounce: Program) -> None:
    """All waiters reload the line after each release and after each new ticket. On average half of the waiters come
    before the next holder. Each CPU is on a node of its own, so each further waiter adds half of the home's time for
    one request, twice."""
    busy_ns = 50

    def handoff_ns(cpus: int) -> float:
        point = (
            "workload.lock=ticket",
            f"machine.cpus={cpus}",
            "machine.nodes=64",
            f"machine.directory.line_busy_ns={busy_ns}",
        )
        settings = [argument for setting in (*point, "run.seeds=1") for argument in ("--set", setting)]
        (found,) = results_of(linebounce.run("lock_handoff", f"out{cpus}", *settings))["points"]
        return value(found, "locks.section_lock.handoff_mean_ns")

    assert (handoff_ns(64) - handoff_ns(32)) / 32 == pytest.approx(busy_ns, rel=0.15)
