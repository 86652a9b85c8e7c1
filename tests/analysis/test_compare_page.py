"""The comparison page in a real browser: one point is shown, and a click, a key or the address chooses it for all runs."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from opened_page import PAPER, cut_tables
from playwright.sync_api import Browser, Page
from program import Result

# Finds a chart's mark for a point other than the one shown. Returns [fragment, x, y] of its middle, where no other mark lies
# above it.
_MARK_OF_ANOTHER_POINT = """shown => {
  for (const mark of document.querySelectorAll("figure svg a[href^='#point-']")) {
    const box = mark.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
    const href = mark.getAttribute("href");
    if (href !== shown && mark.contains(document.elementFromPoint(x, y))) return [href, x, y];
  }
}"""


@pytest.fixture(scope="module")
def compared(command: Callable[..., Result], locks_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("compared") / "page.html"
    assert command("compare", locks_run, locks_run, "-o", file).code == 0
    return file


@pytest.fixture(params=[1400, 390])
def page(request: pytest.FixtureRequest, browser: Browser, compared: Path) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": request.param, "height": 900})
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.goto(compared.as_uri())
    yield opened
    assert said == []
    opened.close()


def test_charts_that_no_axis_can_show_are_left_out(command: Callable[..., Result], locks_run: Path, tmp_path: Path) -> None:
    runs = [Path(shutil.copytree(locks_run, tmp_path / name)) for name in ("a", "b")]
    for run, value in zip(runs, (-1.1e308, 1.7e308), strict=True):
        document = json.loads((run / "results.json").read_text())
        for point in document["points"]:
            point["metrics"]["throughput.operations_per_s"]["value"] = value
        (run / "results.json").write_text(json.dumps(document))
    result = command("compare", *runs, "-o", tmp_path / "page.html")
    assert (result.code, result.stderr) == (0, "")
    page = (tmp_path / "page.html").read_text()
    assert page.count("This chart is left out: its values are too large or too small to be drawn.") == 2
    assert "<svg" in page, "the histograms of misses stay"
    assert json.loads(command("compare", *runs, "--json").stdout, parse_constant=pytest.fail)


def shown_point(page: Page) -> str:
    shown = page.locator(".of-point:visible")
    assert shown.count() == 1
    return shown.get_attribute("id") or ""


def test_a_mark_a_key_and_the_address_choose_the_point(page: Page, compared: Path) -> None:
    answered = shown_point(page)
    page.locator("figure svg").first.scroll_into_view_if_needed()
    other, x, y = page.evaluate(_MARK_OF_ANOTHER_POINT, f"#{answered}")
    page.mouse.click(x, y)
    assert f"#{shown_point(page)}" == other
    assert page.url.endswith(other), "a link to the page carries the choice"
    page.locator(f"nav a[href='#{answered}']").focus()
    page.keyboard.press("Enter")
    assert shown_point(page) == answered
    page.goto(f"{compared.as_uri()}{other}")
    assert f"#{shown_point(page)}" == other


def test_both_runs_misses_stand_on_one_axis_and_are_drawn(page: Page) -> None:
    histogram = page.locator(".of-point:visible figure")
    texts = histogram.locator("svg text").all_text_contents()
    assert {"A", "B"} <= set(texts)
    assert texts.count("latency (ns)") == 1
    box = histogram.locator("svg").bounding_box()
    assert box
    assert box["width"] > 300
    assert box["height"] > 100


def test_no_page_scrolls_sideways_and_none_has_a_serious_accessibility_error(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []


def test_on_paper_the_point_and_its_chart_are_there_and_no_table_is_cut_off(page: Page) -> None:
    page.set_viewport_size({"width": PAPER[0], "height": PAPER[1]})
    page.emulate_media(media="print")
    assert cut_tables(page) == []
    assert page.locator(".of-point:visible figure svg").count() == 1
    assert page.locator("nav:visible").count() == 0
