"""The report of `linebounce validate`: how far simulated figures are from published ones, as an HTML page and as a
picture."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from linebounce.errors import InputError
from linebounce.page_policy import page_policy
from linebounce.quantity import quantity
from linebounce.report.charts.validation import Rows, validation
from linebounce.results import read_document, reading

FILE = "validation.json"
_SCHEMA = "linebounce.validate/1"
_FAR = 0.3  # figures with a larger relative error get their name in the picture
_NAMED = 5  # at most this many names in a panel
_DOCUMENTS = "documents"
_KINDS = {"calibrated": "fitted", "in_sight": "in sight", "predicted": "predicted"}
# For each unit, the title of the panel's axes and the factor that converts to the panel's unit.
_PANELS = {"ns": ("ns", 1.0), "us": ("ns", 1000.0), "1/s": ("1/s", 1.0)}
_CHANGES = "factor of a change"
_OTHERS = "other figures"

Document = Mapping[str, Any]


def is_validation(directory: Path) -> bool:
    try:
        return (directory / FILE).exists() and not (directory / "results.json").exists()
    except OSError:  # the path can't be a file's; opening it later reports that
        return False


def read_validation(directory: Path) -> Document:
    """Raises InputError unless the file was written by this version's `linebounce validate`."""
    path = directory / FILE
    document: Document = read_document(path, json.loads)
    with reading(path):
        if document["schema"] != _SCHEMA:
            raise InputError(f'{path}: its schema is "{document["schema"]}", and this version of linebounce reads "{_SCHEMA}"')
        for key in ("score", "families", "machines", "rows"):
            document[key]
    return document


def panels_of(document: Document) -> dict[str, Rows]:
    """The rows of each panel of the picture. Leaves out figures without a size, and those of the five documents."""
    panels: dict[str, Rows] = {title: [] for title in ("ns", "1/s", _CHANGES, _OTHERS)}
    for row in document["rows"]:
        placed = _placed(row)
        if placed:
            panel, entry = placed
            panels[panel].append(entry)
    for rows in panels.values():
        far = sorted((row for row in rows if row["off"] > _FAR), key=lambda row: -row["off"])
        for row in far[:_NAMED]:
            row["label"] = row["id"]
    return {title: rows for title, rows in panels.items() if rows}


def _placed(row: Document) -> tuple[str, dict[str, Any]] | None:
    if row["family"] == _DOCUMENTS or row["kind"] not in _KINDS or row["ok"] is None:
        return None
    published, simulated = row.get("paper"), row.get("simulated")
    if isinstance(simulated, list) or published is None or simulated is None:
        return None
    if "relative_to" in row and not row["difference"]:
        panel, published, simulated = _CHANGES, 1 + published, 1 + simulated
    else:
        panel, unit = _PANELS.get(row["unit"], (_OTHERS, 1.0))
        published, simulated = published * unit, simulated * unit
    if published <= 0 or simulated <= 0:
        return None
    off = abs(simulated / published - 1)
    return panel, {
        "id": row["id"],
        "kind": _KINDS[row["kind"]],
        "published": published,
        "simulated": simulated,
        "off": off,
        "label": "",
    }


def write_validation_figures(document: Document, folder: Path) -> Iterator[Path]:
    """Writes validation.svg and .png if there is anything to draw; yields each path."""
    from linebounce.report.figures import write_chart  # noqa: PLC0415  # Vega's compiler takes a moment to load

    panels = panels_of(document)
    if panels:
        yield from write_chart(validation(panels), folder, "validation")


def make_validation_page(document: Document) -> str:
    """The HTML page. It has no scripts and fetches nothing."""
    from linebounce.report.figures import UndrawableError, drawn  # noqa: PLC0415
    from linebounce.report.page import environment  # noqa: PLC0415

    panels = panels_of(document)
    picture = left_out = ""
    try:
        picture = next(content.decode() for suffix, content in drawn(validation(panels)) if suffix == "svg") if panels else ""
    except UndrawableError as error:
        left_out = str(error)
    return (
        environment()
        .get_template("validation.html")
        .render(
            policy=page_policy(),
            document=document,
            picture=picture,
            left_out=left_out,
            scores=list(_scores(document)),
            rows=sorted((_shown(row) for row in document["rows"]), key=lambda row: row["rank"]),
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        )
    )


def _scores(document: Document) -> Iterator[tuple[str, Sequence[str]]]:
    """The rows of the table of counts: the name of a kind, and the cells after it."""
    for kind, title in _KINDS.items():
        yield from _score(title, document["score"][kind])
    for family, kinds in document["families"].items():
        yield from _score(f"predicted: {family.replace('_', ' ')}", kinds["predicted"])
    for machine, kinds in document["machines"].items():
        yield from _score(f"predicted: {machine}", kinds["predicted"])
    for kind, title in _KINDS.items():
        yield from _score(f"the five documents, {title}", document["documents"][kind])


def _score(title: str, score: Document) -> Iterator[tuple[str, Sequence[str]]]:
    if score["rows"] == 0:
        return
    error = score["median_error"]
    tallies = [score[key] for key in ("within_15_pct", "within_30_pct", "signs", "orders", "within_tolerance")]
    counts = [f"{tally['right']} of {tally['of']}" if tally["of"] else "" for tally in tallies]
    yield title, [str(score["rows"]), "" if error is None else f"{100 * error:.1f} %", *counts]


def _shown(row: Document) -> dict[str, Any]:
    is_change = "relative_to" in row and not row.get("difference")

    def text(value: object) -> str:
        if isinstance(value, list):
            return " → ".join(text(each) for each in value)
        if not isinstance(value, int | float):
            return "none"
        return f"{100 * value:+.1f} %" if is_change else quantity(value, row["unit"])

    published = row["shape"] if "shape" in row else "rising" if "order" in row else row.get("sign", "")
    if row.get("paper") is not None:
        published = text(row["paper"])
    missed = row["ok"] is False or row.get("sign_right") is False
    ratio = row["simulated_over_published"]
    return {
        "id": row["id"],
        "machine": row["machine"],
        "kind": _KINDS.get(row["kind"], row["kind"]),
        "published": published,
        "simulated": text(row["simulated"]),
        "off": "" if ratio is None else f"{100 * (ratio - 1):+.1f} %",
        "verdict": ("wrong sign" if row.get("sign_right") is False else "off")
        if missed
        else ""
        if row["ok"] is None
        else "within",
        "why": row.get("why_off", "no reason known") if missed else "",
        "source": row["source"],
        "rank": (not missed, -_distance(row)),
    }


def _distance(row: Document) -> float:
    """A sort key for errors: larger is worse, and the wrong sign is worst."""
    ratio = row["simulated_over_published"]
    if ratio is None or ratio <= 0:
        return float("inf") if row["ok"] is False or row.get("sign_right") is False else 1
    return float("inf") if row.get("sign_right") is False else max(ratio, 1 / ratio)
