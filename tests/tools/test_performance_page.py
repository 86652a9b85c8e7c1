"""docs/performance.md: what is measured is rewritten, the text around it stays, and the picture has every series."""

import re
from pathlib import Path

import performance_page
from cost import cost_of
from linebounce.report.figures import drawn
from peers import CASES
from performance_page import LENGTHS, PAGE, POINTS, SHAPES, Measures, chart, page

MEASURES = Measures(
    locks=[{"lock": lock, "acquisitions": 12345.6, "misses": 1e6, "each": 81.0} for lock in ("ticket", "mcs")],
    shapes=[{"cpus": cpus, "nodes": nodes, "case": case, "rate": 2.5e6} for cpus, nodes in SHAPES for case in CASES],
    lengths=[{"of": case, "references": count, "mib": 20.0} for case, counts in LENGTHS.items() for count in counts],
    points=[{"points": points, "ms": 4.5, "mib": 30.0} for points in POINTS],
)


def test_tables_are_rewritten_and_the_text_stays() -> None:
    before = PAGE.read_text(encoding="utf-8")
    after = page(before, MEASURES)
    measured = re.compile(r"(<!-- \w+: written by .*?-->\n).*?(?=<!-- end -->)", re.DOTALL)
    assert measured.sub(r"\1", after) == measured.sub(r"\1", before), "run ./dev bench --page"
    assert "| `ticket` | 12,300 | 81 | 1,000,000 |" in after
    assert "| 64 | 16 | 2.5 M/s | 2.5 M/s | 2.5 M/s |" in after
    assert "| 1,000 | 4.5 | 30.0 |" in after
    assert page(after, MEASURES) == after


def test_the_page_has_a_row_for_each_machine_length_and_sweep_that_is_measured() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for cpus, nodes in SHAPES:
        assert re.search(rf"^\| {cpus} \| {nodes} \| [\d.]+ M/s", text, re.MULTILINE)
    for references in LENGTHS["private"]:
        assert re.search(rf"^\| bench, private \| {references:,} \|", text, re.MULTILINE)
    for points in POINTS:
        assert re.search(rf"^\| {points:,} \|", text, re.MULTILINE)


def test_the_picture_has_three_panels() -> None:
    svg = dict(drawn(chart(MEASURES)))["svg"].decode()
    for title in ("million references a second", "largest process, MiB", "CPU time a point, ms"):
        assert title in svg


def test_a_lock_of_the_standard_case_is_never_free(executable: Path, tmp_path: Path) -> None:
    """All but the first acquisitions wait; the waiters of a ticket lock miss at each release, those of MCS do not."""
    misses_each = {}
    for lock in ("ticket", "mcs"):
        cost, result = performance_page.run_cost(
            performance_page.LOCKS, tmp_path, f"workload.lock={lock}", "run.measure_us=100", program=executable
        )
        assert cost.seconds > 0
        assert cost.peak_mib > 1
        assert result["locks.section_lock.nowait"] <= 2
        misses_each[lock] = result["locks.section_lock.misses"] / result["locks.section_lock.spin"]
    assert misses_each["ticket"] > 40
    assert misses_each["mcs"] < 10


def test_what_a_command_costs_includes_what_it_starts(tmp_path: Path) -> None:
    burn = tmp_path / "burn.py"
    burn.write_text("import time\nwhile time.process_time() < 0.1: pass\n")
    assert 0.1 <= cost_of(["sh", "-c", f"python3 {burn}; true"]).seconds < 2
