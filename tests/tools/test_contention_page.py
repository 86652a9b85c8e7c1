"""The page with contention's tables: every table is rewritten, and nothing around it."""

import json
import re
from pathlib import Path

import contention_page


def test_the_page_has_all_three_tables_and_keeps_its_text(tmp_path: Path) -> None:
    """Uses a program that always gives the same figures."""
    metrics = {
        "throughput.operations_per_s": {"value": 1e6},
        "fairness.starved_cpus": {"value": 2},
        "core_to_core.same_node_ns": {"value": 50},
    }
    results = tmp_path / "results.json"
    results.write_text(json.dumps({"points": [{"at": {}, "metrics": metrics}]}))
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\nmkdir -p "$2" && cp {results} "$2/results.json"\n')
    program.chmod(0o755)
    before = contention_page.PAGE.read_text(encoding="utf-8")
    after = contention_page.page(before, contention_page.Runs(program, tmp_path))
    tables = re.compile(r"^\|.*\n", re.MULTILINE)
    assert tables.sub("", after) == tables.sub("", before), "run tools/contention_page.py"
    assert [line.split("|")[1].strip() for line in tables.findall(after)] == [
        line.split("|")[1].strip() for line in tables.findall(before)
    ], "a row for each machine"
    assert "| `xeon_e7_8867l_8socket` | 106 | 106 | 106 | 116 |" in after
    assert "| `opteron_6172_4socket` | atomic | before | 9.5 |" in after
    assert "2 of 500 sections" in after
