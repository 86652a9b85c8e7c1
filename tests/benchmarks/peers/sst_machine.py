"""SST's side of tools/peers.py: one CPU for each trace in LINEBOUNCE_TRACES, on memHierarchy's bus with MESI.

    LINEBOUNCE_TRACES=FOLDER sst tests/benchmarks/peers/sst_machine.py

The machine is as near to p3_xeon_4way as memHierarchy allows. Each CPU has an L1 cache of 16 KiB on a bus. That
machine's private L2 caches of 1 MiB become one shared L2 cache, with 1 MiB for each CPU. Needs sst-elements 14 or
later.
"""

import os
from pathlib import Path

import sst

CLOCK = "700MHz"
# prospero translates each CPU's pages to addresses of its own. With a single page for all of memory, CPUs share the addresses
# that they share in the trace.
ONE_PAGE = 1 << 30


def joined(one: tuple, other: tuple) -> None:
    name = f"{one[0].getFullName()}_{one[1]}"
    sst.Link(name).connect((*one, "1ns"), (*other, "1ns"))


def cache(name: str, size: str, ways: int, cycles: int, nearest: bool) -> sst.Component:
    component = sst.Component(name, "memHierarchy.Cache")
    component.addParams(
        {
            "L1": int(nearest),
            "coherence_protocol": "MESI",
            "replacement_policy": "lru",
            "cache_frequency": CLOCK,
            "cache_line_size": 64,
            "cache_size": size,
            "associativity": ways,
            "access_latency_cycles": cycles,
        }
    )
    return component


traces = sorted(Path(os.environ["LINEBOUNCE_TRACES"]).glob("*.trace"))
bus = sst.Component("bus", "memHierarchy.Bus")
bus.addParams({"bus_frequency": "100MHz"})
for number, trace in enumerate(traces):
    cpu = sst.Component(f"cpu{number}", "prospero.prosperoCPU")
    cpu.addParams(
        {
            "clock": CLOCK,
            "max_outstanding": 1,
            "max_issue_per_cycle": 1,
            "cache_line_size": 64,
            "pagesize": ONE_PAGE,
            "reader": "prospero.ProsperoTextTraceReader",
            "readerParams.file": str(trace),
        }
    )
    near = cache(f"l1_{number}", "16KiB", 4, 3, nearest=True)
    joined((cpu, "cache_link"), (near, "highlink"))
    joined((near, "lowlink"), (bus, f"highlink{number}"))

shared = cache("l2", f"{len(traces)}MiB", 8, 9, nearest=False)
memory = sst.Component("memory", "memHierarchy.MemController")
memory.addParams({"clock": "100MHz", "addr_range_end": ONE_PAGE - 1})
memory.setSubComponent("backend", "memHierarchy.simpleMem").addParams({"access_time": "100ns", "mem_size": "1GiB"})
joined((bus, "lowlink0"), (shared, "highlink"))
joined((shared, "lowlink"), (memory, "highlink"))
