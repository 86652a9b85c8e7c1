"""Simulated figures against published ones: one panel for each kind of figure, because nanoseconds and factors share no
axis."""

from typing import Any

from linebounce.report.charts.base import PLAIN_NUMBER, SHORT_NUMBER, Spec, colours, layer, number, word

KINDS = {"fitted": "#56b4e9", "in sight": "#7f7f7f", "predicted": "#d55e00"}
_SHAPES = {"fitted": "square", "in sight": "triangle-up", "predicted": "circle"}
NEAR = 0.15
_SIDE = 250  # size of a panel, in pixels

Rows = list[dict[str, Any]]


def validation(panels: dict[str, Rows]) -> Spec:
    """`panels`: rows by the title of a panel's axes. A row has `published`, `simulated`, `kind`, and a `label` if its
    error is large."""
    return {
        "hconcat": [_panel(title, rows) for title, rows in panels.items()],
        "spacing": 24,
        "resolve": {"scale": {"color": "shared"}},
    }


def _panel(title: str, rows: Rows) -> Spec:
    figures = [row[side] for row in rows for side in ("published", "simulated")]
    low, high = min(figures) / 1.25, max(figures) * 1.25
    scale = {"type": "log", "domain": [low, high], "nice": False, "clamp": True}
    labels = {
        "labelExpr": PLAIN_NUMBER if high < 1000 else SHORT_NUMBER,
        "labelOverlap": "greedy",
        "tickCount": 6,
        "grid": False,
    }
    x = number("published", scale=scale, axis=labels, title=f"published: {title}")
    y = number("simulated", scale=scale, axis=labels, title="simulated")
    kind = word("kind", scale=colours(KINDS), legend={"title": None, "orient": "top"})
    shape = word(
        "kind", scale={"domain": list(_SHAPES), "range": list(_SHAPES.values())}, legend={"title": None, "orient": "top"}
    )
    return {
        "width": _SIDE,
        "height": _SIDE,
        "layer": [
            *(_diagonal(share, low, high, scale) for share in (1 - NEAR, 1, 1 + NEAR)),
            {"data": {"values": rows}, **layer("point", {"x": x, "y": y, "color": kind, "shape": shape}, filled=True, size=42)},
            {
                "data": {"values": [row for row in rows if row["label"]]},
                **layer("text", {"x": x, "y": y, "text": word("label")}, align="right", dx=-7, fontSize=9),
            },
        ],
    }


def _diagonal(share: float, low: float, high: float, scale: Spec) -> Spec:
    """The line on which simulated = share * published."""
    ends = [max(low, low / share), min(high, high / share)]
    dash = {} if share == 1 else {"strokeDash": [3, 3]}
    return {
        "data": {"values": [{"published": end, "simulated": end * share} for end in ends]},
        **layer(
            "line",
            {"x": number("published", scale=scale), "y": number("simulated", scale=scale)},
            color="#8a9099",
            strokeWidth=1,
            **dash,
        ),
    }
