"""A report that is open in a browser, with all that it says on the console and all that it asks the network for."""

from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, Route

DESKTOP = (1280, 900)
PHONE = (390, 844)

# What Vega draws data with: bars, dots, lines, rules, texts. Axes and legends are not among them.
MARKS = "svg g.mark-rect.role-mark path, svg g.mark-symbol.role-mark path, svg g.mark-line.role-mark path, svg g.mark-bar path"


@dataclass
class OpenedPage:
    page: Page
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def scroll_through(self) -> None:
        """Charts are drawn when they come into sight."""
        height = self.page.evaluate("document.documentElement.scrollHeight")
        for y in range(0, height, 400):
            self.page.evaluate(f"scrollTo({{top: {y}, behavior: 'instant'}})")
            self.page.wait_for_timeout(30)
        drawn = "(f) => f.hidden || !f.offsetParent || f.dataset.drawn === 'yes'"
        self.page.wait_for_function(f"[...document.querySelectorAll('figure[data-chart]')].every({drawn})")
        self.page.evaluate("scrollTo({top: 0, behavior: 'instant'})")

    def charts(self) -> list[str]:
        """Those that the run has data for."""
        shown = "(figures) => figures.filter((f) => !f.hidden && f.offsetParent).map((f) => f.dataset.chart)"
        return list(self.page.eval_on_selector_all("figure[data-chart]", shown))

    def marks(self, chart: str) -> int:
        return self.page.locator(f'figure[data-chart="{chart}"]').locator(MARKS).count()

    def column(self, table: str, number: int) -> list[str]:
        """What a column of a table shows, from the top; columns count from 1."""
        return self.page.locator(f'[data-table="{table}"] tbody tr td:nth-child({number})').all_inner_texts()

    def sort(self, table: str, key: str) -> None:
        self.page.locator(f'[data-table="{table}"] button[data-sort="{key}"]').click()

    def filter(self, name: str, words: str) -> None:
        self.page.locator(f'[data-filter="{name}"]:visible').fill(words)

    def screenshot(self, path: Path) -> None:
        self.page.screenshot(path=path, full_page=True)


def open_page(browser: Browser, file: Path, *, size: tuple[int, int] = DESKTOP, theme: str = "light") -> OpenedPage:
    """Opens it with every request refused and recorded but that of the file itself."""
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
