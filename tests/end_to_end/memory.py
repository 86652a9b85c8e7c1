"""Measures how much memory a program takes."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# A process starts with the peak memory of its parent, and pytest may be large by then, so a small process starts the program.
LAUNCHER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def peak_mib(command: Sequence[str | Path], directory: Path) -> float:
    """The peak memory of the command's largest process."""
    launched = [sys.executable, "-c", LAUNCHER, *map(str, command)]
    done = subprocess.run(launched, cwd=directory, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    return int(done.stdout) / 1024
