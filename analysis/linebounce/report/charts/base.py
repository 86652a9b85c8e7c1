"""What all charts share: colours, labels of sources, axes and layout.

A chart is a Vega-Lite specification as plain dicts; a test validates them against Vega-Lite's schema. Colours are Okabe
and Ito's, which readers with any colour vision can tell apart: blue for near sources, orange for far ones.
"""

from typing import Any

# Sources of misses, nearest first. Legends and tables keep this order.
COLOURS = {
    "local_c2c": "#0072b2",
    "local_memory": "#56b4e9",
    "node_cache": "#009e73",
    "remote_memory": "#e69f00",
    "remote_c2c": "#d55e00",
    "upgrade": "#cc79a7",
}
LABELS = {
    "local_c2c": "local HITM",
    "local_memory": "local memory",
    "node_cache": "node cache",
    "remote_memory": "remote memory",
    "remote_c2c": "remote HITM",
    "upgrade": "upgrade",
    "all": "all",
}
# Parts of a CPI stack that are not sources: the CPU's own work in greys, waiting for other CPUs in yellow.
PART_COLOURS = {
    "issue": "#404448",
    "l1": "#7f7f7f",
    "l2": "#a3a3a3",
    "l3": "#bcbcbc",
    "l4": "#d0d0d0",
    **COLOURS,
    "atomic": "#332288",
    "store_buffer": "#999933",
    "fence": "#7a4b2a",
    "footprint": "#44aa99",
    "spin": "#e3c800",
    "sleep": "#b5c7dd",
    "ended": "#dfe5ec",
}
PART_LABELS = {
    "issue": "issue",
    "l1": "L1",
    "l2": "L2",
    "l3": "L3",
    "l4": "L4",
    **{source: LABELS[source] for source in COLOURS},
    "atomic": "atomic operations",
    "store_buffer": "store buffer full",
    "fence": "fence",
    "footprint": "TLB and code",
    "spin": "spin",
    "sleep": "sleep",
    "ended": "program ended",
}
ALL_COLOUR = "#404448"

# Replaces colours that are too dark on a dark background with lighter ones of the same hue.
ON_DARK = {
    "#0072b2": "#4aa3e0",
    "#56b4e9": "#a5d8f7",
    "#d55e00": "#f0803c",
    "#404448": "#d5d9de",
    "#7f7f7f": "#a3a8ae",
    "#332288": "#8f80e0",
    "#7a4b2a": "#b08057",
    "#dfe5ec": "#353c45",
}

# Label formats for axes, as Vega expressions. A plain format string would depend on the distance between ticks: "1.6e+4" for
# 16384, "450m" for 0.45.
PLAIN_NUMBER = "format(datum.value, '.12~r')"
SHORT_NUMBER = "datum.value == 0 ? '0' : abs(datum.value) < 1000 ? format(datum.value, '.6~g') : format(datum.value, '.6~s')"
SIGNED_NUMBER = "datum.value == 0 ? '0' : format(datum.value, '+.6~r')"

# Absolute values of numbers that Vega can draw, besides 0. Outside of them, the length of an axis or the distance of its
# ticks overflows or becomes 0.
DRAWABLE = (1e-250, 1e250)
UNDRAWABLE_WORDS = "its values are too large or too small to be drawn"

Spec = dict[str, Any]

ON_TOP: Spec = {"title": None, "orient": "top"}  # the position of a legend


def is_drawable(spec: object) -> bool:
    """Whether Vega can draw all numbers of a chart with its rows. isDrawable() in templates/charts.js does the same in the
    page."""
    match spec:
        case dict():
            return all(map(is_drawable, spec.values()))
        case list() | tuple():
            return all(map(is_drawable, spec))
        case float() | int():
            return spec == 0 or DRAWABLE[0] <= abs(spec) <= DRAWABLE[1]
    return True


def number(field: str, **more: Any) -> Spec:
    """A channel for a column of quantities."""
    return {"field": field, "type": "quantitative", **more}


def word(field: str, **more: Any) -> Spec:
    """A channel for a column of names."""
    return {"field": field, "type": "nominal", **more}


def rank(field: str, **more: Any) -> Spec:
    """A channel for a column of ordinal numbers, such as CPU numbers."""
    return {"field": field, "type": "ordinal", **more}


def colours(by_name: dict[str, str]) -> Spec:
    """A scale that gives each name its colour."""
    return {"domain": list(by_name), "range": list(by_name.values())}


def source_colour(*, with_all: bool = False) -> Spec:
    by_source = ({"all": ALL_COLOUR} if with_all else {}) | COLOURS
    legend = ON_TOP | {"columns": 0, "labelExpr": _label_expression(LABELS)}
    return word("source", scale=colours(by_source), legend=legend, sort=list(by_source))


def part_colour() -> Spec:
    legend = ON_TOP | {"columns": 0, "labelExpr": _label_expression(PART_LABELS)}
    return word("part", scale=colours(PART_COLOURS), legend=legend, sort=list(PART_COLOURS))


def _label_expression(labels: dict[str, str]) -> str:
    pairs = ", ".join(f"'{name}': '{label}'" for name, label in labels.items()).replace("node's", "node\\'s")
    return f"{{{pairs}}}[datum.value] || datum.value"


def by_source() -> Spec:
    """Stacks sources in the order of COLOURS; the column `rank` has each source's position there."""
    return number("rank")


def layer(mark: str, encoding: Spec, *transform: Spec, **style: Any) -> Spec:
    """Draws one mark for each row of the table, placed by the channels of `encoding`."""
    marks: Spec = {"mark": {"type": mark, **style}, "encoding": encoding}
    return marks | {"transform": list(transform)} if transform else marks


def chart(table: str, *layers: Spec, height: int = 260, step: int | None = None) -> Spec:
    """Puts layers with the same table into one chart as wide as its place. With `step`, each row of the y axis is
    `step` pixels high."""
    marks = layers[0] if len(layers) == 1 else {"layer": list(layers)}
    fit = {"type": "fit-x", "contains": "padding"}
    return {
        "data": {"name": table},
        "width": "container",
        "height": {"step": step} if step else height,
        "autosize": fit,
        **marks,
    }
