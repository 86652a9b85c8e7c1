"""A measured core-to-core matrix beside the simulated one: two heat maps with the same scale, and their difference."""

from linebounce.report.charts.base import Spec, chart, layer, number, rank

# The scale goes from the smallest to the largest value of both matrices. That of the difference is symmetric.
_SAME_SCALE = {"scheme": "viridis", "domainMin": {"expr": "«least»"}, "domainMax": {"expr": "«most»"}}
_BOTH_WAYS = {
    "scheme": "blueorange",
    "domainMin": {"expr": "-«farthest»"},
    "domainMid": 0,
    "domainMax": {"expr": "«farthest»"},
}
_TIPS = [
    rank("to_cpu", title="CPU"),
    rank("from_cpu", title="and CPU"),
    number("measured_ns", title="measured (ns)"),
    number("simulated_ns", title="simulated (ns)"),
    number("off_pct", title="off (%)", format="+.1f"),
]


def _map(table: str, colour: Spec, text: Spec) -> Spec:
    by_place = {end: {"field": f"{end}_place", "op": "min"} for end in ("from", "to")}
    columns = {"orient": "top", "labelAngle": 0, "grid": False, "labelOverlap": "parity", "labelSeparation": 2}
    place = {
        "x": rank("to_cpu", title=None, sort=by_place["to"], axis=columns),
        "y": rank("from_cpu", title="CPU", sort=by_place["from"], axis={"grid": False}),
        "tooltip": _TIPS,
    }
    return chart(
        table,
        layer("rect", place | {"color": colour}, cornerRadius=2),
        layer("text", place | text, fontSize={"expr": "bandwidth('x') < 26 ? 0 : 10"}),
        step=22,
    )


def _latencies(table: str, field: str) -> Spec:
    legend = {"title": "ns", "gradientLength": 120, "format": ",.4~r", "tickCount": 5}
    is_dark = {"test": f"datum.{field} < («least» + «most») / 2", "value": "#ffffff"}
    text = {"text": number(field, format=".0f"), "color": {"condition": is_dark, "value": "#000000"}}
    return _map(table, number(field, scale=_SAME_SCALE, legend=legend), text)


def measured() -> Spec:
    return _latencies("measured", "measured_ns")


def simulated() -> Spec:
    return _latencies("simulated", "simulated_ns")


def difference() -> Spec:
    legend = {"title": "%", "gradientLength": 120, "format": "+.3~r", "tickCount": 5}
    text = {"text": number("off_pct", format="+.0f"), "color": {"value": "#000000"}}
    return _map("difference", number("off_pct", scale=_BOTH_WAYS, legend=legend), text)
