#!/usr/bin/env python3
"""Runs the facts of probe/facts on simulated machines: facts.py [--machine NAME]... [--write] [FILE]...

linebounce-probe --facts runs the same files on hardware. The head of a file lists the machines on which its claims hold;
--write writes the lines of the simulated ones anew. Exit code 1: a claim fails on a machine that the head names.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FACTS = ROOT / "probe" / "facts"
PROGRAM = ROOT / "build" / "release" / "linebounce"
# One machine of each kind that can be measured today; tools/contention_page.py has them all.
MACHINES = (
    "epyc_7773x_1socket",
    "graviton2_1socket",
    "opteron_6172_4socket",
    "xeon_e7_8867l_8socket",
    "xeon_gold_6242_2socket",
)
PROGRAM_LINE = re.compile(r"(\w+): (\d+) cpus?: (.*)")
CLAIM_LINE = re.compile(r"claim: (\w+) ([<>]) ([\d.]+) \* (\w+)")
HOLDS, FAILS = "# Simulated: ", "# Simulated, but not so: "


@dataclass(frozen=True)
class Fact:
    file: Path
    programs: dict[str, tuple[int, str, str]]  # CPUs, operations of the first, of the others
    claims: list[tuple[str, str, float, str]]
    holds: list[str]  # the simulated machines that the head names
    fails: list[str]


def read(file: Path) -> Fact:
    fact = Fact(file, {}, [], [], [])
    text = file.read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if claim := CLAIM_LINE.fullmatch(line):
            fact.claims.append((claim[1], claim[2], float(claim[3]), claim[4]))
        elif program := PROGRAM_LINE.fullmatch(line):
            first, _, others = program[3].partition("|")
            fact.programs[program[1]] = (int(program[2]), first.strip(), (others or first).strip())
        else:
            raise SystemExit(f"{file}: neither a program nor a claim: {line}")
    head = " ".join(line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))
    for names, begin in ((fact.holds, HOLDS), (fact.fails, FAILS)):
        if listed := re.search(rf"{begin.removeprefix('# ')}([\w, ]+)\.", head):
            names.extend(listed[1].split(", "))
    return fact


def ns_of(program: tuple[int, str, str], machine: str, executable: Path) -> float:
    """What a repetition of the first CPU takes."""
    cpus, first, others = program
    sets = {
        "machine.cpus": cpus,
        "machine.cpu_order": "fill_cores",
        "workload.first": first,
        "workload.others": others,
        "run.warmup_us": 5,
        "run.measure_us": 40,
        "run.seeds": 1,
    }
    settings = [word for path, value in sets.items() for word in ("--set", f"{path}={value}")]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        program_file = str(ROOT / "programs" / "fact.lua")
        command = [str(executable), "run", program_file, "--machine", machine, "--quiet", "-o", str(out), *settings]
        subprocess.run(command, check=True, env=os.environ | {"LINEBOUNCE_ROOT": str(ROOT)}, stdout=subprocess.DEVNULL)
        (point,) = json.loads((out / "results.json").read_text(encoding="utf-8"))["points"]
    return 1e9 / float(point["metrics"]["throughput.operations_per_s"]["value"])


def holds(fact: Fact, machine: str, executable: Path) -> tuple[bool, dict[str, float]]:
    ns = {name: ns_of(program, machine, executable) for name, program in fact.programs.items()}
    verdicts = [ns[a] < factor * ns[b] if sign == "<" else ns[a] > factor * ns[b] for a, sign, factor, b in fact.claims]
    return all(verdicts), ns


def with_lists(text: str, right: list[str], wrong: list[str]) -> str:
    """The file's text with the names of the machines on which its claims hold and fail."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith((HOLDS, FAILS))), None)
    first = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    head = lines[: first if begin is None else begin]
    for begins, names in ((HOLDS, right), (FAILS, wrong)):
        if names:
            head += textwrap.wrap(f"{begins}{', '.join(names)}.", 128, subsequent_indent="# ")
    return "\n".join(head + lines[first:]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", action="append", help="a simulated machine; default: one of each kind")
    parser.add_argument("--program", type=Path, default=PROGRAM, help="default: build/release/linebounce")
    parser.add_argument("--write", action="store_true", help="write the lists of simulated machines anew")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: all of probe/facts")
    arguments = parser.parse_args()
    wrong = False
    for file in arguments.files or sorted(FACTS.glob("*.fact")):
        fact = read(file)
        found: dict[bool, list[str]] = {True: [], False: []}
        for machine in arguments.machine or MACHINES:
            held, ns = holds(fact, machine, arguments.program)
            found[held].append(machine)
            wrong = wrong or (machine in fact.holds and not held)
            times = ", ".join(f"{name} {value:.1f} ns" for name, value in ns.items())
            print(f"{'holds' if held else 'FAILS'}  {file.name} on {machine}: {times}", flush=True)
        if arguments.write:
            file.write_text(with_lists(file.read_text(encoding="utf-8"), found[True], found[False]), encoding="utf-8")
    return 0 if arguments.write or not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
