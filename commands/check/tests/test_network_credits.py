"""Links with room for few messages keep waiting messages in order. Each case was found by `check --random`."""

import pytest
from experiments import experiment
from program import Program

# Small caches and long links, so that links are always full.
FULL_LINKS = '"machine.network.credits" = 1\n"machine.network.latency_ns" = 319\n'
TINY = """\
"machine.cache.L3.size_kib" = 2
"machine.cache.L3.ways" = 2
"machine.cache.L2D.size_kib" = 1
"machine.cache.L1D.size_kib" = 1
"""

CASES = {
    "a stale value, as data passed what came before it": (
        "itanium2_split_node",
        1,
        "operations = 8\nprefetch_share = 20\nspin_share = 0",
        '"machine.bus.clock_mhz" = 66.5\n"machine.bus.snoop_clocks" = 4\n' + FULL_LINKS,
    ),
    "an impossible forward to a node that has just given the line back": (
        "itanium2_two_node_16way",
        2,
        "operations = 56\nspin_share = 0\ninterrupt_share = 0\nlock_share = 0\nload_share = 0",
        '"machine.cpus" = 3\n"machine.cpu.store_buffer_entries" = 3\n' + TINY + FULL_LINKS,
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_messages_that_wait_for_room_stay_in_order(linebounce: Program, what: str) -> None:
    machine, seed, workload, settings = CASES[what]
    text = experiment(
        workload=f'name = "random_references"\n{workload}',
        run="measure_us = 0",
        top=f'machine = "{machine}"\nseed = {seed}',
        more=f"[set]\n{settings}",
    )
    linebounce.run(linebounce.file("full_links.toml", text), "out")
