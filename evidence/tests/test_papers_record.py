"""The record behind docs/every-figure.md: the papers' experiments still give the recorded results."""

import json

import papers_page
import pytest
from program import Program
from source_tree import SourceTree

RECORD = papers_page.read_record(SourceTree.of_git())
QUICK = {  # these take seconds; others take up to five minutes
    "dcache_fast_walk",
    "fget",
    "larger_caches",
    "locks_per_4k_write",
    "more_nodes",
    "multi_user",
    "netdev_refcount",
    "numa_histogram",
    "operation_costs",
    "placement_no_cure",
    "rcu_realtime",
    "split_node",
    "train_wreck",
}


@pytest.mark.parametrize("name", sorted(QUICK))
def test_the_record_of_the_papers_matches_the_programs_results(linebounce: Program, name: str) -> None:
    check(linebounce, name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(RECORD.keys() - QUICK))
def test_the_record_matches_the_results_of_experiments_that_take_minutes(linebounce: Program, name: str) -> None:
    check(linebounce, name)


def check(linebounce: Program, name: str) -> None:
    printed = linebounce("reproduce", name, "--json", "-o", "reproduced", timeout=1800).stdout
    found = papers_page.recorded(json.loads(printed), {})
    assert found == {name: RECORD[name]}, "run tools/papers_page.py with what `linebounce reproduce` finds"
    # README's counts, which are derived from the record, equal those of `validate --json`.
    counted = json.loads(linebounce("validate", name, "--json", "-o", "reproduced").stdout)["verdicts"]["documents"]
    by_kind = {kind: papers_page.verdict([RECORD[name]], kind) for kind in ("calibrated", "in_sight", "predicted")}
    assert counted == {kind: verdict for kind, verdict in by_kind.items() if verdict["within_tolerance"]["of"]}
