"""Displays results in a notebook as short HTML tables. Data frames display themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from linebounce.html_table import Row, html_table
from linebounce.quantity import quantity
from linebounce.records import Headline, Manifest, OrderRow, PaperRow, Point, Setting, ShapeRow, ValueRow, shown_setting
from linebounce.report.charts.base import LABELS

if TYPE_CHECKING:
    import polars as pl

_SHOWN_POINTS = 20
_SHOWN_PAPER_ROWS = 10
_SHOWN_LOCKS = 5
_VERDICTS = {True: "within", False: "off", None: "not scored"}


class ShownResults(Protocol):
    """The part of linebounce.Results that this module uses."""

    directory: Path
    machine: str
    headlines: Sequence[Headline]
    points: Sequence[Point]
    paper: Sequence[PaperRow]
    manifest: Manifest

    @property
    def title(self) -> str: ...
    @property
    def locks(self) -> pl.DataFrame: ...
    def swept(self) -> dict[str, list[Setting]]: ...


def results_html(results: ShownResults) -> str:
    """A heading, the points, and the paper's figures with those out of tolerance first. A run of one point also gets
    its latencies and locks."""
    parts = [_heading(results), _points_table(results)]
    if len(results.points) == 1:
        parts += [_latency_table(results), _locks_table(results)]
    return f"<div>{''.join(parts)}{_paper_table(results.paper)}</div>"


def _heading(results: ShownResults) -> str:
    facts = [f"{escape(results.machine)}", f"{len(results.points)} point{'s' * (len(results.points) != 1)}"]
    if results.manifest.seeds > 1:
        facts.append(f"{results.manifest.seeds} seeds")
    for kind, words in (("predicted", "predictions"), ("in_sight", "figures in sight")):
        scored = [row.ok for row in results.paper if row.ok is not None and row.kind == kind]
        if scored:
            facts.append(f"{sum(scored)} of {len(scored)} {words} within tolerance")
    return f"<strong>{escape(results.title)}</strong><br>{' · '.join(facts)}<br><code>{escape(str(results.directory))}</code>"


def _points_table(results: ShownResults) -> str:
    paths = list(results.swept())
    headline = next((headline.metric for headline in results.headlines), "")
    rows = []
    for point in results.points:
        at = [shown_setting(point.at[path]) if path in point.at else "" for path in paths]
        shown = str(point.metrics[headline]) if headline in point.metrics else ""
        rows.append([str(point.number), *at, shown if point.metrics else "failed"])
    return html_table(["point", *paths, headline], rows, _SHOWN_POINTS)


def _latency_table(results: ShownResults) -> str:
    """Latencies by source: the kernel's, as in results.json, or the user's if the kernel has none."""
    metrics = results.points[0].metrics
    kinds = [kind for kind in ("kernel", "user") if any(name.startswith(f"latency.{kind}.") for name in metrics)]
    rows = []
    for name, count in metrics.items():
        parts = name.split(".")
        if kinds and parts[:2] == ["latency", kinds[0]] and parts[-1] == "count":
            rows.append(
                (
                    LABELS.get(parts[2], parts[2].upper()),
                    quantity(count.value),
                    str(metrics[name.removesuffix("count") + "mean_ns"]),
                )
            )
    return html_table(("supplied by", f"accesses, {kinds[0]}", "mean"), rows) if rows else ""


def _locks_table(results: ShownResults) -> str:
    locks = results.locks.filter(call_site="").sort("cpu_pct", descending=True)
    columns = {
        "util_pct": "UTIL %",
        "con_pct": "CON %",
        "hold_mean_us": "hold, µs",
        "wait_mean_us": "wait, µs",
        "total": "total",
    }
    rows = [[row["lock"], *(_number(row[column]) for column in columns)] for row in locks.iter_rows(named=True)]
    return html_table(["lock", *columns.values()], rows, _SHOWN_LOCKS) if rows else ""


def _paper_table(paper: Sequence[PaperRow]) -> str:
    order = {False: 0, True: 1, None: 2}
    rows = [_paper_row(row) for row in sorted(paper, key=lambda row: order[row.ok])]
    return html_table(("figure", "paper", "simulated", "kind", "verdict"), rows, _SHOWN_PAPER_ROWS) if rows else ""


def _paper_row(row: PaperRow) -> Row:
    figures: tuple[str, str]
    match row:
        case ValueRow() if row.paper is None and row.sign is not None:
            figures = (row.sign, row.simulated_sign or "none")
        case ValueRow():
            figures = (_number(row.paper, row.unit), _number(row.simulated, row.unit))
        case ShapeRow():
            figures = (f"{row.shape} over {row.over}", _series(row.simulated, row.unit))
        case OrderRow():
            figures = ("rising", _series(row.simulated, row.unit))
        case _:
            figures = ("", "")
    return (row.id, *figures, row.kind_text, _VERDICTS[row.ok])


def _number(value: float | None, unit: str = "") -> str:
    return "none" if value is None else quantity(value, unit)


def _series(values: Iterable[float | None], unit: str) -> str:
    return f"{' → '.join(map(_number, values))} {unit}".rstrip()
