"""Finds or makes the recordings of one side."""

import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from linebounce.errors import UsageError
from linebounce.gate.measure import NotMeasuredError
from linebounce.own_folder import emptied_folder, make_own_folder

_ELF = b"\x7fELF"


@dataclass(frozen=True)
class Recorder:
    """How programs are recorded."""

    program: Path
    output: Path  # Linebounce's folder, in which each side has one
    times: int
    arguments: str


def recordings_of(given: Sequence[Path], recorder: Recorder, side: str) -> list[Path]:
    """The given traces, the traces in a given folder, and new recordings of a given program. FILE.lbt brings FILE-2.lbt and so
    on with it, which linebounce-record --times writes. Raises NotMeasuredError if nothing is found."""
    found: list[Path] = []
    folder: Path | None = None
    for path in given:
        if path.is_dir():
            found += sorted(path.glob("*.lbt"), key=_natural)
        elif not path.exists():
            raise NotMeasuredError(f"{path}: there is no such recording or program")
        elif path.is_file() and is_program(path):
            if folder is None:
                make_own_folder(recorder.output)
                folder = emptied_folder(recorder.output, side)
            found += _recorded(path, recorder, folder)
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


def _recorded(program: Path, recorder: Recorder, folder: Path) -> list[Path]:
    if not recorder.program.exists():
        raise UsageError(f"{recorder.program}: the recorder is not installed, so {program} can't be recorded")
    earlier = set(folder.glob("*.lbt"))  # of another program of this side
    command = [recorder.program, "--times", str(recorder.times), "-o", folder / f"{program.name}.lbt", "--", program.resolve()]
    done = subprocess.run(
        [*map(str, command), *shlex.split(recorder.arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise NotMeasuredError(f"{program}: ended with exit code {done.returncode} while it was recorded: {last}")
    return sorted(set(folder.glob("*.lbt")) - earlier, key=_natural)
