"""Makes one HTML file that shows runs offline: data, charts, Vega and the page's scripts are all inside."""

import base64
import gzip
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cache
from typing import Any

import jinja2
import polars as pl
import pygments  # type: ignore[import-untyped]
from markupsafe import Markup
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import TOMLLexer  # type: ignore[import-untyped]

from linebounce.json_text import json_text
from linebounce.page_policy import page_policy
from linebounce.records import Point, setting_text
from linebounce.report import charts, line_store, sweeps, tables
from linebounce.report.charts.base import COLOURS, DRAWABLE, LABELS, ON_DARK, PART_LABELS, UNDRAWABLE_WORDS
from linebounce.report.explanation import explanation_of
from linebounce.report.machine import Machine, machine_of
from linebounce.report.measured import Matrix, beside, by_point, words
from linebounce.report.network import network_drawing
from linebounce.report.ownership import ownership_frames
from linebounce.report.topology import node_drawing
from linebounce.report.vega import vega_bundle
from linebounce.report.words import axis_title
from linebounce.results import Results, read_document, reading
from linebounce.visible import finalized, visible, visible_name

# Pairs of anchor and heading in page order. Each section's HTML is in templates/sections/ANCHOR.html, its script in
# ANCHOR.js.
_SECTIONS = (
    ("sweep", "Over the sweep"),
    ("paper", "Against the paper"),
    ("matrix", "Core to core"),
    ("measured", "Beside the measurement"),
    ("series", "Over time"),
    ("cpi", "Where the CPUs' time goes"),
    ("latency", "Latency of misses"),
    ("explain", "Misses, stage by stage"),
    ("locks", "Locks"),
    ("lines", "Cache lines"),
    ("ownership", "Who owns a line"),
    ("subsystems", "Subsystems"),
    ("machine", "Machine"),
    ("metrics", "All metrics"),
    ("configuration", "Configuration"),
    ("again", "Run it again"),
)
_FIRST_SCRIPT = 'document.documentElement.classList.add("js");'
_WITHOUT_SCRIPT = ("again", "explain")
_SCRIPTS = (
    *("data.js", "charts.js", "table.js", "explorer.js", "columns.js"),
    *(f"sections/{anchor}.js" for anchor, _ in _SECTIONS if anchor not in _WITHOUT_SCRIPT),
    *("run.js", "page.js"),
)

# In JSON, an escape for a character that visible() spells; it follows an even number of backslashes.
_ACTIVE_IN_JSON = re.compile(r"(?<!\\)((?:\\\\)*)(\\u(?!d[89a-f])[0-9a-f]{4}|\\[bfr])")
_BETWEEN_WORDS = re.compile(r"(?<=[^\W_][._/=:-])(?=\w)")


def make_page(runs: Sequence[Results], measured: Matrix | None = None) -> str:
    """The page's HTML. Bundles Vega, if it is not cached, while the rest is made."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        vega = pool.submit(vega_bundle)
        templates = environment()
        shown = [_run(run, measured) for run in runs]
        data = {
            "runs": [run["data"] for run in shown],
            "charts": {name: make() for name, make in charts.CHARTS.items()},
            "labels": LABELS,
            "part_labels": PART_LABELS,
            "on_dark": ON_DARK,
            "drawable": DRAWABLE,
            "undrawable": UNDRAWABLE_WORDS,
        }
        page = templates.get_template("report.html")
        script = templates.get_template("page_script.js").render(scripts=_SCRIPTS)
        return page.render(
            policy=page_policy(_FIRST_SCRIPT, vega.result(), script),
            first_script=_FIRST_SCRIPT,
            title=", ".join(dict.fromkeys(run.title for run in runs)),
            runs=shown,
            data=_packed(data),
            vega=vega.result(),
            colours=COLOURS,
            on_dark=ON_DARK,
            script=script,
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        )


@cache
def environment() -> jinja2.Environment:
    """The environment that loads files from templates/."""
    loader = jinja2.PackageLoader("linebounce.report", "templates")
    made = jinja2.Environment(
        loader=loader, autoescape=True, finalize=finalized, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    made.filters["setting"] = setting_text
    made.filters["breakable"] = _breakable
    return made


def _breakable(text: str) -> Markup:
    """Marks where a name, path or command may wrap, as breakable() in templates/data.js does."""
    return Markup("<wbr>").join(_BETWEEN_WORDS.split(visible_name(text)))


def _packed(data: object) -> str:
    """Compressed JSON in Base64. Without compression, the rows of lines.csv would be most of the file."""
    text = json_text(data, separators=(",", ":"))
    text = _ACTIVE_IN_JSON.sub(_spelled, text)
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _spelled(escape: re.Match[str]) -> str:
    """As visible(), so that the page's scripts show such a character as the rest of the page does."""
    return escape[1] + json.dumps(visible(json.loads(f'"{escape[2]}"')))[1:-1]


def _columns(frame: pl.DataFrame) -> dict[str, list[Any]]:
    return frame.to_dict(as_series=False)


def _run(results: Results, measured: Matrix | None) -> dict[str, Any]:
    config = results.directory / "config.toml"
    explanation = explanation_of(results)
    with reading(config):
        # Even if every point has another machine: whoever runs config.toml again needs this one.
        Machine(results.config["machine"]).check()
        machines, machine_of_point = _machines(results)
        paper = tables.paper_table(results)
        parameters = _parameters(results.config)
        matrix = tables.matrix(results)
        compared = beside(results, measured)
        of_machine = {
            "line_bytes": [machine["line_bytes"] for machine in machines],
            "matrix": _columns(matrix),
            "matrix_means": _columns(tables.matrix_means(matrix)),
            "measured": _columns(compared),
            "measured_words": {str(part["point"][0]): words(part) for part in by_point(compared)},
        }
    return {
        "results": results,
        "machines": machines,
        "parameters": parameters,
        "sweeps_machine": any(path.startswith("machine") for path in results.swept()),
        "config_html": _coloured(read_document(config, str)),
        "command": shlex.join(results.manifest.argv),
        "again": shlex.join(["linebounce", "run", str(config), "-o", f"{results.directory}_again"]),
        "verdicts": _verdicts(paper),
        "explanation": explanation,
        "sections": _sections(results, has_measured=measured is not None, has_explanation=explanation is not None),
        "data": _run_data(results, machine_of_point, paper) | of_machine,
    }


def _verdicts(paper: Sequence[Mapping[str, Any]]) -> list[tuple[str, int, int]]:
    """For a heading: the kind, the rows within tolerance, and the rows scored. Figures in sight don't count as
    predictions."""
    kinds = {
        "predicted": "predictions within tolerance",
        "in sight": "figures in sight within tolerance",
        "calibrated": "calibrated figures within tolerance",
    }
    scored = {
        words: [row["ok"] for row in paper if row["kind"] == kind and row["ok"] is not None] for kind, words in kinds.items()
    }
    return [(words, sum(verdicts), len(verdicts)) for words, verdicts in scored.items() if verdicts]


def _run_data(results: Results, machine_of_point: Sequence[int], paper: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    lines, spans = ownership_frames(results)
    return {
        "title": results.title,
        "first_shown": results.answered_point.number,
        "key_figures": [(headline.metric, headline.label) for headline in results.headlines],
        "points": [{"number": point.number, "at": dict(point.at), "failed": not point.metrics} for point in results.points],
        "machine_of_point": list(machine_of_point),
        "swept": results.swept(),
        "sweep": sweeps.choices(results),
        "seeds": results.manifest.seeds,
        "paper": list(paper),
        "metrics": _metrics(results),
        "series": _columns(tables.series(results)),
        "cpi": _columns(tables.cpi(results)),
        "cpi_functions": _columns(tables.cpi_functions(results)),
        "latency_bins": _columns(tables.latency_bins(results.latency)),
        "latency_curves": _columns(tables.latency_curves(results.latency)),
        "latency_summary": _columns(tables.with_queueing(tables.latency_summary(results.latency), results.lines)),
        "locks": _columns(tables.locks(results)),
        "structures": _columns(tables.structures(results.lines)),
        "homes": _columns(tables.homes(results.lines)),
        "subsystems": [row for point in results.points for row in tables.subsystems(point)],
        "lines": line_store.pack(results.lines),
        "ownership": {"lines": _columns(lines), "spans": _columns(spans)},
    }


def _metrics(results: Results) -> dict[str, Any]:
    """For each metric its unit, and its value and interval at each point; null if the point lacks the metric."""
    names = sorted({name for point in results.points for name in point.metrics})
    found: dict[str, Any] = {}
    for name in names:
        metrics = [point.metrics.get(name) for point in results.points]
        unit = next(metric.unit for metric in metrics if metric)
        entry = {
            "unit": unit,
            "axis": axis_title(name, unit),
            "value": [metric.value if metric else None for metric in metrics],
        }
        if results.manifest.seeds > 1:
            entry["ci95"] = [metric.ci95 if metric else None for metric in metrics]
        found[name] = entry
    return found


def _sections(results: Results, *, has_measured: bool, has_explanation: bool) -> list[tuple[str, str]]:
    """The table of contents: the sections for which this run has data."""
    empty = {
        "paper": not results.paper,
        "sweep": len(results.points) < 2,
        "matrix": results.matrix.is_empty(),
        "measured": not has_measured,
        "series": results.series.is_empty(),
        "cpi": results.cpi.is_empty(),
        "latency": results.latency.is_empty(),
        "explain": not has_explanation,
        "locks": results.locks.is_empty(),
        "lines": results.lines.is_empty(),
        "ownership": not any(results.has_timeline(point.number) for point in results.points),
        "subsystems": not any(tables.subsystems(point) for point in results.points),
    }
    return [(anchor, heading) for anchor, heading in _SECTIONS if not empty.get(anchor)]


def _machines(results: Results) -> tuple[list[dict[str, Any]], list[int]]:
    """The different machines of a sweep as drawings, and for each point the index of its machine."""
    machines: list[dict[str, Any]] = []
    of_settings: dict[tuple[tuple[str, object], ...], int] = {}
    of_point = []
    settings = [
        tuple((path, value) for path, value in point.at.items() if path.startswith("machine")) for point in results.points
    ]
    for key in settings:
        if key not in of_settings:
            of_settings[key] = len(machines)
            alike = [point for point, its_key in zip(results.points, settings, strict=True) if its_key == key]
            # The network is drawn from metrics, which failed points lack, so this takes a point that has some.
            machines.append(_drawn(results, next((point for point in alike if point.metrics), alike[0])))
        of_point.append(of_settings[key])
    return machines, of_point


def _drawn(results: Results, point: Point) -> dict[str, Any]:
    machine = machine_of(results, point.number)
    with reading(results.point_directory(point.number) / "config.toml"):
        return {
            "title": machine.title,
            "line_bytes": machine.line_bytes,
            "nodes": machine.nodes,
            "node": node_drawing(machine, machine.nodes_with_cpus()[0]),
            "network": network_drawing(machine, point.metrics),
        }


def _parameters(config: Mapping[str, Any]) -> list[dict[str, str]]:
    """The machine's parameters with their sources. A key of [machine.sources] names a parameter, or a table for all
    parameters in it."""
    machine = dict(config["machine"])
    sources = machine.pop("sources", {})
    rows = []
    for path, value in _leaves(machine, ""):
        if path in ("name", "title", "cache_levels", "cpus_present"):
            continue
        source = next((sources[key] for key in _prefixes(path) if key in sources), "assumed: nothing said")
        grade, _, why = source.partition(": ")
        rows.append({"path": path, "value": setting_text(value), "grade": grade, "why": why})
    return rows


def _coloured(toml: str) -> Markup:
    """A configuration as HTML, with tables, keys and values marked for style.css."""
    shown = visible(toml.replace("\r\n", "\n"))
    return Markup(pygments.highlight(shown, TOMLLexer(), HtmlFormatter(nowrap=True)))


def _leaves(table: Mapping[str, Any], prefix: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        if isinstance(value, dict):
            found += _leaves(value, f"{prefix}{key}.")
        else:
            found.append((prefix + key, value))
    return found


def _prefixes(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
