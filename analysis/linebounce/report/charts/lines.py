"""The charts of cache lines: which structures cause latency, and which CPUs hold a line over time."""

from linebounce.report.charts.base import ON_TOP, Spec, by_source, chart, colours, layer, number, rank, source_colour, word


def subsystems() -> Spec:
    """Misses and latency on the 500 costliest lines, by subsystem."""
    encoding = {
        "x": number("share_pct", title="share (%)", axis={"tickCount": 8}),
        "y": word("subsystem", sort=None, title=None, axis={"grid": False}),
        "yOffset": word("of", sort=["latency", "misses"]),
        "color": word("of", scale=colours({"latency": "#0072b2", "misses": "#56b4e9"}), legend=ON_TOP),
        "tooltip": [word("subsystem"), word("of"), number("share_pct", title="share (%)", format=".3~g")],
    }
    return chart("subsystems", layer("bar", encoding, cornerRadiusEnd=2), step=15)


def structures() -> Spec:
    """The costliest structures, by source."""
    tips = [
        word("structure"),
        word("source"),
        number("share_pct", title="share (%)", format=".3~g"),
        number("time_us", title="latency (µs)"),
    ]
    encoding = {
        "x": number("share_pct", title="share of all misses' latency (%)", stack="zero", axis={"tickCount": 8}),
        "y": word("structure", sort=None, title=None, axis={"grid": False, "labelLimit": 200}),
        "color": source_colour(),
        "order": by_source(),
        "tooltip": tips,
    }
    return chart("structures", layer("bar", encoding), step=21)


def ownership() -> Spec:
    """Which CPUs own or share a line over time, one row for each CPU."""
    tips = [
        rank("cpu", title="CPU"),
        word("state"),
        number("from_us", title="from (µs)", format=",.3f"),
        number("to_us", title="to (µs)", format=",.3f"),
        word("by", title="by"),
    ]
    axis = {"tickCount": 8, "format": ",~f"}
    encoding = {
        "x": number("from_us", title="time (µs)", scale={"zero": False, "nice": False}, axis=axis),
        "x2": {"field": "to_us"},
        "y": rank("cpu", title="CPU", axis={"grid": False}),
        "color": word("state", scale=colours({"owns": "#d55e00", "shares": "#56b4e9"}), legend=ON_TOP),
        "tooltip": tips,
    }
    return chart("ownership", layer("bar", encoding, height={"band": 0.86}), step=18)
