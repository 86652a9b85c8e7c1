"""A report in a browser, with everything it writes to the console and requests from the network."""

from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, Route, expect
from program import ROOT

SCREENSHOTS = ROOT / "build" / "screenshots"

DESKTOP = (1280, 900)
PAPER = (718, 1045)  # A4 with the margins that browsers print by default
PHONE = (390, 844)

# The marks with which Vega draws data: bars, dots, lines, rules, texts; not axes or legends.
MARKS = "svg g.mark-rect.role-mark path, svg g.mark-symbol.role-mark path, svg g.mark-line.role-mark path, svg g.mark-bar path"


# Finds words that are broken over two lines, and chart labels that are cut off.
BROKEN_WORDS = """() => {
  document.querySelectorAll('details').forEach((closed) => (closed.open = true));
  const labels = [...document.querySelectorAll('figure[data-chart] svg text')].map((text) => text.textContent);
  const broken = labels.filter((label) => label.includes('…'));
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (!node.parentElement.checkVisibility() || node.parentElement.closest('svg, select')) continue;
    for (const word of node.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""


def cut_tables(page: Page) -> list[str]:
    """The headings of tables that are wider than their place, which a printed page cuts off."""
    cut = """(tables) => tables.filter((table) => table.offsetParent &&
      table.getBoundingClientRect().right > document.documentElement.clientWidth).map((table) => table.tHead?.innerText)"""
    return list(page.eval_on_selector_all("table", cut))


@dataclass
class OpenedPage:
    page: Page
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def scroll_through(self) -> None:
        """Scrolls to each chart and waits until it is drawn. A chart is drawn when it comes into view, and then moves
        the charts below."""
        for figure in self.page.locator("figure[data-chart]").all():
            figure.evaluate("(f) => f.scrollIntoView({behavior: 'instant', block: 'center'})")
            drawn = "(f) => f.hidden || !f.offsetParent || f.dataset.drawn === 'yes'"
            self.page.wait_for_function(drawn, arg=figure.element_handle())
        self.page.evaluate("scrollTo({top: 0, behavior: 'instant'})")

    def charts(self) -> list[str]:
        """The charts for which the run has data."""
        shown = "(figures) => figures.filter((f) => !f.hidden && f.offsetParent).map((f) => f.dataset.chart)"
        return list(self.page.eval_on_selector_all("figure[data-chart]", shown))

    def marks(self, chart: str) -> int:
        return self.page.locator(f'figure[data-chart="{chart}"]').locator(MARKS).count()

    def broken_words(self) -> list[str]:
        return list(self.page.evaluate(BROKEN_WORDS))

    def tiles(self) -> dict[str, str]:
        """The headlines by label, without the intervals beside them."""
        tiles = self.page.locator("[data-key-figures] dl > div")
        return {tile.locator("dt").inner_text(): tile.locator("dd").first.inner_text() for tile in tiles.all()}

    def titles_of_axes(self, chart: str) -> list[str]:
        return self.page.locator(f'figure[data-chart="{chart}"] g.role-axis-title text').all_text_contents()

    def column(self, table: str, number: int) -> list[str]:
        """The shown texts in a table's column, from the top; columns count from 1."""
        return self.page.locator(f'[data-table="{table}"] tbody tr td:nth-child({number})').all_inner_texts()

    def sort(self, table: str, key: str) -> None:
        button = self.page.locator(f'[data-table="{table}"] button[data-sort="{key}"]')
        header = button.locator("..")
        before = header.get_attribute("aria-sort")
        button.click()
        try:
            expect(header).not_to_have_attribute("aria-sort", before or "", timeout=2500)
        except AssertionError:  # a page that is still being drawn may lose a click
            button.click()
            expect(header).not_to_have_attribute("aria-sort", before or "")

    def filter(self, name: str, words: str) -> None:
        self.page.locator(f'[data-filter="{name}"]:visible').fill(words)

    def screenshot(self, name: str) -> None:
        """Saves a picture for a person to look at."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


def open_page(browser: Browser, file: Path, *, size: tuple[int, int] = DESKTOP, theme: str = "light") -> OpenedPage:
    """Opens the file, and refuses and records every other request."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)  # type: ignore[arg-type]
    opened = OpenedPage(context.new_page())

    def refuse_all_others(route: Route) -> None:
        if route.request.url == file.as_uri():
            route.continue_()
            return
        opened.requests.append(route.request.url)
        route.abort()

    opened.page.route("**/*", refuse_all_others)
    opened.page.on("console", lambda message: opened.problems.append(f"{message.type}: {message.text}"))
    opened.page.on("pageerror", lambda error: opened.problems.append(f"error: {error}"))
    opened.page.goto(file.as_uri())
    opened.page.wait_for_function("document.documentElement.dataset.ready === 'yes'")
    return opened
