"""Names that are not text, or that would act on a terminal: output shows them escaped, and results keep them unchanged."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from experiments import experiment
from linebounce.visible import visible
from program import ROOT, Program, Result

# This name ends a title, moves the cursor, clears the screen with one character, and changes the writing direction.
ACTIVE = "a\x1b]0;b\x07\x1b[2J\u009b2Jc\u202ed\u2066e"
SHOWN = r"a\u001b]0;b\u0007\u001b[2J\u009b2Jc\u202ed\u2066e"


@pytest.fixture
def run_python(linebounce: Program) -> "RunPython":
    return RunPython(linebounce)


class RunPython:
    """Runs a Python command in the test's directory, with names as bytes."""

    def __init__(self, linebounce: Program) -> None:
        self.linebounce = linebounce

    def __call__(self, name: str, *arguments: str | bytes | Path) -> Result:
        settings = os.environ | {"PYTHONPATH": str(ROOT / "analysis"), "LINEBOUNCE": str(self.linebounce.executable)}
        command = [sys.executable, "-m", f"linebounce.{name}.command", *arguments]
        done = subprocess.run(command, env=settings, cwd=self.linebounce.directory, capture_output=True, check=False)
        stdout, stderr = done.stdout.decode(), done.stderr.decode()  # both are UTF-8
        assert "Traceback" not in stderr, stderr
        assert "\x1b" not in stdout + stderr
        return Result(done.returncode, stdout, stderr)


def test_control_characters_are_escaped() -> None:
    assert visible(ACTIVE) == SHOWN
    assert visible("Grüße, 線\n\t😀") == "Grüße, 線\n\t😀"
    assert visible(os.fsdecode(b"a\xff\xc3")) == r"a\xff\xc3"


def test_directories_with_names_that_are_not_valid_text_are_read_and_written(run_python: RunPython) -> None:
    linebounce = run_python.linebounce
    path = linebounce.file("small.toml", experiment(more='[sweep]\n"machine.cpus" = [1, 2]\n'))
    swept = run_python("sweep", path, "-o", b"swe\xffpt")
    assert swept.code == 0, swept.stderr
    assert r"swe\xffpt" in swept.stdout
    assert linebounce("run", path, "-o", os.fsdecode(b"swe\xffpt"), "--quiet").code == 0
    for name, *more in [("report", "-o", b"pa\xffge.html"), ("compare", b"swe\xffpt", "-o", "page.html")]:
        result = run_python(name, b"swe\xffpt", *more)
        assert result.code == 0, result.stderr
    assert (linebounce.directory / os.fsdecode(b"pa\xffge.html")).exists()
    for name in ("report", "compare", "sweep"):
        assert r"no\xffne" in run_python(name, *[b"no\xffne"] * (2 if name == "compare" else 1)).stderr


def test_titles_and_names_do_not_act_on_the_terminal(run_python: RunPython) -> None:
    linebounce = run_python.linebounce
    text = experiment().replace("A small run", SHOWN)  # escaped in TOML, too
    out = linebounce.run(linebounce.file("small.toml", text), "out")
    assert tomllib.loads((out / "config.toml").read_text())["title"] == ACTIVE
    assert SHOWN in run_python("compare", out, out).stdout
    for name, *arguments in [
        ("report", ACTIVE),
        ("compare", ACTIVE, ACTIVE),
        ("compare", out, out, "--fail-on", ACTIVE),
        ("sweep", ACTIVE),
        ("sweep", "small.toml", "--set", ACTIVE),
        ("trace_export", ACTIVE, "--perfetto", "x"),
        ("report", out, f"--{ACTIVE}"),
    ]:
        result = run_python(name, *arguments)
        assert result.code in (2, 3)
        assert SHOWN in result.stderr


@pytest.mark.parametrize("name", ["report", "sweep"])
def test_a_long_argument_is_shortened_in_the_message(run_python: RunPython, name: str) -> None:
    assert len(run_python(name, "x" * 100_000).stderr) < 10_000
