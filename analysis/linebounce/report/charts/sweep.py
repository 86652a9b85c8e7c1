"""A metric over a swept path."""

from typing import Any

from linebounce.report.charts.base import PLAIN_NUMBER, SHORT_NUMBER, Spec, chart, layer, number, word

# Styles for up to 21 series: seven colours, then the same colours with another dash. Neighbouring colours, which are Okabe
# and Ito's, also differ in lightness. Shapes repeat after six series.
_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#7f7f7f"]
_DASHES = [[1, 0], [7, 3], [2, 2]]
_SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross"]
_TOLD_APART = len(_COLOURS) * len(_DASHES)
SERIES_COLOURS = [_COLOURS[i % len(_COLOURS)] for i in range(_TOLD_APART)]
SERIES_DASHES = [_DASHES[i // len(_COLOURS)] for i in range(_TOLD_APART)]
SERIES_SHAPES = [_SHAPES[i % len(_SHAPES)] for i in range(_TOLD_APART)]

# Computes the ends of a row's interval, and drops rows without one.
_ENDS = ({"calculate": "datum.value - datum.ci95", "as": "low"}, {"calculate": "datum.value + datum.ci95", "as": "high"})
_HAS_INTERVAL = {"filter": "datum.ci95 > 0"}
_TIPS = [
    word("x", title="«x»"),
    word("series", title="«series»"),
    number("value", title="«y»", format=".5~g"),
    number("ci95", title="±", format=".3~g"),
    word("point"),
]


def _by_series(values: list[Any], legend: Spec | None) -> Spec:
    """Channels with the same field and title share one legend."""
    return word("series", sort=None, title="«series»", scale={"range": values}, legend=legend)


def sweep_line() -> Spec:
    """A metric over a swept number: one line for each value of another path, with the interval over seeds."""
    legend = {"orient": "top", "columns": 0, "symbolSize": 110, "symbolStrokeWidth": 2}
    # Puts a tick at each value that was run. Labels are dropped where values are too close together.
    ticks = {"grid": False, "labelExpr": PLAIN_NUMBER, "labelOverlap": "greedy", "labelSeparation": 6}
    scale = {"type": "«x_scale»", "nice": False, "padding": 12}
    base = {"x": number("x", title="«x»", axis=ticks, scale=scale), "color": _by_series(SERIES_COLOURS, legend)}
    value = base | {"y": number("value", title="«y»", axis={"labelExpr": SHORT_NUMBER})}
    interval = base | {"y": number("low", title="«y»"), "y2": {"field": "high"}}
    dots = value | {"shape": _by_series(SERIES_SHAPES, legend), "tooltip": _TIPS}
    return chart(
        "sweep",
        layer("errorbar", interval, *_ENDS, _HAS_INTERVAL, ticks=True, thickness=1.2),
        layer("line", value | {"strokeDash": _by_series(SERIES_DASHES, legend)}, *_ENDS, strokeWidth=2),
        layer("point", dots, *_ENDS, size=62, filled=True, opacity=1),
        height=320,
    )


def sweep_bars() -> Spec:
    """A bar for each value of a swept word, the highest first. With several series, bars stand side by side, each with
    its name."""
    highest_first = {"field": "value", "op": "max", "order": "descending"}
    base = {
        "y": word("x", title=None, sort=highest_first, axis={"grid": False, "labelLimit": 200}),
        "yOffset": word("series", sort=None),
    }
    value = number("value", title="«y»", axis={"labelExpr": SHORT_NUMBER, "tickCount": 8})
    bars = base | {"x": value, "color": _by_series(SERIES_COLOURS, None), "tooltip": _TIPS}
    interval = base | {"x": number("low", title="«y»"), "x2": {"field": "high"}}
    words = "(datum.series ? datum.series + ': ' : '') + format(datum.value, abs(datum.value) < 1000 ? '.4~g' : '.4~s')"
    names = base | {"x": number("high"), "text": word("words")}
    return chart(
        "sweep",
        layer("bar", bars, *_ENDS, cornerRadiusEnd=2),
        layer("errorbar", interval, *_ENDS, _HAS_INTERVAL, ticks=True),
        layer("text", names, *_ENDS, {"calculate": words, "as": "words"}, align="left", dx=6, fontSize=11),
        # Extends the axis beyond the longest bar to make room for its name.
        layer("point", base | {"x": number("end")}, *_ENDS, {"calculate": "1.15 * datum.high", "as": "end"}, opacity=0),
        step=18,
    )
