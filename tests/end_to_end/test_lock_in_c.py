"""Locks in C: checked and timed as they are, with the verdicts and figures of the same locks in Lua."""

import json
import os
import shutil
from pathlib import Path

import pytest
from program import ROOT, Program
from results import metrics_at

HERE = Path(__file__).resolve().parent / "locks_in_c"
LUA = ROOT / "programs" / "locks"
TICKET = LUA / "ticket.c"
# A lock in C, and the same one in Lua.
PAIRS = {
    "ticket": (TICKET, LUA / "ticket.lua"),
    "mcs": (HERE / "mcs.c", LUA / "mcs.lua"),
    "clh": (HERE / "clh.c", LUA / "clh.lua"),
    "rwlock": (HERE / "rwlock.c", LUA / "rwlock.lua"),
    "broken": (HERE / "broken.c", HERE / "broken.lua"),
}
MACHINES = ["p3_xeon_8way", "generic_2socket_32core", "epyc_7742_2socket", "itanium2_two_node_16way", "numaq_16way"]
ONE_LOCK = """name = "one_lock"
title = "One lock"
machine = "p3_xeon_4way"
[workload]
name = "critical_section"
lock = "LOCK"
[run]
warmup_us = 10
measure_us = 50
"""


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


def verdicts(linebounce: Program, *arguments: str | Path) -> list[str]:
    result = linebounce("check-lock", *arguments, "--quick", "--json")
    return [lock["verdict"] for lock in json.loads(result.stdout)]


@pytest.mark.parametrize("name", PAIRS)
def test_a_lock_in_c_has_the_verdict_of_the_same_lock_in_lua(linebounce: Program, name: str) -> None:
    in_c, in_lua = PAIRS[name]
    both = [verdicts(linebounce, path, "--states", "4000") for path in (in_c, in_lua)]
    assert both[0] == both[1]
    assert (both[0] == ["broken"]) == (name == "broken")


@pytest.mark.parametrize("machine", MACHINES)
def test_a_lock_in_c_is_as_fast_as_the_same_lock_in_lua(linebounce: Program, machine: str) -> None:
    names = [name for name in PAIRS if name != "broken"]
    paths = [path for name in names for path in PAIRS[name]]
    locks = json.dumps([str(path) for path in paths])
    directory = linebounce.run(
        "lock_scaling",
        "out",
        f"--set=workload.lock={locks}",
        f"--set=machine={machine}",
        "--set=machine.cpus=8",
        "--set=run.measure_us=300",
        "--quiet",
        "--unchecked",
    )
    points = json.loads((directory / "results.json").read_text())["points"]
    figures = {
        point["at"]["workload.lock"]: (
            point["metrics"]["throughput.operations_per_s"]["value"],
            point["metrics"]["lock.transfers_per_acquisition"]["value"],
        )
        for point in points
    }
    rates: dict[str, list[float]] = {"c": [], "lua": []}
    for name in names:
        in_c, in_lua = (figures[str(path)] for path in PAIRS[name])
        assert in_c[0] == pytest.approx(in_lua[0], rel=0.05), name
        assert in_c[1] == pytest.approx(in_lua[1], rel=0.01), name
        rates["c"].append(in_c[0])
        rates["lua"].append(in_lua[0])
    order = [sorted(range(len(names)), key=rates[language].__getitem__) for language in rates]
    assert order[0] == order[1]
