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
    assert not found("", "tests/sim/plan/plan_test.cpp", "sim/plan/tests/run_test.cpp")


def readmes_lack(file: str, readme: str, row: str) -> tuple[bool, bool]:
    """Whether the file is found without the row, and with it."""
    without, having = (SourceTree.of({readme: text, file: ""}) for text in ("", row))
    return bool(list(findings(without))), bool(list(findings(having)))


@pytest.mark.parametrize(
    ("file", "readme", "row"),
    [
        ("models/protocols/msi.md", "models/protocols/README.md", "| `msi.md` | the simplest |\n"),
        ("programs/locks/tas.lua", "programs/README.md", "| `tas` | the shortest |\n"),
        ("litmus/models/sc.model", "litmus/models/README.md", "| `sc` | with `--model sc` |\n"),
        ("configs/machines/one.toml", "configs/machines/README.md", "| `one` | one bus |\n"),
        ("configs/counters/table.txt", "configs/counters/README.md", "| `table.txt` | a line for each cache |\n"),
        ("tools/lint_words.py", "tools/README.md", "| `lint_words.py` | words |\n"),
        ("commands/run/tests/test_run.py", "commands/README.md", "| `run/` | `run` |\n"),
        ("docs/locks.md", "docs/README.md", "| locks | [`locks.md`](locks.md) |\n"),
    ],
)
def test_what_is_added_without_code_needs_a_row_too(file: str, readme: str, row: str) -> None:
    assert readmes_lack(file, readme, row) == (True, False)
