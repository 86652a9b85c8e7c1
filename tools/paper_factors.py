#!/usr/bin/env python3
"""Computes how far unfitted figures are from a paper's: the median factor for each kind of metric.

Reads the results.json of experiments and looks at their paper rows, predicted or in sight, with a figure of one point (a row
that is relative to another point is a small difference, whose factor says nothing). The factor of a row is simulated / paper
or its inverse, whichever is larger. Rows of one kind end alike: con_pct, wait_mean_us, ...
"""

import argparse
import json
import pathlib
import statistics
import sys
from typing import Any


def factors(results: list[dict[str, Any]]) -> dict[str, list[tuple[float, str]]]:
    """Maps the last part of a metric's name to pairs of factor and row id, the largest factor first."""
    found: dict[str, list[tuple[float, str]]] = {}
    for document in results:
        for row in document["paper"]:
            if row["kind"] not in ("predicted", "in_sight") or "ratio" not in row or "relative_to" in row:
                continue
            ratio = row["ratio"]
            factor = max(ratio, 1 / ratio) if ratio else float("inf")
            found.setdefault(row["metric"].rsplit(".", 1)[-1], []).append((factor, row["id"]))
    return {metric: sorted(rows, reverse=True) for metric, rows in sorted(found.items())}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=pathlib.Path, help="directories of results, or results.json files")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="also show the N rows that are farthest off")
    parser.add_argument("--most", action="append", default=[], metavar="METRIC=FACTOR", help="exit 1 if a median is larger")
    arguments = parser.parse_args()
    documents = []
    for path in arguments.results:
        file = path / "results.json" if path.is_dir() else path
        documents.append(json.loads(file.read_text(encoding="utf-8")))
    found = factors(documents)
    failed = False
    limits = {metric: float(limit) for metric, _, limit in (text.partition("=") for text in arguments.most)}
    for metric, rows in found.items():
        median = statistics.median(factor for factor, _ in rows)
        missed = metric in limits and median > limits[metric]
        failed |= missed
        print(f"{metric}: median factor {median:.3f} of {len(rows)} rows{'  TOO LARGE' if missed else ''}")
        for factor, name in rows[: arguments.worst]:
            print(f"    {factor:6.2f}  {name}")
    unknown = set(limits) - set(found)
    if unknown:
        print(f"no rows of {', '.join(sorted(unknown))}", file=sys.stderr)
    return 1 if failed or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
