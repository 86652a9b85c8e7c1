"""`cpi.csv`: each CPU's measured time by part, exact to the cycle."""

import json
import math
from collections import Counter

import pytest
from experiments import experiment
from program import Program
from results import CSV_COLUMNS, read_csv
from ways import Way, assert_every_way_agrees

SHORT = "warmup_us = 3\nmeasure_us = 20"
PARTS = CSV_COLUMNS["cpi.csv"].split(",")[5:]
# Covers one bus; two nodes with three cache levels; threads that share a core; stores that overtake each other; groups;
# broadcast.
MACHINES = {
    "p3_xeon_4way": 4,
    "generic_2socket_32core": 8,
    "p4_xeon_ht_2way": 4,
    "itanium2_two_node_16way": 16,
    "generic_chiplet_64core": 8,
    "opteron_6172_4socket": 8,
}
WORKLOADS = {
    "spins": 'name = "critical_section"\nlock = "ticket"\noutside_cycles = 300\ndata_lines = 3',
    "sleeps": 'name = "critical_section"\nlock = "rwsem"\noutside_cycles = 300\ninside_cycles = 900',
    "everything": 'name = "random_references"\noperations = 100000\nshared_lines = 5\nprivate_lines = 500',
}


def cycles_of(rows: list[dict[str, str]], *names: str) -> dict[int, int]:
    """Cycles by CPU."""
    sums: Counter[int] = Counter()
    for row in rows:
        sums[int(row["cpu"])] += sum(int(row[name]) for name in names)
    return dict(sums)


def clock_mhz(program: Program, machine: str) -> float:
    described = json.loads(program("describe", "machine", machine, "--json").stdout)
    return next(row["value"] for row in described["parameters"] if row["path"] == "machine.cpu.clock_mhz")


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("machine", MACHINES)
def test_the_parts_of_each_cpu_are_the_measured_time_to_the_cycle(linebounce: Program, machine: str, workload: str) -> None:
    cpus, measured_us = MACHINES[machine], 17.3
    text = experiment(
        top=f'machine = "{machine}"',
        workload=WORKLOADS[workload],
        run=f"warmup_us = 3.1\nmeasure_us = {measured_us}",
        more=f'[set]\n"machine.cpus" = {cpus}',
    )
    rows = read_csv(linebounce.run(linebounce.file("what.toml", text), "out") / "cpi.csv")
    for row in rows:
        assert sum(int(row[part]) for part in PARTS) == int(row["cycles"])
        assert all(int(row[part]) >= 0 for part in PARTS), row
    whole = math.floor(measured_us * clock_mhz(linebounce, machine) + 1e-6)
    assert cycles_of(rows, "cycles") == dict.fromkeys(range(cpus), whole)
    went_to = {part for part in PARTS if any(cycles_of(rows, part).values())}
    assert {"issue", "l1", "atomic"} <= went_to
    assert went_to & {"local_c2c", "remote_c2c"}
    assert ("spin" in went_to) or workload != "spins"
    assert ("sleep" in went_to) or workload != "sleeps"


def test_the_file_is_the_same_with_and_without_run_ahead_and_parked_spins(linebounce: Program) -> None:
    file = linebounce.file(
        "what.toml", experiment(top='machine = "p4_xeon_ht_2way"', workload=WORKLOADS["everything"], run=SHORT)
    )
    assert_every_way_agrees(linebounce, file, ways=(Way.RUN_AHEAD_OFF, Way.PARKED_SPINS_OFF, Way.BOTH_OFF))


def test_a_program_that_ends_early_has_its_rest_as_ended(linebounce: Program) -> None:
    text = 'title = "Short"\nends = true\nfunction run(cpu) cpu:compute(cpu.id == 0 and 700 or 7000) end\n'
    out = linebounce.run(linebounce.file("short.lua", text), "out", "--machine", "p3_xeon_4way")
    rows = read_csv(out / "cpi.csv")
    assert cycles_of(rows, "issue") == {0: 700, 1: 7000, 2: 7000, 3: 7000}
    assert cycles_of(rows, "ended") == {0: 6300, 1: 0, 2: 0, 3: 0}


def test_functions_have_rows_of_their_own(linebounce: Program) -> None:
    rows = read_csv(linebounce.run(linebounce.file("what.toml", experiment()), "out") / "cpi.csv")
    functions = {row["function"] for row in rows}
    assert "critical_section" in functions
    keys = [(int(row["cpu"]), row["function"]) for row in rows]
    assert keys == sorted(set(keys))


def test_the_cycles_of_seeds_and_points_are_kept_apart_or_added_up(linebounce: Program) -> None:
    sweep = '[sweep]\n"workload.lock" = ["ttas", "mcs"]'
    run = "warmup_us = 5\nmeasure_us = 10\nseeds = 3"
    out = linebounce.run(
        linebounce.file("what.toml", experiment(workload='name = "critical_section"', run=run, more=sweep)), "out"
    )
    rows = read_csv(out / "cpi.csv")
    for point in ("0", "1"):
        own = [row for row in rows if row["point"] == point]
        assert cycles_of(own, "cycles") == dict.fromkeys(range(4), 3 * 7000)
        assert own == read_csv(out / "points" / point / "cpi.csv")


def test_the_terminal_shows_in_one_line_where_the_answered_points_time_went(linebounce: Program) -> None:
    text = experiment(workload=WORKLOADS["spins"])
    result = linebounce("run", linebounce.file("what.toml", text), "-o", "out")
    line = next(line for line in result.stdout.splitlines() if "CPUs' time:" in line)
    rows = read_csv(linebounce.directory / "out" / "cpi.csv")
    spin = sum(cycles_of(rows, "spin").values()) / sum(cycles_of(rows, "cycles").values())
    assert f"{100 * spin:.0f} % spin" in line
    shares = [int(part.split(" %")[0]) for part in line.split(": ")[1].split(", ") if "others" not in part]
    assert shares == sorted(shares, reverse=True)


def test_cycles_per_instruction_are_not_the_headline_of_a_users_program(linebounce: Program) -> None:
    run = "function run(cpu) while true do cpu:fetch_add(x, 1) end end"
    text = f'title = "Adds"\nfunction setup() x = place_array("x", 8) end\n{run}\n'
    out = linebounce.run(linebounce.file("adds.lua", text), "out", "--machine", "p3_xeon_4way", "--set", "run.measure_us=20")
    document = json.loads((out / "results.json").read_text())
    assert not [headline for headline in document["headlines"] if headline["metric"].startswith("cpi.")]
    assert document["points"][0]["metrics"]["cpi.kernel"]["value"] > 1
