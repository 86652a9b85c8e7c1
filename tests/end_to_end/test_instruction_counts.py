"""What a reference costs, in instructions of the host, may not grow unnoticed: at most 5 % above instruction_counts.json.

Counted by valgrind, which repeats exactly: a long run of a case of `bench` minus a short one, so that start-up drops out.
Another compiler or C library counts otherwise, so the file names the compiler that its figures are for. After a change that
makes the program faster, or has to make it slower, renew the figures and say why in the commit:

    ./dev build && .venv/bin/python tests/end_to_end/test_instruction_counts.py
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from program import ROOT, Program

pytestmark = pytest.mark.uninstrumented

FIGURES = Path(__file__).with_name("instruction_counts.json")
RELEASE = ROOT / "build" / "release" / "linebounce"
MOST = 1.05
LENGTHS = {"private": (150_000, 200_000), "mixed": (20_000, 40_000), "contended": (5_000, 10_000)}
SHAPES = ("one bus", "two nodes")  # 8 CPUs on each


def compiler_of(executable: Path) -> str:
    """As it signed the program."""
    found = re.search(rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+", executable.read_bytes())
    return found.group().decode() if found else "unknown"


def instructions(executable: Path, case: str, references: int) -> list[int]:
    """Of each shape's run."""
    command = ["valgrind", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=/dev/null"]
    command += [executable, "bench", "--timed-only", "--json", "--cpus", "8", "--case", case, "--references", str(references)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    # Each shape's run is a child, one after the other; the process that started them ends last.
    return [int(count) for count in re.findall(r"==\d+== Collected : (\d+)", result.stderr)][:-1]


def per_reference(executable: Path, case: str) -> dict[str, float]:
    short, long = LENGTHS[case]
    counts = zip(SHAPES, instructions(executable, case, short), instructions(executable, case, long), strict=True)
    return {shape: round((after - before) / (long - short), 1) for shape, before, after in counts}


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.parametrize("case", LENGTHS)
def test_a_reference_costs_no_more_instructions_than_it_did(linebounce: Program, case: str) -> None:
    figures = json.loads(FIGURES.read_text())
    if compiler_of(linebounce.executable) != figures["compiler"]:
        pytest.skip(f"the figures are for {figures['compiler']}")
    for shape, count in per_reference(linebounce.executable, case).items():
        known = figures["instructions_per_reference"][case][shape]
        assert count <= known * MOST, f"{case}, {shape}: {count} instructions a reference, {known} before"


def renew() -> None:
    counts = {case: per_reference(RELEASE, case) for case in LENGTHS}
    FIGURES.write_text(json.dumps({"compiler": compiler_of(RELEASE), "instructions_per_reference": counts}, indent=1) + "\n")


if __name__ == "__main__":
    renew()
