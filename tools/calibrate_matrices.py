"""Calibrates a machine to each core-to-core matrix in a folder, and prints the error of each fit.

    python tools/calibrate_matrices.py FOLDER [--program build/release/linebounce] [--keep FOLDER]

For a collection of matrices as the core-to-core-latency tool writes them (CSV, or what it shows on the terminal). The table
has, for each file, the RMS error over all pairs in percent of their mean, the least that any machine could reach where the
report says so, the error over pairs that the cores' positions were not fitted to, how many parameters the matrix chose, of how
many pairs, and the time. `--keep` holds each machine and report, so that a second run only calibrates what has changed.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

GOAL_PCT = 5.0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the matrices: all .csv and .txt files in it")
    parser.add_argument("--program", type=Path, default=Path("build/release/linebounce"))
    parser.add_argument("--keep", type=Path, default=Path("out/matrices"), help="machines and reports (default: out/matrices)")
    parser.add_argument("--only", default="", help="files whose name has this in it")
    return parser.parse_args()


def number_in(pattern: str, text: str) -> float | None:
    found = re.search(pattern, text)
    return float(found[1]) if found else None


def share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else 100 * part / whole


def figures_of(report: str, machine: str) -> dict[str, Any]:
    """The figures in the report of `linebounce calibrate`; keys are names of columns."""
    flat = " ".join(report.split())
    mean = number_in(r"of a mean of ([0-9.]+) ns", machine)  # computed from ns, because the report rounds its percentage
    return {
        "structure": report.strip().splitlines()[0].strip() if report.strip() else "",
        "rms_pct": share(number_in(r"RMS of all pairs ([0-9.]+) ns", flat), mean),
        "bound_pct": number_in(r"(?:contradicts itself by|At least) ([0-9.]+) %", flat),
        "held_out_pct": number_in(r"the others are ([0-9.]+) % off", flat),
        "parameters": number_in(r"([0-9]+) parameters? w", flat),
        "pairs": number_in(r"chosen by ([0-9]+) pairs?", flat),
    }


def calibrated(program: Path, matrix: Path, keep: Path) -> dict[str, Any]:
    """The figures for one file. Takes them from the last run if neither the file nor the program has changed."""
    identity = hashlib.sha256(matrix.read_bytes() + program.read_bytes()).hexdigest()
    name = re.sub(r"[^A-Za-z0-9]+", "_", matrix.stem).strip("_").lower()
    record = keep / f"{name}.json"
    if record.exists():
        known: dict[str, Any] = json.loads(record.read_text())
        if known["identity"] == identity:
            return known
    start = time.monotonic()
    command = [str(program), "calibrate", "-j", "1", "--from", str(matrix), "-o", str(keep / f"{name}.toml")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    figures = {
        "identity": identity,
        "code": ended.returncode,
        "seconds": time.monotonic() - start,
        "said": ended.stderr.strip(),
    }
    machine = keep / f"{name}.toml"
    figures |= figures_of(ended.stdout, machine.read_text() if ended.returncode == 0 else "")
    (keep / f"{name}.txt").write_text(ended.stdout + ended.stderr)
    record.write_text(json.dumps(figures, indent=1) + "\n")
    return figures


def shown(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def main() -> int:
    given = arguments()
    given.keep.mkdir(parents=True, exist_ok=True)
    matrices = [path for path in given.folder.iterdir() if path.suffix in (".csv", ".txt") and given.only in path.name]
    matrices.sort(key=lambda path: (path.stat().st_size, path.name))
    if not matrices:
        print(f"{given.folder}: no .csv or .txt file", file=sys.stderr)
        return 2
    print(f"{'matrix':<52} {'RMS %':>6} {'least':>6} {'held %':>6} {'params':>6} {'pairs':>6} {'s':>7}")
    good = 0
    for matrix in matrices:
        figures = calibrated(given.program, matrix, given.keep)
        good += figures["rms_pct"] is not None and figures["rms_pct"] <= GOAL_PCT
        row = f"{matrix.stem[:52]:<52} {shown(figures['rms_pct'], '.2f'):>6} {shown(figures['bound_pct'], '.1f'):>6}"
        row += f" {shown(figures['held_out_pct'], '.1f'):>6}"
        row += f" {shown(figures['parameters'], '.0f'):>6} {shown(figures['pairs'], '.0f'):>6} {figures['seconds']:>7.1f}"
        print(row if figures["code"] == 0 else f"{row}  {figures['said']}", flush=True)
    print(f"{good} of {len(matrices)} within {GOAL_PCT:g} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
