"""teach/autograder/run_autograder, as Gradescope calls it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import gradescope_schema
import pytest
from program import ROOT

SCRIPT = ROOT / "teach" / "autograder" / "run_autograder"


def autograded(executable: Path, folder: Path) -> dict[str, Any]:
    """The results file of a run in an environment that has nothing but the program."""
    results = folder / "out" / "results.json"
    places = {"SUBMISSION": str(folder), "RESULTS": str(results), "VARIANTS": str(folder / "none")}
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "LB_"))}
    environment = {"PATH": f"{executable.parent}:/usr/bin:/bin", **places, **kept}
    done = subprocess.run([SCRIPT], env=environment, check=True, timeout=240, cwd=folder, stderr=subprocess.PIPE, text=True)
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(results.read_text())
    gradescope_schema.require_valid(found)
    return found


def test_answers_are_graded_where_gradescope_looks(executable: Path, tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_text('assignment = "coherence-1"\nstudent = "A."\n[answers]\nvalue = 3\n')
    tests = {one["name"].rpartition(" ")[2]: one for one in autograded(executable, tmp_path)["tests"]}
    assert (tests["value"]["status"], tests["value"]["score"]) == ("passed", 1)
    assert (tests["mend"]["status"], tests["mend"]["output"]) == ("failed", "no answer")


def test_grading_runs_under_limits(tmp_path: Path) -> None:
    """A stand-in for the program prints the limits that it was given, and fails as if the answers were unreadable."""
    stand_in = tmp_path / "bin" / "linebounce"
    stand_in.parent.mkdir()
    stand_in.write_text("#!/bin/sh\nulimit -t; ulimit -v; ulimit -f; exit 3\n")
    stand_in.chmod(0o755)
    assert autograded(stand_in, tmp_path)["output"].split() == ["300", "4194304", "131072"]


@pytest.mark.parametrize(("text", "says"), [("no toml at all", "this is not TOML"), (None, "answers.toml")])
def test_answers_that_cannot_be_read_get_no_points_and_a_reason(
    executable: Path, tmp_path: Path, text: str | None, says: str
) -> None:
    if text is not None:
        (tmp_path / "answers.toml").write_text(text)
    found = autograded(executable, tmp_path)
    assert (found["score"], found["tests"]) == (0, [])
    assert says in found["output"]
