"""Locks of programs/locks with one mistake each (lock_mutants.py): check-lock calls them broken, or it is none."""

import json

import pytest
from lock_mutants import Mutant, mutants
from program import Program

# Mistakes that are none, each with the reason.
NO_MISTAKE: dict[str, str] = {}


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: f"{mutant.lock}: {mutant.name}")
def test_a_lock_with_one_mistake_is_broken(linebounce: Program, mutant: Mutant) -> None:
    file = linebounce.file(f"{mutant.lock}.lua", mutant.text)
    (found,) = json.loads(linebounce("check-lock", file, "--json", timeout=600).stdout)
    assert (found["verdict"] == "broken") == (f"{mutant.lock}: {mutant.name}" not in NO_MISTAKE)
