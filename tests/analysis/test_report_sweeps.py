"""Reports of sweeps over machines, of paths swept in step, and of runs whose misses all have the same latency."""

from collections.abc import Callable
from pathlib import Path

import linebounce
import pytest
from experiments import experiment
from linebounce.report import figures, sweeps
from opened_page import OpenedPage, open_page
from playwright.sync_api import Browser
from program import Program, Result

# Two machines: one bus with lines of 32 bytes; and two nodes with lines of 128 bytes, whose CPUs alternate between the nodes.
MACHINES = experiment(
    workload='name = "core_to_core"', run="", more='[sweep]\n"machine" = ["p3_xeon_4way", "itanium2_two_node_16way"]'
)


@pytest.fixture(scope="module")
def report(session_linebounce: Program, command: Callable[..., Result]) -> Path:
    run = session_linebounce.run(session_linebounce.file("machines.toml", MACHINES), "machines")
    page = session_linebounce.directory / "machines.html"
    assert command("report", run, "-o", page).code == 0
    return page


@pytest.mark.parametrize(
    ("point", "line_bytes", "cpus"),
    [(0, 32, [0, 1, 2, 3]), (1, 128, [*range(0, 16, 2), *range(1, 16, 2)])],
)
def test_lines_and_cpus_are_those_of_the_points_machine(
    browser: Browser, report: Path, point: int, line_bytes: int, cpus: list[int]
) -> None:
    page = open_page(browser, report)
    page.page.locator('select[data-path="machine"]').select_option(str(point))
    page.scroll_through()
    assert page.page.locator("[data-line-detail] .caption").first.inner_text().startswith(f"{line_bytes} bytes, ")
    assert len(page.page.locator("[data-line-detail] .byte-row").all()) == line_bytes // 32
    assert cpus_of_matrix(page) == cpus
    assert page.problems == []
    page.page.context.close()


def cpus_of_matrix(page: OpenedPage) -> list[int]:
    axis = page.page.locator('figure[data-chart="matrix"] g.role-axis-label').first
    return [int(text) for text in axis.locator("text").all_text_contents()]


TOGETHER = """\
[sweep]
"workload.lock" = ["tas", "mcs"]

[[sweep.together]]
"machine.cpu.consistency" = ["sc", "tso", "ia64"]
"machine.cpu.store_buffer_entries" = [0, 4, 4]
"""


def test_a_chart_does_not_begin_with_a_path_that_varies_in_step_with_another(session_linebounce: Program) -> None:
    """Two paths swept together have one value of the second for each value of the first, so a chart over the second
    alone would have only one place on its axis."""
    text = experiment(more=TOGETHER)
    results = linebounce.open(session_linebounce.run(session_linebounce.file("together.toml", text), "together"))
    axes = sweeps.default_axes(results)
    assert axes is not None
    rows = sweeps.rows(results, results.points[0], axes)
    assert len({row["x"] for row in rows}) == 2
    assert len(rows) == 6, "all points"


def test_misses_that_all_take_as_long_have_no_tail(
    browser: Browser, session_linebounce: Program, command: Callable[..., Result], tmp_path: Path
) -> None:
    run = session_linebounce.run("atomic_scaling", "one_latency", "--set", "machine.cpus=4")
    assert "latency_tail" not in {name for name, _ in figures.figures_of(linebounce.open(run))}
    assert command("report", run, "-o", tmp_path / "page.html").code == 0
    page = open_page(browser, tmp_path / "page.html")
    page.scroll_through()
    assert "latency_cdf" in page.charts()
    assert "latency_tail" not in page.charts()
    page.page.context.close()
