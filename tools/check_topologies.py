"""Imports each of hwloc's XML files in a folder with a made-up matrix, and compares the machine with the XML, read on its own.

    python tools/check_topologies.py FOLDER [--program build/release/linebounce] [--only TEXT]

For hwloc's own test machines: tests/hwloc/xml, linux and x86 of its repository. The table has, for each file, "equal", the
sizes, sharing or nodes that differ, or the message with which the import was refused. Exit code 1 if anything differs.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

KIB = 1024


@dataclass
class Described:
    """What an XML says of its CPUs, in the order of the operating system's numbers."""

    core: list[Any] = field(default_factory=list)
    package: list[Any] = field(default_factory=list)
    node: list[Any] = field(default_factory=list)
    caches: list[dict[int, tuple[Any, int]]] = field(default_factory=list)  # by level: the cache and its bytes

    def last_level(self) -> int:
        """The outermost level that each CPU has and some cores share; 3 counts also where none does. 0: there is none."""
        for level in (5, 4, 3, 2):
            if not all(level in of for of in self.caches):
                continue
            cores: dict[Any, set[Any]] = {}
            for core, of in zip(self.core, self.caches, strict=True):
                cores.setdefault(of[level][0], set()).add(core)
            if level >= 3 or any(len(sharing) > 1 for sharing in cores.values()):
                return level
        return 0

    def buses(self) -> list[Any]:
        """What the CPUs of a bus share: the last-level cache, or the node if one cache serves several."""
        level = self.last_level()
        last = [of[level][0] for of in self.caches] if level else self.package
        spans = {cache: {node for node, of in zip(self.node, last, strict=True) if of == cache} for cache in last}
        return self.node if any(len(nodes) > 1 for nodes in spans.values()) else last


def level_of(element: ElementTree.Element) -> int:
    kind = element.get("type", "")
    if kind == "Cache" and element.get("cache_type") != "2":
        return int(element.get("depth", "0"))
    found = re.fullmatch(r"L([1-5])Cache", kind)
    return int(found[1]) if found and element.get("subtype") != "MemorySideCache" else 0


def own_node(element: ElementTree.Element) -> ElementTree.Element | None:
    """A node beside the object's CPUs, perhaps behind a cache of memory. The first one counts."""
    for found in element.findall("object"):
        node = found
        while node.get("type") == "MemCache":
            node = node.findall("object")[0]
        if node.get("type") == "NUMANode" and not node.findall("object"):
            return node
    return None


def read(file: Path) -> Described:
    cpus: dict[int, tuple[Any, ...]] = {}

    def visit(element: ElementTree.Element, above: dict[Any, Any]) -> None:
        here = dict(above)
        kind = element.get("type", "")
        kind = "Package" if kind == "Socket" else kind
        if kind in ("Core", "Package", "NUMANode"):
            here[kind] = id(element)
        if level := level_of(element):
            here[level] = (id(element), int(element.get("cache_size", "0")))
        if (node := own_node(element)) is not None:
            here["NUMANode"] = id(node)
        if kind == "PU":
            number = int(element.get("os_index", "0"))
            package = here.get("Package", 0)
            caches = {at: value for at, value in here.items() if isinstance(at, int)}
            cpus[number] = (here.get("Core", ("alone", number)), package, here.get("NUMANode", ("of", package)), caches)
        for child in element.findall("object"):
            visit(child, here)

    root = ElementTree.parse(file).getroot()
    for element in root.findall("object"):
        visit(element, {})
    described = Described()
    for number in sorted(cpus):
        for values, value in zip(
            (described.core, described.package, described.node, described.caches), cpus[number], strict=True
        ):
            values.append(value)
    return described


def matrix_of(described: Described) -> str:
    """Latencies that go with the description."""
    buses = described.buses()

    def ns(a: int, b: int) -> float:
        if described.core[a] == described.core[b]:
            return 12
        return 40 if buses[a] == buses[b] else 90 if described.node[a] == described.node[b] else 140

    cpus = range(len(described.core))
    rows = [f"{a}," + ",".join(str(ns(a, b)) if a != b else "" for b in cpus) for a in cpus]
    return "CPU," + ",".join(map(str, cpus)) + "\n" + "\n".join(rows) + "\n"


@dataclass
class Seat:
    node: int
    bus: int
    core: int


def seats_of(machine: dict[str, Any]) -> list[Seat]:
    """Where each CPU is, by the rules of configs/machines/README.md."""
    threads = machine["cpu"].get("threads_per_core", 1)
    nodes, per_node = machine["nodes"], machine["buses_per_node"]
    cores = machine["cpus_present"] // threads // nodes // per_node  # of a bus
    if machine.get("cpu_list"):
        numbers = [int(word) // threads for word in machine["cpu_list"].split()]
    elif machine["cpu_order"] == "fill":
        numbers = [cpu // threads for cpu in range(machine["cpus"])]
    else:
        places = range(cores * per_node * nodes)
        order = sorted(places, key=lambda at: (at % cores, at // cores % per_node, at // cores // per_node))
        numbers = [order[cpu % len(order)] for cpu in range(machine["cpus"])]
    return [Seat(at // cores // per_node, at // cores, at) for at in numbers]


def differences(described: Described, machine: dict[str, Any], report: str) -> list[str]:
    if machine["cpus"] != len(described.core):
        return [f"{machine['cpus']} CPUs, not {len(described.core)}"]
    seats = seats_of(machine)
    found = []
    for what, of_machine, of_file in (
        ("cores", [seat.core for seat in seats], described.core),
        ("buses", [seat.bus for seat in seats], described.buses()),
        ("nodes", [seat.node for seat in seats], described.node),
    ):
        pairs = combinations(range(len(seats)), 2)
        if any((of_machine[a] == of_machine[b]) != (of_file[a] == of_file[b]) for a, b in pairs):
            found.append(f"{what} are not shared alike")
    return found + different_caches(described, machine, report)


def different_caches(described: Described, machine: dict[str, Any], report: str) -> list[str]:
    """Compares sizes. The report names those that no machine can have, such as a number of sets that is no power of two."""
    first = described.caches[0]
    buses = described.buses()
    found = []
    names = machine["cache_levels"]
    for level, (cache, size) in sorted(first.items()):
        sharing = [at for at, of in enumerate(described.caches) if of.get(level, (None,))[0] == cache]
        cores = len({described.core[at] for at in sharing})
        cores_of_bus = len({core for core, bus in zip(described.core, buses, strict=True) if bus == buses[0]})
        on_bus = level == max(first) and (cores > 1 or cores_of_bus == 1)
        if size == 0:
            continue
        if on_bus:
            whole = machine["node"]["cache_size_kib"]
            wanted = size // KIB // max(1, len({buses[at] for at in sharing}))
        else:
            whole = machine["cache"][names[level - 1]]["size_kib"] if level <= len(names) else 0
            wanted = size // KIB // cores
        if whole != wanted and f"L{level} has {wanted} KiB" not in report and f"L{level} is private" not in report:
            found.append(f"L{level} of {whole} KiB, not {wanted}")
    return found


def check(program: Path, file: Path, folder: Path) -> str:
    try:
        described = read(file)
    except ElementTree.ParseError as error:
        return f"no XML: {error}"
    if len(described.core) < 2:
        return "not read: one CPU has no latency to another"
    (folder / "matrix.csv").write_text(matrix_of(described))
    options = ["--family", "intel_mesh", "--anyway", "-o", "machine.toml"]
    command = [str(program), "import", str(file.resolve()), "matrix.csv", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said: str = done.stderr
        return "not read: " + said.strip().removeprefix("linebounce: ").replace(str(file.resolve()), file.name)
    machine = tomllib.loads((folder / "machine.toml").read_text())
    return "; ".join(differences(described, machine, " ".join(done.stdout.split()))) or "equal"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--program", type=Path, default=Path("build/release/linebounce"))
    parser.add_argument("--only", default="", help="files whose name has this in it")
    arguments = parser.parse_args()
    failed = 0
    for file in sorted(arguments.folder.glob("*.xml")):
        if arguments.only not in file.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            said = check(arguments.program.resolve(), file, Path(folder))
        failed += said != "equal" and not said.startswith("not read: ")
        print(f"{file.name:60} {said}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
