"""Simulates linebounce-probe on a machine, and fits the result with `linebounce calibrate`.

    python tools/simulated_probe.py [MACHINE ...] [--program build/release/linebounce] [--structure]

Of each machine a few CPUs on two nodes are taken. Its contention values are changed to known ones, the probe's measurements are
simulated, and `calibrate --machine` gets the machine as it was. The table has each known value beside the one that comes back.
With `--structure` the calibration gets no machine: it finds the structure in the matrix, and starts from the generic machine.
"""

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BETWEEN_CYCLES = (0, 50, 150, 400)
WINDOW_US = 100

HOLD, HOLD_AFTER = "machine.cpu.hold_ns", "machine.cpu.hold_after"
INVALIDATION, BUSY = "machine.bus.invalidation_clocks", "machine.directory.line_busy_ns"
MACHINES = (
    "epyc_7742_2socket",
    "epyc_7773x_1socket",
    "generic_2socket_32core",
    "generic_8socket_64core",
    "generic_ccx_64core",
    "generic_chiplet_64core",
    "generic_mesh_64core",
    "graviton2_1socket",
    "opteron_6172_4socket",
    "opteron_8431_8socket",
    "xeon_8360y_2socket",
    "xeon_e5_2680v3_2socket",
    "xeon_e7_8867l_8socket",
    "xeon_gold_6242_2socket",
    "xeon_x5650_2socket",
)

Pair = tuple[int, int]
Changes = dict[str, float | str]


class SimulatedMachine:
    """A machine's file with changed values, and a directory for the results of its runs."""

    def __init__(self, program: Path, machine: str | Path, directory: Path, changes: Changes | None = None) -> None:
        self.program, self.machine, self.directory = program, str(machine), directory
        self.sets = [word for path, value in (changes or {}).items() for word in ("--set", f"{path}={value}")]
        shown = self.call("describe", "machine", self.machine, "--json")
        self.values = {item["path"]: item["value"] for item in json.loads(shown)["parameters"]}

    def call(self, *arguments: str | Path) -> str:
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True, check=False, cwd=self.directory)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return done.stdout

    def run(self, workload: str, **parameters: str | float) -> Path:
        experiment = self.directory / f"{workload}.toml"
        values = "".join(f"{key} = {json.dumps(value)}\n" for key, value in parameters.items())
        head = f'name = "{workload}"\ntitle = "t"\nmachine = {json.dumps(self.machine)}\nseed = 1\n'
        experiment.write_text(f'{head}[workload]\nname = "{workload}"\n{values}')
        output = self.directory / workload
        self.call("run", experiment, "-o", output, "--fresh", *self.sets)
        return output

    def matrix(self) -> dict[Pair, float]:
        """The latency of each pair of CPUs: the mean over both directions and both homes."""
        output = self.run("core_to_core", access="atomic", states="modified", homes="near")
        found = defaultdict(list)
        with (output / "matrix.csv").open() as lines:
            for row in csv.DictReader(lines):
                found[int(row["from_cpu"]), int(row["to_cpu"])].append(float(row["latency_ns"]))
        both = {pair: sum(ns) / len(ns) for pair, ns in found.items()}
        return {(a, b): (ns + both[b, a]) / 2 for (a, b), ns in both.items()}

    def contended(self, rows: list[tuple[str, int, list[int]]]) -> list[float]:
        everybody = list(range(self.values["machine.cpus"]))
        words = ["all" if cpus == everybody else " ".join(map(str, cpus)) for _, _, cpus in rows]
        text = "; ".join(f"{row[0]} {row[1]}: {word}" for row, word in zip(rows, words, strict=True))
        output = self.run("contended_line", measurements=text, window_us=WINDOW_US)
        (point,) = json.loads((output / "results.json").read_text())["points"]
        return [point["metrics"][f"contended_line.{i}.ns"]["value"] for i in range(len(rows))]


def sets_of_cpus(pairs: dict[Pair, float], threads: int) -> tuple[list[list[int]], Pair | None]:
    """The CPUs that contend, chosen as linebounce-probe chooses them: sets without sibling threads, and a pair of
    siblings."""
    cpus = 1 + max(a for a, _ in pairs)
    order = sorted(range(1, cpus), key=lambda cpu: (pairs[0, cpu], cpu))
    siblings, others = order[: threads - 1], order[threads - 1 :]
    near, far = others[0], others[-1]
    chosen = [[0, near], [0, *others[:3]], list(range(cpus))]
    if pairs[0, far] > 1.3 * pairs[0, near]:
        beside = min((cpu for cpu in others if cpu not in (near, far)), key=lambda cpu: pairs[far, cpu])
        chosen += [[0, far], [0, near, far, beside]]
    distinct = [cpus for i, cpus in enumerate(chosen) if cpus not in chosen[:i]]
    return distinct, ((0, siblings[0]) if siblings else None)


def rows_to_measure(pairs: dict[Pair, float], threads: int) -> list[tuple[str, int, list[int]]]:
    sets, siblings = sets_of_cpus(pairs, threads)
    rows = [("shared_store", 0, cpus) for cpus in sets]
    for cpus in sets:
        rows += [(operation, cycles, cpus) for operation in ("fetch_add", "increment") for cycles in BETWEEN_CYCLES]
        rows.append(("store", 0, cpus))
    if siblings:
        rows.append(("alone", 0, [0]))
        rows += [(f"beside_{what}", 0, list(siblings)) for what in ("computing", "spinning", "pausing")]
    return rows


def row_text(**values: Any) -> str:
    ns = values.pop("ns")
    given = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "{" + ", ".join([*given, f"median_ns = {ns}, quartile1_ns = {ns}, quartile3_ns = {ns}, repeats = 9"]) + "}"


def probe_text(machine: SimulatedMachine, model: str = "simulated") -> str:
    """The probe's output file with only the core-to-core matrix and the contended lines. It lacks caches, memory and
    bandwidth."""
    pairs = machine.matrix()
    cpus = 1 + max(a for a, _ in pairs)
    rows = rows_to_measure(pairs, machine.values["machine.cpu.threads_per_core"])
    cells = [[0.0 if a == b else round(pairs[a, b], 3) for b in range(cpus)] for a in range(cpus)]
    loads = [("modified_load", 0, cpus) for operation, _, cpus in rows if operation == "shared_store" and len(cpus) == 2]
    hand_offs = [
        row_text(from_cpu=giver, to_cpu=receiver, home_node=0, state="modified", access="load", ns=ns)
        for (_, _, (receiver, giver)), ns in zip(loads, machine.contended(loads), strict=True)
    ]
    waiting = [
        row_text(operation=operation, between_cycles=between, cpus=of_row, ns=ns)
        for (operation, between, of_row), ns in zip(rows, machine.contended(rows), strict=True)
    ]
    clock = machine.values["machine.cpu.clock_mhz"]
    atomics = [
        row_text(operation=operation, ns=machine.values[f"machine.cpu.{key}_latency_cycles"] * 1000 / clock)
        for operation, key in (("fetch_add", "atomic"), ("compare_exchange", "compare_exchange"))
    ]
    return "\n".join(
        [
            "probe_format = 1",
            f'[host]\nmodel = "{model}"\nclock_median_mhz = {clock}',
            f"[topology]\ncpus = {list(range(cpus))}\nnode = {[0] * cpus}",
            f"[core_to_core]\npairs = {cpus * (cpus - 1) // 2}\npairs_measured = {cpus * (cpus - 1) // 2}\nmedian_ns = {cells}",
            f"[handover]\nrows = [{', '.join(hand_offs)}]",
            f"[atomic]\nrows = [{', '.join(atomics)}]",
            "[contended_line]\nrows = [\n" + ",\n".join(waiting) + "\n]\n",
        ]
    )


def few_cpus(name: str, of_each: int = 4) -> str:
    """A shipped machine's file, changed so that it uses a few whole cores of the first two nodes, or of one node's first
    two buses."""
    text = (ROOT / "configs" / "machines" / f"{name}.toml").read_text()
    numbers = {
        key: int(value)
        for key, value in re.findall(r"^(cpus|nodes|buses_per_node|threads_per_core) *= *([0-9]+)", text, re.MULTILINE)
    }
    cpu_nodes = re.search(r'^cpu_nodes *= *"([0-9 ]+)"', text, re.MULTILINE)
    nodes = len(cpu_nodes[1].split()) if cpu_nodes else numbers.get("nodes", 1)
    places = nodes if nodes > 1 else numbers.get("buses_per_node", 1)
    own, count = numbers["cpus"] // places, of_each * numbers.get("threads_per_core", 1)
    chosen = " ".join(str(place * own + cpu) for place in range(min(2, places)) for cpu in range(count))
    few = f'cpus = {len(chosen.split())}\ncpus_present = {numbers["cpus"]}\ncpu_list = "{chosen}"\n'
    return re.sub(r"^cpus *=.*\n", few, text, count=1, flags=re.MULTILINE)


def known_values(machine: SimulatedMachine) -> Changes:
    """Contention values that no family of machines has. Each is large enough to show beside the machine's own
    latencies."""
    # Every request for a line goes to the home, whose busy time hides a hold.
    if machine.values["machine.contention"] == "amd_k10":
        return {HOLD: 0, INVALIDATION: 30, BUSY: 115}
    clocks = machine.values["machine.bus.intervention_clocks"] + machine.values["machine.bus.latch_clocks"]
    return {HOLD: 30, HOLD_AFTER: "writes", INVALIDATION: round(0.7 * clocks) + 4, BUSY: 230}


def table_of(name: str, known: Changes, found: dict[str, Any]) -> str:
    lines = []
    for path, true in known.items():
        fitted = found.get(path, "-")
        off = "" if isinstance(true, str) or true == 0 else f"{fitted / true - 1:+8.1%}"
        lines.append(f"{name:<24} {path.removeprefix('machine.'):<24} {true:>8} {fitted:>8} {off}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machines", nargs="*", default=MACHINES)
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "linebounce")
    parser.add_argument("--structure", action="store_true", help="calibrate without the machine's own file")
    parser.add_argument("--said", action="store_true", help="also show what calibrate says of waiting")
    given = parser.parse_args()
    program = given.program.resolve()
    print(f"{'machine':<24} {'parameter':<24} {'true':>8} {'fitted':>8} {'off':>8}")
    for name in given.machines:
        with tempfile.TemporaryDirectory() as folder:
            directory = Path(folder)
            machine, probe, fitted = (directory / file for file in (f"{name}.toml", "a.probe", "fitted.toml"))
            machine.write_text(few_cpus(name))
            known = known_values(SimulatedMachine(program, machine, directory))
            probe.write_text(probe_text(SimulatedMachine(program, machine, directory, known)))
            base = [] if given.structure else ["--machine", machine]
            call = [program, "calibrate", "--from", probe, "-o", fitted, *base]
            done = subprocess.run(call, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f"{name:<24} {done.stderr}", flush=True)
                continue
            print(table_of(name, known, SimulatedMachine(program, fitted, directory).values), flush=True)
            if given.said:
                print(done.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
