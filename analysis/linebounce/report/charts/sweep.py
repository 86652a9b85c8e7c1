"""A metric over a swept path."""

from typing import Any

import altair as alt

from linebounce.report.charts.base import PLAIN_NUMBER, SHORT_NUMBER, Spec, chart, finished

# What tells 21 series apart: Okabe and Ito's colours, so ordered that neighbours differ in lightness, too. When they begin
# again, the dash is another one; there are six shapes, so that the shape differs, too, wherever a colour comes back.
_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#7f7f7f"]
_DASHES = [[1, 0], [7, 3], [2, 2]]
_SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross"]
_TOLD_APART = len(_COLOURS) * len(_DASHES)
SERIES_COLOURS = [_COLOURS[i % len(_COLOURS)] for i in range(_TOLD_APART)]
SERIES_DASHES = [_DASHES[i // len(_COLOURS)] for i in range(_TOLD_APART)]
SERIES_SHAPES = [_SHAPES[i % len(_SHAPES)] for i in range(_TOLD_APART)]

_HAS_INTERVAL = "datum.ci95 > 0"


def _tips() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("x:N", title="«x»"),
        alt.Tooltip("series:N", title="«series»"),
        alt.Tooltip("value:Q", title="«y»", format=".5~g"),
        alt.Tooltip("ci95:Q", title="±", format=".3~g"),
        alt.Tooltip("point:N"),
    ]


def _by_series(channel: type[alt.Color | alt.StrokeDash | alt.Shape], values: list[Any], **more: Any) -> Any:
    """Channels of one field and one title share one legend."""
    return channel("series:N", sort=None, title="«series»", scale=alt.Scale(range=values), **more)


def _with_ends() -> alt.Chart:
    """The rows with the ends of their interval."""
    return chart("sweep").transform_calculate(low="datum.value - datum.ci95", high="datum.value + datum.ci95")


def sweep_line() -> Spec:
    """A metric over a swept number, one line for each value of another path, with the interval of the seeds."""
    legend = alt.Legend(orient="top", columns=0, symbolSize=110, symbolStrokeWidth=2)
    x = alt.X("x:Q", title="«x»", axis=_numbers())
    y = alt.Y("value:Q", title="«y»", axis=alt.Axis(labelExpr=SHORT_NUMBER))
    base = _with_ends().encode(x, _by_series(alt.Color, SERIES_COLOURS, legend=legend))
    interval = (
        base.transform_filter(_HAS_INTERVAL)
        .mark_errorbar(ticks=True, thickness=1.2)
        .encode(alt.Y("low:Q", title="«y»"), alt.Y2("high:Q"))
    )
    line = base.mark_line(strokeWidth=2).encode(y, _by_series(alt.StrokeDash, SERIES_DASHES, legend=legend))
    dots = base.mark_point(size=62, filled=True, opacity=1).encode(
        y, _by_series(alt.Shape, SERIES_SHAPES, legend=legend), tooltip=_tips()
    )
    return finished(interval + line + dots, 320)


def sweep_bars() -> Spec:
    """A metric for each value of a swept word, the highest first; several series beside each other, each bar with its name."""
    base = _with_ends().encode(
        alt.Y("x:N", title=None, sort=alt.EncodingSortField("value", op="max", order="descending"), axis=_words()),
        yOffset=alt.YOffset("series:N", sort=None),
    )
    x = alt.X("value:Q", title="«y»", axis=alt.Axis(labelExpr=SHORT_NUMBER, tickCount=8))
    colour = _by_series(alt.Color, SERIES_COLOURS, legend=None)
    bars = base.mark_bar(cornerRadiusEnd=2).encode(x, colour, tooltip=_tips())
    interval = (
        base.transform_filter(_HAS_INTERVAL).mark_errorbar(ticks=True).encode(alt.X("low:Q", title="«y»"), alt.X2("high:Q"))
    )
    words = "(datum.series ? datum.series + ': ' : '') + format(datum.value, abs(datum.value) < 1000 ? '.4~g' : '.4~s')"
    names = (
        base.transform_calculate(words=words)
        .mark_text(align="left", dx=6, fontSize=11)
        .encode(alt.X("high:Q"), alt.Text("words:N"))
    )
    # The axis goes on behind the longest bar, where its name stands.
    room = base.transform_calculate(end="1.15 * datum.high").mark_point(opacity=0).encode(alt.X("end:Q"))
    return finished(bars + interval + names + room, alt.Step(18))


def _numbers() -> alt.Axis:
    """Ticks at the values that were run, which may lie near each other."""
    return alt.Axis(grid=False, labelExpr=PLAIN_NUMBER, labelOverlap="greedy", labelSeparation=6)


def _words() -> alt.Axis:
    return alt.Axis(grid=False, labelLimit=200)
