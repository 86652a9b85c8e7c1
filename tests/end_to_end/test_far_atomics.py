"""The results of configs/experiments/far_atomics.toml are as its text says."""

import json
from pathlib import Path

from program import Program


def test_a_counter_gains_and_a_lock_loses_by_far_atomics(linebounce: Program) -> None:
    out = linebounce.run("far_atomics", "far", "--set", "machine.cpus=16", "--set", "run.measure_us=50")
    rate = {
        (point["at"]["workload.counter"], point["at"]["machine.bus.protocol"]): metrics["value"]
        for point in json.loads((out / "results.json").read_text())["points"]
        for metrics in [point["metrics"]["throughput.operations_per_s"]]
    }
    assert rate["atomic", "mesi_far_snoop"] > 1.4 * rate["atomic", "mesi_snoop"]
    assert rate["under_lock", "mesi_far_snoop"] < rate["under_lock", "mesi_snoop"] / 5


def test_a_store_gets_its_turn_among_far_atomics_of_its_node(linebounce: Program) -> None:
    def operations(measure_us: int) -> float:
        case = Path(__file__).with_name("starved_by_far_atomics.toml")
        out = linebounce.run(case, f"after_{measure_us}", "--set", f"run.measure_us={measure_us}")
        (point,) = json.loads((out / "results.json").read_text())["points"]
        return float(point["metrics"]["random.operations"]["value"])

    assert operations(17_000) > operations(15_000)
