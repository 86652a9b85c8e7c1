#!/usr/bin/env python3
"""Asks `linebounce advise` about ten small programs whose effect is measured natively on this computer, two threads each.

measure.py [-b BUILD] [-o OUTPUT] [--machine FILE] [--runs N] [PROGRAM...]

Each program's head names the change behind its -DCURED: `cure: WORDS`, which stand in what advise then recommends, or
`cure: none` where the change gains nothing. linebounce-probe and linebounce calibrate make a machine first; with --machine FILE
the one that they made here before. Both variants run N times (11) without Linebounce, in turns, and the medians are compared.
A virtual machine's processors may move, after which a line takes longer from one to the other: only pairs of runs count before
and after which it took as long as after the calibration (within a quarter). Then the uncured program is recorded, and advise
says what the best change gains on that machine.
Exit code 1: advise has not found one of the changes that gain, offers more than 3 % where there is nothing to gain, or is wrong
by more than a factor of 2 in more than one of the five that gain.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from reproduce import ROOT, Tools  # noqa: E402

NOTHING = "none"
NATIVE_SECONDS = 0.3  # of one run
PAUSE_SECONDS = 0.05  # between two runs: the kernel leaves the other programs a twentieth of each second
RECORDED_SECONDS = 0.01  # the native time of the rounds that are recorded; advise --plain asks for 5 ms of each thread
MOST_RECORDED = 60000  # rounds
NO_EFFECT_PCT = 3
SAME_DISTANCE = 0.25  # of the time that a line takes from one processor to the other
CALIBRATIONS = 20
CALIBRATION_PAUSE_SECONDS = 10
MOST_TRIES = 20  # for each pair of runs that counts
FACTOR = 2


@dataclass
class Native:
    """Nanoseconds of a round, in each of the runs."""

    plain: list[float]
    cured: list[float]

    @property
    def gain_pct(self) -> float:
        return 100 * (statistics.median(self.plain) / statistics.median(self.cured) - 1)

    @property
    def interval_pct(self) -> tuple[float, float]:
        """The middle half of the gains in each pair of runs."""
        gains = sorted(100 * (plain / cured - 1) for plain, cured in zip(self.plain, self.cured, strict=True))
        return gains[len(gains) // 4], gains[-1 - len(gains) // 4]


@dataclass
class Predicted:
    change: str
    gain_pct: float | None  # none if the replay explains too little or too much of the native time to say a size
    slow_pct: float  # if the program computes slowly
    fast_pct: float
    explained: str  # how much of the native time the replay explains

    def text(self) -> str:
        if self.gain_pct is None:
            return "size not known"
        return f"{self.gain_pct:+.1f} % ({self.slow_pct:+.0f} to {self.fast_pct:+.0f})"


@dataclass
class Row:
    name: str
    cure: str
    native: Native
    predicted: Predicted

    @property
    def has_effect(self) -> bool:
        return self.cure != NOTHING

    @property
    def is_right(self) -> bool:
        """The sign, and where there is nothing to gain also the size."""
        if self.has_effect:
            is_gain = self.predicted.gain_pct is None or self.predicted.gain_pct > 0
            return self.cure in self.predicted.change and is_gain and self.native.gain_pct > 0
        return self.predicted.gain_pct is not None and abs(self.predicted.gain_pct) <= NO_EFFECT_PCT

    @property
    def within_factor(self) -> bool:
        return self.predicted.gain_pct is not None and 1 / FACTOR <= self.predicted.gain_pct / self.native.gain_pct <= FACTOR

    def text(self) -> str:
        low, high = self.native.interval_pct
        verdict = "right" if self.is_right else "WRONG"
        if self.is_right and self.has_effect and not self.within_factor:
            verdict = "right sign"
        cells = (
            self.name,
            f"{self.native.gain_pct:+.1f} % ({low:.1f} to {high:.1f})",
            self.predicted.text(),
            self.predicted.change or "nothing",
            self.predicted.explained,
            verdict,
        )
        return f"| {' | '.join(cells)} |"


def compile_natively(tools: Tools, source: Path, name: str, *flags: str) -> Path:
    program = tools.output / name
    subprocess.run(["gcc", "-O2", "-pthread", *flags, source, "-o", program], check=True)
    return program


def before_others() -> bool:
    """Gives what this process starts the processors before all other programs. Whether that was allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        return False
    return True


def round_ns(program: Path, rounds: int) -> float:
    time.sleep(PAUSE_SECONDS)
    return float(subprocess.run([program, str(rounds)], capture_output=True, text=True, check=True).stdout)


class Distance:
    """How long a line takes from one processor to the other."""

    def __init__(self, program: Path) -> None:
        self.program = program
        self.usual = statistics.median(self.now() for _ in range(9))

    def now(self) -> float:
        return round_ns(self.program, 100_000) / 2

    def is_usual(self) -> bool:
        return abs(self.now() / self.usual - 1) <= SAME_DISTANCE


def measured_natively(plain: Path, cured: Path, runs: int, distance: Distance) -> Native:
    rounds = int(1e9 * NATIVE_SECONDS / round_ns(plain, 1000))
    found = Native([], [])
    for number in range(runs * MOST_TRIES):
        before = distance.is_usual()
        pair = {program: round_ns(program, rounds) for program in ((plain, cured) if number % 2 else (cured, plain))}
        if before and distance.is_usual():
            found.plain.append(pair[plain])
            found.cured.append(pair[cured])
        if len(found.plain) == runs:
            return found
    sys.exit(
        f"measure.py: the processors moved apart during the runs of {plain.name}: {len(found.plain)} of {runs} pairs count"
    )


def predicted(tools: Tools, source: Path, plain: Path, machine: Path, round_time_ns: float) -> Predicted:
    program, trace = tools.output / f"{source.stem}_recorded", tools.output / f"{source.stem}.lbt"
    rounds = str(max(200, min(MOST_RECORDED, int(1e9 * RECORDED_SECONDS / round_time_ns))))
    tools.run("linebounce-cc", "-g", "-O2", "-pthread", source, "-o", program)
    tools.run("linebounce-record", "-o", trace, "--", program, rounds)
    asked = ["--machine", machine, "--plain", plain, "--yes", "-o", tools.output / "advise" / source.stem, "--json"]
    page = json.loads(tools.run("linebounce", "advise", trace, *asked))
    explained = " to ".join(f"{page['explained'][0][end]:.2f}" for end in ("low", "high")) if page["explained"] else ""
    offered = page["changes"] + page["conditional"]
    if not offered:
        return Predicted("", 0, 0, 0, explained)
    best = max(offered, key=lambda change: change["gains"][0]["change_pct"] or 0)
    gain = best["gains"][0]
    fast, slow = gain.get("change_over_pace_pct") or (gain["change_pct"],) * 2
    return Predicted(best["what"], gain["change_pct"], slow, fast, explained)


def calibrated(tools: Tools) -> Path:
    """A machine like this computer. Virtual processors that the host has put on one core are none of the machines that
    calibrate fits, so that is tried again."""
    probe, machine = tools.output / "this.probe", tools.output / "this.toml"
    fit = [tools.build / "linebounce", "calibrate", "--from", probe, "-o", machine]
    for _ in range(CALIBRATIONS):
        tools.run("linebounce-probe", "-o", probe)
        done = subprocess.run(fit, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return machine
        print(done.stderr.strip(), flush=True)
        time.sleep(CALIBRATION_PAUSE_SECONDS)
    sys.exit(f"measure.py: no calibration succeeded in {CALIBRATIONS}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "examples" / "native")
    parser.add_argument("--machine", type=Path)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("programs", metavar="PROGRAM", nargs="*")
    options = parser.parse_args()
    sources = {source.stem: source for source in sorted(HERE.glob("*.c")) if source.stem != "line"}
    if unknown := set(options.programs) - sources.keys():
        parser.error(f"there is no program {', '.join(sorted(unknown))}; there are {', '.join(sources)}")
    tools = Tools(options.build, options.output)
    machine = options.machine or calibrated(tools)
    before = "with" if before_others() else "without"
    distance = Distance(compile_natively(tools, HERE / "line.c", "line"))
    print(f"a line takes {distance.usual:.0f} ns from one processor to the other", flush=True)
    print(f"load {os.getloadavg()[0]:.2f} at the begin; {before} real-time priority", flush=True)

    # All native figures come first, so that none of them is known to follow a prediction.
    chosen = [sources[name] for name in options.programs or sources]
    native = {}
    for source in chosen:
        plain = compile_natively(tools, source, source.stem)
        cured = compile_natively(tools, source, f"{source.stem}_cured", "-DCURED")
        native[source] = plain, measured_natively(plain, cured, options.runs, distance)
        print(f"  {source.stem}: natively {native[source][1].gain_pct:+.1f} %", flush=True)
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    print(f"load {os.getloadavg()[0]:.2f} after the native runs", flush=True)

    rows = []
    for source, (plain, times) in native.items():
        cure = re.search(r"^// cure: (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE)
        if cure is None:
            sys.exit(f"measure.py: {source}: its head has no line `// cure: WORDS` or `// cure: none`")
        rows.append(Row(source.stem, cure[1], times, predicted(tools, source, plain, machine, statistics.median(times.plain))))
        print(rows[-1].text(), flush=True)
    gaining = [row for row in rows if row.has_effect]
    near = sum(row.within_factor for row in gaining)
    print(
        f"{sum(row.is_right for row in rows)} of {len(rows)} right; {near} of {len(gaining)} sizes within a factor of {FACTOR}"
    )
    return 0 if all(row.is_right for row in rows) and near >= len(gaining) - 1 else 1


if __name__ == "__main__":
    sys.exit(main())
