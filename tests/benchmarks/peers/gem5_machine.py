"""gem5's side of tools/peers.py: one CPU for each trace in LINEBOUNCE_TRACES, on Ruby's MESI_Two_Level.

    LINEBOUNCE_TRACES=FOLDER gem5 tests/benchmarks/peers/gem5_machine.py

The machine is as near to p3_xeon_4way as the protocol allows. Each CPU has L1 caches of 16 KiB. That machine's private
L2 caches of 1 MiB become one shared L2 cache, with 1 MiB for each CPU. Needs gem5 24 or later, compiled with
MESI_Two_Level and protobuf.
"""

import os
from pathlib import Path

import m5
from gem5.components.boards.test_board import TestBoard
from gem5.components.cachehierarchies.ruby.mesi_two_level_cache_hierarchy import MESITwoLevelCacheHierarchy
from gem5.components.memory.simple import SingleChannelSimpleMemory
from gem5.components.processors.traffic_generator import TrafficGenerator

# Replays the trace once. A generator state without a duration ends with its trace.
STATES = """\
STATE 0 0 TRACE {trace} 0
STATE 1 0 EXIT
INIT 0
TRANSITION 0 1 1
TRANSITION 1 1 1
"""


def configuration(trace: Path) -> str:
    file = trace.with_suffix(".states")
    file.write_text(STATES.format(trace=trace))
    return str(file)


traces = sorted(Path(os.environ["LINEBOUNCE_TRACES"]).glob("*.trace"))
generator = TrafficGenerator([configuration(trace) for trace in traces])
for core in generator.get_cores():
    core.generator.max_outstanding_reqs = 1
    core.generator.progress_check = "1s"  # a CPU whose trace has ended makes no progress, which is not an error

board = TestBoard(
    clk_freq="700MHz",
    generator=generator,
    memory=SingleChannelSimpleMemory(latency="100ns", latency_var="0ns", bandwidth="800MiB/s", size="512MiB"),
    cache_hierarchy=MESITwoLevelCacheHierarchy(
        l1i_size="16KiB",
        l1i_assoc="4",
        l1d_size="16KiB",
        l1d_assoc="4",
        l2_size=f"{len(traces)}MiB",
        l2_assoc="8",
        num_l2_banks=1,
    ),
)
root = board._pre_instantiate()
m5.instantiate()
generator.start_traffic()
for _ in traces:  # each CPU stops the simulation once, at the end of its trace
    m5.simulate()
