"""Measures what a command costs on this host: processor time and memory, including the processes that it starts."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    seconds: float  # seconds of processor time, in user and kernel mode
    peak_mib: float  # the largest resident set of one process


def cost_of(command: Sequence[str | Path], environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Cost:
    """Runs the command, and discards its output unless it fails.

    A process that starts a program keeps its peak of memory, which then counts as the program's. So a small process
    starts the command: this file, run as a program.
    """
    starter = [sys.executable, "-I", "-S", __file__, *map(str, command)]
    done = subprocess.run(
        starter, cwd=folder, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return Cost(**json.loads(done.stdout))


def start(command: Sequence[str]) -> int:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.stderr.write(said.decode(errors="replace"))
        return 1
    json.dump(asdict(Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)), sys.stdout)
    return 0


def host() -> str:
    """Describes this host, with today's date, for a table of measurements."""
    names = [line.split(":", 1)[1].strip() for line in _cpuinfo() if line.startswith("model name")]
    cpus = os.cpu_count() or 1
    return f"{names[0] if names else 'unknown processor'}, {cpus} CPUs, {datetime.now(UTC):%Y-%m-%d}"


def _cpuinfo() -> list[str]:
    file = Path("/proc/cpuinfo")
    return file.read_text().splitlines() if file.exists() else []


if __name__ == "__main__":
    sys.exit(start(sys.argv[1:]))
