"""How much memory a program takes."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# A process begins with the peak of the one that it was forked from, and pytest may be large by then: a small one starts it.
LAUNCHER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def peak_mib(command: Sequence[str | Path], directory: Path) -> float:
    """Of its largest process."""
    launched = [sys.executable, "-c", LAUNCHER, *map(str, command)]
    done = subprocess.run(launched, cwd=directory, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    return int(done.stdout) / 1024
