"""The simulator's instructions and cache misses may not rise unnoticed: these counts are the same in every run. `./dev
bench --instructions` prints them."""

import copy
import shutil
from pathlib import Path

import pytest
from instruction_counts import CASES, FILE, INSTRUCTIONS, Figures, compiler_of, in_file, risen

COMPILER, KNOWN = in_file()


@pytest.mark.uninstrumented
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.parametrize("case", CASES)
def test_no_figure_has_risen_above_the_files(executable: Path, tmp_path: Path, case: str) -> None:
    if compiler_of(executable) != COMPILER:
        pytest.skip(f"the figures are for {COMPILER}")
    sentences = list(risen({case: CASES[case].counts(executable, tmp_path)}, KNOWN))
    assert not sentences, f"{'; '.join(sentences)}. Slower for a reason: ./dev bench --instructions --renew, and commit {FILE}"


def slowed_down(case: str, by: float) -> Figures:
    figures = copy.deepcopy(KNOWN)
    figures[case][INSTRUCTIONS] *= by
    return figures


def test_two_percent_more_instructions_are_refused_and_a_half_is_not() -> None:
    assert set(KNOWN) == set(CASES)
    for case in CASES:
        assert [sentence.split(":")[0] for sentence in risen(slowed_down(case, 1.02), KNOWN)] == [case]
        assert not list(risen(slowed_down(case, 1.005), KNOWN))


def test_misses_may_move_with_the_code_but_not_rise() -> None:
    known: Figures = {"a case": {"L1 data misses": 100.0}}
    assert not list(risen({"a case": {"L1 data misses": 117.0}}, known))
    assert list(risen({"a case": {"L1 data misses": 119.0}}, known)) == ["a case: 119.0 L1 data misses, 100.0 before"]


def test_a_case_that_the_file_does_not_know_is_refused() -> None:
    assert list(risen({"private, seven buses": {INSTRUCTIONS: 1.0}}, KNOWN)) == [
        f"private, seven buses: no instructions in {FILE.name}"
    ]
