"""What all charts share: colours, labels of sources, axes, how a chart fits its place.

Colours are those of Okabe and Ito, which people with any colour vision tell apart: blue for what is near, orange for what is
far.
"""

from typing import Any

import altair as alt

# In the order in which sources stand in legends and tables: what is near first.
COLOURS = {
    "local_c2c": "#0072b2",
    "local_memory": "#56b4e9",
    "node_cache": "#009e73",
    "remote_memory": "#e69f00",
    "remote_c2c": "#d55e00",
    "upgrade": "#cc79a7",
}
LABELS = {
    "local_c2c": "cache, same node",
    "local_memory": "memory, same node",
    "node_cache": "node's own cache",
    "remote_memory": "memory, other node",
    "remote_c2c": "cache, other node",
    "upgrade": "upgrade",
    "all": "all",
}
ALL_COLOUR = "#404448"

# What is too dark on a dark ground, lighter; the hues stay.
ON_DARK = {
    "#0072b2": "#4aa3e0",
    "#56b4e9": "#a5d8f7",
    "#d55e00": "#f0803c",
    "#404448": "#d5d9de",
    "#7f7f7f": "#a3a8ae",
}

# Labels of an axis. A format alone would be fitted to the distance of the ticks: "1.6e+4" for 16384, "450m" for 0.45.
PLAIN_NUMBER = "format(datum.value, '.12~r')"
SHORT_NUMBER = "datum.value == 0 ? '0' : abs(datum.value) < 1000 ? format(datum.value, '.6~g') : format(datum.value, '.6~s')"
SIGNED_NUMBER = "datum.value == 0 ? '0' : format(datum.value, '+.6~r')"

Spec = dict[str, Any]


def source_colour(*, with_all: bool = False, legend: bool = True) -> alt.Color:
    names = (["all"] if with_all else []) + list(COLOURS)
    colours = ([ALL_COLOUR] if with_all else []) + list(COLOURS.values())
    label = alt.Legend(title=None, orient="top", columns=0, labelExpr=_label_expression()) if legend else None
    return alt.Color("source:N", scale=alt.Scale(domain=names, range=colours), legend=label, sort=names)


def _label_expression() -> str:
    pairs = ", ".join(f"'{name}': '{label}'" for name, label in LABELS.items()).replace("node's", "node\\'s")
    return f"{{{pairs}}}[datum.value] || datum.value"


def chart(table: str) -> alt.Chart:
    return alt.Chart(alt.NamedData(table))


def finished(encoded: alt.Chart | alt.LayerChart | alt.FacetChart, height: int | alt.Step = 260) -> Spec:
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    spec: Spec = encoded.properties(width="container", height=height, autosize=fit).to_dict()
    return spec


def by_source() -> alt.Order:
    """Stacks sources in the order of the colours, as `rank` says it."""
    return alt.Order("rank:Q")
