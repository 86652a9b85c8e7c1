"""Ranks the locks of a class on a machine that the students don't see: `linebounce teach --leaderboard DIR --machine FILE`."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table as Shown
from rich.text import Text

from linebounce.commands import DONE
from linebounce.console import output
from linebounce.errors import InputError
from linebounce.files import scratch_folder, write_file
from linebounce.own_folder import inner_path, make_own_folder
from linebounce.teach.engine import Confined, Engine, EngineError
from linebounce.teach.lock_source import refusal
from linebounce.teach.source import read_text

_LONGEST = 256 << 10
_LOCKS = ("lock.lua", "lock.c")
# Options with which a lock is checked before it is timed: small enough to take seconds, and with two CPUs, so that they
# compete.
_CHECK = ("--cpus", "2", "--acquisitions", "1", "--machines", "1")
_METRIC = "throughput.operations_per_s"


@dataclass(frozen=True)
class Ranked:
    """A student's lock."""

    student: str
    rank: int  # 0: it does not hold, or does not run
    per_s: float  # critical sections a second
    says: str  # why the lock has no rank; empty if it has one


@dataclass(frozen=True)
class Race:
    """The machine that locks are timed on, and whether locks in C may be compiled and run."""

    machine: str
    native: bool


def leaderboard(engine: Engine, folder: Path, race: Race, gradescope: Path | None, *, as_json: bool) -> int:
    """Checks each student's lock, times those that pass, and prints the ranks. `gradescope`: a folder that gets a
    results file for each student."""
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder")
    files: dict[str, list[Path]] = {}
    for path in sorted(path for name in _LOCKS for path in folder.glob(f"*/{name}")):
        files.setdefault(path.parent.name, []).append(path)
    if not files:
        raise InputError(f"{folder}: there is no {' or '.join(f'STUDENT/{name}' for name in _LOCKS)} in it")
    places = {student: inner_path(gradescope, f"{student}.json") for student in files} if gradescope else {}
    ranked = rank([_tried(engine, student, files[student], race) for student in sorted(files)])
    if gradescope:
        make_own_folder(gradescope)
        for one in ranked:
            write_file(places[one.student], f"{json.dumps(_gradescope(one), indent=1)}\n".encode())
    if as_json:
        print(json.dumps([asdict(one) for one in ranked], indent=1, ensure_ascii=False))
    else:
        _show(ranked)
    return DONE


def rank(tried: Sequence[Ranked]) -> list[Ranked]:
    """The ranks: the fastest lock first, locks of equal speed at the same rank, locks that failed the check last."""
    holding = sorted((one for one in tried if not one.says), key=lambda one: (-one.per_s, one.student))
    ranked: list[Ranked] = []
    for number, one in enumerate(holding, 1):
        same = ranked and ranked[-1].per_s == one.per_s
        ranked.append(Ranked(one.student, ranked[-1].rank if same else number, one.per_s, ""))
    return ranked + [one for one in tried if one.says]


def _tried(engine: Engine, student: str, paths: Sequence[Path], race: Race) -> Ranked:
    with scratch_folder() as scratch:
        try:
            lock = _copied(paths, scratch, native=race.native)
            confined = Engine(engine.program, Confined(scratch, native=lock.suffix == ".c"))
            verdict = confined.check_lock(lock, *_CHECK)
            if not verdict.holds:
                return Ranked(student, 0, 0, verdict.text.replace(str(lock), lock.name))
            return _raced(confined, student, lock, race, scratch)
        except (InputError, EngineError) as error:
            return Ranked(student, 0, 0, str(error).replace(f"{scratch}/", ""))


def _raced(confined: Engine, student: str, lock: Path, race: Race, scratch: Path) -> Ranked:
    """Times a lock on the hidden machine. An error there may reveal the machine, so it goes only to the teacher's
    terminal."""
    try:
        return Ranked(student, 0, confined.metric(lock, race.machine, scratch / "out", _METRIC), "")
    except (InputError, EngineError) as error:
        print(f"{student}: {error}", file=sys.stderr)
        return Ranked(student, 0, 0, "it holds with two CPUs, but fails on the hidden machine")


def _copied(paths: Sequence[Path], scratch: Path, *, native: bool) -> Path:
    """Copies the lock into a folder of its own. Raises InputError for a lock that must not run."""
    if len(paths) > 1:
        raise InputError(f"there is more than one lock: {', '.join(path.name for path in paths)}")
    (path,) = paths
    if path.is_symlink():
        raise InputError("the lock is a link; hand in the file itself")
    text = read_text(path, _LONGEST)
    if path.suffix == ".c":
        if not native:
            raise InputError("a lock in C is native code: --native compiles and runs it")
        if refused := refusal(text):
            raise InputError(refused)
    lock = scratch / path.name
    write_file(lock, text.encode())
    return lock


def _gradescope(one: Ranked) -> dict[str, object]:
    """A student's results file has only the student's own figure and rank, because the rest would reveal the hidden
    machine."""
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
