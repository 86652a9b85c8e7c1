"""Additions to the project's own tools, pages and tests."""

import sys

from addition import Clone, addition, after, before, row

WRONG_WORD = "sam" + "pel"  # in two, or this file would be found


@addition(
    "lint",
    "tools/README.md",
    files={
        "tools/lint_sample.py": '''"""Forbids names of the form SAMPLE_FORBIDDEN."""

from collections.abc import Iterator

from source_tree import Finding, SourceTree

WORD = "SAMPLE" + "_FORBIDDEN"


def findings(sources: SourceTree, file: str) -> Iterator[Finding]:
    if WORD in sources.text(file):
        yield Finding(file, sources.line_of(file, WORD), f"{WORD} is forbidden")
''',
        "tests/tools/test_lint_sample.py": '''"""The lint that is a sample."""

from lint_sample import WORD, findings
from source_tree import SourceTree


def test_the_word_is_found_and_others_are_left_alone() -> None:
    (finding,) = findings(SourceTree.of({"models/x.cpp": f"\\nint {WORD};\\n"}), "models/x.cpp")
    assert finding.line == 2
    assert not list(findings(SourceTree.of({"models/x.cpp": "int sample;\\n"}), "models/x.cpp"))
''',
    },
    edits=(
        after("tools/lint.py", "import lint_rows\n", "import lint_sample\n"),
        before("tools/lint.py", '    "layers": TreeRule(', '    "sample": FileRule(lint_sample.findings, CPP),\n'),
    ),
    row=row("tools/README.md", "| `lint_cycles.py` |", "| `lint_sample.py` | a sample |"),
)
def lint(clone: Clone) -> None:
    clone.pytest("tests/tools/test_lint_sample.py")
    found = clone.folder / "models" / "forbidden.hpp"
    found.write_text("// SAMPLE" + "_FORBIDDEN\n", encoding="utf-8")
    try:
        shown = clone.run(sys.executable, "tools/lint.py", "models/forbidden.hpp", code=1)
    finally:
        found.unlink()
    assert "models/forbidden.hpp:1: " in shown


@addition(
    "word to avoid",
    "tools/README.md",
    edits=(after("tools/wrong_words.txt", "# No abbreviations of our own.\n", f"{WRONG_WORD} => sample\n"),),
)
def word(clone: Clone) -> None:
    found = clone.folder / "docs" / "misspelt.md"
    found.write_text(f"# A {WRONG_WORD}\n", encoding="utf-8")
    try:
        shown = clone.run(sys.executable, "tools/lint.py", "docs/misspelt.md", code=1)
    finally:
        found.unlink()
    assert "write sample" in shown


@addition(
    "page of documentation",
    "docs/README.md",
    files={"docs/sample-page.md": "# A sample\n\nType `linebounce list machines`.\n"},
    edits=(after("mkdocs.yml", "      - A first experiment: first-experiment.md\n", "      - A sample: sample-page.md\n"),),
    row=row("docs/README.md", "| how to write, run and draw", "| what a sample is | [`sample-page.md`](sample-page.md) |"),
)
def page(clone: Clone) -> None:
    clone.pytest("tests/tools/test_docs_commands.py")
    clone.pytest("tests/analysis/test_docs_site.py")


@addition(
    "test",
    "tests/README.md",
    files={
        "commands/explain/tests/sample_test.cpp": "#include <gtest/gtest.h>\n\nTEST(Sample, IsFound) {}\n",
        "commands/explain/tests/test_sample_of_explain.py": "def test_it_is_found() -> None:\n    pass\n",
    },
    targets=("test_commands_explain",),
)
def test(clone: Clone) -> None:
    clone.ctest("test_commands_explain", "Sample.IsFound")
    clone.pytest("commands/explain/tests/test_sample_of_explain.py")
