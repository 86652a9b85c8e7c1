"""The shipped machines with several nodes: crossing between nodes costs what it should, and no speed-up changes results."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from experiments import experiment
from program import Program
from results import metric_of, read_csv
from ways import Way, assert_every_way_agrees

ROOT = Path(__file__).resolve().parent.parent.parent
MACHINES = sorted(path.stem for path in (ROOT / "configs" / "machines").glob("*.toml"))
NODES = [name for name in MACHINES if "[node]" in (ROOT / "configs" / "machines" / f"{name}.toml").read_text()]
ITANIUM = "itanium2_two_node_16way"
LINK_NS = 18.75  # the latency of the machine's network: five bus clocks, so a message crosses a link in whole clocks


# NUMA nodes that Linux shows by the firmware's default: NPS1 and no L3 as NUMA on AMD's servers (the machine files name the
# source), no sub-NUMA clustering on Intel's. Each die of an Opteron 6172 has its own memory controller, and is a node.
LINUX_NODES = {
    "epyc_7742_2socket": 2,
    "epyc_7773x_1socket": 1,
    "graviton2_1socket": 1,
    "opteron_6172_4socket": 8,
    "opteron_8431_8socket": 8,
    "xeon_8360y_2socket": 2,
    "xeon_e5_2680v3_2socket": 2,
    "xeon_e7_8867l_8socket": 8,
    "xeon_gold_6242_2socket": 2,
    "xeon_x5650_2socket": 2,
}


def costs(directory: Path) -> dict[tuple[str, ...], float]:
    """The costs of a core-to-core run: from, to, home, state -> ns."""
    return {
        (row["from_cpu"], row["to_cpu"], row["home_node"], row["state"]): float(row["latency_ns"])
        for row in read_csv(directory / "matrix.csv")
    }


@pytest.fixture(scope="module")
def itanium(session_linebounce: Program) -> Path:
    return session_linebounce.run("core_to_core", "itanium", "--machine", ITANIUM)


def node_of(cpu: str) -> int:
    return int(cpu) % 2  # because cpu_order = "spread"


def test_transfers_between_nodes_cost_more_than_transfers_inside_one(itanium: Path) -> None:
    inside, between = [], []
    for (giver, receiver, _, state), cost in costs(itanium).items():
        if state == "Modified":
            (inside if node_of(giver) == node_of(receiver) else between).append(cost)
    assert len(inside) == 2 * 8 * 7 * 2  # nodes, pairs in each node, homes
    assert len(between) == 2 * 8 * 8 * 2
    assert max(inside) < 0.6 * min(between)
    assert max(inside) - min(inside) < 4, "all CPUs of a node are alike, but for a clock of the bus"


def test_real_machines_have_the_nodes_that_linux_shows_on_them(linebounce: Program) -> None:
    """Locks, page placement and slabs that look at NUMA nodes see the machine's."""
    for machine, nodes in LINUX_NODES.items():
        shown = json.loads(linebounce("describe", "machine", machine, "--json").stdout)
        values = {parameter["path"]: parameter["value"] for parameter in shown["parameters"]}
        assert values["machine.nodes"] == nodes, machine
        assert values["machine.cpu_nodes"] == "all", machine


def test_a_lock_that_knows_nodes_finds_one_on_a_socket_of_eight_dies(linebounce: Program) -> None:
    """CNA moves no waiter aside there: each of 64 CPUs is as near to the holder as any other, as far as Linux tells it."""
    settings = ["machine.cpus=64", 'workload.lock=["mcs", "cna"]', "run.measure_us=200", "run.seeds=2"]
    sets = [word for setting in settings for word in ("--set", setting)]
    directory = linebounce.run("lock_scaling", "out", "--machine", "epyc_7773x_1socket", *sets)
    points = json.loads((directory / "results.json").read_text())["points"]
    mcs, cna = (point["metrics"]["throughput.operations_per_s"]["value"] for point in points)
    assert cna == pytest.approx(mcs, rel=0.05)


def test_near_homes_are_those_of_giver_and_receiver(session_linebounce: Program, itanium: Path) -> None:
    chosen = ["--set", "workload.homes=near", "--set", "workload.repetitions=1"]
    near = costs(session_linebounce.run("core_to_core", "near", "--machine", ITANIUM, *chosen))
    expected = {
        (giver, receiver, home, state)
        for giver, receiver, home, state in costs(itanium)
        if int(home) in (node_of(giver), node_of(receiver))
    }
    assert set(near) == expected


def test_without_latency_of_the_links_remote_latencies_fall_by_their_crossings(
    session_linebounce: Program, itanium: Path
) -> None:
    at_zero = costs(
        session_linebounce.run("core_to_core", "no_latency", "--machine", ITANIUM, "--set", "machine.network.latency_ns=0")
    )
    for (giver, receiver, home, state), cost in costs(itanium).items():
        # A dirty line in a cache of the reader's node involves no other node. A clean line comes from its home: request
        # there, line back. A dirty line of another node takes that way, or goes from the home to the owner and from there to
        # the reader.
        remote = node_of(giver) != node_of(receiver) or (state != "Modified" and int(home) != node_of(receiver))
        crossings = 2 if remote else 0
        assert cost - at_zero[giver, receiver, home, state] == pytest.approx(crossings * LINK_NS, abs=1e-3)


def test_a_link_is_busy_for_as_long_as_its_bytes_take(session_linebounce: Program) -> None:
    out = session_linebounce.run("core_to_core", "numaq", "--machine", "numaq_16way")
    metrics = json.loads((out / "results.json").read_text())["points"][0]["metrics"]
    links = [name.removesuffix(".mb_per_s") for name in metrics if name.endswith(".mb_per_s")]
    assert links
    for link in links:
        # in percent of the 500 MB/s that a link has in the machine's file
        share = 100 * metrics[link + ".mb_per_s"]["value"] / 500
        assert share > 0
        assert metrics[link + ".utilisation_pct"]["value"] == pytest.approx(share, rel=0.01)


def fastest(directory: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in read_csv(directory / "latency.csv"):
        found[row["source"]] = min(found.get(row["source"], 1e9), float(row["latency_ns"]))
    return found


def test_under_load_the_fastest_misses_fall_by_their_crossings_too(session_linebounce: Program) -> None:
    directory = session_linebounce.run("numa_histogram", "histogram")
    before = fastest(directory)
    after = fastest(session_linebounce.run("numa_histogram", "histogram_0", "--set", "machine.network.latency_ns=0"))
    assert {"local_c2c", "local_memory", "remote_memory", "remote_c2c"} <= set(before)
    for source in ["remote_memory", "remote_c2c"]:
        assert before[source] - after[source] == pytest.approx(2 * LINK_NS, abs=1e-3)
    for source in ["local_c2c", "local_memory"]:
        assert before[source] == after[source]
    results = json.loads((directory / "results.json").read_text())
    peaks = [metric_of(results, f"latency.peaks.{i}.latency_ns") for i in range(1, 5)]
    assert peaks == sorted(peaks)
    heights = [metric_of(results, f"latency.peaks.{i}.height") for i in range(1, 5)]
    assert min(heights[0], heights[3]) > max(heights[1], heights[2]), "cache-to-cache transfers are the tallest, near and far"


def test_a_home_on_a_third_node_costs_more(session_linebounce: Program) -> None:
    results = json.loads(
        (session_linebounce.run("core_to_core", "numaq", "--machine", "numaq_16way") / "results.json").read_text()
    )
    for state in ["modified", "exclusive", "shared"]:
        third = metric_of(results, f"core_to_core.{state}.third_node_home_ns")
        assert third > metric_of(results, f"core_to_core.{state}.other_node_ns") + 50


@pytest.mark.parametrize("machine", MACHINES)
def test_data_files_are_the_same_with_every_speed_up_off(linebounce: Program, machine: str) -> None:
    cpus = tomllib.loads((ROOT / "configs" / "machines" / f"{machine}.toml").read_text())["cpus"]
    # On machines with many CPUs fewer operations, because spins that are not parked are slow to simulate.
    operations = 600 if cpus <= 32 else 150
    file = linebounce.file("random.toml", experiment(workload=f'name = "random_references"\noperations = {operations}', run=""))
    assert_every_way_agrees(linebounce, file, "--machine", machine)


@pytest.mark.parametrize("machine", NODES)
def test_the_mix_is_the_same_with_run_ahead_off(linebounce: Program, machine: str) -> None:
    file = linebounce.file("mix.toml", experiment(workload='name = "numa_mix"', run="warmup_us = 20\nmeasure_us = 100"))
    assert_every_way_agrees(linebounce, file, "--machine", machine, ways=[Way.RUN_AHEAD_OFF])


def test_every_cpu_gets_its_turn(session_linebounce: Program) -> None:
    results = json.loads(
        (session_linebounce.run("atomic_scaling", "atomic", "--machine", ITANIUM) / "results.json").read_text()
    )
    for point in results["points"]:
        assert point["metrics"]["fairness.least_share_pct"]["value"] > 95


def test_two_nodes_cost_a_data_bases_kernel_more_than_one_and_a_slab_that_knows_nodes_most(linebounce: Program) -> None:
    quick = ["run.warmup_us=2000", "run.measure_us=10000", "run.seeds=1"]
    directory = linebounce.run("oltp_split_node", "out", *(word for value in quick for word in ["--set", value]))
    results = json.loads((directory / "results.json").read_text())
    rows = [row["id"] for row in results["paper"]]
    assert {"ols2007.split.system_time_split_2_6_9", "ols2007.split.throughput_2_6_18"} <= set(rows)
    points = {
        (point["at"]["machine"], point["at"]["workload.slab"], point["at"]["workload.other_kernel_instructions"]): {
            name: metric["value"] for name, metric in point["metrics"].items()
        }
        for point in results["points"]
    }
    least = min(instructions for _, _, instructions in points)
    one, two = (
        {slab: points[f"itanium2_{machine}_node", slab, least] for slab in ["slab_unaware", "slab_numa"]}
        for machine in ["single", "split"]
    )
    for metric in ["cpi.kernel", "time.system_pct", "latency.kernel_offchip.mean_ns"]:
        for slab in one:
            assert two[slab][metric] > 1.1 * one[slab][metric], metric
    assert one["slab_numa"]["cpi.kernel"] == pytest.approx(one["slab_unaware"]["cpi.kernel"], rel=0.05)
    assert two["slab_numa"]["cpi.kernel"] > 1.02 * two["slab_unaware"]["cpi.kernel"]
    assert one["slab_numa"]["misses.local_share_pct"] == 100
    assert two["slab_numa"]["misses.local_share_pct"] < 50


TREE = """
[group.L2]
protocol = "mesi_group"
members = 2
latency_ns = 3
link_ns = 1
size_kib = 2
ways = 2
cache_latency_ns = 4

[group.L3]
protocol = "mesi_group"
members = 2
latency_ns = 5
occupancy_ns = 2
link_ns = 2
size_kib = 8
ways = 2
cache_latency_ns = 9
slices = 4
slice_hop_ns = 1.5
positions = "0 3"
"""


def machine_of(program: Program, base: str, changes: dict[str, str], more: str) -> Path:
    text = (ROOT / "configs" / "machines" / f"{base}.toml").read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new, 1)
    text = re.sub(r"\n\[group\.L3\].*?\n(?=\[)", "\n", text, flags=re.S) if more else text
    return program.file("machine.toml", text.split("[sources]")[0] + more)


# The rows of a group's table that run on the tree; with a filter, its eviction row as well.
TREE_SEES = {
    "mesi_group": {("I", "Member_GetM"), ("MO", "Evict"), ("OP_D", "Member_Data"), ("S", "Inv")},
    "mesi_group_non_inclusive": {("E", "Evict"), ("EX", "Member_PutE"), ("SX", "Member_GetS"), ("EX", "Evict_Entry")},
    "mesi_group_exclusive": {("MX", "Member_PutM"), ("EX", "Member_PutE"), ("SX", "Member_GetS"), ("EX", "Evict_Entry")},
    "moesi_group": {("XO", "Evict"), ("OO", "Fwd_GetM"), ("XS_D", "Member_Data"), ("OwM_AC", "Acks"), ("OO_D", "Member_DataO")},
}


@pytest.mark.parametrize("protocol", TREE_SEES)
def test_no_speed_up_changes_a_byte_on_a_tree_of_two_small_levels(linebounce: Program, protocol: str) -> None:
    """The caches are so small that they constantly evict. The controllers' caches above them are small as well."""
    changes = {
        "cpus   = 64": "cpus   = 16",
        "buses_per_node = 16": "buses_per_node = 4",
        "cache_size_kib = 2048\ncache_ways = 16": "cache_size_kib = 2\ncache_ways = 2",
        "size_kib = 48\nways = 12": "size_kib = 1\nways = 2",
    }
    tree = TREE
    if protocol == "moesi_group":
        tree = tree.replace("mesi_group", protocol)
        changes |= {f'"mesi_{part}"': f'"moesi_{part}"' for part in ("snoop", "node", "directory")}
    elif protocol != "mesi_group":
        tree = tree.replace('"mesi_group"', f'"{protocol}"').replace(
            "ways = 2", "ways = 2\nfilter_entries = 64\nfilter_ways = 4"
        )
    machine = machine_of(linebounce, "generic_chiplet_64core", changes, tree)
    text = experiment(
        workload='name = "random_references"\noperations = 0\nshared_lines = 40\nprivate_lines = 40',
        run="warmup_us = 3.017\nmeasure_us = 29.013",
        top=f'machine = "{machine}"',
    )
    plain = assert_every_way_agrees(linebounce, linebounce.file("tree.toml", text))
    transitions = read_csv(plain / "transitions.csv")
    seen = {(row["state"], row["event"].split()[0]) for row in transitions if row["controller"] == "group"}
    assert TREE_SEES[protocol] <= seen


@pytest.mark.parametrize(("cpus", "nodes"), [(256, 8), (64, 16)])
def test_the_largest_legal_machines_run(linebounce: Program, cpus: int, nodes: int) -> None:
    changes = {
        "cpus   = 64": f"cpus   = {cpus}",
        "nodes  = 2": f"nodes  = {nodes}",
        "buses_per_node = 16": "buses_per_node = 4",
    }
    machine = machine_of(linebounce, "generic_chiplet_64core", changes, "")
    path = linebounce.file(
        "large.toml",
        experiment(workload='name = "atomic_scaling"', run="warmup_us = 2\nmeasure_us = 20", top=f'machine = "{machine}"'),
    )
    out = linebounce.run(path, "large")
    metrics = json.loads((out / "results.json").read_text())["points"][0]["metrics"]
    assert metrics["throughput.operations_per_s"]["value"] > 0
