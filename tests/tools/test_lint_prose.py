"""The lint of documentation, comments and messages."""

from pathlib import Path

import pytest
from lint_prose import findings, phrases

RULES = phrases("# comment\n\nquick fox(es)? => dog\ntoo much => enough\n")
FILES = ["models/core/core.cpp", "models/core/core.hpp", "tools/lints.py"]


def lines_with_findings(path: str, text: str) -> list[int]:
    return [int(finding.split(":")[1]) for finding in findings(path, text, RULES, FILES)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("README.md", "The quick fox jumps.\n"),
        ("README.md", "Quick\nfoxes, on two lines.\n"),
        ("sim/run.cpp", "// The quick\n// fox jumps.\n"),
        ("sim/run.cpp", 'print("a quick fox");\n'),
        ("tools/a.py", "# The quick\n# fox\n"),
    ],
)
def test_a_phrase_is_found_where_it_begins_with_what_to_write(path: str, text: str) -> None:
    assert [finding.split(": ")[-1] for finding in findings(path, text, RULES, FILES)] == ["write dog"]
    assert lines_with_findings(path, text) == [1]


@pytest.mark.parametrize("text", ["a quicker fox\n", "`quick fox`\n", "```\nquick fox\n```\n", "unquick fox\n"])
def test_other_words_and_code_in_markdown_are_left_alone(text: str) -> None:
    assert findings("README.md", text, RULES, FILES) == []


def test_documentation_has_at_most_120_columns_but_for_tables_code_and_what_cannot_be_broken() -> None:
    long = "word " * 25
    text = f"{long}\n| {long} |\n```\n{long}\n```\n{'x' * 130}\n"
    assert lines_with_findings("README.md", text) == [1]
    assert lines_with_findings("a.cpp", f"// {long}\n") == []


@pytest.mark.parametrize(
    "name", ["core.cpp", "core/core.*", "models/core/core.hpp", "core.{cpp}", "results.json", "locks.*.mean"]
)
def test_files_that_exist_and_what_is_no_source_file_are_left_alone(name: str) -> None:
    assert findings("README.md", f"`{name}`\n", RULES, FILES) == []


@pytest.mark.parametrize("name", ["cores.cpp", "cpu.*", "sim/core.hpp", "lint.py"])
def test_a_file_that_does_not_exist_is_found(name: str) -> None:
    assert findings("README.md", f"`{name}`\n", RULES, FILES) == [f"README.md:1: there is no file {name}"]


def test_the_shipped_phrases_are_regular_expressions_with_a_wording() -> None:
    shipped = phrases((Path(__file__).parents[2] / "tools" / "prose_phrases.txt").read_text(encoding="utf-8"))
    assert len(shipped) > 10
