#!/usr/bin/env python3
"""Writes the tables of docs/contention.md: contention_page.py [PROGRAM], default build/release/linebounce

Runs what each table needs, which takes minutes. After a change of machines, families or the mechanisms of waiting:

    ./dev build && tools/contention_page.py
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "contention.md"
OLD_FAMILY = "front_side_bus"
LOCKS = ("tas", "ttas", "ticket", "mcs", "clh")
RATE = "throughput.operations_per_s"
EVERYBODY = 256  # more sharers than any machine can have
# From SOSP 2013, table 2: cycles of an atomic operation on a shared line, first with all sharers on one die, then with some
# elsewhere.
PUBLISHED = {"xeon_e7_8867l_8socket": ("116", "318"), "opteron_6172_4socket": ("246", "255 to 296")}
ADDING = ("xeon_gold_6242_2socket", "xeon_e7_8867l_8socket", "opteron_6172_4socket", "epyc_7773x_1socket", "graviton2_1socket")
ADDING_CPUS = (1, 2, 4, 8, 16)
# In ns per addition, with a plain and with an atomic addition. Measured on commit a082db9, before there were contention
# families, with that commit's machine files.
BEFORE = {
    "xeon_gold_6242_2socket": ((1.8, 1.8, 3.5, 7.1, 7.1), (7.1, 14.3, 88, 176, 176)),
    "xeon_e7_8867l_8socket": ((2.8, 13, 26, 52, 52), (9.4, 61, 122, 244, 244)),
    "opteron_6172_4socket": ((1.9, 10, 20, 88, 102), (9.5, 46.7, 93.3, 289, 334)),
    "epyc_7773x_1socket": ((1.4, 5.0, 10, 19.9, 19.9), (5.1, 25.7, 51.4, 103, 103)),
    "graviton2_1socket": ((2.0, 3.4, 6.8, 12.9, 11.8), (5.2, 26.7, 55.3, 106, 98.8)),
}

Point = dict[str, Any]
Row = list[str]


def machines() -> dict[str, dict[str, Any]]:
    """The machine files of modern machines. Leaves out those for courses, which have no contention."""
    files = sorted((ROOT / "configs" / "machines").glob("*.toml"))
    tables = {file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in files}
    return {name: table for name, table in tables.items() if table["contention"] not in (OLD_FAMILY, "ideal")}


class Runs:
    def __init__(self, program: Path, folder: Path) -> None:
        self.program = program
        self.folder = folder

    def __call__(self, experiment: str | Path, machine: str, **sets: object) -> list[Point]:
        """Runs an experiment and returns its points. `sets`: settings, with `__` for each dot of a path."""
        out = self.folder / "out"
        settings = [word for path, value in sets.items() for word in ("--set", f"{path.replace('__', '.')}={value}")]
        command = [self.program, "run", experiment, "--machine", machine, "-o", out, "--fresh", "--quiet", *settings]
        subprocess.run(command, check=True, env=os.environ | {"LINEBOUNCE_ROOT": str(ROOT)})
        points: list[Point] = json.loads((out / "results.json").read_text(encoding="utf-8"))["points"]
        return points


def value(point: Point, metric: str) -> float | None:
    found = point["metrics"].get(metric)
    return None if found is None else float(found["value"])


def text(number: float | None) -> str:
    return "" if number is None else f"{float(f'{number:.3g}'):g}"


def table(head: Row, rows: list[Row]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def shared_stores(run: Runs) -> str:
    head = ["machine", "in a node: 1", "3", "all", "published", "beyond: 1", "3", "all", "published"]
    rows = []
    for name, machine in machines().items():
        cycles = machine["cpu"]["clock_mhz"] / 1000
        published = PUBLISHED.get(name, ("not published", "not published"))
        nodes = len(machine["cpu_nodes"].split()) if "cpu_nodes" in machine else int(machine.get("nodes", 1))
        row = [f"`{name}`"]
        for place, cpus, figure in (
            ("same_node", machine["cpus"] // nodes, published[0]),
            ("other_node", machine["cpus"], published[1]),
        ):
            if place == "other_node" and nodes == 1:
                row += ["", "", "", "one node"]
                continue
            for sharers in (1, 3, EVERYBODY):
                (point,) = run(
                    "shared_line_write", name, machine__cpus=cpus, workload__sharers=sharers, workload__repetitions=1
                )
                found = value(point, f"core_to_core.{place}_ns")
                row.append(text(None if found is None else found * cycles))
            row.append(figure)
        rows.append(row)
    return table(head, rows)


def additions(run: Runs) -> str:
    head = ["machine", "additions", "", *[str(cpus) for cpus in ADDING_CPUS]]
    rows = []
    program = ROOT / "programs" / "false_sharing.lua"
    for name in ADDING:
        for atomic, before in zip((False, True), BEFORE[name], strict=True):
            now = []
            for cpus in ADDING_CPUS:
                sets = {"workload__atomic": str(atomic).lower(), "workload__outside_cycles": 0, "machine__cpus": cpus}
                (point,) = run(program, name, machine__cpu_order="fill", run__warmup_us=10, run__measure_us=100, **sets)
                now.append(text(cpus * 1e9 / point["metrics"][RATE]["value"]))
            rows.append([f"`{name}`", "atomic" if atomic else "plain", "before", *map(text, before)])
            rows.append(["", "", "now", *now])
    return table(head, rows)


def least_shares(run: Runs) -> str:
    head = ["machine", "CPUs", *[f"`{lock}`" for lock in LOCKS]]
    rows = []
    for name, machine in machines().items():
        cpus = machine["cpus"]
        sets = {"machine__cpus": cpus, "run__seeds": 1, "run__warmup_us": 50, "machine__cpu_order": "fill"}
        row = [f"`{name}`", str(cpus)]
        for lock in LOCKS:
            (point,) = run("lock_scaling", name, workload__lock=lock, run__measure_us=500, **sets)
            sections = 500e-6 * point["metrics"][RATE]["value"]
            starved = round(value(point, "fairness.starved_cpus") or 0)
            longer = ""
            if 0 < sections < 10 * cpus:  # too few sections for each CPU to get a share
                (point,) = run("lock_scaling", name, workload__lock=lock, run__measure_us=10000, **sets)
                longer = f"; in 10 ms {round(value(point, 'fairness.starved_cpus') or 0)}"
            row.append("0" if starved == 0 else f"{starved} of {sections:.0f} sections{longer}")
        rows.append(row)
    return table(head, rows)


def page(before: str, run: Runs) -> str:
    for name, write in (("stores", shared_stores), ("additions", additions), ("shares", least_shares)):
        begin = f"<!-- {name}: written by tools/contention_page.py -->\n"
        between = re.compile(f"(?<={re.escape(begin)}).*?(?=<!-- end -->\n)", re.DOTALL)
        tables = f"\n{write(run)}\n"
        before = between.sub(lambda _, tables=tables: tables, before, count=1)  # type: ignore[misc]
        print(f"{name} done", file=sys.stderr)
    return before


def main() -> int:
    program = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "release" / "linebounce"
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), Runs(program, Path(folder))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
