"""The lint that demands three sentences in the head of each script in findings/."""

import pytest
from lint_findings import findings
from source_tree import SourceTree

HEAD = """#!/usr/bin/env bash
# A tool does so.
#
# Guess before the run: it does not.
# Seen with tool 1.0: it does.
# What rests on it: types/a.cpp reads
# its output, and docs/b.md says so.
#
# Usage: bash findings/tool.sh
set -euo pipefail
"""
OTHERS = {"types/a.cpp": "", "docs/b.md": ""}


def found(head: str) -> list[tuple[int, str]]:
    sources = SourceTree.of({"findings/tool.sh": head, **OTHERS})
    return [(finding.line, finding.what) for finding in findings(sources, "findings/tool.sh")]


def test_a_whole_head_is_in_order() -> None:
    assert found(HEAD) == []


@pytest.mark.parametrize("part", ["Guess before the run: ", "Seen ", "What rests on it: ", "Usage: bash findings/"])
def test_each_part_is_demanded(part: str) -> None:
    ((_, what),) = found(HEAD.replace(f"# {part}", "# "))
    assert f'no "# {part}..."' in what
    assert found(HEAD.replace(f"# {part}", "# ").replace("set -e", f"\n# {part}\nset -e")), "behind the head it does not count"


def test_the_second_line_is_the_findings_sentence() -> None:
    assert found(HEAD.replace("# A tool does so.\n", "#\n")) == [(2, "line 2 is no sentence that says the finding")]


def test_the_files_that_rest_on_it_exist() -> None:
    assert found(HEAD.replace("docs/b.md", "docs/gone.md")) == [(7, "there is no file docs/gone.md")]
