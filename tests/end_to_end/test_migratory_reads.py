"""The results of configs/experiments/migratory_reads.toml are as its text says."""

import json
from pathlib import Path

from program import ROOT, Program

MESI, MIGRATORY = "mesi_snoop", "mesi_migratory_snoop"


def rates(out: Path, axis: str) -> dict:
    """Operations per second, by the value of `axis` and the bus's protocol."""
    return {
        (point["at"][axis], point["at"]["machine.bus.protocol"]): point["metrics"]["throughput.operations_per_s"]["value"]
        for point in json.loads((out / "results.json").read_text())["points"]
    }


def test_a_read_followed_by_a_write_gains_and_an_addition_does_not(linebounce: Program) -> None:
    out = linebounce.run("migratory_reads", "counts", "--set", "machine.cpus=32")
    rate = rates(out, "workload.kind")
    assert 1.35 < rate["lockref", MIGRATORY] / rate["lockref", MESI] < 1.6
    assert rate["atomic", MIGRATORY] == rate["atomic", MESI]


def test_a_mere_reader_takes_the_line_from_its_writer(linebounce: Program) -> None:
    text = (ROOT / "configs/experiments/migratory_reads.toml").read_text()
    text = text.replace("../../programs/reference_counts.lua", str(ROOT / "programs/producer_consumer.lua"))
    text = text.replace('"workload.kind" = ["atomic", "lockref"]', '"workload.apart" = [false]')
    out = linebounce.run(linebounce.file("rings.toml", text), "rings", "--set", "machine.cpus=32")
    rate = rates(out, "workload.apart")
    assert rate[False, MIGRATORY] < 0.9 * rate[False, MESI]
