"""find_package(Linebounce) from projects that know only the installation prefix."""

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from program import ROOT, Program
from results import read_csv
from ways import assert_every_way_agrees

# The projects' own builds have no sanitizers, so they can't link with a library that has them.
pytestmark = pytest.mark.uninstrumented

EXAMPLE = ROOT / "examples" / "library"


def run(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LINEBOUNCE")}
    done = subprocess.run([*command], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(executable: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library") / "prefix"
    build = executable.parent
    for component in ("linebounce", "library"):
        run("cmake", "--install", build, "--component", component, "--prefix", folder, cwd=ROOT)
    return folder


def built(prefix: Path, source: Path, folder: Path) -> Path:
    """The example's project with this file in place of its own."""
    project = folder / "project"
    shutil.copytree(EXAMPLE, project)
    shutil.copy(source, project / "counters.cpp")
    run("cmake", "-S", project, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=folder)
    run("cmake", "--build", folder / "build", cwd=folder)
    return folder / "build" / "counters"


def test_the_example_is_a_project_of_its_own(prefix: Path, tmp_path: Path) -> None:
    program = built(prefix, EXAMPLE / "counters.cpp", tmp_path)
    shared, own = run(program, cwd=tmp_path).splitlines()
    assert shared.startswith("shared")
    assert own.startswith("by CPU")
    assert "sum 400" in shared
    assert "sum 400" in own, "no addition was lost"
    # With one line, each of the four CPUs takes it from another CPU for nearly each of its hundred additions.
    assert "local_c2c 40" in shared
    assert "worst: counter line 0" in shared
    assert "worst: finished line 0" in own


@pytest.fixture(scope="module")
def promises(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(prefix, ROOT / "tests/library/promises.cpp", tmp_path_factory.mktemp("promises"))


def test_the_library_keeps_the_promises_of_its_header(promises: Path, tmp_path: Path) -> None:
    assert run(promises, cwd=tmp_path) == ""


PING_PONG = """
ends = true
function setup() ball = place_array("ball", 8) end
function run(cpu)
  for round = 0, cpu.id < 2 and 49 or -1 do
    cpu:spin_until(ball, "==", 2 * round + cpu.id)
    cpu:fetch_add(ball, 1)
  end
end
"""


def test_a_program_in_lua_makes_the_transfers_of_the_same_one_in_cpp(linebounce: Program, promises: Path) -> None:
    """The library's way of running, in addition to those in ways.py."""
    plain = assert_every_way_agrees(linebounce, linebounce.file("ping_pong.lua", PING_PONG), "--machine", "numaq_16way")
    transfers: Counter = Counter()
    for row in read_csv(plain / "lines.csv"):
        transfers[row["source"]] += int(row["count"])
        transfers["total_ns"] += int(row["count"]) * float(row["latency_ns_mean"])
    said = dict(line.split() for line in run(promises, "numaq_16way", cwd=linebounce.directory).splitlines())
    assert {name: float(value) for name, value in said.items()} == pytest.approx(transfers, rel=1e-5)


def test_the_librarys_header_includes_only_the_standard_library(prefix: Path, tmp_path: Path) -> None:
    header = prefix / "include" / "linebounce" / "linebounce.hpp"
    needs = run("g++", "-std=c++20", "-x", "c++", "-M", header, cwd=tmp_path).replace("\\\n", " ").split()
    own = [name for name in needs if "/include/c++/" not in name and name.startswith("/")]
    foreign = [name for name in own if any(word in name for word in ("systemc", "boost", "fmt", "toml", "nlohmann"))]
    assert own != []
    assert foreign == []


def test_cmake_refuses_another_version_of_the_library(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\nfind_package(Linebounce 0.0 REQUIRED)\n"
    )
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "version: 0.1.0" in done.stderr
