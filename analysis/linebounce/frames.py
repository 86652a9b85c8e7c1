"""Reads the CSV files of results as polars data frames, and gives the metrics as frames. A truncated or malformed file
is an error that names the line."""

import math
import re
from collections.abc import Collection, Sequence
from pathlib import Path

import polars as pl

from linebounce.csv_rows import csv_rows
from linebounce.errors import InputError
from linebounce.files import read_result
from linebounce.records import Point
from linebounce.visible import shortened_name, visible_name

_TEXT = pl.String()
_COUNT = pl.Int64()
_NUMBER = pl.Float64()

# The resources that a miss queues for, in column order (Resource in models/waits.hpp).
RESOURCES = ("core", "bus", "line", "link", "controller", "memory")

# The columns of cpi.csv that add up to `cycles` (TimePart in models/core/cpu_counters.hpp).
CPI_PARTS = (
    *("issue", "l1", "l2", "l3", "l4"),
    *("local_c2c", "local_memory", "remote_memory", "remote_c2c", "node_cache", "upgrade"),
    *("atomic", "store_buffer", "fence", "footprint", "spin", "sleep", "ended"),
)

# The columns of each file, as in docs/study-files.md. Numbers have the six significant digits that the file has.
COLUMNS: dict[str, dict[str, pl.DataType]] = {
    "latency": {
        "point": _COUNT,
        "kind": _TEXT,
        "source": _TEXT,
        "latency_cycles": _COUNT,
        "latency_ns": _NUMBER,
        "count": _COUNT,
    },
    "lines": {
        "point": _COUNT,
        "structure": _TEXT,
        "object": _TEXT,
        "line": _COUNT,
        "offset": _COUNT,
        "field": _TEXT,
        "function": _TEXT,
        "access": _TEXT,
        "home": _COUNT,
        "source": _TEXT,
        "count": _COUNT,
        "remote_pct": _NUMBER,
        "latency_ns_mean": _NUMBER,
        "cpus": _TEXT,
        "travel_ns_mean": _NUMBER,
        "queueing_ns_mean": _NUMBER,
        **{f"queueing_{resource}_ns_mean": _NUMBER for resource in RESOURCES},
    },
    "locks": {
        "point": _COUNT,
        "lock": _TEXT,
        "call_site": _TEXT,
        "util_pct": _NUMBER,
        "con_pct": _NUMBER,
        "hold_mean_us": _NUMBER,
        "hold_max_us": _NUMBER,
        "wait_mean_us": _NUMBER,
        "wait_max_us": _NUMBER,
        "cpu_pct": _NUMBER,
        "total": _COUNT,
        "nowait": _COUNT,
        "spin": _COUNT,
        "rjct": _COUNT,
        "misses": _COUNT,
        "miss_mean_ns": _NUMBER,
        "travel_mean_ns": _NUMBER,
        "queueing_mean_ns": _NUMBER,
        **{f"queueing_{resource}_mean_ns": _NUMBER for resource in RESOURCES},
    },
    "cpi": {
        "point": _COUNT,
        "cpu": _COUNT,
        "function": _TEXT,
        "instructions": _COUNT,
        "cycles": _COUNT,
        **dict.fromkeys(CPI_PARTS, _COUNT),
    },
    "matrix": {
        "point": _COUNT,
        "from_cpu": _COUNT,
        "to_cpu": _COUNT,
        "home_node": _COUNT,
        "state": _TEXT,
        "latency_ns": _NUMBER,
    },
    "series": {"point": _COUNT, "time_us": _NUMBER, "name": _TEXT, "value": _NUMBER},
    "seeds": {"point": _COUNT, "seed": _COUNT, "metric": _TEXT, "value": _NUMBER, "unit": _TEXT},
    "transitions": {"point": _COUNT, "controller": _TEXT, "state": _TEXT, "event": _TEXT, "count": _COUNT},
}

# The columns of one point's timeline.csv. For spans without an address, `line` and `offset` are null, and `object` and
# `field` are empty texts.
TIMELINE: dict[str, pl.DataType] = {
    "kind": _TEXT,
    "track": _TEXT,
    "begin_ns": _NUMBER,
    "end_ns": _NUMBER,
    "name": _TEXT,
    "access": _TEXT,
    "object": _TEXT,
    "line": _COUNT,
    "offset": _COUNT,
    "field": _TEXT,
}
_LATEST_NS = 9e18  # Perfetto stores times in 64 bits, in nanoseconds; this limit is 285 years
_MAY_BE_EMPTY = frozenset({"line", "offset"})
# The pattern for the track of each kind of span: the number of a CPU or bus, both ends of a link, or nothing.
_NUMBER_TRACK = r"^[0-9]{1,9}$"
_TRACKS = {
    "function": _NUMBER_TRACK,
    "sleep": _NUMBER_TRACK,
    "miss": _NUMBER_TRACK,
    "lock_wait": _NUMBER_TRACK,
    "lock_hold": _NUMBER_TRACK,
    "bus_address": _NUMBER_TRACK,
    "bus_data": _NUMBER_TRACK,
    "link": r"^[0-9]{1,9}_[0-9]{1,9}$",
    "grace_period": r"^$",
}
TIMELINE_KINDS = tuple(_TRACKS)

# sim/results/csv.cpp puts an apostrophe before a name that a spreadsheet would take for a formula. This matches such an
# apostrophe.
_NO_FORMULA = r"^'('*[=+@-])"

# Files that not every run writes: core-to-core latencies, quantities over time, and metrics by seed (only with several seeds).
# Versions before cpi.csv did not write that file, either.
OPTIONAL = frozenset({"matrix", "series", "seeds", "cpi"})


def of_metrics(points: Sequence[Point]) -> pl.DataFrame:
    """All metrics of all points."""
    rows = [
        (point.number, name, float(metric.value), metric.unit, metric.ci95)
        for point in points
        for name, metric in point.metrics.items()
    ]
    schema = {"point": _COUNT, "metric": _TEXT, "value": _NUMBER, "unit": _TEXT, "ci95": _NUMBER}
    return pl.DataFrame(rows, schema=schema, orient="row")


def of_one_seed(points: Sequence[Point], seed: int) -> pl.DataFrame:
    """The metrics with the columns of seeds.csv, for a run with one seed, which has no such file."""
    return of_metrics(points).with_columns(seed=pl.lit(seed, _COUNT)).select(*COLUMNS["seeds"])


def of_settings(points: Sequence[Point], paths: Sequence[str]) -> pl.DataFrame:
    """Each point's settings: one column for each swept path."""
    rows = [{"point": point.number} | {path: point.at.get(path) for path in paths} for point in points]
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def read_frame(directory: Path, name: str, points: Collection[int]) -> pl.DataFrame:
    """Reads all rows of DIRECTORY/NAME.csv. A missing optional file gives a frame without rows.

    Raises InputError, with file and line, if the file is missing, truncated or malformed, or has a row for a point that is not
    in `points`.
    """
    columns = COLUMNS[name]
    path = directory / f"{name}.csv"
    if name in OPTIONAL and not path.exists():
        return pl.DataFrame(schema=columns)
    try:
        content = read_result(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; a results directory must have this file") from None
    frame = _parsed(path, content, columns)
    strange = frame.filter(~pl.col("point").is_in(points))
    if not strange.is_empty():
        raise InputError(f"{path}: a row belongs to point {strange['point'][0]}, which results.json does not have")
    return frame


def read_timeline(directory: Path) -> pl.DataFrame:
    """Reads a point's timeline.csv, in file order, which is by begin_ns.

    Raises InputError as read_frame() does, and for a span of an unknown kind, one that ends before it begins, or times out of
    range.
    """
    path = directory / "timeline.csv"
    try:
        content = read_result(path)
    except FileNotFoundError:
        raise InputError(
            f"{path}: no timeline was recorded; `linebounce run ... --set run.record_timeline=true` does"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    frame = _parsed(path, content, TIMELINE)
    in_order = pl.col("begin_ns").is_between(0, pl.col("end_ns")) & (pl.col("end_ns") <= _LATEST_NS)
    on_track = pl.any_horizontal(
        (pl.col("kind") == kind) & pl.col("track").str.contains(track) for kind, track in _TRACKS.items()
    )
    nowhere = (pl.col("kind") == "miss") & (pl.col("object") != "") & pl.col("line").is_null()
    wrong = ~on_track | ~in_order | nowhere
    for row in frame.with_row_index("row").filter(wrong).head(1).iter_rows(named=True):
        what = "it ends before it begins"
        if row["kind"] not in TIMELINE_KINDS:
            what = f'kind is "{shortened_name(row["kind"])}"; expected one of {", ".join(TIMELINE_KINDS)}'
        elif re.search(_TRACKS[row["kind"]], row["track"]) is None:
            what = f'track is "{shortened_name(row["track"])}", which cannot be the track of a {row["kind"]}'
        elif row["kind"] == "miss" and row["object"] and row["line"] is None:
            what = "its line is empty, but a miss on an object needs the object's line"
        elif row["begin_ns"] < 0 or row["end_ns"] > _LATEST_NS:
            what = f"its times must be from 0 to {_LATEST_NS:g} ns"
        raise InputError(f"{path}:{row['row'] + 2}: {what}")
    return frame


def _parsed(path: Path, content: bytes, columns: dict[str, pl.DataType]) -> pl.DataFrame:
    _check_ends(path, content, columns)
    try:
        frame = pl.read_csv(content, schema=columns, empty_string_is_null=False)
    except pl.exceptions.PolarsError:
        raise _first_bad_row(path, content, columns) from None
    required = frame.select(pl.exclude(_MAY_BE_EMPTY)) if columns is TIMELINE else frame
    finite = all(frame[column].is_finite().all() for column, kind in columns.items() if kind == _NUMBER)
    if not finite or any(required.null_count().row(0)) or not _rows_are_full(content, columns):
        raise _first_bad_row(path, content, columns)
    return frame.with_columns(pl.col(pl.String).str.replace(_NO_FORMULA, "$1")) if b"'" in content else frame


def _check_ends(path: Path, content: bytes, columns: dict[str, pl.DataType]) -> None:
    """Refuses a file with other columns, or whose last line is unterminated: a truncated number would look valid."""
    header = content[: 1 << 16].partition(b"\n")[0].decode(errors="replace")
    if header != ",".join(columns):
        raise InputError(f'{path}:1: the columns are "{visible_name(header)}"; expected "{",".join(columns)}"')
    if not content.endswith(b"\n"):
        lines = content.count(b"\n") + 1
        raise InputError(f"{path}:{lines}: the file is cut off: its last line does not end with a newline")


def _rows_are_full(content: bytes, columns: dict[str, pl.DataType]) -> bool:
    """Whether every row has all fields. Polars accepts a row whose last text is missing as if the text were empty. With
    quotes in the file, counting commas is not enough."""
    if b'"' in content:
        return all(len(row) == len(columns) for _, row in csv_rows(_text(content)))
    return content.count(b",") == content.count(b"\n") * (len(columns) - 1)


def _text(content: bytes) -> str:
    return content.decode(errors="replace")


def _first_bad_row(path: Path, content: bytes, columns: dict[str, pl.DataType]) -> InputError:
    """Finds the first bad row of a file that polars refused, and says what is wrong with it. Slow."""
    rows = csv_rows(_text(content))
    next(rows)
    for line, row in rows:
        if len(row) != len(columns):
            return InputError(f"{path}:{line}: {len(row)} values for {len(columns)} columns")
        for (column, kind), text in zip(columns.items(), row, strict=True):
            empty = not text and columns is TIMELINE and column in _MAY_BE_EMPTY
            if not empty and not _fits(kind, text):
                wanted = "an integer" if kind == _COUNT else "a number"
                return InputError(f'{path}:{line}: {column} is "{shortened_name(text)}"; expected {wanted}')
    return InputError(f"{path}: this is not a CSV file with the columns {','.join(columns)}")


def _fits(kind: pl.DataType, text: str) -> bool:
    if kind == _TEXT:
        return True
    try:
        return math.isfinite(int(text) if kind == _COUNT else float(text))
    except ValueError:
        return False
