"""Random traffic on small and odd machines: no speed-up of the engine may change a byte of any data file.

Each case is a machine, as --set options on top of the shipped one, and a seed. The workload checks the values that it reads.
"""

import os
import time
from pathlib import Path

import pytest
from experiments import experiment, machine_file
from program import Program
from ways import QUICK_WAYS, USUAL_WAYS, Way, assert_every_way_agrees

TINY = {"cache.L1D.size_kib": 1, "cache.L1D.ways": 1, "cache.L2.size_kib": 2, "cache.L2.ways": 1}
STARVED = {"cpu.outstanding_misses": 1, "cpu.write_back_buffers": 1, "bus.outstanding": 1, "memory.banks": 1}
TWO_THREADS = {"cpu.threads_per_core": 2}
FOUR_THREADS = {"cpu.threads_per_core": 4}
TSO = {"cpu.consistency": "tso", "cpu.store_buffer_entries": 4}
IA64 = {"cpu.consistency": "ia64", "cpu.store_buffer_entries": 8}
LRU = {"cache.L1D.replacement": "lru"}
FOOTPRINT = {
    "footprint.tlb_entries": 4,
    "footprint.tlb_ways": 2,
    "footprint.tlb_page_kib": 1,
    "footprint.code_cache_kib": 1,
    "footprint.kernel_function_bytes": 600,
}
# A machine whose sibling threads spin and pause, whose lines are fetched in pairs, and on which an interrupt costs its sender
# time.
TODAY = {
    "cpu.spinning_sibling_pct": 60,
    "cpu.pausing_sibling_pct": 85,
    "cpu.pause_cycles": 23,
    "cpu.spin_exit_cycles": 11,
    "cpu.ipi_send_cycles": 37,
    "cpu.page_invalidation_cycles": 9,
    "cpu.tlb_flush_cycles": 120,
    "cpu.tlb_flush_ceiling_pages": 20,
}
PAIRS = {"cpu.pair_prefetch": "all"}
OWNERSHIP = {"cpu.ownership_prefetch": "true"}
# The costs of waiting for a line, as in the contention families (configs/families).
CHANCE = {
    "bus.one_per_line": "true",
    "bus.next": "chance",
    "bus.invalidation_clocks": 3,
    "cpu.hold_ns": 30,
    "cpu.hold_after": "writes",
}
NEAREST = {
    "bus.one_per_line": "true",
    "bus.next": "nearest",
    "bus.next_limit_ns": 200,
    "bus.way_ns": "0 3 11 7",
    "bus.invalidation_clocks": -1,
    "cpu.hold_ns": 50,
    "cpu.hold_after": "compare_exchange",
}
WAITING_SNOOPS = CHANCE | {"bus.snoop_waits_ns": 0, "bus.overlap_ns": 17, "cpu.replay_cycles": 3, "cpu.hold_ns": 0}
LATE_SNOOPS = NEAREST | {"bus.snoop_waits_ns": 120, "bus.overlap_ns": 5, "cpu.replay_cycles": 2}
BUSY_HOME = {"directory.line_busy_ns": -1, "directory.broadcasts": "true"}
BROADCAST = ("broadcast_node", "broadcast_home")
FILTER = ("node_filter", "directory_filter")
FEW_ENTRIES = {"directory.entries": 8, "directory.ways": 2}


def nodes(family: str, count: int, node: str = "node", directory: str = "directory") -> dict[str, object]:
    """A number of nodes with a small cache each, joined by this family of protocols."""
    return {
        "nodes": count,
        "bus.protocol": f"{family}_snoop",
        "node.protocol": f"{family}_{node}",
        "directory.protocol": f"{family}_{directory}",
        "node.cache_size_kib": 1,
        "node.cache_ways": 2,
        "node.latency_ns": 20,
        "directory.latency_ns": 30,
        "network.latency_ns": 70,
    }


MIGRATORY = {"bus.protocol": "mesi_migratory_snoop"}
FAR_NODES = nodes("mesi", 2, "node_far") | {"bus.protocol": "mesi_far_snoop"}

# Each machine has features that others lack; together they cover every part of the engine.
MACHINES = {
    "plain": {},
    "tiny": TINY,
    "tiny, two ways, tree": TINY | {"cache.L1D.ways": 2, "cache.L2.ways": 2, "cache.L2.replacement": "tree_plru"},
    "L2 not inclusive": TINY | LRU | {"cache.L2.inclusive": "false", "cache.L1D.ways": 2},
    "small L1 lines": TINY | {"cache.L1D.line_bytes": 16, "cache.L2.line_bytes": 64},
    "small L1 lines, not inclusive": TINY
    | {"cache.L1D.line_bytes": 16, "cache.L2.line_bytes": 64, "cache.L2.inclusive": "false"},
    "starved": TINY | STARVED,
    "odd clocks": {"cpu.clock_mhz": 733, "bus.clock_mhz": 133},
    "thirds of a clock": {"cpu.clock_mhz": 2000 / 3, "bus.clock_mhz": 200 / 3},
    "slow memory": TINY | {"memory.bandwidth_mb_per_s": 100, "memory.banks": 2, "memory.bank_busy_ns": 150},
    "no latencies": {"cpu.atomic_latency_cycles": 0, "cpu.compare_exchange_latency_cycles": 0, "cpu.ipi_latency_ns": 0},
    "tso": TSO,
    "tso, one entry": TINY | TSO | {"cpu.store_buffer_entries": 1},
    "ia64": IA64,
    "ia64, starved": TINY | STARVED | IA64,
    "two threads": TWO_THREADS,
    "two threads, lru": TWO_THREADS | LRU,
    "two threads, tiny": TINY | TWO_THREADS | LRU,
    "two threads, tiny, two ways": TINY | TWO_THREADS | LRU | {"cache.L1D.ways": 2, "cache.L2.ways": 4},
    "two threads, tso": TWO_THREADS | LRU | TSO,
    "two threads, tiny, ia64": TINY | TWO_THREADS | LRU | IA64 | {"cache.L1D.line_bytes": 16},
    "four threads, lru": FOUR_THREADS | LRU,
    "four threads, starved, tso": TINY | STARVED | FOUR_THREADS | LRU | TSO,
    "four threads, fill order": FOUR_THREADS | LRU | {"cpu_order": "fill", "cpus": 3},
    "upgrades retried": {"bus.protocol": "mesi_snoop_upgrade_retry"},
    "upgrades retried, two threads, tiny": TINY | TWO_THREADS | LRU | {"bus.protocol": "mesi_snoop_upgrade_retry"},
    "msi": TINY | {"bus.protocol": "msi_snoop"},
    "msi, ia64": IA64 | {"bus.protocol": "msi_snoop"},
    "mesif, tiny": TINY | {"bus.protocol": "mesif_snoop"},
    "mesif, two threads, tso": TWO_THREADS | LRU | TSO | {"bus.protocol": "mesif_snoop"},
    "moesi, tiny": TINY | {"bus.protocol": "moesi_snoop"},
    "dragon": {"bus.protocol": "dragon_snoop"},
    "dragon, tiny": TINY | {"bus.protocol": "dragon_snoop"},
    "dragon, tiny, starved, tso": TINY | STARVED | TSO | {"bus.protocol": "dragon_snoop"},
    "dragon, two threads, lru": TWO_THREADS | LRU | {"bus.protocol": "dragon_snoop"},
    "dragon, two threads, tiny, ia64": TINY | TWO_THREADS | LRU | IA64 | {"bus.protocol": "dragon_snoop"},
    "dragon, four threads, fill order": FOUR_THREADS | LRU | {"cpu_order": "fill", "cpus": 3, "bus.protocol": "dragon_snoop"},
    "dragon, small L1 lines, not inclusive": TINY
    | {"cache.L1D.line_bytes": 16, "cache.L2.line_bytes": 64, "cache.L2.inclusive": "false", "bus.protocol": "dragon_snoop"},
    "far": {"bus.protocol": "mesi_far_snoop"},
    "far, tiny": TINY | {"bus.protocol": "mesi_far_snoop"},
    "far, tiny, starved, tso": TINY | STARVED | TSO | {"bus.protocol": "mesi_far_snoop"},
    "far, two threads, lru": TWO_THREADS | LRU | {"bus.protocol": "mesi_far_snoop"},
    "far, four threads, tiny, ia64": TINY | FOUR_THREADS | LRU | IA64 | {"bus.protocol": "mesi_far_snoop"},
    "far, pairs, today": PAIRS | TODAY | {"bus.protocol": "mesi_far_snoop"},
    "far nodes, tiny": TINY | FAR_NODES,
    "far nodes, two threads, tso": TWO_THREADS | LRU | TSO | FAR_NODES,
    "far nodes, starved, ia64": TINY | STARVED | IA64 | FAR_NODES,
    "ownership, tiny, tso": TINY | TSO | OWNERSHIP,
    "ownership, starved, two threads, tso": TINY | TWO_THREADS | LRU | STARVED | TSO | OWNERSHIP,
    "ownership, four threads, ia64, pairs": FOUR_THREADS | LRU | IA64 | PAIRS | OWNERSHIP,
    "ownership, dragon, tso": TINY | TSO | OWNERSHIP | {"bus.protocol": "dragon_snoop"},
    "ownership, far nodes, tso": TINY | TSO | OWNERSHIP | FAR_NODES,
    "ownership, nodes, two threads, tso": TINY | TWO_THREADS | LRU | TSO | OWNERSHIP | nodes("moesi", 2),
    "migratory, tiny, tso": TINY | TSO | MIGRATORY,
    "migratory, two threads, starved": TINY | TWO_THREADS | LRU | STARVED | MIGRATORY,
    "migratory in nodes, tiny": TINY | nodes("mesi", 2) | MIGRATORY,
    "migratory nodes, tiny": TINY | nodes("mesi_migratory", 2),
    "migratory nodes, starved, two threads, tso": TINY | STARVED | TWO_THREADS | LRU | TSO | nodes("mesi_migratory", 2),
    "footprint": FOOTPRINT,
    "footprint, tiny, starved, tso": TINY | STARVED | TSO | FOOTPRINT,
    "footprint, two threads, lru": TWO_THREADS | LRU | FOOTPRINT,
    "footprint, two threads, shared issue": TWO_THREADS | LRU | FOOTPRINT | {"cpu.shared_issue_pct": 60},
    "footprint, four threads, ia64": FOUR_THREADS | LRU | IA64 | FOOTPRINT,
    "today": TODAY,
    "today, two threads, lru": TODAY | TWO_THREADS | LRU,
    "today, two threads, tiny, tso, footprint": TODAY | TINY | TWO_THREADS | LRU | TSO | FOOTPRINT,
    "today, four threads, starved": TODAY | TINY | STARVED | FOUR_THREADS | LRU,
    "pairs": PAIRS,
    "pairs of loads alone": TINY | {"cpu.pair_prefetch": "loads"},
    "pairs, starved": TINY | STARVED | PAIRS,
    "pairs, two misses": TINY | PAIRS | {"cpu.outstanding_misses": 2, "cpu.write_back_buffers": 1},
    "pairs, small L1 lines, not inclusive": TINY
    | PAIRS
    | {"cache.L1D.line_bytes": 16, "cache.L2.line_bytes": 64, "cache.L2.inclusive": "false"},
    "pairs, today, two threads, ia64": TODAY | PAIRS | TWO_THREADS | LRU | IA64,
    "pairs, four threads, tiny, tso": TINY | PAIRS | FOUR_THREADS | LRU | TSO,
    "pairs, mesif": TINY | PAIRS | {"bus.protocol": "mesif_snoop"},
    "pairs, moesi, two threads": TINY | PAIRS | TWO_THREADS | LRU | {"bus.protocol": "moesi_snoop"},
    "pairs, dragon, two threads": TINY | PAIRS | TWO_THREADS | LRU | {"bus.protocol": "dragon_snoop"},
    "pairs, upgrades retried": TINY | PAIRS | {"bus.protocol": "mesi_snoop_upgrade_retry"},
    "mesi nodes, tiny": TINY | nodes("mesi", 2),
    "moesi nodes, tiny": TINY | nodes("moesi", 2),
    "moesi nodes, two threads, tso": TWO_THREADS | LRU | TSO | nodes("moesi", 2),
    "moesi nodes, starved, ia64": TINY | STARVED | IA64 | nodes("moesi", 4),
    "mesif nodes, tiny": TINY | nodes("mesif", 2),
    "mesif nodes, two threads, tso": TWO_THREADS | LRU | TSO | nodes("mesif", 2),
    "mesif nodes, starved, ia64": TINY | STARVED | IA64 | nodes("mesif", 4),
    "pairs, today, two nodes": TINY | TODAY | PAIRS | nodes("mesi", 2),
    "pairs, two nodes of MOESI, two threads": TINY | PAIRS | TWO_THREADS | LRU | nodes("moesi", 2),
    "broadcast nodes, tiny": TINY | nodes("moesi", 2, *BROADCAST),
    "broadcast nodes, two threads, tso": TWO_THREADS | LRU | TSO | nodes("moesi", 2, *BROADCAST),
    "broadcast nodes, starved, ia64": TINY | STARVED | IA64 | nodes("moesi", 4, *BROADCAST),
    "home snoop, tiny": TINY | nodes("mesif", 2, *BROADCAST),
    "home snoop, two threads, tso": TWO_THREADS | LRU | TSO | nodes("mesif", 2, *BROADCAST),
    "home snoop, starved, ia64": TINY | STARVED | IA64 | nodes("mesif", 4, *BROADCAST),
    "filter nodes, tiny": TINY | FEW_ENTRIES | nodes("moesi", 2, *FILTER),
    "filter nodes, two threads, tso": TWO_THREADS | LRU | TSO | FEW_ENTRIES | nodes("moesi", 2, *FILTER),
    "filter nodes, starved, ia64": TINY | STARVED | IA64 | FEW_ENTRIES | nodes("moesi", 4, *FILTER),
    "moesi, two threads, tiny, ia64": TINY | TWO_THREADS | LRU | IA64 | {"bus.protocol": "moesi_snoop"},
    "chance, tiny, tso": TINY | TSO | CHANCE,
    "chance, two threads, starved, ia64, today": TINY | TWO_THREADS | LRU | STARVED | IA64 | CHANCE | TODAY,
    "nearest": NEAREST,
    "nearest, tso, ownership": TINY | TSO | OWNERSHIP | NEAREST,
    "chance in nodes, tiny, tso": TINY | TSO | CHANCE | BUSY_HOME | nodes("mesi", 2),
    "waiting snoops, tiny, tso": TINY | TSO | WAITING_SNOOPS,
    "waiting snoops, two threads, lru, tso": TWO_THREADS | LRU | TSO | WAITING_SNOOPS | TODAY,
    "waiting snoops in nodes, tso": TINY | TSO | WAITING_SNOOPS | BUSY_HOME | nodes("mesi", 2),
    "waiting snoops in nodes, two threads, ia64": TINY | TWO_THREADS | LRU | IA64 | WAITING_SNOOPS | nodes("moesi", 2),
    "waiting snoops, far nodes, tso": TINY | TSO | WAITING_SNOOPS | FAR_NODES,
    "late snoops, starved, tso": TINY | STARVED | TSO | LATE_SNOOPS,
    "late snoops in nodes, ia64": TINY | IA64 | LATE_SNOOPS | BUSY_HOME | nodes("mesif", 4),
    "nearest in nodes, ia64": TINY | IA64 | NEAREST | BUSY_HOME | nodes("moesi", 2),
}

# Warm-up and run end at odd times, so that they end within run-ahead windows and parked spins.
RUNS = ["warmup_us = 3.017\nmeasure_us = 29.013", "warmup_us = 7.4\nmeasure_us = 0"]

# ./dev test always takes these four seeds, each with a quarter of the machines; ./dev fuzz takes all machines with new seeds.
QUICK = [(name, 1 + number % 4) for number, name in enumerate(MACHINES)]
FIRST_SEED = int(os.environ.get("LINEBOUNCE_FUZZ_SEED", int(time.time())))
THOROUGH_SEEDS = int(os.environ.get("LINEBOUNCE_FUZZ_RUNS", "100")) // 10


def settings(machine: dict[str, object]) -> list[str]:
    return [argument for key, value in machine.items() for argument in ["--set", f"machine.{key}={value}"]]


def with_a_third_level(text: str) -> str:
    level = "[cache.L3]\nsize_kib = 4\nways = 2\nline_bytes = 32\nhit_latency_cycles = 20\ninclusive = false\n\n"
    return text.replace("[bus]\n", level + "[bus]\n", 1)


def random_run(program: Program, seed: int, run: str, top: str = "") -> Path:
    operations = 0 if "measure_us = 0" not in run else 250
    lines = f"shared_lines = {1 + seed % 5}\nprivate_lines = {10 + 50 * (seed % 2)}"
    workload = f'name = "random_references"\noperations = {operations}\n{lines}'
    return program.file("random.toml", experiment(workload=workload, run=run, top=top))


def machine_and_seed(name: str, seed: int) -> list[str]:
    """Modern machines also have several loads under way, and drop TLB entries; the other machines' traffic stays the
    same."""
    shares = ["--set", "workload.load_all_share=8", "--set", "workload.invalidate_share=2"]
    modern = shares if "today" in name or "pairs" in name else []
    return [*settings(MACHINES[name]), *modern, "--seed", str(seed)]


@pytest.mark.parametrize(("name", "seed"), QUICK)
def test_random_programs_give_the_same_results_without_speed_ups(linebounce: Program, name: str, seed: int) -> None:
    path = random_run(linebounce, seed, RUNS[seed % 2])
    assert_every_way_agrees(linebounce, path, *machine_and_seed(name, seed), ways=QUICK_WAYS[seed // 3])


@pytest.mark.parametrize("name", ["tiny", "two threads, tiny", "two threads, tiny, ia64"])
def test_random_programs_give_the_same_results_with_three_cache_levels(linebounce: Program, name: str) -> None:
    machine = machine_file(linebounce, with_a_third_level)
    path = random_run(linebounce, 1, RUNS[0], f'machine = "{machine}"')
    assert_every_way_agrees(linebounce, path, *machine_and_seed(name, 1), ways=QUICK_WAYS[0])


@pytest.mark.parametrize("name", ["readers_hand_nothing_over", "retried_after_a_handler"])
def test_cases_that_once_differed_agree(linebounce: Program, name: str) -> None:
    """Reruns found cases; a comment in each file says what differed."""
    assert_every_way_agrees(linebounce, Path(__file__).with_name(f"{name}.toml"))


def test_a_run_with_another_seed_does_not_agree(linebounce: Program) -> None:
    """Otherwise all of these tests might compare constants."""
    path = random_run(linebounce, 1, RUNS[0])
    plain = linebounce.run(path, "plain", "--seed", "1")
    with pytest.raises(AssertionError, match=r"differ in .*'latency.csv'.*'results.json'"):
        assert_every_way_agrees(linebounce, path, "--seed", "2", plain=plain)


@pytest.mark.parametrize("name", ["plain", "tiny", "two threads, lru"])
def test_a_horizon_one_tick_too_far_is_caught(linebounce: Program, name: str) -> None:
    path = random_run(linebounce, 1, "warmup_us = 0\nmeasure_us = 300")
    result = linebounce("run", path, "-o", "out", *settings(MACHINES[name]), "--set", "engine.horizon_slack_ticks=1")
    assert result.code == 4, result.stderr
    assert "invariant I1" in result.stderr or "invariant I2" in result.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + THOROUGH_SEEDS))
@pytest.mark.parametrize("name", MACHINES)
def test_random_programs_give_the_same_results_on_every_machine(linebounce: Program, name: str, seed: int) -> None:
    path = random_run(linebounce, seed, RUNS[seed % 2])
    assert_every_way_agrees(linebounce, path, *machine_and_seed(name, seed), ways=[*USUAL_WAYS, Way.BOTH_OFF])
