"""Contention families: what they assume for a machine that says nothing, what overrides them, and what each mechanism does."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from program import EXPERIMENTS, ROOT, Program
from ways import Way, assert_every_way_agrees

FAMILIES = sorted((ROOT / "configs" / "families").glob("*.toml"))
MINIMAL = """
name  = "mine"
title = "Latencies alone"
cpus  = 4
[cpu]
clock_mhz = 3000
atomic_latency_cycles = 20
compare_exchange_latency_cycles = 20
consistency = "{consistency}"
store_buffer_entries = 32
[cache.L1]
size_kib = 32
ways = 8
line_bytes = 64
hit_latency_cycles = 4
[bus]
protocol = "{protocol}"
clock_mhz = {clock}
width_bytes = 32
snoop_clocks = 20
intervention_clocks = 40
[memory]
latency_ns = 80
"""
SHORT = ("--set", "run.seeds=1", "--set", "run.warmup_us=5", "--set", "run.measure_us=50", "--set", "machine.cpus=4")


def minimal(clock: int = 2000, consistency: str = "tso", protocol: str = "mesi_snoop") -> str:
    return MINIMAL.format(clock=clock, consistency=consistency, protocol=protocol)


def family_values(path: Path) -> dict[str, object]:
    tables = tomllib.loads(path.read_text())
    return {f"machine.{part}.{key}": value for part in ("cpu", "bus", "directory") for key, value in tables[part].items()}


RATE = "throughput.operations_per_s"


def points(directory: Path) -> list[dict]:
    return json.loads((directory / "results.json").read_text())["points"]


def rate(directory: Path) -> float:
    (point,) = points(directory)
    return point["metrics"][RATE]["value"]


def described(linebounce: Program, machine: str | Path) -> dict[str, dict]:
    document = json.loads(linebounce("describe", "machine", machine, "--json").stdout)
    return {parameter["path"]: parameter for parameter in document["parameters"]}


def test_each_family_states_the_same_parameters() -> None:
    assert len(FAMILIES) == 7
    keys = {path.stem: set(family_values(path)) for path in FAMILIES}
    assert all(of_one == keys["ideal"] for of_one in keys.values()), keys


@pytest.mark.parametrize(
    ("family", "machine"),
    [
        ("front_side_bus", minimal(clock=400)),
        ("intel_mesh", minimal()),
        ("amd_zen", minimal(protocol="moesi_snoop")),
        ("arm_mesh", minimal(consistency="ia64")),
    ],
)
def test_a_file_that_names_no_family_gets_the_usual_one_and_says_so(linebounce: Program, family: str, machine: str) -> None:
    file = linebounce.file("mine.toml", machine)
    said = f"Contention as in {family}, assumed"
    assert said in linebounce("describe", "machine", file).stdout
    run = linebounce("run", "lock_scaling", "--machine", file, "-o", "out", "--set", "workload.lock=mcs", *SHORT)
    assert said in run.stdout, run.stderr
    named = linebounce.file("named.toml", machine.replace("cpus  = 4", f'cpus  = 4\ncontention = "{family}"'))
    assert "assumed" not in linebounce("describe", "machine", named).stdout.split("parameter")[0]
    quiet = linebounce("run", "lock_scaling", "--machine", named, "-o", "out2", "--set", "workload.lock=mcs", *SHORT)
    assert "Contention as in" not in quiet.stdout
    assert rate(linebounce.directory / "out") == rate(linebounce.directory / "out2")


def test_a_value_in_the_file_wins_over_the_family(linebounce: Program) -> None:
    file = linebounce.file("mine.toml", minimal().replace("snoop_clocks = 20", 'snoop_clocks = 20\nnext = "first"'))
    parameters = described(linebounce, file)
    assert parameters["machine.bus.next"]["value"] == "first"
    assert parameters["machine.bus.next"]["given"]
    pause = parameters["machine.cpu.pause_cycles"]
    assert pause["value"] == 140
    assert pause["from_family"]
    assert pause["source"].endswith("(intel_mesh)")


def test_a_machine_changes_its_family_whole(linebounce: Program) -> None:
    """Nothing of the old family remains: the run equals that of a file that names the new family."""
    file = linebounce.file("mine.toml", minimal())
    ideal = linebounce.file("ideal.toml", minimal().replace("cpus  = 4", 'cpus  = 4\ncontention = "ideal"'))
    arguments = ["--set", "workload.lock=ttas", *SHORT]
    changed = linebounce.run("lock_scaling", "changed", "--machine", file, "--set", "machine.contention=ideal", *arguments)
    named = linebounce.run("lock_scaling", "named", "--machine", ideal, *arguments)
    usual = linebounce.run("lock_scaling", "usual", "--machine", file, *arguments)
    assert rate(changed) == rate(named)
    assert rate(changed) > rate(usual), "waiting costs something"


def test_an_unknown_family_is_refused_with_the_known_ones(linebounce: Program) -> None:
    file = linebounce.file("mine.toml", minimal().replace("cpus  = 4", 'cpus  = 4\ncontention = "intel_mash"'))
    message = linebounce.refused("describe", "machine", file)
    assert re.search(r"mine\.toml:5.*contention", message), message
    assert "intel_mesh" in message


def test_families_are_listed_and_described(linebounce: Program) -> None:
    listed = json.loads(linebounce("list", "families", "--json").stdout)
    assert [family["name"] for family in listed] == [path.stem for path in FAMILIES]
    for path in FAMILIES:
        page = json.loads(linebounce("describe", "family", path.stem, "--json").stdout)
        assert {parameter["path"]: parameter["value"] for parameter in page["parameters"]} == family_values(path)
        assert all(parameter["source"] for parameter in page["parameters"])


# SOSP 2013, table 2: cycles of an atomic operation on a line that other cores share. The sharers are on the same die only, or
# also in another socket or on the farthest die.
@pytest.mark.parametrize(
    ("machine", "mhz", "published", "far_cpus"),
    [("xeon_e7_8867l_8socket", 2130, (116, 318), 16), ("opteron_6172_4socket", 2100, (246, 296), 12)],
)
def test_a_writer_waits_for_the_farthest_copy_not_for_their_number(
    linebounce: Program, machine: str, mhz: int, published: tuple[float, float], far_cpus: int
) -> None:
    def cycles(point: dict) -> float:
        return point["metrics"]["core_to_core.shared.same_node_ns"]["value"] * mhz / 1000

    few = points(linebounce.run("shared_line_write", "few", "--machine", machine))
    cost = {point["at"]["machine.cpus"]: cycles(point) for point in few}
    assert cost[3] == pytest.approx(published[0], rel=0.3)
    assert cost[5] == pytest.approx(cost[3], rel=0.02)
    cpus = ("--set", f"machine.cpus={far_cpus}")
    (far,) = points(linebounce.run("shared_line_write", "far", "--machine", machine, *cpus))
    assert cycles(far) == pytest.approx(published[1], rel=0.3)


# This run uses all three mechanisms: drawing by chance, holding lines and deriving times. Neither the speed-ups nor the order
# of construction may change a byte.
@pytest.mark.parametrize("machine", ["epyc_7773x_1socket", "xeon_gold_6242_2socket"])
def test_the_next_owner_of_a_line_does_not_depend_on_a_speed_up(linebounce: Program, machine: str) -> None:
    file = linebounce.file(
        "locks.toml",
        f'name = "locks"\ntitle = "t"\nmachine = "{machine}"\n[workload]\nname = "critical_section"\n'
        '[run]\nwarmup_us = 2\nmeasure_us = 20\n[set]\n"machine.cpus" = 8\n[sweep]\n"workload.lock" = ["ttas", "mcs"]\n',
    )
    assert_every_way_agrees(linebounce, file)


MECHANISMS = sorted(path.stem for path in (EXPERIMENTS / "contention").glob("*.toml"))
TABLE = (ROOT / "configs" / "families" / "README.md").read_text().split("| mechanism |")[1]


# Without speed-ups, 64 nodes take too long; "chance in nodes" in test_random_differential.py has a busy home.
@pytest.mark.parametrize("mechanism", [name for name in MECHANISMS if name != "home_busy"])
def test_no_speed_up_changes_what_a_mechanism_does(linebounce: Program, mechanism: str) -> None:
    text = (EXPERIMENTS / "contention" / f"{mechanism}.toml").read_text()
    short = ("--set", "run.warmup_us=2", "--set", "run.measure_us=10") if "measure_us" in text else ()
    ways = (Way.PLAIN, Way.BOTH_OFF, Way.REVERSED)
    assert_every_way_agrees(linebounce, f"contention/{mechanism}", "--set", "machine.cpus=4", *short, ways=ways)


def test_each_mechanism_has_an_experiment_and_a_test_that_exist() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests" / "models").rglob("*_test.cpp"))
    assert set(re.findall(r"`contention/(\w+)`", TABLE)) == set(MECHANISMS)
    for suite, name in re.findall(r"`([A-Z]\w+)(?:\.(\w+))?`", TABLE):
        assert re.search(rf"TEST(_P)?\({suite}, {name or '[A-Z]'}", tests), (suite, name)
    named = {f"machine.{path}" for path in re.findall(r"`((?:cpu|bus|directory)\.\w+)`", TABLE)}
    assert named == set(family_values(FAMILIES[0])), "what a family states"


LOCKS = ("tas", "ttas", "ticket", "mcs", "clh")


def order_of_locks(linebounce: Program, machine: str | Path, out: str) -> list[str]:
    file = linebounce.file(
        f"{out}.toml",
        f'name = "{out}"\ntitle = "t"\nmachine = "{machine}"\n[workload]\nname = "critical_section"\noutside_cycles = 500\n'
        '[run]\nwarmup_us = 20\nmeasure_us = 150\n[set]\n"machine.cpus" = 16\n'
        f'[sweep]\n"workload.lock" = {json.dumps(LOCKS)}\n',
    )
    rates = {point["at"]["workload.lock"]: point["metrics"][RATE]["value"] for point in points(linebounce.run(file, out))}
    return sorted(LOCKS, key=lambda lock: -rates[lock])


@pytest.mark.parametrize("machine", ["xeon_e5_2680v3_2socket", "xeon_gold_6242_2socket", "graviton2_1socket"])
def test_a_file_of_latencies_alone_keeps_the_order_of_locks(linebounce: Program, machine: str) -> None:
    text = (ROOT / "configs" / "machines" / f"{machine}.toml").read_text()
    alone = re.sub(r"^contention = .*\n", "", text.split("[sources]")[0].split("[[history]]")[0], flags=re.MULTILINE)
    file = linebounce.file("alone.toml", alone)
    assert order_of_locks(linebounce, file, "reduced") == order_of_locks(linebounce, machine, "shipped")


# The CPUs of one socket. Not yet so: ttas between the dies of an opteron_6172_4socket, on epyc_7742_2socket, and on the generic
# machines whose sockets have several buses; tas and ttas on graviton2_1socket, which keeps the old rule.
ONE_SOCKET = {
    "epyc_7773x_1socket": 64,
    "generic_2socket_32core": 16,
    "generic_8socket_64core": 8,
    "generic_cxl_32core": 16,
    "opteron_8431_8socket": 6,
    "xeon_8360y_2socket": 32,
    "xeon_e5_2680v3_2socket": 12,
    "xeon_e7_8867l_8socket": 8,
    "xeon_gold_6242_2socket": 32,
    "xeon_x5650_2socket": 12,
}


@pytest.mark.parametrize(("machine", "cpus"), ONE_SOCKET.items())
def test_nobody_starves_on_one_socket(linebounce: Program, machine: str, cpus: int) -> None:
    """A lock that gives each CPU fewer than ten sections leaves some out by chance, so the time is long enough for that."""
    file = linebounce.file(
        "socket.toml",
        f'name = "socket"\ntitle = "t"\nmachine = "{machine}"\n[workload]\nname = "critical_section"\n'
        f'[run]\nwarmup_us = 50\nmeasure_us = 2000\n[set]\n"machine.cpus" = {cpus}\n"machine.cpu_order" = "fill"\n'
        f'[sweep]\n"workload.lock" = {json.dumps(LOCKS)}\n',
    )
    starved = {
        point["at"]["workload.lock"]: point["metrics"]["fairness.starved_cpus"]["value"]
        for point in points(linebounce.run(file, "socket"))
    }
    assert starved == dict.fromkeys(LOCKS, 0)
