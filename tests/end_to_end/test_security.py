"""Promises of SECURITY.md that no other test checks: what commands write, which of them listen, and what they run."""

import ast
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from experiments import experiment, machine_file
from program import ROOT, Program


@pytest.fixture
def alone(linebounce: Program, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program with a home, a cache and a place for temporary files below its directory."""
    for name, folder in (("HOME", "home"), ("XDG_CACHE_HOME", "cache"), ("TMPDIR", "tmp")):
        (linebounce.directory / folder).mkdir()
        monkeypatch.setenv(name, str(linebounce.directory / folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return linebounce


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"" for path in sorted(folder.rglob("*"))}


WRITERS = {
    "run": ("run", "small.toml", "-o", "out"),
    "ab": ("ab", "small.toml", "--machine", "p3_xeon_4way", "--machine", "p3_xeon_8way", "-o", "out", "--no-family-range"),
    "trace record": ("trace", "record", "small.toml", "-o", "out.lbt"),
    "trace synth": ("trace", "synth", "--accesses", "100", "-o", "out.lbt"),
    "trace replay": ("trace", "replay", "t.lbt", "--machine", "p3_xeon_4way", "-o", "out"),
    "trace convert": ("trace", "convert", "t.lbt", "out.txt"),
    "find-sharing": ("find-sharing", "t.lbt", "--machine", "p3_xeon_4way", "-o", "out"),
    "compare-locks": ("compare-locks", "t.lbt", "--machine", "p3_xeon_4way", "--orders", "2", "-o", "out"),
    "advise": ("advise", "t.lbt", "--time", "--machine", "p3_xeon_4way", "-o", "out"),
    "steps": ("steps", "small.toml", "-o", "out.json"),
    "explain": ("explain", "small.toml"),
    "lines": ("lines", "results"),
    "check": ("check", "msi_snoop", "--caches", "2", "--murphi", "out.m"),
    "check-lock": ("check-lock", "mcs", "--quick", "-o", "out"),
    "calibrate": ("calibrate", "--from", "matrix.csv", "-o", "out.toml", "--family", "intel_mesh"),
    "import": ("import", "lackey.log", "-o", "out.lbt"),
    "report": ("report", "results", "-o", "out.html"),
    "compare": ("compare", "results", "results", "-o", "out.html"),
    "tables": ("tables", "results", "metrics", "-o", "out.csv"),
    "teach --check": ("teach", "--check", str(ROOT / "teach" / "new-lesson.md")),
    "list": ("list", "machines"),
    "describe": ("describe", "machine", "p3_xeon_4way"),
}


@pytest.mark.uninstrumented
@pytest.mark.parametrize("name", WRITERS)
def test_a_command_writes_its_output_and_nothing_else(alone: Program, name: str) -> None:
    alone.file("small.toml", experiment())
    alone.file("matrix.csv", (ROOT / "docs/examples/two_sockets.csv").read_bytes())
    alone.file("lackey.log", " S 1ffefff8,8\n L 1ffefff8,8\n M 04222000,4\n" * 20)
    assert alone("trace", "synth", "--accesses", "100", "--locks", "1", "--section", "2", "-o", "t.lbt").code == 0
    alone.run("small.toml", "results")
    before = everything_in(alone.directory)
    result = alone(*WRITERS[name])
    assert result.code in (0, 1), result.stderr
    after = everything_in(alone.directory)
    assert {file: content for file, content in after.items() if file in before} == before, "what was there is as it was"
    new = {file.split("/")[0] for file in after.keys() - before.keys()}
    allowed = {word for word in WRITERS[name] if word.startswith("out")} | ({"cache"} if name == "report" else set())
    assert new <= allowed


@pytest.mark.uninstrumented
def test_a_lock_in_c_is_compiled_into_the_users_cache(alone: Program) -> None:
    shutil.copy(ROOT / "programs" / "locks" / "ticket.c", alone.directory / "own.c")
    before = everything_in(alone.directory)
    assert alone("check-lock", "own.c", "--quick", "-o", "out").code == 0
    new = everything_in(alone.directory).keys() - before.keys()
    assert {Path(name).parts[:2] for name in new} <= {("cache", "linebounce"), ("out",)}
    assert any(name.endswith(".so") for name in new)


def test_a_link_that_the_user_names_as_an_output_directory_stays(linebounce: Program) -> None:
    small = linebounce.file("small.toml", experiment())
    (linebounce.directory / "far").mkdir()
    (linebounce.directory / "near").symlink_to("far")
    for _ in range(2):
        assert linebounce("run", small, "-o", "near", "--fresh").code == 0
        assert (linebounce.directory / "near").is_symlink()
        assert (linebounce.directory / "far" / "results.json").exists()


@pytest.mark.parametrize("odd", ["a b", "a\\tb", "-x", "a/-x", "a/.x", "/x"])
def test_a_name_of_a_directory_has_no_blank_and_no_leading_dash_or_dot(linebounce: Program, odd: str) -> None:
    message = linebounce.refused("run", linebounce.file("e.toml", experiment().replace('"small"', f'"{odd}"')))
    assert "cannot name a results directory" in message
    assert [path.name for path in linebounce.directory.iterdir()] == ["e.toml"]


def test_of_two_processes_that_write_one_file_one_is_there_whole(linebounce: Program) -> None:
    """Machine files of two matrices, which several processes write again and again under one name."""
    text = (ROOT / "docs/examples/two_sockets.csv").read_text()
    linebounce.file("a.csv", text)
    linebounce.file("b.csv", text.replace("0,1,", "0,1,1", 1))
    whole = set()
    for name in ("a", "b"):
        assert linebounce("calibrate", "--from", f"{name}.csv", "-o", "out.toml", "--family", "intel_mesh").code == 0
        whole.add((linebounce.directory / "out.toml").read_text())
    running = [
        linebounce.start("calibrate", "--from", f"{name}.csv", "-o", "out.toml", "--family", "intel_mesh") for name in "abab"
    ]
    while any(process.poll() is None for process in running):
        assert (linebounce.directory / "out.toml").read_text() in whole
    assert [process.communicate() and process.returncode for process in running] == [0] * 4
    assert [path.name for path in linebounce.directory.glob("*.toml")] == ["out.toml"]


LISTENING = {"listen", "bind", "accept", "accept4", "connect", "socket"}


@pytest.mark.uninstrumented
def test_the_program_and_the_recorder_use_no_network(executable: Path) -> None:
    for program in (executable, executable.with_name("linebounce-record")):
        listed = subprocess.run(["nm", "--dynamic", "--undefined-only", program], capture_output=True, text=True, check=True)
        names = {line.split()[-1].partition("@")[0] for line in listed.stdout.splitlines()}
        assert names, program
        assert not names & LISTENING, program


def test_of_the_python_commands_only_sweep_and_teach_use_the_network() -> None:
    package = ROOT / "analysis" / "linebounce"
    network = {"socket", "socketserver", "http", "urllib.request", "distributed", "dask", "dask_jobqueue", "ssl", "asyncio"}
    found = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            if any(name in network or name.split(".")[0] in network for name in names):
                found.add(path.relative_to(package).parts[0] if path.parent != package else path.name)
    assert found == {"sweep", "teach"}


def test_a_machine_with_a_long_text_is_refused(linebounce: Program) -> None:
    machine_file(linebounce, lambda text: text.replace("title", f'title = "{"x" * 5000}"\nwas', 1))
    message = linebounce.refused("describe", "machine", "machine.toml")
    assert "a string of 5000 bytes is too long; legal: at most 4096" in message


def test_what_a_file_names_is_never_executed(linebounce: Program) -> None:
    """Names in an experiment, a machine and a trace that a shell would obey."""
    for odd in ("$(touch it)", "`touch it`", "; touch it;", "| touch it", "x' ; touch it ; '"):
        linebounce("run", linebounce.file("e.toml", experiment(top=f'machine = "{odd}"')), "-o", "out")
        linebounce("run", linebounce.file("e.toml", experiment(workload=f'program = "{odd}.lua"')), "-o", "out")
        linebounce.file("t.txt", f'linebounce trace 1\nobject "{odd}" size=8\nprogram "{odd}"\nstream a\na load "{odd}"\nend\n')
        linebounce("advise", "t.txt", "--machine", "p3_xeon_4way", "--orders", "2", "-o", "advised")
        (linebounce.directory / f"perf{odd}.data").write_bytes(b"PERFILE2" + bytes(200))
        linebounce("import", f"perf{odd}.data", "-o", "perf.lbt")
    assert not list(linebounce.directory.rglob("it"))


def test_no_command_waits_for_a_pipe_in_a_folder_from_others(linebounce: Program) -> None:
    here = linebounce.directory
    for folder in ("litmus", "recordings", "results"):
        (here / folder).mkdir()
    os.mkfifo(here / "litmus" / "t.litmus")
    os.mkfifo(here / "recordings" / "t.lbt")
    for name in ("manifest.json", "results.json", "lines.csv", "config.toml"):
        os.mkfifo(here / "results" / name)
    os.mkfifo(here / "linebounce.toml")
    for command in (
        ("import", "litmus"),
        ("gate", "--base", "recordings", "--head", "recordings", "--budget", "linebounce.toml"),
        ("gate", "--base", "recordings", "--head", "recordings"),
        ("lines", "results"),
        ("report", "results"),
        ("explain", "results"),
        ("run", "results/config.toml"),
    ):
        assert linebounce(*command, timeout=60).code in (2, 3, 5), command
