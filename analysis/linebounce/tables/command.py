"""The command `linebounce tables`."""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import linebounce
from linebounce.commands import exit_code, parser_of
from linebounce.csv_rows import csv_rows
from linebounce.errors import InputError, UsageError, alternatives, not_known
from linebounce.files import read_result, read_table, written_whole
from linebounce.json_text import json_text
from linebounce.visible import no_formula, print_line

if TYPE_CHECKING:
    import polars as pl

TABLES = ("metrics", "settings", "seeds", "latency", "lines", "locks", "cpi", "matrix", "series", "transitions")

_EXAMPLES = """Examples:
  linebounce tables out/my_locks                                  which tables there are, and their rows
  linebounce tables out/my_locks metrics -o metrics.parquet       the form follows from the file's name
  linebounce tables out/my_locks lines --format markdown          to the terminal
  linebounce import klockstat.txt -o waits.csv && linebounce tables waits.csv -o waits.parquet

Exit codes: 0 done; 2 wrong usage or a file that can't be written; 3 results that can't be read."""


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code("linebounce tables", lambda: _write(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    description = "Write a table of results, or a CSV file with titles, as CSV, JSON, Parquet or Markdown"
    parser = parser_of("linebounce tables", description, _EXAMPLES, usage="[OPTIONS] DIR [TABLE]")
    parser.add_argument("source", metavar="DIR", type=Path, help="A results directory, or a CSV file")
    parser.add_argument("table", metavar="TABLE", nargs="?", help=f"In a results directory: {', '.join(TABLES)}")
    parser.add_argument("--format", metavar="FORM", choices=list(_FORMS), help="csv, json, parquet or markdown")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="The file; default: the terminal, as CSV")
    return parser.parse_args(arguments)


def _write(arguments: argparse.Namespace) -> int:
    if arguments.source.is_file():
        if arguments.table is not None:
            raise UsageError(f"{arguments.source}: a file has one table; leave out {arguments.table}")
        frame = _frame_of_csv(arguments.source)
    elif measured := _measured_tables(arguments.source):
        if arguments.table is None:
            _check_list(arguments)
            return _list_measured(measured)
        frame = _measured_frame(arguments, measured)
    else:
        results = linebounce.open(arguments.source)
        if arguments.table is None:
            _check_list(arguments)
            return _list(results)
        if arguments.table not in TABLES:
            raise UsageError(f"table {not_known(arguments.table, sorted(TABLES))}")
        frame = _with_settings(results, arguments.table)
    form = _form(arguments)
    content = _FORMS[form](frame)
    if arguments.output is None:
        if form == "parquet":
            sys.stdout.buffer.write(content)
        else:
            sys.stdout.write(content.decode())
        return 0
    with written_whole(arguments.output) as file:
        file.write(content)
    print_line(f"{arguments.output}: {frame.height} rows of {frame.width} columns")
    return 0


def _check_list(arguments: argparse.Namespace) -> None:
    """Refuses options that have no effect on the list of a directory's tables."""
    for option in ("output", "format"):
        if getattr(arguments, option) is not None:
            raise UsageError(f"--{option} needs TABLE; linebounce tables {arguments.source} lists them")


def _measured_tables(directory: Path) -> dict[str, Path]:
    """The tables of what `linebounce import` has made of measurements: a results directory without a run. Empty for any
    other directory."""
    if (directory / "manifest.json").exists():
        return {}
    try:
        document = json.loads(read_result(directory / "results.json"))
    except (OSError, ValueError, RecursionError, InputError):
        return {}
    if not isinstance(document, dict) or document.get("experiment") != "imported":
        return {}
    return {path.stem: path for path in sorted(directory.glob("*.csv")) if path.is_file()}


def _list_measured(measured: Mapping[str, Path]) -> int:
    for name, path in measured.items():
        print_line(f"{name}: {_frame_of_csv(path).height} rows")
    return 0


def _measured_frame(arguments: argparse.Namespace, measured: Mapping[str, Path]) -> pl.DataFrame:
    if arguments.table not in measured:
        raise UsageError(f"{arguments.source} was imported, and has no table {arguments.table}; {', '.join(measured)}")
    return _frame_of_csv(measured[arguments.table])


def _list(results: linebounce.Results) -> int:
    for name in TABLES:
        height = getattr(results, name).height
        if height > 0:
            print_line(f"{name}: {height} rows")
    return 0


def _with_settings(results: linebounce.Results, table: str) -> pl.DataFrame:
    """The table, with each swept path's value beside the number of the point."""
    frame: pl.DataFrame = getattr(results, table)
    swept = list(results.swept())
    if table == "settings" or not swept:
        return frame
    rest = [name for name in frame.columns if name != "point"]
    return frame.join(results.settings, on="point", how="left", maintain_order="left").select("point", *swept, *rest)


def _form(arguments: argparse.Namespace) -> str:
    forms = {".csv": "csv", ".json": "json", ".parquet": "parquet", ".md": "markdown"}
    suffix = arguments.output.suffix if arguments.output is not None else ""
    if arguments.format is not None:
        if forms.get(suffix, arguments.format) != arguments.format:
            raise UsageError(
                f"--output {arguments.output}: its name means {forms[suffix]}, and --format says {arguments.format}"
            )
        if arguments.format == "parquet" and arguments.output is None and sys.stdout.isatty():
            raise UsageError("Parquet is not for a terminal; name a file: -o FILE.parquet")
        return str(arguments.format)
    if arguments.output is None:
        return "csv"
    if suffix not in forms:
        raise UsageError(f"--output {arguments.output}: a table's name ends in {alternatives(list(forms))}; or give --format")
    return forms[suffix]


def _frame_of_csv(path: Path) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415

    try:
        text = read_table(path).decode()
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not a text in UTF-8") from None
    rows: list[list[str]] = []
    for line, row in csv_rows(text):
        rows.append(row)
        if len(row) != len(rows[0]):
            raise InputError(f"{path}:{line}: {len(row)} cells, where the first line has {len(rows[0])} titles")
    if not rows:
        raise InputError(f"{path}: has no line of titles")
    columns = list(zip(*rows[1:], strict=True)) if len(rows) > 1 else [() for _ in rows[0]]
    if len(set(rows[0])) != len(rows[0]):
        raise InputError(f"{path}:1: a title occurs twice")
    return pl.DataFrame({title: _typed(cells) for title, cells in zip(rows[0], columns, strict=True)})


_LARGEST_INTEGER = 1 << 127  # polars has no larger ones; a column with one becomes a column of numbers


def _typed(cells: Sequence[str]) -> list[object]:
    """The cells of a column as integers if all of them are, otherwise as numbers if all are, otherwise as texts. An
    empty cell in a column of numbers becomes null."""
    for kind in (int, float):
        try:
            numbers = [None if cell == "" else kind(cell) for cell in cells]
        except ValueError:
            continue
        if kind is float or all(number is None or abs(number) < _LARGEST_INTEGER for number in numbers):
            return list(numbers)
    return list(cells)


def _csv(frame: pl.DataFrame) -> bytes:
    import polars as pl  # noqa: PLC0415

    texts = [pl.col(name).map_elements(_figure_or_name, pl.String) for name in frame.columns if frame[name].dtype == pl.String]
    return frame.with_columns(texts).rename(mapping=no_formula).write_csv().encode()


def _figure_or_name(text: str) -> str:
    """A column of texts may also hold negative numbers, which are no formulas."""
    return text if re.fullmatch(r"-[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", text) else no_formula(text)


def _json(frame: pl.DataFrame) -> bytes:
    return (json_text(frame.to_dicts(), indent=1, ensure_ascii=False) + "\n").encode()


def _parquet(frame: pl.DataFrame) -> bytes:
    content = io.BytesIO()
    frame.write_parquet(content)
    return content.getvalue()


# A name ends no cell, and becomes no HTML, no link and no code.
_MARKDOWN = str.maketrans({letter: f"\\{letter}" for letter in "\\|`*[]"} | {"<": "&lt;", ">": "&gt;", "\n": " "})


def _markdown(frame: pl.DataFrame) -> bytes:
    def line(cells: Sequence[object]) -> str:
        texts = ["" if cell is None else str(cell).translate(_MARKDOWN) for cell in cells]
        return f"| {' | '.join(texts)} |\n"

    rules = ["---:" if frame[column].dtype.is_numeric() else "---" for column in frame.columns]
    return (line(frame.columns) + line(rules) + "".join(line(row) for row in frame.iter_rows())).encode()


_FORMS: dict[str, Callable[[pl.DataFrame], bytes]] = {
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
    "markdown": _markdown,
}


if __name__ == "__main__":
    sys.exit(main())
