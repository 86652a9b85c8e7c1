"""Finds or makes the recordings of one side."""

import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from linebounce.errors import UsageError
from linebounce.gate.measure import NotMeasuredError

_ELF = b"\x7fELF"


def recordings_of(given: Sequence[Path], recorder: Path, folder: Path, times: int, arguments: str) -> list[Path]:
    """The given traces, the traces in a given folder, and for a given program `times` new recordings in `folder`.
    FILE.lbt brings FILE-2.lbt and so on with it, which linebounce-record --times writes. Raises NotMeasuredError if
    nothing is found."""
    found: list[Path] = []
    for path in given:
        if path.is_dir():
            found += sorted(path.glob("*.lbt"), key=_natural)
        elif not path.exists():
            raise NotMeasuredError(f"{path}: there is no such recording or program")
        elif is_program(path):
            found += _recorded(path, recorder, folder, times, arguments)
        else:
            found += [path, *_further(path, given)]
    if not found:
        raise NotMeasuredError(f"{' '.join(map(str, given))}: there is no recording (*.lbt)")
    return found


def _natural(path: Path) -> list[tuple[int, str]]:
    return [(int(digits or 0), letters) for digits, letters in re.findall(r"(\d+)|(\D+)", path.stem)]


def is_program(path: Path) -> bool:
    """Whether the file is a program to be recorded. REQUIRES: it exists and is a file."""
    with path.open("rb") as file:
        return file.read(len(_ELF)) == _ELF


def _further(path: Path, given: Sequence[Path]) -> list[Path]:
    """FILE-2.lbt, FILE-3.lbt and so on, which the same call of linebounce-record --times wrote."""
    found: list[Path] = []
    while (more := path.with_stem(f"{path.stem}-{len(found) + 2}")).exists() and more not in given:
        found.append(more)
    return found


def _recorded(program: Path, recorder: Path, folder: Path, times: int, arguments: str) -> list[Path]:
    if not recorder.exists():
        raise UsageError(f"{recorder}: the recorder is not installed, so {program} can't be recorded")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.lbt"):
        old.unlink()
    command = [recorder, "--times", str(times), "-o", folder / f"{program.name}.lbt", "--", program.resolve()]
    done = subprocess.run(
        [*map(str, command), *shlex.split(arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise NotMeasuredError(f"{program}: ended with exit code {done.returncode} while it was recorded: {last}")
    return sorted(folder.glob("*.lbt"), key=_natural)
