"""What other tools and versions say of machines: matrices, lscpu, lstopo, SLIT, HMAT and Intel's MLC.

The formats are facts of public documentation, the figures our own.
"""

import json
import re
import tomllib
from collections.abc import Callable

import pytest
from imported import imported
from program import Program

# ---- matrices ----

FIGURES = [[0, 40, 90, 92], [40, 0, 91, 89], [90, 91, 0, 39], [92, 89, 39, 0]]
TABLE = " CPU    0    1    2    3\n" + "".join(
    f"   {i} " + " ".join(f"{ns:4}" for ns in row) + "\n" for i, row in enumerate(FIGURES)
)
MATRICES = {
    # c2clat -p, for gnuplot.
    "gnuplot": f'set title "Inter-core one-way data latency"\nset xlabel "CPU"\nunset key\n$data << EOD\n{TABLE}EOD\n'
    "plot '$data' matrix rowheaders columnheaders using 2:1:3 with image\n",
    # A notebook's arrays.
    "numpy": "[[ 0. 40. 90. 92.]\n [40.  0. 91. 89.]\n [90. 91.  0. 39.]\n [92. 89. 39.  0.]]\n",
    "json": json.dumps(FIGURES) + "\n",
    "nan": "NaN,NaN,NaN,NaN\n40,NaN,NaN,NaN\n90,91,NaN,NaN\n92,89,39,NaN\n",
}


@pytest.mark.parametrize("form", MATRICES)
def test_other_forms_of_matrices_give_the_same_machine(linebounce: Program, form: str) -> None:
    said = imported(linebounce, "m.txt", MATRICES[form], "-o", "m.toml", "--family", "intel_mesh")
    assert "4 CPUs: 2 nodes" in said
    assert re.search(r"one bus +2 +39\.5 ", said)
    assert re.search(r"other node +4 +90\.5 ", said)


# ---- machines ----

# CPUs 0 and 1 share a node and no cache; 2 and 3 a node and a cache.
LSCPU = {
    # -p=core,cpu,node,cache: the list's order, with all caches in one column.
    "list": "# The following is the parsable format, which can be fed to other\n# programs.\n# Core,CPU,Node,L1d:L1i:L2:L3\n"
    "0,0,0,0:0:0:0\n1,1,0,1:1:1:1\n2,2,1,2:2:2:2\n3,3,1,3:3:3:2\n",
    # util-linux before 2.34 quotes all values, and has no caches beyond the third.
    "quoted": json.dumps(
        {
            "cpus": [
                {
                    "cpu": str(i),
                    "node": str(i // 2),
                    "socket": str(i // 2),
                    "core": str(i),
                    "l1d:l1i:l2:l3": f"{i}:{i}:{i}:{min(i, 2)}",
                }
                for i in range(4)
            ]
        }
    ),
    # 2.40 has clusters and clocks, and offline CPUs without a place.
    "clocks": "CPU NODE SOCKET CLUSTER CORE L1d:L1i:L2:L3 ONLINE    MAXMHZ   MINMHZ       MHZ\n"
    "  0    0      0       0    0 0:0:0:0          yes 4500.0000 800.0000 2100.0000\n"
    "  1    0      0       1    1 1:1:1:1          yes 4500.0000 800.0000 2100.0000\n"
    "  2    1      1       2    2 2:2:2:2          yes 4500.0000 800.0000 2100.0000\n"
    "  3    1      1       2    3 3:3:3:2          yes 4500.0000 800.0000 2100.0000\n"
    "  4    -      -       -    - -                 no         -        -         -\n",
    # lscpu -p, from which a script took the lines with #.
    "without titles": "0,0,0,0,,0,0,0,0\n1,1,0,0,,1,1,1,1\n2,2,1,1,,2,2,2,2\n3,3,1,1,,3,3,3,2\n",
    # -p -y numbers cores within their socket.
    "physical numbers": "# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n"
    "0,0,0,0,,0,0,0,0\n1,4,0,0,,1,1,1,1\n2,0,1,1,,2,2,2,2\n3,4,1,1,,3,3,3,2\n",
    # Several documents, as a terminal shows them.
    "documents": "$ lscpu -J -C\n"
    + json.dumps({"caches": [{"name": "L1d", "one-size": "32K", "all-size": "128K", "level": 1, "type": "Data"}]})
    + "\n$ lscpu -J -e\n"
    + json.dumps(
        {"cpus": [{"cpu": i, "node": i // 2, "core": i, "l1d:l1i:l2:l3": f"{i}:{i}:{i}:{min(i, 2)}"} for i in range(4)]}
    )
    + "\n",
}
LEVELS = "L2 L#{0} (256KB) + L1d L#{0} (32KB) + L1i L#{0} (32KB) + Core L#{0}"
LSTOPO = {
    "text": "Machine (62GB total)\n  Package L#0\n    NUMANode L#0 (P#0 31GB)\n"
    + "".join(f"    L3 L#{i} (8192KB) + {LEVELS.format(i)} + PU L#{i} (P#{i})\n" for i in (0, 1))
    + "  Package L#1\n    NUMANode L#1 (P#1 31GB)\n    L3 L#2 (8192KB)\n"
    + "".join(f"      {LEVELS.format(i)}\n        PU L#{i} (P#{i})\n" for i in (2, 3))
    + '  HostBridge\n    PCI 00:02.0 (VGA)\n      Net "eth0"\n$ exit\n',
    # hwloc 1: nodes contain packages, which are called sockets.
    "text of version 1": "> Machine (64GB)\n>   NUMANode L#0 (P#0 32GB) + Socket L#0\n"
    + "".join(f">     L3 L#{i} (8192KB) + {LEVELS.format(i)} + PU L#{i} (P#{i})\n" for i in (0, 1))
    + ">   NUMANode L#1 (P#1 32GB) + Socket L#1 + L3 L#2 (20MB)\n"
    + "".join(f">     {LEVELS.format(i)}\n>       PU L#{i} (P#{i})\n" for i in (2, 3)),
    # -p: the operating system's numbers alone.
    "physical": "Machine (62GB total)\n  Package P#0\n    NUMANode P#0 (31GB)\n"
    + "".join(f"    L3 (8192KB)\n      L2 (256KB) + L1d (32KB) + Core P#{i}\n        PU P#{i}\n" for i in (0, 1))
    + "  Package P#1\n    NUMANode P#1 (31GB)\n    L3 (8192KB)\n"
    + "".join(f"      L2 (256KB) + L1d (32KB) + Core P#{i}\n        PU P#{i + 2}\n" for i in (0, 1)),
    # -v names each cache's type and all numbers, and a tier of memory its kind. Version 2 has groups for nodes in a package.
    "verbose": 'Machine (P#0 total=62GiB DMIProductName=X1)\n  Package L#0 (P#0 total=62GiB CPUModel="A (B) @ 2.0GHz")\n'
    + "".join(
        f"    Group L#{node} (total=31GiB)\n      NUMANode(DRAM) L#{2 * node} (P#{node} local=31GiB total=31GiB memorytier=1)\n"
        f"      NUMANode(HBM) L#{2 * node + 1} (P#{2 + node} local=4GiB total=4GiB memorytier=0)\n"
        + "".join(
            ("" if i == 3 else f"      L3Cache L#{i} (P#{i} size=8192KiB linesize=64 ways=16)\n")
            + f"        L1dCache L#{i} (P#{i} size=32KiB linesize=64 ways=8)\n"
            + f"          L1iCache L#{i} (P#{i} size=32KiB)\n            Core L#{i} (P#{i})\n              PU L#{i} (P#{i})\n"
            for i in (2 * node, 2 * node + 1)
        )
        for node in (0, 1)
    ),
    # Two nodes in one package, whose memories have caches in front of them.
    "memory caches": '<topology version="2.0"><object type="Machine"><object type="Package">'
    + "".join(
        f'<object type="Group"><object type="MemCache"><object type="NUMANode" os_index="{node}"/></object>'
        + "".join(
            ('<object type="L3Cache">' if node == 0 or i == 2 else "")
            + f'<object type="Core"><object type="PU" os_index="{i}"/></object>'
            + ("</object>" if node == 0 or i == 3 else "")
            for i in (2 * node, 2 * node + 1)
        )
        + "</object>"
        for node in (0, 1)
    )
    + "</object></object></topology>\n",
}


@pytest.mark.parametrize("form", [*LSCPU, *LSTOPO])
def test_other_forms_of_lscpu_and_lstopo_tell_the_same_structure(linebounce: Program, form: str) -> None:
    linebounce.file("structure.txt", (LSCPU | LSTOPO)[form])
    linebounce.file("m.csv", "0,60,90,90\n60,0,90,90\n90,90,0,40\n90,90,40,0\n")
    result = linebounce("import", "structure.txt", "m.csv", "-o", "m.toml", "--family", "intel_mesh")
    assert result.code == 0, result.stderr
    assert "4 CPUs: 2 nodes, " in result.stdout
    assert re.search(r"one bus +1 +40\.0 ", result.stdout)
    assert re.search(r"other bus, one node +1 +60\.0 ", result.stdout)
    assert re.search(r"other node +4 +90\.0 ", result.stdout)


MAPS = {
    "cores": "Logical to Physical Processor",
    "sockets": "Logical Processor to Socket",
    "nodes": "Logical Processor to NUMA Node",
    "caches": "Logical Processor to Cache",
}


def coreinfo(groups: int, **parts: list[str]) -> str:
    """Coreinfo's maps. `parts`: the rows of each, with a letter for each of four CPUs and a name."""
    text = (
        "Coreinfo v3.5 - Dump information on system CPU and memory topology\n\nAMD EPYC 7302\n"
        "AMD64 Family 23 Model 49 Stepping 0, AuthenticAMD\nHTT       \t*\tMulticore\nVMX       \t-\tIntel's virtualization\n"
    )
    for part, rows in parts.items():
        text += f"\n{MAPS[part]} Map:\n"
        for row in rows:
            letters, name = row.split("  ", 1)
            text += f"{name}:\n{letters[:2]}\n{letters[2:]}\n" if groups == 2 else f"{letters}  {name}\n"
    return text


TWO_NODES = {
    "cores": [f"{'-' * i}*{'-' * (3 - i)}  Physical Processor {i}" for i in range(4)],
    "sockets": ["****  Socket 0"],
    "nodes": ["**--  NUMA Node 0", "--**  NUMA Node 1"],
    "caches": [
        "*---  Data Cache          0, Level 1,   32 KB, Assoc   8, LineSize  64",
        "*---  Instruction Cache   0, Level 1,   64 KB, Assoc   4, LineSize  64",
        "*---  Unified Cache       3, Level 2,  512 KB, Assoc   8, LineSize  64",
        "*---  Unified Cache       0, Level 3,    8 MB, Assoc  16, LineSize  64",
        "-*--  Unified Cache       1, Level 3,    8 MB, Assoc  16, LineSize  64",
        "--**  Unified Cache       2, Level 3,    8 MB, Assoc  16, LineSize  64",
    ],
}


@pytest.mark.parametrize("groups", [1, 2])
def test_coreinfos_maps_tell_the_structure(linebounce: Program, groups: int) -> None:
    linebounce.file("coreinfo.txt", coreinfo(groups, **TWO_NODES))
    linebounce.file("m.csv", "0,60,90,90\n60,0,90,90\n90,90,0,40\n90,90,40,0\n")
    result = linebounce("import", "coreinfo.txt", "m.csv", "-o", "m.toml")
    assert result.code == 0, result.stderr
    assert "coreinfo.txt: recognised as Coreinfo's maps (Windows)" in " ".join(result.stdout.split())
    assert "4 CPUs: 2 nodes, " in result.stdout
    assert re.search(r"one bus +1 +40\.0 ", result.stdout)
    assert re.search(r"other bus, one node +1 +60\.0 ", result.stdout)
    machine = tomllib.loads((linebounce.directory / "m.toml").read_text())
    assert machine["contention"] == "amd_zen"
    assert machine["cache"]["L1D"]["size_kib"] == 32


def test_coreinfos_maps_tell_the_caches_and_threads(linebounce: Program) -> None:
    each = {"cores": "Physical Processor {} (Hyperthreaded)", "caches": "Data Cache {}, Level 1, 32 KB, Assoc 8, LineSize 64"}
    parts = {part: [f"**--  {name.format(0)}", f"--**  {name.format(1)}"] for part, name in each.items()}
    parts["caches"] += [it.replace("Data", "Unified").replace("Level 1, 32 KB", "Level 2, 256 KB") for it in parts["caches"]]
    parts["caches"].append("****  Unified Cache 2, Level 3, 3 MB, Assoc 12, LineSize 64")
    linebounce.file("coreinfo.txt", coreinfo(1, **parts))
    linebounce.file("m.csv", "0,8,30,30\n8,0,30,30\n30,30,0,8\n30,30,8,0\n")
    result = linebounce("import", "coreinfo.txt", "m.csv", "-o", "m.toml")
    assert result.code == 0, result.stderr
    assert "4 CPUs: 1 node, 1 bus, 2 threads a core" in result.stdout
    machine = tomllib.loads((linebounce.directory / "m.toml").read_text())
    assert [(one["size_kib"], one["ways"]) for one in machine["cache"].values()] == [(32, 8), (256, 8)]
    assert (machine["node"]["cache_size_kib"], machine["node"]["cache_ways"]) == (3072, 12)


def test_coreinfos_maps_that_contradict_each_other_are_refused(linebounce: Program) -> None:
    """As of a Ryzen under Windows 7, where each thread has an L3 of its own."""
    threads = [
        f"{'-' * i}*{'-' * (3 - i)}  Unified Cache       {i}, Level 3,   16 MB, Assoc  16, LineSize  64" for i in range(4)
    ]
    cores = ["**--  Physical Processor 0 (Hyperthreaded)", "--**  Physical Processor 1 (Hyperthreaded)"]
    linebounce.file("m.csv", "0,40,40,40\n40,0,40,40\n40,40,0,40\n40,40,40,0\n")
    for parts, problem in (
        (
            {"cores": cores, "caches": threads},
            "the threads of one core (Physical Processor 0 (Hyperthreaded)) have level 3 caches",
        ),
        (
            {"cores": cores, "nodes": ["********  NUMA Node 0"]},
            'the map of "NUMA Node 0" has 8 letters, that of "Physical Processor 0 (Hyperthreaded)" has 4',
        ),
        ({"caches": threads}, "does not say which CPUs share a core: coreinfo -c"),
    ):
        linebounce.file("coreinfo.txt", coreinfo(1, **parts))
        result = linebounce("import", "coreinfo.txt", "m.csv", "-o", "m.toml")
        assert result.code == 3, result.stdout
        assert problem in " ".join(result.stderr.split())


def matrix(cpus: int, latency: Callable[[int, int], int]) -> str:
    return "".join(",".join("0" if a == b else str(latency(a, b)) for b in range(cpus)) + "\n" for a in range(cpus))


APPLE = """hw.cachelinesize: 128
hw.perflevel0.physicalcpu: 4
hw.perflevel0.cpusperl2: 4
hw.perflevel0.l1dcachesize: 131072
hw.perflevel0.l2cachesize: 12582912
hw.perflevel1.physicalcpu: 2
hw.perflevel1.cpusperl2: 2
hw.perflevel1.l1dcachesize: 65536
hw.perflevel1.l2cachesize: 4194304
machdep.cpu.brand_string: Apple M1 Pro
"""
INTEL = """hw.logicalcpu: 8
hw.packages: 2
hw.cacheconfig: 8 2 2 4 0 0
hw.cachesize: 34359738368 32768 262144 8388608 0 0
hw.cachelinesize: 64
machdep.cpu.brand_string: Intel(R) Xeon(R) CPU E5520 @ 2.27GHz
"""


def test_sysctl_of_an_apple_processor_tells_which_cores_share_a_cache(linebounce: Program) -> None:
    linebounce.file("sysctl.txt", APPLE)
    linebounce.file("m.csv", matrix(6, lambda a, b: 40 if (a < 2) == (b < 2) else 150))
    result = linebounce("import", "sysctl.txt", "m.csv", "-o", "m.toml", "--family", "arm_mesh")
    assert result.code == 0, result.stderr
    assert "6 CPUs: 1 node, 2 buses, " in result.stdout
    assert re.search(r"one bus +7 +40\.0 ", result.stdout)
    assert re.search(r"other bus, one node +8 +150\.0 ", result.stdout)
    said = " ".join(result.stdout.split())
    assert "The cores differ in speed and caches: the machine has those of the fastest" in said
    assert "does not say which numbers the CPUs have" in said
    machine = tomllib.loads((linebounce.directory / "m.toml").read_text())
    assert (machine["cache"]["L1D"]["size_kib"], machine["cache"]["L1D"]["line_bytes"]) == (128, 128)


def test_sysctl_of_an_intel_processor_tells_threads_caches_and_packages(linebounce: Program) -> None:
    linebounce.file("sysctl.txt", INTEL)
    linebounce.file("m.csv", matrix(8, lambda a, b: 15 if a // 2 == b // 2 else 50 if a // 4 == b // 4 else 120))
    result = linebounce("import", "sysctl.txt", "m.csv", "-o", "m.toml", "--family", "intel_ring")
    assert result.code == 0, result.stderr
    assert "8 CPUs: 2 nodes, 2 buses, 2 threads a core" in result.stdout
    machine = tomllib.loads((linebounce.directory / "m.toml").read_text())
    assert machine["cache"]["L1D"]["size_kib"] == 32
    assert machine["node"]["cache_size_kib"] == 8192


def test_sysctl_of_an_intel_processor_with_levels_of_performance_has_threads_and_an_l3(linebounce: Program) -> None:
    text = (
        "hw.perflevel0.physicalcpu: 4\nhw.perflevel0.logicalcpu: 8\nhw.perflevel0.l1dcachesize: 32768\n"
        "hw.perflevel0.l2cachesize: 262144\nhw.perflevel0.cpusperl2: 2\nhw.perflevel0.l3cachesize: 6291456\n"
        "hw.perflevel0.cpusperl3: 8\nhw.cachelinesize: 64\n"
    )
    linebounce.file("sysctl.txt", text)
    linebounce.file("m.csv", matrix(8, lambda a, b: 15 if a // 2 == b // 2 else 50))
    result = linebounce("import", "sysctl.txt", "m.csv", "-o", "m.toml", "--family", "intel_ring")
    assert result.code == 0, result.stderr
    assert "8 CPUs: 1 node, 1 bus, 2 threads a core" in result.stdout
    assert "The cores differ" not in result.stdout
    machine = tomllib.loads((linebounce.directory / "m.toml").read_text())
    assert [one["size_kib"] for one in machine["cache"].values()] == [32, 256]
    assert machine["node"]["cache_size_kib"] == 6144


def test_coreinfos_caches_of_several_sizes_are_said(linebounce: Program) -> None:
    """As of a Ryzen whose first die alone has 3D V-Cache."""
    caches = [
        "**--  Unified Cache       0, Level 3,   96 MB, Assoc  16, LineSize  64",
        "--**  Unified Cache       1, Level 3,   32 MB, Assoc  16, LineSize  64",
    ]
    linebounce.file("m.csv", matrix(4, lambda a, b: 20 if a // 2 == b // 2 else 80))
    for sizes, said in ((caches, True), ([caches[0], caches[1].replace("32 MB", "96 MB")], False)):
        linebounce.file("coreinfo.txt", coreinfo(1, cores=TWO_NODES["cores"], caches=sizes))
        result = linebounce("import", "coreinfo.txt", "m.csv", "-o", f"said_{said}.toml")
        assert result.code == 0, result.stderr
        text = " ".join(result.stdout.split())
        assert ("The CPUs' L3 caches differ in size: the machine has those of CPU 0" in text) == said


def test_sysctl_without_what_cpus_share_is_refused(linebounce: Program) -> None:
    linebounce.file("m.csv", "0,40\n40,0\n")
    for text, problem in (
        ("hw.perflevel0.physicalcpu: 4\n", 'hw.perflevel0.cpusperl2 is "", not a number from 1 to 1024'),
        ("hw.cacheconfig: 0 0\n", "has neither hw.perflevel0.physicalcpu nor hw.cacheconfig"),
        ("hw.cputype: 16777228\nhw.cacheconfig: 2 1 2\n", "hw.cacheconfig alone is of the slowest cores"),
        (APPLE.replace("physicalcpu: 4", "physicalcpu: 4\nhw.perflevel0.logicalcpu: 6"), "is 6, not a multiple of"),
    ):
        linebounce.file("sysctl.txt", text)
        result = linebounce("import", "sysctl.txt", "m.csv", "-o", "m.toml")
        assert result.code == 3, result.stdout
        assert problem in " ".join(result.stderr.split())


def test_lscpus_table_of_eight_cpus_is_no_matrix(linebounce: Program) -> None:
    rows = "".join(f"{i},{i},{i // 4},{i // 4},,{i},{i},{i},{i // 4}\n" for i in range(8))
    linebounce.file("m.csv", "".join(",".join("40" if a // 4 == b // 4 else "90" for b in range(8)) + "\n" for a in range(8)))
    for titles in ("# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n", ""):
        linebounce.file("cpus.txt", titles + rows)
        result = linebounce("import", "cpus.txt", "m.csv", "-o", "m.toml", "--family", "intel_mesh")
        assert result.code == 0, result.stderr
        assert "8 CPUs: 2 nodes, 2 buses, 1 thread" in result.stdout


CACHES = {
    # Version 2, with the instruction caches that must not count, and an L3 of 11 ways that has no power of two of sets.
    "lstopo": '<topology version="2.0"><object type="Machine"><object type="Package"><object type="NUMANode" os_index="0"/>'
    '<object type="L3Cache" cache_size="11534336" depth="3" cache_linesize="64" cache_associativity="11" cache_type="0">'
    + "".join(
        '<object type="L2Cache" cache_size="2097152" depth="2" cache_linesize="64" cache_associativity="16" cache_type="0">'
        '<object type="L1Cache" cache_size="65536" depth="1" cache_linesize="64" cache_associativity="4" cache_type="1">'
        '<object type="L1iCache" cache_size="8192" depth="1" cache_linesize="64" cache_associativity="2" cache_type="2">'
        f'<object type="Core"><object type="PU" os_index="{i}"/></object></object></object></object>'
        for i in range(4)
    )
    + "</object></object></object></topology>\n",
    "lstopo -v": "Machine (P#0)\n  Package L#0\n    NUMANode L#0 (P#0)\n    L3Cache L#0 (size=11264KiB linesize=64 ways=11)\n"
    + "".join(
        f"      L2Cache L#{i} (size=2048KiB linesize=64 ways=16)\n        L1dCache L#{i} (size=64KiB linesize=64 ways=4)\n"
        f"          L1iCache L#{i} (size=8KiB linesize=64 ways=2)\n            Core L#{i}\n              PU L#{i} (P#{i})\n"
        for i in range(4)
    ),
    "lscpu -C": "CPU CORE L1d:L1i:L2:L3\n"
    + "".join(f"{i} {i} {i}:{i}:{i}:0\n" for i in range(4))
    + "NAME ONE-SIZE ALL-SIZE WAYS TYPE LEVEL SETS PHY-LINE COHERENCY-SIZE\n"
    "L1d 64K 256K 4 Data 1 256 1 64\nL1i 8K 32K 2 Instruction 1 64 1 64\n"
    "L2 2M 8M 16 Unified 2 2048 1 64\nL3 11M 11M 11 Unified 3 16384 1 64\n",
}


@pytest.mark.parametrize("form", CACHES)
def test_caches_are_those_that_the_operating_system_sees(linebounce: Program, form: str) -> None:
    linebounce.file("structure.txt", CACHES[form])
    linebounce.file("m.csv", "0,40,40,40\n40,0,40,40\n40,40,0,40\n40,40,40,0\n")
    result = linebounce("import", "structure.txt", "m.csv", "-o", "m.toml", "--family", "intel_mesh")
    assert result.code == 0, result.stderr
    machine = tomllib.loads((linebounce.directory / "m.toml").read_text())
    assert {name: (one["size_kib"], one["ways"], one["line_bytes"]) for name, one in machine["cache"].items()} == {
        "L1D": (64, 4, 64),
        "L2": (2048, 16, 64),
    }
    assert (machine["node"]["cache_size_kib"], machine["node"]["cache_ways"]) == (11264, 11)
    sources = machine["sources"]
    assert sources["cache.L1D.size_kib"] == sources["node.cache_ways"] == "datasheet: the caches in structure.txt"
    assert sources["cpus"] == "datasheet: the CPUs in structure.txt"
    copied = "assumed: copied from generic_2socket_32core"
    assert sources["cache.L1D"] == sources["memory"] == copied
    assert sources["cpu.consistency"] == "assumed: as processors like intel_mesh have it"


def test_a_machine_says_where_it_lacks_a_place_for_a_cache(linebounce: Program) -> None:
    """Two cores share each L2 in front of an L3 of 12 MiB in 12 ways, which has no power of two of sets with 9 MiB."""
    pairs = "".join(
        f"    L2 L#{pair} (1024KB)\n"
        + "".join(f"      L1d L#{i} (32KB) + Core L#{i} + PU L#{i} (P#{i})\n" for i in (2 * pair, 2 * pair + 1))
        for pair in (0, 1)
    )
    linebounce.file("structure.txt", f"Machine (8GB)\n  Package L#0 + L3 L#0 (9216KB)\n    NUMANode L#0 (P#0)\n{pairs}")
    linebounce.file("m.csv", "0,40,40,40\n40,0,40,40\n40,40,0,40\n40,40,40,0\n")
    result = linebounce("import", "structure.txt", "m.csv", "-o", "m.toml", "--family", "intel_mesh")
    assert result.code == 0, result.stderr
    assert "2 cores share each L2, of 1024 KiB; in the machine each core has 512 KiB" in " ".join(result.stdout.split())
    machine = tomllib.loads((linebounce.directory / "m.toml").read_text())
    assert machine["cache"]["L2"]["size_kib"] == 512
    assert machine["node"]["cache_size_kib"] == 9216


def test_further_descriptions_add_what_the_first_one_lacks(linebounce: Program) -> None:
    cpus = [{"cpu": i, "node": 0, "core": i // 2, "l1d:l1i:l2:l3": f"{i // 2}:{i // 2}:{i // 2}:0"} for i in range(4)]
    linebounce.file("cpus.json", json.dumps({"cpus": cpus}))
    linebounce.file(
        "summary.txt",
        "Architecture: x86_64\nCPU(s): 4\nOn-line CPU(s) list: 0-3\nModel name: AMD EPYC 9999\nThread(s) per core: 2\n"
        "L1d cache: 64 KiB (2 instances)\nL2 cache: 512 KiB (2 instances)\nL3 cache: 8 MiB (1 instance)\n"
        "NUMA node0 CPU(s): 0-3\n",
    )
    linebounce.file("m.csv", "0,10,40,40\n10,0,40,40\n40,40,0,10\n40,40,10,0\n")
    result = linebounce("import", "summary.txt", "cpus.json", "m.csv", "-o", "m.toml")
    assert result.code == 0, result.stderr
    machine = tomllib.loads((linebounce.directory / "m.toml").read_text())
    assert machine["cpu"]["threads_per_core"] == 2
    assert machine["cache"]["L2"]["size_kib"] == 256
    assert machine["node"]["cache_size_kib"] == 8192
    assert machine["contention"] == "amd_zen"
    assert machine["sources"]["cache.L2.ways"] == "assumed: the caches' ways are not stated"


def test_nodes_of_memory_alone_are_said(linebounce: Program) -> None:
    linebounce.file("structure.txt", LSTOPO["verbose"])
    linebounce.file("m.csv", "0,60,90,90\n60,0,90,90\n90,90,0,40\n90,90,40,0\n")
    said = " ".join(linebounce("import", "structure.txt", "m.csv", "-o", "m.toml", "--family", "intel_mesh").stdout.split())
    assert "nodes of memory without CPUs, which the machine lacks: 2 (HBM), 3 (HBM)" in said


def test_lstopos_text_without_its_numbers_or_indentation_is_refused(linebounce: Program) -> None:
    linebounce.file("m.csv", "0,60\n60,0\n")
    linebounce.file("logical.txt", re.sub(r" \(P#\d\)", "", LSTOPO["text"]))
    assert "a PU lacks the operating system's number" in linebounce.refused("import", "logical.txt", "m.csv", code=3)
    linebounce.file("flat.txt", re.sub("^ +", "", LSTOPO["text"], flags=re.MULTILINE))
    assert "are not indented" in linebounce.refused("import", "flat.txt", "m.csv", code=3)


HMAT_LOG = """[    3.746592] acpi/hmat: Memory (0x0 length 0x80000000) Flags:0003 Processor Domain:0 Memory Domain:0
[    3.746595] acpi/hmat: Locality: Flags:00 Type:Read Latency Initiator Domains:2 Target Domains:2 Base:100
[    3.746596] acpi/hmat:   Initiator-Target[0-0]:120 nsec
[    3.746597] acpi/hmat:   Initiator-Target[0-1]:200 nsec
[    3.746598] acpi/hmat:   Initiator-Target[1-0]:200 nsec
[    3.746599] acpi/hmat:   Initiator-Target[1-1]:120 nsec
[    3.746600] acpi/hmat: Locality: Flags:00 Type:Write Latency Initiator Domains:2 Target Domains:2 Base:100
[    3.746601] acpi/hmat:   Initiator-Target[0-0]:500 nsec
"""
SLIT_TABLE = """[000h 0000 004h]                   Signature : "SLIT"    [System Locality Information Table]
[024h 0036 008h]                  Localities : 0000000000000002
[02Ch 0044 002h]                Locality   0 : 0A 15
[02Eh 0046 002h]                Locality   1 : 15 0A
"""
NO_DISTANCES = "available: 2 nodes (0-1)\nnode 0 cpus: 0 1\nnode 1 cpus: 2 3\nNo distance information available.\n"


def loads_of(linebounce: Program, machine: str, *options: str) -> dict[str, float]:
    few = ("--set", "workload.rings_kib=16 32", "--set", "workload.memory_lines=200")
    out = linebounce.run("load_to_use", "loads", "--fresh", "--machine", machine, *few, *options)
    metrics = json.loads((out / "results.json").read_text())["points"][0]["metrics"]
    return {name: metric["value"] for name, metric in metrics.items()}


def test_hmat_in_the_kernels_log_has_the_way_to_other_nodes_too(linebounce: Program) -> None:
    linebounce.file("cpus.json", LSCPU["quoted"])
    linebounce.file("dmesg.txt", HMAT_LOG)
    result = linebounce("import", "cpus.json", "dmesg.txt", "-o", "m.toml", "--family", "intel_mesh")
    assert result.code == 0, result.stderr
    assert "domains_as_nodes" in result.stdout
    assert "nearest_alone" not in result.stdout
    loads = loads_of(linebounce, "m.toml")
    assert loads["load_to_use.memory_of_node_0"] == pytest.approx(120, rel=0.05)
    assert loads["load_to_use.memory_of_node_1"] == pytest.approx(200, rel=0.05)
    linebounce.file("old.txt", HMAT_LOG.replace("120 nsec", "7600 nsec"))
    assert "old kernels log hundredths" in linebounce.refused("import", "cpus.json", "old.txt", code=3)


@pytest.mark.parametrize(("text", "row"), [(SLIT_TABLE, "distances_compare"), (NO_DISTANCES, "no_memory_latency")])
def test_slit_as_iasl_prints_it_and_nodes_without_distances(linebounce: Program, text: str, row: str) -> None:
    linebounce.file("cpus.json", LSCPU["quoted"])
    linebounce.file("nodes.txt", text)
    result = linebounce("import", "cpus.json", "nodes.txt", "-o", "m.toml", "--family", "intel_mesh")
    assert result.code == 0, result.stderr
    assert row in result.stdout
    machine = tomllib.loads((linebounce.directory / "m.toml").read_text())
    assert (machine["cpus"], machine["nodes"], machine["memory"]["latency_ns"]) == (4, 2, 45)


def test_distances_of_many_nodes_go_on_in_iasls_next_line(linebounce: Program) -> None:
    nodes = 18
    table = f'[000h 0000 004h] Signature : "SLIT"\n[024h 0036 008h] Localities : {nodes:016X}\n'
    for one in range(nodes):
        distances = [f"{10 if other == one else 20 + one:02X}" for other in range(nodes)]
        table += f"[000h 0000 012h] Locality {one:3} : {' '.join(distances[:16])} \\\n{' '.join(distances[16:])}\n"
    cpus = "".join(f"/sys/devices/system/node/node{node}/cpulist:{node}\n" for node in range(nodes))
    linebounce.file("slit.txt", table + cpus)
    result = linebounce("import", "slit.txt", "-o", "m.toml", "--family", "intel_mesh")
    assert result.code == 0, result.stderr
    machine = tomllib.loads((linebounce.directory / "m.toml").read_text())
    assert (machine["cpus"], machine["nodes"]) == (nodes, nodes)


def hmat_by_iasl(revision: int, unit: int, own: int, other: int) -> str:
    """Two domains: the latency of reads, and that of a cache in front of memory, which does not count."""
    entries = "".join(f"[000h 0000   2]                        Entry : {ns:04X}\n" for ns in (own, other, other, own))
    locality = f"""
[000h 0000   2]               Structure Type : 0001 [System Locality Latency and Bandwidth Information]
[000h 0000   2]                     Reserved : 0000
[000h 0000   4]                       Length : 00000040
[000h 0000   1]        Flags (decoded below) : 00
                            Memory Hierarchy : %d
[000h 0000   1]                    Data Type : 01
[000h 0000   2]                    Reserved1 : 0000
[000h 0000   4] Initiator Proximity Domains # : 00000002
[000h 0000   4]   Target Proximity Domains # : 00000002
[000h 0000   4]                    Reserved2 : 00000000
[000h 0000   8]              Entry Base Unit : {unit:016X}
[000h 0000   4] Initiator Proximity Domain List : 00000000
[000h 0000   4] Initiator Proximity Domain List : 00000001
[000h 0000   4] Target Proximity Domain List : 00000000
[000h 0000   4] Target Proximity Domain List : 00000001
{entries}"""
    return f"""[000h 0000   4]                    Signature : "HMAT"    [Heterogeneous Memory Attributes Table]
[004h 0004   4]                 Table Length : 0000009C
[008h 0008   1]                     Revision : {revision:02X}

[028h 0040   2]               Structure Type : 0000 [Memory Proximity Domain Attributes]
[034h 0052   4] Attached Initiator Proximity Domain : 00000000
{locality % 0}{(locality % 1).replace(entries, entries.replace(f"{own:04X}", "0001"))}
Raw Table Data: Length 156 (0x9C)

    0000: 48 4D 41 54 9C 00 00 00 02 21 49 4E 54 45 4C 20  // HMAT.....!INTEL
"""


@pytest.mark.parametrize(("revision", "unit", "own", "other"), [(2, 1000, 120, 200), (2, 100, 1200, 2000), (1, 10, 120, 200)])
def test_hmat_as_iasl_prints_it(linebounce: Program, revision: int, unit: int, own: int, other: int) -> None:
    """Revision 2 counts picoseconds; revision 1 counts tenths of a nanosecond."""
    linebounce.file("numactl.txt", NO_DISTANCES)
    linebounce.file("hmat.dsl", hmat_by_iasl(revision, unit, own, other))
    for files in (("numactl.txt", "hmat.dsl"), ("hmat.dsl", "numactl.txt")):
        result = linebounce("import", *files, "-o", "m.toml", "--family", "intel_mesh")
        assert result.code == 0, result.stderr
        memory = tomllib.loads((linebounce.directory / "m.toml").read_text())["memory"]
        assert memory["node"]["0"]["latency_ns"] == memory["node"]["1"]["latency_ns"] == pytest.approx(120 - 53)
    cut = hmat_by_iasl(revision, unit, own, other).rpartition("                        Entry")[0].rpartition("\n")[0] + "\n"
    linebounce.file("cut.dsl", cut)
    said = linebounce.refused("import", "numactl.txt", "cut.dsl", "-o", "m.toml", code=3)
    assert "3 entries here; expected 2 initiators times 2 targets" in said


# ---- DMI ----

DMI = """# dmidecode 3.4
Getting SMBIOS data from sysfs.
SMBIOS 3.3.0 present.

Handle 0x0004, DMI type 4, 48 bytes
Processor Information
\tSocket Designation: CPU1
\tManufacturer: Advanced Micro Devices, Inc.
\tVersion: Unknown
\tStatus: Unpopulated

Handle 0x0005, DMI type 4, 48 bytes
Processor Information
\tSocket Designation: CPU2
\tType: Central Processor
\tManufacturer: Advanced Micro Devices, Inc.
\tVersion: AMD EPYC 7763 64-Core Processor
\tMax Speed: 3525 MHz
\tStatus: Populated, Enabled
\tCore Count: 64

Handle 0x0006, DMI type 7, 27 bytes
Cache Information
\tSocket Designation: L1 - Cache
\tVersion: Intel(R) Xeon(R) Gold 6242
\tStatus: none
"""


def test_dmidecode_names_the_processor(linebounce: Program) -> None:
    linebounce.file("dmi.txt", DMI)
    linebounce.file("m.csv", "0,60,61,60\n60,0,60,61\n61,60,0,60\n60,61,60,0\n")
    linebounce.file("cpus.json", LSCPU["quoted"])
    assert "core-to-core-latency" in linebounce.refused("import", "dmi.txt", "-o", "m.toml")
    for files in (("dmi.txt", "m.csv"), ("m.csv", "cpus.json", "dmi.txt")):
        result = linebounce("import", *files, "-o", "m.toml")
        assert result.code == 0, result.stderr
        machine = tomllib.loads((linebounce.directory / "m.toml").read_text())
        assert machine["contention"] == "amd_zen"
        assert "AMD EPYC 7763 64-Core Processor" in machine["sources"]["contention"]
    linebounce.file("nodes.txt", NO_DISTANCES)
    assert linebounce("import", "nodes.txt", "dmi.txt", "-o", "n.toml").code == 0
    assert tomllib.loads((linebounce.directory / "n.toml").read_text())["contention"] == "amd_zen"


# ---- MLC ----

IDLE = "Measuring idle latencies for random access (in ns)...\n\t\tNuma node\nNuma node\t     0\t     1\n"
IDLE += "       0\t 120.0\t 200.0\n       1\t 200.0\t 120.0\n\n"
LOADED = """Measuring Loaded Latencies for the system
Using all the threads from each core if Hyper-threading is enabled
Using Read-only traffic type
Inject\tLatency\tBandwidth
Delay\t(ns)\tMB/sec
==========================
 00000\t300.00\t 400000.0
 20000\t125.00\t    800.0

"""
TRANSFERS = """Measuring cache-to-cache transfer latency (in ns)...
Local Socket L2->L2 HIT  latency\t42.0
Local Socket L2->L2 HITM latency\t47.0
Remote Socket L2->L2 HITM latency (data address homed in writer socket)
\t\tReader Socket
Writer Socket\t     0\t     1
            0\t     -\t 106.0
            1\t 106.0\t     -
"""
HEAD = "Intel(R) Memory Latency Checker - v3.11\n"
# Version 3.1 calls nodes sockets.
OLD = (
    HEAD.replace("3.11", "3.1")
    + "*** Unable to modify prefetchers (try executing 'modprobe msr')\nMeasuring idle latencies (in ns)...\n"
)
OLD += "\tMemory node\n Socket\t     0\t     1\n     0\t 120.0\t 200.0\n     1\t 200.0\t 120.0\n\n"


def from_mlc(linebounce: Program, text: str) -> str:
    linebounce.file("cpus.json", LSCPU["quoted"])
    linebounce.file("mlc.txt", text)
    result = linebounce("import", "cpus.json", "mlc.txt", "-o", "mine.toml", "--family", "intel_mesh")
    assert result.code == 0, result.stderr
    return " ".join(result.stdout.split())


@pytest.mark.parametrize("idle", [HEAD + IDLE, OLD], ids=["3.11", "3.1"])
def test_mlcs_versions_give_one_machine_and_without_transfers_a_poorer_one(linebounce: Program, idle: str) -> None:
    said = from_mlc(linebounce, idle + TRANSFERS)
    assert "no_transfers" not in said
    assert re.search(r"other node 4 106\.0 106\.", said)
    said = from_mlc(linebounce, idle)
    assert "no_transfers" in said
    assert "mlc --c2c_latency measures" in said
    loads = loads_of(linebounce, "mine.toml")
    assert loads["load_to_use.memory_of_node_0"] == pytest.approx(120, rel=0.05)
    assert loads["load_to_use.memory_of_node_1"] == pytest.approx(200, rel=0.05)


def test_mlcs_loaded_latencies_are_kept_and_scored_and_change_no_machine(linebounce: Program) -> None:
    from_mlc(linebounce, HEAD + IDLE + TRANSFERS)
    without = tomllib.loads((linebounce.directory / "mine.toml").read_text())
    said = from_mlc(linebounce, HEAD + IDLE + LOADED + TRANSFERS)
    assert tomllib.loads((linebounce.directory / "mine.toml").read_text()) == without
    assert "kept_as_prediction" in said
    assert "linebounce validate load_to_use --against mine.loaded.csv --machine mine.toml" in said
    assert "mine.loaded.csv" in (linebounce.directory / "mine.toml").read_text()
    scored = linebounce("validate", "load_to_use", "--against", "mine.loaded.csv", "--machine", "mine.toml", "--json")
    assert scored.code == 0, scored.stderr
    cells = [(cell["metric"], cell["measured"], cell["simulated"]) for cell in json.loads(scored.stdout)["cells"]]
    latencies = {measured: simulated for metric, measured, simulated in cells if metric.endswith("node_0")}
    rates = {measured: simulated for metric, measured, simulated in cells if metric.endswith("per_s")}
    # At 800 MB/s the memory is as good as idle. Three CPUs cannot read 400 GB/s.
    assert latencies[125] == pytest.approx(121, rel=0.05)
    assert rates[800] == pytest.approx(800, rel=0.05)
    assert 4000 < rates[400000] < 200000
    assert latencies[300] >= latencies[125]


def test_loads_wait_for_a_background_that_fills_the_bus(linebounce: Program) -> None:
    # The machine's bus carries at most 800 MB/s: 8 bytes at 100 MHz.
    path = "workload.background_mb_per_s"
    idle = loads_of(linebounce, "p3_xeon_4way")
    little, much = (loads_of(linebounce, "p3_xeon_4way", "--set", f"{path}={rate}") for rate in (50, 5000))
    name, rate = "load_to_use.memory_of_node_0", "load_to_use.background_mb_per_s"
    assert rate not in idle
    assert idle[name] <= little[name] < 1.1 * idle[name]
    assert little[rate] == pytest.approx(50, rel=0.05)
    assert 300 < much[rate] < 800
    assert much[name] > 1.5 * idle[name]


def test_a_background_beyond_what_memory_carries_gets_all_that_memory_carries(linebounce: Program) -> None:
    # Each of the two memories carries 32 GB/s. A bank that keeps an access waiting must not keep the other banks' accesses.
    path, rate_name = "workload.background_mb_per_s", "load_to_use.background_mb_per_s"
    asked = (20_000, 60_000, 400_000)
    given = [loads_of(linebounce, "xeon_x5650_2socket", "--set", f"{path}={rate}")[rate_name] for rate in asked]
    assert given[0] == pytest.approx(20_000, rel=0.05)
    assert given[1] == pytest.approx(60_000, rel=0.05)
    assert 60_000 < given[2] < 64_000


@pytest.mark.parametrize("text", [HEAD + LOADED, HEAD + "Each iteration took 201.2 base frequency clocks (\t80.5\tns)\n"])
def test_mlcs_other_measurements_alone_are_refused_with_the_options_that_are_missing(linebounce: Program, text: str) -> None:
    linebounce.file("cpus.json", LSCPU["quoted"])
    linebounce.file("mlc.txt", text)
    message = linebounce.refused("import", "cpus.json", "mlc.txt", code=3)
    assert "mlc --c2c_latency" in message
    assert "mlc --latency_matrix" in message
