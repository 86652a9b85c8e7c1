"""The wheel that ./dev package makes: its contents, and that it needs nothing else of the project."""

import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from program import ROOT

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
OFFLINE = ["--no-deps", "--no-index", "--quiet"]
# Libraries that every Linux system with a C++ compiler's run-time library has.
EVERYWHERE = re.compile(r"ld-linux.*|lib(c|m|gcc_s|stdc\+\+)\.so\.\d+")


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Runs a command without anything of this project in the environment."""
    options = {"cwd": cwd, "env": {"PATH": "/usr/bin:/bin"}, "stdin": subprocess.DEVNULL}
    done = subprocess.run([*command], **options, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def make_wheel(executable: Path, folder: Path) -> Path:
    build = ["--no-build-isolation", "--config-settings", f"build-dir={folder / 'build'}"]
    built = ["--config-settings", f"cmake.define.LINEBOUNCE_BUILT={executable.parent}"]
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000", "_PYTHON_HOST_PLATFORM": "manylinux-2.36-x86_64"}
    command = [*PIP, "wheel", *OFFLINE, *build, *built, "--wheel-dir", folder, ROOT]
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, check=True)
    (made,) = folder.glob("linebounce-*.whl")
    return made


@pytest.fixture(scope="module")
def wheel(executable: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheel(executable, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel. The packages it needs come from this environment, because there is no network."""
    environment = tmp_path_factory.mktemp("package") / "environment"
    venv.create(environment, with_pip=False)
    (packages,) = environment.glob("lib/python*/site-packages")
    needed = [path for path in sys.path if path.endswith("site-packages")]
    # Adds this environment's packages to the new one's search path, behind the new environment's own. So the installed wheel
    # comes before an editable install of the project.
    (packages / "needed.pth").write_text("\n".join(f"import sys; sys.path.append({path!r})" for path in needed) + "\n")
    run(*PIP, "--python", environment / "bin" / "python", "install", *OFFLINE, wheel)
    return environment / "bin"


def names(wheel: Path) -> set[str]:
    """The names in the wheel, without the version in folder names."""
    with zipfile.ZipFile(wheel) as archive:
        return {re.sub(r"^linebounce-[^/]*\.(data|dist-info)/", r"\1/", name, count=1) for name in archive.namelist()} - {""}


def tracked(*patterns: str) -> set[str]:
    listed = subprocess.run(["git", "ls-files", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


def test_the_wheel_has_the_files_that_the_program_looks_for(wheel: Path) -> None:
    found = {name.removeprefix("data/data/") for name in names(wheel)}
    data = tracked("configs", "models/protocols", "programs", "teach/lessons", "teach/assignments", "probe/*.[ch]")
    assert len(data) > 150
    assert data <= {name.removeprefix("lib/linebounce/") for name in found}
    commands = {"linebounce", "linebounce-record", "linebounce-cc", "linebounce-c++", "linebounce-probe"}
    assert {f"bin/{name}" for name in commands} | {f"lib/linebounce/{name}" for name in commands} <= found
    recorder = {"libtsan.a", "liboperators.a", "libtsan_preinit.o", "libbinary_plugin.so", "libbinary_preload.so"}
    assert {f"lib/linebounce/record/{name}" for name in recorder} | {"lib/linebounce/record/shared/libtsan.a"} <= found
    assert {"share/man/man1/linebounce.1", "share/bash-completion/completions/linebounce"} <= found


def test_the_wheel_holds_all_of_the_python_package_and_nothing_of_this_machine(wheel: Path) -> None:
    package = {name.removeprefix("analysis/") for name in tracked("analysis/linebounce")}
    assert {name for name in names(wheel) if name.startswith("linebounce/")} == package
    with zipfile.ZipFile(wheel) as archive:
        # Matches only our own folders below the root: a root as short as /src also occurs in other projects' paths.
        here = re.compile(rb"(?<![\w./~-])" + re.escape(os.fsencode(ROOT)) + rb"/(?:analysis|build|models|sim|\.venv)\b")
        holding = [name for name in archive.namelist() if here.search(archive.read(name))]
    assert holding == []


def test_the_wheel_needs_no_library_that_it_does_not_bring(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    (home,) = tmp_path.glob("linebounce-*.data/data/lib/linebounce")
    brought = {path.name for path in (home / "libraries").iterdir() if path.is_file()}
    assert "libsystemc-2.3.4.so" in brought
    for file in [
        home / "linebounce",
        home / "liblinebounce_systemc.so",
        home / "linebounce-record",
        home / "record/libbinary_plugin.so",
        *home.glob("libraries/*.so*"),
    ]:
        headers = run("readelf", "--wide", "--dynamic", "--version-info", file)
        needed = set(re.findall(r"Shared library: \[(.*)\]", headers))
        assert {name for name in needed if not EVERYWHERE.fullmatch(name)} <= brought, file.name
        # The tag promises this version of the C library; code built on a newer machine would require a newer one.
        versions = [int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", headers)]
        libc = int(os.confstr("CS_GNU_LIBC_VERSION").rpartition(".")[2])  # type: ignore[union-attr]
        assert max(versions) <= libc, file.name
    licenses = {path.name for path in (home / "libraries/licenses").iterdir()}
    assert any(name.startswith("libsystemc") for name in licenses)


@pytest.mark.thorough
def test_two_wheels_of_one_build_have_the_same_bytes(executable: Path, wheel: Path, tmp_path: Path) -> None:
    assert make_wheel(executable, tmp_path).read_bytes() == wheel.read_bytes()


def test_the_version_is_the_same_everywhere(wheel: Path, installed: Path) -> None:
    (version,) = re.findall(r"project\(linebounce VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    assert wheel.name == f"linebounce-{version}-py3-none-manylinux_2_36_x86_64.whl"
    code = "import importlib.metadata as m; print(m.version('linebounce'))"
    assert run(installed / "python", "-c", code).strip() == version
    assert run(installed / "linebounce", "--version").startswith(f"linebounce {version} (")
    manual = (installed.parent / "share/man/man1/linebounce.1").read_text()
    assert f'"linebounce {version} (' in manual.splitlines()[0]


def test_a_directory_is_opened_without_the_rest_of_the_project(installed: Path, locks_run: Path) -> None:
    code = "import linebounce, sys; print(linebounce.__file__); print(len(linebounce.open(sys.argv[1]).points))"
    file, points = run(installed / "python", "-c", code, locks_run, cwd=installed).splitlines()
    assert Path(file).is_relative_to(installed.parent), "the wheel, and not this tree"
    assert points == "9"


def test_the_wheels_commands_work_without_the_rest_of_the_project(installed: Path, locks_run: Path, tmp_path: Path) -> None:
    commands = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"])
    assert commands < {path.name for path in installed.glob("linebounce-*")}
    for name in sorted(commands):
        assert "Examples:" in run(installed / name, "--help", cwd=tmp_path)
    # The program is started by its path and is not in PATH. It must find its commands in its own bin/.
    run(installed / "linebounce", "report", locks_run, "-o", "page.html", "--figures", "figures", cwd=tmp_path)
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "figures" / locks_run.resolve().name / "sweep.svg").exists()
    assert "metrics at 9 points, 0 of them changed" in run(installed / "linebounce-compare", locks_run, locks_run, cwd=tmp_path)


def test_the_installed_program_computes_what_the_built_one_does(installed: Path, executable: Path, tmp_path: Path) -> None:
    here = {"built": executable, "wheel": installed / "linebounce"}
    results = {}
    for name, program in here.items():
        run(program, "run", "operation_costs", "--quiet", "-o", name, cwd=tmp_path)
        files = [path for path in (tmp_path / name).rglob("*") if path.is_file() and path.name != "manifest.json"]
        results[name] = {path.name: path.read_bytes() for path in files}
    assert results["built"] == results["wheel"]


def test_a_program_is_compiled_and_recorded_with_the_wheels_files(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text("int shared; int main(void) { shared = 1; return shared - 1; }\n")
    run(installed / "linebounce-cc", "-O1", "-pthread", "t.c", "-o", "t", cwd=tmp_path)
    run(installed / "linebounce-record", "--", "./t", cwd=tmp_path)
    assert '"name": "main"' in run(installed / "linebounce", "trace", "info", "t.lbt", "--json", cwd=tmp_path)


@pytest.mark.thorough
@pytest.mark.skipif(os.geteuid() != 0, reason="an empty system is made by root")
def test_the_packages_work_in_a_system_that_has_nothing_else() -> None:
    said = subprocess.run([ROOT / "dev", "package", "--check"], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    assert "wheel: 6 data files" in said.stdout
    assert "Debian package: 6 data files" in said.stdout
