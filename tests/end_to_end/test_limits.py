"""Limits and sums: Lua programs that would run or allocate without end, machines of absurd size, and parts that never exceed
their whole. Each case gives one message with an exit code of the contract, or a result."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from program import MACHINES, Program

TOO_SMALL = "the stack is too small: ulimit -s limits it to 64 KiB; at least 256 are needed\n"
FOUR_WAY = ("--machine", "p3_xeon_4way")


def lua(setup: str = "", run: str = "", head: str = "ends = true") -> str:
    word = 't = place(structure { name = "t", "a" }, "t")'
    return f"{head}\nfunction setup() {word} {setup} end\nfunction run(cpu)\ncpu:load(t.a)\n{run}\nend\n"


# Makes a list whose border, as Lua's # operator finds it, is far larger than its number of elements.
FAR = (
    "local x, i = {}, 1 while i > 0 do x[i] = 1 i = i << 1 end while #x < 1 << 40 do x[#x + 1] = 1 end table.insert(x, 1, 1)\n"
)
LOCK = "function acquire(cpu, lock) return false end function release(cpu, lock) end\n"

# By name: a program, and the message about it.
REFUSED = {
    "work in Lua's library": (lua(run=FAR), "table.insert: more than"),
    "no end in no time": (lua(run="while true do cpu:random(2) end", head=""), "in no simulated time"),
    "the host's addresses": (lua(run='error(string.format("\\0%p", ("x"):rep(50)))'), "%p shows an address"),
    "less than nothing": (lua(run="cpu:tally(nil, -1)"), "-1 counted; legal: 0 to 1000000000000"),
    "a name in other bytes": (lua(setup="place_array('\\xfe', 64)"), r'"\xfe" must be UTF-8'),
    "a title in other bytes": (lua(head="title = '\\xff'"), "must be UTF-8"),
    "an error in other bytes": (lua(run="error('\\xff')"), r"CPU 0: \xff"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_program_is_refused_in_one_line(linebounce: Program, what: str) -> None:
    text, said = REFUSED[what]
    shown = linebounce.refused("run", linebounce.file("p.lua", text), *FOUR_WAY, "--set", "run.measure_us=50")
    assert said in shown
    assert "p.lua:" in shown


@pytest.mark.parametrize(
    "command",
    [("describe", "workload", "p.lua"), ("run", "p.lua", *FOUR_WAY, "--plan"), ("check-lock", "p.lua")],
    ids=lambda it: it[0],
)
def test_commands_that_only_read_a_file_have_the_same_limits(linebounce: Program, command: tuple[str, ...]) -> None:
    linebounce.file("p.lua", FAR + lua() + (LOCK if command[0] == "check-lock" else ""))
    assert "table.insert: more than" in linebounce.refused(*command)


def test_a_programs_computed_values_are_the_same_in_every_run(linebounce: Program) -> None:
    """A program's results don't depend on addresses, and neither does its number of instructions, although Lua hashes
    addresses."""
    look = (
        "local s = tostring(cpu.load) .. tostring({}) .. tostring(t) for c in pairs { a = 1, b = 2, [3] = 1 } do s = s .. c end"
    )
    file = linebounce.file("p.lua", lua(run=look + " cpu:compute(#s * 1000 + s:byte(#s))"))
    outs = [linebounce.run(file, f"out{number}", *FOUR_WAY) for number in range(3)]
    for out in outs[1:]:
        assert (out / "results.json").read_bytes() == (outs[0] / "results.json").read_bytes()


def test_counts_that_overflow_are_reported(linebounce: Program) -> None:
    file = linebounce.file(
        "p.lua", lua(run="for i = 1, 10000 do cpu:compute(1) for j = 1, 1000 do cpu:tally(nil, 1000000000000) end end")
    )
    result = linebounce("run", file, *FOUR_WAY, "--set", "machine.cpus=1", "-o", "out")
    assert result.code == 4
    assert "tally of 1000000000000" in result.stderr


def test_a_run_whose_time_would_overflow_is_reported(linebounce: Program) -> None:
    file = linebounce.file("p.lua", lua(run="for i = 1, 100 do cpu:compute(1000000000000) end"))
    result = linebounce("run", file, *FOUR_WAY, "--set", "machine.cpu.clock_mhz=0.015625", "-o", "out")
    assert result.code == 4
    assert "compute of 1000000000000" in result.stderr or "simulate less time" in result.stderr


@pytest.mark.parametrize("cpus", [1, 4])
def test_a_lock_that_is_never_released_is_a_deadlock_or_nothing(linebounce: Program, cpus: int) -> None:
    file = linebounce.file("p.lua", lua(setup='l = lock("ticket", "l")', run="cpu:acquire(l)"))
    result = linebounce("run", file, *FOUR_WAY, "--set", f"machine.cpus={cpus}", "-o", "out")
    assert result.code == (0 if cpus == 1 else 4)
    assert ("CPU 0 holds l" in result.stderr) == (cpus > 1)


def test_an_endless_program_needs_a_time_limit(linebounce: Program) -> None:
    file = linebounce.file("p.lua", lua(run="while true do cpu:load(t.a) end", head=""))
    assert "run.measure_us" in linebounce.refused("run", file, *FOUR_WAY, "--set", "run.measure_us=0")


def with_stack(kib: int, *command: str | Path) -> tuple[int, str]:
    """Exit code and standard error of a command whose stack is limited."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (kib << 10, kib << 10)),
    )
    return done.returncode, done.stderr


@pytest.mark.uninstrumented
def test_a_stack_that_is_too_small_is_an_error_and_the_least_one_is_enough(linebounce: Program) -> None:
    recorder = linebounce.executable.parent / "linebounce-record"
    assert with_stack(64, linebounce.executable, "list", "locks") == (4, f"linebounce: {TOO_SMALL}")
    assert with_stack(64, recorder, "--help") == (2, f"linebounce-record: {TOO_SMALL}")
    assert with_stack(64, linebounce.executable, "compare", "--help") == (4, f"linebounce: {TOO_SMALL}")
    deep = linebounce.file("deep.lua", f"x = {'(' * 100_000}1{')' * 100_000}")
    out = linebounce.directory / "out"
    code, said = with_stack(256, linebounce.executable, "run", deep, *FOUR_WAY)
    assert (code, "C stack overflow" in said) == (2, True), said
    path = linebounce.file("p.lua", lua(run="cpu:fetch_add(t.a, 1)"))
    assert with_stack(256, linebounce.executable, "run", path, *FOUR_WAY, "-o", out)[0] == 0
    assert with_stack(256, sys.executable, "-m", "linebounce.compare.command", out, out)[0] == 0


SLOW_BUS = {"bus.clock_mhz": 0.5, "bus.width_bytes": 1, "memory.latency_ns": 1, "memory.bank_busy_ns": 0}


@pytest.mark.parametrize("measured_us", [0, 700, 1000])
@pytest.mark.parametrize("machine", ["p3_xeon_4way", "numaq_16way"])
def test_nothing_is_busy_for_longer_than_there_is_time(linebounce: Program, machine: str, measured_us: int) -> None:
    """The transfer lasts beyond the end of the run. Only its part within the measured time counts."""
    once = "cpu:compute(cpu.id * 13) cpu:fetch_add(t.a, 1) cpu:store(b + 4096 * cpu.id, 1)"
    again = f"for i = 1, 40 do {once} end"
    file = linebounce.file("p.lua", lua(setup="b = place_array('b', 1 << 20)", run=again if measured_us else once))
    sets = [word for path, value in SLOW_BUS.items() for word in ("--set", f"machine.{path}={value}")]
    out = linebounce.run(file, "out", "--machine", machine, *sets, "--set", f"run.measure_us={measured_us}")
    (point,) = json.loads((out / "results.json").read_text())["points"]
    busy = {name: metric["value"] for name, metric in point["metrics"].items() if name.endswith("utilisation_pct")}
    assert busy["bus.utilisation_pct"] > 20
    assert max(busy.values()) <= 100


@pytest.mark.parametrize(("line", "width"), [(4096, 8), (4096, 256), (8, 1), (256, 256), (512, 512)])
def test_random_references_find_no_error_on_lines_and_buses_of_any_size(linebounce: Program, line: int, width: int) -> None:
    text = (MACHINES / "p3_xeon_4way.toml").read_text(encoding="utf-8")
    for old, new in [("line_bytes = 32", f"line_bytes = {line}"), ("width_bytes = 8", f"width_bytes = {width}")]:
        assert old in text
        text = text.replace(old, new)
    file: Path = linebounce.file("edge.toml", text)
    result = linebounce("check", "--random", "60000", "--machine", file, "-j", "1")
    assert result.code == 0, result.stdout + result.stderr


def test_a_bus_that_does_not_fit_the_nodes_is_refused_before_the_run(linebounce: Program) -> None:
    shown = linebounce.refused(
        "run", "lock_scaling", "--machine", "p3_xeon_8way", "--set", "machine.bus.protocol=moesi_snoop", "--plan"
    )
    assert "--set: machine.bus.protocol: moesi_snoop cannot be used with mesi_node_tags and mesi_directory_tags" in shown
    assert "legal with those: mesi_migratory_snoop, mesi_snoop, msi_snoop" in shown
    sets = ("--set", "machine.bus.protocol=mesi_migratory_snoop")
    assert linebounce("run", "lock_scaling", "--machine", "p3_xeon_8way", *sets, "--plan").code == 0
