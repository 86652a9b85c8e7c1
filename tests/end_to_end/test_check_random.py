"""linebounce check --random: every machine under random references, and how failures of a broken machine are reported.

References are counted as the program counts them, and each machine gets its share. `./dev fuzz` distributes FUZZ_REFERENCES.
"""

import json
import os
import re
import time
from pathlib import Path

import pytest
from program import MACHINES, ROOT, Program

NAMES = sorted(path.stem for path in MACHINES.glob("*.toml"))
REFERENCES = 100_000
FUZZ_REFERENCES = int(os.environ.get("LINEBOUNCE_FUZZ_REFERENCES", "100_000_000"))
FUZZ_SEED = int(os.environ.get("LINEBOUNCE_FUZZ_SEED", int(time.time())))


def check_random(program: Program, machine: str | Path, *arguments: str | Path, references: int, code: int, **options) -> dict:
    command = ["check", "--random", str(references), "--machine", machine, "--json"]
    result = program(*command, *arguments, **options)
    assert result.code == code, result.stdout + result.stderr
    assert not result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("machine", NAMES)
def test_random_references_find_nothing_wrong_with_a_machine(linebounce: Program, machine: str) -> None:
    found = check_random(linebounce, machine, references=REFERENCES, code=0)
    assert found["passed"]
    assert found["failure"] is None
    assert found["references"] >= REFERENCES
    assert found["compared_rounds"] >= 1
    assert found["too_slow_rounds"] == 0


@pytest.mark.thorough
@pytest.mark.parametrize("machine", NAMES)
def test_random_references_find_nothing_wrong_in_hours(linebounce: Program, machine: str) -> None:
    references = FUZZ_REFERENCES // len(NAMES)
    check_random(linebounce, machine, "--seed", str(FUZZ_SEED), references=references, code=0, timeout=24 * 3600)


def protocol_without(program: Program, protocol: str, row: str, old: str, new: str) -> Path:
    """A copy of that protocol with one cell changed in the row that begins with `row`."""
    lines = (ROOT / "models" / "protocols" / f"{protocol}.md").read_text(encoding="utf-8").splitlines()
    at = [i for i, line in enumerate(lines) if re.sub(r" +", " ", line).startswith(row)]
    assert len(at) == 1, f"{len(at)} rows {row}"
    assert old in lines[at[0]]
    lines[at[0]] = lines[at[0]].replace(old, new, 1)
    return program.file("broken.md", "\n".join(lines))


def run_again(program: Program, failure: dict, output: str, *arguments: str) -> int:
    return program("run", failure["file"], "-o", output, *arguments).code


def test_a_broken_protocol_of_a_bus_is_found_and_made_small(linebounce: Program) -> None:
    broken = protocol_without(linebounce, "mesi_snoop", "| S, SM_AD | Other_GetS ", "assert shared", "-")
    arguments = ["--set", f"machine.bus.protocol={broken}"]
    found = check_random(linebounce, "p3_xeon_4way", *arguments, references=REFERENCES, code=1)
    failure = found["failure"]
    assert not found["passed"]
    assert failure["cpus"] <= 3
    assert failure["operations"] <= 60
    assert len(failure["settings"]) <= 16
    assert run_again(linebounce, failure, "again") == failure["exit_code"]
    shown = linebounce("check", "--random", str(REFERENCES), "--machine", "p3_xeon_4way", *arguments, "--shrink-seconds", "0")
    assert shown.code == 1
    assert f"round {failure['round']} of seed 1" in shown.stdout
    assert f"linebounce run ./{Path(failure['file']).name}" in shown.stdout


def test_a_speed_up_that_goes_too_far_is_found(linebounce: Program) -> None:
    """The engine's own self-test: a run-ahead horizon one tick too far."""
    found = check_random(linebounce, "p4_xeon_ht_2way", "--set", "engine.horizon_slack_ticks=1", references=REFERENCES, code=1)
    failure = found["failure"]
    assert "invariant I1" in failure["text"] or "invariant I2" in failure["text"]
    assert run_again(linebounce, failure, "again") == failure["exit_code"]


def test_the_same_seed_is_the_same_test_with_any_number_of_processes(linebounce: Program) -> None:
    one = check_random(linebounce, "p3_xeon_4way", "-j", "1", references=30_000, code=0)
    three = check_random(linebounce, "p3_xeon_4way", "-j", "3", references=30_000, code=0)
    assert one == three
    other = check_random(linebounce, "p3_xeon_4way", "--seed", "2", references=30_000, code=0)
    assert other["data_hash"] != one["data_hash"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--random", "1000"], "--machine"),
        (["--machine", "p3_xeon_4way"], "--random"),
        (["mesi_snoop", "--random", "1000", "--machine", "p3_xeon_4way"], "PROTOCOL"),
        (["--random", "1000", "--machine", "p3_xeon"], "p3_xeon_4way"),
        (["--random", "0", "--machine", "p3_xeon_4way"], "--random"),
        (["--random", "1000", "--machine", "p3_xeon_4way", "--set", "machine.cpus"], "PATH=VALUE"),
        (["--random", "1000", "--machine", "p3_xeon_4way", "--set", "machine.cpus=5"], "machine.cpus"),
    ],
)
def test_untestable_input_is_refused(linebounce: Program, arguments: list[str], says: str) -> None:
    assert says in linebounce.refused("check", *arguments)
