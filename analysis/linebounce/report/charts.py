"""The charts, as Vega-Lite made by Altair, each with the name of the table that it is drawn from.

The page puts the chosen rows into a chart's table and embeds it; `--figures` does the same without a page. Colours are those of
Okabe and Ito, which people with any colour vision tell apart: blue for what is near, orange for what is far.
"""

import json
from collections.abc import Mapping
from typing import Any

import altair as alt

COLOURS = {
    "local_c2c": "#0072b2",
    "local_memory": "#56b4e9",
    "node_cache": "#009e73",
    "remote_memory": "#e69f00",
    "remote_c2c": "#d55e00",
    "upgrade": "#cc79a7",
}
LABELS = {
    "local_c2c": "cache, same node",
    "local_memory": "memory, same node",
    "node_cache": "node's own cache",
    "remote_memory": "memory, other node",
    "remote_c2c": "cache, other node",
    "upgrade": "upgrade",
    "all": "all",
}
# For any other row of things: Okabe and Ito's again, so ordered that neighbours differ in lightness, too.
SERIES = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#7f7f7f", "#b8a200", "#5b4a9c", "#8c564b"]
ALL_COLOUR = "#404448"
_LOG_TICKS = [digit * 10**power for power in range(6) for digit in (1, 1.5, 2, 3, 4, 5, 7)]
_FEWER_LOG_TICKS = [digit * 10**power for power in range(6) for digit in (1, 2, 5)]

# Beyond these a ratio is an arrow at the end of the axis.
RATIOS_SHOWN = (0.25, 4.0)

Spec = dict[str, Any]


def _source_colour(*, with_all: bool = False, legend: bool = True) -> alt.Color:
    names = (["all"] if with_all else []) + list(COLOURS)
    colours = ([ALL_COLOUR] if with_all else []) + list(COLOURS.values())
    label = alt.Legend(title=None, orient="top", columns=0, labelExpr=_label_expression()) if legend else None
    return alt.Color("source:N", scale=alt.Scale(domain=names, range=colours), legend=label, sort=names)


def _label_expression() -> str:
    pairs = ", ".join(f"'{name}': '{label}'" for name, label in LABELS.items()).replace("node's", "node\\'s")
    return f"{{{pairs}}}[datum.value] || datum.value"


def _latency_axis(field: str, ticks: list[float]) -> alt.X:
    axis = alt.Axis(values=ticks, format="~s", grid=False, labelOverlap="greedy", labelSeparation=6)
    return alt.X(f"{field}:Q", scale=alt.Scale(type="log", nice=False, padding=8), axis=axis, title="latency (ns)")


def _chart(table: str) -> alt.Chart:
    return alt.Chart(alt.NamedData(table))


def _finished(chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: int | alt.Step = 260) -> Spec:
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    spec: Spec = chart.properties(width="container", height=height, autosize=fit).to_dict()
    return spec


def _by_source() -> alt.Order:
    """Stacks sources in the order of the colours, as `rank` says it."""
    return alt.Order("rank:Q")


def latency_histogram() -> Spec:
    """Misses by latency, one colour a source, stacked."""
    bars = _chart("latency_bins").mark_bar(binSpacing=0.5)
    tips = [
        alt.Tooltip("source:N"),
        alt.Tooltip("low_ns:Q", title="from (ns)", format=".4~g"),
        alt.Tooltip("high_ns:Q", title="to (ns)", format=".4~g"),
        alt.Tooltip("share_pct:Q", title="share (%)", format=".3~g"),
        alt.Tooltip("count:Q", format=","),
    ]
    encoded = bars.encode(
        _latency_axis("low_ns", _LOG_TICKS).bin("binned"),
        alt.X2("high_ns:Q"),
        alt.Y("share_pct:Q", title="share of misses (%)", stack="zero"),
        _source_colour(),
        order=_by_source(),
        tooltip=tips,
    )
    return _finished(encoded)


def _curve(y: alt.Y) -> Spec:
    tips = [
        alt.Tooltip("source:N"),
        alt.Tooltip("latency_ns:Q", title="latency (ns)", format=".4~g"),
        alt.Tooltip("at_most_pct:Q", title="at most this (%)", format=".5~g"),
        alt.Tooltip("more_pct:Q", title="more than this (%)", format=".3~g"),
    ]
    lines = _chart("latency_curves").mark_line(interpolate="step-after", strokeWidth=2, clip=True)
    encoded = lines.encode(
        _latency_axis("latency_ns", _FEWER_LOG_TICKS),
        y,
        _source_colour(with_all=True),
        strokeDash=alt.condition("datum.source == 'all'", alt.value([5, 3]), alt.value([1, 0])),
        tooltip=tips,
    )
    return _finished(encoded)


def latency_cdf() -> Spec:
    """Cumulative: which share of a source's misses takes at most so long."""
    return _curve(alt.Y("at_most_pct:Q", title="at most this long (%)", scale=alt.Scale(domain=[0, 100])))


def latency_tail() -> Spec:
    """The other end, both axes logarithmic: which share takes longer than that."""
    axis = alt.Axis(values=[100 / 10**power for power in range(9)], format="~g")
    scale = alt.Scale(type="log", nice=False, domainMax=100)
    return _curve(alt.Y("more_pct:Q", title="longer than this (%)", scale=scale, axis=axis))


def _against_paper(table: str, axis: alt.Axis, scale: alt.Scale, title: str, exact: float) -> Spec:
    """A dot for each row, on the bar of its tolerance. What lies outside of the axis is an arrow at its end."""
    rows = alt.Y("id:N", sort=None, title=None, axis=alt.Axis(labelLimit=330, grid=False))
    base = _chart(table)
    verdict = alt.Color(
        "verdict:N",
        scale=alt.Scale(domain=["within tolerance", "miss", "not scored"], range=["#009e73", "#d55e00", "#7f7f7f"]),
        legend=alt.Legend(title=None, orient="top"),
    )
    shape = alt.Shape(
        "kind:N",
        scale=alt.Scale(domain=["predicted", "calibrated", "definition"], range=["circle", "square", "diamond"]),
        legend=alt.Legend(title=None, orient="top", symbolFillColor="#7f7f7f", symbolStrokeColor="#7f7f7f"),
    )
    tips = [
        alt.Tooltip("id:N", title="figure"),
        alt.Tooltip("paper_text:N", title="paper"),
        alt.Tooltip("simulated_text:N", title="simulated"),
        alt.Tooltip("tolerance:N"),
        alt.Tooltip("verdict:N"),
        alt.Tooltip("kind:N"),
    ]
    tolerance = base.mark_bar(height=10, opacity=0.28, clip=True, color="#8a9099", cornerRadius=2)
    dots = base.transform_filter("datum.outside == ''").mark_point(filled=True, size=58, opacity=1)
    arrows = base.transform_filter("datum.outside != ''").mark_text(fontSize=12, fontWeight="bold")
    marks = [
        tolerance.encode(alt.X("low:Q", scale=scale, axis=axis, title=title), alt.X2("high:Q"), rows),
        base.mark_rule(strokeDash=[3, 3], color="#8a9099").encode(alt.XDatum(exact)),
        dots.encode(alt.X("shown:Q"), rows, verdict, shape, tooltip=tips),
        arrows.encode(alt.X("shown:Q"), rows, verdict, text="outside:N", tooltip=tips),
    ]
    return _finished(alt.layer(*marks), alt.Step(17))


def paper_ratios() -> Spec:
    """Simulated / paper on a logarithmic axis."""
    axis = alt.Axis(values=[0.25, 0.5, 0.8, 1, 1.25, 2, 4], format=".3~g", orient="top", gridOpacity=0.6)
    scale = alt.Scale(type="log", domain=list(RATIOS_SHOWN), nice=False)
    return _against_paper("paper_ratios", axis, scale, "simulated / paper", 1)


def paper_points() -> Spec:
    """Simulated - paper, of shares whose tolerance is in points of a percentage."""
    axis = alt.Axis(orient="top", gridOpacity=0.6, format="+~g", tickCount=9)
    return _against_paper("paper_points", axis, alt.Scale(nice=True), "simulated - paper (points of a percentage)", 0)


def matrix() -> Spec:
    """What each CPU pays for a line of each other."""
    tips = [
        alt.Tooltip("from_cpu:O", title="from CPU"),
        alt.Tooltip("to_cpu:O", title="to CPU"),
        alt.Tooltip("latency_ns:Q", title="latency (ns)"),
    ]
    base = _chart("matrix").encode(
        alt.X("to_cpu:O", title="to CPU", axis=alt.Axis(orient="top", labelAngle=0, grid=False)),
        alt.Y("from_cpu:O", title="from CPU", axis=alt.Axis(grid=False)),
        tooltip=tips,
    )
    colour = alt.Color("latency_ns:Q", scale=alt.Scale(scheme="viridis"), legend=alt.Legend(title="ns", gradientLength=160))
    return _finished(base.mark_rect(cornerRadius=2).encode(colour), alt.Step(26))


def _value_tips() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("x:N", title="«x»"),
        alt.Tooltip("series:N", title="«series»"),
        alt.Tooltip("value:Q", title="«y»", format=".5~g"),
        alt.Tooltip("ci95:Q", title="±", format=".3~g"),
        alt.Tooltip("point:N"),
    ]


def _series_colour() -> alt.Color:
    return alt.Color(
        "series:N", sort=None, title="«series»", scale=alt.Scale(range=SERIES), legend=alt.Legend(orient="top", columns=0)
    )


_HAS_INTERVAL = "datum.ci95 > 0"


def sweep_line() -> Spec:
    """A metric over a swept number, one line for each value of another path, with the interval of the seeds."""
    base = _chart("sweep").encode(alt.X("x:Q", title="«x»", axis=alt.Axis(grid=False, format="~g")), _series_colour())
    band = (
        base.transform_filter(_HAS_INTERVAL)
        .mark_errorbar(ticks=True, thickness=1.2)
        .encode(alt.Y("low:Q", title="«y»"), alt.Y2("high:Q"))
    )
    line = base.mark_line(point=alt.OverlayMarkDef(size=46, filled=True), strokeWidth=2).encode(
        alt.Y("value:Q", title="«y»", axis=alt.Axis(format="~s")), tooltip=_value_tips()
    )
    return _finished(band + line, 300)


def sweep_bars() -> Spec:
    """A metric for each value of a swept word."""
    base = _chart("sweep").encode(
        alt.Y("x:N", title=None, sort=None, axis=alt.Axis(grid=False, labelLimit=200)),
        yOffset=alt.YOffset("series:N", sort=None),
    )
    bars = base.mark_bar(cornerRadiusEnd=2).encode(
        alt.X("value:Q", title="«y»", axis=alt.Axis(format="~s", tickCount=8)), _series_colour(), tooltip=_value_tips()
    )
    spread = (
        base.transform_filter(_HAS_INTERVAL).mark_errorbar(ticks=True).encode(alt.X("low:Q", title="«y»"), alt.X2("high:Q"))
    )
    return _finished(bars + spread, alt.Step(18))


def subsystems() -> Spec:
    """Misses and latency on the 500 costliest lines, by subsystem."""
    scale = alt.Scale(domain=["latency", "misses"], range=["#0072b2", "#56b4e9"])
    bars = _chart("subsystems").mark_bar(cornerRadiusEnd=2)
    encoded = bars.encode(
        alt.X("share_pct:Q", title="share (%)", axis=alt.Axis(tickCount=8)),
        alt.Y("subsystem:N", sort=None, title=None, axis=alt.Axis(grid=False)),
        alt.Color("of:N", scale=scale, legend=alt.Legend(title=None, orient="top")),
        yOffset=alt.YOffset("of:N", sort=["latency", "misses"]),
        tooltip=["subsystem:N", "of:N", alt.Tooltip("share_pct:Q", title="share (%)", format=".3~g")],
    )
    return _finished(encoded, alt.Step(15))


def structures() -> Spec:
    """Where the latency is: the costliest structures, by who supplied the data."""
    tips = ["structure:N", "source:N", alt.Tooltip("share_pct:Q", title="share (%)", format=".3~g"), "time_us:Q"]
    encoded = (
        _chart("structures")
        .mark_bar()
        .encode(
            alt.X("share_pct:Q", title="share of all misses' latency (%)", stack="zero", axis=alt.Axis(tickCount=8)),
            alt.Y("structure:N", sort=None, title=None, axis=alt.Axis(grid=False, labelLimit=200)),
            _source_colour(),
            order=_by_source(),
            tooltip=tips,
        )
    )
    return _finished(encoded, alt.Step(21))


def ownership() -> Spec:
    """Which CPUs own or share a line over time, a row for each CPU."""
    scale = alt.Scale(domain=["owns", "shares"], range=["#d55e00", "#56b4e9"])
    tips = [
        alt.Tooltip("cpu:O", title="CPU"),
        alt.Tooltip("state:N"),
        alt.Tooltip("from_us:Q", title="from (µs)", format=",.3f"),
        alt.Tooltip("to_us:Q", title="to (µs)", format=",.3f"),
        alt.Tooltip("by:N", title="by"),
    ]
    encoded = (
        _chart("ownership")
        .mark_bar(height=alt.RelativeBandSize(band=0.86))
        .encode(
            alt.X(
                "from_us:Q",
                title="time (µs)",
                scale=alt.Scale(zero=False, nice=False),
                axis=alt.Axis(tickCount=8, format=",~f"),
            ),
            alt.X2("to_us:Q"),
            alt.Y("cpu:O", title="CPU", axis=alt.Axis(grid=False)),
            alt.Color("state:N", scale=scale, legend=alt.Legend(title=None, orient="top")),
            tooltip=tips,
        )
    )
    return _finished(encoded, alt.Step(18))


# By the name of the place on the page, and of the figure's file.
CHARTS = {
    "paper_ratios": paper_ratios,
    "paper_points": paper_points,
    "latency_histogram": latency_histogram,
    "latency_cdf": latency_cdf,
    "latency_tail": latency_tail,
    "matrix": matrix,
    "sweep_line": sweep_line,
    "sweep_bars": sweep_bars,
    "subsystems": subsystems,
    "structures": structures,
    "ownership": ownership,
}


def with_rows(spec: Spec, table: str, rows: list[dict[str, Any]], words: Mapping[str, str]) -> Spec:
    """A chart with its data; words stand in for its «placeholders». Legends name only what is there.

    The page does the same in templates/charts.js.
    """
    text = json.dumps(spec, ensure_ascii=False)
    for word, value in words.items():
        text = text.replace(f"«{word}»", json.dumps(value, ensure_ascii=False)[1:-1])
    filled: Spec = json.loads(text) | {"datasets": {table: rows}}
    for part in [filled, *filled.get("layer", [])]:
        encoding = part.get("encoding", {})
        if encoding.get("x", {}).get("field") == "x":
            encoding["x"].setdefault("axis", {})["values"] = list(dict.fromkeys(row["x"] for row in rows))
        for channel in ("color", "shape"):
            coloured = encoding.get(channel, {})
            if coloured.get("legend") and coloured.get("type") == "nominal":
                present = list(dict.fromkeys(row[coloured["field"]] for row in rows))
                domain = coloured.get("scale", {}).get("domain", present)
                coloured["legend"]["values"] = [value for value in domain if value in present]
                if present == [""]:  # nothing has been chosen for the colours
                    coloured["legend"] = None
    return filled
