"""The package alone, as `pip install ./analysis` installs it: without the C++ program and the rest of the project."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from program import ROOT


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the package's wheel. What the package needs it has from this one: there is no network here."""
    folder = tmp_path_factory.mktemp("package")
    source = folder / "analysis"
    shutil.copytree(ROOT / "analysis", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    run(*pip, "wheel", *offline, "--wheel-dir", folder, source)
    (wheel,) = folder.glob("linebounce-*.whl")
    environment = folder / "environment"
    venv.create(environment, with_pip=False)
    (packages,) = environment.glob("lib/python*/site-packages")
    needed = [path for path in sys.path if path.endswith("site-packages")]
    # Behind its own: the wheel comes first, whatever is installed there. An editable package's hook is not read from there.
    (packages / "needed.pth").write_text("\n".join(f"import sys; sys.path.append({path!r})" for path in needed) + "\n")
    run(*pip, "--python", environment / "bin" / "python", "install", *offline, wheel)
    return environment / "bin"


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Without anything of this project in the environment."""
    options = {"cwd": cwd, "env": {"PATH": "/usr/bin:/bin"}, "stdin": subprocess.DEVNULL}
    done = subprocess.run([*command], **options, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_directory_is_opened_without_the_rest_of_the_project(installed: Path, locks_run: Path) -> None:
    code = "import linebounce, sys; print(linebounce.__file__); print(len(linebounce.open(sys.argv[1]).points))"
    file, points = run(installed / "python", "-c", code, locks_run, cwd=installed).splitlines()
    assert Path(file).is_relative_to(installed.parent), "the wheel, and not this tree"
    assert points == "9"


def test_its_commands_work_without_the_rest_of_the_project(installed: Path, locks_run: Path, tmp_path: Path) -> None:
    commands = {path.name for path in installed.glob("linebounce-*")}
    assert commands == {
        "linebounce-compare",
        "linebounce-report",
        "linebounce-sweep",
        "linebounce-teach",
        "linebounce-trace-export",
    }
    for name in sorted(commands):
        assert "examples:" in run(installed / name, "--help", cwd=tmp_path)
    run(installed / "linebounce-report", locks_run, "-o", "page.html", "--figures", "figures", cwd=tmp_path)
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "figures" / locks_run.resolve().name / "sweep.svg").exists()
    assert "metrics at 9 points, 0 of them changed" in run(installed / "linebounce-compare", locks_run, locks_run, cwd=tmp_path)
