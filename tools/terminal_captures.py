"""Writes docs/terminal.md: the output of commands on terminals of 72 and 100 columns, to look at and to compare in a test.

Usage: .venv/bin/python tools/terminal_captures.py      writes docs/terminal.md anew; build/release/linebounce makes it
"""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "terminal.md"
WIDTHS = (72, 100)

# Options of the runs that are made first, whose results the captured commands show. One seed and a short time, because only
# the form of the output matters.
SHORT = ("--set", "run.measure_us=100", "--set", "machine.cpus=4", "--quiet")
SWEEP = '"workload.lock" = ["ticket", "mcs"]'
EXPERIMENT = f"""
name    = "two_locks"
title   = "Two locks on four CPUs, 100 us"
machine = "p3_xeon_4way"
[workload]
name = "critical_section"
[run]
measure_us = 100
[sweep]
{SWEEP}
"machine.cpus" = [1, 2, 4]
"""
BEFORE: tuple[tuple[str, ...], ...] = (
    ("run", "two_locks.toml", "-o", "out/fast", "--set", "machine.bus.clock_mhz=200", "--quiet"),
    ("run", "lock_scaling", "-o", "out/one", "--set", "workload.lock=mcs", "--set", "run.seeds=1", *SHORT),
)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("run", "operation_costs"),
    ("run", "two_locks.toml"),
    ("compare", "out/two_locks", "out/fast"),
    ("lines", "out/one", "--top", "1"),
    ("describe", "machine", "p3_xeon_4way"),
)


def run_in_terminal(command: list[str], columns: int, directory: Path) -> tuple[int, str]:
    """A command's exit code, and what its terminal of this width shows when it has ended, without colours."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    # Commands in Python are found beside this Python if the build has no links to them.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment |= {"NO_COLOR": "1", "TERM": "xterm-256color", "PATH": path}
    with subprocess.Popen(command, cwd=directory, stdin=slave, stdout=slave, stderr=slave, env=environment) as process:
        os.close(slave)
        chunks: list[bytes] = []
        while True:
            try:
                chunk = os.read(master, 65536)
            except OSError:  # the command has closed its end
                break
            if not chunk:
                break
            chunks.append(chunk)
        code = process.wait()
    os.close(master)
    text = b"".join(chunks).decode().replace("\r\n", "\n")
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    # Drops progress lines, which the program overwrites: of a line, only what follows the last carriage return stays visible.
    return code, "\n".join(line.rsplit("\r", 1)[-1].rstrip() for line in text.split("\n")).strip("\n")


def captures(program: Path) -> str:
    """The page's text."""
    parts = [
        "# What the terminal shows\n\nHow does a run look in terminals of different widths? From 72 columns on, nothing is "
        "wider than the terminal: tables\ndrop columns, the least important first. `tools/terminal_captures.py` makes this "
        "page; a test makes it again.\n"
    ]
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        (directory / "two_locks.toml").write_text(EXPERIMENT)
        for arguments in BEFORE:
            subprocess.run([program, *arguments], cwd=directory, check=True)
        for arguments in COMMANDS:
            parts.append(f"\n## linebounce {' '.join(arguments)}\n")
            for columns in WIDTHS:
                if arguments[0] == "run":  # each of the captures is of a first run
                    shutil.rmtree(directory / "out" / Path(arguments[1]).stem, ignore_errors=True)
                code, text = run_in_terminal([str(program), *arguments], columns, directory)
                if code != 0:
                    sys.exit(f"{' '.join(arguments)} ended with {code}:\n{text}")
                parts.append(f"\n{columns} columns:\n\n```\n{text}\n```\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(captures(ROOT / "build" / "release" / "linebounce"), encoding="utf-8")
