"""The record behind docs/every-figure.md: what quick experiments come to today is what it says."""

import json

import papers_page
from program import Program

QUICK = ("operation_costs", "locks_per_4k_write", "train_wreck")


def test_the_record_says_what_the_program_finds(linebounce: Program) -> None:
    printed = linebounce("reproduce", *QUICK, "--json", "-o", "reproduced").stdout
    found = papers_page.recorded(json.loads(printed), {})
    record = papers_page.read_record()
    assert sorted(found) == sorted(QUICK)
    assert found == {name: record[name] for name in QUICK}, "run tools/papers_page.py with what `linebounce reproduce` finds"
