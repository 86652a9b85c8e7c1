"""The lint of the documents' figures: nothing left out, nothing unknown, no stale record or page, and the project itself."""

from copy import deepcopy
from typing import Any

import papers_page
import pytest
from lint_papers import findings
from papers_page import Papers

ROW = {"id": "a.table1.hit", "metric": "m", "value": 3.0, "tolerance": 0.1, "kind": "in_sight"}
FOUND = {"id": "a.table1.hit", "paper": 3.0, "simulated": 3.1, "unit": "ns", "tolerance": 0.1, "kind": "in_sight", "ok": True}
COMPARED = {"what": "Table 1", "rows": ["a.table1."]}


def papers(*claims: dict[str, Any], row: dict | None = None, found: dict | None = None) -> Papers:
    document = {
        "document": "A 2001",
        "title": "A title",
        "authors": "Somebody",
        "section": [{"number": "1", "title": "Costs", "claim": list(claims)}],
    }
    experiment = {"workload": {"name": "w"}, "paper": [row or ROW]}
    return Papers([document], {"costs": experiment, "other": {"workload": {"name": "w"}}}, {"costs": [found or FOUND]})


def empty_page() -> str:
    return "# Page\n\n<!-- written by tools/papers_page.py -->\n<!-- end -->\n"


def found_in(them: Papers) -> list[str]:
    return findings(them, papers_page.page(empty_page(), them))


def changed(table: dict, **values: object) -> dict:
    return {**deepcopy(table), **values}


def test_a_figure_that_is_compared_is_covered() -> None:
    assert found_in(papers(COMPARED)) == []


@pytest.mark.parametrize(
    "way", [{"run": ["other"]}, {"command": "linebounce list"}, {"cannot": "source code"}, {"awaits": "to_come"}]
)
def test_a_claim_may_be_shown_or_have_a_reason(way: dict) -> None:
    assert found_in(papers(COMPARED, {"what": "A claim", **way})) == []


@pytest.mark.parametrize("ways", [{}, {"cannot": "source code", "run": ["other"]}])
def test_a_claim_is_covered_in_exactly_one_way(ways: dict) -> None:
    (finding,) = found_in(papers(COMPARED, {"what": "A claim", **ways}))
    assert finding.startswith('configs/papers: A 2001, section 1, "A claim": a claim has one of')


def test_a_claim_names_experiments_and_rows_that_exist() -> None:
    (finding,) = found_in(papers(COMPARED, {"what": "A claim", "run": ["no_such"]}))
    assert finding.endswith("there is no experiment no_such")
    (finding,) = found_in(papers(COMPARED, {"what": "A claim", "rows": ["a.table2."]}))
    assert finding.endswith("no experiment has a row that begins with a.table2.")


def test_a_row_of_a_figure_that_no_document_has_is_unknown() -> None:
    (finding,) = found_in(papers({"what": "Table 1", "cannot": "source code"}))
    assert finding == "configs/experiments/costs.toml: a.table1.hit is in no claim of configs/papers"


def test_part_of_a_word_names_no_row() -> None:
    assert len(found_in(papers({"what": "Table 1", "rows": ["a.tab"]}))) == 2


def test_rows_of_an_awaited_experiment_are_not_looked_at() -> None:
    them = papers({"what": "Table 1", "awaits": "costs"})
    assert found_in(Papers(them.documents, them.experiments, {})) == []


def test_a_miss_needs_a_reason_and_only_a_miss_has_one() -> None:
    missed = changed(FOUND, simulated=5.0, ok=False)
    assert found_in(papers(changed(COMPARED, why_off="too slow"), found=missed)) == []
    (finding,) = found_in(papers(COMPARED, found=missed))
    assert finding.endswith("misses without a why_off: a.table1.hit")
    (finding,) = found_in(papers(changed(COMPARED, why_off="too slow")))
    assert finding.endswith("has a why_off, but no row misses")


def test_a_rows_own_reason_will_do() -> None:
    them = papers(COMPARED, found=changed(FOUND, simulated=5.0, ok=False, why_off="too slow"))
    assert found_in(them) == []
    assert "**Misses**: too slow" in papers_page.page(empty_page(), them)


@pytest.mark.parametrize(
    "row",
    [{"value": 4.0}, {"tolerance": 0.2}, {"kind": "predicted"}, {"scored": False}, {"id": "a.table1.miss"}],
    ids=["figure", "tolerance", "kind", "scored", "id"],
)
def test_a_record_of_other_rows_is_stale(row: dict) -> None:
    found = found_in(papers(COMPARED, row=changed(ROW, **row)))
    assert found
    assert all("is not recorded as it is: run `linebounce reproduce costs --json" in finding for finding in found)


def test_a_tables_rows_are_recorded_below_its_id() -> None:
    them = papers({"what": "Figure 3", "rows": ["a.fig3"]}, found=changed(FOUND, id="a.fig3.f.lock", kind="predicted"))
    table = {"id": "a.fig3", "tolerance_abs": 10}
    with_table = Papers(them.documents, {"costs": {"table": [table]}}, them.record)
    assert found_in(with_table) == []
    in_sight = Papers(them.documents, {"costs": {"table": [changed(table, kind="in_sight")]}}, them.record)
    assert len(found_in(in_sight)) == 1
    assert len(found_in(Papers(them.documents, with_table.experiments, {}))) == 1


def test_a_stale_page_is_found() -> None:
    them = papers(COMPARED)
    text = papers_page.page(empty_page(), them)
    assert findings(them, text.replace("Table 1", "Table 2")) == [
        "docs/every-figure.md: is out of date: run tools/papers_page.py"
    ]


def test_stale_totals_of_the_readme_are_found() -> None:
    them = papers(COMPARED)
    text = "Within tolerance are 0 of 0 calibrated\nrows, 7 of 9 in sight\nand 0 of 0 predicted."
    (finding,) = findings(them, papers_page.page(empty_page(), them), text)
    assert finding == "README.md: its totals are out of date: run tools/papers_page.py"
    assert papers_page.readme(text, them) == text.replace("7 of 9", "1 of 1")


def test_the_page_leads_from_section_to_command_and_says_what_came_of_it() -> None:
    missed = changed(FOUND, simulated=5.0, ok=False)
    text = papers_page.page(empty_page(), papers(changed(COMPARED, why_off="too slow"), found=missed))
    assert "| 1 | Costs | `linebounce run costs` |" in text
    assert "| 1 | Table 1 | in sight 0 of 1. **Misses**: too slow | `linebounce reproduce a.table1.` |" in text
    assert "| `a.table1.hit` | 3 ns | 5 ns | in sight | **miss** |" in text


@pytest.mark.parametrize(("change", "text"), [(0.25, "+25.0 %"), (-0.061, "-6.1 %"), (2019.2, "2020 times")])
def test_a_change_is_told_in_per_cent_unless_it_is_many_times(change: float, text: str) -> None:
    them = papers(COMPARED, found=changed(FOUND, difference=False, simulated=change))
    assert f"| {text} | in sight |" in papers_page.page(empty_page(), them)


def test_what_reproduce_finds_replaces_its_experiments_alone() -> None:
    reproduced = {"experiments": [{"experiment": "costs", "paper": [changed(FOUND, source="A 2001", simulated=2.9)]}]}
    kept = {"id": "b", "kind": "predicted"}
    assert papers_page.recorded(reproduced, {"costs": [FOUND], "another": [kept]}) == {
        "another": [kept],
        "costs": [changed(FOUND, simulated=2.9)],
    }
