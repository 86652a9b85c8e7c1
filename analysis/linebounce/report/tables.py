"""Makes the tables behind the page's charts from a run's frames.

The page only selects rows by point, kind or home node. Everything is computed here, so the page and the figures for
papers show the same numbers.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from linebounce.frames import CPI_PARTS, RESOURCES
from linebounce.records import At, OrderRow, PaperRow, Point, ShapeRow, ValueRow, shown_setting
from linebounce.report.charts.base import COLOURS
from linebounce.report.charts.paper import RATIOS_SHOWN
from linebounce.report.machine import Machine, machine_of
from linebounce.report.metric_names import metric_names
from linebounce.results import Results

# Bars of a latency histogram: 48 per decade, so that peaks 20 % apart have valleys between them.
_BINS_PER_DECADE = 48
_PERCENTILES = (50.0, 90.0, 99.0, 99.9)
ALL = "all"


def is_hit(source: pl.Expr) -> pl.Expr:
    """Whether a source is one of the CPU's own caches: l1, l2, ..."""
    return source.str.contains(r"^l\d+$")


def _rank() -> pl.Expr:
    """The position of a source in COLOURS, in which order charts stack sources."""
    return pl.col("source").replace_strict(tuple(COLOURS), range(len(COLOURS)), default=len(COLOURS)).alias("rank")


def with_all_kinds(latency: pl.DataFrame) -> pl.DataFrame:
    """latency.csv with a third kind, `all`: kernel plus user."""
    kinds = latency["kind"].unique()
    if len(kinds) < 2:
        return latency.with_columns(kind=pl.lit(ALL))
    return pl.concat([latency.with_columns(kind=pl.lit(ALL)), latency])


def latency_bins(latency: pl.DataFrame) -> pl.DataFrame:
    """A histogram of misses: for each point, kind and source, the share of accesses in each bin of a logarithmic axis."""
    step = (pl.col("latency_ns").log10() * _BINS_PER_DECADE).floor()
    misses = with_all_kinds(latency).filter(~is_hit(pl.col("source")), pl.col("latency_ns") > 0)
    total = pl.col("count").sum().over("point", "kind")
    return (
        misses.with_columns(step=step, share=100 * pl.col("count") / total)
        .group_by("point", "kind", "source", "step")
        .agg(pl.col("count").sum(), pl.col("share").sum().round_sig_figs(5).alias("share_pct"))
        .with_columns(
            low_ns=(10 ** (pl.col("step") / _BINS_PER_DECADE)).round_sig_figs(5),
            high_ns=(10 ** ((pl.col("step") + 1) / _BINS_PER_DECADE)).round_sig_figs(5),
        )
        .sort("point", "kind", "source", "step")
        .drop("step")
        .with_columns(_rank())
    )


def latency_curves(latency: pl.DataFrame) -> pl.DataFrame:
    """Cumulative curves: for each point, kind and source, and for all sources together, the share of misses up to a
    latency and the share above it.

    There is one row for each bin, at the longest latency in the bin, which is as fine as a reader can see. A row before
    the first bin is the curve's start.
    """
    misses = with_all_kinds(latency).filter(~is_hit(pl.col("source")), pl.col("latency_ns") > 0)
    together = misses.with_columns(source=pl.lit(ALL))
    key = ["point", "kind", "source"]
    step = (pl.col("latency_ns").log10() * _BINS_PER_DECADE * 2).floor()
    steps = (
        pl.concat([together, misses])
        .group_by(*key, step.alias("step"))
        .agg(pl.col("latency_ns").max(), pl.col("count").sum())
        .sort(*key, "latency_ns")
        .with_columns(at_most=pl.col("count").cum_sum().over(key) / pl.col("count").sum().over(key))
        .select(*key, "latency_ns", "at_most")
    )
    begins = steps.group_by(key, maintain_order=True).agg(pl.col("latency_ns").min()).with_columns(at_most=pl.lit(0.0))
    return (
        pl.concat([begins, steps])
        .sort(*key, "latency_ns", "at_most")
        .select(
            *key,
            "latency_ns",
            at_most_pct=(100 * pl.col("at_most")).round_sig_figs(6),
            # Null in the last bin: no miss is longer, and a logarithmic axis has no place for 0.
            more_pct=pl.when(pl.col("at_most") < 1).then((100 * (1 - pl.col("at_most"))).round_sig_figs(6)),
        )
    )


def latency_summary(latency: pl.DataFrame) -> pl.DataFrame:
    """Count, mean and percentiles for each source, including hits in the CPU's own caches."""
    key = ["point", "kind", "source"]
    ordered = with_all_kinds(latency).sort(*key, "latency_ns")
    rank = pl.col("count").cum_sum().over(key) / pl.col("count").sum().over(key)
    quantiles = [
        pl.col("latency_ns").filter(pl.col("rank") >= percent / 100).first().alias(f"p{percent:g}") for percent in _PERCENTILES
    ]
    mean = (pl.col("latency_ns") * pl.col("count")).sum() / pl.col("count").sum()
    return (
        ordered.with_columns(rank=rank)
        .group_by(key, maintain_order=True)
        .agg(pl.col("count").sum(), mean.round_sig_figs(6).alias("mean"), *quantiles, pl.col("latency_ns").max().alias("max"))
        .sort("point", "kind", ~is_hit(pl.col("source")), _rank(), "source")
    )


def with_queueing(summary: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """Adds the share of queueing in each source's latency, and the resource with the longest queueing. Only for kernel
    and user code together."""
    waits = [f"queueing_{resource}_ns_mean" for resource in RESOURCES]
    sums = lines.group_by("point", "source").agg(
        (pl.col(column) * pl.col("count")).sum() for column in ("latency_ns_mean", "queueing_ns_mean", *waits)
    )
    longest = pl.concat_list(waits).list.arg_max()
    names = dict(enumerate(RESOURCES))
    split = sums.select(
        "point",
        "source",
        kind=pl.lit(ALL),
        queueing_pct=(100 * pl.col("queueing_ns_mean") / pl.col("latency_ns_mean")).round_sig_figs(4),
        waits_for=pl.when(pl.col("queueing_ns_mean") > 0).then(
            longest.replace_strict(tuple(names), tuple(names.values()), default=None, return_dtype=pl.String)
        ),
    )
    return summary.join(split, on=["point", "kind", "source"], how="left", maintain_order="left")


def locks(results: Results) -> pl.DataFrame:
    """locks.csv, with the part of metric names that stands for each lock."""
    names = metric_names(results.locks["lock"].unique().to_list())
    return results.locks.with_columns(pl.col("lock").replace_strict(names, return_dtype=pl.String).alias("metric_name"))


def matrix(results: Results) -> pl.DataFrame:
    """matrix.csv, with each CPU's position in a drawing: CPUs of one node are adjacent, and CPUs of one bus within it.

    Adds rows with the means over all homes (home_node null) and over all states (state ALL); they come first.
    """
    parts = results.matrix.partition_by("point", maintain_order=True)
    return pl.concat(
        [_with_means(with_places(part, machine_of(results, part["point"][0]))) for part in parts] or [results.matrix]
    )


def with_places(cells: pl.DataFrame, machine: Machine) -> pl.DataFrame:
    """Adds each CPU's position in a drawing, and whether both CPUs are on one node."""
    order: list[int] = []
    nodes: list[int] = []
    for node in machine.nodes_with_cpus():
        for bus in range(machine.buses_per_node):
            for core in machine.cores_of_bus(node, bus):
                order += core
                nodes += [node] * len(core)
    ends = {end: pl.col(f"{end}_cpu") for end in ("from", "to")}
    places = {f"{end}_place": cpu.replace_strict(order, range(len(order)), default=len(order)) for end, cpu in ends.items()}
    node_of = [cpu.replace_strict(order, nodes, default=None) for cpu in ends.values()]
    return cells.with_columns(**places, same_node=node_of[0] == node_of[1])


def _with_means(cells: pl.DataFrame) -> pl.DataFrame:
    for column, together in (("home_node", pl.lit(None, pl.Int64)), ("state", pl.lit(ALL))):
        if cells[column].n_unique() > 1:
            key = [name for name in cells.columns if name not in (column, "latency_ns")]
            mean = cells.group_by(key, maintain_order=True).agg(pl.col("latency_ns").mean().round_sig_figs(6))
            cells = pl.concat([mean.with_columns(together.alias(column)).select(cells.columns), cells])
    return cells


def matrix_means(matrix: pl.DataFrame) -> pl.DataFrame:
    """The text below a drawing of matrix(): the mean within a node and, if there are several nodes, the mean between
    nodes."""
    if matrix.is_empty():
        return matrix
    means = {
        name: pl.col("latency_ns").filter(pl.col("same_node") == same).mean().round_sig_figs(4)
        for name, same in (("same_node_ns", True), ("other_node_ns", False))
    }
    return matrix.group_by("point", "state", "home_node", maintain_order=True).agg(**means)


def series(results: Results, most: int = 400) -> pl.DataFrame:
    """series.csv, with each series reduced to at most `most` stretches of time. A stretch has its lowest, highest and
    mean value."""
    last = pl.col("time_us").max().over("point", "name")
    stretch = (pl.col("time_us") / last * (most - 1)).fill_nan(0).floor()
    return (
        results.series.with_columns(stretch=stretch)
        .group_by("point", "name", "stretch", maintain_order=True)
        .agg(
            (pl.col("time_us").min() / 1e6).alias("time_s"),
            pl.col("value").min().alias("low"),
            pl.col("value").max().alias("high"),
            pl.col("value").mean().round_sig_figs(6).alias("mean"),
        )
        .drop("stretch")
    )


def structures(lines: pl.DataFrame, most: int = 15) -> pl.DataFrame:
    """The structures with the most latency at each point, by source: total time in us and its share of all misses' time."""
    time = (pl.col("count") * pl.col("latency_ns_mean")).sum() / 1000
    by_source = lines.group_by("point", "structure", "source").agg(time.alias("time_us"))
    total = pl.col("time_us").sum().over("point", "structure")
    place = total.rank("dense", descending=True).over("point")
    share = 100 * pl.col("time_us") / pl.col("time_us").sum().over("point")
    return (
        by_source.with_columns(share_pct=share.round_sig_figs(5), place=place, total_us=total)
        .filter(pl.col("place") <= most)
        .sort("point", "place", "structure", "source")
        .select("point", "structure", "source", _rank(), pl.col("time_us").round_sig_figs(6), "share_pct")
    )


def homes(lines: pl.DataFrame) -> pl.DataFrame:
    """For each point and node: the misses on lines whose home is there, and how many came from other nodes' CPUs."""
    remote = (pl.col("count") * pl.col("remote_pct")).sum() / pl.col("count").sum()
    return (
        lines.group_by("point", "home")
        .agg(pl.col("count").sum().alias("misses"), remote.round_sig_figs(4).alias("remote_pct"))
        .sort("point", "home")
    )


def cpi(results: Results, most: int = 15) -> pl.DataFrame:
    """CPU time by part. Each CPU has a bar with shares of its own time. Each of the `most` costliest functions has a
    bar with shares of all CPUs' time. `rank` orders the parts within a bar."""
    parts = (
        results.cpi.drop("cycles")
        .unpivot(CPI_PARTS, index=["point", "cpu", "function"], variable_name="part", value_name="cycles")
        .filter(pl.col("cycles") > 0)
        .with_columns(rank=pl.col("part").replace_strict(CPI_PARTS, range(len(CPI_PARTS)), return_dtype=pl.Int64))
    )
    cpus = parts.select("point", "part", "rank", "cycles", of=pl.lit("cpu"), name=pl.col("cpu").cast(pl.String))
    functions = parts.select("point", "part", "rank", "cycles", of=pl.lit("function"), name="function")
    key = ["point", "of", "name"]
    all_cycles = (
        pl.when(pl.col("of") == "cpu")
        .then(pl.col("cycles").sum().over(key))
        .otherwise(pl.col("cycles").sum().over("point", "of"))
    )
    place = pl.col("cycles").sum().over(key).rank("dense", descending=True).over("point", "of")
    return (
        pl.concat([cpus, functions])
        .group_by(*key, "part", "rank")
        .agg(pl.col("cycles").sum())
        .with_columns(share_pct=(100 * pl.col("cycles") / all_cycles).round_sig_figs(5), place=place)
        .filter((pl.col("of") == "cpu") | (pl.col("place") <= most))
        .sort("point", "of", "place", pl.col("name").cast(pl.Int64, strict=False), "name", "rank")
        .drop("place")
    )


def cpi_functions(results: Results) -> pl.DataFrame:
    """The functions of each point: share of all CPUs' time, cycles per instruction, and the largest part."""
    parts = [pl.col(part).sum() for part in CPI_PARTS]
    sums = results.cpi.group_by("point", "function").agg(pl.col("instructions").sum(), pl.col("cycles").sum(), *parts)
    most = pl.max_horizontal(CPI_PARTS)
    part = pl.coalesce(pl.when(pl.col(name) == most).then(pl.lit(name)) for name in CPI_PARTS)
    return (
        sums.with_columns(
            share_pct=(100 * pl.col("cycles") / pl.col("cycles").sum().over("point")).round_sig_figs(5),
            cpi=pl.when(pl.col("instructions") > 0).then(pl.col("cycles") / pl.col("instructions")).round_sig_figs(4),
            most_part=part,
            most_pct=(100 * most / pl.col("cycles")).fill_nan(0).round_sig_figs(4),
        )
        .select("point", "function", "share_pct", "instructions", "cycles", "cpi", "most_part", "most_pct")
        .sort("point", -pl.col("share_pct"), "function")
    )


def subsystems(point: Point) -> list[dict[str, Any]]:
    """Each subsystem's share of misses and latency on the 500 costliest lines, largest first."""
    shares: dict[str, dict[str, float]] = {}
    for name, metric in point.metrics.items():
        head, _, column = name.rpartition(".")
        if head.startswith("subsystem.") and column in ("latency_pct", "misses_pct"):
            shares.setdefault(head.removeprefix("subsystem."), {})[column] = metric.value
    order = sorted(shares, key=lambda name: -shares[name].get("latency_pct", 0))
    labels = {"latency_pct": "latency", "misses_pct": "misses"}
    return [
        {"point": point.number, "subsystem": name, "of": labels[column], "share_pct": shares[name][column]}
        for name in order
        for column in labels
        if column in shares[name]
    ]


def paper_table(results: Results) -> list[dict[str, Any]]:
    """All paper rows as the page shows them. `source` says where the paper has the figure."""
    sources = {str(row.get("id")): row.get("source", "") for row in results.config.get("paper", [])}
    tables = {str(row.get("id")): row.get("source", "") for row in results.config.get("table", [])}
    shared = _shared_begin([row.id for row in results.paper])
    return [
        _paper_entry(row, sources.get(row.id) or _table_source(row.id, tables)) | {"label": row.id[shared:]}
        for row in results.paper
    ]


def _shared_begin(names: Sequence[str]) -> int:
    """The number of characters in the longest prefix of whole words, each with its dot, that all names share. Charts
    omit it from labels."""
    words = list(zip(*(name.split(".")[:-1] for name in names), strict=False))
    same = list(itertools.takewhile(lambda word: len(set(word)) == 1, words))
    return sum(len(word[0]) + 1 for word in same)


def _settings_text(at: At) -> str:
    return ", ".join(f"{path} = {shown_setting(value)}" for path, value in at.items())


def _table_source(row: str, tables: Mapping[str, str]) -> str:
    """The source of a row. A row of a measured table has its table's source; it is named TABLE.ROW."""
    found = [name for name in tables if row.startswith(name + ".")]
    return tables[max(found, key=len)] if found else ""


def _paper_entry(row: PaperRow, source: str) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": row.id,
        "kind": row.kind_text,
        "ok": row.ok,
        "unit": row.unit,
        "source": source,
        "at": _settings_text(row.at),
        "tolerance": _tolerance_text(row),
        "verdict": {True: "within", False: "off", None: "not scored"}[row.ok],
    }
    match row:
        case ValueRow():
            entry |= {"metric": row.metric, "paper": row.paper, "simulated": row.simulated, "ratio": row.ratio}
            entry |= {"paper_text": _with_unit(row.paper, row.unit), "simulated_text": _with_unit(row.simulated, row.unit)}
            entry |= {"chart": None, **_placed(row)}
            if row.of is not None:
                entry["metric"] += f" / {row.of}"
            if row.sign is not None and row.paper is None:
                entry |= {"paper_text": row.sign, "simulated_text": _sign_text(row)}
            if row.relative_to is not None:
                how = "minus" if row.difference else "relative to"
                entry["at"] = f"{entry['at']}; {how} that at {_settings_text(row.relative_to)}"
        case ShapeRow():
            entry |= {"metric": row.metric, "expected": f"{row.shape} over {row.over}", "series": list(row.simulated)}
        case OrderRow():
            entry |= {"metric": " < ".join(row.order), "expected": "rising", "series": list(row.simulated)}
    return entry


def _sign_text(row: ValueRow) -> str:
    if row.simulated_change is None:
        return "none" if row.simulated_sign is None else row.simulated_sign
    return f"{row.simulated_sign} ({100 * row.simulated_change:+.1f} %)"


def _with_unit(value: float | None, unit: str) -> str:
    return "none" if value is None else f"{value:.4g} {unit}".rstrip()


def _tolerance_text(row: PaperRow) -> str:
    if row.tolerance is not None:
        return f"± {100 * row.tolerance:g} %"
    if row.tolerance_abs is not None:
        unit = "points" if row.unit == "%" else row.unit
        return f"± {row.tolerance_abs:g} {unit}".rstrip()
    return ""


def _placed(row: ValueRow) -> dict[str, Any]:
    """Places a row in a chart against the paper. If the row's tolerance is in percentage points, its value is a
    difference, otherwise a ratio. A ratio beyond the axis is drawn as an arrow at the end."""
    if row.paper is None or row.simulated is None:
        return {}
    if row.tolerance_abs is not None and row.unit == "%":
        difference = float(f"{row.simulated - row.paper:.6g}")
        return {"chart": "points", "shown": difference, "outside": "", "low": -row.tolerance_abs, "high": row.tolerance_abs}
    if row.ratio is None or not row.paper:
        return {}
    low, high = RATIOS_SHOWN
    outside = "▶" if row.ratio > high else "◀" if row.ratio < low else ""
    half = row.tolerance if row.tolerance is not None else abs((row.tolerance_abs or 0) / row.paper)
    return {
        "chart": "ratios",
        "shown": min(max(row.ratio, low), high),
        "outside": outside,
        "low": min(max(1 - half, low), high),
        "high": min(1 + half, high),
    }
