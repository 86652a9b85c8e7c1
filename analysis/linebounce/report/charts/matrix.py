"""Core-to-core latencies as a heat map."""

from linebounce.report.charts.base import Spec, chart, layer, number, rank


def matrix() -> Spec:
    """A row for each CPU that had the line, a column for each CPU that pays to get it. CPUs of one node are adjacent."""
    by_place = {end: {"field": f"{end}_place", "op": "min"} for end in ("from", "to")}
    columns = {"orient": "top", "labelAngle": 0, "grid": False, "labelOverlap": "parity", "labelSeparation": 2}
    tips = [
        rank("to_cpu", title="CPU that pays"),
        rank("from_cpu", title="CPU that had the line"),
        number("latency_ns", title="latency (ns)"),
    ]
    place = {
        "x": rank("to_cpu", title="CPU that pays", sort=by_place["to"], axis=columns),
        "y": rank("from_cpu", title="CPU that had the line", sort=by_place["from"], axis={"grid": False}),
        "tooltip": tips,
    }
    # Three or more digits, because the ends of the scale are not round numbers.
    legend = {"title": "ns", "gradientLength": 160, "format": ",.4~r", "tickCount": 5}
    colour = number("latency_ns", scale={"scheme": "viridis"}, legend=legend)
    # White on the dark half of the scale and black on the light half; nothing if the cells are too narrow for three digits.
    ends = {"joinaggregate": [{"field": "latency_ns", "op": op, "as": end} for op, end in (("min", "least"), ("max", "most"))]}
    is_dark = {"test": "datum.latency_ns < (datum.least + datum.most) / 2", "value": "#ffffff"}
    text = {"text": number("latency_ns", format=".0f"), "color": {"condition": is_dark, "value": "#000000"}}
    return chart(
        "matrix",
        layer("rect", place | {"color": colour}, cornerRadius=2),
        layer("text", place | text, ends, fontSize={"expr": "bandwidth('x') < 22 ? 0 : 10"}),
        step=28,
    )
