"""linebounce check --random: every machine under random references, and how failures of a broken machine are reported.

References are counted as the program counts them, and each machine gets its share. `./dev fuzz` distributes FUZZ_REFERENCES.
"""

import json
import os
import re
import time
from pathlib import Path

import pytest
from program import MACHINES, ROOT, Program

NAMES = sorted(path.stem for path in MACHINES.glob("*.toml"))
REFERENCES = 100_000
FUZZ_REFERENCES = int(os.environ.get("LINEBOUNCE_FUZZ_REFERENCES", "100_000_000"))
FUZZ_SEED = int(os.environ.get("LINEBOUNCE_FUZZ_SEED", int(time.time())))

# Everything that can join nodes, with a machine for it, and every family of protocols for bus, nodes and directory.
TOPOLOGIES = {
    "ring": ("numaq_16way", ["network.topology=ring"]),
    "crossbar": ("numaq_16way", ["network.topology=crossbar"]),
    "fully_connected": ("numaq_16way", ["network.topology=fully_connected"]),
    "links": ("opteron_6172_4socket", []),
}
FAMILIES = [
    ("mesi_snoop", "mesi_node", "mesi_directory"),
    ("mesi_far_snoop", "mesi_node_far", "mesi_directory"),
    ("mesi_migratory_snoop", "mesi_migratory_node", "mesi_migratory_directory"),
    ("mesi_snoop", "mesi_node_tags", "mesi_directory_tags"),
    ("mesif_snoop", "mesif_node", "mesif_directory"),
    ("mesif_snoop", "mesif_broadcast_node", "mesif_broadcast_home"),
    ("moesi_snoop", "moesi_node", "moesi_directory"),
    ("moesi_snoop", "moesi_broadcast_node", "moesi_broadcast_home"),
    ("moesi_snoop", "moesi_node_filter", "moesi_directory_filter"),
]
PROTOCOLS = sorted(path.stem for path in (ROOT / "models" / "protocols").glob("*_*.md"))
BUSES = [name for name in PROTOCOLS if "_snoop" in name]
MOESI = ["bus.protocol=moesi_snoop", "node.protocol=moesi_node", "directory.protocol=moesi_directory"]
GROUPS = {
    "mesi_group": ("generic_chiplet_64core", []),
    "mesi_group_exclusive": ("generic_ccx_64core", []),
    "mesi_group_non_inclusive": ("generic_mesh_64core", []),
    "moesi_group": ("generic_chiplet_64core", [*MOESI, "group.L3.protocol=moesi_group"]),
}
EACH_REFERENCES = int(os.environ.get("LINEBOUNCE_FUZZ_PROTOCOL_REFERENCES", "10_000_000"))


def check_random(program: Program, machine: str | Path, *arguments: str | Path, references: int, code: int, **options) -> dict:
    command = ["check", "--random", str(references), "--machine", machine, "--json"]
    result = program(*command, *arguments, **options)
    assert result.code == code, result.stdout + result.stderr
    assert not result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("machine", NAMES)
def test_random_references_find_nothing_wrong_with_a_machine(linebounce: Program, machine: str) -> None:
    found = check_random(linebounce, machine, references=REFERENCES, code=0)
    assert found["passed"]
    assert found["failure"] is None
    assert found["references"] >= REFERENCES
    assert found["compared_rounds"] >= 1
    assert found["too_slow_rounds"] == 0


@pytest.mark.thorough
@pytest.mark.parametrize("machine", NAMES)
def test_random_references_find_nothing_wrong_in_hours(linebounce: Program, machine: str) -> None:
    references = FUZZ_REFERENCES // len(NAMES)
    check_random(linebounce, machine, "--seed", str(FUZZ_SEED), references=references, code=0, timeout=24 * 3600)


def on_topology(topology: str, family: tuple[str, str, str]) -> tuple[str, list[str]]:
    machine, settings = TOPOLOGIES[topology]
    settings = [
        *settings,
        *(f"{part}.protocol={name}" for part, name in zip(("bus", "node", "directory"), family, strict=True)),
    ]
    return machine, settings + (["directory.entries=8", "directory.ways=2"] if "filter" in family[1] else [])


def each_protocol() -> dict[str, tuple[str, list[str]]]:
    """A machine and its settings for each pair of topology and family, each protocol of a bus, and each protocol of a
    group."""
    found = {name: ("p3_xeon_4way", [f"bus.protocol={name}"]) for name in BUSES}
    found |= {
        f"{topology} {family[2]}, {family[1]}": on_topology(topology, family) for topology in TOPOLOGIES for family in FAMILIES
    }
    return found | GROUPS


def test_each_protocol_is_in_the_long_test() -> None:
    named = {name for family in FAMILIES for name in family} | {*BUSES, *GROUPS}
    # No machine runs the tables of an atomic bus.
    assert named == {name for name in PROTOCOLS if not name.endswith("_atomic")}


# The four that ./dev test runs, one for each topology.
QUICK_PROTOCOLS = {f"{topology} {family[2]}, {family[1]}" for topology, family in zip(TOPOLOGIES, FAMILIES[3:7], strict=True)}


@pytest.mark.parametrize(
    ("name", "references"),
    [
        *((name, 20_000) for name in sorted(QUICK_PROTOCOLS)),
        *(pytest.param(name, EACH_REFERENCES, marks=pytest.mark.thorough) for name in each_protocol()),
    ],
)
def test_random_machines_of_each_topology_and_protocol_break_no_rule(linebounce: Program, name: str, references: int) -> None:
    """Each round makes another random machine."""
    machine, settings = each_protocol()[name]
    sets = [word for setting in settings for word in ("--set", f"machine.{setting}")]
    seed = "1" if references < EACH_REFERENCES else str(FUZZ_SEED)
    found = check_random(linebounce, machine, *sets, "--seed", seed, references=references, code=0, timeout=24 * 3600)
    assert found["passed"]
    # A round divides its references among up to 48 CPUs, rounded down.
    assert found["references"] >= references - found["rounds"] * 48


def protocol_without(program: Program, protocol: str, row: str, old: str, new: str) -> Path:
    """A copy of that protocol with one cell changed in the row that begins with `row`."""
    lines = (ROOT / "models" / "protocols" / f"{protocol}.md").read_text(encoding="utf-8").splitlines()
    at = [i for i, line in enumerate(lines) if re.sub(r" +", " ", line).startswith(row)]
    assert len(at) == 1, f"{len(at)} rows {row}"
    assert old in lines[at[0]]
    lines[at[0]] = lines[at[0]].replace(old, new, 1)
    return program.file("broken.md", "\n".join(lines))


def run_again(program: Program, failure: dict, output: str, *arguments: str) -> int:
    return program("run", failure["file"], "-o", output, *arguments).code


def test_a_broken_protocol_of_a_bus_is_found_and_made_small(linebounce: Program) -> None:
    broken = protocol_without(linebounce, "mesi_snoop", "| S, SM_AD | Other_GetS ", "assert shared", "-")
    arguments = ["--set", f"machine.bus.protocol={broken}"]
    found = check_random(linebounce, "p3_xeon_4way", *arguments, references=REFERENCES, code=1)
    failure = found["failure"]
    assert not found["passed"]
    assert failure["cpus"] <= 3
    assert failure["operations"] <= 60
    assert len(failure["settings"]) <= 16
    assert run_again(linebounce, failure, "again") == failure["exit_code"]
    shown = linebounce("check", "--random", str(REFERENCES), "--machine", "p3_xeon_4way", *arguments, "--shrink-seconds", "0")
    assert shown.code == 1
    assert f"round {failure['round']} of seed 1" in shown.stdout
    assert f"linebounce run ./{Path(failure['file']).name}" in shown.stdout


def test_a_speed_up_that_goes_too_far_is_found(linebounce: Program) -> None:
    """The engine tests itself: with a run-ahead horizon that is one tick too far, it reports an error."""
    found = check_random(linebounce, "p4_xeon_ht_2way", "--set", "engine.horizon_slack_ticks=1", references=REFERENCES, code=1)
    failure = found["failure"]
    assert "invariant I1" in failure["text"] or "invariant I2" in failure["text"]
    assert run_again(linebounce, failure, "again") == failure["exit_code"]


def test_the_same_seed_is_the_same_test_with_any_number_of_processes(linebounce: Program) -> None:
    one = check_random(linebounce, "p3_xeon_4way", "-j", "1", references=30_000, code=0)
    three = check_random(linebounce, "p3_xeon_4way", "-j", "3", references=30_000, code=0)
    assert one == three
    other = check_random(linebounce, "p3_xeon_4way", "--seed", "2", references=30_000, code=0)
    assert other["data_hash"] != one["data_hash"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--random", "1000"], "--machine"),
        (["--machine", "p3_xeon_4way"], "--random"),
        (["mesi_snoop", "--random", "1000", "--machine", "p3_xeon_4way"], "leave out mesi_snoop"),
        (["--random", "1000", "--machine", "p3_xeon"], "p3_xeon_4way"),
        (["--random", "0", "--machine", "p3_xeon_4way"], "--random"),
        (["--random", "1000", "--machine", "p3_xeon_4way", "--set", "machine.cpus"], "PATH=VALUE"),
        (["--random", "1000", "--machine", "p3_xeon_4way", "--set", "machine.cpus=5"], "machine.cpus"),
    ],
)
def test_untestable_input_is_refused(linebounce: Program, arguments: list[str], says: str) -> None:
    assert says in linebounce.refused("check", *arguments)
