"""Cache lines: whose latency it is, and who has a line when."""

import altair as alt

from linebounce.report.charts.base import Spec, by_source, chart, finished, source_colour


def subsystems() -> Spec:
    """Misses and latency on the 500 costliest lines, by subsystem."""
    scale = alt.Scale(domain=["latency", "misses"], range=["#0072b2", "#56b4e9"])
    bars = chart("subsystems").mark_bar(cornerRadiusEnd=2)
    encoded = bars.encode(
        alt.X("share_pct:Q", title="share (%)", axis=alt.Axis(tickCount=8)),
        alt.Y("subsystem:N", sort=None, title=None, axis=alt.Axis(grid=False)),
        alt.Color("of:N", scale=scale, legend=alt.Legend(title=None, orient="top")),
        yOffset=alt.YOffset("of:N", sort=["latency", "misses"]),
        tooltip=["subsystem:N", "of:N", alt.Tooltip("share_pct:Q", title="share (%)", format=".3~g")],
    )
    return finished(encoded, alt.Step(15))


def structures() -> Spec:
    """Where the latency is: the costliest structures, by who supplied the data."""
    tips = ["structure:N", "source:N", alt.Tooltip("share_pct:Q", title="share (%)", format=".3~g"), "time_us:Q"]
    encoded = (
        chart("structures")
        .mark_bar()
        .encode(
            alt.X("share_pct:Q", title="share of all misses' latency (%)", stack="zero", axis=alt.Axis(tickCount=8)),
            alt.Y("structure:N", sort=None, title=None, axis=alt.Axis(grid=False, labelLimit=200)),
            source_colour(),
            order=by_source(),
            tooltip=tips,
        )
    )
    return finished(encoded, alt.Step(21))


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
        chart("ownership")
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
    return finished(encoded, alt.Step(18))
