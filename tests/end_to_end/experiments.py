"""Builds small experiments in the form that a user would write."""

from collections.abc import Callable
from pathlib import Path

from program import MACHINES, Program

MACHINE = "p3_xeon_4way"
WORKLOAD = "critical_section"
# Little work outside the lock, so that CPUs contend for it.
BUSY = f'name = "{WORKLOAD}"\noutside_cycles = 60\ninside_cycles = 20'


def experiment(*, workload: str = BUSY, run: str = "warmup_us = 5\nmeasure_us = 20", top: str = "", more: str = "") -> str:
    """The text of an experiment that runs in well under a second. `top` goes before the tables, `more` after them."""
    return f"""\
name    = "small"
title   = "A small run"
{top if "machine" in top else f'machine = "{MACHINE}"{chr(10)}{top}'}

[workload]
{workload}

[run]
{run}

{more}
"""


def machine_file(program: Program, change: Callable[[str], str]) -> Path:
    """A machine file in the test's directory: a shipped one with a change."""
    text = (MACHINES / f"{MACHINE}.toml").read_text()
    changed = change(text)
    assert changed != text, "the change changes nothing"
    return program.file("machine.toml", changed)


def line_of(text: str, part: str) -> int:
    """The number of the first line that contains `part`."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)
