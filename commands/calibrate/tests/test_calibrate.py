"""A machine is fitted to a measured matrix: what is found, written and refused."""

import csv
import json
import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from experiments import experiment
from program import MACHINES, ROOT, Program
from results import read_csv

EXAMPLE = ROOT / "docs" / "examples" / "two_sockets.csv"


def experiment_on(machine: str | Path) -> str:
    workload = 'name = "core_to_core"\nstates = "modified"\naccess = "atomic"\nrepetitions = 4'
    return experiment(workload=workload, run="", top=f'machine = "{machine}"\n')


def pair_means(directory: Path) -> dict[tuple[int, int], float]:
    """Mean latencies over both directions and all homes."""
    values = defaultdict(list)
    for row in read_csv(directory / "matrix.csv"):
        pair = (int(row["from_cpu"]), int(row["to_cpu"]))
        values[max(pair), min(pair)].append(float(row["latency_ns"]))
    return {pair: sum(of_pair) / len(of_pair) for pair, of_pair in values.items()}


def as_the_tool_writes(pairs: dict[tuple[int, int], float], noise: float = 0.0) -> str:
    """The lower triangle of the matrix, with reproducible noise."""
    draw = random.Random(1)
    cpus = max(a for a, _ in pairs) + 1
    rows = []
    for a in range(cpus):
        cells = [str(pairs[a, b] * draw.uniform(1 - noise, 1 + noise)) if b < a else "" for b in range(cpus)]
        rows.append(",".join(cells))
    return "\n".join(rows) + "\n"


def value_of(machine: Path, table: str, key: str) -> float:
    """A setting's value in the machine file that `calibrate` wrote."""
    here = ""
    for line in machine.read_text().splitlines():
        here = line.strip("[]") if line.startswith("[") else here
        if here == table and line.startswith(f"{key} = "):
            return float(line.split(" = ")[1])
    raise KeyError(f"{table}.{key}")


def small_machine(program: Program, name: str, *changes: tuple[str, str]) -> Path:
    text = (MACHINES / f"{name}.toml").read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return program.file("measured.toml", text)


def test_a_shipped_machine_comes_back_from_its_noisy_matrix(linebounce: Program) -> None:
    """The machine is two nodes of four cores of the generic machine, with other latencies."""
    measured = small_machine(
        linebounce,
        "generic_2socket_32core",
        ("cpus   = 32", "cpus   = 8"),
        ("intervention_clocks = 24", "intervention_clocks = 60"),
        ("latency_ns = 25", "latency_ns = 60"),
    )
    pairs = pair_means(linebounce.run(linebounce.file("measure.toml", experiment_on(measured)), "measured"))
    matrix = linebounce.file("noisy.csv", as_the_tool_writes(pairs, noise=0.04))
    shown = linebounce("calibrate", "--from", matrix, "-o", "mine.toml", "--family", "intel_mesh")
    assert shown.code == 0, shown.stderr
    mine = linebounce.directory / "mine.toml"
    assert "8 CPUs: 2 nodes, 2 buses, 1 thread a core" in shown.stdout
    assert value_of(mine, "network", "latency_ns") == pytest.approx(60, rel=0.05)
    assert value_of(mine, "bus", "intervention_clocks") == pytest.approx(60, abs=3)
    again = pair_means(linebounce.run(linebounce.file("again.toml", experiment_on(mine)), "again"))
    for pair, ns in pairs.items():
        assert again[pair] == pytest.approx(ns, rel=0.03)


def made_up(cpus: int, ns: Callable[[int, int], float]) -> dict[tuple[int, int], float]:
    return {(a, b): ns(a, b) for a in range(cpus) for b in range(a)}


def rms_pct(report: str) -> float:
    found = re.search(r"RMS of all pairs [0-9.]+ ns, ([0-9.]+) % of their mean", " ".join(report.split()))
    assert found is not None, report
    return float(found[1])


def seen_again(linebounce: Program, pairs: dict[tuple[int, int], float], within: float, **workload: str) -> None:
    """The fitted machine reproduces the matrix, pair by pair and with the file's CPU numbers."""
    settings = "".join(f'{key} = "{value}"\n' for key, value in workload.items())
    text = experiment_on(linebounce.directory / "mine.toml").replace("repetitions = 4", f"repetitions = 4\n{settings}")
    again = pair_means(linebounce.run(linebounce.file("again.toml", text), "again"))
    for pair, ns in pairs.items():
        assert again[pair] == pytest.approx(ns, rel=within), pair


def test_a_hybrid_has_cores_of_two_threads_and_cores_of_one_and_small_cores_are_farther(linebounce: Program) -> None:
    """Four large cores with two threads each, numbered in pairs, and four small ones, 6 ns farther from everything."""

    def ns(a: int, b: int) -> float:
        if a < 8 and a // 2 == b // 2:
            return 6.0
        return 34.0 + 6 * ((a >= 8) + (b >= 8))

    pairs = made_up(12, ns)
    matrix = linebounce.file("hybrid.csv", as_the_tool_writes(pairs, noise=0.02))
    shown = linebounce("calibrate", "--from", matrix, "-o", "mine.toml", "--family", "intel_mesh")
    assert shown.code == 0, shown.stderr
    assert rms_pct(shown.stdout) < 3
    text = (linebounce.directory / "mine.toml").read_text()
    assert 'cpu_list = "0 1 2 3 4 5 6 7 8 10 12 14"' in text
    assert "way_ns = " in text
    seen_again(linebounce, pairs, 0.06)


def test_groups_of_different_sizes_keep_the_matrixs_cpu_numbers(linebounce: Program) -> None:
    """Groups of three and five cores; the even CPUs come first."""
    group = [0, 1, 0, 1, 0, 1, 1, 1]
    pairs = made_up(8, lambda a, b: 45.0 if group[a] == group[b] else 130.0)
    matrix = linebounce.file("uneven.csv", as_the_tool_writes(pairs, noise=0.02))
    shown = linebounce("calibrate", "--from", matrix, "-o", "mine.toml", "--family", "intel_mesh")
    assert shown.code == 0, shown.stderr
    assert rms_pct(shown.stdout) < 3
    assert "parameters were chosen by 28 pairs" in shown.stdout
    again = linebounce("calibrate", "--from", matrix, "--machine", "mine.toml", "-o", "again.toml")
    assert again.code == 0, again.stderr
    assert "another structure" not in again.stdout
    assert rms_pct(again.stdout) < 3
    seen_again(linebounce, pairs, 0.05)


def test_a_line_at_home_in_a_third_place_is_found_there(linebounce: Program) -> None:
    """Two sockets of two clusters. The second socket's clusters reach each other through the first."""

    def ns(a: int, b: int) -> float:
        if a // 3 == b // 3:
            return 26.0
        return 95.0 if a < 6 and b < 6 else 165.0

    pairs = made_up(12, ns)
    matrix = linebounce.file("third.csv", as_the_tool_writes(pairs, noise=0.02))
    shown = linebounce("calibrate", "--from", matrix, "-o", "mine.toml", "--family", "intel_mesh")
    assert shown.code == 0, shown.stderr
    assert "2 nodes, 4 buses" in shown.stdout
    assert "at home on node 0" in shown.stdout
    assert rms_pct(shown.stdout) < 5
    seen_again(linebounce, pairs, 0.1, homes="0")


def test_a_matrix_can_be_read_from_the_tools_terminal_output(linebounce: Program) -> None:
    matrix = linebounce.file(
        "shown.txt", "Num cores: 3\n\n       0       1       2\n  0\n  1  57±6\n  2  58±0 61±12\n\nMean: 58ns\n"
    )
    shown = linebounce("calibrate", "--from", matrix, "-o", "mine.toml", "--family", "intel_mesh")
    assert shown.code == 0, shown.stderr
    assert "3 CPUs: 1 node, 1 bus" in shown.stdout


def test_fitted_values_say_so_and_the_others_keep_their_source(linebounce: Program) -> None:
    result = linebounce("calibrate", "--from", EXAMPLE, "-o", "mine.toml", "--family", "intel_mesh")
    assert result.code == 0, result.stderr
    described = linebounce("describe", "machine", "./mine.toml").stdout
    assert f"calibrated: core-to-core matrix {EXAMPLE}" in described
    assert "no source given" not in described
    assert "not explained" in result.stdout
    assert "memory" in result.stdout.split("not determined by the matrix")[1]


def test_structures_that_the_matrix_does_not_distinguish_are_named(linebounce: Program) -> None:
    """Link, controllers and directory all add to the distance between two sockets, so the fit gets one figure for three
    parameters. A snoop, however, counts more often on the path to another node than on the path within a node, so it
    can be told apart."""
    result = linebounce("calibrate", "--from", EXAMPLE, "-o", "mine.toml", "--family", "intel_mesh")
    said = " ".join(result.stdout.split("not determined by the matrix")[1].split())
    assert "network.latency_ns and node.latency_ns, directory.latency_ns" in said
    assert "only what they cost together" in said
    snoop = re.search(r"- ([^:]*bus\.snoop_clocks[^:]*): ([^.]*\.[^.]*\.[^.]*)\.", said)
    assert snoop is not None
    assert snoop[2].startswith("bus.intervention_clocks and network.latency_ns")
    described = linebounce("describe", "machine", "./mine.toml").stdout
    assert "no parameter" not in result.stdout + described


def test_the_same_matrix_gives_the_same_machine(linebounce: Program) -> None:
    for name in ["a", "b"]:
        (linebounce.directory / name).mkdir()
        assert (
            linebounce(
                "calibrate",
                "--from",
                EXAMPLE,
                "-o",
                f"{name}/mine.toml",
                "--family",
                "intel_mesh",
                "-j",
                "1" if name == "a" else "3",
            ).code
            == 0
        )
    assert (linebounce.directory / "a/mine.toml").read_bytes() == (linebounce.directory / "b/mine.toml").read_bytes()


def test_fitting_a_named_machine_keeps_its_structure(linebounce: Program) -> None:
    matrix = linebounce.file("m.csv", ",,,\n400,,,\n404,398,,\n401,400,396,\n")
    result = linebounce("calibrate", "--from", matrix, "--machine", "p3_xeon_4way", "-o", "mine.toml")
    assert result.code == 0, result.stderr
    text = (linebounce.directory / "mine.toml").read_text()
    assert '"memory.latency_ns" = "assumed: copied from p3_xeon_4way"' in text
    assert "ols2004" not in text, "another file's source is not this machine's"
    assert "calibrated: core-to-core matrix" in text
    assert "node." not in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        (",,\n1,,\n", "m.csv:2:1: the matrix is not square"),
        (",\n-1,\n", "m.csv:2:1: -1 is negative"),
        (",\nNaN,\n", "m.csv:2:1: no value for CPUs 1 and 0"),
        (",,\n1,,\n1,,\n", "m.csv:3:3: no value for CPUs 2 and 1"),
        ("1\n", "m.csv:1:1: a matrix of one CPU"),
        ("cpu,0,1\n0,,x\n1,5,\n", 'm.csv:2:4: "x" is not a latency'),
        (
            ",\n0.07,\n",
            "m.csv: half of the latencies are up to 0.07 ns, which is not a core-to-core latency (legal: 1 to 10000)",
        ),
        (",,\n60000,,\n140000,60000,\n", "are they in picoseconds? expected nanoseconds"),
        ("\n".join([",".join(["1"] * 600)] * 600), "600 CPUs are more than a machine can have"),
        ("\n".join([",".join(["50"] * 300)] * 300), "m.csv: shows no groups in 300 cores"),
    ],
)
def test_a_file_that_is_not_a_matrix_is_refused(linebounce: Program, text: str, said: str) -> None:
    linebounce.file("m.csv", text)
    message = linebounce.refused("calibrate", "--from", "m.csv", "-o", "mine.toml", "--family", "intel_mesh")
    assert said in message
    assert len(message.splitlines()) == 1
    assert not (linebounce.directory / "mine.toml").exists()


def test_bad_requests_to_calibrate_are_refused(linebounce: Program) -> None:
    linebounce.file("m.csv", ",\n5,\n")
    assert "has 4" in linebounce.refused("calibrate", "--from", "m.csv", "--machine", "p3_xeon_4way", "-o", "x.toml")
    assert "p3_xeon_4way" in linebounce.refused("calibrate", "--from", "m.csv", "--machine", "p3_xeon_4wy", "-o", "x.toml")
    assert "ends in .toml" in linebounce.refused("calibrate", "--from", "m.csv", "-o", "x.csv", "--family", "intel_mesh")
    assert '"my machine" cannot name' in linebounce.refused(
        "calibrate", "--from", "m.csv", "-o", "my machine.toml", "--family", "intel_mesh"
    )
    assert "--output" in linebounce.refused("calibrate", "--from", "m.csv")
    assert "nowhere.csv" in linebounce.refused(
        "calibrate", "--from", "nowhere.csv", "-o", "x.toml", "--family", "intel_mesh", code=3
    )


def test_a_fitted_machine_names_its_family_and_leaves_the_values_to_it(linebounce: Program) -> None:
    linebounce.file("zen.csv", as_the_tool_writes(made_up(4, lambda _a, _b: 60.0)))
    done = linebounce("calibrate", "--from", "zen.csv", "-o", "zen.toml", "--family", "amd_zen")
    assert done.code == 0, done.stderr
    machine = tomllib.loads((linebounce.directory / "zen.toml").read_text())
    assert machine["contention"] == "amd_zen"
    assert "hold_ns" not in machine["cpu"]
    assert "next" not in machine["bus"]
    assert "cpu.hold_ns" not in machine["sources"]
    parameters = json.loads(linebounce("describe", "machine", "zen.toml", "--json").stdout)["parameters"]
    (hold,) = [parameter for parameter in parameters if parameter["path"] == "machine.cpu.hold_ns"]
    assert hold["from_family"]
    refused = linebounce.refused("calibrate", "--from", "zen.csv", "-o", "a.toml", "--family", "zen")
    assert "amd_zen" in refused


def test_the_example_is_a_matrix_of_sixteen_cpus() -> None:
    with EXAMPLE.open() as lines:
        rows = list(csv.reader(lines))
    assert [len(row) for row in rows] == [16] * 16


def load_to_use(directory: Path) -> dict[str, float]:
    metrics = json.loads((directory / "results.json").read_text())["points"][0]["metrics"]
    prefix = "load_to_use."
    return {name.removeprefix(prefix): metric["value"] for name, metric in metrics.items() if name.startswith(prefix)}


def probed(value: float) -> str:
    return f"median_ns = {value}, quartile1_ns = {value}, quartile3_ns = {value}, repeats = 9"


def test_a_probe_of_a_simulated_machine_gives_that_machine_back(linebounce: Program) -> None:
    """The fit sees no values of caches, memory and operations, which are those of the measured machine. So it must
    leave them unchanged."""
    changes = [("cpus   = 32", "cpus = 4"), ("nodes  = 2", "nodes = 1"), ("\nclock_mhz = 3000", "\nclock_mhz = 2500")]
    changes += [("\nlatency_ns = 45", "\nlatency_ns = 95"), ("cache_latency_ns = 6", "cache_latency_ns = 14")]
    small_machine(linebounce, "generic_2socket_32core", *changes)
    rings = "workload.rings_kib=16 150 6000"
    levels = linebounce.run("load_to_use", "levels", "--machine", "./measured.toml", "--set", rings)
    costs = load_to_use(levels)
    matrix = ("--set", "workload.access=atomic", "--set", "workload.states=modified")
    pairs = linebounce.run("core_to_core", "pairs", "--machine", "./measured.toml", *matrix)
    modified = pair_means(pairs)
    cells = [[0.0 if a == b else modified[max(a, b), min(a, b)] for b in range(4)] for a in range(4)]
    rows = [
        f'{{level = "{level}", size_kib = {kib}, cpu_node = 0, memory_node = 0, {probed(costs[name])}}}'
        for level, kib, name in (
            ("L1", 16, "ring_of_16_kib"),
            ("L2", 150, "ring_of_150_kib"),
            ("L3", 6000, "ring_of_6000_kib"),
            ("memory", 131072, "memory_of_node_0"),
        )
    ]
    caches = [(1, 48, 12, 1), (2, 1024, 16, 1), (3, 32768, 16, 4)]
    linebounce.file(
        "a.probe",
        "probe_format = 1\n"
        '[host]\nmodel = "simulated"\nclock_median_mhz = 2500.0\n'
        "[topology]\ncpus = [0, 1, 2, 3]\nnode = [0, 0, 0, 0]\ncache = [\n"
        + "".join(f"{{level = {a}, size_kib = {b}, ways = {c}, line_bytes = 64, shared_by = {d}}},\n" for a, b, c, d in caches)
        + f"]\n[core_to_core]\npairs = 6\npairs_measured = 6\nmedian_ns = {cells}\n"
        + f"[load_to_use]\nrows = [{', '.join(rows)}]\n"
        + f'[atomic]\nrows = [{{operation = "fetch_add", {probed(8.0)}}}]\n',
    )
    done = linebounce("calibrate", "--from", "a.probe", "-o", "a.toml")
    assert done.code == 0, done.stderr
    machine = linebounce.directory / "a.toml"
    assert value_of(machine, "cpu", "clock_mhz") == 2500
    assert value_of(machine, "cpu", "atomic_latency_cycles") == 20, "8 ns"
    assert value_of(machine, "memory", "latency_ns") == pytest.approx(95, abs=0.5)
    assert value_of(machine, "node", "cache_latency_ns") == pytest.approx(14, abs=0.5)
    assert value_of(machine, "cache.L2", "size_kib") == 1024
    again = linebounce.run("load_to_use", "again", "--machine", "./a.toml", "--set", rings)
    assert load_to_use(again) == pytest.approx(costs, rel=0.02)


def verdict_of(linebounce: Program, pairs: dict[tuple[int, int], float], noise: float) -> str:
    """The report on one line, from the error to the list of fitted parameters."""
    matrix = linebounce.file("judged.csv", as_the_tool_writes(pairs, noise=noise))
    shown = linebounce("calibrate", "--from", matrix, "-o", "mine.toml", "--family", "intel_mesh")
    assert shown.code == 0, shown.stderr
    report = " ".join(shown.stdout.split())
    return report[report.index("RMS of all pairs") : report.index(" chosen by ")]


def cores_of_two_threads(a: int, b: int) -> float:
    return 7.0 if a // 2 == b // 2 else 40.0


def test_a_matrix_whose_threads_disagree_contradicts_itself(linebounce: Program) -> None:
    """All pairs of threads of the same two cores have the same simulated latency. So the fit can't absorb noise of 20
    %, and the report says how much of it remains."""
    said = verdict_of(linebounce, made_up(6, cores_of_two_threads), noise=0.25)
    bound = re.search(r"contradicts itself by ([0-9.]+) %", said)
    reached = re.search(r"ns, ([0-9.]+) % of their mean", said)
    assert bound is not None, said
    assert reached is not None, said
    assert 8 < float(bound[1]) <= float(reached[1])
    assert "contradicts itself" in (linebounce.directory / "mine.toml").read_text()


def test_a_good_fit_does_not_blame_the_measurement(linebounce: Program) -> None:
    """Cores differ but threads do not, so the report does not blame the measurement."""
    pairs = made_up(8, lambda a, b: cores_of_two_threads(a, b) + (a // 2 + b // 2 if a // 2 != b // 2 else 0))
    said = verdict_of(linebounce, pairs, noise=0.0)
    assert "contradicts" not in said
    assert "the measurement" not in said
    assert "not a good fit" not in said


def test_pairs_that_differ_without_a_structural_reason_are_not_a_good_fit(linebounce: Program) -> None:
    """Six cores with one thread each: nothing is measured twice, so the report has no bound, only a warning."""
    said = verdict_of(linebounce, made_up(6, lambda _a, _b: 50.0), noise=0.3)
    assert "This is not a good fit" in said
    assert "contradicts" not in said


def test_the_measurement_is_blamed_where_threads_that_should_be_alike_are_not(linebounce: Program) -> None:
    """The noise is a little too large for a good fit, but not large enough to contradict the machine. The scatter among
    pairs of threads of the same cores shows that it is noise."""
    said = verdict_of(linebounce, made_up(12, cores_of_two_threads), noise=0.0975)
    bound = re.search(r"At least ([0-9.]+) % of the mean is the measurement: the nearest CPUs, if these are threads", said)
    assert bound is not None, said
    assert 3.5 < float(bound[1]) < 5


def test_no_bound_comes_from_threads_of_a_machine_that_the_matrix_does_not_show(linebounce: Program) -> None:
    """Two groups of four CPUs; the given machine has four cores with two threads."""
    pairs = made_up(8, lambda a, b: 20.0 if a // 4 == b // 4 else 90.0)
    matrix = linebounce.file("groups.csv", as_the_tool_writes(pairs))
    changes = [("cpus   = 32", "cpus = 8"), ("nodes  = 2", "nodes = 1"), ("[cpu]", "[cpu]\nthreads_per_core = 2")]
    small_machine(linebounce, "generic_2socket_32core", *changes)
    shown = linebounce("calibrate", "--from", matrix, "--machine", "./measured.toml", "-o", "mine.toml", "--anyway")
    assert shown.code == 0, shown.stderr
    report = " ".join(shown.stdout.split())
    assert "contradicts" not in report
    assert "No machine" not in report
    assert "without --machine that one would be fitted" in report


def test_differing_directions_are_not_a_contradiction(linebounce: Program) -> None:
    """One direction takes 60 ns, the other 40. The fit takes the mean and reports no error."""
    rows = [",".join("" if a == b else "60" if a > b else "40" for b in range(6)) for a in range(6)]
    matrix = linebounce.file("directed.csv", "\n".join(rows) + "\n")
    shown = linebounce("calibrate", "--from", matrix, "-o", "mine.toml", "--family", "intel_mesh")
    assert shown.code == 0, shown.stderr
    report = " ".join(shown.stdout.split())
    assert "two directions of a pair differ by 40.0 % (RMS)" in report
    assert "contradicts" not in report
    assert "not a good fit" not in report


def test_a_machine_far_off_for_a_kind_of_pairs_is_not_written(linebounce: Program) -> None:
    """Two groups of four CPUs, fitted to a machine with one bus, whose cores have CPUs of both groups as their threads."""
    pairs = made_up(8, lambda a, b: 20.0 if a // 2 == b // 2 else 40.0 if a // 4 == b // 4 else 200.0)
    matrix = linebounce.file("groups.csv", as_the_tool_writes(pairs))
    small_machine(
        linebounce,
        "generic_2socket_32core",
        ("cpus   = 32", "cpus = 8"),
        ("nodes  = 2", "nodes = 1"),
        ("[cpu]", "[cpu]\nthreads_per_core = 2"),
    )
    command = ("calibrate", "--from", matrix, "--machine", "./measured.toml", "-o", "mine.toml")
    assert "one core: 200.0 ns measured" in (said := linebounce.refused(*command)), said
    assert "--anyway" in said
    assert not (linebounce.directory / "mine.toml").exists()
    assert linebounce(*command, "--anyway").code == 0
    assert (linebounce.directory / "mine.toml").exists()


def test_the_cost_of_a_cores_own_atomics_does_not_fall_with_the_number_of_other_cores(linebounce: Program) -> None:
    """Eight dies of eight cores of two threads: 64 pairs within cores, 7,168 between dies that differ among themselves."""

    def ns(a: int, b: int) -> float:
        if a // 2 == b // 2:
            return 10.0
        return 25.0 if a // 16 == b // 16 else 110.0 + 5 * ((a // 16 + b // 16) % 4)

    matrix = linebounce.file("zen.csv", as_the_tool_writes(made_up(128, ns)))
    shown = linebounce("calibrate", "--from", matrix, "-o", "mine.toml", "--family", "amd_zen")
    assert shown.code == 0, shown.stderr
    row = re.search(r"one core +64 +10\.0 +([\d.]+) ", shown.stdout)
    assert row is not None, shown.stdout
    assert 8.5 < float(row[1]) < 11.5


def test_the_family_comes_from_the_processors_name_or_is_asked_for(linebounce: Program) -> None:
    figures = as_the_tool_writes(made_up(4, lambda *_: 40.0))
    for name, family, order in (
        ("AMD EPYC 7773X.csv", "amd_zen", "tso"),
        ("HiSilicon Kunpeng 920 @ 2.6GHz.csv", "arm_mesh", "ia64"),
        ("Dual Xeon(R) CPU E5-2680 v4 @ 2.40GHz.csv", "intel_ring", "tso"),
    ):
        linebounce.file(name, figures)
        assert linebounce("import", name, "-o", "mine.toml").code == 0
        text = (linebounce.directory / "mine.toml").read_text()
        assert f'contention = "{family}"' in text
        assert f'consistency = "{order}"' in text
        assert f"the family of {name.removesuffix('.csv')}, by the file's name" in text
        assert ("clock_mhz = 2600" in text) == ("2.6GHz" in name)
    linebounce.file("m1.ultra.csv", figures)
    assert linebounce("import", "m1.ultra.csv", "-o", "mine.toml").code == 0
    assert "line_bytes = 128" in (linebounce.directory / "mine.toml").read_text()
    linebounce.file("titled.csv", "# AMD Opteron 6172\n" + figures)
    assert linebounce("import", "titled.csv", "-o", "mine.toml").code == 0
    assert 'contention = "amd_k10"' in (linebounce.directory / "mine.toml").read_text()
    for name, why in (("m.csv", "nothing in it names the processor"), ("Dual IBM Power7.csv", 'to fit "Dual IBM Power7"')):
        linebounce.file(name, figures)
        said = linebounce.refused("import", name, "-o", "none.toml")
        assert why in said
        assert "4 CPUs: 1 nodes" in said
        assert all(family in said for family in ("amd_zen", "arm_mesh", "intel_ring", "--family"))
    assert not (linebounce.directory / "none.toml").exists()


@pytest.mark.parametrize("dies", [1, 2, 4, 8])
def test_a_simulated_machines_atomic_latency_comes_back_whatever_its_number_of_dies(linebounce: Program, dies: int) -> None:
    """Dies of four cores of two threads: with eight, 32 pairs of CPUs share a core, and 1,984 do not."""
    file = small_machine(
        linebounce,
        "epyc_7773x_1socket",
        ("cpus   = 64", f"cpus = {8 * dies}"),
        ("buses_per_node = 8", f"buses_per_node = {dies}"),
        ("issue_per_cycle = 6", "issue_per_cycle = 6\nthreads_per_core = 2"),
    )
    file.write_text(file.read_text().partition("[[history]]")[0])
    run = linebounce.run(linebounce.file("matrix.toml", experiment_on(file)), "measured")
    linebounce.file("mine.csv", as_the_tool_writes(pair_means(run)))
    fitted = linebounce("calibrate", "--from", "mine.csv", "-o", "mine.toml", "--family", "amd_zen")
    assert fitted.code == 0, fitted.stderr
    own = value_of(file, "cpu", "atomic_latency_cycles") / value_of(file, "cpu", "clock_mhz")
    machine = linebounce.directory / "mine.toml"
    found = value_of(machine, "cpu", "atomic_latency_cycles") / value_of(machine, "cpu", "clock_mhz")
    assert found == pytest.approx(own, rel=0.05)
