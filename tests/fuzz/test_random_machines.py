"""Random machines under random workloads: run-ahead, parked spins, the order of construction and the compiler change nothing.

Each test is one seed. To repeat a failing one: LINEBOUNCE_FUZZ_SEED=FIRST ./dev fuzz -k 'machines and [FIRST]'.
LINEBOUNCE_FUZZ_RUNS is the number of tests.
"""

import os
import random
import time

import pytest
from experiments import experiment
from program import Program
from ways import USUAL_WAYS, Way, assert_every_way_agrees, existing_builds

FIRST_SEED = int(os.environ.get("LINEBOUNCE_FUZZ_SEED", int(time.time())))
RUNS = int(os.environ.get("LINEBOUNCE_FUZZ_RUNS", "100"))

LOCKS = ["tas", "ttas", "ticket", "mcs"]


def random_caches(draw: random.Random, outer_line: int) -> str:
    """One to four levels; an inner level's lines may be parts of the outer one's."""
    levels = draw.choice([1, 2, 2, 2, 3, 4])
    lines = sorted(draw.choice([size for size in [16, 32, 64, 128] if size <= outer_line]) for _ in range(levels - 1))
    text = ""
    for level, line in enumerate([*lines, outer_line], start=1):
        ways = draw.choice([1, 2, 4])
        text += f"""
[cache.L{level}]
size_kib = {max(2 ** (level // 2), ways * line // 1024)}
ways = {ways}
line_bytes = {line}
hit_latency_cycles = {draw.randint(4 * level - 3, 4 * level)}
inclusive = {draw.choice(["true", "true", "false"])}
replacement = "{draw.choice(["lru", "tree_plru"])}"
"""
    return text


def random_machine(draw: random.Random) -> str:
    """A random machine within the schema, with emphasis on tight limits: few ways, few buffers, zero costs."""
    threads = draw.choice([1, 1, 2])
    consistency = draw.choice(["sc", "tso", "ia64"])
    store_buffer = f"store_buffer_entries = {draw.randint(1, 6)}" if consistency != "sc" else ""
    outer_line = draw.choice([16, 32, 64, 128])
    protocol = draw.choice(
        ["mesi_snoop", "mesi_snoop", "moesi_snoop", "dragon_snoop", "mesi_far_snoop", "mesi_migratory_snoop"]
    )
    return f"""\
name = "random"
title = "A random machine"
cpus = {threads * draw.randint(1, 5)}

[cpu]
clock_mhz = {draw.choice([333, 700, 700.5, 1000, 2000])}
threads_per_core = {threads}
issue_per_cycle = {draw.randint(1, 4)}
atomic_latency_cycles = {draw.randint(1, 60)}
compare_exchange_latency_cycles = {draw.randint(1, 90)}
fence_latency_cycles = {draw.randint(0, 30)}
fill_latency_cycles = {draw.randint(0, 20)}
interrupt_latency_cycles = {draw.randint(1, 300)}
ipi_latency_ns = {draw.randint(1, 1000)}
consistency = "{consistency}"
{store_buffer}
outstanding_misses = {draw.randint(1, 4)}
write_back_buffers = {draw.randint(1, 3)}

{random_caches(draw, outer_line)}
[bus]
protocol = "{protocol}"
clock_mhz = {draw.choice([66.5, 100, 133, 200])}
width_bytes = {draw.choice([4, 8, 16])}
arbitration_clocks = {draw.randint(1, 3)}
address_clocks = {draw.randint(1, 4)}
snoop_clocks = {draw.randint(1, 5)}
snoop_stall_clocks = {draw.randint(1, 3)}
response_clocks = {draw.randint(0, 3)}
intervention_clocks = {draw.randint(0, 4)}
turnaround_clocks = {draw.randint(0, 2)}
latch_clocks = {draw.randint(0, 2)}
outstanding = {draw.randint(1, 8)}

[memory]
latency_ns = {draw.randint(1, 200)}
banks = {draw.choice([1, 2, 4])}
bank_busy_ns = {draw.randint(0, 60)}
"""


def random_workload(draw: random.Random) -> str:
    if draw.random() < 0.2:
        return f'name = "false_sharing"\nstride_bytes = {draw.choice([8, 16, 32, 64])}\noutside_cycles = {draw.randint(1, 50)}'
    return f"""\
name = "critical_section"
lock = "{draw.choice(LOCKS)}"
data_lines = {draw.choice([0, 1, 2, 8, 40])}
inside_cycles = {draw.randint(0, 100)}
outside_cycles = {draw.choice([0, 20, 200, 1000])}"""


def random_experiment(seed: int, program: Program) -> str:
    draw = random.Random(seed)
    machine = program.file("machine.toml", random_machine(draw))
    run = f"warmup_us = {draw.randint(0, 7)}\nmeasure_us = {draw.randint(5, 60)}"
    return experiment(workload=random_workload(draw), run=run, top=f'machine = "{machine}"\nseed = {seed}')


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + RUNS))
def test_random_machines_give_the_same_results_in_every_engine_mode(linebounce: Program, seed: int) -> None:
    path = linebounce.file("random.toml", random_experiment(seed, linebounce))
    assert_every_way_agrees(linebounce, path, ways=[*USUAL_WAYS, Way.BOTH_OFF, *existing_builds()])
