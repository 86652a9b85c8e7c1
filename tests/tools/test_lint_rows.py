"""The lint for paper rows: kinds, the documents' figures, and unchanged predictions."""

import json
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import Any

import papers_page
import pytest
from lint_rows import break_findings, document_findings, findings, first_run_findings, kind_findings
from papers_page import Papers
from row_history import History
from row_tolerance import tolerance_findings
from rows import BREAKS, RowFiles
from source_tree import SourceTree

# Tolerances and breaks.

SCORED = """name = "e"
[workload]
name = "w"
[[paper]]
id = "a.hit"
metric = "m"
value = {}
{}
kind = "{}"
"""


@pytest.mark.parametrize(
    ("value", "tolerance", "rule"),
    [
        ("16.5", "tolerance = 0.1", None),
        ("16.5", "tolerance = 0.17", "tolerance = 0.1"),
        ("16.5", "tolerance = 0.05", "tolerance = 0.1"),
        ("16.5", "tolerance_abs = 1.65", "tolerance = 0.1"),
        ("0.2", "tolerance = 0.25", None),
        ("0.01", "tolerance = 0.4", "tolerance = 0.5"),
        ("0.20", "tolerance = 0.25", "tolerance = 0.1"),
        ("11", "tolerance_abs = 0.5", None),
        ("11", "tolerance_abs = 1", "tolerance = 0.1"),
    ],
)
def test_a_tolerance_is_a_tenth_or_half_a_digit(value: str, tolerance: str, rule: str | None) -> None:
    text = SCORED.format(value, tolerance, "in_sight")
    found = [str(finding) for finding in tolerance_findings(RowFiles(SourceTree.of({E: text})))]
    assert found == ([] if rule is None else [f"{E}:5: a.hit: its tolerance is off the rule, which gives {rule}"])


@pytest.mark.parametrize(
    ("tolerance", "refused"),
    [("tolerance = 0.05", False), ("tolerance_abs = 1", False), ("tolerance = 0.1", False), ("tolerance = 0.12", True)],
)
def test_a_fit_may_be_held_closer_and_no_less_close(tolerance: str, refused: bool) -> None:
    text = SCORED.format("16.5", tolerance, "calibrated")
    assert bool(list(tolerance_findings(RowFiles(SourceTree.of({E: text}))))) == refused


def test_a_difference_of_nothing_has_a_tenth_of_the_metrics_largest_figure() -> None:
    row = SCORED[SCORED.index("[[paper]]") :].replace("a.hit", "a.zero")
    text = SCORED.format("5.0", "tolerance = 0.1", "in_sight") + row.format("0", "tolerance_abs = {}", "in_sight")
    assert list(tolerance_findings(RowFiles(SourceTree.of({E: text.format("0.5")})))) == []
    (finding,) = tolerance_findings(RowFiles(SourceTree.of({E: text.format("0.6")})))
    assert finding.what == "a.zero: its tolerance is off the rule, which gives tolerance_abs = 0.5"


def breaks_found(text: str, breaks: str = "") -> list[str]:
    return [str(finding) for finding in break_findings(RowFiles(SourceTree.of({E: text, BREAKS: breaks})))]


def test_a_prediction_names_the_break_that_loses_it() -> None:
    text = SCORED.format("5.0", "tolerance = 0.1", "predicted")
    (finding,) = breaks_found(text)
    assert finding.startswith(f"{E}:5: a.hit is predicted, but names no break that would lose it (broken_by)")
    assert breaks_found(text + 'broken_by = "free"\n', "[free]\nset = {}\n") == []
    assert breaks_found(text + 'broken_by = "fre"\n', "[free]\nset = {}\n") == [
        f"{E}:5: a.hit: broken_by names no entry of configs/breaks.toml: fre",
        "configs/breaks.toml:1: no row is broken by free",
    ]
    assert breaks_found(text.replace("predicted", "in_sight")) == []
    assert breaks_found(text + "scored = false\n") == []


# Which rows name a row as their source.

E = "configs/experiments/e.toml"
MACHINE = "configs/machines/m.toml"
KIND_ROW = '[workload]\nname = "w"\n[[paper]]\nid = "a.table1.hit"\nkind = "{}"\n'
FITTED_MACHINE = 'name = "m"\n[sources]\n"memory.latency_ns" = "{}"\n'


def kinds_found(texts: dict[str, str]) -> list[str]:
    return [str(finding) for finding in kind_findings(RowFiles(SourceTree.of(texts)))]


@pytest.mark.parametrize(
    "source", ["calibrated: a.table1.hit", "calibrated: in another machine, to a.table1.hit", "paper: a.table1.hit, twice"]
)
def test_a_row_that_a_machine_names_is_not_a_prediction(source: str) -> None:
    machine = FITTED_MACHINE.format(source)
    (finding,) = kinds_found({MACHINE: machine, E: KIND_ROW.format("predicted")})
    assert finding == f"{E}:4: a.table1.hit is predicted, but {MACHINE}:3 names it as what a parameter comes from"
    for kind in ("calibrated", "in_sight", "input"):
        assert kinds_found({MACHINE: machine, E: KIND_ROW.format(kind)}) == []


def test_a_row_without_a_kind_is_predicted() -> None:
    row = KIND_ROW.format("predicted").replace('kind = "predicted"\n', "")
    assert (
        len(
            kinds_found(
                {
                    MACHINE: FITTED_MACHINE.format("calibrated: a.table1.hit"),
                    E: row,
                }
            )
        )
        == 1
    )


def test_an_experiment_uses_what_it_is_calibrated_to_and_may_speak_of_other_rows() -> None:
    used = "# calibrated: the rate on a.table1.hit\n" + KIND_ROW.format("predicted")
    assert kinds_found({E: used}) == [f"{E}:5: a.table1.hit is predicted, but {E}:1 names it as what a parameter comes from"]
    assert kinds_found({E: "# a.table1.hit misses\n" + KIND_ROW.format("predicted")}) == []


def test_every_experiment_with_the_row_is_looked_at() -> None:
    texts = {MACHINE: FITTED_MACHINE.format("calibrated: a.table1.hit")}
    texts |= {
        "configs/experiments/one.toml": KIND_ROW.format("predicted"),
        "configs/experiments/two.toml": KIND_ROW.format("calibrated"),
        "configs/experiments/three.toml": KIND_ROW.format("predicted"),
    }
    assert [finding.split(":")[0] for finding in kinds_found(texts)] == [
        "configs/experiments/one.toml",
        "configs/experiments/three.toml",
    ]


def test_a_text_that_only_begins_like_an_id_is_not_a_row() -> None:
    machine = FITTED_MACHINE.format("calibrated: a.table1, with a.table1.hits")
    assert kinds_found({MACHINE: machine, E: KIND_ROW.format("predicted")}) == []


@pytest.mark.parametrize(("keys", "count"), [("", 1), ('calibrated = ["f.lock"]\n', 0), ('kind = "in_sight"\n', 0)])
def test_the_rows_of_a_table_need_kinds(keys: str, count: int) -> None:
    table = '# calibrated: a.fig3.f.lock\n[workload]\nname = "w"\n[[table]]\nid = "a.fig3"\n' + keys
    found = kinds_found({E: table})
    assert len(found) == count
    assert all(finding.startswith(f"{E}:5: a.fig3.f.lock is predicted") for finding in found)


# The documents: nothing is omitted, unknown or stale.

PAPER_ROW = {"id": "a.table1.hit", "metric": "m", "value": 3.0, "tolerance": 0.1, "kind": "in_sight"}
FOUND = {"id": "a.table1.hit", "paper": 3.0, "simulated": 3.1, "unit": "ns", "tolerance": 0.1, "kind": "in_sight", "ok": True}
COMPARED = {"what": "Table 1", "rows": ["a.table1."]}


def papers(*claims: dict[str, Any], row: dict | None = None, found: dict | None = None) -> Papers:
    document = {
        "document": "A 2001",
        "title": "A title",
        "authors": "Somebody",
        "section": [{"number": "1", "title": "Costs", "claim": list(claims)}],
    }
    experiment = {"workload": {"name": "w"}, "paper": [row or PAPER_ROW]}
    return Papers(
        {"configs/papers/a.toml": document},
        {"costs": experiment, "other": {"workload": {"name": "w"}}},
        {"costs": [found or FOUND]},
    )


def empty_page() -> str:
    return "# Page\n\n<!-- written by tools/papers_page.py -->\n<!-- end -->\n"


def page_found(them: Papers, page: str, readme: str = "") -> list[str]:
    return [str(finding) for finding in document_findings(them, SourceTree.of({}), page, readme)]


def found_in(them: Papers) -> list[str]:
    return page_found(them, papers_page.page(empty_page(), them))


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
    assert finding.startswith('configs/papers/a.toml:1: A 2001, section 1, "A claim": a claim has one of')


def test_a_claim_names_experiments_and_rows_that_exist() -> None:
    (finding,) = found_in(papers(COMPARED, {"what": "A claim", "run": ["no_such"]}))
    assert finding.endswith("there is no experiment no_such")
    (finding,) = found_in(papers(COMPARED, {"what": "A claim", "rows": ["a.table2."]}))
    assert finding.endswith("no experiment has a row that begins with a.table2.")


def test_a_row_of_a_figure_that_no_document_has_is_unknown() -> None:
    (finding,) = found_in(papers({"what": "Table 1", "cannot": "source code"}))
    assert finding == "configs/experiments/costs.toml:1: a.table1.hit is in no claim of configs/papers"


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


def test_a_rows_own_reason_is_enough() -> None:
    them = papers(COMPARED, found=changed(FOUND, simulated=5.0, ok=False, why_off="too slow"))
    assert found_in(them) == []
    assert "**Misses**: too slow" in papers_page.page(empty_page(), them)


@pytest.mark.parametrize(
    "row",
    [{"value": 4.0}, {"tolerance": 0.2}, {"kind": "predicted"}, {"scored": False}, {"id": "a.table1.miss"}],
    ids=["figure", "tolerance", "kind", "scored", "id"],
)
def test_a_record_of_other_rows_is_stale(row: dict) -> None:
    found = found_in(papers(COMPARED, row=changed(PAPER_ROW, **row)))
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
    assert page_found(them, text.replace("Table 1", "Table 2")) == [
        "docs/every-figure.md:1: is out of date: run tools/papers_page.py"
    ]


def test_stale_totals_of_the_readme_are_found() -> None:
    them = papers(COMPARED)
    text = "| five documents on Linux | 0 of 0 | 7 of 9 | 0 | 0 of 0 | 0 | 0 |\n"
    (finding,) = page_found(them, papers_page.page(empty_page(), them), text)
    assert finding == "README.md:1: its totals are out of date: run tools/papers_page.py"
    assert papers_page.readme(text, them) == text.replace("7 of 9", "1 of 1")


def test_the_misses_are_listed_with_evidence_of_their_reason() -> None:
    missed = changed(FOUND, simulated=5.0, ok=False, why_off="too slow")
    text = papers_page.misses_page(empty_page(), papers(COMPARED, found=missed))
    assert "| A 2001, 1 | `table1.hit` | too slow | untested |" in text
    tested = changed(missed, reason_tested="footprint")
    assert "| too slow | `footprint` |" in papers_page.misses_page(empty_page(), papers(COMPARED, found=tested))
    assert "table1.hit" not in papers_page.misses_page(empty_page(), papers(COMPARED))


# evidence/tests/validation_test.cpp has the same rows in C++.
def test_the_trivial_guess_knows_other_figures_but_no_caches() -> None:
    rows = [
        {"metric": f"locks.{name}.con_pct", "paper": paper, "tolerance": 0.1, "kind": "in_sight", "ok": True}
        for name, paper in (("a", 50), ("b", 48), ("c", 52), ("d", 90))
    ]
    assert [papers_page.is_guessed(row, rows) for row in rows] == [True, True, True, False]
    assert papers_page.verdict([rows], "in_sight") == {"within_tolerance": {"right": 4, "of": 4}, "guess": 3}
    assert not papers_page.is_guessed({"metric": "m.x", "difference": False, "paper": 0.43, "tolerance": 0.1}, rows)
    assert not papers_page.is_guessed({"metric": "m.x", "shape": "decreasing"}, rows)
    assert papers_page.is_guessed({"metric": "table.fig3.a.remote_pct", "paper": 60.0, "tolerance_abs": 10}, rows)


def test_the_page_leads_from_a_section_to_its_command_and_the_result() -> None:
    missed = changed(FOUND, simulated=5.0, ok=False)
    text = papers_page.page(empty_page(), papers(changed(COMPARED, why_off="too slow"), found=missed))
    assert "| 1 | Costs | `linebounce run costs` |" in text
    assert "| 1 | Table 1 | in sight 0 of 1. **Misses**: too slow | `linebounce reproduce a.table1.` |" in text
    assert "| `a.table1.hit` | 3 ns | 5 ns | in sight | **miss** |" in text


@pytest.mark.parametrize(("change", "text"), [(0.25, "+25.0 %"), (-0.061, "-6.1 %"), (2019.2, "2020 times")])
def test_a_change_is_shown_in_per_cent_unless_it_is_a_large_factor(change: float, text: str) -> None:
    them = papers(COMPARED, found=changed(FOUND, difference=False, simulated=change))
    assert f"| {text} | in sight |" in papers_page.page(empty_page(), them)


def test_the_results_of_reproduce_replace_only_its_own_experiments() -> None:
    reproduced = {"experiments": [{"experiment": "costs", "paper": [changed(FOUND, source="A 2001", simulated=2.9)]}]}
    kept = {"id": "b", "kind": "predicted"}
    assert papers_page.recorded(reproduced, {"costs": [FOUND], "another": [kept]}) == {
        "another": [kept],
        "costs": [changed(FOUND, simulated=2.9)],
    }


# Figures are committed before their first run; neither they nor the machine change afterwards.

EXPERIMENT = "configs/experiments/validation/lru.toml"
LATENCY = "configs/experiments/latencies/m.toml"
RECORD = "configs/experiments/validation/records/lru.json"
# Files that other rules check.
PAGES = {f"configs/papers/{name}.toml": f'document = "{name}"\nsection = []\n' for name in papers_page.DOCUMENTS}
BREAK = '[free_transfers]\ntitle = "Lines come at once"\nset = { "machine.memory.latency_ns" = 0 }\n'
UNUSED = "configs/breaks.toml:1: no row is broken by free_transfers"
PAGES |= {papers_page.PAGE: "", papers_page.README: "", papers_page.MISSES: "", BREAKS: BREAK}

ROW = """[[paper]]
id = "c0ffee.rate"
metric = "throughput.operations_per_s"
relative_to = { "layout.changes" = "none" }
value = 0.43
tolerance = 0.1
broken_by = "free_transfers"
source = "commit c0ffee"
"""
FIGURES = 'name = "validation/lru"\nfamily = "layout"\nmachine = "m"\n[workload]\nname = "w"\n' + ROW
FITTED = 'name = "latencies/m"\nmachine = "m"\n[[paper]]\nid = "m.l2"\nmetric = "x"\nvalue = 5\ntolerance = 0.1\n'
FITTED += 'kind = "calibrated"\n'
PARAMETERS = 'name = "m"\ncpus = 4\n[memory]\nlatency_ns = 90\n[sources]\n"memory" = "calibrated: m.l2, less the bus"\n'


def record(latency: float = 90, first: bool = True, **row: object) -> str:
    published = {"metric": "throughput.operations_per_s", "value": 0.43, "tolerance": 0.1} | row
    rows = {"c0ffee.rate": {"published": published, "simulated": [0.4], "change": 0.4, "sign": "gain", "ok": True}}
    machines = {"m": {"cpus": 4, "memory.latency_ns": latency}}
    run = {"date": "2026-11-23", "first": first, "because": "it was", "machines": machines, "rows": rows}
    return json.dumps({"schema": "linebounce.first_runs/1", "experiment": "validation/lru", "runs": [run]})


def texts(**changed: str) -> dict[str, str]:
    files = {"machine": PARAMETERS, "latency": FITTED, "figures": FIGURES, "record": record()} | changed
    places = {"machine": MACHINE, "latency": LATENCY, "figures": EXPERIMENT, "record": RECORD}
    return {places[name]: text for name, text in files.items()}


def first_runs_found(files: dict[str, str]) -> list[str]:
    return [str(finding) for finding in first_run_findings(RowFiles(SourceTree.of(files)))]


def found(**changed: str) -> list[str]:
    return first_runs_found(texts(**changed))


def test_results_equal_to_the_record_pass() -> None:
    assert found() == []
    assert found(record=record(90.0)) == []
    assert found(figures=FIGURES + 'miss = "overlap"\nwhy_off = "no prefetcher"\n') == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("value = 0.43", "value = 0.40"),
        ("tolerance = 0.1", "tolerance = 0.30"),
        ("operations_per_s", "operations"),
        ("value = 0.43\ntolerance = 0.1", 'sign = "gain"'),
        ("tolerance = 0.1", "tolerance = 0.1\nvisible = 0.5"),
    ],
)
def test_a_figure_may_not_change_after_its_first_run(old: str, new: str) -> None:
    (finding,) = found(figures=FIGURES.replace(old, new))
    assert finding.startswith(f"{EXPERIMENT}:7: c0ffee.rate is not what it was when it was first run, on 2026-11-23")


def test_a_figure_may_not_be_removed_after_its_first_run() -> None:
    assert found(figures=FIGURES.replace("c0ffee.rate", "c0ffee.other")) == [
        f"{EXPERIMENT}:1: c0ffee.rate is gone, but it was run on 2026-11-23"
    ]


def test_a_parameter_that_changed_has_a_history() -> None:
    was_80 = record(80)
    (finding,) = found(record=was_80)
    assert finding.startswith(
        f"{MACHINE}:4: memory.latency_ns was 80 when predictions were first run, on 2026-11-23, and is 90"
    )
    steps = '[[history]]\nchanged = { "memory.latency_ns" = [80.0, 85] }\n[[history]]\nchanged.memory.latency_ns = [85, 90]\n'
    assert found(record=was_80, machine=PARAMETERS + steps) == []
    for other in (
        steps.replace("[80.0, 85]", "[70, 85]"),
        steps.replace("[85, 90]", "[85, 95]"),
        steps.replace("memory", "bus"),
    ):
        assert len(found(record=was_80, machine=PARAMETERS + other)) == 1
    added = PARAMETERS.replace("[memory]", "[bus]\noutstanding = 8\n[memory]")
    assert len(found(machine=added)) == 1
    assert found(machine=added + '[[history]]\nchanged = { bus.outstanding = ["default", 8] }\n') == []
    assert found(machine=PARAMETERS.replace("calibrated: m.l2, less", "calibrated: m.l2 again, less")) == []


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("calibrated: c0ffee.rate", "calibrated to a validation row"),
        ("calibrated: what it takes", "calibrated to what?"),
        ("calibrated: c0ffee.rate and m.l2", "calibrated to a validation row"),
    ],
)
def test_a_machine_is_fitted_to_latencies(source: str, problem: str) -> None:
    (finding,) = found(machine=PARAMETERS.replace("calibrated: m.l2, less the bus", source))
    assert finding.startswith(f"{MACHINE}:6: memory: {problem}")


def test_where_there_are_latencies_another_experiments_row_is_not_enough() -> None:
    elsewhere = {"configs/experiments/oltp.toml": FITTED.replace("m.l2", "oltp.cpi")}
    machine = PARAMETERS.replace("m.l2", "oltp.cpi")
    assert len(first_runs_found(texts(machine=machine) | elsewhere)) == 1
    without = {file: text for file, text in texts(machine=machine).items() if file != LATENCY}
    assert first_runs_found(without | elsewhere) == []


def test_a_validation_row_says_where_it_is_from_and_is_not_calibrated() -> None:
    assert len(found(figures=FIGURES.replace('source = "commit c0ffee"', ""))) == 1
    assert len(found(figures=FIGURES + 'kind = "calibrated"\n')) == 1
    assert len(found(figures=FIGURES.replace('family = "layout"', ""))) == 1
    assert len(found(figures=FIGURES + 'why_off = "no prefetcher"\n')) == 1, "of no class"


class Repository:
    """A repository whose commits the test makes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> None:
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(self.folder), *who, *arguments], check=True, capture_output=True)

    def commit(self, **files: str) -> None:
        for place, text in texts(**files).items():
            if text:
                (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / place).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a change")

    def findings(self, **files: str) -> list[str]:
        sources = SourceTree.of(PAGES | texts(**files), self.folder)
        return [str(finding) for finding in findings(sources)]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_figures_are_committed_before_they_are_run(repository: Repository) -> None:
    repository.commit(record="")
    assert repository.findings() == []
    repository.commit()
    assert repository.findings() == []


def test_figures_and_their_first_run_in_one_commit_are_found(repository: Repository) -> None:
    repository.commit()
    (finding,) = repository.findings()
    assert "adds its figure, and doesn't come before" in finding


def test_a_run_of_figures_that_no_commit_has_is_found(repository: Repository) -> None:
    repository.commit(record="", figures=FIGURES.replace("0.43", "0.44"))
    (finding,) = repository.findings()
    assert finding == f"{EXPERIMENT}:7: c0ffee.rate: it was run, but no commit has its figure yet: commit that first"


def test_a_figure_and_record_that_are_changed_together_are_found(repository: Repository) -> None:
    repository.commit(record="")
    repository.commit()
    nearer = {"figures": FIGURES.replace("0.43", "0.41"), "record": record(value=0.41)}
    repository.commit(**nearer)
    found_then = repository.findings(**nearer)
    assert any("a first run stays as it was" in finding for finding in found_then)
    assert any("it is not what it was before its first run" in finding for finding in found_then)


def test_a_row_that_is_moved_to_another_point_is_found(repository: Repository) -> None:
    repository.commit(record="")
    repository.commit()
    moved = FIGURES.replace('"layout.changes" = "none"', '"layout.changes" = "some"')
    (finding,) = repository.findings(figures=moved)
    assert "it is not what it was before its first run" in finding


def test_a_program_may_move_to_another_folder(repository: Repository) -> None:
    by_path = FIGURES.replace('"none"', '"../../../programs/cna.lua"')
    repository.commit(record="", figures=by_path)
    repository.commit(figures=by_path)
    assert repository.findings(figures=FIGURES.replace('"none"', '"cna"')) == []
    assert len(repository.findings(figures=FIGURES.replace('"none"', '"mcs"'))) == 1


@pytest.mark.parametrize(
    ("figures", "seen"),
    [
        (FIGURES + 'miss = "overlap"\nwhy_off = "no prefetcher"\n', "explains the miss of c0ffee.rate"),
        (FIGURES.replace('name = "w"', 'name = "w"\ncycles = 9'), "changes the load"),
    ],
)
def test_a_first_run_that_is_recorded_after_somebody_has_seen_one_is_refused(
    repository: Repository, figures: str, seen: str
) -> None:
    repository.commit(record="")
    repository.commit(record="", figures=figures)
    repository.commit(figures=figures)
    (finding,) = repository.findings(figures=figures)
    assert finding.startswith(f"{RECORD}:1: commit ")
    assert f"{seen} before commit" in finding
    assert finding.endswith("records the run of 2026-11-23: that is not a first run")
    assert repository.findings(figures=figures, record=record(first=False)) == []


def test_a_miss_may_be_explained_with_its_record_or_later(repository: Repository) -> None:
    explained = FIGURES + 'miss = "overlap"\nwhy_off = "no prefetcher"\n'
    repository.commit(record="")
    repository.commit(figures=explained)
    assert repository.findings(figures=explained) == []


def test_a_row_that_was_visible_does_not_become_a_prediction(repository: Repository) -> None:
    repository.commit(record="", figures=FIGURES + 'kind = "in_sight"\n')
    repository.commit(figures=FIGURES + 'kind = "in_sight"\n')
    (finding,) = repository.findings()
    assert finding.endswith("it was in_sight when it was first run, and can't become a prediction")
    repository.commit()
    assert repository.findings(figures=FIGURES + 'kind = "in_sight"\n') == [UNUSED]


def test_without_the_whole_history_the_rest_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not History(tmp_path / "nothing").is_whole()
    assert list(findings(SourceTree.of(PAGES | texts(), tmp_path / "nothing"))) == []
    assert len(list(findings(SourceTree.of(PAGES | texts(record=record(80)), tmp_path / "nothing")))) == 1
    assert "The order of commits was not checked" in capsys.readouterr().err
