#!/usr/bin/env python3
"""Writes the pages that come from the program again: pages.py [PAGE]..., which is ./dev pages

Without PAGE those that take less than a minute each. The others measure or run experiments for minutes, and are named.
"""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Page(NamedTuple):
    name: str
    writes: str
    commands: list[list[str]]
    minutes: int = 0  # 0: less than one


PYTHON = sys.executable
PROGRAM = str(ROOT / "build" / "release" / "linebounce")
PAGES = (
    Page("metrics", "docs/results.md", [[PYTHON, "tools/metrics_page.py"]]),
    Page("recipes", "docs/recipes.md", [[PYTHON, "tools/recipes_page.py"]]),
    Page("papers", "docs/every-figure.md, docs/papers-misses.md and README.md", [[PYTHON, "tools/papers_page.py"]]),
    Page("findings", "findings/README.md", [[PYTHON, "tools/findings.py", "--table"]]),
    Page(
        "validation",
        "docs/validation-results.md, README.md and docs/pictures",
        [
            [PROGRAM, "validate"],
            [PYTHON, "tools/validation_page.py"],
            [PROGRAM, "report", "out/validate", "--figures", "docs/pictures"],
        ],
        minutes=10,
    ),
    Page("contention", "docs/contention.md", [[PYTHON, "tools/contention_page.py"]], minutes=10),
    Page("performance", "docs/performance.md", [[PYTHON, "tools/performance_page.py"]], minutes=6),
)


def main() -> int:
    by_name = {page.name: page for page in PAGES}
    if unknown := [name for name in sys.argv[1:] if name not in by_name]:
        print(f"pages.py: there is no page {', '.join(unknown)}; legal: {', '.join(by_name)}", file=sys.stderr)
        return 2
    chosen = [by_name[name] for name in sys.argv[1:]] or [page for page in PAGES if not page.minutes]
    for page in chosen:
        print(f"==> {page.writes}", flush=True)
        for command in page.commands:
            if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
                return code
    if not sys.argv[1:]:
        print("left out: " + ", ".join(f"{page.name} ({page.minutes} minutes)" for page in PAGES if page.minutes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
