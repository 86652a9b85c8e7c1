"""The library's component systemc: machines as modules of a SystemC model, built against an installed prefix."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from program import ROOT, Program
from results import metric_of, validate

# The projects' own builds have no sanitizers, so they can't link with a library that has them.
pytestmark = pytest.mark.uninstrumented

EXAMPLE = ROOT / "examples" / "systemc"


def run(*command: str | Path, code: int = 0) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LINEBOUNCE")}
    environment["SYSTEMC_DISABLE_COPYRIGHT_MESSAGE"] = "1"
    done = subprocess.run([*command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(executable: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("systemc") / "prefix"
    for component in ("linebounce", "library"):
        run("cmake", "--install", executable.parent, "--component", component, "--prefix", folder)
    return folder


def built(prefix: Path, folder: Path, source: Path) -> Path:
    """The example's project with this file as its main.cpp."""
    project = folder / "project"
    shutil.copytree(EXAMPLE, project)
    shutil.copy(source, project / "main.cpp")
    run("cmake", "-S", project, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder / "build")
    return folder / "build" / "two_machines"


@pytest.fixture(scope="module")
def promises(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(prefix, tmp_path_factory.mktemp("promises"), ROOT / "tests/library/systemc_promises.cpp")


def test_two_machines_and_a_memory_with_open_rows_are_one_simulation(prefix: Path, tmp_path: Path) -> None:
    output = run(built(prefix, tmp_path, EXAMPLE / "main.cpp"))
    old, _, memory = [line for line in output.splitlines() if ":" in line and "SystemC" not in line][-3:]
    # 200 additions of each of four CPUs to one word; nearly each needs the line from another CPU.
    assert int(re.search(r"local_c2c (\d+)", old)[1]) > 600
    assert int(re.search(r"local_memory (\d+)", old)[1]) >= 800, "each read is of a line that nobody has had"
    rows, accesses = map(int, re.search(r"(\d+) of (\d+) accesses", memory).groups())
    assert accesses >= 800
    assert 0.8 * accesses < rows < accesses, "32 reads of one CPU lie in one row, and four CPUs use four banks"


LATENCIES = """
ends = true
tallies = { "none", "add", "load", "store" }
function setup()
  word = place_array("word", 64 * 1024, { node = 0 })
  arrays = { place_array("array_1", 64 * 1024, { node = 0 }), place_array("array_2", 64 * 1024, { node = 0 }) }
end
local function timed(cpu, name, call)
  local begin = cpu:now_ns()
  call()
  cpu:tally(name, math.floor((cpu:now_ns() - begin) * 1000 + 0.5))
end
function run(cpu)
  local index = cpu.id == FIRST and 1 or cpu.id == SECOND and 2 or 0
  for round = 0, index > 0 and 19 or -1 do
    timed(cpu, "add", function() cpu:fetch_add(word, 1) end)
    timed(cpu, "load", function() cpu:load(arrays[index] + 256 * round) end)
    timed(cpu, "store", function() cpu:store(word + 8, 0) end)
  end
end
"""


PAIRS = {"p3_xeon_4way": (0, 3), "numaq_16way": (1, 14), "generic_2socket_32core": (0, 21), "p4_xeon_ht_2way": (0, 1)}


@pytest.mark.parametrize("machine", PAIRS)
def test_accesses_through_sockets_take_as_long_as_a_lua_programs(linebounce: Program, promises: Path, machine: str) -> None:
    cpus = PAIRS[machine]
    took = [list(map(int, line.split())) for line in run(promises, "latencies", machine, *map(str, cpus)).splitlines()[-2:]]
    program = LATENCIES.replace("FIRST", str(cpus[0])).replace("SECOND", str(cpus[1]))
    assert linebounce("run", linebounce.file("latencies.lua", program), "--machine", machine, "-o", "out").code == 0
    found = validate(linebounce.directory / "out/results.json", "results")
    for kind, name in enumerate(("add", "load", "store")):
        # Each of the 40 accesses ends on a picosecond in the SystemC model. In the machine it ends on a tick, which is at
        # least 50 ps long.
        assert abs(took[0][kind] + took[1][kind] - metric_of(found, f"program.{name}")) < 50, name


def test_the_sockets_keep_the_promises_of_their_header(promises: Path) -> None:
    assert [line for line in run(promises, "refusals").splitlines() if "Info" not in line] == []


def test_a_memory_decides_when_a_read_is_answered_but_not_before_the_lookahead(promises: Path) -> None:
    def ns(memory_ns: int) -> float:
        return float(re.search(r"1 read, ([\d.]+) ns", run(promises, "memory", str(memory_ns)))[1])

    assert ns(400) - ns(300) == pytest.approx(100, abs=0.1), "the bus of 100 MHz waits for the first data"
    refusal = run(promises, "memory", "20", code=1)
    assert "answers a read after 20.000 ns, sooner than the machine's lookahead of " in refusal
