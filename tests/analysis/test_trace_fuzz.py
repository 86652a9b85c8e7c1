"""Damaged traces: if the program accepts one, Python's reader reads every operation; otherwise it raises InputError."""

import json
import os
import random
from pathlib import Path

import pytest
from damaged_traces import with_damaged_bytes, with_malicious_frames
from linebounce.errors import InputError
from linebounce.trace import Trace
from program import ROOT, Program

CORPUS = ROOT / "tests" / "fuzz" / "corpus"
CASES = int(os.environ.get("LINEBOUNCE_TRACE_CASES", "4000"))


def read_by_python(path: Path) -> list[int] | str:
    """The number of operations in each stream after reading all of them, or the error message."""
    try:
        with Trace(path) as trace:
            return [sum(1 for _ in trace.operations(stream)) for stream in range(len(trace.symbols.streams))]
    except InputError as error:
        return str(error)


def read_by_program(linebounce: Program, path: Path) -> list[int] | str:
    result = linebounce("trace", "info", "--json", path, errors="replace")
    assert result.code in (0, 3), f"{result.code}: {result.stderr}"
    return [stream["operations"] for stream in json.loads(result.stdout)["streams"]] if result.code == 0 else result.stderr


def assert_both_agree(linebounce: Program, path: Path, case: str) -> None:
    python, program = read_by_python(path), read_by_program(linebounce, path)
    if isinstance(python, str):
        assert python.startswith(f"{path}: "), f"{case}: {python}"
        # Python's zstd 1.5.7 refuses reserved bits in a block; the system's zstd 1.5.4 accepts them.
        by_zstd = python.endswith("Data corruption detected")
        assert by_zstd or isinstance(program, str), f"{case}: only Python refuses it: {python}"
    else:
        assert python == program, f"{case}: only the program refuses it, or counts otherwise: {program}"


def binaries(linebounce: Program) -> list[bytes]:
    """Small valid traces."""
    files = sorted(CORPUS.glob("*.txt"))
    for file in files:
        linebounce("trace", "convert", file, f"{file.stem}.lbt")
    made = sorted(linebounce.directory.glob("*.lbt"))
    assert made
    return [file.read_bytes() for file in [CORPUS / "all_kinds.lbt", *made]]


def try_binaries(linebounce: Program, seeds: range) -> None:
    traces = binaries(linebounce)
    path = linebounce.directory / "damaged.lbt"
    for seed in seeds:
        dice = random.Random(seed)
        damage = with_damaged_bytes if seed % 4 == 0 else with_malicious_frames
        path.write_bytes(damage(dice.choice(traces), dice))
        assert_both_agree(linebounce, path, f"seed {seed}")


def try_texts(linebounce: Program, seeds: range) -> None:
    """Python reads no text traces, so it reads the program's conversion of them."""
    texts = [file.read_bytes() for file in sorted(CORPUS.glob("*.txt"))]
    path, made = linebounce.directory / "damaged.txt", linebounce.directory / "made.lbt"
    for seed in seeds:
        dice = random.Random(seed)
        path.write_bytes(with_damaged_bytes(dice.choice(texts), dice))
        assert isinstance(read_by_python(path), str)
        if linebounce("trace", "convert", path, made, errors="replace").code == 0:
            assert read_by_python(made) == read_by_program(linebounce, path), f"seed {seed}"


def test_both_readers_say_the_same_about_damaged_traces(linebounce: Program) -> None:
    try_binaries(linebounce, range(160))
    try_texts(linebounce, range(40))


@pytest.mark.thorough
def test_both_readers_say_the_same_about_many_damaged_traces(linebounce: Program) -> None:
    try_binaries(linebounce, range(CASES))
    try_texts(linebounce, range(CASES // 4))
