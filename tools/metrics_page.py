#!/usr/bin/env python3
"""Writes the tables of metrics in docs/results.md, from what the program declares: `linebounce list metrics --json`.

A test holds the page to the program. After a change of a metric: ./dev build && tools/metrics_page.py
"""

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "results.md"
BETWEEN = re.compile(r"(?<=<!-- written by tools/metrics_page.py -->\n).*(?=<!-- end -->\n)", re.DOTALL)

TITLES = {
    "cost": "What an operation takes",
    "throughput": "Throughput",
    "workload": "What a workload measures of itself",
    "subsystem": "Subsystems and measured tables",
    "lock": "Locks",
    "cpu": "Time of the CPUs",
    "traffic": "Buses and links",
    "latency": "Misses and their latency",
}


def row(metric: dict[str, Any]) -> str:
    name = f"`{metric['name']}`"
    cells = [f"**{name}**" if metric["headline"] else name, metric["unit"], metric["better"] or "", metric["title"]]
    return re.sub(" +", " ", f"| {' | '.join(cells)} |")


def tables(metrics: list[dict[str, Any]]) -> str:
    """A table for each group of metrics, in the program's order."""
    parts = []
    for group, members in itertools.groupby(metrics, key=lambda metric: metric["group"]):
        rows = "\n".join(map(row, members))
        parts.append(f"\n### {TITLES[group]}\n\n| metric | unit | better | meaning |\n|---|---|---|---|\n{rows}\n")
    return "".join(parts) + "\n"


def page(text: str, metrics: list[dict[str, Any]]) -> str:
    """The page with up-to-date tables."""
    return BETWEEN.sub(lambda _: tables(metrics), text, count=1)


def main() -> int:
    program = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release" / "linebounce"
    listed = subprocess.run([program, "list", "metrics", "--json"], capture_output=True, check=True)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), json.loads(listed.stdout)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
