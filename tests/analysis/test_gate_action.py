"""The GitHub action in install/github-action: its steps, run as GitHub runs them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import yaml
from gate_forms import check_junit, check_sarif
from program import ROOT, Program

ACTION = ROOT / "install" / "github-action"

# The threads meet at barriers, or one would end before the next begins.
PROGRAM = """\
#include <pthread.h>
static struct { volatile long hits; PAD } counts[4] __attribute__((aligned(64)));
static pthread_barrier_t turn;
static void *work(void *me) {
  for (int i = 0; i < 40000; ++i) {
    if (i % 4000 == 0) pthread_barrier_wait(&turn);
    counts[(long)me].hits++;
  }
  return me;
}
int main(void) {
  pthread_t threads[4];
  pthread_barrier_init(&turn, 0, 4);
  for (long i = 0; i < 4; ++i) pthread_create(threads + i, 0, work, (void *)i);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
}
"""


def steps_environment(linebounce: Program, **more: str) -> dict[str, str]:
    folders = [str(linebounce.executable.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    kept = {name: os.environ[name] for name in ("HOME", "LINEBOUNCE", "PYTHONPATH") if name in os.environ}
    return kept | {"PATH": ":".join(folders)} | more


def run_action(linebounce: Program, inputs: dict[str, str], folder: Path) -> tuple[int, str, str]:
    """Exit code, standard output and the job's summary."""
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    assert inputs.keys() <= action["inputs"].keys()
    values = {name: inputs.get(name, of.get("default", "")) for name, of in action["inputs"].items()}
    (step,) = action["runs"]["steps"]
    summary = folder / "summary.md"
    summary.write_text("")
    given = {name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda it: values[it[1]], text) for name, text in step["env"].items()}
    environment = steps_environment(linebounce, GITHUB_ACTION_PATH=str(ACTION), GITHUB_STEP_SUMMARY=str(summary), **given)
    command = [step["shell"], "-e", "-c", step["run"]]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr, summary.read_text()


def repository(folder: Path) -> Path:
    """A repository with a program that `make` builds: origin's main has padding between the counters, the branch that
    is checked out has none."""
    folder.mkdir()

    def git(*words: str) -> None:
        author = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org"]
        subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True)

    git("init", "-b", "main")
    (folder / "Makefile").write_text("server: server.c\n\t$(CC) -O2 -g -pthread $< -o $@\n")
    for pad, branch in (("char pad[56];", "refs/remotes/origin/main"), ("", "refs/heads/change")):
        (folder / "server.c").write_text(PROGRAM.replace("PAD", pad))
        git("add", ".")
        git("commit", "-m", branch)
        git("update-ref", branch, "HEAD")
    return folder


def test_the_example_of_a_workflow_fails_a_change_and_leaves_all_reports(linebounce: Program) -> None:
    """Runs the action's own steps, but not the actions that its example uses for checkout and upload."""
    folder = repository(linebounce.directory / "work")
    (job,) = yaml.safe_load((ACTION / "example.yml").read_text())["jobs"].values()
    environment = steps_environment(linebounce, GITHUB_BASE_REF="main")
    for step in job["steps"]:
        if "run" in step:
            subprocess.run(["bash", "-e", "-c", step["run"]], cwd=folder, env=environment, check=True, capture_output=True)
        elif step["uses"].startswith("./"):
            settings = {"machines": "generic_2socket_32core p3_xeon_8way", "times": "2"}
            code, output, summary = run_action(linebounce, step["with"] | settings, folder)
    assert code == 1, output
    assert re.search(r"^::error file=server\.c,line=2,", output, re.MULTILINE)
    assert "## linebounce gate: Over budget" in summary
    reports = folder / "linebounce-gate"
    check_sarif(json.loads((reports / "gate.sarif").read_text()))
    assert len(check_junit((reports / "gate.xml").read_bytes())) == 2, "a suite for each machine"
    assert json.loads((reports / "gate.json").read_text())["exit_code"] == 1


def test_the_action_says_where_nothing_was_measured(linebounce: Program) -> None:
    code, output, summary = run_action(linebounce, {"base": "nowhere", "head": "nowhere"}, linebounce.directory)
    assert code == 5
    assert "::error title=linebounce gate%3A not measured::nowhere" in output
    assert "Not measured" in summary
