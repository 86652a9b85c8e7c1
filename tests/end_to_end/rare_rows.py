"""Finds which rows of a protocol's tables random traffic runs, and the marks of rare rows (models/protocols/README.md)."""

import csv
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments import experiment
from program import MACHINES, ROOT, Program

PROTOCOLS = ROOT / "models" / "protocols"
CHECKER = "check"  # the name in marks of rows that no traffic runs, only `linebounce check`
MARK = re.compile(r"\(rare: ([^()]+)\)$")
PROCESSOR = {"Load", "Store", "Atomic", "Evict"}
NEVER_CHOSEN = {"Evict", "Evict_Entry"}


@dataclass(frozen=True)
class Row:
    """A row as the file has it, which may stand for several states and events."""

    file: str
    line: int
    controller: str
    states: tuple[str, ...]
    events: tuple[str, ...]
    actions: str
    why: str

    def __str__(self) -> str:
        return f"models/protocols/{self.file}.md:{self.line}: {', '.join(self.states)} at {', '.join(self.events)}"

    @property
    def mark(self) -> str | None:
        """The name of the traffic that must run this row."""
        found = MARK.search(self.why)
        return found and found[1]

    @property
    def runs(self) -> bool:
        """Whether traffic can run the row. A processor's access that hits or stalls runs no row, and a cache never
        evicts a line whose row would stall."""
        if self.actions == "impossible":
            return False
        if self.actions == "stall" and set(self.events) <= NEVER_CHOSEN:
            return False
        return not (self.controller == "cache" and set(self.events) <= PROCESSOR and self.actions in ("hit", "stall"))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def parts(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(","))


@cache
def rows(file: str) -> tuple[Row, ...]:
    """The rows that the file itself defines. For a directory's file, leaves out the rows of its caches: no machine has
    such caches, and the checker proves that each row runs."""
    found = []
    controller = head = ""
    for number, line in enumerate((PROTOCOLS / f"{file}.md").read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("## "):
            controller = line[3:].strip()
        if not line.startswith("|"):
            head = ""
            continue
        head = head or line
        if cells(head) != ["in", "on", "do", "then", "why"] or line == head or set(line) <= set("|-: "):
            continue
        states, events, actions, _, why = cells(line)
        if controller != "cache" or file.endswith("_snoop") or "_snoop_" in file:
            found.append(Row(file, number, controller, parts(states), parts(events), actions, why))
    return tuple(found)


@cache
def bases(file: str) -> list[str]:
    """This file and those that it extends, nearest first."""
    extends = re.search(r"^\| extends +\| (\w+)", (PROTOCOLS / f"{file}.md").read_text(encoding="utf-8"), re.MULTILINE)
    return [file, *(bases(extends[1]) if extends else [])]


@cache
def row_of(file: str, controller: str, state: str, event: str) -> Row | None:
    names = {event, event.partition(" [")[0]}
    for nearer in bases(file):
        for row in rows(nearer):
            if row.controller == controller and state in row.states and names & set(row.events):
                return row
    return None


@dataclass(frozen=True)
class Composition:
    """The protocols of one machine; empty where the machine has no such controller."""

    bus: str
    node: str = ""
    directory: str = ""
    group: str = ""

    def __str__(self) -> str:
        return self.group or self.node or self.bus

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.bus, self.node, self.directory, self.group)))

    def of(self, controller: str) -> str:
        return {"node": self.node, "directory": self.directory, "group": self.group}.get(controller, self.bus)


def joined(family: str, node: str = "node", directory: str = "directory", bus: str = "", group: str = "") -> Composition:
    return Composition(bus or f"{family}_snoop", f"{family}_{node}", f"{family}_{directory}", group)


COMPOSITIONS = [
    *(Composition(f"{bus}_snoop") for bus in ("msi", "mesi", "mesif", "moesi", "dragon", "mesi_far", "mesi_migratory")),
    Composition("mesi_snoop_upgrade_retry"),
    joined("mesi"),
    joined("moesi"),
    joined("mesif"),
    joined("mesi", "node_far", bus="mesi_far_snoop"),
    joined("mesi_migratory"),
    joined("mesi", "node_tags", "directory_tags"),
    joined("moesi", "node_filter", "directory_filter"),
    joined("moesi", "broadcast_node", "broadcast_home"),
    joined("mesif", "broadcast_node", "broadcast_home"),
    *(joined("mesi", group=group) for group in ("mesi_group", "mesi_group_non_inclusive", "mesi_group_exclusive")),
    joined("moesi", group="moesi_group"),
]


def files_of(together: Composition) -> list[str]:
    """The files whose rows this machine must run: those that no earlier machine in COMPOSITIONS has."""
    return [file for file in together.files if next(each for each in COMPOSITIONS if file in each.files) == together]


@dataclass(frozen=True)
class Traffic:
    """Random references, and a machine whose parts are small, slow or few, so that rare rows run."""

    nodes: int = 2
    buses: int = 2  # buses in each node; twice as many if the machine has groups
    cpus_of_bus: int = 2
    cache_kib: int = 1  # size of L1D; L2 is twice as large
    lines: tuple[int, int] = (3, 60)  # numbers of lines shared by all CPUs, and private to each CPU
    consistency: str = "tso"
    members: int = 2  # of each group
    group_kib: int = 1
    filter_entries: int = 64
    network: str = "latency_ns = 0"
    occupancy_ns: int = 0
    measure_us: int = 100

    def machine(self, together: Composition) -> str:
        text = (MACHINES / "p3_xeon_4way.toml").read_text(encoding="utf-8").partition("# Six parameters")[0]
        cpus = self.nodes * self.buses * self.cpus_of_bus * (2 if together.group else 1) if together.node else 4
        changes = {
            "cpus   = 4": f"cpus   = {cpus}",
            "size_kib = 16\nways = 4": f"size_kib = {self.cache_kib}\nways = 1",
            "size_kib = 1024\nways = 8": f"size_kib = {2 * self.cache_kib}\nways = 1",
            'consistency = "tso"': f'consistency = "{self.consistency}"',
            'protocol = "mesi_snoop"': f'protocol = "{together.bus}"',
        }
        if together.node:
            buses = self.buses * (2 if together.group else 1)
            changes["\n[cpu]"] = f"nodes = {self.nodes}\nbuses_per_node = {buses}\n\n[cpu]"
            text += self.beyond_the_buses(together)
        for old, new in changes.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text

    def beyond_the_buses(self, together: Composition) -> str:
        keeps_data = not together.node.endswith("_tags")
        text = f'[node]\nprotocol = "{together.node}"\nlatency_ns = 20\noccupancy_ns = {self.occupancy_ns}\n'
        text += "cache_size_kib = 1\ncache_ways = 2\n" if keeps_data else ""
        if together.group:
            text += f'[group.L3]\nprotocol = "{together.group}"\nmembers = {self.members}\nlatency_ns = 10\nlink_ns = 5\n'
            text += f"size_kib = {self.group_kib}\nways = 2\ncache_latency_ns = 30\n"
            text += f"filter_entries = {self.filter_entries}\nfilter_ways = 2\n" if "clusive" in together.group else ""
        text += f'[directory]\nprotocol = "{together.directory}"\nlatency_ns = 30\n'
        text += "entries = 8\nways = 2\n" if together.directory.endswith("_filter") else ""
        return text + f"[network]\n{self.network}\n"


# Traffic by the name that marks use. Rows without a mark must run under plain traffic.
PLAIN = "plain"
TRAFFIC = {
    PLAIN: Traffic(),
    "few lines": Traffic(cpus_of_bus=4, lines=(1, 2), measure_us=300),
    "large caches": Traffic(nodes=1, buses=4, lines=(40, 60), cache_kib=16, group_kib=8, filter_entries=128, measure_us=300),
    "large groups": Traffic(members=4, lines=(40, 10), filter_entries=128, measure_us=300),
    "narrow links": Traffic(
        nodes=4,
        buses=1,
        cpus_of_bus=2,
        lines=(20, 10),
        network='topology = "ring"\nlatency_ns = 40\nbandwidth_mb_per_s = 30',
        measure_us=500,
    ),
}


def rows_that_run(program: Program, together: Composition, traffic: Traffic, seed: int) -> set[Row]:
    machine = program.file("machine.toml", traffic.machine(together))
    shared, own = traffic.lines
    text = experiment(
        workload=f'name = "random_references"\nshared_lines = {shared}\nprivate_lines = {own}',
        run=f"warmup_us = 0\nmeasure_us = {traffic.measure_us}",
        top=f'machine = "{machine}"',
    )
    output = program.directory / "out"
    done = program("run", program.file("random.toml", text), "-o", output, "--fresh", "--quiet", "--seed", str(seed))
    assert done.code == 0, done.stderr
    with (output / "transitions.csv").open(encoding="utf-8") as file:
        ran = [
            row_of(together.of(row["controller"]), row["controller"], row["state"], row["event"])
            for row in csv.DictReader(file)
        ]
    assert None not in ran
    return {row for row in ran if row}


# ---- running `python tests/end_to_end/rare_rows.py` renews the marks after timing changes ----

RUNS = 8  # of each traffic
OFTEN = 3  # a row that at least this many runs of plain traffic execute needs no mark


def runs_of_rows(program: Program, together: Composition) -> dict[Row, Counter[str]]:
    """For each row that ran: the number of runs that executed it, by traffic."""
    runs: dict[Row, Counter[str]] = {}
    for name, traffic in TRAFFIC.items():
        for seed in range(1, RUNS + 1):
            for row in rows_that_run(program, together, traffic, seed):
                runs.setdefault(row, Counter())[name] += 1
    return runs


def mark_for(row: Row, runs: Counter[str]) -> str | None:
    """The mark for a row, which stays if its traffic still runs the row. Otherwise None if plain traffic often runs it, the
    other traffic that runs it most often, or CHECKER if none does."""
    if row.mark and runs[row.mark]:
        return row.mark
    if runs[PLAIN] >= OFTEN:
        return None
    rare = [(count, name) for name, count in runs.items() if name != PLAIN]
    return max(rare)[1] if rare else CHECKER


def set_mark(row: Row, mark: str | None) -> None:
    path = PROTOCOLS / f"{row.file}.md"
    lines = path.read_text(encoding="utf-8").splitlines()
    why = MARK.sub("", row.why).rstrip() + (f" (rare: {mark})" if mark else "")
    lines[row.line - 1] = f"{lines[row.line - 1].rpartition(row.why)[0]}{why} |"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def renew() -> None:
    with TemporaryDirectory() as directory:
        program = Program(ROOT / "build" / "release" / "linebounce", Path(directory))
        for together in COMPOSITIONS:
            runs = runs_of_rows(program, together)
            for row in (row for file in files_of(together) for row in rows(file) if row.runs):
                found = runs.get(row, Counter())
                if (mark := mark_for(row, found)) != row.mark:
                    print(f"{row}: {row.mark} -> {mark} {dict(found)}")
                    set_mark(row, mark)


if __name__ == "__main__":
    renew()
