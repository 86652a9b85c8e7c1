"""One engine: in WebAssembly, here under Node, it gives the same bytes as the program."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import ROOT, Program
from random_experiments import write_experiment

COMMANDS = [
    ["check", "mesi_snoop"],
    ["check", "dragon_snoop"],
    ["check", "moesi_directory"],
    ["check", "mesi_node", "--nodes", "2", "--caches", "1"],
    ["check", "no_such_protocol"],
    ["check", "tests/end_to_end/atomic_msi.md"],
    ["check-lock", "ticket", "--machines", "0", "--cpus", "2", "--acquisitions", "1"],
    [
        "check-lock",
        "peterson",
        "--machines",
        "0",
        "--cpus",
        "2",
        "--acquisitions",
        "1",
        "--consistency",
        "tso",
    ],
]


class Engine:
    """The WebAssembly build under Node: one request a line, one answer a line (run_engine.cjs)."""

    def __init__(self, built: Path) -> None:
        script = Path(__file__).with_name("run_engine.cjs")
        self.process = subprocess.Popen(
            ["node", script, built / "engine.js", ROOT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def __call__(self, request: dict) -> dict:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(request) + "\n")
        answer = json.loads(self.process.stdout.readline())
        assert "threw" not in answer, answer["threw"]
        return answer


@pytest.fixture(scope="module")
def engine(wasm_build: Path) -> Iterator[Engine]:
    engine = Engine(wasm_build)
    yield engine
    engine.process.kill()


@pytest.mark.parametrize("number", range(30))
def test_a_random_experiment_has_the_same_steps(linebounce: Program, engine: Engine, tmp_path: Path, number: int) -> None:
    file = write_experiment(tmp_path, number, seed=21)
    native = linebounce("steps", file, "-o", "native.json")
    engine({"run": str(file), "out": str(tmp_path / "wasm.json")})
    ours = (tmp_path / "native.json").read_bytes()
    assert ours == (tmp_path / "wasm.json").read_bytes()
    assert len(json.loads(ours)["log"]) > 100, native.stderr


def test_an_error_is_the_programs_own(linebounce: Program, engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "broken.toml"
    file.write_text('name = "broken"\nmachine = "p3_xeon_4wa"\n', encoding="utf-8")
    said = linebounce("steps", file)
    engine({"run": str(file), "out": str(tmp_path / "wasm.json")})
    document = json.loads((tmp_path / "wasm.json").read_text())
    assert document["exit"] == said.code == 2
    assert document["error"] in said.stderr


def test_hardware_threads_left_in_the_middle_have_the_same_steps(linebounce: Program, engine: Engine, tmp_path: Path) -> None:
    """Their programs are unwound while all that they use is still there."""
    (tmp_path / "stuck.lua").write_text(
        """
title = "Stuck"
ends = true
function setup()
  shared = place(structure { name = "pair", "a", "b" }, "shared")
  the_lock = lock("mcs", "the_lock")
end
function run(cpu)
  cpu:acquire(the_lock)
  cpu:spin_until(shared.a, "==", 1)
end
""",
        encoding="utf-8",
    )
    file = tmp_path / "stuck.toml"
    file.write_text(
        'name = "stuck"\ntitle = "Stuck"\nmachine = "p4_xeon_ht_16way"\n'
        '[workload]\nname = "program"\nprogram = "stuck.lua"\n[run]\nmeasure_us = 0\n',
        encoding="utf-8",
    )
    said = linebounce("steps", file, "-o", "native.json")
    engine({"run": str(file), "out": str(tmp_path / "wasm.json")})
    ours = (tmp_path / "native.json").read_bytes()
    assert ours == (tmp_path / "wasm.json").read_bytes()
    assert "deadlock" in said.stderr


def test_moments_are_found_at_the_same_steps(linebounce: Program, engine: Engine, tmp_path: Path) -> None:
    file = write_experiment(tmp_path, 1, seed=21)
    moments = ["start", "step 7", "shared is M in CPU 1", "CPU 2 stores shared.a, 2nd time", "a value is stale", "end"]
    arguments = [part for moment in moments for part in ("--at", moment)]
    lines = linebounce("steps", file, *arguments).stdout.splitlines()
    expected = [-1 if line.startswith("-") else int(line.split("\t")[0]) for line in lines]
    assert engine({"run": str(file), "find": moments})["found"] == expected
    assert expected[1] == 7
    found = engine({"run": str(file), "find": ["shared is Q in CPU 1"]})["found"][0]
    assert "Q" in found
    assert "M" in found


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[1].split("/")[-1])
def test_a_proof_is_the_same_text(executable: Path, engine: Engine, command: list[str]) -> None:
    native = subprocess.run([executable, *command, "--json"], cwd=ROOT, capture_output=True, text=True, check=False)
    answer = engine({"command": [*command, "--json"]})
    assert answer["exit"] == native.returncode
    assert (answer["text"] == native.stdout) if native.stdout else (answer["text"].strip() in native.stderr)
