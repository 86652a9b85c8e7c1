"""How long misses took, by who supplied the data."""

import altair as alt

from linebounce.report.charts.base import Spec, by_source, chart, finished, source_colour

_LOG_TICKS = [digit * 10**power for power in range(6) for digit in (1, 1.5, 2, 3, 4, 5, 7)]
_FEWER_LOG_TICKS = [digit * 10**power for power in range(6) for digit in (1, 2, 5)]
# Where the axis is narrow: few ticks, but more than one or two where the latencies are near each other. Where all are the same
# every tick would stand in that one place: it has the latency itself.
_FITTED_LOG_TICKS = alt.ExprRef(
    f"domain('x')[1] > 20 * domain('x')[0] ? {_FEWER_LOG_TICKS}"
    f" : domain('x')[1] > 1.5 * domain('x')[0] ? {_LOG_TICKS} : domain('x')"
)


def _latency_axis(field: str, ticks: list[float] | alt.ExprRef) -> alt.X:
    axis = alt.Axis(values=ticks, format=".4~s", grid=False, labelOverlap="greedy", labelSeparation=6)
    return alt.X(f"{field}:Q", scale=alt.Scale(type="log", nice=False, padding=8), axis=axis, title="latency (ns)")


def latency_histogram() -> Spec:
    """Misses by latency, one colour a source, stacked."""
    bars = chart("latency_bins").mark_bar(binSpacing=0.5)
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
        source_colour(),
        order=by_source(),
        tooltip=tips,
    )
    return finished(encoded)


def _curve(y: alt.Y) -> Spec:
    tips = [
        alt.Tooltip("source:N"),
        alt.Tooltip("latency_ns:Q", title="latency (ns)", format=".4~g"),
        alt.Tooltip("at_most_pct:Q", title="at most this (%)", format=".5~g"),
        alt.Tooltip("more_pct:Q", title="more than this (%)", format=".3~g"),
    ]
    lines = chart("latency_curves").mark_line(interpolate="step-after", strokeWidth=2, clip=True)
    encoded = lines.encode(
        _latency_axis("latency_ns", _FITTED_LOG_TICKS),
        y,
        source_colour(with_all=True),
        strokeDash=alt.condition("datum.source == 'all'", alt.value([5, 3]), alt.value([1, 0])),
        tooltip=tips,
    )
    return finished(encoded)


def latency_cdf() -> Spec:
    """Cumulative: which share of a source's misses takes at most so long."""
    return _curve(alt.Y("at_most_pct:Q", title="at most this long (%)", scale=alt.Scale(domain=[0, 100])))


def latency_tail() -> Spec:
    """The other end, both axes logarithmic: which share takes longer than that."""
    axis = alt.Axis(values=[100 / 10**power for power in range(9)], format="~g")
    scale = alt.Scale(type="log", nice=False, domainMax=100)
    return _curve(alt.Y("more_pct:Q", title="longer than this (%)", scale=scale, axis=axis))
