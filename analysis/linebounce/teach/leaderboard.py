"""Ranks the locks of a class on a machine that the students don't see: `linebounce teach --leaderboard DIR --machine FILE`."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table as Shown
from rich.text import Text

from linebounce.commands import DONE
from linebounce.console import output
from linebounce.errors import InputError
from linebounce.files import scratch_folder, write_file
from linebounce.teach.engine import Engine, EngineError
from linebounce.teach.source import read_text

_LONGEST = 256 << 10
_LOCK = "lock.lua"
# Options of check-lock before a lock is timed: small enough to take seconds, large enough for two CPUs to meet.
_CHECK = ("--cpus", "2", "--acquisitions", "1", "--machines", "1")
_METRIC = "throughput.operations_per_s"


@dataclass(frozen=True)
class Ranked:
    """A student's lock."""

    student: str
    rank: int  # 0: it does not hold, or does not run
    per_s: float  # critical sections a second
    says: str  # why it has no rank


def leaderboard(engine: Engine, folder: Path, machine: str, gradescope: Path | None, *, as_json: bool) -> int:
    """Checks each STUDENT/lock.lua, times those that hold, and ranks them. `gradescope`: a folder for a file for each
    student."""
    files = {path.parent.name: path for path in sorted(folder.glob(f"*/{_LOCK}"))}
    if not files:
        raise InputError(f"{folder}: there is no STUDENT/{_LOCK} in it")
    ranked = rank([_tried(engine, student, path, machine) for student, path in files.items()])
    if gradescope:
        for one in ranked:
            write_file(gradescope / f"{one.student}.json", f"{json.dumps(_gradescope(one), indent=1)}\n".encode())
    if as_json:
        print(json.dumps([asdict(one) for one in ranked], indent=1, ensure_ascii=False))
    else:
        _show(ranked)
    return DONE


def rank(tried: Sequence[Ranked]) -> list[Ranked]:
    """The fastest first; equal ones have the same rank; those that don't hold come last."""
    holding = sorted((one for one in tried if not one.says), key=lambda one: (-one.per_s, one.student))
    ranked: list[Ranked] = []
    for number, one in enumerate(holding, 1):
        same = ranked and ranked[-1].per_s == one.per_s
        ranked.append(Ranked(one.student, ranked[-1].rank if same else number, one.per_s, ""))
    return ranked + [one for one in tried if one.says]


def _tried(engine: Engine, student: str, path: Path, machine: str) -> Ranked:
    try:
        if path.is_symlink():
            raise InputError("the lock is a link; hand in the file itself")
        text = read_text(path, _LONGEST)
        with scratch_folder() as scratch:
            lock = scratch / _LOCK
            write_file(lock, text.encode())
            verdict = engine.check_lock(lock, *_CHECK)
            if not verdict.holds:
                return Ranked(student, 0, 0, verdict.text.replace(str(lock), _LOCK))
            return Ranked(student, 0, engine.metric(lock, machine, scratch / "out", _METRIC), "")
    except (InputError, EngineError) as error:
        return Ranked(student, 0, 0, str(error))


def _gradescope(one: Ranked) -> dict[str, object]:
    """The machine stays hidden, so a student sees the own figure and rank alone."""
    holds = not one.says
    test = {"name": "the lock holds", "score": int(holds), "max_score": 1, "status": "passed" if holds else "failed"}
    return {
        "tests": [{**test, "output": one.says, "visibility": "visible"}],
        "leaderboard": [{"name": "critical sections per second", "value": round(one.per_s)}],
    }


def _show(ranked: Sequence[Ranked]) -> None:
    console = output(100)
    table = Shown(box=None, padding=(0, 2, 0, 0))
    for name in ("rank", "student", "per second", ""):
        table.add_column(name, justify="right" if name in ("rank", "per second") else "left", overflow="fold")
    for one in ranked:
        place, figure = (str(one.rank), f"{one.per_s:,.0f}") if one.rank else ("-", "")
        table.add_row(place, Text(one.student), figure, Text(one.says))
    console.print(table)
