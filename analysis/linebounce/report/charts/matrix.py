"""Core-to-core latencies as a heat map."""

import altair as alt

from linebounce.report.charts.base import Spec, chart, finished


def matrix() -> Spec:
    """What each CPU pays for a line of each other; CPUs of one node stand together."""
    tips = [
        alt.Tooltip("to_cpu:O", title="CPU that pays"),
        alt.Tooltip("from_cpu:O", title="CPU that had the line"),
        alt.Tooltip("latency_ns:Q", title="latency (ns)"),
    ]
    by_place = {end: alt.EncodingSortField(f"{end}_place", op="min") for end in ("from", "to")}
    columns = alt.Axis(orient="top", labelAngle=0, grid=False, labelOverlap="parity", labelSeparation=2)
    base = chart("matrix").encode(
        alt.X("to_cpu:O", title="CPU that pays", sort=by_place["to"], axis=columns),
        alt.Y("from_cpu:O", title="CPU that had the line", sort=by_place["from"], axis=alt.Axis(grid=False)),
        tooltip=tips,
    )
    # Digits enough for the ends of the scale, which are no round numbers.
    legend = alt.Legend(title="ns", gradientLength=160, format=",.4~r", tickCount=5)
    colour = alt.Color("latency_ns:Q", scale=alt.Scale(scheme="viridis"), legend=legend)
    cells = base.mark_rect(cornerRadius=2).encode(colour)
    # On the dark half of the colours in white, on the light one in black; none where cells are too narrow for three digits.
    size = alt.expr("bandwidth('x') < 22 ? 0 : 10")
    is_dark = "datum.latency_ns < (datum.least + datum.most) / 2"
    numbers = (
        base.transform_joinaggregate(least="min(latency_ns)", most="max(latency_ns)")
        .mark_text(fontSize=size)
        .encode(
            alt.Text("latency_ns:Q", format=".0f"), color=alt.condition(is_dark, alt.value("#ffffff"), alt.value("#000000"))
        )
    )
    return finished(cells + numbers, alt.Step(28))
