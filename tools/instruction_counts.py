#!/usr/bin/env python3
"""What the simulator costs, in instructions of the host and in misses of its first-level caches and branch predictor.

./dev bench --instructions [--renew]

Counts by valgrind, whose model of a processor repeats exactly, and compares with tests/end_to_end/instruction_counts.json:

  bench cases    per reference: a longer run of the case minus a shorter one, so that start-up drops out
  start-up       of a command that simulates nothing
  whole runs     a point of 1 us, a sweep of 100 of them (reckoned from sweeps of 4 and 12), and an oltp point: all processes
                 together

Exit code 1 if instructions are more than 1 % above the file's, or misses more than 10 % and 8 per reference. After a change
that makes the program faster, or has to make it slower, write the figures anew and commit the file with the change:

  --renew   writes the file
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build" / "release" / "linebounce"
FILE = ROOT / "tests" / "end_to_end" / "instruction_counts.json"

Counts = dict[str, float]
Figures = dict[str, Counts]

INSTRUCTIONS = "instructions"
# Cachegrind's names.
PER_REFERENCE = {
    INSTRUCTIONS: r"I +refs",
    "L1 data misses": r"D1 +misses",
    "L1 instruction misses": r"I1 +misses",
    "mispredicted branches": r"Mispredicts",
}
MOST = 1.01
# The addresses of code and data affect misses, too. A change of comments and messages alone has moved data misses by 7 %, and
# instruction misses from 8.6 to 13.5.
MOST_MISSES = 1.1
MISSES_MORE = 8.0

SIMULATED_PROCESSOR = ("--cache-sim=yes", "--branch-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64")


def valgrind(folder: Path, tool: str, *options: str, command: list[str | Path]) -> str:
    """Runs the command under valgrind, and returns the reports of all its processes, the first process last. Fixes the
    size of the environment, because that moves addresses."""
    done = subprocess.run(
        ["valgrind", f"--tool={tool}", "--trace-children=yes", f"--{tool}-out-file=counts.%p", *options, *command],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"instruction_counts: {' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
    return done.stderr


@dataclass(frozen=True)
class Reference:
    """Counts for one reference of a case of `bench`: the difference between two runs."""

    case: str
    cpus: int
    nodes: int
    lengths: tuple[int, int]

    def counts(self, executable: Path, folder: Path) -> Counts:
        shorter, longer = (self.run(executable, folder, length) for length in self.lengths)
        references = self.lengths[1] - self.lengths[0]
        return {name: round((longer[name] - shorter[name]) / references, 1) for name in PER_REFERENCE}

    def run(self, executable: Path, folder: Path, references: int) -> dict[str, int]:
        """Counts of the process that simulates the case, which ends first. It starts with its parent's counts, but
        these cancel out in the difference."""
        case = ("--case", self.case, "--cpus", str(self.cpus), "--nodes", str(self.nodes))
        command: list[str | Path] = [executable, "bench", "--timed-only", *case, "--references", str(references)]
        said = valgrind(folder, "cachegrind", *SIMULATED_PROCESSOR, command=command)
        found = {name: re.search(rf"{pattern}: +([\d,]+)", said) for name, pattern in PER_REFERENCE.items()}
        return {name: int(match[1].replace(",", "")) for name, match in found.items() if match}


@dataclass(frozen=True)
class Start:
    """Counts of `linebounce --version`: the dynamic linker, static data, and the options of the command line."""

    def counts(self, executable: Path, folder: Path) -> Counts:
        said = valgrind(folder, "callgrind", command=[executable, "--version"])
        return {INSTRUCTIONS: int(re.findall(r"Collected : (\d+)", said)[-1])}


def whole_run(executable: Path, folder: Path, *arguments: str, experiment: str = "") -> int:
    """Instructions of a `run`: what the parent executes for each point, and what the simulating processes execute."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        here = Path(name)
        (here / "experiment.toml").write_text(experiment)
        command: list[str | Path] = [executable, "run", *arguments, "-o", "out", "-j", "1", "--quiet"]
        # Drops the parent's counts from each simulating process, which calls prctl at its start.
        valgrind(here, "callgrind", "--zero-before=prctl", command=command)
        totals = (re.findall(r"^summary: (\d+)", file.read_text(), re.M) for file in here.glob("counts.*"))
        return sum(int(count) for counts in totals for count in counts)


# An experiment that simulates almost nothing.
TINY = """
name = "tiny"
title = "Points of next to nothing"
machine = "p3_xeon_4way"
workload.name = "critical_section"
run = { warmup_us = 0, measure_us = 1, seeds = 1 }
"""


@dataclass(frozen=True)
class Point:
    """A run of one point. `experiment`: the text of experiment.toml."""

    arguments: tuple[str, ...]
    experiment: str = ""

    def counts(self, executable: Path, folder: Path) -> Counts:
        return {INSTRUCTIONS: whole_run(executable, folder, *self.arguments, experiment=self.experiment)}


@dataclass(frozen=True)
class Sweep:
    """Counts of a sweep over points that simulate almost nothing. Extrapolates from two shorter sweeps, because
    valgrind needs long to start a point."""

    points: int
    run: tuple[int, int]

    def counts(self, executable: Path, folder: Path) -> Counts:
        shorter, longer = (whole_run(executable, folder, "experiment.toml", experiment=self.of(points)) for points in self.run)
        each = (longer - shorter) / (self.run[1] - self.run[0])
        return {INSTRUCTIONS: round(shorter + each * (self.points - self.run[0]))}

    @staticmethod
    def of(points: int) -> str:
        return f'{TINY}sweep."workload.inside_cycles" = {list(range(points))}\n'


CASES: dict[str, Start | Reference | Point | Sweep] = {
    "start-up": Start(),
    "a tiny point": Point(("experiment.toml",), TINY),
    "sweep of 100 tiny points": Sweep(100, (4, 12)),
    "an oltp point": Point(("oltp", "--set", "run.warmup_us=0", "--set", "run.measure_us=100")),
    "contended, 64 CPUs on 16 nodes": Reference("contended", 64, 16, (2_000, 4_000)),
    "contended, two nodes": Reference("contended", 8, 2, (4_000, 8_000)),
    "mixed, two nodes": Reference("mixed", 8, 2, (20_000, 30_000)),
    "contended, one bus": Reference("contended", 8, 1, (4_000, 8_000)),
    "mixed, one bus": Reference("mixed", 8, 1, (20_000, 30_000)),
    "private, one bus": Reference("private", 4, 1, (200_000, 250_000)),
}


def compiler_of(executable: Path) -> str:
    """The compiler's version, from the text that it leaves in the executable."""
    found = re.search(rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+", executable.read_bytes())
    return found.group().decode() if found else "unknown"


def measure(executable: Path, at_once: int, done: Callable[[str, Counts], None] = lambda _name, _counts: None) -> Figures:
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(at_once) as pool:
        running = {name: pool.submit(case.counts, executable, Path(folder)) for name, case in CASES.items()}
        for name, counts in running.items():
            figures[name] = counts.result()
            done(name, figures[name])
    return figures


def most(name: str, known: float) -> float:
    return known * MOST if name == INSTRUCTIONS else known * MOST_MISSES + MISSES_MORE


def risen(now: Figures, known: Figures) -> Iterator[str]:
    """A sentence for each count that exceeds its limit."""
    for case, counts in now.items():
        for name, count in counts.items():
            before = known.get(case, {}).get(name)
            if before is None:
                yield f"{case}: no {name} in {FILE.name}"
            elif count > most(name, before):
                yield f"{case}: {count:,} {name}, {before:,} before"


def in_file() -> tuple[str, Figures]:
    """The compiler named in the file, and the file's counts."""
    document = json.loads(FILE.read_text())
    return document["compiler"], document["figures"]


def table(case: str, counts: Counts, known: Figures) -> str:
    lines = []
    for name, count in counts.items():
        before = known.get(case, {}).get(name)
        change = f"{100 * (count / before - 1):+8.1f} %" if before else ""
        lines.append(f"  {case if name == INSTRUCTIONS else '':<32}{name:<24}{count:>15,}{change}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--renew", action="store_true")
    arguments = parser.parse_args()
    compiler, known = in_file()
    figures = measure(RELEASE, os.cpu_count() or 1, lambda name, counts: print(table(name, counts, known), flush=True))
    if arguments.renew:
        FILE.write_text(json.dumps({"compiler": compiler_of(RELEASE), "figures": figures}, indent=1) + "\n")
        return 0
    if compiler_of(RELEASE) != compiler:
        print(f"The file's figures are for {compiler}; this program is {compiler_of(RELEASE)}'s.")
        return 0
    sentences = list(risen(figures, known))
    print("\n".join(sentences) or "No figure is above the file's by more than may be.")
    return int(bool(sentences))


if __name__ == "__main__":
    sys.exit(main())
