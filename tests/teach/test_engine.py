"""The engine in WebAssembly, here under Node, gives the same bytes as the program."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from program import ROOT, Program
from random_experiments import write_experiment
from ways import Way, assert_every_way_has_the_same_steps
from web_assembly import engine

pytestmark = pytest.mark.usefixtures("wasm_build")

COMMANDS = [
    ["check", "mesi_snoop"],
    ["check", "dragon_snoop"],
    ["check", "moesi_directory"],
    ["check", "mesi_node", "--nodes", "2", "--caches", "1"],
    ["check", "no_such_protocol"],
    ["check", "commands/check/tests/atomic_msi.md"],
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


@pytest.mark.parametrize("number", range(30))
def test_a_random_experiment_has_the_same_steps(linebounce: Program, tmp_path: Path, number: int) -> None:
    file = write_experiment(tmp_path, number, seed=21)
    document = assert_every_way_has_the_same_steps(linebounce, file, ways=[Way.WEB_ASSEMBLY])
    assert len(document["log"]) > 100, document["error"]


def test_the_page_reports_an_error_in_the_programs_words(linebounce: Program, tmp_path: Path) -> None:
    file = tmp_path / "broken.toml"
    file.write_text('name = "broken"\nmachine = "p3_xeon_4wa"\n', encoding="utf-8")
    said = linebounce("steps", file)
    engine()({"run": str(file), "out": str(tmp_path / "wasm.json")})
    document = json.loads((tmp_path / "wasm.json").read_text())
    assert document["exit"] == said.code == 2
    assert document["error"] in said.stderr


def test_hardware_threads_left_in_the_middle_have_the_same_steps(linebounce: Program, tmp_path: Path) -> None:
    """Their programs are unwound while everything that they use still exists."""
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
    document = assert_every_way_has_the_same_steps(linebounce, file, ways=[Way.WEB_ASSEMBLY])
    assert "deadlock" in document["error"]


def test_moments_are_found_at_the_same_steps(linebounce: Program, tmp_path: Path) -> None:
    file = write_experiment(tmp_path, 1, seed=21)
    moments = ["start", "step 7", "shared is M in CPU 1", "CPU 2 stores shared.a, 2nd time", "a value is stale", "end"]
    arguments = [part for moment in moments for part in ("--at", moment)]
    lines = linebounce("steps", file, *arguments).stdout.splitlines()
    expected = [-1 if line.startswith("-") else int(line.split("\t")[0]) for line in lines]
    assert engine()({"run": str(file), "find": moments})["found"] == expected
    assert expected[1] == 7
    found = engine()({"run": str(file), "find": ["shared is Q in CPU 1"]})["found"][0]
    assert "Q" in found
    assert "M" in found


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[1].split("/")[-1])
def test_a_proof_in_the_page_is_the_programs_text(executable: Path, command: list[str]) -> None:
    native = subprocess.run([executable, *command, "--json"], cwd=ROOT, capture_output=True, text=True, check=False)
    answer = engine()({"command": [*command, "--json"]})
    assert answer["exit"] == native.returncode
    assert (answer["text"] == native.stdout) if native.stdout else (answer["text"].strip() in native.stderr)


# Spellings, several lines with comments, caches that evict, and what the program refuses.
TYPED = [
    ("mesi", "P1 R x; P2 W x; P1 R x", []),
    ("msi", "# an exercise\nr1 w2  // two of them\nr1\n", []),
    ("moesi", "(R PE1)(W PE2)(R PE1)", []),
    ("dragon", "P0 R x; P1 R x; P0 W x; P1 W x", []),
    ("mesi", "P1 W 0x0; P1 R 0x40; P1 R 0x80; P2 R 0x0", ["--cache-bytes", "128", "--ways", "1", "--line-bytes", "64"]),
    ("moesif", "0 W v[0]; 1 R v[1]; 2 R v[0]; 1 W v[3]", ["--line-bytes", "16"]),
]
NOT_TYPED = [
    ("mesi", "P1 R x; P2 x", []),
    ("mesi", "P1 R x; P64 R x", []),
    ("mesi", "", ["--line-bytes", "32"]),
    ("mesi_snoop", "P1 R x", []),
    ("mesy", "P1 R x", []),
    ("mesi", "P1 R x", ["--ways", "0"]),
    ("mesi", "P1 R x", ["--ways", "3"]),
]


@pytest.mark.parametrize(("protocol", "accesses", "options"), TYPED)
def test_the_pages_table_of_typed_accesses_is_the_programs(
    linebounce: Program, protocol: str, accesses: str, options: list[str]
) -> None:
    arguments = ["steps", "--accesses", accesses, "--protocol", protocol, *options]
    answer = engine()({"command": arguments})
    assert answer["exit"] == 0, answer["text"]
    made = json.loads(answer["text"])
    assert made["csv"] == linebounce(*arguments, "--format", "csv").stdout
    assert made["markdown"] == linebounce(*arguments, "--format", "markdown").stdout
    drawn = [re.split(r" {2,}", line.strip()) for line in linebounce(*arguments).stdout.splitlines()]
    assert made["cells"] == drawn
    assert not made["cut"]


@pytest.mark.parametrize(("protocol", "accesses", "options"), NOT_TYPED)
def test_the_page_refuses_typed_accesses_in_the_programs_words(
    linebounce: Program, protocol: str, accesses: str, options: list[str]
) -> None:
    arguments = ["steps", "--accesses", accesses or " ", "--protocol", protocol, *options]
    answer, said = engine()({"command": arguments}), linebounce(*arguments)
    assert answer["exit"] == said.code == 2
    assert said.stderr.splitlines()[0] == f"linebounce: {answer['text'].strip()}"  # a second line names --help
