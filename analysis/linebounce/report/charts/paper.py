"""The charts of simulated figures against a paper's."""

from linebounce.report.charts.base import ON_TOP, SIGNED_NUMBER, Spec, chart, colours, layer, number, word

# Simulated / paper; a ratio outside this range is drawn as an arrow at the end of the axis.
RATIOS_SHOWN = (0.25, 4.0)
_SHAPES = {"predicted": "circle", "in sight": "triangle-up", "calibrated": "square", "input": "diamond"}
_VERDICTS = {"within": "#009e73", "off": "#d55e00", "not scored": "#7f7f7f"}


def _against_paper(table: str, axis: Spec, scale: Spec, title: str, exact: float) -> Spec:
    """A dot for each row on a bar that shows the row's tolerance. A value beyond the axis is an arrow at its end."""
    rows = {"y": word("label", sort=None, title=None, axis={"labelLimit": 330, "grid": False})}
    verdict = word("verdict", scale=colours(_VERDICTS), legend=ON_TOP)
    grey = {"symbolFillColor": "#7f7f7f", "symbolStrokeColor": "#7f7f7f"}
    shape = word("kind", scale=colours(_SHAPES), legend=ON_TOP | grey)
    tips = [
        word("id", title="figure"),
        word("paper_text", title="paper"),
        word("simulated_text", title="simulated"),
        word("tolerance"),
        word("verdict"),
        word("kind"),
    ]
    bounds = {"x": number("low", scale=scale, axis=axis, title=title), "x2": {"field": "high"}}
    shown = {"x": number("shown"), **rows, "color": verdict, "tooltip": tips}
    inside, outside = {"filter": "datum.outside == ''"}, {"filter": "datum.outside != ''"}
    return chart(
        table,
        layer("bar", bounds | rows, height=10, opacity=0.28, clip=True, color="#8a9099", cornerRadius=2),
        layer("rule", {"x": {"datum": exact}}, strokeDash=[3, 3], color="#8a9099"),
        layer("point", shown | {"shape": shape}, inside, filled=True, size=58, opacity=1),
        layer("text", shown | {"text": word("outside")}, outside, fontSize=12, fontWeight="bold"),
        step=17,
    )


def paper_ratios() -> Spec:
    """Simulated / paper, on a logarithmic axis."""
    apart = {"labelOverlap": "greedy", "labelSeparation": 6}
    axis = {"values": [0.25, 0.5, 0.8, 1, 1.25, 2, 4], "format": ".3~g", "orient": "top", "gridOpacity": 0.6, **apart}
    scale = {"type": "log", "domain": list(RATIOS_SHOWN), "nice": False}
    return _against_paper("paper_ratios", axis, scale, "simulated / paper", 1)


def paper_points() -> Spec:
    """Simulated - paper, in percentage points, for shares whose tolerance is in percentage points."""
    axis = {"orient": "top", "gridOpacity": 0.6, "labelExpr": SIGNED_NUMBER, "tickCount": 9}
    return _against_paper("paper_points", axis, {"nice": True}, "simulated - paper (percentage points)", 0)
