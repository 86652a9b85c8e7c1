"""Locks of C and C++ libraries, beside what their users have measured."""

import json

import pytest
from program import ROOT, Program

# The authors of libc++'s time zone database measured look-ups of 5.5, 15.5, 15.4, 19.3 and 20.8 ns under a std::mutex with 1,
# 2, 4, 8 and 32 threads, and of 13.9, 34.5, 38.4, 51.1 and 57.1 ns under libc++'s std::shared_mutex
# (github.com/llvm/llvm-project/pull/87929): 2.2 to 2.7 times as long.
LOOK_UP = f"""\
name    = "look_up"
title   = "A section of one load"
machine = "epyc_7773x_1socket"
[workload]
program = "{ROOT}/programs/look_up.lua"
[run]
warmup_us  = 20
measure_us = 200
[set]
"machine.cpu_order" = "fill"
[sweep]
"machine.cpus"   = [1, 2, 4, 8, 32]
"workload.guard" = ["mutex", "rwlock", "libcxx_shared_mutex"]
"""

Rates = dict[str, dict[int, float]]  # by guard and number of CPUs


@pytest.fixture(scope="module")
def rates(session_linebounce: Program) -> Rates:
    file = session_linebounce.file("look_up.toml", LOOK_UP)
    found: Rates = {}
    for point in json.loads((session_linebounce.run(file, "look_up") / "results.json").read_text())["points"]:
        rate = point["metrics"]["throughput.operations_per_s"]["value"]
        found.setdefault(point["at"]["workload.guard"], {})[point["at"]["machine.cpus"]] = rate
    return found


def test_a_thread_alone_looks_up_faster_under_a_mutex_than_under_a_shared_one(rates: Rates) -> None:
    """libc++'s shared mutex locks its mutex twice. glibc's read-write lock takes two atomic operations, where a mutex takes
    none in a process of one thread: 17 to 25 ns instead of 7 to 9 on a Xeon at 2.8 GHz with glibc 2.36."""
    alone = {guard: by_cpus[1] for guard, by_cpus in rates.items()}
    assert 2 < alone["mutex"] / alone["libcxx_shared_mutex"] < 2.7
    assert 2 < alone["mutex"] / alone["rwlock"] < 2.9


@pytest.mark.parametrize("cpus", [2, 4, 8, 32])
def test_threads_look_up_faster_under_a_mutex_than_under_libcxxs_shared_mutex(rates: Rates, cpus: int) -> None:
    assert rates["mutex"][cpus] > 2 * rates["libcxx_shared_mutex"][cpus]
