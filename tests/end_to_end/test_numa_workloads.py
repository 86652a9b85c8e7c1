"""The workloads for machines with several nodes, on one bus: each share of the mix is as its parameter says."""

import json
from pathlib import Path

import pytest
from experiments import experiment, machine_file
from program import Program
from results import assert_same_data, metric_of, read_csv
from ways import assert_every_way_agrees

# The mix on four CPUs of one bus, long enough to measure a share to within one or two percent.
MIX = experiment(workload='name = "numa_mix"', run="warmup_us = 500\nmeasure_us = 6000")
CORE_TO_CORE = experiment(workload='name = "core_to_core"\nrepetitions = 2', run="")


@pytest.fixture(scope="module")
def mix_directory(session_linebounce: Program) -> Path:
    return session_linebounce.run(session_linebounce.file("mix.toml", MIX), "mix", "--fresh")


@pytest.fixture(scope="module")
def mix(mix_directory: Path) -> dict:
    return json.loads((mix_directory / "results.json").read_text())


def shares(counts: dict[str, int]) -> dict[str, float]:
    return {name: count / sum(counts.values()) for name, count in counts.items()}


def test_the_kernel_visits_what_its_shares_say(mix: dict) -> None:
    visits = shares({kind: metric_of(mix, f"mix.visits.kernel_{kind}") for kind in ["hot", "shared", "node", "memory"]})
    assert visits["hot"] == pytest.approx(0.76 * 0.43, abs=0.02)
    assert visits["shared"] == pytest.approx(0.76 * 0.57, abs=0.02)
    assert visits["node"] == pytest.approx(0.02, abs=0.005)
    assert visits["memory"] == pytest.approx(0.22, abs=0.02)


def test_visits_to_memory_miss_every_cache(mix: dict) -> None:
    for kind in ["kernel", "user"]:
        missed = metric_of(mix, f"latency.{kind}.local_memory.count")
        assert missed == pytest.approx(metric_of(mix, f"mix.visits.{kind}_memory"), rel=0.02)


def test_written_lines_bounce(mix: dict) -> None:
    """Four CPUs write the line equally often, so that three of four times another CPU wrote it last."""
    visits = sum(metric_of(mix, f"mix.visits.kernel_{kind}") for kind in ["hot", "shared", "node"])
    assert metric_of(mix, "latency.kernel.local_c2c.count") / visits == pytest.approx(0.75, abs=0.02)
    assert metric_of(mix, "latency.user.local_c2c.count") / metric_of(mix, "mix.visits.user_shared") == pytest.approx(
        0.75, abs=0.04
    )


def test_a_third_of_the_latency_is_that_of_500_lines(mix: dict) -> None:
    assert metric_of(mix, "latency.top500_share_pct") == pytest.approx(33, abs=3)


def test_the_mix_writes_back_45_lines_for_100_misses(mix: dict, mix_directory: Path) -> None:
    rows = read_csv(mix_directory / "transitions.csv")
    written_back = sum(int(row["count"]) for row in rows if row["controller"] == "memory" and row["event"] == "PutM")
    misses = sum(metric_of(mix, f"latency.{source}.count") for source in ["local_memory", "local_c2c"])
    assert written_back / misses == pytest.approx(0.45, abs=0.03)


def test_waiting_for_locks_is_a_small_part(mix: dict) -> None:
    assert metric_of(mix, "mix.spin_share_pct") < 3


def test_on_one_bus_everything_is_local(mix: dict, mix_directory: Path) -> None:
    assert metric_of(mix, "misses.local_share_pct") == 100
    assert metric_of(mix, "latency.local_share_pct") == 100
    assert {(row["home"], row["remote_pct"]) for row in read_csv(mix_directory / "lines.csv")} == {("0", "0")}


def test_a_mean_of_all_misses_counts_hits_in_the_second_level(mix: dict) -> None:
    off_chip = [metric_of(mix, f"latency.kernel.{source}.count") for source in ["local_memory", "local_c2c"]]
    assert metric_of(mix, "latency.kernel_l1_misses.mean_ns") < metric_of(mix, "latency.kernel_offchip.mean_ns")
    assert sum(off_chip) > 0


def test_core_to_core_has_a_row_for_every_pair_and_state(linebounce: Program) -> None:
    out = linebounce.run(linebounce.file("c2c.toml", CORE_TO_CORE), "c2c")
    rows = read_csv(out / "matrix.csv")
    pairs = {(int(row["from_cpu"]), int(row["to_cpu"])) for row in rows}
    assert pairs == {(a, b) for a in range(4) for b in range(4) if a != b}
    assert len(rows) == len(pairs) * 3
    assert {row["state"] for row in rows} == {"Modified", "Exclusive", "Shared"}
    assert {row["home_node"] for row in rows} == {"0"}


def test_the_matrix_of_a_sweep_has_every_point(linebounce: Program) -> None:
    swept = CORE_TO_CORE + '\n[sweep]\n"machine.cpus" = [2, 3]\n'
    out = linebounce.run(linebounce.file("c2c.toml", swept), "c2c")
    assert [row["point"] for row in read_csv(out / "matrix.csv")].count("0") == 2 * 2  # two CPUs have no third to share with
    assert [row["point"] for row in read_csv(out / "matrix.csv")].count("1") == 6 * 3


def test_core_to_core_is_shown_as_a_matrix(linebounce: Program) -> None:
    shown = linebounce("run", linebounce.file("c2c.toml", CORE_TO_CORE), "-o", "c2c")
    assert "giver down, receiver across" in shown.stdout
    assert all(len(line) <= 100 for line in shown.stdout.splitlines())


@pytest.mark.parametrize("workload", ["core_to_core", "numa_mix", "atomic_scaling"])
def test_numa_workloads_give_the_same_results_in_every_engine_mode(linebounce: Program, workload: str) -> None:
    run = "" if workload == "core_to_core" else "warmup_us = 50\nmeasure_us = 400"
    path = linebounce.file("e.toml", experiment(workload=f'name = "{workload}"', run=run))
    assert_every_way_agrees(linebounce, path)


def test_a_sweep_can_vary_the_machine(linebounce: Program) -> None:
    machine_file(linebounce, lambda text: text.replace("latency_ns = 100", "latency_ns = 200"))
    path = linebounce.file("e.toml", experiment(more='[sweep]\nmachine = ["p3_xeon_4way", "machine.toml"]'))
    out = linebounce.run(path, "swept")
    assert "latency_ns = 200" in (out / "points" / "1" / "config.toml").read_text()
    assert_same_data(out, linebounce.run(out / "config.toml", "again"))
