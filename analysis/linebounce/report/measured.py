"""Compares a measured core-to-core matrix, from linebounce-probe or core-to-core-latency, with a run of `core_to_core`."""

import math
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from linebounce.csv_rows import csv_rows
from linebounce.errors import InputError, UsageError
from linebounce.files import read_table
from linebounce.report import tables
from linebounce.report.machine import machine_of
from linebounce.results import Results
from linebounce.visible import shortened_name

Matrix = list[list[float]]  # in ns: the mean of both directions of a pair; nan on the diagonal
_MARK = "probe_format"
_NEITHER = "neither linebounce-probe's file nor a core-to-core matrix"
_LONGEST_NS = 1e12
# The difference's colour scale reaches at least to this percentage, so that small differences look alike.
_LEAST_SCALE_PCT = 5.0


def read_measured(path: Path) -> Matrix:
    """Raises InputError for a file that can't be read or has neither format."""
    content = read_table(path)
    try:
        text = content.decode()
        return _matrix(tomllib.loads(text)["core_to_core"]["median_ns"]) if _MARK in text else _matrix_of_csv(path, text)
    except KeyError as error:
        raise InputError(f"{path}: {_NEITHER}: {error} is missing") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: {_NEITHER}: damaged or no text") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: {_NEITHER}: {error}") from error


def _matrix_of_csv(path: Path, text: str) -> Matrix:
    rows = []
    for line, cells in csv_rows(text):
        for cell in cells:
            try:
                _number(cell)
            except ValueError as error:
                raise InputError(f"{path}:{line}: {_NEITHER}: {error}") from None
        rows.append(cells)
    return _matrix(rows)


def _matrix(rows: Sequence[Sequence[Any]]) -> Matrix:
    cells = [[_number(cell) for cell in row] for row in rows if row]
    if len(cells) < 2 or any(len(row) != len(cells) for row in cells):
        raise ValueError("the matrix is not square")
    return [[_pair(cells, a, b) for b in range(len(cells))] for a in range(len(cells))]


def _number(cell: Any) -> float:
    """A cell's latency; nan for an empty cell."""
    given = cell.strip() if isinstance(cell, str) else cell
    if given in ("", None):
        return math.nan
    try:
        number = float(given)
    except ValueError:
        raise ValueError(f'"{shortened_name(given)}" is not a number') from None
    except OverflowError:  # an integer of TOML has any size
        number = math.inf
    if number < 0 or number > _LONGEST_NS:
        raise ValueError(f'"{shortened_name(str(given))}" is not a latency from 0 to {_LONGEST_NS:g} ns')
    return number


def _pair(cells: Matrix, a: int, b: int) -> float:
    there = [cell for cell in (cells[a][b], cells[b][a]) if not math.isnan(cell)]
    if a == b:
        return math.nan
    if not there:
        raise ValueError(f"no value for CPUs {a} and {b}")
    mean = sum(there) / len(there)
    if mean == 0:
        raise ValueError(f"the latency of CPUs {a} and {b} is 0")
    return mean


def beside(results: Results, measured: Matrix | None) -> pl.DataFrame:
    """The pairs that both matrices have. Uses the simulated latencies of modified lines whose home is on one of the two
    CPUs' nodes, as a measurement has them.

    Raises UsageError unless the run is one of core_to_core with as many CPUs.
    """
    if measured is None:
        return pl.DataFrame()
    cells = results.matrix
    if cells.is_empty():
        raise UsageError(f"{results.directory}: --measured needs a run of core_to_core, which has a matrix")
    parts = [_of_point(results, part, measured) for part in cells.partition_by("point", maintain_order=True)]
    return pl.concat(parts)


def _of_point(results: Results, cells: pl.DataFrame, measured: Matrix) -> pl.DataFrame:
    cpus = int(max(cells["from_cpu"].max(), cells["to_cpu"].max())) + 1  # type: ignore[type-var,arg-type]
    if cpus != len(measured):
        raise UsageError(f"{results.directory}: a machine of {cpus} CPUs, but the measured matrix has {len(measured)}")
    if (cells["state"] == "Modified").any():
        cells = cells.filter(state="Modified")
    machine = machine_of(results, cells["point"][0])
    node = {
        cpu: number
        for number in machine.nodes_with_cpus()
        for bus in range(machine.buses_per_node)
        for core in machine.cores_of_bus(number, bus)
        for cpu in core
    }
    near = [row["home_node"] in (node.get(row["from_cpu"]), node.get(row["to_cpu"])) for row in cells.iter_rows(named=True)]
    if any(near):
        cells = cells.filter(pl.Series(near))
    low_high = [pl.min_horizontal("from_cpu", "to_cpu").alias("low"), pl.max_horizontal("from_cpu", "to_cpu").alias("high")]
    pairs = cells.group_by(low_high).agg(pl.col("latency_ns").mean())
    simulated = {(row["low"], row["high"]): row["latency_ns"] for row in pairs.iter_rows(named=True)}
    places = tables.with_places(cells, machine).select("point", "from_cpu", "to_cpu", "from_place", "to_place").unique()
    rows = []
    for row in places.sort("from_place", "to_place").iter_rows(named=True):
        is_ns = measured[row["from_cpu"]][row["to_cpu"]]
        ns = simulated[min(row["from_cpu"], row["to_cpu"]), max(row["from_cpu"], row["to_cpu"])]
        off = {"measured_ns": round(is_ns, 2), "simulated_ns": round(ns, 2), "off_pct": round(100 * (ns / is_ns - 1), 2)}
        rows.append(row | off)
    return pl.DataFrame(rows)


def by_point(rows: pl.DataFrame) -> list[pl.DataFrame]:
    return [] if rows.is_empty() else rows.partition_by("point", maintain_order=True)


def words(rows: pl.DataFrame) -> dict[str, str]:
    """The words for the charts' placeholders: the ends of the colour scales, and the text below the charts."""
    both = [*rows["measured_ns"], *rows["simulated_ns"]]
    off = [simulated - ns for ns, simulated in zip(rows["measured_ns"], rows["simulated_ns"], strict=True)]
    rms = math.sqrt(sum(value * value for value in off) / len(off))
    mean = sum(rows["measured_ns"]) / len(rows)
    worst = max(rows.iter_rows(named=True), key=lambda row: abs(row["off_pct"]))
    return {
        "least": f"{min(both):g}",
        "most": f"{max(both):g}",
        "farthest": f"{max(_LEAST_SCALE_PCT, *map(abs, rows['off_pct'])):g}",
        "text": f"RMS of all pairs {rms:.2f} ns, {100 * rms / mean:.1f} % of the measured mean. "
        f"Worst: CPUs {worst['from_cpu']} and {worst['to_cpu']}, "
        f"{worst['measured_ns']:.1f} ns measured, {worst['simulated_ns']:.1f} ns simulated.",
    }
