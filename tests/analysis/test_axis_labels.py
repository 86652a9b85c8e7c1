"""The labels of axes and legends: only numbers that occur, in readers' notation."""

import re
from typing import Any

import altair as alt
import pytest
import vl_convert
from linebounce.report import charts

WORDS = {"x": "x", "y": "y (us)", "series": "series", "x_scale": "linear"}


def texts(chart: str, table: str, rows: list[dict[str, Any]]) -> list[str]:
    """All texts of a chart, drawn as for a paper."""
    spec = charts.with_rows(charts.CHARTS[chart](), table, rows, WORDS) | {"width": 480}
    return re.findall(r">([^<>]+)</text>", vl_convert.vegalite_to_svg(spec))


def test_a_chart_with_an_error_is_not_valid_vega_lite() -> None:
    spec = charts.CHARTS["matrix"]()
    spec["layer"][0]["encoding"]["x"]["axis"]["lableAngle"] = 0
    with pytest.raises(Exception, match="lableAngle"):
        alt.Chart.from_dict(spec, validate=True)


@pytest.mark.parametrize("chart", charts.CHARTS)
def test_every_chart_is_valid_vega_lite(chart: str) -> None:
    alt.Chart.from_dict(charts.with_rows(charts.CHARTS[chart](), "rows", [], WORDS), validate=True)


def swept(points: dict[Any, float]) -> list[dict[str, Any]]:
    return [{"point": i, "x": x, "series": "", "value": y, "ci95": 0} for i, (x, y) in enumerate(points.items())]


def test_swept_numbers_are_written_in_full() -> None:
    shown = texts("sweep_line", "sweep", swept({500: 1, 4096: 2, 16384: 3}))
    assert {"500", "4096", "16384"} <= set(shown)
    assert {"75", "120", "150.5"} <= set(texts("sweep_line", "sweep", swept({75: 1, 120: 2, 150.5: 3})))


@pytest.mark.parametrize("chart", ["sweep_line", "sweep_bars"])
def test_fractions_of_a_unit_are_not_shown_in_thousandths(chart: str) -> None:
    x = (1, 2) if chart == "sweep_line" else ("tas", "mcs")
    shown = texts(chart, "sweep", swept({x[0]: 0.45, x[1]: 0.3}))
    assert "0.2" in shown
    assert not any(re.fullmatch(r"[\d.]+m", text) for text in shown), shown
    if chart == "sweep_bars":
        assert "0.45" in shown, "at the end of its bar"


def test_large_numbers_are_short() -> None:
    assert "1.2M" in texts("sweep_line", "sweep", swept({1: 400000, 2: 1300000}))


def test_differences_have_no_exponents() -> None:
    row = {"verdict": "off", "kind": "predicted", "outside": "", "low": -10, "high": 10}
    rows = [row | {"id": name, "label": name, "shown": shown} for name, shown in (("a", -45), ("b", 85))]
    shown = texts("paper_points", "paper_points", rows)
    assert {"+20", "+40", "0"} <= set(shown)
    assert not any("e+" in text or "e1" in text for text in shown), shown


@pytest.mark.parametrize(("least", "most"), [(132.4, 935.6), (38.1, 95.2), (0.5, 3.2)])
def test_the_matrixs_colours_cover_only_existing_latencies(least: float, most: float) -> None:
    cells = [(0, 1, least), (1, 0, most)]
    rows = [{"from_cpu": a, "to_cpu": b, "from_place": a, "to_place": b, "latency_ns": ns} for a, b, ns in cells]
    shown = texts("matrix", "matrix", rows)
    legend = [float(text) for text in shown[len(cells) : shown.index("ns")] if re.fullmatch(r"[\d.]+", text)]
    assert len(legend) >= 3
    assert all(least <= value <= most for value in legend), shown


@pytest.mark.parametrize(("least", "most"), [(107, 398), (4, 2000)])
def test_a_curve_of_latencies_has_ticks_enough_to_be_read(least: float, most: float) -> None:
    rows = [{"source": "all", "latency_ns": ns, "at_most_pct": part} for ns, part in ((least, 0), (most, 100))]
    shown = texts("latency_cdf", "latency_curves", rows)
    assert len(shown[: shown.index("latency (ns)")]) >= 3, shown


def test_a_curve_of_one_latency_says_which() -> None:
    rows = [{"source": "all", "latency_ns": 384.286, "at_most_pct": part} for part in (0, 100)]
    shown = texts("latency_cdf", "latency_curves", rows)
    assert shown[: shown.index("latency (ns)")] == ["384.3"]
