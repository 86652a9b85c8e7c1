"""The report's section with a typical and a slow miss, from `linebounce explain`."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import linebounce
import pytest
from linebounce.errors import InputError
from linebounce.report.explanation import explanation_of
from opened_page import OpenedPage, open_page
from playwright.sync_api import Browser
from program import Result


@pytest.fixture
def page(browser: Browser, command: Callable[..., Result], series_run: Path, tmp_path: Path) -> Iterator[OpenedPage]:
    assert command("report", series_run, "-o", tmp_path / "page.html").code == 0
    opened = open_page(browser, tmp_path / "page.html")
    yield opened
    assert opened.problems == []


def test_a_typical_and_a_slow_miss_stand_side_by_side(page: OpenedPage, series_run: Path) -> None:
    misses = json.loads((series_run / "explain.json").read_text())["misses"]
    section = page.page.locator('[data-section="explain"]')
    assert section.locator("h3").all_inner_texts() == [
        f"{name}: {m['ns']:.1f} ns" for name, m in zip(("Median", "99 %"), misses, strict=True)
    ]
    boxes = [box.bounding_box() for box in section.locator(".table").all()]
    assert boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]
    for place, miss in enumerate(misses):
        rows = section.locator("table").nth(place).locator("tbody tr")
        assert rows.count() == len(miss["rows"])
        for row, stage in zip(rows.all(), miss["rows"], strict=True):
            words = row.inner_text()
            assert stage["stage"] in words
            assert f"{stage['kind']}, {stage['at']}" in words
            assert f"{stage['ns']:.1f}" in words
        bars = section.locator("table").nth(place).locator("i")
        widths = bars.evaluate_all("(bars) => bars.map((bar) => parseFloat(bar.style.width))")
        assert sum(widths) == pytest.approx(100, abs=0.1)


def test_findings_on_other_results_are_not_shown(series_run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(series_run, tmp_path / "results"))
    results = linebounce.open(copy)
    assert explanation_of(results) is not None
    document = json.loads((copy / "explain.json").read_text())
    (copy / "explain.json").write_text(json.dumps(document | {"hash": "another"}))
    assert explanation_of(results) is None
    (copy / "explain.json").write_text("{}")
    with pytest.raises(InputError, match=r"explain\.json"):
        explanation_of(results)
