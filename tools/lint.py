#!/usr/bin/env python3
"""Checks all of the project's own rules on all files in git: lint.py [FILE...]

Prints FILE:LINE: WHAT IS WRONG for each finding, and exits with 1 if there is one. If files are given, only these are
checked, and only by rules that look at each file by itself (RULES says which do).
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import lint_cycles
import lint_deletions
import lint_evaluation_order
import lint_findings
import lint_layers
import lint_marks
import lint_prose
import lint_protocol_names
import lint_readme
import lint_reproducible
import lint_rows
from source_tree import ROOT, Finding, SourceTree, fits, is_test

CPP = ("*.cpp", "*.hpp")
RESULTS = (
    "models/*pp",
    "workloads/*pp",
    "sim/*pp",
    "forms/*pp",
    "litmus/*pp",
    "commands/*pp",
    "evidence/*pp",
)  # code that makes results
PROSE = ("*.md", "*.hpp", "*.cpp", "*.h", "*.c", "*.py", "*.toml", "dev", "tools/same_results")


class FileRule(NamedTuple):
    """A rule for single files whose path fits a pattern."""

    findings: Callable[[SourceTree, str], Iterable[Finding]]
    patterns: tuple[str, ...]
    tests: bool = True  # whether it is also for tests

    def is_for(self, name: str) -> bool:
        return fits(name, self.patterns) and (self.tests or not is_test(name))


class TreeRule(NamedTuple):
    """A rule that compares files."""

    findings: Callable[[SourceTree], Iterable[Finding]]


RULES: dict[str, FileRule | TreeRule] = {
    "evaluation order": FileRule(lint_evaluation_order.findings, CPP),
    "same results everywhere": FileRule(lint_reproducible.findings, RESULTS, tests=False),
    "protocols are data": FileRule(lint_protocol_names.findings, RESULTS, tests=False),
    "prose": FileRule(lint_prose.findings, PROSE),
    "heads of findings": FileRule(lint_findings.findings, ("findings/*.sh",)),
    "layers": TreeRule(lint_layers.findings),
    "cycles": TreeRule(lint_cycles.findings),
    "READMEs": TreeRule(lint_readme.findings),
    "rows": TreeRule(lint_rows.findings),
    "marks": TreeRule(lint_marks.findings),
    "deletions": TreeRule(lint_deletions.findings),
}


def all_findings(sources: SourceTree, only: Iterable[str] = ()) -> Iterator[Finding]:
    """The findings in all files, or in the files of `only`."""
    chosen = set(only)
    for rule in RULES.values():
        if isinstance(rule, FileRule):
            files = [name for name in sources.names if (not chosen or name in chosen) and rule.is_for(name)]
            for file in files:
                yield from rule.findings(sources, file)
        elif not chosen:
            yield from rule.findings(sources)


def main() -> int:
    only = [Path(argument).resolve().relative_to(ROOT).as_posix() for argument in sys.argv[1:]]
    sources = SourceTree.of_git()
    if unknown := [name for name in only if name not in sources]:
        print(f"lint.py: git has no file {', '.join(unknown)}", file=sys.stderr)
        return 2
    found = sorted(set(all_findings(sources, only)))
    print("\n".join([*map(str, found), f"{len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
