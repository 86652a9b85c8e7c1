"""The report in a real browser without a network: what a reader sees and does."""

import itertools
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import linebounce
import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from charts import CHARTS
from linebounce.report.charts.sweep import SERIES_COLOURS, SERIES_DASHES, SERIES_SHAPES
from linebounce.report.metric_names import metric_names
from opened_page import DESKTOP, PAPER, PHONE, OpenedPage, cut_tables, open_page
from playwright.sync_api import Browser
from program import Result
from written_headlines import headline, set_headlines


@pytest.fixture(scope="module")
def reports(
    command: Callable[..., Result], tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> dict[str, Path]:
    """Makes a report for each run."""
    folder = tmp_path_factory.mktemp("reports")
    pages = {}
    for run in CHARTS:
        pages[run] = folder / f"{run}.html"
        assert command("report", request.getfixturevalue(run), "-o", pages[run]).code == 0
    return pages


@pytest.fixture
def opened(browser: Browser, reports: dict[str, Path]) -> Iterator[Callable[..., OpenedPage]]:
    """Opens a run's report, and checks at the end that nothing went wrong in it."""
    pages: list[OpenedPage] = []

    def open_run(run: str, **options: object) -> OpenedPage:
        pages.append(open_page(browser, reports[run], **options))  # type: ignore[arg-type]
        return pages[-1]

    yield open_run
    for page in pages:
        assert page.problems == []
        assert page.requests == []
        page.page.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("run", sorted(CHARTS))
def test_every_chart_has_marks_and_nothing_leaves_the_file(
    opened: Callable[..., OpenedPage], run: str, size: tuple[int, int], theme: str
) -> None:
    page = opened(run, size=size, theme=theme)
    page.scroll_through()
    assert set(page.charts()) == CHARTS[run]
    assert all(page.marks(chart) > 0 for chart in page.charts()), {chart: page.marks(chart) for chart in page.charts()}
    assert page.page.evaluate("document.documentElement.scrollWidth") <= size[0], "wider than the window"
    if size == PHONE:
        assert page.broken_words() == []
    page.screenshot(f"report_{run.removesuffix('_run')}_{'phone' if size == PHONE else 'desktop'}_{theme}")


@pytest.mark.parametrize("run", ["locks_run", "oltp_run"])
def test_on_paper_every_chart_is_drawn_without_scrolling_and_no_table_is_cut_off(
    opened: Callable[..., OpenedPage], run: str
) -> None:
    page = opened(run, size=PAPER)
    page.page.pdf()
    assert page.charts()
    for figure in page.page.locator("figure[data-chart]:visible").all():
        page.page.wait_for_function("(f) => f.dataset.drawn === 'yes'", arg=figure.element_handle())
    page.page.emulate_media(media="print")
    assert cut_tables(page.page) == []


def processor_seconds(browser: Browser, report: Path) -> float:
    """The CPU time of the page's main thread, for which a reader waits, until its tables are filled and its first chart is
    drawn. The browser compiles scripts and collects garbage on other threads meanwhile."""
    page = open_page(browser, report).page
    page.wait_for_selector("figure svg g.mark-symbol path")
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    metrics = {metric["name"]: metric["value"] for metric in devtools.send("Performance.getMetrics")["metrics"]}
    page.context.close()
    return metrics["ThreadTime"]


def test_a_report_of_a_hundred_thousand_lines_opens_in_under_two_seconds(browser: Browser, reports: dict[str, Path]) -> None:
    """The fastest of several openings counts, because other programs on the machine can only make an opening slower. Of two
    seconds of the process, its main thread takes 1.4 (0.67 to 0.74 of the whole in three openings)."""
    most = 1.4
    times: list[float] = []
    while len(times) < 5 and not any(0 < time < most for time in times):
        times.append(processor_seconds(browser, reports["oltp_run"]))
    assert 0 < min(times) < most, times


def test_the_lock_table_sorts_by_every_column_both_ways(opened: Callable[..., OpenedPage]) -> None:
    page = opened("oltp_run")
    page.sort("locks", "total")
    totals = [int(text.replace(",", "")) for text in page.column("locks", 9)]
    assert len(totals) > 10
    assert totals == sorted(totals, reverse=True)
    page.sort("locks", "total")
    assert [int(text.replace(",", "")) for text in page.column("locks", 9)] == totals[::-1]
    page.sort("locks", "lock")
    names = [text.strip("▸ \n") for text in page.column("locks", 1)]
    assert names == sorted(names)


def test_a_lock_opens_to_its_call_sites_by_keyboard(opened: Callable[..., OpenedPage]) -> None:
    page = opened("oltp_run")
    page.filter("locks", "kioctx_ctx_lock")
    assert len(page.column("locks", 1)) == 1
    page.page.locator('[data-opens="kioctx_ctx_lock"]').press("Enter")
    sites = page.page.locator('[data-table="locks"] tr.inner td:first-child').all_inner_texts()
    assert "aio_complete" in sites
    assert page.page.evaluate("document.activeElement.dataset.opens") == "kioctx_ctx_lock"


def test_the_explorer_filters_by_field_and_function(opened: Callable[..., OpenedPage]) -> None:
    page = opened("oltp_run")
    page.filter("lines", "rq nr_running")
    names = page.column("lines", 1)
    assert names
    assert all("rq" in name for name in names)
    page.filter("lines", "no_such_field")
    assert page.page.locator("[data-lines-count]").inner_text().startswith("0 lines")
    page.filter("lines", "")
    assert len(page.column("lines", 1)) == 25


def test_a_line_is_drawn_as_its_bytes_with_the_fields_on_it(opened: Callable[..., OpenedPage]) -> None:
    page = opened("oltp_run")
    page.filter("lines", "tvec_base[1]")
    page.page.locator('[data-table="lines"] .line-name').first.press("Enter")
    assert page.page.locator("[data-line-detail] h3").inner_text() == "tvec_base[1], line 0"
    assert page.page.locator("[data-line-detail] .offset").all_inner_texts() == ["0", "32", "64", "96"]
    lock = page.page.locator(".byte-row .field", has_text="lock").first
    assert "written" in str(lock.get_attribute("class"))
    before = page.page.locator("[data-line-detail] tbody tr").count()
    lock.click()
    fields = page.page.locator("[data-line-detail] tbody td:nth-child(2)").all_inner_texts()
    assert 0 < len(fields) < before
    assert set(fields) == {"lock"}


def test_lines_of_a_structures_objects_add_up(opened: Callable[..., OpenedPage]) -> None:
    page = opened("oltp_run")
    page.filter("lines", "tvec_base")
    page.page.get_by_role("button", name="each structure").click()
    first = page.column("lines", 1)[0]
    assert "tvec_base" in first
    assert "16 objects" in first


def test_a_line_of_the_matrix_run_has_its_machines_length(opened: Callable[..., OpenedPage]) -> None:
    page = opened("matrix_run")
    assert page.page.locator("[data-line-detail] .caption").first.inner_text().startswith("32 bytes")


def test_the_explorers_sums_are_those_of_the_file(opened: Callable[..., OpenedPage], oltp_run: Path) -> None:
    lines = linebounce.open(oltp_run).lines.filter(pl.col("field") != "[]")
    top = (
        lines.group_by("object", "line")
        .agg((pl.col("count") * pl.col("latency_ns_mean")).sum().alias("ns"), pl.col("count").sum())
        .sort("ns", descending=True)
    )
    page = opened("oltp_run")
    assert page.column("lines", 1)[0].split("\n")[0] == top["object"][0]
    assert page.column("lines", 4)[0] == f"{top['count'][0]:,}"


def test_a_report_opens_with_the_answer_and_shows_the_point_that_it_speaks_of(
    opened: Callable[..., OpenedPage], locks_run: Path
) -> None:
    results = linebounce.open(locks_run)
    page = opened("locks_run")
    assert page.page.locator("p.answer").inner_text() == results.answer.text
    point = results.answered_point
    assert page.page.locator("[data-point-name]").inner_text().startswith(f"point {point.number} ")
    millions = point["throughput.operations_per_s"].value / 1e6
    label = results.headlines[0].label
    assert page.tiles()[label] == f"{millions:.3g} M /s"
    page.page.locator('select[data-path="machine.cpus"]').select_option(label="1")
    alone = results.point(**{**point.at, "machine.cpus": 1})
    assert page.tiles()[label] == f"{alone['throughput.operations_per_s'].value / 1e3:.3g} k /s"
    assert page.page.evaluate("location.hash") == f"#point={alone.number}", "a link to what is shown"


def test_a_click_on_a_point_of_the_sweep_chooses_it(opened: Callable[..., OpenedPage]) -> None:
    page = opened("locks_run")
    mark = page.page.locator('figure[data-chart="sweep"] .mark-symbol path').nth(2)
    before = page.page.locator("[data-point-name]").inner_text()
    mark.click(force=True)
    page.page.wait_for_function("before => document.querySelector('[data-point-name]').innerText !== before", arg=before)
    row = page.page.locator('[data-table="sweep"] tr[aria-current="true"]')
    assert row.count() == 1, "the table marks the same point"


def test_tiles_agree_with_the_matrix_beneath(
    browser: Browser, command: Callable[..., Result], matrix_run: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(matrix_run, tmp_path / "run"))
    set_headlines(run, [headline(f"core_to_core.{node}_ns", node, "lower") for node in ("same_node", "other_node")])
    assert command("report", run, "-o", tmp_path / "run.html").code == 0
    page = open_page(browser, tmp_path / "run.html")
    tiles = page.tiles()
    means = page.page.locator("[data-matrix-means]")
    assert means.inner_text() == f"Mean: {tiles['same_node']} within a node, {tiles['other_node']} between nodes."
    metrics = linebounce.open(matrix_run).points[0].metrics
    page.page.get_by_role("button", name="Modified", exact=True).click()
    modified = metrics["core_to_core.modified.same_node_ns"].value
    assert means.inner_text().startswith(f"Mean: {modified:.3g} ns within a node, ")
    page.page.context.close()


def test_axes_have_words_and_cpus_stand_at_equal_distances(opened: Callable[..., OpenedPage]) -> None:
    page = opened("locks_run")
    page.scroll_through()
    assert page.titles_of_axes("sweep") == ["CPUs", "operations per second, all CPUs"]
    assert page.titles_of_axes("contention") == ["CPUs", "section_lock: acquisitions that wait (%)"]
    labels = page.page.locator('figure[data-chart="sweep"] g.role-axis-label').first.locator("text")
    assert labels.all_text_contents() == ["1", "2", "4"]
    boxes = labels.evaluate_all(
        "(all) => all.map((text) => text.getBoundingClientRect()).map((box) => box.left + box.width / 2)"
    )
    assert boxes[2] - boxes[1] == pytest.approx(boxes[1] - boxes[0], abs=2)


def test_choosing_a_point_changes_all_that_is_shown(opened: Callable[..., OpenedPage]) -> None:
    page = opened("locks_run")
    page.page.locator('select[data-path="workload.lock"]').select_option(label="mcs")
    page.page.locator('select[data-path="machine.cpus"]').select_option(label="2")
    assert page.page.locator("[data-point-name]").inner_text() == "point 7 (0 to 8)"
    assert "mcs_lock" in " ".join(page.column("lines", 1))
    drawn = page.page.locator("svg.topology:visible .absent")
    assert drawn.count() > 0
    page.page.locator('select[data-path="machine.cpus"]').select_option(label="1")
    page.scroll_through()
    assert set(page.charts()) == {"sweep", "contention", "cpi_cpus", "cpi_functions"}, "a single CPU misses nothing here"


def test_contention_is_drawn_against_cpus(opened: Callable[..., OpenedPage]) -> None:
    page = opened("locks_run")
    page.scroll_through()
    before = page.page.locator('figure[data-chart="contention"] svg').inner_html()
    page.page.locator("[data-contention-column]").select_option("wait_mean_us")
    page.page.wait_for_function(
        "(before) => document.querySelector('figure[data-chart=\"contention\"] svg')?.innerHTML !== before", arg=before
    )
    page.scroll_through()
    assert page.marks("contention") > 0


def test_contention_is_drawn_for_locks_whose_names_no_metric_can_have(
    browser: Browser, command: Callable[..., Result], locks_run: Path, tmp_path: Path
) -> None:
    """Names as in a recorded program: capitals, blanks, colons."""
    run = tmp_path / "run"
    shutil.copytree(locks_run, run)
    table = (run / "locks.csv").read_text()
    (run / "locks.csv").write_text(table.replace(",section_lock,", ",Section::lock,"))
    for file in ("results.json", "seeds.csv"):
        (run / file).write_text((run / file).read_text().replace("locks.section_lock.", "locks.section__lock."))
    assert command("report", run, "-o", tmp_path / "run.html", "--figures", tmp_path / "figures").code == 0
    page = open_page(browser, tmp_path / "run.html")
    page.scroll_through()
    assert page.marks("contention") > 9
    assert "section__lock" in (tmp_path / "figures" / "run" / "contention.svg").read_text()
    assert len(re.findall("<path", (tmp_path / "figures" / "run" / "contention.svg").read_text())) > 9
    page.page.context.close()


def test_names_in_metrics_are_those_that_the_program_gives() -> None:
    """The Python names must be those of the program, which tests/sim/results/metric_names_test.cpp tests with the same
    list."""
    names = metric_names(["log", "log-2", "LOG", "Log", "A::b(c) d.e+5", ""])
    assert names == {
        "log": "log",
        "log-2": "log-2",
        "LOG": "log-3",
        "Log": "log-4",
        "A::b(c) d.e+5": "a__b_c__d_e_5",
        "": "_",
    }


def test_errors_are_sorted_by_the_number_that_is_shown(opened: Callable[..., OpenedPage]) -> None:
    page = opened("oltp_run")
    page.sort("paper", "ratio")
    shown = [text.replace("\u2212", "-").split()[0] for text in page.column("paper", 4) if text]
    assert len(shown) > 20
    errors = [float(text.replace(",", "")) for text in shown]
    assert errors == sorted(errors, reverse=True)


def test_the_numbers_of_the_matrix_are_in_a_table(opened: Callable[..., OpenedPage], matrix_run: Path) -> None:
    page = opened("matrix_run")
    for choice in ("Modified", "home on node 0"):
        page.page.get_by_role("button", name=choice, exact=True).click()
    page.page.locator('section[data-section="matrix"] summary').press("Enter")
    cells = linebounce.open(matrix_run).matrix.filter(state="Modified", home_node=0)
    paid = cells.filter(from_cpu=2, to_cpu=5)["latency_ns"][0]
    rows = list(zip(*(page.column("matrix", column) for column in (1, 2, 3)), strict=True))
    assert len(rows) == len(cells)
    assert float(next(ns for start, end, ns in rows if (start, end) == ("2", "5"))) == pytest.approx(paid, rel=1e-3)


def test_paper_rows_can_be_narrowed_to_those_that_are_off(opened: Callable[..., OpenedPage]) -> None:
    page = opened("oltp_run")
    all_rows = len(page.column("paper", 1))
    page.page.locator("[data-off-only]").check()
    verdicts = page.column("paper", 7)
    assert 0 < len(verdicts) < all_rows
    assert set(verdicts) == {"✗ off"}


def test_the_switch_changes_the_theme_and_the_charts_with_it(opened: Callable[..., OpenedPage]) -> None:
    page = opened("costs_run")
    page.scroll_through()
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page.page.evaluate(ground)
    page.page.locator("#theme").press("Enter")
    assert page.page.evaluate(ground) != before
    page.page.wait_for_function(
        "document.querySelector('figure[data-chart=latency_histogram] svg').outerHTML.includes('#4aa3e0')"
    )


# The visible text of SVG text elements, without their titles.
WRITTEN = "(texts) => texts.map((text) => text.firstChild?.data ?? '')"


def test_links_show_their_utilisation(opened: Callable[..., OpenedPage], matrix_run: Path) -> None:
    page = opened("matrix_run")
    loads = page.page.eval_on_selector_all("svg.topology .load", WRITTEN)
    assert len(loads) == 1 + 2 * 4, "the bus, and both ways of the ring's four links"
    assert all(text.endswith("%") for text in loads)
    titles = page.page.locator("svg.topology [data-link] title").all_text_contents()
    metrics = linebounce.open(matrix_run).points[0].metrics
    carried = f"{metrics['link.0_1.mb_per_s'].value:.3g} MB/s of headers and lines"
    busy = f"{metrics['link.0_1.utilisation_pct'].value:.3g} % of the time"
    assert titles[0] == f"Link from 0 to 1: {carried}, busy {busy}"


def test_links_without_a_limit_show_their_traffic(opened: Callable[..., OpenedPage], crossbar_run: Path) -> None:
    page = opened("crossbar_run")
    metrics = linebounce.open(crossbar_run).points[0].metrics
    assert all(metrics[name].value == 0 for name in metrics if name.startswith("link.") and name.endswith("_pct"))
    links = page.page.locator("svg.topology [data-link]")
    written = page.page.eval_on_selector_all("svg.topology [data-link]", WRITTEN)
    assert written == [
        f"{arrow} {metrics[f'{link}.mb_per_s'].value:.3g} MB/s"
        for arrow, link in zip("→←←→", links.evaluate_all("(texts) => texts.map((text) => text.dataset.link)"), strict=True)
    ]
    lines = page.page.locator("svg.topology [data-load]")
    widths = lines.evaluate_all("(lines) => lines.map((line) => parseFloat(line.style.strokeWidth))")
    assert max(widths) == 10, "the busiest"
    assert len(widths) == 2
    # Whether no text overlaps a box.
    apart = """(texts) => texts.every((text) => {
      const own = text.getBoundingClientRect();
      return [...text.ownerSVGElement.querySelectorAll('rect')].every((rect) => {
        const box = rect.getBoundingClientRect();
        return own.right <= box.left || own.left >= box.right || own.bottom <= box.top || own.top >= box.bottom;
      });
    })"""
    assert links.evaluate_all(apart)


def test_the_whole_page_can_be_reached_by_keyboard(opened: Callable[..., OpenedPage]) -> None:
    page = opened("costs_run")
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.textContent") == "Skip to the results"
    controls = "button, select, input, summary, a"
    count = f"[...document.querySelectorAll('{controls}')].filter((e) => e.offsetParent).length"
    for _ in range(2 * int(page.page.evaluate(count))):
        page.page.keyboard.press("Tab")
        mark = "(e) => (e.dataset.reached = 'yes', e === document.body ? 'browser' : getComputedStyle(e).outlineStyle)"
        outline = page.page.evaluate(f"({mark})(document.activeElement)")
        assert outline != "none", "what is in focus looks like it"
    left = "(all) => all.filter((e) => e.offsetParent && !e.dataset.reached && !e.matches('.skip')).map((e) => e.outerHTML)"
    assert page.page.eval_on_selector_all(controls, left) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("run", sorted(CHARTS))
def test_axe_finds_nothing_that_keeps_anybody_out(opened: Callable[..., OpenedPage], run: str, theme: str) -> None:
    """Contrast, names, roles, landmarks, scrolling by keyboard: the rules of axe-core."""
    page = opened(run, theme=theme)
    page.scroll_through()
    found = Axe().run(page.page).response["violations"]
    assert not [(rule["id"], node["html"][:200]) for rule in found for node in rule["nodes"]]


def test_a_table_sorts_by_enter_and_says_so(opened: Callable[..., OpenedPage]) -> None:
    page = opened("oltp_run")
    head = page.page.locator('[data-table="locks"] th', has=page.page.locator('[data-sort="util_pct"]'))
    assert head.get_attribute("aria-sort") == "none"
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert page.page.evaluate("document.activeElement.dataset.sort") == "util_pct", "the focus stays"
    page.page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"


def test_every_chart_has_a_name_and_is_one_picture(opened: Callable[..., OpenedPage]) -> None:
    page = opened("locks_run")
    page.scroll_through()
    named = page.page.eval_on_selector_all(
        "figure[data-chart] svg", "(all) => all.map((e) => [e.getAttribute('role'), e.getAttribute('aria-label')])"
    )
    assert named[0] == ["img", "The chosen metric over the swept parameter: 9 values"]
    assert all(role == "img" and name for role, name in named)


def test_series_differ_in_colour_dash_or_shape_in_both_themes(opened: Callable[..., OpenedPage]) -> None:
    assert len(set(zip(SERIES_COLOURS, map(str, SERIES_DASHES), strict=True))) == len(SERIES_COLOURS) > 20
    assert len(set(zip(SERIES_COLOURS, SERIES_SHAPES, strict=True))) == len(SERIES_COLOURS)
    for theme in ("light", "dark"):
        page = opened("locks_run", theme=theme)
        page.scroll_through()
        lines = page.page.locator('figure[data-chart="sweep"] g.mark-line path').evaluate_all(
            "(all) => all.map((e) => e.getAttribute('stroke') + e.getAttribute('stroke-dasharray'))"
        )
        assert len(set(lines)) == len(lines) == 3
        legend = page.page.locator('figure[data-chart="sweep"] g.role-legend-label text').all_text_contents()
        assert legend == ["tas", "ticket", "mcs"], "one legend for colour, dash and shape"


def test_the_numbers_of_a_sweeps_chart_are_in_a_table(opened: Callable[..., OpenedPage], locks_run: Path) -> None:
    page = opened("locks_run")
    page.page.locator('section[data-section="sweep"] summary').press("Enter")
    point = linebounce.open(locks_run).point(**{"workload.lock": "ticket", "machine.cpus": 2})
    rows = list(zip(*(page.column("sweep", column) for column in (1, 2, 3)), strict=True))
    assert ("2", "ticket", f"{point['throughput.operations_per_s'].value:,.0f}") in rows
    assert len(rows) == 9


def test_bars_of_a_swept_word_stand_the_highest_first(opened: Callable[..., OpenedPage]) -> None:
    page = opened("locks_run")
    page.page.locator('[data-sweep="x"]').select_option("workload.lock")
    page.page.locator('[data-sweep="series"]').select_option("")
    page.scroll_through()
    bars = page.page.locator('figure[data-chart="sweep"] g.layer_0_marks path')
    boxes = bars.evaluate_all("(all) => all.map((e) => e.getBoundingClientRect()).map((box) => [box.top, box.width])")
    widths = [width for _, width in sorted(boxes)]
    assert len(widths) == 3
    assert widths == sorted(widths, reverse=True)


def test_cpus_of_a_node_stand_together_in_the_matrix(opened: Callable[..., OpenedPage]) -> None:
    page = opened("matrix_run")
    page.scroll_through()
    labels = page.page.locator('figure[data-chart="matrix"] g.role-axis-label text').all_text_contents()
    assert labels[:8] == ["0", "4", "8", "12", "1", "5", "9", "13"]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_matrix_and_the_drawings_have_parts_that_are_large_and_far_enough_apart(
    opened: Callable[..., OpenedPage], size: tuple[int, int]
) -> None:
    page = opened("matrix_run", size=size)
    page.scroll_through()
    scales = page.page.locator("svg.topology:visible").evaluate_all(
        "(all) => all.map((svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)"
    )
    assert len(scales) == 2
    assert min(scales) > 0.8
    spans = page.page.locator('figure[data-chart="matrix"] g.role-axis').nth(0).locator("g.role-axis-label text")
    boxes = spans.evaluate_all("(all) => all.map((text) => text.getBoundingClientRect()).map((box) => [box.left, box.right])")
    assert len(boxes) >= 6
    assert all(before[1] < after[0] for before, after in itertools.pairwise(boxes))


def test_nodes_say_how_many_misses_their_lines_had(opened: Callable[..., OpenedPage], matrix_run: Path) -> None:
    lines = linebounce.open(matrix_run).lines
    misses = lines.filter(home=3)["count"].sum()
    page = opened("matrix_run")
    (text,) = page.page.locator('[data-home="3"][data-of="misses"]').all_text_contents()
    assert text == f"{misses:,} misses on its lines"


def test_the_configuration_has_colours(opened: Callable[..., OpenedPage]) -> None:
    page = opened("costs_run")
    page.page.locator('section[data-section="configuration"] summary').press("Enter")
    colours = page.page.locator(".toml span").evaluate_all("(all) => [...new Set(all.map((e) => getComputedStyle(e).color))]")
    assert len(colours) >= 4
    assert "[machine.cpu]" in page.page.locator(".toml").inner_text()


def test_several_runs_are_chosen_from_one_page(
    browser: Browser, command: Callable[..., Result], costs_run: Path, locks_run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "both.html"
    assert command("report", costs_run, locks_run, "-o", file).code == 0
    page = open_page(browser, file)
    assert "What an operation costs" in page.page.locator("h1:visible").inner_text()
    page.page.locator("#run-choice").select_option("1")
    assert page.page.locator("h1:visible").inner_text() == "Three locks under contention"
    page.scroll_through()
    assert set(page.charts()) == CHARTS["locks_run"]
    assert page.problems == []
    page.page.context.close()


def test_lines_that_change_hands_are_chosen_from_a_list_the_liveliest_first(opened: Callable[..., OpenedPage]) -> None:
    page = opened("timeline_run")
    page.scroll_through()
    choices = page.page.locator("[data-ownership-line] option").all_inner_texts()
    changes = [int(text.rpartition(": ")[2].split()[0].replace(",", "")) for text in choices]
    assert len(changes) > 5
    assert changes == sorted(changes, reverse=True)
    before = page.marks("ownership")
    assert before > changes[-1]
    marks = "figure[data-chart=ownership] svg g.mark-rect.role-mark path"
    page.page.locator("[data-ownership-part]").select_option("10")
    page.page.wait_for_function(f"(before) => document.querySelectorAll('{marks}').length < before / 2", arg=before)
    page.page.locator("[data-ownership-from]").press("End")
    page.page.locator("[data-ownership-part]").select_option("1")
    page.page.locator("[data-ownership-line]").select_option(str(len(choices) - 1))
    assert page.page.locator("[data-ownership-facts]").inner_text().startswith(f"Changed hands {changes[-1]} times")
    page.page.wait_for_function(f"(before) => document.querySelectorAll('{marks}').length !== before", arg=before)


def test_numbers_of_the_paper_stand_beside_the_simulated(opened: Callable[..., OpenedPage]) -> None:
    page = opened("costs_run")
    rows = dict(zip(page.column("paper", 1), zip(page.column("paper", 2), page.column("paper", 3), strict=True), strict=True))
    assert rows["ols2004.table1.l2_hit"] == ("12.9 ns", "12.86 ns")


def test_the_command_to_run_it_again_is_shown(opened: Callable[..., OpenedPage], costs_run: Path) -> None:
    page = opened("costs_run")
    assert f"linebounce run {costs_run}/config.toml" in page.page.locator(".command code").first.inner_text()


def test_calibrated_figures_count_as_no_predictions(opened: Callable[..., OpenedPage]) -> None:
    facts = opened("costs_run").page.locator(".facts").inner_text()
    assert "3 of 3 figures in sight within tolerance" in facts
    assert "6 of 6 calibrated figures within tolerance" in facts
