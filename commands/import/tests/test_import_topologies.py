"""What lstopo and lscpu say of a machine, beside a matrix of latencies."""

import json
import re
import tomllib

import pytest
from program import Program

CPUS = json.dumps(
    {"cpus": [{"cpu": i, "node": i % 2, "socket": i % 2, "core": i, "l1d:l1i:l2:l3": f"{i}:{i}:{i}:{i % 2}"} for i in range(4)]}
)


def xml_package(number: int, cpus: list[int]) -> str:
    cores = "".join(f'<object type="Core" os_index="{i}"><object type="PU" os_index="{i}"/></object>' for i in cpus)
    node = f'<object type="NUMANode" os_index="{number}"/>'
    return f'<object type="Package" os_index="{number}">{node}<object type="L3Cache" depth="3">{cores}</object></object>'


TOPOLOGY = f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine" os_index="0">
{xml_package(0, [0, 2])}
{xml_package(1, [1, 3])}
</object></topology>
"""

# The matrix does not distinguish the four CPUs, so their nodes come from the other file.
FLAT = "0,60,61,60\n60,0,60,61\n61,60,0,60\n60,61,60,0\n"

MLC = """Intel(R) Memory Latency Checker - v3.9
Measuring idle latencies (in ns)...
\t\tNuma node
Numa node\t     0\t     1
       0\t  80.0\t 140.0
       1\t 141.0\t  80.5
Measuring cache-to-cache transfer latency (in ns)...
Local Socket L2->L2 HIT  latency\t42.0
Local Socket L2->L2 HITM latency\t47.0
Remote Socket L2->L2 HITM latency (data address homed in writer socket)
\t\t\tReader Numa Node
Writer Numa Node     0\t     1
            0\t     -\t 106.0
            1\t 106.5\t     -
Remote Socket L2->L2 HITM latency (data address homed in reader socket)
\t\t\tReader Numa Node
Writer Numa Node     0\t     1
            0\t     -\t 126.0
            1\t 126.5\t     -
"""


@pytest.mark.parametrize(
    ("structure", "latencies"),
    [
        (("cpus.json", CPUS), ("m.csv", FLAT)),
        (("topo.xml", TOPOLOGY), ("m.csv", FLAT)),
        (("topo.xml", TOPOLOGY), ("mlc.txt", MLC)),
    ],
    ids=["lscpu", "lstopo", "mlc"],
)
def test_a_machine_is_made_of_a_file_with_its_structure_and_one_with_its_latencies(
    linebounce: Program, structure: tuple[str, str], latencies: tuple[str, str]
) -> None:
    for name, text in (structure, latencies):
        linebounce.file(name, text)
    result = linebounce("import", structure[0], latencies[0], "-o", "mine.toml", "--family", "intel_mesh")
    assert result.code == 0, result.stderr
    text = (linebounce.directory / "mine.toml").read_text()
    assert re.search(r"^nodes = 2$", text, re.MULTILINE)
    assert re.search(r"^cpus = 4$", text, re.MULTILINE)
    is_of_mlc = latencies[0] == "mlc.txt"
    assert ("local memory, load to use" in result.stdout) == is_of_mlc
    assert ("differ by up to 19 %" in " ".join(result.stdout.split())) == is_of_mlc
    # CPUs 0 and 2 share a node, in the operating system's numbering.
    run = linebounce("run", "core_to_core", "--machine", "mine.toml", "-o", "matrix", "--set", "workload.access=atomic")
    assert run.code == 0, run.stderr


def test_structure_alone_is_not_a_machine_and_the_message_says_what_is_missing(linebounce: Program) -> None:
    linebounce.file("cpus.json", CPUS)
    assert "core-to-core-latency" in linebounce.refused("import", "cpus.json", "-o", "mine.toml")
    linebounce.file("mlc.txt", MLC)
    assert "lscpu -J -e" in linebounce.refused("import", "mlc.txt", "-o", "mine.toml", "--family", "intel_mesh")
    linebounce.file("idle.txt", MLC[MLC.index("Measuring idle") : MLC.index("Measuring cache")])
    assert "mlc --c2c_latency" in linebounce.refused("import", "idle.txt", "-o", "mine.toml", "--family", "intel_mesh")
    linebounce.file("m.csv", "0,5,6\n5,0,7\n6,7,0\n")
    assert "has 4 CPUs, and the matrix 3" in linebounce.refused(
        "import", "cpus.json", "m.csv", "-o", "mine.toml", "--family", "intel_mesh"
    )


EXTENDED = """CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE    MAXMHZ
  0    0      0    0 0:0:0:0          yes 3600.0000
  1    1      1    1 1:1:1:1          yes 3600.0000
  2    0      0    2 2:2:2:0          yes 3600.0000
  3    1      1    3 3:3:3:1          yes 3600.0000
  4    -      -    - :::               no         -
"""

SUMMARY = """Architecture:            x86_64
CPU(s):                  4
  On-line CPU(s) list:   0-3
Model name:              AMD EPYC 7763 64-Core Processor
  Thread(s) per core:    1
  Core(s) per socket:    2
NUMA:
  NUMA node(s):          2
  NUMA node0 CPU(s):     0,2
  NUMA node1 CPU(s):     1,3
"""

ACROSS = "0,90,40,91\n90,0,92,39\n40,92,0,90\n91,39,90,0\n"


@pytest.mark.parametrize("text", [EXTENDED, SUMMARY], ids=["lscpu -e", "lscpu"])
def test_lscpus_texts_say_the_structure_as_well(linebounce: Program, text: str) -> None:
    linebounce.file("cpus.txt", text)
    linebounce.file("m.csv", ACROSS)
    family = [] if text == SUMMARY else ["--family", "intel_mesh"]
    result = linebounce("import", "cpus.txt", "m.csv", "-o", "mine.toml", *family)
    assert result.code == 0, result.stderr
    assert "4 CPUs: 2 nodes" in result.stdout
    machine = (linebounce.directory / "mine.toml").read_text()
    # Only the summary names the processor, from which the contention family follows.
    assert ('contention = "amd_zen"' in machine) == (text == SUMMARY)


@pytest.mark.parametrize("prompt", ["$ lscpu\n", "root@host:~# lscpu\n", "# lscpu\n ", "[me@node01 ~]$ lscpu -J -e\n"])
def test_lscpu_may_stand_behind_a_prompt(linebounce: Program, prompt: str) -> None:
    rows = [{"cpu": i, "node": i % 2, "socket": i % 2, "core": i, "l1d:l1i:l2:l3": f"{i}:{i}:{i}:{i % 2}"} for i in range(4)]
    text = f"{json.dumps({'cpus': rows})}\nroot@host:~# \n" if "-J" in prompt else SUMMARY
    linebounce.file("cpus.txt", prompt + text)
    linebounce.file("m.csv", ACROSS)
    result = linebounce("import", "cpus.txt", "m.csv", "-o", "mine.toml", "--family", "intel_mesh")
    assert result.code == 0, result.stderr
    assert "4 CPUs: 2 nodes" in result.stdout


def test_a_summary_shows_cores_of_two_threads_if_its_nodes_do(linebounce: Program) -> None:
    text = SUMMARY.replace("core:    1", "core:    2")
    linebounce.file("cpus.txt", text)
    linebounce.file("m.csv", "0,90,10,90\n90,0,90,10\n10,90,0,90\n90,10,90,0\n")
    result = linebounce("import", "cpus.txt", "m.csv", "-o", "mine.toml", "--family", "intel_mesh")
    assert result.code == 0, result.stderr
    assert "CPUs n and n + 2 are taken for one core's" in result.stdout
    assert re.search(r"one core +2 +10", result.stdout)
    # Here the nodes are blocks of CPUs, so that both ways to number threads are possible.
    linebounce.file("cpus.txt", text.replace("0,2", "0-1").replace("1,3", "2-3"))
    assert "does not say which CPUs share a core" in linebounce.refused(
        "import", "cpus.txt", "m.csv", "-o", "b.toml", "--family", "intel_mesh", code=3
    )


def test_a_topology_with_other_numbers_than_the_matrix_is_refused(linebounce: Program) -> None:
    cores = [0, 0, 1, 1, 2, 2, 3, 3]  # of the matrix's CPUs
    latencies = [[0 if a == b else 10 if cores[a] == cores[b] else 100 for b in range(8)] for a in range(8)]
    linebounce.file("m.csv", "".join(f"{','.join(map(str, row))}\n" for row in latencies))
    linebounce.file("cpus.json", json.dumps({"cpus": [{"cpu": i, "node": 0, "socket": 0, "core": i % 4} for i in range(8)]}))
    message = linebounce.refused("import", "cpus.json", "m.csv", "-o", "mine.toml", "--family", "intel_mesh")
    assert "number the CPUs differently" in message
    assert "with the threads of a core one after the other" in message
    assert not (linebounce.directory / "mine.toml").exists()
    alone = linebounce("import", "m.csv", "-o", "mine.toml", "--family", "intel_mesh")  # as the message says
    assert alone.code == 0, alone.stderr


MEMORYLESS = """<?xml version="1.0"?>
<topology version="2.0"><object type="Machine" os_index="0">
 <info name="CPUModel" value="Intel(R) Xeon(R) Gold 6242 CPU @ 2.80GHz"/>
 <object type="Package" os_index="0"><object type="Core" os_index="0"><object type="PU" os_index="0"/></object>
  <object type="Core" os_index="1"><object type="PU" os_index="1"/></object></object>
 <object type="Package" os_index="1"><object type="NUMANode" os_index="1"/>
  <object type="Core" os_index="2"><object type="PU" os_index="2"/></object>
  <object type="Core" os_index="3"><object type="PU" os_index="3"/></object></object>
</object></topology>
"""


def test_a_package_whose_memory_may_not_be_used_is_a_node_of_its_own(linebounce: Program) -> None:
    linebounce.file("topo.xml", MEMORYLESS)
    linebounce.file("m.csv", "0,40,90,92\n40,0,91,89\n90,91,0,39\n92,89,39,0\n")
    result = linebounce("import", "topo.xml", "m.csv", "-o", "mine.toml")
    assert result.code == 0, result.stderr
    assert "4 CPUs: 2 nodes" in result.stdout
    assert 'contention = "assumed: the family of Intel(R) Xeon(R) Gold 6242' in (linebounce.directory / "mine.toml").read_text()


def own_caches(*levels: tuple[str, int]) -> str:
    """The text of lstopo for four cores that share no cache. `levels`: names and KiB, the outermost first."""
    lines = ["Machine (16GB total)", "  NUMANode L#0 (P#0 16GB)", "  Package L#0"]
    for core in range(4):
        caches = "".join(f"{name} L#{core} ({kib}KB) + " for name, kib in levels)
        lines.append(f"    {caches}Core L#{core} + PU L#{core} (P#{core})")
    return "\n".join(lines) + "\n"


def imported_caches(linebounce: Program, text: str) -> tuple[dict[str, int], int]:
    """The sizes of the private caches in KiB, and of the one behind each bus."""
    linebounce.file("topo.txt", text)
    linebounce.file("m.csv", FLAT)
    result = linebounce("import", "topo.txt", "m.csv", "-o", "mine.toml", "--family", "arm_mesh")
    assert result.code == 0, result.stderr
    machine = tomllib.loads((linebounce.directory / "mine.toml").read_text())
    return {name: cache["size_kib"] for name, cache in machine["cache"].items()}, machine["node"]["cache_size_kib"]


def test_a_last_level_cache_that_each_core_has_to_itself_is_behind_its_bus(linebounce: Program) -> None:
    text = own_caches(("L3", 4096), ("L2", 512), ("L1d", 64))
    assert imported_caches(linebounce, text) == ({"L1D": 64, "L2": 512}, 4096)


def test_private_caches_are_taken_also_if_there_is_no_other(linebounce: Program) -> None:
    assert imported_caches(linebounce, own_caches(("L2", 512), ("L1d", 64)))[0] == {"L1D": 64, "L2": 512}
    assert imported_caches(linebounce, own_caches(("L1d", 64)))[0] == {"L1D": 64}


def test_a_shared_cache_is_taken_also_if_the_inner_ones_are_not_stated(linebounce: Program) -> None:
    text = "Machine (8GB total)\n  Package L#0\n    NUMANode L#0 (P#0 8GB)\n"
    for cache in range(2):
        text += f"    L3Cache L#{cache} (size=8192KiB linesize=64 ways=16)\n"
        text += "".join(f"      Core L#{cpu}\n        PU L#{cpu} (P#{cpu})\n" for cpu in (2 * cache, 2 * cache + 1))
    assert imported_caches(linebounce, text)[1] == 8192
    said = " ".join((linebounce("import", "topo.txt", "m.csv", "-o", "mine.toml", "--family", "arm_mesh")).stdout.split())
    assert "topo.txt does not state all levels of caches: the others are generic_2socket_32core's." in said


def test_lscpu_in_a_mail_is_read_without_its_quote_marks(linebounce: Program) -> None:
    linebounce.file("mail.txt", "".join(f"> {line}\n" for line in SUMMARY.splitlines()))
    linebounce.file("m.csv", ACROSS)
    result = linebounce("import", "mail.txt", "m.csv", "-o", "mine.toml")
    assert result.code == 0, result.stderr
    assert "4 CPUs: 2 nodes" in result.stdout


def test_the_operating_systems_nodes_can_be_stated_for_groups_that_a_matrix_shows(linebounce: Program) -> None:
    linebounce.file("m.csv", ACROSS)
    result = linebounce("import", "m.csv", "-o", "mine.toml", "--family", "amd_zen", "--os-nodes", "machine")
    assert result.code == 0, result.stderr
    machine = tomllib.loads((linebounce.directory / "mine.toml").read_text())
    assert (machine["nodes"], machine["os_nodes"]) == (2, "machine")
    assert machine["sources"]["os_nodes"] == "assumed: --os-nodes says so"
    wrong = linebounce.refused("import", "m.csv", "-o", "mine.toml", "--family", "amd_zen", "--os-nodes", "0 1 1")
    assert "--os-nodes" in wrong
    assert "lists 3 nodes; legal: one for each of the 2 buses" in wrong


def test_a_server_of_384_cpus_is_imported(linebounce: Program) -> None:
    cpus = 384

    def ns(a: int, b: int) -> int:
        return 12 if a // 2 == b // 2 else 40 if a // 48 == b // 48 else 100 if a // 192 == b // 192 else 220

    rows = [f"{a}," + ",".join("" if a == b else str(ns(a, b)) for b in range(cpus)) for a in range(cpus)]
    linebounce.file("large.csv", "CPU," + ",".join(map(str, range(cpus))) + "\n" + "\n".join(rows) + "\n")
    result = linebounce("import", "large.csv", "-o", "mine.toml", "--family", "amd_zen")
    assert result.code == 0, result.stderr
    assert "384 CPUs: 2 nodes, 8 buses, 2 threads a core" in result.stdout
    sets = ["--set=machine.cpus=384", "--set=run.measure_us=20", "--set=run.seeds=1", "--set=workload.lock=mcs"]
    linebounce.run("lock_scaling", "locks", "--machine", "mine.toml", *sets, "--no-family-range")
