"""How results show themselves in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from linebounce.records import setting_text

if TYPE_CHECKING:
    from linebounce.results import Results

_SHOWN_POINTS = 20


def results_html(results: Results) -> str:
    """A heading, the points with what was swept, and what can be asked for."""
    predicted = [row for row in results.paper if row.ok is not None and row.kind == "predicted"]
    facts = [f"{escape(results.machine)}", f"{len(results.points)} point{'s' * (len(results.points) != 1)}"]
    if results.manifest.seeds > 1:
        facts.append(f"{results.manifest.seeds} seeds")
    if predicted:
        facts.append(f"{sum(bool(row.ok) for row in predicted)} of {len(predicted)} predictions within tolerance")
    head = f"<strong>{escape(results.title)}</strong><br>{' · '.join(facts)}<br><code>{escape(str(results.directory))}</code>"
    return f"<div>{head}{_points_table(results)}</div>"


def _points_table(results: Results) -> str:
    paths = list(results.swept())
    heads = ["point", *paths, "metrics"]
    rows = []
    for point in results.points[:_SHOWN_POINTS]:
        at = [setting_text(point.at[path]) if path in point.at else "" for path in paths]
        rows.append([str(point.number), *at, str(len(point.metrics)) if point.metrics else "failed"])
    if len(results.points) > _SHOWN_POINTS:
        rows.append(["…", *[""] * len(paths), f"{len(results.points) - _SHOWN_POINTS} more"])
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
