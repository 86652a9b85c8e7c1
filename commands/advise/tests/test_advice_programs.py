"""Checks the programs in examples/advice, for which the right advice is known. Asks for advice about three of the
twenty, and looks for data races in all."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from program import ROOT, Program

sys.path.append(str(ROOT / "examples" / "advice"))
confusion = importlib.import_module("confusion")
PROGRAMS = confusion.programs()
VARIANTS = [(name, variant) for name, program in PROGRAMS.items() for variant in ("", "-DCURED")[: 1 + program.has_cure]]


def test_half_of_the_programs_have_a_cure() -> None:
    assert sum(program.has_cure for program in PROGRAMS.values()) == 10
    assert len(PROGRAMS) == 20


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_the_programs_have_no_data_races(name: str, variant: str, tmp_path: Path) -> None:
    source = PROGRAMS[name].source
    language = ["gcc", "-std=c11"] if source.suffix == ".c" else ["g++", "-std=c++20"]
    flags = ["-Wall", "-Wextra", "-Werror", "-O1", "-g", "-pthread", "-fsanitize=thread", *variant.split()]
    program = tmp_path / "program"
    subprocess.run([*language, *flags, source, "-o", program], check=True)
    subprocess.run([program], check=True, capture_output=True)


@pytest.mark.parametrize("name", ["packet_counts", "config_pointer"])
def test_a_known_cure_is_advised_and_not_again_once_it_is_applied(linebounce: Program, name: str) -> None:
    program = PROGRAMS[name]
    tools = confusion.Tools(linebounce.executable.parent, linebounce.directory, untimed=True)
    trace = confusion.record(tools, program)
    answer = confusion.advice(tools, trace)
    assert confusion.is_right(program, answer), answer
    cured = confusion.cured(tools, program, trace)
    assert cured.helps, cured
    assert not any(confusion.concerns(program, change) for change in cured.answer.changes), cured
    # A change in the source gains what the advice predicted.
    assert cured.gain_pct == pytest.approx(answer.gains[0], rel=0.5)


def test_lines_that_are_seldom_shared_are_left_alone(linebounce: Program) -> None:
    program = PROGRAMS["seldom_shared"]
    tools = confusion.Tools(linebounce.executable.parent, linebounce.directory, untimed=True)
    assert confusion.advice(tools, confusion.record(tools, program)).changes == []


def test_only_the_right_lock_or_layout_counts_as_the_cure() -> None:
    layout, lock, neither = PROGRAMS["packet_counts"], PROGRAMS["spin_lock"], PROGRAMS["stencil"]
    aligned = "give each `tally` a cache line of its own: aligned(64)"
    replaced = "replace the lock gate (a word that behaves like one) by ttas"
    assert confusion.is_right(layout, confusion.Answer([aligned, replaced], [5]))
    assert not confusion.is_right(layout, confusion.Answer([replaced, aligned], [5]))
    assert not confusion.is_right(layout, confusion.Answer([aligned.replace("tally", "tally_of_all")], [5]))
    assert confusion.is_right(lock, confusion.Answer([replaced], [5]))
    assert not confusion.is_right(lock, confusion.Answer([replaced.replace("gate", "gates")], [5]))
    assert not confusion.is_right(lock, confusion.Answer([], []))
    assert confusion.is_right(neither, confusion.Answer([], [], "computation"))
    assert not confusion.is_right(neither, confusion.Answer([], [], "plates"))
    assert not confusion.is_right(neither, confusion.Answer([aligned], [5], "computation"))
