#!/usr/bin/env python3
"""Writes the measured parts of docs/performance.md, and its picture: ./dev bench --page

Rates are per second of processor time. Each comes from the difference between a longer and a shorter run, so that the
time of starting up cancels out. Processor time, unlike wall time, depends little on other work on the host. All runs
take about six minutes.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cost import Cost, cost_of, host
from instruction_counts import Sweep
from linebounce.report.figures import drawn
from peers import CASES, RELEASE, millions, rate

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "pictures" / "growth.svg"
LOCKS = ROOT / "tests" / "benchmarks" / "contended_locks.toml"

SHAPES = ((4, 1), (8, 1), (16, 1), (8, 2), (16, 4), (32, 8), (64, 16))  # (CPUs, nodes), as in `bench`
LOCK_LENGTHS_US = (5_000, 20_000)
LENGTHS = {"private": (10**6, 10**7, 10**8, 10**9), "contended": (10**6, 10**7, 10**8)}
RUN_LENGTHS_US = (1_000, 10_000, 100_000)
POINTS = (1, 10, 100, 1_000, 10_000)

Row = dict[str, Any]


@dataclass(frozen=True)
class Measures:
    """The measurements. Each is a list of table rows."""

    locks: list[Row]
    shapes: list[Row]
    lengths: list[Row]
    points: list[Row]


# ---- measurements ----


def run_cost(experiment: str | Path, folder: Path, *settings: str, program: Path = RELEASE) -> tuple[Cost, Row]:
    """Runs one point, and returns its results."""
    out = folder / "out"
    sets = [word for setting in settings for word in ("--set", setting)]
    cost = cost_of([program, "run", experiment, "-o", out, "--fresh", "-j", "1", "--quiet", *sets], folder=folder)
    manifest = json.loads((out / "manifest.json").read_text())
    point = json.loads((out / "results.json").read_text())["points"][0]
    return cost, {**manifest, **{name: metric["value"] for name, metric in point["metrics"].items()}}


def lock_rates(folder: Path) -> list[Row]:
    """How many contended acquisitions and how many misses are simulated in a second of the host's time."""
    rows = []
    for lock in ("ticket", "mcs"):
        seconds, acquired, missed = [], [], []
        for length in LOCK_LENGTHS_US:
            cost, result = run_cost(LOCKS, folder, f"workload.lock={lock}", f"run.measure_us={length}")
            seconds.append(cost.seconds)
            acquired.append(result["locks.section_lock.spin"])
            missed.append(result["locks.section_lock.misses"])
        took = seconds[1] - seconds[0]
        misses = missed[1] - missed[0]
        contended = acquired[1] - acquired[0]
        rows.append({"lock": lock, "acquisitions": contended / took, "misses": misses / took, "each": misses / contended})
    return rows


def shape_rates() -> list[Row]:
    rows = []
    for cpus, nodes in SHAPES:
        for name, case in CASES.items():
            longer = case.references // (4 if nodes == 1 else 8)

            def seconds(references: int, name: str = name, cpus: int = cpus, nodes: int = nodes) -> float:
                return bench(name, cpus, nodes, references).seconds

            rows.append({"cpus": cpus, "nodes": nodes, "case": name, "rate": rate(seconds, longer)})
    return rows


def bench(case: str, cpus: int, nodes: int, references: int) -> Cost:
    shape = ("--case", case, "--cpus", str(cpus), "--nodes", str(nodes))
    return cost_of([RELEASE, "bench", "--timed-only", *shape, "--references", str(references)])


def length_costs(folder: Path) -> list[Row]:
    rows: list[Row] = []
    for case, lengths in LENGTHS.items():
        for references in lengths:
            cost = bench(case, 8, 1, references)
            rows.append({"of": f"bench, {case}", "references": references, "mib": cost.peak_mib})
    for length in RUN_LENGTHS_US:
        cost, result = run_cost(LOCKS, folder, "workload.lock=mcs", f"run.measure_us={length}")
        rows.append({"of": "run, mcs lock", "references": result["references"], "mib": cost.peak_mib})
    return rows


def point_costs(folder: Path) -> list[Row]:
    rows = []
    for points in POINTS:
        experiment = folder / "sweep.toml"
        experiment.write_text(Sweep.of(points))
        cost, _ = run_cost(experiment, folder)
        rows.append({"points": points, "ms": 1000 * cost.seconds / points, "mib": cost.peak_mib})
    return rows


def measure() -> Measures:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return Measures(lock_rates(folder), shape_rates(), length_costs(folder), point_costs(folder))


# ---- the page ----


def table(head: list[str], rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *rows])


def count(value: float) -> str:
    return f"{float(f'{value:.3g}'):,.0f}"


def lock_table(measures: Measures) -> str:
    rows = [
        [f"`{row['lock']}`", count(row["acquisitions"]), count(row["each"]), count(row["misses"])] for row in measures.locks
    ]
    return table(["lock", "acquisitions/s", "misses each", "misses/s"], rows)


def shape_table(measures: Measures) -> str:
    rates = {(row["cpus"], row["nodes"], row["case"]): row["rate"] for row in measures.shapes}
    rows = [[str(cpus), str(nodes), *[millions(rates[cpus, nodes, case]) for case in CASES]] for cpus, nodes in SHAPES]
    return table(["CPUs", "nodes", *CASES], rows)


def length_table(measures: Measures) -> str:
    rows = [[row["of"], count(row["references"]), f"{row['mib']:.1f}"] for row in measures.lengths]
    return table(["run", "references", "largest process, MiB"], rows)


def point_table(measures: Measures) -> str:
    rows = [[f"{row['points']:,}", f"{row['ms']:.1f}", f"{row['mib']:.1f}"] for row in measures.points]
    return table(["points", "CPU time a point, ms", "largest process, MiB"], rows)


SECTIONS: dict[str, Callable[[Measures], str]] = {
    "host": lambda _: f"Measured on {host()}.\n",
    "locks": lock_table,
    "shapes": shape_table,
    "lengths": length_table,
    "points": point_table,
}


def page(before: str, measures: Measures) -> str:
    for name, write in SECTIONS.items():
        begin = f"<!-- {name}: written by tools/performance_page.py -->\n"
        if begin not in before:
            raise SystemExit(f"performance_page: docs/performance.md has no place for {name}")
        start = before.index(begin) + len(begin)
        end = before.index("<!-- end -->\n", start)
        before = f"{before[:start]}\n{write(measures)}\n{before[end:]}"
    return before


def panel(rows: list[Row], x: Row, y: Row, by: str | None = None) -> Row:
    encoding: Row = {"x": {"type": "quantitative", **x}, "y": {"type": "quantitative", **y}}
    if by:
        encoding["color"] = {"field": by, "type": "nominal", "legend": {"title": None, "orient": "top", "columns": 2}}
    return {
        "width": 230,
        "height": 200,
        "data": {"values": rows},
        "mark": {"type": "line", "point": True},
        "encoding": encoding,
    }


def powers(first: int, last: int) -> Row:
    """Ticks at powers of ten."""
    return {"values": [10**power for power in range(first, last + 1)], "format": "~s"}


def chart(measures: Measures) -> Row:
    log: Row = {"type": "log"}
    shapes = [{**row, "rate": row["rate"] / 1e6} for row in measures.shapes if row["nodes"] > 1]
    return {
        "resolve": {"scale": {"color": "independent"}},
        "hconcat": [
            panel(
                shapes,
                {
                    "field": "cpus",
                    "title": "CPUs, four to a node",
                    "scale": {"type": "log", "base": 2},
                    "axis": {"values": [8, 16, 32, 64]},
                },
                {"field": "rate", "title": "million references a second", "scale": log},
                by="case",
            ),
            panel(
                measures.lengths,
                {"field": "references", "title": "references of a run", "scale": log, "axis": powers(6, 9)},
                {"field": "mib", "title": "largest process, MiB"},
                by="of",
            ),
            panel(
                measures.points,
                {"field": "points", "title": "points of a sweep", "scale": log, "axis": powers(0, 4)},
                {"field": "ms", "title": "CPU time a point, ms", "scale": log},
            ),
        ],
    }


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    measures = measure()
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), measures), encoding="utf-8")
    PICTURE.write_bytes(dict(drawn(chart(measures)))["svg"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
