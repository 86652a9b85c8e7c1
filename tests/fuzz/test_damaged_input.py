"""Randomly damaged files of every kind: each is accepted, or refused with a reason, and never causes a crash or a bug report.

A case is a kind and a number, which is its seed: `pytest tests/fuzz/test_damaged_input.py -k "layout and 17"`. `./dev test` has
a few of each kind, `./dev fuzz` many more (LINEBOUNCE_FUZZ_CASES sets the number).
"""

import os
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from experiments import experiment
from program import ROOT, Program

FEW = 4
MANY = int(os.environ.get("LINEBOUNCE_FUZZ_CASES", "300"))
LEGAL_CODES = {0, 1, 2, 3, 4}
SWEEP = experiment(run="warmup_us = 1\nmeasure_us = 5\nseeds = 2", more='[sweep]\n"machine.cpus" = [1, 2]')

# Numbers at and beyond the limits of machines.
EDGES = [0, 1, 2, 3, 5, 7, 63, 64, 65, 127, 128, 129, 1000, 4096, 65535, 10**6, 10**9, 2**31, 2**53, 0.5, 1e-9]
ON_THAT_MACHINE = experiment(
    workload='name = "critical_section"\nlock = "ticket"\ndata_lines = 2\ninside_cycles = 20\noutside_cycles = 50',
    run="warmup_us = 1\nmeasure_us = 20",
    top='machine = "./machine.toml"',
)

# Typical mistakes, and malicious input.
ODD_WORDS = ["", "0", "-1", "1e308", "-0.5", "nan", "99999999999999999999", "x" * 5000, "../..", "/dev/zero", "self"]
ODD_BYTES = [
    b"\0",
    b"\xff",
    b"\x1b[2J",
    "\u202e".encode(),
    b"\n",
    b"\r",
    b'"',
    b"'",
    b"[" * 500,
    b"a." * 500,
    b"|",
    b"{",
    b"=",
    b",",
]


def with_damage(content: bytes, chance: random.Random) -> bytes:
    """Makes a few changes to bytes, words or lines: removes, repeats or moves a part."""
    for _ in range(chance.choice([1, 1, 2, 5])):
        content = chance.choice(CHANGES)(content, chance)
    return content


def _other_byte(content: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content) + 1)
    return content[:at] + chance.choice([*ODD_BYTES, chance.randbytes(1)]) + content[at + chance.randrange(2) :]


def _cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def _other_word(content: bytes, chance: random.Random) -> bytes:
    words = content.split(b" ")
    at = chance.randrange(len(words))
    words[at] = chance.choice([*(word.encode() for word in ODD_WORDS), chance.choice(words)])
    return b" ".join(words)


def _other_number(content: bytes, chance: random.Random) -> bytes:
    digits = [at for at, byte in enumerate(content) if 0x30 <= byte <= 0x39]
    if not digits:
        return content
    at = chance.choice(digits)
    return content[:at] + chance.choice(ODD_WORDS).encode() + content[at + 1 :]


def _lines_otherwise(content: bytes, chance: random.Random) -> bytes:
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    match chance.randrange(3):
        case 0:
            del lines[at]
        case 1:
            lines.insert(chance.randrange(len(lines)), lines[at])
        case _:
            other = chance.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
    return b"\n".join(lines)


CHANGES = [_other_byte, _cut, _other_word, _other_number, _lines_otherwise]


@dataclass(frozen=True)
class Kind:
    """Files of one kind, and the commands that read them."""

    files: tuple[Path, ...]
    suffix: str
    commands: tuple[tuple[str, ...], ...]  # FILE stands for the damaged file


def shipped(pattern: str) -> tuple[Path, ...]:
    return tuple(path for path in sorted(ROOT.glob(pattern)) if path.stem != "README")


KINDS = {
    "protocol": Kind(
        shipped("models/protocols/*.md"),
        ".md",
        (("describe", "protocol", "FILE"), ("check", "FILE", "--caches", "2")),
    ),
    "layout": Kind(shipped("configs/layouts/*"), "", (("describe", "layout", "FILE"),)),
    "machine": Kind(shipped("configs/machines/*.toml"), ".toml", (("describe", "machine", "FILE"),)),
    "experiment": Kind(shipped("configs/experiments/**/*.toml"), ".toml", (("run", "FILE", "--plan"),)),
    "matrix": Kind(
        shipped("docs/examples/*.csv"),
        ".csv",
        (("calibrate", "--from", "FILE", "--machine", "p3_xeon_4way", "-o", "mine.toml"),),
    ),
}


def numbered(few: int = FEW) -> list:
    """The cases' numbers; only ./dev fuzz runs more than a few."""
    return [pytest.param(number, marks=[] if number < few else pytest.mark.thorough) for number in range(max(few, MANY))]


@pytest.mark.parametrize("number", numbered())
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_taken_or_refused(linebounce: Program, kind: str, number: int) -> None:
    chance = random.Random(f"{kind} {number}")
    of_kind = KINDS[kind]
    source = chance.choice(of_kind.files)
    file = linebounce.file(f"self{of_kind.suffix or source.suffix}", with_damage(source.read_bytes(), chance))
    for command in of_kind.commands:
        ends_as_it_should(linebounce, *(file.name if word == "FILE" else word for word in command))


@pytest.mark.parametrize("number", numbered())
def test_a_machine_with_other_numbers_is_refused_or_runs(linebounce: Program, number: int) -> None:
    chance = random.Random(f"numbers {number}")
    lines = chance.choice(KINDS["machine"].files).read_text(encoding="utf-8").splitlines(keepends=True)
    numbers = [at for at, line in enumerate(lines) if re.match(r"\w+ *= *[\d.]+", line)]
    for at in chance.sample(numbers, chance.choice([1, 1, 2, 3])):
        lines[at] = re.sub(r"= *[\d.]+", f"= {chance.choice(EDGES)}", lines[at], count=1)
    linebounce.file("machine.toml", "".join(lines))
    ends_as_it_should(linebounce, "run", linebounce.file("on_it.toml", ON_THAT_MACHINE), "-o", "out")


@pytest.fixture(scope="module")
def results(session_linebounce: Program) -> Path:
    return session_linebounce.run(session_linebounce.file("fuzz/sweep.toml", SWEEP), "fuzz/results")


def _is_a_loop(path: Path) -> None:
    path.symlink_to(path.name)


def _is_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


REPLACEMENTS: list[Callable[[Path], object]] = [_is_a_loop, _is_a_device, os.mkfifo, Path.mkdir, Path.touch]


def damage_a_file(directory: Path, chance: random.Random) -> None:
    path = chance.choice([path for path in sorted(directory.rglob("*")) if path.is_file()])
    content = path.read_bytes()
    match chance.randrange(4):
        case 0:
            path.unlink()
        case 1:
            path.unlink()
            chance.choice(REPLACEMENTS)(path)
        case _:
            path.write_bytes(with_damage(content, chance))


@pytest.mark.parametrize("number", numbered())
def test_a_damaged_results_directory_is_mended_or_refused(linebounce: Program, results: Path, number: int) -> None:
    chance = random.Random(f"results {number}")
    sweep = linebounce.file("sweep.toml", SWEEP)
    out = Path(shutil.copytree(results, linebounce.directory / "out"))
    for _ in range(chance.choice([1, 1, 3])):
        damage_a_file(out, chance)
    ends_as_it_should(linebounce, "lines", "out")
    ends_as_it_should(linebounce, "run", sweep, "-o", "out", "--plan")
    if ends_as_it_should(linebounce, "run", sweep, "-o", "out") == 0:
        for file in ("results.json", "lines.csv", "locks.csv", "latency.csv", "transitions.csv", "cpi.csv", "seeds.csv"):
            assert (out / file).read_bytes() == (results / file).read_bytes(), "a damaged file was taken over"


def ends_as_it_should(linebounce: Program, *arguments: str | Path) -> int:
    """Returns the exit code; Program checks the output for internals."""
    result = linebounce(*arguments, timeout=120, errors="replace")
    assert result.code in LEGAL_CODES, f"{arguments}: exit code {result.code}\n{result.stderr[:2000]}"
    assert "a bug in Linebounce" not in result.stderr
    assert len(result.stderr) < 20_000
    assert "\x1b" not in result.stdout + result.stderr
    return result.code
