"""Results in a notebook: as IPython's own formatter, called like its kernel, displays them."""

from pathlib import Path

import linebounce
import pytest
from IPython.core.formatters import DisplayFormatter

ROWS_OF_POINTS = 1 + 9


@pytest.fixture(scope="module")
def formatter() -> DisplayFormatter:
    return DisplayFormatter()


def shown(formatter: DisplayFormatter, thing: object) -> str:
    data, _ = formatter.format(thing)
    assert "text/plain" in data, "a notebook without HTML shows this"
    return str(data["text/html"])


def test_a_sweep_is_shown_as_its_points_with_a_figure_of_each(formatter: DisplayFormatter, locks_run: Path) -> None:
    results = linebounce.open(locks_run)
    html = shown(formatter, results)
    for part in ("Three locks under contention", "9 points", "<td>ticket</td>", "throughput.operations_per_s", str(locks_run)):
        assert part in html
    assert html.count("<tr>") == ROWS_OF_POINTS
    assert f"<td>{results.points[0]['throughput.operations_per_s']}</td>" in html


def test_one_point_is_shown_with_latencies_locks_and_paper_rows(formatter: DisplayFormatter, oltp_run: Path) -> None:
    results = linebounce.open(oltp_run)
    html = shown(formatter, results)
    for part in ("remote HITM", "UTIL %", "request_queue___queue_lock", "ols2007.", "<td>off</td>"):
        assert part in html
    off = sum(row.ok is False for row in results.paper)
    assert html.count("<td>off</td>") == min(off, 10), "what is off comes first"


def test_long_tables_are_cut_and_say_so(formatter: DisplayFormatter, oltp_run: Path) -> None:
    results = linebounce.open(oltp_run)
    assert f"{len(results.paper) - 10} more" in shown(formatter, results)
    assert shown(formatter, results.points[0]).count("<tr>") == 1 + 30 + 1


def test_points_show_their_metrics_with_units(formatter: DisplayFormatter, locks_run: Path) -> None:
    point = linebounce.open(locks_run).points[8]
    html = shown(formatter, point)
    assert "point 8: workload.lock = mcs, machine.cpus = 4" in html
    assert f"<td>{point['bus.utilisation_pct']}</td>" in html


def test_data_frames_are_shown_as_tables(formatter: DisplayFormatter, locks_run: Path) -> None:
    results = linebounce.open(locks_run)
    for frame in (results.locks, results.lines, results.settings, results.metrics):
        assert "<table" in shown(formatter, frame)


def test_names_are_text_and_never_markup(formatter: DisplayFormatter, locks_run: Path) -> None:
    results = linebounce.open(locks_run)
    results.config = {"title": "<script>alert(1)</script>"}
    assert "<script>" not in shown(formatter, results)
