"""`linebounce report` for the output of `linebounce validate`: the page, the picture, and errors."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import validation_page
from linebounce.report.validation import panels_of
from program import Result

TALLIES = ("within_15_pct", "within_30_pct", "signs", "orders", "within_tolerance")


def score(rows: int, error: float | None = None) -> dict[str, Any]:
    return {"rows": rows, "median_error": error} | {key: {"right": rows - 1, "of": rows} for key in TALLIES}


def kinds(rows: int) -> dict[str, Any]:
    return {"calibrated": score(rows, 0.02), "in_sight": score(0), "predicted": score(rows, 0.123)}


def figure(name: str, paper: float, simulated: float, kind: str = "predicted", **more: object) -> dict[str, Any]:
    row = {"id": name, "machine": "m", "family": "lock", "metric": "x", "at": {}, "paper": paper, "simulated": simulated}
    row |= {"unit": "ns", "kind": kind, "ok": True, "source": "a mail", "simulated_over_published": simulated / paper}
    return row | more


ROWS = [
    figure("m.l2", 10, 10.2, "calibrated", family="latency"),
    figure("a.near", 100, 110),
    figure("a.far", 0.1, 0.2, ok=False, unit="us", miss="overlap", why_off="its prefetcher <is> missing"),
    figure("a.change", 0.43, 0.4, relative_to={"x": 1}, difference=False, unit="", sign_right=True),
    figure("a.rate", 4e6, 3e6, unit="1/s"),
    figure("ols.x", 10, 90, family="documents", ok=False),
    figure("a.none", 1, 1, ok=False, sign="none", sign_right=False, relative_to={}, difference=False, miss="load")
    | {"paper": None, "simulated": 0.05, "simulated_over_published": None},
    {key: value for key, value in figure("a.order", 1, 1, shape="increasing").items() if key != "paper"}
    | {"simulated": [1, 2, None], "simulated_over_published": None},
]
DOCUMENT = {
    "schema": "linebounce.validate/1",
    "experiments": 3,
    "score": kinds(7),
    "documents": kinds(1),
    "families": {"lock": kinds(6)},
    "machines": {"m": kinds(7)},
    "rows": ROWS,
}


@pytest.fixture
def written(tmp_path: Path) -> Path:
    directory = tmp_path / "validate"
    directory.mkdir()
    (directory / "validation.json").write_text(json.dumps(DOCUMENT))
    return directory


def test_the_picture_has_a_panel_for_each_kind_of_figure() -> None:
    panels = panels_of(DOCUMENT)
    assert {title: [row["id"] for row in rows] for title, rows in panels.items()} == {
        "ns": ["m.l2", "a.near", "a.far"],
        "1/s": ["a.rate"],
        "factor of a change": ["a.change"],
    }
    far = panels["ns"][2]
    assert (far["published"], far["simulated"], far["label"]) == (100, 200, "a.far")
    assert [row["label"] for row in panels["ns"][:2]] == ["", ""]
    (change,) = panels["factor of a change"]
    assert change["published"] == pytest.approx(1.43)
    assert panels["ns"][0]["kind"] == "fitted"


def test_the_page_has_counts_rows_and_the_picture_and_needs_no_script(
    process: Callable[..., Result], written: Path, tmp_path: Path
) -> None:
    result = process("report", str(written), "--figures", str(tmp_path / "figures"))
    assert result.code == 0, result.stderr
    page = written.with_suffix(".html").read_text()
    assert result.stdout.split() == [
        str(written.with_suffix(".html")),
        *(str(tmp_path / f"figures/validation.{suffix}") for suffix in ("svg", "png")),
    ]
    assert "<script" not in page
    assert "12.3 %" in page
    assert "its prefetcher &lt;is&gt; missing" in page
    assert "no reason known" in page
    assert page.index("a.<wbr>none") < page.index("a.<wbr>far") < page.index("a.<wbr>near")
    picture = (tmp_path / "figures/validation.svg").read_text()
    assert picture in page
    assert "a.far" in picture
    assert "ols.x" not in picture


def test_a_picture_with_figures_that_no_axis_can_show_is_left_out(process: Callable[..., Result], written: Path) -> None:
    document = DOCUMENT | {"rows": [*ROWS, figure("a.huge", 1e-300, 1.5e308)]}
    (written / "validation.json").write_text(json.dumps(document))
    result = process("report", str(written), "--figures", str(written / "figures"))
    words = "left out: its values are too large or too small to be drawn"
    assert (result.code, result.stderr) == (0, f"linebounce: {written / 'figures' / 'validation'} is {words}\n")
    assert f"The picture is {words}." in written.with_suffix(".html").read_text()


def test_a_validation_is_complete_and_needs_no_other_file(process: Callable[..., Result], written: Path) -> None:
    assert "give no other directory" in process("report", str(written), str(written)).stderr
    (written / "validation.json").write_text(json.dumps(DOCUMENT | {"schema": "linebounce.validate/9"}))
    other = process("report", str(written))
    assert (other.code, "linebounce.validate/9" in other.stderr) == (3, True)
    (written / "validation.json").write_text("{")
    assert process("report", str(written)).code == 3


def test_the_docs_table_has_the_same_counts_and_every_miss_with_its_reason() -> None:
    before = "# A page\n\n<!-- written by tools/validation_page.py -->\nold\n<!-- end -->\nafter\n"
    text = validation_page.page(before, DOCUMENT)
    assert "| predicted | 7 | 12.3 % | 6 of 7 |" in text
    assert "- `a.none` on `m`, predicted +5.0 %, published no effect: no reason known." in text
    assert "- `a.far` on `m`, predicted 0.2 us, published 0.1 us: its prefetcher <is> missing." in text
    assert "ols.x" not in text
    assert "old" not in text
    assert text.endswith("<!-- end -->\nafter\n")
    assert "| overlap in a core out of order | `overlap` | 7 | 1 |" in text
    assert "| all | | 68 | 2 |" in text
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize(("row", "change"), [("a.near", {"miss": "load"}), ("a.far", {"miss": None})])
def test_a_row_has_a_class_exactly_where_it_misses(row: str, change: dict[str, str | None]) -> None:
    changed = [each | change if each["id"] == row else each for each in ROWS]
    rows = [{key: value for key, value in each.items() if value is not None or key != "miss"} for each in changed]
    with pytest.raises(SystemExit, match=row):
        validation_page.tables(DOCUMENT | {"rows": rows})
