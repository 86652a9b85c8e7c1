"""`linebounce validate EXPERIMENT --against FILE.csv`: a user's own measurements, each beside its simulated figure."""

import json

import pytest
from program import Program

LOCKS = """\
name    = "my_locks"
title   = "Two locks"
machine = "p3_xeon_4way"

[workload]
name           = "critical_section"
outside_cycles = 20000

[run]
warmup_us  = 20
measure_us = 100

[sweep]
"workload.lock" = ["tas", "mcs", "ticket"]
"machine.cpus"  = [1, 2, 4]
"""
METRIC = "throughput.operations_per_s"


def scored(linebounce: Program, text: str, *options: str, code: int = 0) -> list[dict]:
    linebounce.file("my_locks.toml", LOCKS)
    linebounce.file("mine.csv", text)
    result = linebounce("validate", "my_locks.toml", "--against", "mine.csv", "--json", *options)
    assert result.code == code, result.stderr
    return json.loads(result.stdout)["cells"]


def test_own_measurements_are_scored_cell_by_cell(linebounce: Program) -> None:
    # 3 CPUs are not in the experiment's sweep: the file decides which points are run.
    first = scored(linebounce, f"workload.lock,machine.cpus,metric,measured\nmcs,3,{METRIC},1\ntas,1,{METRIC},1\n")
    assert [cell["settings"] for cell in first] == [
        {"machine.cpus": "3", "workload.lock": "mcs"},
        {"machine.cpus": "1", "workload.lock": "tas"},
    ]
    three, one = (cell["simulated"] for cell in first)
    assert three > one
    text = "settings;metric;measured;tolerance;note\n" + "".join(
        f"workload.lock={lock} machine.cpus={cpus};{METRIC};{value:.0f};{tolerance};remark\n"
        for lock, cpus, value, tolerance in (
            ("mcs", 3, three * 1.04, "5 %"),
            ("tas", 1, one * 1.04, "0.01"),
            ("tas", 1, one, ""),
        )
    )
    cells = scored(linebounce, text, code=1)
    assert [cell["within"] for cell in cells] == [True, False, True]
    assert [cell["tolerance"] for cell in cells] == [0.05, 0.01, 0.15]
    shown = linebounce("validate", "my_locks.toml", "--against", "mine.csv")
    assert shown.code == 1
    assert "3 measured figures of mine.csv: 2 of 3 within tolerance" in shown.stdout
    assert "-3.85 %" in shown.stdout or "-3.8 %" in shown.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"machine.cpus,metric,measured\n1,{METRIC},5\n", "sweeps workload.lock, which the file has no column for"),
        (f"machine.cpus,metric,measured\n1,{METRIC},fast\n", 'line 2: "fast" is not a measured figure'),
        (f"machine.cpus,metric,measured\n1,{METRIC}\n", "line 2: expected 3 cells, found 2"),
        ("machine.cpus,measured\n1,2\n", "line 1: expected the columns' titles"),
        ("metric,measured\n", "has no measurements"),
        (f"settings,metric,measured\nlock=mcs machine.cpus=1,{METRIC},5\n", "lock"),
    ],
)
def test_a_file_that_names_no_point_is_refused(linebounce: Program, text: str, message: str) -> None:
    linebounce.file("my_locks.toml", LOCKS)
    linebounce.file("mine.csv", text)
    assert message in linebounce.refused("validate", "my_locks.toml", "--against", "mine.csv")


def test_measurements_are_of_one_experiment_on_any_machine(linebounce: Program) -> None:
    linebounce.file("my_locks.toml", LOCKS)
    linebounce.file("mine.csv", f"workload.lock,machine.cpus,metric,measured\nmcs,1,{METRIC},1\n")
    assert "--against needs one experiment" in linebounce.refused("validate", "--against", "mine.csv")
    assert "--machine needs --against" in linebounce.refused("validate", "--machine", "p3_xeon_8way")
    (old,) = scored(linebounce, (linebounce.directory / "mine.csv").read_text())
    (new,) = scored(
        linebounce, (linebounce.directory / "mine.csv").read_text(), "--machine", "generic_2socket_32core", "--fresh"
    )
    assert new["simulated"] > old["simulated"]
