"""Litmus tests from herd's files: Linebounce must allow exactly what an independent enumerator of x86-TSO here allows."""

import re

import pytest
import tso
from program import Program

TESTS = list(tso.all_tests())
# A run takes 0.2 s, so most run only in ./dev fuzz.
EACH = len(TESTS) // 12
PARAMETERS = [
    pytest.param(test, id=test.name, marks=() if number % EACH == 0 else pytest.mark.thorough)
    for number, test in enumerate(TESTS)
]


def test_the_collection_has_at_least_two_hundred_litmus_tests() -> None:
    assert len(TESTS) >= 200
    assert {name.split("+")[0] for name in (test.name for test in TESTS)} >= {"SB", "MP", "LB", "R", "WRC", "IRIW", "3.2W"}


@pytest.mark.parametrize("test", PARAMETERS)
def test_allowed_outcomes_are_those_of_tso_and_no_other_is_seen(linebounce: Program, test: tso.Test) -> None:
    linebounce.file("test.litmus", test.text())
    result = linebounce("import", "test.litmus")
    assert result.code == 0, result.stderr
    expected = tso.outcomes(test.threads, test.finals)
    printed = {
        frozenset((name, int(value)) for name, value in (term.split("=") for term in match.split("; ")))
        for match in re.findall(r"^ +((?:[\w:]+=\d+)(?:; [\w:]+=\d+)*) +\d+", result.stdout, re.MULTILINE)
    }
    assert printed == expected
    asked = any(all((name, value) in outcome for name, value in test.asks.items()) for outcome in expected)
    assert ("allowed by tso" if asked else "forbidden by tso, and never seen") in result.stdout
    assert "forbids: seen 0 times" in result.stdout
