"""All charts as Vega-Lite specifications, each with a named table for its data.

The page's script puts rows into the table and draws the chart in the browser; `--figures` does the same without a
browser.
"""

import json
from collections.abc import Mapping
from typing import Any

from linebounce.report.charts.base import Spec
from linebounce.report.charts.cpi import cpi_cpus, cpi_functions
from linebounce.report.charts.latency import latency_cdf, latency_histogram, latency_tail
from linebounce.report.charts.lines import ownership, structures, subsystems
from linebounce.report.charts.matrix import matrix
from linebounce.report.charts.measured import difference, measured, simulated
from linebounce.report.charts.paper import paper_points, paper_ratios
from linebounce.report.charts.series import series
from linebounce.report.charts.sweep import sweep_bars, sweep_line

# By the name of the chart's place in the page. Figures use it as their file name.
CHARTS = {
    "paper_ratios": paper_ratios,
    "paper_points": paper_points,
    "cpi_cpus": cpi_cpus,
    "cpi_functions": cpi_functions,
    "latency_histogram": latency_histogram,
    "latency_cdf": latency_cdf,
    "latency_tail": latency_tail,
    "matrix": matrix,
    "measured": measured,
    "simulated": simulated,
    "difference": difference,
    "series": series,
    "sweep_line": sweep_line,
    "sweep_bars": sweep_bars,
    "subsystems": subsystems,
    "structures": structures,
    "ownership": ownership,
}

# Channels that may have a legend. Several channels for one field share a legend only if they are configured alike.
LEGENDS = ("color", "strokeDash", "shape")


def with_rows(spec: Spec, table: str, rows: list[dict[str, Any]], words: Mapping[str, str]) -> Spec:
    """Fills a chart with its data, and replaces «placeholders» by `words`. Legends list only values that occur in the
    data.

    templates/charts.js does the same in the page.
    """
    text = json.dumps(spec, ensure_ascii=False)
    for word, value in words.items():
        text = text.replace(f"«{word}»", json.dumps(value, ensure_ascii=False)[1:-1])
    filled: Spec = json.loads(text) | {"datasets": {table: rows}}
    for part in [filled, *filled.get("layer", [])]:
        encoding = part.get("encoding", {})
        if encoding.get("x", {}).get("field") == "x":
            encoding["x"].setdefault("axis", {})["values"] = list(dict.fromkeys(row["x"] for row in rows))
        for channel in LEGENDS:
            coloured = encoding.get(channel, {})
            if coloured.get("legend") and coloured.get("type") == "nominal":
                present = list(dict.fromkeys(row[coloured["field"]] for row in rows))
                # The layers must share a domain, or Vega draws a legend for each.
                domain = coloured["scale"].setdefault("domain", present)
                coloured["legend"]["values"] = [value for value in domain if value in present]
                if present == [""]:  # the chart has one series without a name
                    coloured["legend"] = None
    return filled
