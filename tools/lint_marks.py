"""Checks coverage marks (models/reached.hpp): each REACHED(name) stands at one place, and one test expects it with
ExpectReached."""

import re
from collections.abc import Iterator

from source_tree import Finding, SourceTree, is_test, line_at

REACHED = re.compile(r"^(?!#define|//).*\bREACHED\((\w+)\)", re.MULTILINE)
EXPECTED = re.compile(r'\bExpectReached \w+[{(]"(\w+)"')

Place = tuple[str, int]


def places(sources: SourceTree, pattern: re.Pattern[str], in_tests: bool) -> dict[str, list[Place]]:
    """The places of each mark, by name."""
    found: dict[str, list[Place]] = {}
    for file in sources.matching("*.cpp", "*.hpp"):
        if is_test(file) != in_tests:
            continue
        text = sources.text(file)
        for match in pattern.finditer(text):
            found.setdefault(match[1], []).append((file, line_at(text, match.start(1))))
    return found


def findings(sources: SourceTree) -> Iterator[Finding]:
    marks = places(sources, REACHED, in_tests=False)
    tests = places(sources, EXPECTED, in_tests=True)
    for name, where in marks.items():
        for place in where[1:]:
            yield Finding(*place, f"{where[0][0]}:{where[0][1]} has the mark {name}, too")
        if name not in tests:
            yield Finding(*where[0], f'no test expects the mark {name}: ExpectReached mark{{"{name}"}}')
    for name, where in tests.items():
        for place in where[1:]:
            yield Finding(*place, f"{where[0][0]}:{where[0][1]} expects the mark {name}, too")
        if name not in marks:
            yield Finding(*where[0], f"no code has the mark {name}")
