"""What `run` prints about locks: lockmeter's table, the same figures as in locks.csv, and the races of a lock that excludes
nobody."""

import re
from pathlib import Path

from experiments import BUSY, WORKLOAD, experiment
from program import Program
from results import read_csv


def run(linebounce: Program, text: str) -> tuple[str, Path]:
    path = linebounce.file("small.toml", text)
    result = linebounce("run", path, "-o", "out")
    assert result.code == 0, result.stderr
    return result.stdout, linebounce.directory / "out"


def table_of(printed: str) -> list[str]:
    lines = printed.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("LOCKS"))
    return lines[first : lines.index("", first)]


def test_a_run_that_takes_locks_prints_them_as_lockmeter_does(linebounce: Program) -> None:
    printed, directory = run(linebounce, experiment(workload=f'name = "{WORKLOAD}"\noutside_cycles = 1500'))
    table = table_of(printed)
    assert re.match(r"LOCKS +HOLD +WAIT$", table[0])
    assert table[1].split() == [
        "UTIL",
        "CON",
        "MEAN(",
        "MAX",
        ")",
        "MEAN(",
        "MAX",
        ")(%",
        "CPU)",
        "TOTAL",
        "NOWAIT",
        "SPIN",
        "RJCT",
        "NAME",
    ]
    assert [line.split()[-1] for line in table[2:]] == ["section_lock", "critical_section"]
    assert all(len(line) <= 100 for line in table)
    lock = read_csv(directory / "locks.csv")[0]
    assert lock["total"] in table[2].split()
    assert 1 < float(lock["con_pct"]) < 99
    assert f"{float(lock['con_pct']):.1f}%" in table[2].split()


def test_the_metrics_below_the_table_of_locks_do_not_repeat_it(linebounce: Program) -> None:
    printed, _ = run(linebounce, experiment())
    assert "throughput.operations_per_s" in printed
    assert "locks.section_lock.con_pct" not in printed


def test_the_table_of_locks_is_of_the_sweeps_answered_point(linebounce: Program) -> None:
    printed, directory = run(linebounce, experiment(more='[sweep]\n"machine.cpus" = [1, 2, 4]'))
    assert "\n  Point 2: 4 CPUs\n" in printed, printed
    most = [row for row in read_csv(directory / "locks.csv") if row["point"] == "2"]
    assert most[0]["total"] in table_of(printed)[2].split()


def test_a_run_without_locks_prints_no_table_of_locks(linebounce: Program) -> None:
    printed, _ = run(linebounce, experiment(workload='name = "false_sharing"'))
    assert "LOCKS" not in printed


def test_races_of_a_lock_that_does_not_exclude_are_reported(linebounce: Program) -> None:
    printed, _ = run(linebounce, experiment(workload=f'{BUSY}\nlock = "none"'))
    told = re.search(
        r"RACE +section_lock excludes nobody: (\d+) sections overlapped another CPU's; the first: CPU (\d) came in at", printed
    )
    assert told, printed
    assert int(told[1]) >= 2


def test_a_lock_that_keeps_others_out_has_no_races(linebounce: Program) -> None:
    printed, _ = run(linebounce, experiment())
    assert "RACE" not in printed
