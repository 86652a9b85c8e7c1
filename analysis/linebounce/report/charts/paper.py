"""Simulated figures against those of a paper."""

import altair as alt

from linebounce.report.charts.base import SIGNED_NUMBER, Spec, chart, finished

# Beyond these a ratio is an arrow at the end of the axis.
RATIOS_SHOWN = (0.25, 4.0)


def _against_paper(table: str, axis: alt.Axis, scale: alt.Scale, title: str, exact: float) -> Spec:
    """A dot for each row, on the bar of its tolerance. What lies outside of the axis is an arrow at its end."""
    rows = alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=330, grid=False))
    base = chart(table)
    verdict = alt.Color(
        "verdict:N",
        scale=alt.Scale(domain=["within tolerance", "miss", "not scored"], range=["#009e73", "#d55e00", "#7f7f7f"]),
        legend=alt.Legend(title=None, orient="top"),
    )
    shape = alt.Shape(
        "kind:N",
        scale=alt.Scale(
            domain=["predicted", "in sight", "calibrated", "definition"], range=["circle", "triangle-up", "square", "diamond"]
        ),
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
    return finished(alt.layer(*marks), alt.Step(17))


def paper_ratios() -> Spec:
    """Simulated / paper on a logarithmic axis."""
    axis = alt.Axis(values=[0.25, 0.5, 0.8, 1, 1.25, 2, 4], format=".3~g", orient="top", gridOpacity=0.6)
    scale = alt.Scale(type="log", domain=list(RATIOS_SHOWN), nice=False)
    return _against_paper("paper_ratios", axis, scale, "simulated / paper", 1)


def paper_points() -> Spec:
    """Simulated - paper, of shares whose tolerance is in points of a percentage."""
    axis = alt.Axis(orient="top", gridOpacity=0.6, labelExpr=SIGNED_NUMBER, tickCount=9)
    return _against_paper("paper_points", axis, alt.Scale(nice=True), "simulated - paper (percentage points)", 0)
