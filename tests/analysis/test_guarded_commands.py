"""The Python commands with few system resources: they print one line on the standard error and return an exit code, never a
traceback."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from program import ROOT, Result

COMMANDS = sorted(re.findall(r'"linebounce\.entry:(\w+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8")))
# Starts a command as programs such as linebounce-compare do.
BEGIN = "import sys; from linebounce import entry; sys.exit(getattr(entry, sys.argv.pop(1))())"


@pytest.fixture
def guarded(executable: Path, tmp_path: Path) -> Callable[..., Result]:
    """Runs a command after shell words such as `ulimit -n 8`."""

    def run(before: str, *words: str | Path, after: str = "", **environment: str) -> Result:
        command = ["sh", "-c", f'{before}; exec "$@" {after}', "sh", sys.executable, "-c", BEGIN, *map(str, words)]
        path = os.pathsep.join(filter(None, [str(ROOT / "analysis"), os.environ.get("PYTHONPATH", "")]))
        settings = os.environ | {"PYTHONPATH": path, "LINEBOUNCE": str(executable)} | environment
        done = subprocess.run(command, cwd=tmp_path, env=settings, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        stderr = done.stderr.decode()
        assert "Traceback" not in stderr, stderr
        return Result(done.returncode, done.stdout.decode(), stderr)

    return run


def one_line(result: Result, code: int) -> str:
    assert (result.code, result.stderr.count("\n")) == (code, 1), result
    return result.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_a_closed_standard_output_is_reported(guarded: Callable[..., Result], name: str) -> None:
    result = guarded(":", name, "--help", after=">&-")
    assert "cannot write to the standard output: Bad file descriptor" in one_line(result, 2)


def test_closed_standard_errors_change_no_exit_code(guarded: Callable[..., Result]) -> None:
    assert guarded(":", "compare", "no", "such", after="2>&-").code == 3
    assert guarded(":", "compare", "no", "such", after="2>&- >&-").code == 3


def test_too_few_file_descriptors_are_reported(guarded: Callable[..., Result]) -> None:
    assert "Too many open files" in one_line(guarded("ulimit -n 8", "sweep", "lock_scaling"), 2)


@pytest.mark.uninstrumented
@pytest.mark.parametrize("name", ["compare", "report"])
@pytest.mark.parametrize("limit", [60_000, 100_000])
def test_too_little_memory_is_reported(guarded: Callable[..., Result], locks_run: Path, name: str, limit: int) -> None:
    message = one_line(guarded(f"ulimit -v {limit}", name, locks_run, locks_run), 4)
    assert f"the memory ran out: ulimit -v limits it to {limit // 1024} MiB" in message


@pytest.mark.uninstrumented
@pytest.mark.parametrize("words", [["compare"], ["compare", "-o", "page.html"], ["report", "-o", "page.html"]])
@pytest.mark.parametrize("limit", [400_000, 700_000])
def test_libraries_that_abort_for_lack_of_memory_leave_one_line(
    guarded: Callable[..., Result], locks_run: Path, words: list[str], limit: int
) -> None:
    """Whether the command gets enough memory depends on chance, so success is accepted, too."""
    result = guarded(f"ulimit -v {limit}", words[0], locks_run, locks_run, *words[1:])
    if result.code != 0:
        assert f"the memory ran out: ulimit -v limits it to {limit // 1024} MiB" in one_line(result, 4)


def test_libraries_that_abort_for_lack_of_descriptors_leave_one_line(guarded: Callable[..., Result], locks_run: Path) -> None:
    shown = guarded("ulimit -n 12", "compare", locks_run, locks_run, "-o", "page.html")
    assert one_line(shown, 2) == "linebounce: Too many open files: ulimit -n limits them to 12\n"


def test_a_closed_standard_input_confuses_no_library(guarded: Callable[..., Result], locks_run: Path) -> None:
    assert guarded("exec 0<&-", "compare", locks_run, locks_run, "-o", "page.html").code == 0


@pytest.mark.parametrize("words", [["sweep", "lock_scaling"], ["gate", "--base", "a", "--head", "b"], ["teach", "-o", "x"]])
def test_a_deleted_current_folder_is_reported(guarded: Callable[..., Result], words: list[str]) -> None:
    result = guarded("mkdir gone; cd gone; rmdir ../gone", *words, LINEBOUNCE="")
    assert one_line(result, 2) == "linebounce: the current folder no longer exists; change to one that does\n"


def test_an_error_in_a_deleted_current_folder_is_named(guarded: Callable[..., Result]) -> None:
    assert "there is no such results directory" in one_line(guarded("mkdir gone; cd gone; rmdir ../gone", "tables", "x"), 3)


def test_the_locale_does_not_change_the_output(guarded: Callable[..., Result], locks_run: Path) -> None:
    plain = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    shown = guarded(":", "compare", locks_run, locks_run, **plain)
    assert shown.code == 0, shown.stderr
    assert shown.stdout == guarded(":", "compare", locks_run, locks_run).stdout
    assert not shown.stdout.isascii()
