"""After Ctrl-C during the writing of a trace, the previous file is still there, and nothing else."""

import resource
import signal
from collections.abc import Iterator

import pytest
from linebounce.interrupts import INTERRUPTS
from program import Program, interrupt, wait_until

# Each command writes out.lbt for several seconds at least.
COMMANDS = {
    "synth": ("synth", "-o", "out.lbt", "--accesses", "1000000000"),
    "record": ("record", "timer_churn", "-o", "out.lbt", "--set", "run.measure_us=100000000"),
    "convert": ("convert", "in.lbt", "out.lbt"),
    "convert_foreign": ("convert", "--from", "dinero", "in.din", "out.lbt"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupt_keeps_the_existing_file(linebounce: Program, name: str) -> None:
    directory = linebounce.directory
    if name == "convert":
        assert linebounce("trace", "synth", "-o", "in.lbt", "--accesses", "5000000", "--between", "0").code == 0
    if name == "convert_foreign":
        linebounce.file("in.din", "0 1000\n1 2000\n" * 5000000)
    linebounce.file("out.lbt", "what was there before")
    before = sorted(path.name for path in directory.iterdir())
    for number in (signal.SIGINT, signal.SIGTERM):
        process = linebounce.start("trace", *COMMANDS[name])
        wait_until((directory / ".out.lbt").exists, process)
        result = interrupt(process, number)
        assert (result.code, result.stdout, result.stderr) == (130, "", "linebounce: interrupted; nothing was written\n")
        assert sorted(path.name for path in directory.iterdir()) == before
        assert (directory / "out.lbt").read_text() == "what was there before"


@pytest.fixture
def without_core_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, before)


@pytest.mark.usefixtures("signals_count", "without_core_files")
def test_every_signal_that_asks_a_process_to_end_leaves_no_unfinished_file(linebounce: Program) -> None:
    """SIGQUIT still makes the program dump core, once the file is gone."""
    for number in (*INTERRUPTS, signal.SIGPIPE):
        process = linebounce.start("trace", *COMMANDS["synth"])
        wait_until((linebounce.directory / ".out.lbt").exists, process)
        result = interrupt(process, number)
        assert result.code == (-signal.SIGQUIT if number == signal.SIGQUIT else 130), number
        assert result.stderr == "linebounce: interrupted; nothing was written\n", number
        assert not list(linebounce.directory.iterdir()), number


def test_a_failed_conversion_keeps_the_existing_file(linebounce: Program) -> None:
    linebounce.file("in.din", "0 1000\n7 2000\n")
    linebounce.file("out.lbt", "what was there before")
    linebounce.refused("trace", "convert", "--from", "dinero", "in.din", "out.lbt", code=3)
    assert (linebounce.directory / "out.lbt").read_text() == "what was there before"
    assert sorted(path.name for path in linebounce.directory.iterdir()) == ["in.din", "out.lbt"]


def test_a_trace_is_written_over_an_earlier_one(linebounce: Program) -> None:
    linebounce.file("out.lbt", "what was there before")
    assert linebounce("trace", "synth", "-o", "out.lbt", "--accesses", "10").code == 0
    assert linebounce("trace", "info", "out.lbt", "--check").code == 0
    assert [path.name for path in linebounce.directory.iterdir()] == ["out.lbt"]
