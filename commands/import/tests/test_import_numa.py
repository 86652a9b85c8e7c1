"""What firmware tells about NUMA nodes becomes a machine: SLIT's distances compare nodes, HMAT has latencies."""

import json
import re
import tomllib

import pytest
from program import Program
from results import read_csv

NUMACTL = """available: 2 nodes (0-1)
node 0 cpus: 0 2 4
node 0 size: 31000 MB
node 0 free: 12000 MB
node 1 cpus: 1 3
node 1 size: 32000 MB
node 1 free: 30000 MB
node distances:
node   0   1
  0:  10  21
  1:  21  10
"""
MEMORY_ALONE = """node 0 cpus: 0 1
node 1 cpus: 2 3
node 2 cpus:
node distances:
node   0   1   2
  0:  10  21  17
  1:  21  10  28
  2:  17  28  10
"""
SYSFS = "/sys/devices/system/node"
HMAT = "".join(
    f"{SYSFS}/node{node}/access{kind}/initiators/{what}:{value}\n"
    for node, latency in ((0, 120), (1, 140))
    for kind in (0, 1)
    for what, value in (("read_bandwidth", 90000), ("read_latency", latency), ("write_latency", latency + 10))
)


def imported(linebounce: Program, *files: str) -> dict:
    result = linebounce("import", *files, "-o", "mine.toml", "--family", "intel_mesh", "--anyway")
    assert result.code == 0, result.stderr
    linebounce.file("said.txt", result.stdout)
    return tomllib.loads((linebounce.directory / "mine.toml").read_text())


def said(linebounce: Program) -> str:
    return (linebounce.directory / "said.txt").read_text()


def test_numactl_gives_nodes_and_cpus_and_no_nanoseconds(linebounce: Program) -> None:
    linebounce.file("numa.txt", NUMACTL)
    machine = imported(linebounce, "numa.txt")
    assert (machine["cpus"], machine["nodes"]) == (5, 2)
    for row in ("distances_compare", "cores_assumed", "no_memory_latency", "rest_of_machine"):
        assert row in said(linebounce)
    # No value comes from the distances 10 and 21: memory and network keep the base's values.
    assert machine["memory"]["latency_ns"] == 45
    assert machine["network"]["latency_ns"] == 25
    run = linebounce("run", "core_to_core", "--machine", "mine.toml", "-o", "out")
    assert run.code == 0, run.stderr
    # CPUs 0, 2 and 4 of the operating system belong to one node, 1 and 3 to the other.
    near: list[float] = []
    far: list[float] = []
    for row in read_csv(linebounce.directory / "out" / "matrix.csv"):
        if row["state"] == "Modified":
            is_near = int(row["from_cpu"]) % 2 == int(row["to_cpu"]) % 2
            (near if is_near else far).append(float(row["latency_ns"]))
    assert max(near) < min(far)


def test_hmats_latencies_become_the_memorys(linebounce: Program) -> None:
    linebounce.file("numa.txt", NUMACTL + HMAT)
    machine = imported(linebounce, "numa.txt")
    # A load takes 53 ns more than the memory itself.
    assert {node: memory["latency_ns"] for node, memory in machine["memory"]["node"].items()} == {"0": 67, "1": 87}
    loads = json.loads((linebounce.run("load_to_use", "loads", "--machine", "mine.toml") / "results.json").read_text())
    metrics = loads["points"][0]["metrics"]
    assert metrics["load_to_use.memory_of_node_0"]["value"] == pytest.approx(120, rel=0.05)
    assert machine["sources"]["memory.node"].startswith("datasheet: HMAT")
    assert "nearest_alone" in said(linebounce)


def test_nodes_farther_apart_are_more_links_apart(linebounce: Program) -> None:
    # A square: each node has two neighbours at 16, and the opposite one at 22.
    rows = ["10 16 22 16", "16 10 16 22", "22 16 10 16", "16 22 16 10"]
    distances = "".join(f"{SYSFS}/node{node}/distance:{row}\n" for node, row in enumerate(rows))
    linebounce.file(
        "nodes.txt", distances + "".join(f"{SYSFS}/node{node}/cpulist:{2 * node}-{2 * node + 1}\n" for node in range(4))
    )
    machine = imported(linebounce, "nodes.txt")
    assert set(machine["network"]["link"]) == {"0_1", "1_2", "2_3", "0_3"}
    assert "distances_not_kept" not in said(linebounce)
    # Distances 17 and 21 would both mean one link, and 28 two links, so a network of links can't keep them.
    linebounce.file("odd.txt", MEMORY_ALONE)
    machine = imported(linebounce, "odd.txt")
    assert machine["cpu_nodes"] == "0 1"
    assert set(machine["network"]["link"]) == {"0_1", "0_2"}
    assert "distances_not_kept" in said(linebounce)


def test_lscpus_cores_are_joined_with_the_firmwares_latencies(linebounce: Program) -> None:
    cpus = [{"cpu": i, "node": i % 2, "socket": i % 2, "core": i, "l1d:l1i:l2:l3": f"{i}:{i}:{i}:{i % 2}"} for i in range(4)]
    linebounce.file("cpus.json", json.dumps({"cpus": cpus}))
    linebounce.file("hmat.txt", HMAT)
    assert "lscpu -J -e" in linebounce.refused("import", "hmat.txt", "-o", "mine.toml", code=3)
    machine = imported(linebounce, "cpus.json", "hmat.txt")
    assert (machine["cpus"], machine["nodes"]) == (4, 2)
    assert "cores_assumed" not in said(linebounce)
    linebounce.file("m.csv", "0,60,90,60\n60,0,60,90\n90,60,0,60\n60,90,60,0\n")
    linebounce.file("numa.txt", re.sub("cpus: 0 2 4", "cpus: 0 2", NUMACTL))
    assert imported(linebounce, "numa.txt", "m.csv")["nodes"] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NUMACTL.replace("21  10", "21 9"), "line 11: expected distances from 10 to 255"),
        (NUMACTL.replace("  1:  21  10\n", ""), "only some of the nodes have distances"),
        (NUMACTL.replace("cpus: 1 3", "cpus: 1 2"), "CPU 2 is in two nodes"),
        (NUMACTL.replace("  0:  10  21", "  0:  10  21 30"), "node 0 has 3 distances, and there are 2 nodes"),
        (HMAT.replace("read_latency:120", "read_latency:12x"), "line 2: expected a number"),
    ],
)
def test_damaged_tables_are_refused_with_their_place(linebounce: Program, text: str, message: str) -> None:
    linebounce.file("numa.txt", text)
    assert message in linebounce.refused("import", "numa.txt", code=3)


def test_distances_alone_may_also_be_a_matrix_of_latencies(linebounce: Program) -> None:
    linebounce.file("d.txt", "10 21\n21 10\n")
    message = linebounce.refused("import", "d.txt")
    assert "--as numa" in message
    assert "--as matrix" in message
