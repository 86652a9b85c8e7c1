"""The lint for documentation, comments and messages."""

import pytest
from lint_prose import findings as all_findings
from lint_prose import read_words, shipped_words
from source_tree import SourceTree

WORDS = read_words("# comment\n\nfox, foxes => dog\nbig-cat => tiger\n")
FILES = ["models/core/core.cpp", "models/core/core.hpp", "tools/lints.py"]


def findings(path: str, text: str) -> list[str]:
    sources = SourceTree.of({**dict.fromkeys(FILES, ""), path: text})
    return [str(finding) for finding in all_findings(sources, path, WORDS)]


def lines_with_findings(path: str, text: str) -> list[int]:
    return [int(finding.split(":")[1]) for finding in findings(path, text)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("README.md", "\nThe quick fox jumps.\n"),
        ("README.md", "Quick\nFoxes, on two lines.\n"),
        ("sim/run.cpp", "// The quick\n// fox jumps.\n"),
        ("sim/run.cpp", '\nprint("a quick fox");\n'),
        ("tools/a.py", "# The quick\n# fox\n"),
    ],
)
def test_a_word_is_reported_with_its_place_and_replacement(path: str, text: str) -> None:
    assert [finding.split(": ")[-1] for finding in findings(path, text)] == ["write dog"]
    assert lines_with_findings(path, text) == [2]


def test_a_word_with_a_hyphen_is_one() -> None:
    assert findings("README.md", "A Big-cat.\n") == ['README.md:1: "Big-cat": write tiger']


@pytest.mark.parametrize(
    "text", ["a foxy dog\n", "`fox`\n", "```\nfox\n```\n", "fox_hole, fox-hole, desert-fox\n", "big cat\n"]
)
def test_other_words_and_code_in_markdown_are_left_alone(text: str) -> None:
    assert findings("README.md", text) == []


def test_documentation_has_at_most_120_columns_but_for_tables_code_and_what_cannot_be_broken() -> None:
    long = "word " * 25
    text = f"{long}\n| {long} |\n```\n{long}\n```\n{'x' * 130}\n"
    assert lines_with_findings("README.md", text) == [1]
    assert lines_with_findings("a.cpp", f"// {long}\n") == []


@pytest.mark.parametrize(
    "name", ["core.cpp", "core/core.*", "models/core/core.hpp", "core.{cpp}", "results.json", "locks.*.mean"]
)
def test_existing_files_and_files_that_are_not_sources_are_left_alone(name: str) -> None:
    assert findings("README.md", f"`{name}`\n") == []


@pytest.mark.parametrize("name", ["cores.cpp", "cpu.*", "sim/core.hpp", "lint.py"])
def test_a_file_that_does_not_exist_is_found(name: str) -> None:
    assert findings("README.md", f"`{name}`\n") == [f"README.md:1: there is no file {name}"]


def test_the_shipped_words_are_lower_case_and_none_is_its_own_replacement() -> None:
    shipped = shipped_words()
    assert len(shipped) > 10
    assert all(word == word.lower() for word in shipped)
    assert not shipped.keys() & set(shipped.values())
