"""The charts of miss latencies, by source."""

from linebounce.report.charts.base import Spec, by_source, chart, layer, number, source_colour, word

_LOG_TICKS = [digit * 10**power for power in range(6) for digit in (1, 1.5, 2, 3, 4, 5, 7)]
_FEWER_LOG_TICKS = [digit * 10**power for power in range(6) for digit in (1, 2, 5)]
# Ticks for the range of an axis: few if its ends differ by more than a factor of 20, more if they are closer, and only the
# two ends below a factor of 1.5.
_FITTED_LOG_TICKS = {
    "expr": f"domain('x')[1] > 20 * domain('x')[0] ? {_FEWER_LOG_TICKS}"
    f" : domain('x')[1] > 1.5 * domain('x')[0] ? {_LOG_TICKS} : domain('x')"
}


def _latency_axis(field: str, ticks: list[float] | Spec) -> Spec:
    axis = {"values": ticks, "format": ".4~s", "grid": False, "labelOverlap": "greedy", "labelSeparation": 6}
    return number(field, scale={"type": "log", "nice": False, "padding": 8}, axis=axis, title="latency (ns)")


def latency_histogram() -> Spec:
    """Misses by latency, stacked, with one colour for each source."""
    tips = [
        word("source"),
        number("low_ns", title="from (ns)", format=".4~g"),
        number("high_ns", title="to (ns)", format=".4~g"),
        number("share_pct", title="share (%)", format=".3~g"),
        number("count", format=","),
    ]
    encoding = {
        "x": _latency_axis("low_ns", _LOG_TICKS) | {"bin": "binned"},
        "x2": {"field": "high_ns"},
        "y": number("share_pct", title="share of misses (%)", stack="zero"),
        "color": source_colour(),
        "order": by_source(),
        "tooltip": tips,
    }
    return chart("latency_bins", layer("bar", encoding, binSpacing=0.5))


def _curve(y: Spec) -> Spec:
    tips = [
        word("source"),
        number("latency_ns", title="latency (ns)", format=".4~g"),
        number("at_most_pct", title="at most this (%)", format=".5~g"),
        number("more_pct", title="more than this (%)", format=".3~g"),
    ]
    encoding = {
        "x": _latency_axis("latency_ns", _FITTED_LOG_TICKS),
        "y": y,
        "color": source_colour(with_all=True),
        "strokeDash": {"condition": {"test": "datum.source == 'all'", "value": [5, 3]}, "value": [1, 0]},
        "tooltip": tips,
    }
    return chart("latency_curves", layer("line", encoding, interpolate="step-after", strokeWidth=2, clip=True))


def latency_cdf() -> Spec:
    """The cumulative share of a source's misses, up to each latency."""
    return _curve(number("at_most_pct", title="at most this long (%)", scale={"domain": [0, 100]}))


def latency_tail() -> Spec:
    """The slow end of the distribution on two logarithmic axes: which share of misses takes longer than each latency."""
    axis = {"values": [100 / 10**power for power in range(9)], "format": "~g"}
    scale = {"type": "log", "nice": False, "domainMax": 100}
    return _curve(number("more_pct", title="longer than this (%)", scale=scale, axis=axis))
