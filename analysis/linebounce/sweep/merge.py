"""Ends a sweep: the C++ program merges the points, then the manifest gets the sweep's own times and command line."""

import json
import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from linebounce.errors import UsageError
from linebounce.files import write_file
from linebounce.program import Experiment
from linebounce.sweep.points import wait_until_free

_WAIT_S = 10.0  # the longest time to wait for another run in the same directory


def merge(experiment: Experiment, directory: Path, ran: bool) -> tuple[int, str, str]:
    """Merges the points. If no point had to run, calls `run` without --merge, which finds all points finished. Returns
    exit code, standard output and standard error."""
    deadline = time.monotonic() + _WAIT_S
    wait_until_free(directory, or_until=lambda: time.monotonic() > deadline)
    command = experiment.command("-o", str(directory), *(["--merge"] if ran else []))
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="surrogateescape", check=False
    )
    return done.returncode, done.stdout, done.stderr.strip().removeprefix("linebounce: ")


def sign(directory: Path, command: Sequence[str], begun: datetime) -> None:
    """Writes into the manifest when and with what command line the sweep ran, and how long it took. The merge has
    written its own."""
    manifest = directory / "manifest.json"
    with suppress(OSError, UsageError, ValueError):  # on failure, the manifest stays as the merge wrote it
        document = json.loads(manifest.read_bytes())
        document |= {
            "argv": [os.fsencode(word).decode(errors="replace") for word in command],
            "started": begun.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "wall_s": float(f"{(datetime.now(UTC) - begun).total_seconds():.6g}"),
        }
        write_file(manifest, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())
