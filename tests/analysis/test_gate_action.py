"""The action for workflows (install/github-action): its steps, run as the service runs them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import yaml
from gate_forms import check_junit, check_sarif
from program import ROOT, Program
from recorded import Recorder

ACTION = ROOT / "install" / "github-action"

PROGRAM = """\
#include <pthread.h>
static struct { volatile long hits; PAD } counts[4] __attribute__((aligned(64)));
static void *work(void *me) {
  for (int i = 0; i < 3000; ++i) counts[(long)me].hits++;
  return me;
}
int main(void) {
  pthread_t threads[4];
  for (long i = 0; i < 4; ++i) pthread_create(threads + i, 0, work, (void *)i);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
}
"""


def run_action(linebounce: Program, inputs: dict[str, str]) -> tuple[int, str, str]:
    """Exit code, standard output and the job's summary."""
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    unknown = inputs.keys() - action["inputs"].keys()
    assert not unknown
    values = {name: inputs.get(name, of.get("default", "")) for name, of in action["inputs"].items()}
    (step,) = action["runs"]["steps"]
    summary = linebounce.directory / "summary.md"
    summary.write_text("")
    folders = [str(linebounce.executable.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda it: values[it[1]], text) for name, text in step["env"].items()
    }
    environment |= {"PATH": ":".join(folders), "GITHUB_ACTION_PATH": str(ACTION), "GITHUB_STEP_SUMMARY": str(summary)}
    kept = {name: os.environ[name] for name in ("HOME", "LINEBOUNCE", "PYTHONPATH") if name in os.environ}
    done = subprocess.run(
        [step["shell"], "-e", "-c", step["run"]],
        cwd=linebounce.directory,
        env=environment | kept,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr, summary.read_text()


def test_the_action_fails_a_change_and_leaves_all_reports(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    for name, pad in (("base", "char pad[56];"), ("head", "")):
        recorder.compile(PROGRAM.replace("PAD", pad), "-g", output=name)
    inputs = {"base": "base", "head": "head", "machines": "generic_2socket_32core p3_xeon_8way", "times": "2"}
    code, output, summary = run_action(linebounce, inputs)
    assert code == 1, output
    assert re.search(r"^::error file=program\.c,line=2,", output, re.MULTILINE)
    assert "## linebounce gate: Over budget" in summary
    reports = linebounce.directory / "linebounce-gate"
    check_sarif(json.loads((reports / "gate.sarif").read_text()))
    assert len(check_junit((reports / "gate.xml").read_bytes())) == 2, "a suite for each machine"
    assert json.loads((reports / "gate.json").read_text())["exit_code"] == 1


def test_the_action_says_where_nothing_was_measured(linebounce: Program) -> None:
    code, output, summary = run_action(linebounce, {"base": "nowhere", "head": "nowhere"})
    assert code == 5
    assert "::error title=linebounce gate%3A not measured::nowhere" in output
    assert "Not measured" in summary


def test_every_setting_of_the_example_is_one_that_the_action_has() -> None:
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    (job,) = yaml.safe_load((ACTION / "example.yml").read_text())["jobs"].values()
    (used,) = (step["with"] for step in job["steps"] if step.get("uses", "").startswith("./"))
    required = {name for name, of in action["inputs"].items() if of.get("required")}
    assert required <= used.keys() <= action["inputs"].keys()
