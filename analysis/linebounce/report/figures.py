"""Writes the page's charts as SVG and PNG, in a paper's size and colours, on white."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
import vl_convert

from linebounce.errors import InputError
from linebounce.files import write_file
from linebounce.own_folder import inner_path
from linebounce.records import Point
from linebounce.report import charts, sweeps, tables
from linebounce.report.charts.base import UNDRAWABLE_WORDS, Spec, is_drawable
from linebounce.report.measured import Matrix, beside, by_point, words
from linebounce.report.ownership import first_part, ownership_frames
from linebounce.results import Results
from linebounce.supervised import PREFIX, limit_of_files, limit_of_memory
from linebounce.visible import shortened_name, visible, visible_name

_WIDTH = 480  # size of the plot, in pixels; an SVG scales to any size
_PIXELS_PER_INCH = 300
_LEGEND_COLUMNS = 3
# vl_convert includes the first font, so text is measured the same everywhere and a figure's bytes are reproducible; Arial has
# the same widths.
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_CONFIG = {
    "aria": False,  # without this, the file would repeat each mark's numbers in words, which would be most of its size
    "background": "white",
    "padding": 10,
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": 500, "gridColor": "#e4e4e4"},
    "legend": {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": 500, "labelLimit": 260, "symbolOpacity": 1},
}

Rows = list[dict[str, Any]]
Figure = tuple[str, Spec]
Converted = TypeVar("Converted", str, bytes)


class UndrawableError(InputError):
    """A chart that Vega can't draw."""


def write_figures(runs: Sequence[Results], folder: Path, measured: Matrix | None = None) -> Iterator[Path]:
    """Writes CHART.svg and CHART.png into a folder named after each run; yields each path. Leaves out charts that can't be
    drawn, and says so.

    Raises UsageError if a file can't be written.
    """
    names = [_name_of(results.directory) for results in runs]
    for number, results in enumerate(runs):
        own_name = names[number] if names.count(names[number]) == 1 else f"{number}_{names[number]}"
        place = folder / own_name
        for name, spec in figures_of(results, measured):
            yield from write_chart(spec, place, re.sub(r"[^A-Za-z0-9_.-]", "_", name))


def write_chart(spec: Spec, folder: Path, name: str) -> Iterator[Path]:
    """Writes NAME.svg and NAME.png; yields each path. If the chart can't be drawn, says so on the standard error."""
    try:
        pictures = dict(drawn(spec))
    except UndrawableError as error:
        print(f"{PREFIX}{visible_name(str(folder / name))} is left out: {error}", file=sys.stderr)
        return
    for suffix, content in pictures.items():
        path = inner_path(folder, f"{name}.{suffix}")
        write_file(path, content)
        yield path


def _name_of(directory: Path) -> str:
    """The folder for a run's figures. For a point of a sweep, the sweep's name and the point's number."""
    path = directory.resolve()
    return f"{path.parent.parent.name}_{path.name}" if path.parent.name == "points" else path.name


def drawn(spec: Spec) -> Iterator[tuple[str, bytes]]:
    """Raises UndrawableError."""
    if not is_drawable(spec):
        raise UndrawableError(UNDRAWABLE_WORDS)
    svg = visible(_converted(vl_convert.vegalite_to_svg, spec, config=_CONFIG))
    yield "svg", svg.encode()
    yield "png", _converted(vl_convert.svg_to_png, svg, ppi=_PIXELS_PER_INCH)


def _converted(convert: Callable[..., Converted], *arguments: Any, **named: Any) -> Converted:
    """What a function of vl_convert returns. Its error is shortened to one line without Vega's stack trace."""
    try:
        with _quiet():
            return convert(*arguments, **named)
    except ValueError as error:
        lines = [line.strip() for line in str(error).splitlines()]
        raise UndrawableError(f"Vega fails: {shortened_name(' '.join(lines[:2]))}") from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences the standard error's descriptor, where Vega prints stack traces of its own. With limited memory or files,
    supervised.py needs what the libraries print."""
    if limit_of_memory() is not None or limit_of_files() is not None:
        yield
        return
    try:
        before = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    try:
        nobody = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nobody, 2)
        os.close(nobody)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def figures_of(results: Results, measured: Matrix | None = None) -> Iterator[Figure]:
    """The charts for which the run has data, with their names. A chart of one point shows the point of the run's
    answer."""
    point = results.answered_point
    yield from _against_paper(results)
    yield from _over_sweep(results, point)
    yield from _cpi(results, point)
    yield from _latencies(results, point)
    matrix = tables.matrix(results).filter(pl.col("home_node").is_not_null(), pl.col("state") != tables.ALL, point=point.number)
    for (state, home), part in matrix.group_by("state", "home_node", maintain_order=True):
        yield _figure("matrix", "matrix", part.to_dicts(), name=f"matrix_{str(state).lower()}_home_{home}")
    for part in by_point(beside(results, measured)):
        if part["point"][0] == point.number:
            for name in ("measured", "simulated", "difference"):
                yield _figure(name, name, part.to_dicts(), words(part))
    series = tables.series(results).filter(point=point.number)
    for (name,), part in series.group_by("name", maintain_order=True):
        parameters = {"name": str(name), "last": str(series["time_s"].max())}
        yield _figure("series", "series", part.to_dicts(), parameters, name=f"series_{name}")
    structures = tables.structures(results.lines).filter(point=point.number).to_dicts()
    for name, rows in (("structures", structures), ("subsystems", tables.subsystems(point))):
        if rows:
            yield _figure(name, name, rows)
    lines, spans = ownership_frames(results)
    for line in lines.filter(point=point.number).head(1).iter_rows(named=True):
        of_line = spans.filter(point=point.number, object=line["object"], line=line["line"])
        yield _figure("ownership", "ownership", first_part(of_line, line["parts"]).to_dicts())


def _against_paper(results: Results) -> Iterator[Figure]:
    rows = tables.paper_table(results)
    for kind in ("ratios", "points"):
        placed = [row for row in rows if row.get("chart") == kind]
        if placed:
            yield _figure(f"paper_{kind}", f"paper_{kind}", placed)


def _over_sweep(results: Results, point: Point) -> Iterator[Figure]:
    """The first headline over the sweep, and the lock that takes the most CPU time over the number of CPUs."""
    swept = results.swept()
    if len(results.points) < 2:
        return
    chosen = sweeps.default_axes(results)
    if chosen:
        yield _swept(results, point, "sweep", chosen)
    locks = tables.locks(results).filter(call_site="").sort("cpu_pct", descending=True)
    if len(swept.get(sweeps.CPUS, [])) > 1 and not locks.is_empty():
        metric = f"locks.{locks['metric_name'][0]}.con_pct"
        yield _swept(results, point, "contention", sweeps.Axes(metric, sweeps.CPUS, sweeps.default_series(swept, sweeps.CPUS)))


def _swept(results: Results, point: Point, name: str, axes: sweeps.Axes) -> Figure:
    rows = sweeps.rows(results, point, axes)
    chart = "sweep_line" if sweeps.is_numeric(results.swept()[axes.x]) else "sweep_bars"
    return _figure(chart, "sweep", rows, sweeps.words_of(results, axes), name=name)


def _cpi(results: Results, point: Point) -> Iterator[Figure]:
    stacks = tables.cpi(results).filter(point=point.number)
    for of, chart in (("cpu", "cpi_cpus"), ("function", "cpi_functions")):
        rows = stacks.filter(of=of).to_dicts()
        if rows:
            yield _figure(chart, "cpi", rows)


def _latencies(results: Results, point: Point) -> Iterator[Figure]:
    """If both kernel and user code miss, draws them separately: in one chart, a peak of one could hide a peak of the
    other."""
    kinds = tables.latency_bins(results.latency).filter(point=point.number)["kind"].unique().sort().to_list()
    apart = [kind for kind in kinds if kind != tables.ALL]
    for kind in apart or kinds:
        yield from _latencies_of(results, {"point": point.number, "kind": kind}, f"_{kind}" if apart else "")


def _latencies_of(results: Results, wanted: Mapping[str, Any], suffix: str) -> Iterator[Figure]:
    bins = tables.latency_bins(results.latency).filter(**wanted).to_dicts()
    curves = tables.latency_curves(results.latency).filter(**wanted)
    if len(bins) > 1:  # a histogram of one bar says no more than the latency itself
        yield _figure("latency_histogram", "latency_bins", bins, name=f"latency_histogram{suffix}")
        yield _figure("latency_cdf", "latency_curves", curves.to_dicts(), name=f"latency_cdf{suffix}")
    tail = curves.filter(pl.col("more_pct").is_not_null())
    if (tail["more_pct"] < 100).any():  # misses with equal latencies have no tail
        yield _figure("latency_tail", "latency_curves", tail.to_dicts(), name=f"latency_tail{suffix}")


def _figure(chart: str, table: str, rows: Rows, words: dict[str, str] | None = None, *, name: str = "") -> Figure:
    spec = charts.with_rows(charts.CHARTS[chart](), table, rows, words or {})
    spec["width"] = _WIDTH
    for part in [spec, *spec.get("layer", [])]:
        for channel in charts.LEGENDS:
            legend = part.get("encoding", {}).get(channel, {}).get("legend")
            if legend and legend.get("values"):
                legend["columns"] = _LEGEND_COLUMNS
    return name or chart, spec
