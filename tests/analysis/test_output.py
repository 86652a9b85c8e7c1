"""Commands whose output can't be written: a closed pipe, a full disk, and a name that is not a results directory."""

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from experiments import experiment
from linebounce.errors import InputError, UnreadableError, UsageError
from linebounce.files import read_file, scratch_folder
from program import ROOT, Program, Result

Command = Callable[..., Result]
SMALL = 4096  # file size in bytes at which the disk counts as full


def start(name: str, *arguments: str | Path, environment: dict[str, str] | None = None, **options: object) -> subprocess.Popen:
    module = [sys.executable, "-m", f"linebounce.{name}.command", *map(str, arguments)]
    settings = os.environ | {"PYTHONPATH": str(ROOT / "analysis")} | (environment or {})
    return subprocess.Popen(module, env=settings, stderr=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload]


def closed_pipe(name: str, *arguments: str | Path, **environment: str) -> tuple[int, str]:
    """Exit code and standard error of a command whose standard output has no reader."""
    reading, writing = os.pipe()
    os.close(reading)
    process = start(name, *arguments, environment=environment, stdout=writing)
    os.close(writing)
    said = process.communicate(timeout=120)[1]
    return process.returncode, said


def test_a_closed_pipe_is_not_a_condition_that_holds(costs_run: Path, locks_run: Path, tmp_path: Path) -> None:
    page, trace = tmp_path / "page.html", tmp_path / "x.pftrace"
    for name, *arguments in [
        ("compare", costs_run, costs_run),
        ("compare", locks_run, locks_run, "--json"),
        ("report", costs_run, "-o", page),
    ]:
        assert closed_pipe(name, *arguments) == (141, "")
    assert page.exists()
    code, said = closed_pipe("trace_export", costs_run, "--perfetto", trace)
    assert code == 3, "what is refused is refused all the same"
    assert "no timeline was recorded" in said


def test_a_closed_pipe_ends_an_export_and_a_sweep(timeline_run: Path, linebounce: Program, tmp_path: Path) -> None:
    assert closed_pipe("trace_export", timeline_run, "--perfetto", tmp_path / "x.pftrace") == (141, "")
    path = linebounce.file("one.toml", experiment())
    code, said = closed_pipe("sweep", path, "-o", tmp_path / "out", LINEBOUNCE=str(linebounce.executable))
    assert code == 141, said
    assert "Traceback" not in said
    assert (tmp_path / "out" / "results.json").exists()


def test_a_standard_output_that_is_full_is_exit_code_2(costs_run: Path) -> None:
    with Path("/dev/full").open("w") as full:
        process = start("compare", costs_run, costs_run, "--json", stdout=full)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 2
    assert said == "linebounce: cannot write to the standard output: No space left on device\n"


def test_a_full_disk_leaves_no_part_of_a_file(costs_run: Path, timeline_run: Path, tmp_path: Path) -> None:
    for name, *arguments in [
        ("report", costs_run, "-o"),
        ("compare", costs_run, costs_run, "-o"),
        ("trace_export", timeline_run, "--perfetto"),
    ]:
        folder = tmp_path / name
        folder.mkdir()
        file = folder / "file"
        file.write_text("of before")
        process = start(
            name,
            *(*arguments, file),
            stdout=subprocess.PIPE,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL)),
        )
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 2, said
        assert said.endswith(f": {file}: cannot be written: File too large\n")
        assert said.count("\n") == 1
        assert list(folder.iterdir()) == [file]
        assert file.read_text() == "of before"


def test_a_page_can_go_to_the_standard_output(process: Command, costs_run: Path) -> None:
    assert process("compare", costs_run, costs_run, "-o", "/dev/stdout").stdout.startswith("<!DOCTYPE html>")


def test_a_link_to_itself_is_not_replaced(command: Command, costs_run: Path, tmp_path: Path) -> None:
    loop = tmp_path / "loop.html"
    loop.symlink_to(loop.name)
    refused = command("compare", costs_run, costs_run, "-o", loop)
    assert (refused.code, refused.stderr) == (2, f"linebounce: {loop}: cannot be written: {os.strerror(errno.ELOOP)}\n")
    assert loop.is_symlink()


@pytest.mark.parametrize("name", ["report", "compare", "trace_export"])
def test_a_file_in_a_directorys_place_is_said_to_be_a_file(
    command: Command, costs_run: Path, tmp_path: Path, name: str
) -> None:
    more = {"report": [], "compare": [costs_run], "trace_export": ["--perfetto", tmp_path / "x"]}[name]
    inside = command(name, costs_run / "results.json", *more)
    (tmp_path / "page.html").touch()
    other = command(name, tmp_path / "page.html", *more)
    assert (inside.code, other.code) == (3, 3)
    assert (
        f"results.json: this is a file; give a results directory, which `linebounce run` makes: {costs_run}\n" in inside.stderr
    )
    assert other.stderr.endswith("page.html: this is a file; give a results directory, which `linebounce run` makes\n")


def test_without_a_place_for_temporary_files_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_usable() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("tempfile._get_default_tempdir", none_usable)
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(UsageError, match="cannot make a temporary folder: No usable temporary directory"), scratch_folder():
        pass


@pytest.mark.parametrize(
    ("error", "of_the_system"), [(errno.EIO, True), (errno.EMFILE, True), (errno.ESTALE, True), (errno.EACCES, False)]
)
def test_only_errors_that_do_not_concern_a_file_are_the_systems_fault(
    error: int, of_the_system: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr("linebounce.files.open", refused, raising=False)
    with pytest.raises(InputError, match=f"answers.toml: cannot be read: {os.strerror(error)}") as raised:
        read_file(Path("answers.toml"))
    assert isinstance(raised.value, UnreadableError) == of_the_system
