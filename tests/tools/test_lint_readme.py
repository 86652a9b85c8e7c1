"""The lint for READMEs: each source file has a row."""

import pytest
from lint_readme import findings
from source_tree import SourceTree


def found(readme: str, *files: str) -> list[str]:
    return [str(finding) for finding in findings(SourceTree.of({"sim/plan/README.md": readme, **dict.fromkeys(files, "")}))]


@pytest.mark.parametrize("row", ["`plan.*`", "`plan.cpp`, `plan.hpp`", "`pl*.*`"])
def test_a_file_with_a_row_is_right(row: str) -> None:
    assert not found(f"| {row} | the points |\n", "sim/plan/plan.cpp", "sim/plan/plan.hpp")


def test_a_file_without_a_row_is_found() -> None:
    assert found("| `plan.*` | the points |\n", "sim/plan/planner.cpp") == [
        "sim/plan/planner.cpp:1: sim/plan/README.md has no row for it"
    ]


def test_a_folder_without_a_readme_is_described_above() -> None:
    assert not found("| `deep/pool.*` | processes |\n", "sim/plan/deep/pool.cpp")
    (finding,) = found("", "sim/other/deep/pool.cpp")
    assert finding.endswith("neither sim/other/deep nor the folder above has a README.md")


def test_tests_need_no_row() -> None:
    assert not found("", "tests/sim/plan/plan_test.cpp", "commands/run/tests/run_test.cpp")
