"""The lint for coverage marks: each is placed once and expected by one test."""

import pytest
from lint_marks import findings
from source_tree import SourceTree

CODE = "if (full()) return REACHED(no_room);\n"
TEST = 'ExpectReached mark{"no_room"};\n'
DEFINITION = "#define REACHED(name) static_cast<void>(0)\n"


def found(code: str, test: str) -> list[str]:
    sources = SourceTree.of({"models/reached.hpp": DEFINITION, "models/node/a.cpp": code, "tests/models/node/a_test.cpp": test})
    return [str(finding) for finding in findings(sources)]


def test_a_mark_that_one_test_expects_is_right() -> None:
    assert not found(CODE, TEST)


@pytest.mark.parametrize(
    ("code", "test", "said"),
    [
        (CODE, "", "models/node/a.cpp:1: no test expects the mark no_room"),
        ("", TEST, "tests/models/node/a_test.cpp:1: no code has the mark no_room"),
        (CODE * 2, TEST, "models/node/a.cpp:2: models/node/a.cpp:1 has the mark no_room, too"),
        (CODE, TEST * 2, "tests/models/node/a_test.cpp:2: tests/models/node/a_test.cpp:1 expects the mark no_room, too"),
    ],
)
def test_a_mark_without_its_one_test_is_found(code: str, test: str, said: str) -> None:
    (finding,) = found(code, test)
    assert finding.startswith(said)
