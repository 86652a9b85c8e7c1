"""What commands print fits the terminal, whatever its width; docs/terminal.md shows the exact output."""

from pathlib import Path

import pytest
import terminal_captures
from program import ROOT, Program
from terminal_captures import run_in_terminal


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, executable: Path) -> Path:
    directory = tmp_path_factory.mktemp("terminal")
    (directory / "two_locks.toml").write_text(terminal_captures.EXPERIMENT)
    program = Program(executable, directory)
    for arguments in [*terminal_captures.BEFORE, ("run", "two_locks.toml", "--quiet")]:
        assert program(*arguments).code == 0
    return directory


COMMANDS = [
    *terminal_captures.COMMANDS,
    ("run", "two_locks.toml", "--all-metrics"),
    ("list",),
    ("list", "locks"),
    ("describe", "machine", "numaq_16way"),
    ("describe", "workload", "critical_section"),
    ("describe", "ticket"),
    ("check-lock", "ticket", "--machines", "0", "--cpus", "2"),
    ("reproduce", "operation_costs"),
]


@pytest.mark.parametrize("columns", [72, 80, 100, 120])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_output_is_wider_than_the_terminal(
    results: Path, executable: Path, arguments: tuple[str, ...], columns: int
) -> None:
    code, text = run_in_terminal([str(executable), *arguments], columns, results)
    assert code == 0, text
    assert [line for line in text.splitlines() if len(line) > columns] == []


HELP = [
    "",
    "run",
    "check",
    "trace",
    "trace record",
    "check-lock",
    "advise",
    "sweep",
    "compare",
    "report",
    "tables",
    "teach",
    "trace export",
]


@pytest.mark.parametrize("columns", [72, 100])
@pytest.mark.parametrize("words", [*(f"{command} --help" for command in HELP), "run nothing_of_this_name", "run --nothing"])
def test_help_and_errors_fit_the_terminals_width(executable: Path, tmp_path: Path, words: str, columns: int) -> None:
    _, text = run_in_terminal([str(executable), *words.split()], columns, tmp_path)
    assert len(text) > 50
    assert [line for line in text.splitlines() if len(line) > columns] == []


def test_an_example_and_its_result_are_next_to_or_below_each_other(executable: Path, tmp_path: Path) -> None:
    command = "linebounce describe machine p3_xeon_4way"
    words = "draw a machine, list its parameters and their sources"
    wide = run_in_terminal([str(executable), "--help"], 100, tmp_path)[1].splitlines()
    narrow = run_in_terminal([str(executable), "--help"], 72, tmp_path)[1].splitlines()
    assert next(line for line in wide if command in line).endswith(words)
    assert narrow[narrow.index(f"  {command}") + 1].strip() == words


def test_the_page_of_captures_is_what_commands_print(executable: Path) -> None:
    assert terminal_captures.captures(executable) == (ROOT / "docs" / "terminal.md").read_text(encoding="utf-8"), (
        "run tools/terminal_captures.py, and look at what it has written"
    )


def test_a_sweep_with_a_failed_point_counts_it_and_says_so_in_its_row(linebounce: Program) -> None:
    experiment = linebounce.file("mistakes.toml", MISTAKES)
    result = linebounce("run", experiment, "-o", "out")
    assert "2 points, 1 FAILED" in result.stdout
    assert "FAILED" in next(line for line in result.stdout.splitlines() if line.strip().startswith("deadlock"))


def test_output_about_one_point_names_the_point(linebounce: Program) -> None:
    """Output about one point names it: the answer's point, the chosen one, or the only one that finished."""
    linebounce.file("mistakes.toml", MISTAKES)
    text = linebounce("run", "mistakes.toml", "-o", "out").stdout
    assert "\n  Point 0: none\n" in text
    linebounce.file("locks.toml", terminal_captures.EXPERIMENT)
    text = linebounce("run", "locks.toml", "-o", "locks").stdout
    assert "\n  Point 5: mcs at 4 CPUs\n" in text
    chosen = linebounce("run", "locks.toml", "-o", "locks", "--point", "lock=ticket,cpus=2").stdout
    assert "\n  Point 1: ticket at 2 CPUs\n" in chosen
    refused = linebounce.refused("run", "locks.toml", "-o", "locks", "--point", "lock=tas")
    assert "no point has these settings; there are workload.lock: ticket, mcs" in refused


MISTAKES = """
name    = "mistakes"
title   = "One point ends in an error"
machine = "p3_xeon_4way"
[workload]
name = "lock_mistakes"
[run]
measure_us = 50
[sweep]
"workload.mistake" = ["none", "deadlock"]
"""


def test_all_metrics_stand_behind_the_headlines_by_group(linebounce: Program) -> None:
    out = linebounce(
        "run",
        "lock_scaling",
        "--all-metrics",
        "--set",
        "workload.lock=mcs",
        "-o",
        "out",
        "--set",
        "run.seeds=1",
        *terminal_captures.SHORT[:-1],
    )
    text = out.stdout
    assert text.index("operations/s") < text.index("\n  throughput\n") < text.index("\n  latency\n")
    assert "bus.transactions" in text
    assert "--all-metrics" not in text


# ---- what commands may leave out ----


def test_list_without_a_kind_shows_the_kinds(linebounce: Program) -> None:
    shown = linebounce("list").stdout
    assert [line.split()[0] for line in shown.splitlines()][:2] == ["machines", "experiments"]


def test_describe_finds_the_kind(linebounce: Program) -> None:
    assert linebounce("describe", "mesi_snoop").stdout == linebounce("describe", "protocol", "mesi_snoop").stdout
    assert "throughput" in linebounce("describe", "throughput.operations_per_s").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["describe", "machine"], "which machine? `linebounce list machines`"),
        (["describe", "lock_scaling_"], "did you mean lock_scaling?"),
        (["describe", "machine", "p3_xeon"], "did you mean p3_xeon_4way or p3_xeon_8way?"),
        (["describe", "litmus"], "linebounce describe experiment litmus, linebounce describe workload litmus"),
    ],
)
def test_describe_names_the_known_ones_if_it_finds_nothing(linebounce: Program, arguments: list[str], said: str) -> None:
    assert said in linebounce.refused(*arguments)


# ---- machines ----

MACHINE = """
name = "mine"
title = "A machine in a few lines"
cpus = 2
[cpu]
clock_mhz = 2000
[cache.L1]
size_kib = 32
ways = 8
line_bytes = 64
hit_latency_cycles = 4
[bus]
protocol = "mesi_snoop"
clock_mhz = 200
width_bytes = 8
[memory]
latency_ns = 100
"""


def test_a_machine_without_latencies_that_matter_is_warned_of_by_name(linebounce: Program) -> None:
    machine = linebounce.file("mine.toml", MACHINE)
    left_out = "machine.bus.intervention_clocks"
    assert left_out in linebounce("describe", "machine", machine).stdout
    run = ["run", "lock_scaling", "--machine", machine, "-o", "out", "--set", "run.seeds=1", "--set", "run.measure_us=20"]
    run += ["--set", "machine.cpus=2", "--set", "workload.lock=tas"]
    assert left_out in linebounce(*run).stdout
    given = [*run, "--fresh", "--set", "machine.bus.intervention_clocks=2"]
    assert left_out not in linebounce(*given).stdout
    assert "leaves out" not in linebounce("describe", "machine", "p3_xeon_4way").stdout


def test_steps_of_three_cpus_are_below_each_other_in_a_narrow_window(linebounce: Program, executable: Path) -> None:
    linebounce.file("broken.lua", BROKEN_LOCK)
    command = [str(executable), "check-lock", "broken.lua", "--cpus", "3", "--machines", "0"]
    for columns, heads in ((72, 0), (120, 1)):
        code, text = run_in_terminal(command, columns, linebounce.directory)
        assert code == 1
        assert len([line for line in text.splitlines() if line.split() == ["CPU", "0", "CPU", "1", "CPU", "2"]]) == heads
        assert text.count("[inside]") >= 2
        assert [line for line in text.splitlines() if len(line) > columns] == []


BROKEN_LOCK = """
title = "Looks first, then takes"
traits = { fits_4_bytes = true }
function setup() return lock_word(structure { name = "broken_lock", "held:4" }) end
function acquire(cpu, lock)
  cpu:spin_until(lock.held, "==", 0)
  cpu:store(lock.held, 1)
  return false
end
function release(cpu, lock) cpu:store_release(lock.held, 0) end
"""
