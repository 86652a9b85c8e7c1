"""The words for metrics and paths on axes and tiles."""

import pytest
from linebounce.report.sweeps import x_scale
from linebounce.report.words import axis_title, path_words


@pytest.mark.parametrize(
    ("metric", "unit", "title"),
    [
        ("throughput.operations_per_s", "1/s", "operations per second, all CPUs"),
        ("locks.section_lock.wait_mean_us", "us", "section_lock: mean wait (µs)"),
        ("locks.dcache_lock.d_lookup.con_pct", "%", "dcache_lock in d_lookup: acquisitions that wait (%)"),
        ("latency.remote_c2c.mean_ns", "ns", "remote HITM: mean latency (ns)"),
        ("latency.kernel.local_memory.count", "", "kernel, local memory: accesses"),
        ("link.0_1.mb_per_s", "MB/s", "link 0 to 1: traffic (MB/s)"),
        ("core_to_core.modified.same_node_ns", "ns", "core to core, modified, same node (ns)"),
        ("oltp.reads_per_s", "1/s", "oltp, reads per second"),
        ("cost.l2_hit", "ns", "cost, L2 hit (ns)"),
    ],
)
def test_a_metric_has_words_and_its_unit_once(metric: str, unit: str, title: str) -> None:
    assert axis_title(metric, unit) == title


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("machine", "machine"),
        ("machine.cpus", "CPUs"),
        ("workload.lock", "lock"),
        ("machine.memory.latency_ns", "memory latency (ns)"),
        ("machine.bus.clock_mhz", "bus clock (MHz)"),
        ("workload.outside_cycles", "outside (cycles)"),
    ],
)
def test_a_path_has_words_and_its_unit(path: str, words: str) -> None:
    assert path_words(path) == words


@pytest.mark.parametrize(
    ("path", "values", "scale"),
    [
        ("machine.cpus", [1, 2, 3, 4], "log"),
        ("workload.data_lines", [16, 1, 4], "log"),
        ("machine.memory.latency_ns", [100, 120, 140], "linear"),
        ("workload.outside_cycles", [0, 100, 10000], "linear"),
        ("workload.lock", ["tas", "mcs"], "linear"),
    ],
)
def test_numbers_that_grow_by_factors_have_a_logarithmic_axis(path: str, values: list[str | int], scale: str) -> None:
    assert x_scale(path, values) == scale
