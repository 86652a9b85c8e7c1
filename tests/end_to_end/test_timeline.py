"""run.record_timeline: what every CPU, lock, bus and link did over time."""

import csv
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from experiments import experiment
from program import Program
from ways import assert_every_way_agrees

CASES = {
    "one bus": experiment(
        workload='name = "critical_section"\nlock = "ticket"\noutside_cycles = 60', run="warmup_us = 5\nmeasure_us = 40"
    ),
    "two nodes": experiment(
        top='machine = "itanium2_two_node_16way"',
        workload='name = "critical_section"\nlock = "mcs"\noutside_cycles = 60',
        run="warmup_us = 5\nmeasure_us = 40",
    ),
}
WINDOW_NS = 40_000  # the whole run: spans still running at the end are cut there
RECORD = ["--set", "run.record_timeline=true", "--set", f"run.timeline_us={WINDOW_NS / 1000:g}"]

Span = tuple[float, float]


def timeline(linebounce: Program, case: str, output: str, *arguments: str) -> Path:
    (linebounce.directory / "case.toml").write_text(CASES[case])
    return linebounce.run("case.toml", output, *RECORD, *arguments) / "timeline.csv"


def spans(file: Path) -> dict[str, dict[str, list[Span]]]:
    """By kind and track; a lock's spans by its name, whichever CPU had it."""
    found: dict[str, dict[str, list[Span]]] = defaultdict(lambda: defaultdict(list))
    with file.open() as rows:
        for row in csv.DictReader(rows):
            track = row["name"] if row["kind"] == "lock_hold" else row["track"]
            found[row["kind"]][track].append((float(row["begin_ns"]), float(row["end_ns"])))
    return found


def overlapping(of_track: list[Span]) -> list[tuple[Span, Span]]:
    return [(a, b) for a, b in pairwise(sorted(of_track)) if b[0] < a[1] - 0.001]  # written with picosecond precision


@pytest.mark.parametrize("case", CASES)
def test_the_timeline_has_the_same_bytes_with_every_speed_up_off(linebounce, case):
    plain = assert_every_way_agrees(linebounce, linebounce.file("case.toml", CASES[case]), *RECORD)
    assert (plain / "timeline.csv").read_bytes().count(b"\n") > 500


@pytest.mark.parametrize("case", CASES)
def test_nothing_does_two_things_at_a_time(linebounce, case):
    found = spans(timeline(linebounce, case, "out"))
    for kind in ["function", "bus_address", "bus_data", "lock_hold"]:
        assert found[kind], kind
        for track, of_track in found[kind].items():
            assert not overlapping(of_track), (kind, track)


@pytest.mark.parametrize("case", CASES)
def test_a_cpu_is_in_some_function_all_the_time(linebounce, case):
    warmup_ns = 5000
    for cpu, of_cpu in spans(timeline(linebounce, case, "out"))["function"].items():
        of_cpu.sort()
        assert of_cpu[0][0] <= warmup_ns, cpu
        assert of_cpu[-1][1] >= warmup_ns + WINDOW_NS, cpu
        assert all(b[0] - a[1] < 0.002 for a, b in pairwise(of_cpu)), cpu


def test_links_carry_traffic_between_nodes_and_a_single_bus_has_no_links(linebounce):
    assert "link" not in spans(timeline(linebounce, "one bus", "one"))
    links = spans(timeline(linebounce, "two nodes", "two"))["link"]
    assert set(links) == {"0_2", "1_2"}  # to the crossbar's switch; the way on from there takes no time


def test_a_run_without_a_timeline_leaves_none_and_removes_an_older_one(linebounce):
    timeline(linebounce, "one bus", "out")
    (linebounce.directory / "case.toml").write_text(CASES["one bus"])
    assert not (linebounce.run("case.toml", "out", "--fresh") / "timeline.csv").exists()
