"""Mechanisms broken on purpose: an experiment no longer reproduces a paper's figure, and its row fails."""

import json
from pathlib import Path

import breaks
import pytest
from program import ROOT, Program
from rows import RowFiles, Table
from source_tree import SourceTree

# By name: the experiment, the broken setting, and the row that must fail.
BROKEN = {
    "an L2 as fast as the core": ("operation_costs", "machine.cache.L2.hit_latency_cycles", 1, "ols2004.table1.l2_hit"),
    "memory that answers at once": ("operation_costs", "machine.memory.latency_ns", 0, "ols2004.table1.main_memory"),
    "atomic operations that cost nothing": (
        "operation_costs",
        "machine.cpu.atomic_latency_cycles",
        0,
        "ols2004.table1.atomic_increment",
    ),
    "compare-and-exchange that costs nothing": (
        "operation_costs",
        "machine.cpu.compare_exchange_latency_cycles",
        0,
        "ols2004.table1.cmpxchg_atomic_increment",
    ),
    "an intervention that costs nothing": (
        "operation_costs",
        "machine.bus.intervention_clocks",
        0,
        "ols2004.table1.atomic_increment_cache_transfer",
    ),
    "twice as many instructions at once": ("operation_costs", "machine.cpu.issue_per_cycle", 4, "ols2004.table1.instruction"),
    "a network without distance": ("split_node", "machine.network.latency_ns", 0, "ols2007.split.kernel_offchip_latency"),
    "nodes that are one": ("numa_histogram", "machine.network.latency_ns", 0, "ols2007.fig1.peaks"),
    "lines that leave a node at once": (
        "numa_histogram",
        "machine.node.line_crossing_ns",
        0,
        "ols2007.fig1.local_share_of_latency",
    ),
}


def verdicts(linebounce: Program, experiment: str, changes: dict[str, int], name: str) -> dict[str, bool | None]:
    """Whether each row is within its tolerance. The changes are in the file, because rows changed on the command line are
    not scored."""
    text = (ROOT / f"configs/experiments/{experiment}.toml").read_text()
    before, row, rows = text.partition("[[paper]]")
    assert "[set]" not in before
    settings = "".join(f'"{key}" = {value}\n' for key, value in changes.items())
    directory = linebounce.run(linebounce.file(f"{name}.toml", f"{before}[set]\n{settings}\n{row}{rows}"), name)
    results = json.loads((directory / "results.json").read_text())
    return {row["id"]: row["ok"] for row in results["paper"]}


@pytest.mark.parametrize("mechanism", BROKEN)
def test_a_broken_mechanism_turns_a_row(linebounce: Program, mechanism: str) -> None:
    experiment, key, value, row = BROKEN[mechanism]
    assert verdicts(linebounce, experiment, {}, "whole")[row] is True
    assert verdicts(linebounce, experiment, {key: value}, "broken")[row] is False


FILES = RowFiles(SourceTree.of_git())
# Only experiments that are fast; ./dev reproduce --breaks runs all.
SAMPLE = ["fget", "validation/file_ref_addition"]


@pytest.mark.parametrize("name", SAMPLE)
def test_predictions_are_lost_without_their_mechanism(executable: Path, name: str) -> None:
    rows: list[Table] = [row for experiment, row in breaks.predictions(FILES) if experiment == name]
    outcomes = list(breaks.outcomes(name, rows, breaks.settings_of(FILES), executable))
    assert len(outcomes) == len(rows) > 0
    for outcome in outcomes:
        assert outcome.is_lost, breaks.told(outcome)
