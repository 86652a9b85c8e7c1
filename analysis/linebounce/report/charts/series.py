"""A quantity over simulated time."""

from linebounce.report.charts.base import COLOURS, SHORT_NUMBER, Spec, chart, layer, number

_SECONDS = "datum.value == 0 ? '0' : format(datum.value, '.6~s') + 's'"


def series() -> Spec:
    """One quantity: a band from its lowest to its highest value in each stretch of time, and a line for its mean.
    `last`: the end of the time axis, the same for all series of a point."""
    tips = [number("time_s", title="time (s)", format=".6~g"), number("low"), number("mean", format=".6~g"), number("high")]
    scale = {"nice": False, "domainMin": 0, "domainMax": {"expr": "«last»"}}
    time = number("time_s", title="simulated time", scale=scale, axis={"labelExpr": _SECONDS})
    value = number("high", title="«name»", axis={"labelExpr": SHORT_NUMBER, "tickCount": 4})
    blue = COLOURS["local_c2c"]
    band = layer("area", {"x": time, "y": value, "y2": {"field": "low"}, "tooltip": tips}, color=blue, opacity=0.35)
    line = layer("line", {"x": time, "y": number("mean"), "tooltip": tips}, color=blue, strokeWidth=1.2)
    return chart("series", band, line, height=110)
