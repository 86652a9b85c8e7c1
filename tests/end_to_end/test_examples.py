"""The worked examples: what examples/README.md says of each is found again, from a recording that the test makes."""

import subprocess
from pathlib import Path

import pytest
from program import ROOT

EXAMPLES = ROOT / "examples"
# Each with the change that makes it better.
PROGRAMS = {
    "counters.c": "-DPADDED",
    "hash_table.c": "-DSTRIPES=64",
    "memory_pool.c": "-DCACHED",
    "log_queue.cpp": "-DBATCH=32",
}


@pytest.mark.parametrize("source", PROGRAMS)
@pytest.mark.parametrize("changed", [False, True])
def test_example_is_a_program_without_data_races(source: str, changed: bool, tmp_path: Path) -> None:
    language = ["gcc", "-std=c11"] if source.endswith(".c") else ["g++", "-std=c++20"]
    flags = ["-Wall", "-Wextra", "-Werror", "-O2", "-g", "-pthread", "-fsanitize=thread"]
    flags += [PROGRAMS[source]] if changed else []
    program = tmp_path / "program"
    subprocess.run([*language, *flags, EXAMPLES / source, "-o", program], check=True)
    # The sanitizer's own exit code after a race is 66.
    subprocess.run([program], check=True, capture_output=True)
