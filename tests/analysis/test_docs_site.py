"""docs/ as a site: it builds without errors, and can be read and searched from a disk, without a network."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opened_page import DESKTOP, PHONE
from playwright.sync_api import Browser, Page
from program import ROOT

READ = ("index", "first-experiment", "parameters", "options", "architecture", "results", "machines/numaq_16way")

# What a browser fetches by itself, excluding links that a reader may click.
FETCHED = re.compile(r"<(?:script|img|iframe|source|link|object)\b[^>]*?\b(?:src|href|data)=[\"']?((?:https?:)?//[^\"'\s>]*)")


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", config, "--site-dir", site]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(executable: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert executable  # the executable makes some of the pages
    folder = tmp_path_factory.mktemp("docs") / "site"
    built = build(ROOT / "mkdocs.yml", folder)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page whose requests and error messages are collected in `heard`."""
    context = browser.new_context(viewport={"width": DESKTOP[0], "height": DESKTOP[1]}, color_scheme="light")
    opened = context.new_page()
    heard: list[str] = []
    opened.on("request", lambda request: request.url.startswith(("file:", "data:", "blob:")) or heard.append(request.url))
    # Requests that are still open when the page is left are not failures.
    opened.on("requestfailed", lambda it: "ERR_ABORTED" in (it.failure or "") or heard.append(f"failed: {it.url}"))
    opened.on("console", lambda message: heard.append(f"{message.type}: {message.text}"))
    opened.on("pageerror", lambda error: heard.append(f"error: {error}"))
    yield opened
    context.close()
    assert heard == []


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    assert {str(page): found for page in pages if (found := FETCHED.findall(page.read_text()))} == {}
    styles = {sheet: re.findall(r"(?:@import|url\()[\s\"']*(?:https?:)?//", sheet.read_text()) for sheet in site.rglob("*.css")}
    assert not any(styles.values())


def test_pages_show_their_pictures_and_are_no_wider_than_a_phone(site: Path, page: Page) -> None:
    for name in READ:
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0], name
        assert page.evaluate("[...document.images].every((image) => image.complete && image.naturalWidth > 0)"), name


def test_a_parameter_is_found_by_its_last_word_and_its_page_opens(site: Path, page: Page) -> None:
    page.goto((site / "index.html").as_uri())
    page.locator(".md-search__input").click()
    # filling in the text only fetches the index; the search begins with a key press
    page.locator(".md-search__input").fill("line_busy_n")
    page.locator(".md-search__input").press("s")
    page.locator(".md-search-result__link[href*='parameters.html'][href*='machinedirectory']").click()
    page.wait_for_url("**/parameters.html**", timeout=5000)
    assert page.locator("td code", has_text="line_busy_ns").count() == 1


def test_the_palette_goes_from_light_to_dark(site: Path, page: Page) -> None:
    page.goto((site / "index.html").as_uri())
    shown = "getComputedStyle(document.body).backgroundColor"
    backgrounds = [page.evaluate(shown)]
    for _ in range(2):  # from the system's theme to light to dark
        page.locator("form[data-md-component=palette] label:visible").click()
        page.wait_for_timeout(200)
        backgrounds.append(page.evaluate(shown))
    assert backgrounds[0] == backgrounds[1] != backgrounds[2]


def test_a_broken_link_a_broken_anchor_and_an_unreachable_page_end_the_build(executable: Path, tmp_path: Path) -> None:
    assert executable
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    with (tmp_path / "docs" / "loads.md").open("a") as page:
        page.write("\n[one](nowhere.md) [two](results.md#nowhere) [three](../configs/nowhere.md)\n")
    (tmp_path / "docs" / "lonely.md").write_text("# Alone\n")
    config = tmp_path / "mkdocs.yml"
    config.write_text(f"INHERIT: {ROOT}/mkdocs.yml\ndocs_dir: docs\nhooks: [{ROOT}/tools/docs_site.py]\n")
    built = build(config, tmp_path / "site")
    assert built.returncode != 0
    for fault in ("'nowhere.md'", "'results.md#nowhere'", "'../configs/nowhere.md'", "lonely.md"):
        assert fault in built.stderr
