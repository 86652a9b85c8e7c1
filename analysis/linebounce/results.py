"""A results directory, opened: points and metrics with their types, CSV files as data frames.

    import linebounce
    results = linebounce.open("out/my_locks")
    results["throughput.operations_per_s"]
    results.point(**{"workload.lock": "mcs", "machine.cpus": 4})["throughput.operations_per_s"]
    results.lines.filter(point=3).sort("count", descending=True)

Nothing is computed here that the run did not write. Polars takes as long to load as all else together: the first frame does it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from linebounce.display import results_html
from linebounce.errors import InputError, UsageError, alternatives, malformed_place, meant
from linebounce.files import read_problem, read_result
from linebounce.records import (
    Answer,
    Headline,
    Manifest,
    PaperRow,
    Point,
    Setting,
    answer_from,
    check,
    headline_from,
    manifest_from,
    paper_row_from,
    point_from,
    setting_text,
)
from linebounce.visible import visible_name

if TYPE_CHECKING:
    import polars as pl

RESULTS_SCHEMA = "linebounce.results/1"
MANIFEST_SCHEMA = "linebounce.manifest/1"

_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")  # Half of a surrogate pair. Alone, it is not valid text.

_THROUGHPUT = Headline("throughput.operations_per_s", "operations", "higher")

Parsed = TypeVar("Parsed")


class Results:
    """The results of one run. Frames are read on first use.

    `headlines`: the metrics to read first, the most important first. A point may lack some of them. A run without
    finished points has none.
    """

    directory: Path
    name: str  # the run's name in messages: its directory, plus the part's value for a part of a run
    part: str  # the part's value for a part of a run (compare/parts.py); empty for a whole run
    experiment: str
    machine: str
    seed: int
    headlines: Sequence[Headline]
    answer: Answer
    assumptions: Sequence[str]
    points: Sequence[Point]
    paper: Sequence[PaperRow]
    manifest: Manifest
    config: Mapping[str, Any]

    def __init__(self, directory: Path, manifest: Manifest, document: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        self.directory = directory
        self.name = str(directory)
        self.part = ""
        self.manifest = manifest
        self.config = config
        for name, wanted in (("experiment", str), ("machine", str), ("seed", int), ("points", list), ("paper", list)):
            check(name, document[name], wanted)
        if not document["points"]:
            raise ValueError("it has no points")
        self.experiment = document["experiment"]
        self.seed = document["seed"]
        first = _first_point_number(directory)
        self.points = tuple(point_from(first + i, point) for i, point in enumerate(document["points"]))
        # A sweep over machines runs on those alone, not on the experiment's own.
        self.machine = ", ".join(str(name) for name in self.swept().get("machine", [document["machine"]]))
        self._written = [point.number for point in self.points]  # the points in the files, of which a part has some
        if len({frozenset(point.at) for point in self.points}) > 1:
            raise ValueError("its points lie at different paths")
        self.headlines = _headlines(document, self.points)
        self.answer = answer_from(document["answer"]) if "answer" in document else _no_answer(self.headlines, self.points)
        self.assumptions = tuple(document.get("assumptions", ()))
        check("assumptions", self.assumptions, tuple[str, ...])
        self.paper = tuple(paper_row_from(row) for row in document["paper"])

    @property
    def title(self) -> str:
        """The experiment's title, or its name without one. It is one line, and characters that act on a terminal are
        escaped."""
        return visible_name(str(self.config.get("title") or self.experiment))

    @cached_property
    def latency(self) -> pl.DataFrame:
        """How many accesses had which latency, at all points: latency.csv."""
        return self._frame("latency")

    @cached_property
    def lines(self) -> pl.DataFrame:
        """Misses by structure, object, line, field, function and source, at all points: lines.csv."""
        return self._frame("lines")

    @cached_property
    def locks(self) -> pl.DataFrame:
        """Locks and their call sites with lockmeter's columns, at all points: locks.csv."""
        return self._frame("locks")

    @cached_property
    def cpi(self) -> pl.DataFrame:
        """The cycles of each CPU in each function, split by what they were spent on, at all points: cpi.csv. The parts
        add up to `cycles`."""
        return self._frame("cpi")

    @cached_property
    def matrix(self) -> pl.DataFrame:
        """The latency for one CPU of a line from another CPU: matrix.csv. Empty except for workload core_to_core."""
        return self._frame("matrix")

    @cached_property
    def series(self) -> pl.DataFrame:
        """Quantities over simulated time, warm-up included: series.csv. Empty for workloads that have none."""
        return self._frame("series")

    @cached_property
    def transitions(self) -> pl.DataFrame:
        """How often each row of the protocol's tables was used, at all points: transitions.csv."""
        return self._frame("transitions")

    @cached_property
    def seeds(self) -> pl.DataFrame:
        """All metrics of all seeds: point, seed, metric, value, unit. A run with one seed has the metrics of
        results.json."""
        from linebounce import frames  # noqa: PLC0415

        frame = self._frame("seeds")
        return frame if self.manifest.seeds > 1 else frames.of_one_seed(self.points, self.seed)

    @cached_property
    def metrics(self) -> pl.DataFrame:
        """All metrics of all points: point, metric, value, unit, ci95 (null with one seed)."""
        from linebounce import frames  # noqa: PLC0415

        return frames.of_metrics(self.points)

    @cached_property
    def settings(self) -> pl.DataFrame:
        """Each point's settings: point, and a column for each swept path. Join it to a frame to get the sweep's columns."""
        from linebounce import frames  # noqa: PLC0415

        return frames.of_settings(self.points, list(self.swept()))

    def __getitem__(self, metric: str) -> pl.DataFrame:
        """A metric over the sweep: a row for each point that has it, with point, every swept path, value, unit and ci95.

        Raises UsageError, with similar names, for a metric that no point has.
        """
        self.require_metric(metric)
        return self.settings.join(self.metrics.filter(metric=metric).drop("metric"), on="point", maintain_order="left")

    def require_metric(self, metric: str) -> None:
        """Raises UsageError, with similar names, if no point has it."""
        known = {name for point in self.points for name in point.metrics}
        if metric not in known:
            raise UsageError(f"{self.directory}: there is no metric {metric}; {meant(metric, sorted(known))}")

    def require_finished(self) -> None:
        """Raises InputError, with the reason, if no point finished, because there is nothing to show then."""
        if not any(point.metrics for point in self.points):
            raise InputError(_all_failed(self.directory, self.manifest))

    @property
    def answered_point(self) -> Point:
        """The point that the run's answer is about. Whatever shows a single point shows this one first."""
        return next((point for point in self.points if point.number == self.answer.point), self.points[-1])

    def _frame(self, name: str) -> pl.DataFrame:
        from linebounce import frames  # noqa: PLC0415

        self.require_finished()
        frame = frames.read_frame(self.directory, name, self._written)
        if len(self.points) == len(self._written):
            return frame
        return frame.filter(frame["point"].is_in([point.number for point in self.points]))

    def with_points(self, points: Sequence[Point]) -> Results:
        """A copy with some of the points, whose frames have the rows of these points alone."""
        from linebounce import frames  # noqa: PLC0415

        part = copy(self)
        for cached in ("metrics", "settings", *frames.COLUMNS):
            part.__dict__.pop(cached, None)
        part.points = tuple(points)
        return part

    def swept(self) -> dict[str, list[Setting]]:
        """Each swept path with its values, in the plan's order."""
        paths: dict[str, list[Setting]] = {}
        for point in self.points:
            for path, value in point.at.items():
                values = paths.setdefault(path, [])
                if value not in values:
                    values.append(value)
        return paths

    def swept_path(self, wanted: str) -> str:
        """The swept path that this is, or of which it is the last word. Raises UsageError if there is none, or several."""
        paths = sorted(self.swept())
        found = [path for path in paths if path == wanted] or [path for path in paths if path.endswith(f".{wanted}")]
        if len(found) == 1:
            return found[0]
        if not paths:
            raise UsageError(f"{self.directory}: only one point, so there is nothing to compare within it")
        reason = f"could be {alternatives(found)}" if found else f"is not swept; {meant(wanted, paths)}"
        raise UsageError(f"{self.directory}: {wanted} {reason}")

    def point(self, number: int | None = None, **at: Setting) -> Point:
        """The point with that number, or the only one with these settings: `point(lock="mcs", cpus=4)`. A setting is a swept
        path or its last word. Raises UsageError, which lists the possible ones."""
        at = {self.swept_path(name): value for name, value in at.items()}
        found = [
            point
            for point in self.points
            if (number is None or point.number == number) and all(point.at.get(path) == at[path] for path in at)
        ]
        if len(found) == 1:
            return found[0]
        numbers = [point.number for point in self.points]
        if number is not None and number not in numbers:
            legal = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else numbers[0]
            raise UsageError(f"{self.directory}: point {number} is out of range; legal: {legal}")
        wanted = ", ".join([*([] if number is None else [f"number {number}"]), *(f"{k} = {setting_text(at[k])}" for k in at)])
        legal = "; ".join(f"{path}: {', '.join(map(setting_text, values))}" for path, values in self.swept().items())
        raise UsageError(
            f"{self.directory}: {len(found) or 'no'} points have {wanted or 'these settings'}; "
            f"there are {len(self.points)}, from {self.points[0].number} on{'; ' + legal if legal else ''}"
        )

    def point_directory(self, point: int) -> Path:
        """The directory with a point's own files: points/K for a sweep, otherwise the run's directory."""
        own = self.directory / "points" / str(point)
        return own if own.is_dir() else self.directory

    def timeline(self, point: int | None = None) -> pl.DataFrame:
        """What every CPU, lock, bus and link did over time: a point's timeline.csv; `point` may be omitted if there is only
        one.

        Columns are as in docs/study-files.md; `line` and `offset` are null for spans without a place in memory. Raises
        InputError if the run did not record a timeline, UsageError if there are several points and none is given.
        """
        from linebounce import frames  # noqa: PLC0415

        return frames.read_timeline(self.point_directory(self.point(point).number))

    def has_timeline(self, point: int) -> bool:
        return (self.point_directory(point) / "timeline.csv").exists()

    def __repr__(self) -> str:
        return f"<linebounce results {self.directory}: {self.experiment} on {self.machine}, {len(self.points)} points>"

    def _repr_html_(self) -> str:
        return results_html(self)


def open(directory: str | os.PathLike[str]) -> Results:  # noqa: A001
    """Opens the results of `linebounce run -o DIRECTORY`, or one of its directories points/K.

    Raises InputError, with a one-line message, unless these are finished results of a known schema. Failed points don't
    make a run unfinished; they have no metrics.
    """
    path = Path(directory)
    _check_directory(path)
    if not (path / "manifest.json").exists() and not (path / "results.json").exists():
        raise InputError(f"{path}: this is not a results directory, because it has neither results.json nor manifest.json")
    manifest_document = read_document(path / "manifest.json", json.loads)
    _check_schema(path / "manifest.json", manifest_document, MANIFEST_SCHEMA)
    with reading(path / "manifest.json"):
        manifest = manifest_from(manifest_document)
    if manifest.status == "interrupted":
        raise InputError(_interrupted(path, manifest))
    if manifest.status == "failed" and not (path / "results.json").exists():
        raise InputError(_all_failed(path, manifest))
    document = read_document(path / "results.json", json.loads)
    _check_schema(path / "results.json", document, RESULTS_SCHEMA)
    config = read_document(path / "config.toml", tomllib.loads)
    with reading(path / "results.json"):
        return Results(path, manifest, document, config)


def _check_directory(path: Path) -> None:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            os.listdir(path)
            return
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"{path}: there is no such results directory; `linebounce run EXPERIMENT -o {path}` makes one"
        ) from None
    except OSError as error:
        raise InputError(read_problem(path, error)) from None
    inside = (path.parent / "manifest.json").exists()
    raise InputError(
        f"{path}: this is a file; give a results directory, which `linebounce run` makes{f': {path.parent}' if inside else ''}"
    )


def _interrupted(path: Path, manifest: Manifest) -> str:
    """A message that says how many points of an interrupted run exist, and how to resume it."""
    message = f"{path}: the run was interrupted or is under way, with {manifest.points_done} of {manifest.points} points done"
    finished = sorted(int(file.parent.name) for file in path.glob("points/*/results.json") if file.parent.name.isdigit())
    if finished:
        message += f" (each can be read alone: {path / 'points' / str(finished[0])})"
    return f"{message}; the same command goes on from there: {shlex.join(_whole_run(manifest.argv))}"


def _all_failed(path: Path, manifest: Manifest) -> str:
    reason = f": {manifest.failed_points[0].reason}" if manifest.failed_points else ""
    return f"{path}: no point of the run finished, so there are no results{reason}"


def _whole_run(argv: Sequence[str]) -> list[str]:
    """The command line without the options that a sweep passes (`--point K`, `--merge`, `--quiet`). Run again like
    this, the program does the missing points."""
    words = list(argv)
    while "--point" in words:
        del words[words.index("--point") : words.index("--point") + 2]
    return [word for word in words if word not in ("--merge", "--quiet")]


def _headlines(document: Mapping[str, Any], points: Sequence[Point]) -> tuple[Headline, ...]:
    """The file's headlines. Files of older versions have none; then the only headline is the throughput, or the first
    metric without one."""
    if "headlines" in document:
        check("headlines", document["headlines"], list)
        return tuple(headline_from(headline) for headline in document["headlines"])
    if any(_THROUGHPUT.metric in point.metrics for point in points):
        return (_THROUGHPUT,)
    first = next((name for point in points for name in point.metrics), None)
    return () if first is None else (Headline(first, first, "neither"),)


def _no_answer(headlines: Sequence[Headline], points: Sequence[Point]) -> Answer:
    """An answer without words about the last finished point, for results of versions that wrote no answer."""
    finished = [point.number for point in points if point.metrics]
    metric = headlines[0].metric if headlines else ""
    return Answer("", "", "", metric, "", "", finished[-1] if finished else None, None, (), ())


def _first_point_number(directory: Path) -> int:
    """The number of the point in a directory points/K is K; elsewhere a single point has number 0."""
    resolved = directory.resolve()
    inside_sweep = resolved.parent.name == "points" and re.fullmatch(r"\d+", resolved.name)
    return int(resolved.name) if inside_sweep else 0


def read_document(path: Path, parse: Callable[[str], Parsed]) -> Parsed:
    """Reads a JSON or TOML file of a results directory. Raises InputError if it is malformed."""
    text = ""
    try:
        text = read_result(path).decode()
        document = parse(text)
        if _HALF_CHARACTER.search(text):  # JSON can escape half of a surrogate pair, which is not valid text
            json.dumps(document, ensure_ascii=False).encode()
        return document
    except OSError as error:
        raise InputError(f"{read_problem(path, error)}; a results directory must have this file") from None
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cut off or damaged: {malformed_place(text, error)}") from None
    except (ValueError, RecursionError) as error:  # raised by the parsers of JSON and TOML, and for bytes that are not UTF-8
        raise InputError(f"{path}: cut off or damaged: {' '.join(str(error).split())}") from None


def _check_schema(path: Path, document: object, known: str) -> None:
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema == known:
        return
    if isinstance(schema, str) and schema.rpartition("/")[0] == known.rpartition("/")[0]:
        raise InputError(
            f'{path}: its schema is "{schema}", but this version reads "{known}"; install a newer version of Linebounce'
        )
    raise InputError(f'{path}: this is not a file that Linebounce wrote: its schema must be "{known}"')


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns an error about a missing part, or one of a wrong type, into an InputError that names the file."""
    try:
        yield
    except KeyError as error:
        raise InputError(f"{path}: damaged: {error} is missing") from None
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
        raise InputError(f"{path}: damaged: {' '.join(str(error).split())}") from None
