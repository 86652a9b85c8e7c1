"""Whichever call on a file fails: nothing wrong is written, nothing finished is lost, one line gives the reason, and once
the disk works again the same command ends as if nothing had happened. `./dev test` tries some of the calls, `./dev fuzz`
each of them."""

import errno
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from experiments import experiment
from faulty_disk import (
    INSTALLED,
    Case,
    Fault,
    FaultyDisk,
    Outcome,
    faults_of,
    hold,
    hold_without_memory,
    make_library,
    numbers,
    sample,
    transfers,
)
from installation import ANSWERS, BROKEN_TABLE, LESSON, OSQ_HEADER, OSQ_SOURCE, UNSAFE_LOCK, install
from program import ROOT, Program

SWEEP = experiment(run="warmup_us = 1\nmeasure_us = 5\nseeds = 2", more='[sweep]\n"machine.cpus" = [1, 2]')
TIMELINE = experiment(run="warmup_us = 1\nmeasure_us = 5\nrecord_timeline = true")
PROGRAM = "#include <pthread.h>\nlong total;\nint main(void) { for (int i = 0; i < 1000; i++) *(volatile long*)&total = i; }\n"
TWO = experiment(
    workload='name = "timer_churn"', run="warmup_us = 1\nmeasure_us = 50\nseeds = 2", more='[sweep]\n"machine.cpus" = [1, 2]'
)
LACKEY = "==7== Lackey, an example Valgrind tool\nI  04001090,3\n S 1ffefff8,8\n L 1ffefff8,8\n M 04222000,4\n" * 50
BRIEFLY = ("--consistency", "sc", "--cpus", "2", "--acquisitions", "1", "--machines", "2", "-o", "shown")
ON_FOUR = ("--machine", "p3_xeon_4way", "-j", "1")

CASES = {
    "run": Case(("run", "sweep.toml", "-o", "out", "-j", "1"), ("sweep.toml",), ("out",), 25),
    "run goes on": Case(("run", "sweep.toml", "-o", "half", "-j", "1"), ("sweep.toml", "half"), ("half",), 15),
    "run again": Case(("run", "sweep.toml", "-o", "done", "-j", "1"), ("sweep.toml", "done"), ("done",), 15),
    "run fresh": Case(("run", "sweep.toml", "-o", "done", "-j", "1", "--fresh"), ("sweep.toml", "done"), ("done",), 8),
    "point": Case(("run", "sweep.toml", "-o", "half", "--point", "1"), ("sweep.toml", "half"), ("half",), 8),
    "merge": Case(("run", "sweep.toml", "-o", "done", "--merge"), ("sweep.toml", "done"), ("done",), 10, merges=True),
    "timeline": Case(("run", "timeline.toml", "-o", "out"), ("timeline.toml",), ("out",), 8),
    "record": Case(("trace", "record", "timeline.toml", "-o", "t.lbt"), ("timeline.toml",), ("t.lbt",), 12),
    "record text": Case(("trace", "record", "timeline.toml", "-o", "t.txt"), ("timeline.toml",), ("t.txt",)),
    "convert": Case(("trace", "convert", "in.lbt", "t.lbt"), ("in.lbt",), ("t.lbt",), 12),
    "convert text": Case(("trace", "convert", "in.txt", "t.lbt"), ("in.txt",), ("t.lbt",)),
    "convert foreign": Case(("trace", "convert", "--from", "dinero", "in.din", "t.lbt"), ("in.din",), ("t.lbt",)),
    "import": Case(("import", "lackey.log", "-o", "t.lbt"), ("lackey.log",), ("t.lbt",), 6),
    "info": Case(("trace", "info", "--check", "in.lbt"), ("in.lbt",), (), 6),
    "replay": Case(("trace", "replay", "of_run.lbt", "-o", "out"), ("of_run.lbt",), ("out",), merges=True),
    "find sharing": Case(("find-sharing", "of_run.lbt", "-o", "out"), ("of_run.lbt",), ("out",), 6, merges=True),
    "compare locks": Case(("compare-locks", "locks.lbt", *ON_FOUR, "-o", "out"), ("locks.lbt",), ("out",), 3, merges=True),
    "advise": Case(("advise", "locks.lbt", *ON_FOUR, "-o", "out"), ("locks.lbt",), ("out",), 4, merges=True),
    "calibrate": Case(
        ("calibrate", "--from", "matrix.csv", "-o", "mine.toml", "--family", "intel_mesh"), ("matrix.csv",), ("mine.toml",), 4
    ),
    "what if": Case(("what-if", "two.toml", "-o", "out", "-j", "1"), ("two.toml",), ("out",), 4, merges=True),
    "steps": Case(("steps", "timeline.toml", "-o", "steps.json"), ("timeline.toml",), ("steps.json",)),
    "murphi": Case(("check", "protocol.md", "--caches", "2", "--murphi", "m.m"), ("protocol.md",), ("m.m",), 6),
    "lines": Case(("lines", "done"), ("done",), (), 6),
    "recorder": Case(("record", "-o", "t.lbt", "--", "./program"), ("program",), ("t.lbt",), 12, reproducible=False),
    "report": Case(("report", "done", "-o", "page.html"), ("done",), ("page.html",), 5),
    "compare": Case(("compare", "done", "done", "-o", "page.html"), ("done",), ("page.html",), 4),
    "export": Case(("trace", "export", "timeline", "--perfetto", "t.pftrace"), ("timeline",), ("t.pftrace",), 4),
    "sweep": Case(("sweep", "sweep.toml", "-o", "out", "--workers", "1"), ("sweep.toml",), ("out",), 3, merges=True),
    "steps at": Case(("steps", "papers", "--at", "start"), (), (), 3, installed=True),
    "list": Case(("list", "experiments"), (), (), 3, installed=True),
    "describe": Case(("describe", "machine", "p3_xeon_4way"), (), (), 3, installed=True),
    "validate": Case(("validate", "-o", "out", "-j", "1"), (), ("out",), 8, installed=True, merges=True),
    "validate record": Case(
        ("validate", "-o", "out", "-j", "1", "--record"), (), ("out", f"{INSTALLED}/configs"), 8, False, True, installed=True
    ),
    "reproduce": Case(("reproduce", "papers", "-o", "out", "-j", "1"), (), ("out",), 4, installed=True, merges=True),
    "bench": Case(("bench", "--case", "replay", "--references", "3000"), (), (), 6, installed=True),
    "check lock": Case(("check-lock", "lock.lua", *BRIEFLY), ("lock.lua",), ("shown",), 8, installed=True, code=1),
    "lock": Case(("lock", "osq", "--kernel", "linux", "-o", "osq"), ("linux",), ("osq",), 12),
    "lock again": Case(("lock", "osq", "--kernel", "linux", "-o", "made"), ("linux", "made"), ("made",), 8),
    "check random": Case(("check", "--random", "1000", "--machine", "p3_xeon_4way", "-j", "1"), (), (), 3, installed=True),
    "teach": Case(("teach", "-o", "site"), (), ("site",), 5, installed=True),
    "teach serve": Case(("teach", "--serve"), (), (), 3, installed=True, until="Ctrl-C"),
    "teach list": Case(("teach",), (), (), 2, installed=True),
    "teach new": Case(("teach", "--new", "mine.md"), (), ("mine.md",), 3, installed=True, only_once=True),
    "teach check": Case(("teach", "--check", "lesson.md"), ("lesson.md",), (), 4, installed=True),
    "teach play": Case(("teach", "--lesson", "lesson.md"), ("lesson.md",), (), 3, installed=True),
    "teach grade": Case(("teach", "--grade", "handed/answers.toml"), ("handed",), (), 5, installed=True),
    "teach hand out": Case(("teach", "--hand-out", "small"), (), ("small",), 4, installed=True, only_once=True),
}


@pytest.fixture(scope="module")
def disk(executable: Path, tmp_path_factory: pytest.TempPathFactory) -> FaultyDisk:
    return make_disk(executable, tmp_path_factory.mktemp("faults"))


def make_disk(executable: Path, place: Path) -> FaultyDisk:
    """The inputs of all cases, below `place`."""
    program = Program(executable, place / "inputs")
    program.file("sweep.toml", SWEEP)
    program.file("timeline.toml", TIMELINE)
    program.file("protocol.md", (ROOT / "models/protocols/mesi_snoop.md").read_bytes())
    program.file("two.toml", TWO)
    program.file("matrix.csv", (ROOT / "docs/examples/two_sockets.csv").read_bytes())
    program.file("lackey.log", LACKEY)
    program.file("in.din", "0 1000\n1 2000\n" * 2000)
    program.file("program.c", PROGRAM)
    program.file("lock.lua", UNSAFE_LOCK)
    program.file("lesson.md", LESSON)
    program.file("handed/answers.toml", ANSWERS)
    program.file("handed/table.md", BROKEN_TABLE)
    program.file("linux/include/linux/osq_lock.h", OSQ_HEADER)
    program.file("linux/kernel/locking/osq_lock.c", OSQ_SOURCE)
    install(executable, place / "inputs" / INSTALLED)
    for arguments in [
        ("run", "sweep.toml", "-o", "half", "--point", "0"),
        ("lock", "osq", "--kernel", "linux", "-o", "made"),
        ("run", "sweep.toml", "-o", "done"),
        ("run", "timeline.toml", "-o", "timeline"),
        ("trace", "record", "timeline.toml", "-o", "of_run.lbt"),
        ("trace", "synth", "-o", "in.lbt", "--accesses", "2000"),
        ("trace", "convert", "in.lbt", "in.txt"),
        ("trace", "synth", "-o", "locks.lbt", "--accesses", "500", "--locks", "1", "--section", "5"),
    ]:
        assert program(*arguments).code == 0, arguments
    compiler = Program(executable.parent / "linebounce-cc", place / "inputs")
    assert compiler("-O2", "program.c", "-o", "program").code == 0
    return FaultyDisk(executable, make_library(place), place / "inputs", place / "runs")


@pytest.fixture(scope="module")
def undisturbed(disk: FaultyDisk) -> Callable[[Case], Outcome]:
    known: dict[Case, Outcome] = {}

    def of(case: Case) -> Outcome:
        if case not in known:
            known[case] = disk.run(case, disk.directory(case))
            assert known[case].code == case.code, known[case].errors
        return known[case]

    return of


@pytest.mark.parametrize("name", CASES)
def test_a_sample_of_failing_calls_is_handled(disk: FaultyDisk, undisturbed: Callable[[Case], Outcome], name: str) -> None:
    fail_in_turn(disk, CASES[name], undisturbed(CASES[name]), CASES[name].faults)


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_every_failing_call_is_handled(disk: FaultyDisk, undisturbed: Callable[[Case], Outcome], name: str) -> None:
    fail_in_turn(disk, CASES[name], undisturbed(CASES[name]), None)


def fail_in_turn(disk: FaultyDisk, case: Case, undisturbed: Outcome, number: int | None) -> None:
    directory = disk.directory(case)
    before = disk.run(Case(("list", "locks"), (), case.writes), directory).files
    counted = disk.run(case, directory)
    hold(case, None, counted, before, undisturbed)
    faults = list(faults_of(disk.calls()))
    assert faults
    for fault in faults if number is None else sample(faults, number):
        directory = disk.directory(case)
        outcome = disk.run(case, directory, fault.variables)
        hold(case, fault, outcome, before, undisturbed)
        if case.only_once and outcome.code == case.code:
            continue
        hold(case, None, disk.run(case, directory), before, undisturbed)


@pytest.mark.parametrize("name", CASES)
def test_short_transfers_and_signals_change_nothing(
    disk: FaultyDisk, undisturbed: Callable[[Case], Outcome], name: str
) -> None:
    case = CASES[name]
    outcome = disk.run(case, disk.directory(case), {"FAULTS_SHORT": "1"})
    hold(case, None, outcome, {}, undisturbed(case))


# Commands that consist of linebounce's own code; Python's interpreter is not tested.
IN_CPP = ["run", "run again", "timeline", "record", "convert", "info", "replay", "find sharing", "lines", "murphi", "recorder"]


SAMPLED_ALLOCATIONS, FEW_ALLOCATIONS = ["run", "record", "replay"], 4


@pytest.mark.parametrize("name", SAMPLED_ALLOCATIONS)
def test_a_sample_of_failing_allocations_is_handled(
    disk: FaultyDisk, undisturbed: Callable[[Case], Outcome], name: str
) -> None:
    fail_allocations(disk, CASES[name], undisturbed(CASES[name]), few=FEW_ALLOCATIONS)


@pytest.mark.thorough
@pytest.mark.parametrize("name", IN_CPP)
def test_every_failing_allocation_is_handled(disk: FaultyDisk, undisturbed: Callable[[Case], Outcome], name: str) -> None:
    fail_allocations(disk, CASES[name], undisturbed(CASES[name]))


def fail_allocations(disk: FaultyDisk, case: Case, undisturbed: Outcome, few: int | None = None) -> None:
    before = disk.run(Case(("list", "locks"), (), case.writes), disk.directory(case)).files
    disk.run(case, disk.directory(case))
    chosen = numbers(disk.allocations())
    assert len(chosen) > 500
    for number in random.Random(1).sample(chosen, few) if few else chosen:
        directory = disk.directory(case)
        outcome = disk.run(case, directory, {"FAULTS_MEMORY_AT": str(number)})
        hold_without_memory(case, number, outcome, before, undisturbed)
        hold(case, None, disk.run(case, directory), before, undisturbed)


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_each_transfer_is_short_or_interrupted(disk: FaultyDisk, undisturbed: Callable[[Case], Outcome], name: str) -> None:
    case = CASES[name]
    disk.run(case, disk.directory(case))
    for number in transfers(disk.calls()):
        for variables in (
            {"FAULTS_SHORT_AT": str(number)},
            {"FAULTS_AT": str(number), "FAULTS_ERROR": str(errno.EINTR)},
        ):
            hold(case, None, disk.run(case, disk.directory(case), variables), {}, undisturbed(case))


@pytest.mark.parametrize("name", ["run", "run again"])
def test_a_finished_point_that_cannot_be_read_any_more_is_not_left_out(
    disk: FaultyDisk, undisturbed: Callable[[Case], Outcome], name: str
) -> None:
    """A merge checks that each point exists at the last moment. Otherwise results without a point would be called
    complete."""
    case = CASES[name]
    directory = disk.directory(case)
    before = disk.run(Case(("list", "locks"), (), case.writes), directory).files
    disk.run(case, directory)
    reads = [call for call in disk.calls() if call.name == "open" and call.path.endswith("points/1/manifest.json")]
    fault = Fault(reads[-1], errno.EIO, is_full=False)
    outcome = disk.run(case, disk.directory(case), fault.variables)
    assert outcome.code == 3
    hold(case, fault, outcome, before, undisturbed(case))


@pytest.mark.parametrize("until", ["", "never said"])
def test_a_command_that_hangs_is_killed_with_all_that_it_started(tmp_path: Path, until: str) -> None:
    shell = FaultyDisk(Path("/bin/sh"), make_library(tmp_path), tmp_path, tmp_path / "runs", longest=1)
    hangs = Case(("-c", "sleep 100 & sleep 100"), (), until=until)
    begun = time.monotonic()
    with pytest.raises(TimeoutError, match=r"sleep 100 .* took more than 1 s"):
        shell.run(hangs, shell.directory(hangs))
    assert time.monotonic() - begun < 50
