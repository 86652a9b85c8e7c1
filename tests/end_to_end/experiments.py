"""Small experiments, written as a user would write them."""

from collections.abc import Callable
from pathlib import Path

from program import MACHINES, Program

MACHINE = "p3_xeon_4way"
WORKLOAD = "critical_section"
# Short, so that the lock is fought for.
BUSY = f'name = "{WORKLOAD}"\noutside_cycles = 60\ninside_cycles = 20'


def experiment(*, workload: str = BUSY, run: str = "warmup_us = 5\nmeasure_us = 20", top: str = "", more: str = "") -> str:
    """An experiment's text: runs in well under a second. `top` goes before the tables, `more` behind them."""
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
    """A machine of one's own: the shipped one with a change, in the test's directory."""
    text = (MACHINES / f"{MACHINE}.toml").read_text()
    changed = change(text)
    assert changed != text, "the change changes nothing"
    return program.file("machine.toml", changed)


def line_of(text: str, part: str) -> int:
    """The number of the first line that holds this."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)
