"""`linebounce steps`: gives the same document whatever the engine's settings, and each step begins where the previous one
ended."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from experiments import experiment
from program import ROOT, Program
from test_random_differential import MACHINES as ODD_MACHINES
from test_random_differential import machine_and_seed
from ways import Way, assert_every_way_has_the_same_steps

PROTOCOLS = ROOT / "models" / "protocols"
ROW, ACCESS, MESSAGE, OPERATION, BUFFER, DIRECTORY, DATA = range(7)
LOAD, STORE, ATOMIC = range(3)
LEAVES, ENTERS, FOUND = range(3)
FAR = 2  # the value of `hit` for an atomic that memory runs

PROGRAM = """\
title = "Two words"
ends = true

function setup()
  x = place_array("x", 8)
  y = place_array("y", 8)
  pair = place(structure { name = "pair", "a", "b" }, "pair")
end

function run(cpu)
  if cpu.id == 0 then
    cpu:store(x, 3)
    cpu:store(pair.b, 7)
    cpu:fence()
    cpu:store(y, 1)
  elseif cpu.id == 1 then
    cpu:spin_until(y, "==", 1)
    cpu:load(x)
    cpu:fetch_add(x, 2)
  end
  cpu:load(pair.a)
end
"""
LINE_OF_LOAD = 1 + PROGRAM.splitlines().index("    cpu:load(x)")


def steps(program: Program, *arguments: str | Path, code: int = 0) -> dict:
    result = program("steps", *arguments)
    assert result.code == code, result.stderr
    return json.loads(result.stdout)


def random_file(program: Program, seed: int = 1, operations: int = 250) -> Path:
    lines = f"shared_lines = {1 + seed % 5}\nprivate_lines = {10 + 50 * (seed % 2)}"
    workload = f'name = "random_references"\noperations = {operations}\n{lines}'
    return program.file("random.toml", experiment(workload=workload, run="measure_us = 0"))


def program_file(program: Program) -> Path:
    return program.file("two_words.lua", PROGRAM)


def number(value: int | str) -> int:
    return value if isinstance(value, int) else int(value, 16)


def assert_copy(copies: dict, keeper: int, word: tuple[int, int, int, int], where: tuple) -> None:
    """Checks that the word (address, bytes, old value or -1, new value) had the old value in the copy, and sets the new one."""
    address, size, old, new = word
    for byte in range(size):
        assert old == -1 or copies[keeper, address + byte] == old >> 8 * byte & 255, where
        copies[keeper, address + byte] = new >> 8 * byte & 255


def assert_fits_together(document: dict) -> Counter:
    """Checks that every row begins in the state, and every access finds the bytes, that the previous step left."""
    states, memory, seen, time, copies = {}, {}, Counter(), 0, {}
    caches = {number: place for place, (kind, number, *_) in enumerate(document["endpoints"]) if kind == "cache"}
    assert len(document["sentences"]) == len(document["log"])
    for step, sentence in zip(document["log"], document["sentences"], strict=True):
        assert step[0] >= time, step
        time, kind = step[0], step[1]
        seen[kind] += 1
        assert sentence[0].isupper() or sentence.startswith("0x"), sentence
        assert sentence.endswith("."), sentence
        assert "  " not in sentence, sentence
        if kind == ROW:
            _, _, controller, agent, line, state, event, after = step
            table = document["tables"][controller]
            assert states.get((controller, agent, line), 0) == state, (step, sentence)
            assert table["lines"][state * len(table["events"]) + event] > 0, step
            states[controller, agent, line] = after
        elif kind == ACCESS:
            address, size, old, new = number(step[5]), step[6], number(step[7]), number(step[8])
            for byte in range(size):
                assert memory.get(address + byte, old >> 8 * byte & 255) == old >> 8 * byte & 255, (step, sentence)
                memory[address + byte] = new >> 8 * byte & 255
            if step[9] != FAR:
                assert_copy(copies, caches[step[2]], (address, size, old, new), (step, sentence))
        elif kind == MESSAGE:
            assert max(step[2], step[3]) < len(document["endpoints"]), step
            assert step[4] < len(document["messages"]), step
            assert step[6] == -1 or step[6] >= time, step
        elif kind == DATA:
            word = (number(step[3]), step[4], number(step[5]), number(step[6]))
            assert_copy(copies, step[2], word, (step, sentence))
        elif kind == OPERATION:
            assert step[3] < len(document["operations"]), step
    return seen


# Names from MACHINES of test_random_differential.py that together cover every part of the engine. Groups are tested on a
# shipped machine.
CHOSEN = [
    "plain",
    "tiny",
    "starved",
    "tso, one entry",
    "ia64, starved",
    "two threads, tiny, ia64",
    "four threads, starved, tso",
    "upgrades retried, two threads, tiny",
    "dragon, tiny, starved, tso",
    "dragon, two threads, tiny, ia64",
    "footprint, tiny, starved, tso",
    "today, two threads, tiny, tso, footprint",
    "pairs, four threads, tiny, tso",
    "mesi nodes, tiny",
    "moesi nodes, starved, ia64",
    "mesif nodes, two threads, tso",
    "broadcast nodes, two threads, tso",
    "filter nodes, starved, ia64",
    "far, tiny, starved, tso",
    "far nodes, two threads, tso",
    "home snoop, two threads, tso",
]


@pytest.mark.parametrize("name", CHOSEN)
def test_steps_fit_together_and_no_speed_up_changes_them(linebounce: Program, name: str) -> None:
    seed = 1 + CHOSEN.index(name) % 4
    document = assert_every_way_has_the_same_steps(linebounce, random_file(linebounce, seed), *machine_and_seed(name, seed))
    assert document["exit"] == 0, document["error"]
    seen = assert_fits_together(document)
    assert min(seen[ROW], seen[ACCESS], seen[MESSAGE], seen[OPERATION]) > 500, seen
    assert seen[BUFFER] > 50, seen
    assert (seen[DIRECTORY] > 0) == ("nodes" in name and "broadcast" not in name), seen


def test_steps_of_a_machine_with_groups_fit_together(linebounce: Program) -> None:
    workload = 'name = "random_references"\noperations = 40\nshared_lines = 3'
    top = 'machine = "generic_chiplet_64core"'
    file = linebounce.file("groups.toml", experiment(workload=workload, run="measure_us = 0", top=top))
    document = assert_every_way_has_the_same_steps(linebounce, file, "--set", "machine.cpus=12", ways=[Way.BOTH_OFF])
    assert document["groups"] > 0
    assert_fits_together(document)
    assert {step[2] for step in document["log"] if step[1] == ROW} == {0, 2, 3, 4}


def test_every_chosen_machine_is_one_of_the_odd_machines() -> None:
    assert set(CHOSEN) <= set(ODD_MACHINES)


def test_spins_are_reported_equally_whether_parked_or_not(linebounce: Program) -> None:
    file = linebounce.file("busy.toml", experiment(run="warmup_us = 1\nmeasure_us = 6"))
    for lock in ("ticket", "mcs", "tas"):
        lock_set = ["--set", f"workload.lock={lock}"]
        document = assert_every_way_has_the_same_steps(linebounce, file, *lock_set, ways=[Way.BOTH_OFF])
        assert_fits_together(document)
        operations = {document["operations"][step[3]] for step in document["log"] if step[1] == OPERATION}
        assert ("spin" in operations) == (lock != "tas")


@pytest.mark.parametrize("machine", ["p3_xeon_4way", "numaq_16way"])
def test_a_limit_keeps_the_first_steps(linebounce: Program, machine: str) -> None:
    arguments = [random_file(linebounce), "--machine", machine, "--set", "machine.cpus=4"]
    whole = steps(linebounce, *arguments)
    for limit in (1, 100, 777):
        document = assert_every_way_has_the_same_steps(linebounce, *arguments, "--steps", str(limit), ways=[Way.BOTH_OFF])
        assert document["cut"]
        assert not whole["cut"]
        first, all_steps = ([step for step in one["log"] if step[1] != DATA] for one in (document, whole))
        assert len(first) == limit
        last = first[-1][0]
        for cut, step in zip(first, all_steps, strict=False):
            late = step[1] == MESSAGE and step[6] > last
            assert cut == ([*step[:6], -1, *step[7:]] if late else step)


def test_a_program_has_its_lines_words_and_text(linebounce: Program) -> None:
    document = steps(linebounce, program_file(linebounce), "--machine", "p3_xeon_4way", "--set", "machine.cpus=2")
    assert_fits_together(document)
    assert document["program"]["text"] == PROGRAM
    assert document["program"]["functions"] == {"setup": 4, "run": 10}
    words = {name: (first, last) for _, _, name, first, last in document["words"]}
    assert words == {"x": (0, 5), "y": (0, 1), "pair.a": (0, 0), "pair.b": (0, 7)}
    loads = [step for step in document["log"] if step[1] == OPERATION and step[2] == 1 and step[7] == LINE_OF_LOAD]
    assert [document["operations"][step[3]] for step in loads] == ["load"]
    assert f"CPU 1 comes to line {LINE_OF_LOAD} and is to load x." in document["sentences"]
    assert "CPU 1 reads 3 from x." in document["sentences"]
    assert "CPU 1 changes x from 3 to 5 in one indivisible step." in document["sentences"]


@pytest.mark.parametrize("machine", ["p3_xeon_4way", "numaq_16way"])
def test_every_store_in_a_store_buffer_leaves_it(linebounce: Program, machine: str) -> None:
    tso = ["--set", "machine.cpu.consistency=tso", "--set", "machine.cpu.store_buffer_entries=4"]
    document = steps(linebounce, random_file(linebounce), "--machine", machine, "--set", "machine.cpus=4", *tso)
    waiting: list[list] = [[] for _ in range(4)]
    for step in document["log"]:
        if step[1] != BUFFER:
            continue
        _, _, cpu, address, size, value, move = step
        if move == ENTERS:
            waiting[cpu].append((address, size, value))
            assert len(waiting[cpu]) <= 4
        elif move == LEAVES:
            assert waiting[cpu].pop(0) == (address, size, value)
        else:
            assert any(store[0] <= address for store in waiting[cpu])
    assert waiting == [[], [], [], []]


@pytest.mark.parametrize(
    ("protocol", "answer", "sentence"),
    [
        ("mesi_snoop", "Alone", "The snoop tells CPU 0's cache: no other cache has x."),
        ("msi_snoop", "Clean", "The snoop tells CPU 0's cache: no other cache has newer data of x than memory."),
    ],
)
def test_an_unsuccessful_snoop_says_what_the_caches_learn(
    linebounce: Program, protocol: str, answer: str, sentence: str
) -> None:
    machine = ("--machine", "p3_xeon_4way", "--set", f"machine.bus.protocol={protocol}")
    document = steps(linebounce, program_file(linebounce), *machine)
    assert {"Alone", "Clean"} & set(document["messages"]) == {answer}
    assert sentence in document["sentences"]


def test_messages_arrive_where_the_rows_that_they_cause_run(linebounce: Program) -> None:
    """Every order step of a bus has a request: the snoopers' rows run when it arrives."""
    document = steps(linebounce, random_file(linebounce), "--machine", "p3_xeon_4way")
    cache = document["tables"][0]["events"]
    requests = {(step[6], step[5]) for step in document["log"] if step[1] == MESSAGE}
    rows = [step for step in document["log"] if step[1] == ROW and step[2] == 0]
    ordered = [step for step in rows if cache[step[6]].startswith(("Own_", "Other_"))]
    assert len(ordered) > 500
    assert all((step[0], step[4]) in requests for step in ordered)


@pytest.mark.parametrize("machine", ["p3_xeon_4way", "numaq_16way"])
def test_no_row_runs_before_the_message_that_causes_it(linebounce: Program, machine: str) -> None:
    document = steps(linebounce, random_file(linebounce), "--machine", machine, "--set", "machine.cpus=4")
    names, tables, ends = document["messages"], document["tables"], document["endpoints"]
    directories = {number: place for place, (kind, number, *_) in enumerate(ends) if kind == "directory"}
    under_way, checked = Counter(), 0
    for step in document["log"]:
        if step[1] == MESSAGE:
            under_way[step[3], step[5], names[step[4]]] += 1
        elif step[1] == ROW and step[2] == 2:
            event = tables[2]["events"][step[6]].split()[0].split("[")[0]
            assert under_way[directories[step[3]], step[4], event] > 0, step
            checked += 1
        elif step[1] == ROW and step[2] == 0 and tables[0]["events"][step[6]].startswith("Own_"):
            message = tables[0]["events"][step[6]].removeprefix("Own_").split("[")[0].strip()
            bus = next(
                place
                for place, (kind, number, *_) in enumerate(ends)
                if (kind, number) == ("bus", document["caches"][step[3]][2])
            )
            assert under_way[bus, step[4], message] > 0, step
            checked += 1
    assert checked > 500


def test_a_directory_notes_who_has_the_line(linebounce: Program) -> None:
    document = steps(linebounce, random_file(linebounce), "--machine", "numaq_16way", "--set", "machine.cpus=8")
    table = document["tables"][2]
    notes, checked = {}, 0
    for step in document["log"]:
        if step[1] == DIRECTORY:
            notes[step[2], step[3]] = (step[4], step[5])
        if step[1] == ROW and step[2] == 2 and table["states"][step[5]] == "EM":
            assert notes[step[3], step[4]][0] >= 0
            checked += 1
        elif step[1] == ROW and step[2] == 2 and table["states"][step[5]] == "S":
            owner, sharers = notes[step[3], step[4]]
            assert owner == -1
            assert sharers
            checked += 1
    assert checked > 100


def test_each_moment_names_the_step_at_which_it_holds(linebounce: Program) -> None:
    arguments = [program_file(linebounce), "--machine", "p3_xeon_4way", "--set", "machine.cpus=2"]
    document = steps(linebounce, *arguments)
    log, sentences = document["log"], document["sentences"]

    def at(moment: str) -> int:
        position, said, sentence = linebounce("steps", *arguments, "--at", moment).stdout.rstrip("\n").split("\t")
        assert said == moment
        assert sentence == (sentences[int(position) - 1] if int(position) > 0 else "")
        return int(position)

    assert (at("start"), at("end"), at("step 7")) == (0, len(log), 7)
    modified = at("x is M in CPU 0")
    assert at("x is Modified in CPU 0") == modified
    assert document["tables"][0]["states"][log[modified - 1][7]] == "M"
    assert log[at("CPU 1 loads x") - 1][1:5] == [ACCESS, 1, 1, LOAD]
    assert log[at("CPU 1 stores x") - 1][1:5] == [ACCESS, 1, 1, ATOMIC]
    assert at("before CPU 1 stores x") == at("CPU 1 stores x") - 1
    assert log[at("x is 5") - 1][8] == 5
    assert at("x is 3") < at("x is 3 in CPU 1") < at("x is 5 in CPU 1")
    assert log[at(f"CPU 1 runs line {LINE_OF_LOAD}") - 1][7] == LINE_OF_LOAD
    assert at("CPU 1 loads y, 2nd time") > at("CPU 1 loads y")
    assert log[at("CPU 0 misses pair.b") - 1][1:4] == [ROW, 0, 0]
    assert at("CPU 0 misses pair") == at("CPU 0 misses pair.b")
    assert document["messages"][log[at("GetM for x") - 1][4]] == "GetM"


def test_a_moment_that_never_comes_is_not_an_error_of_its_form(linebounce: Program) -> None:
    result = linebounce("steps", program_file(linebounce), "--machine", "p3_xeon_4way", "--at", "x is 99", "--at", "start")
    assert result.code == 1
    assert result.stdout.splitlines() == ["-\tx is 99\tnever", "0\tstart\t"]


@pytest.mark.parametrize(
    ("moment", "named"),
    [
        ("x becomes M", "X is STATE in CPU N"),
        ("z is M in CPU 0", "x, y"),
        ("x is Q in CPU 0", "IS_AD"),
        ("x is M in CPU 9", "0 to 3"),
        ("x is M", "a state with its place"),
        ("x is S at home 0", "no home"),
        ("CPU 0 eats x", "loads"),
        ("first miss of function fly", 'function "fly" is not known'),
        ("step 100000", "steps"),
        ("x is 3, twice", "2nd time"),
        ("PutX for x", "GetM"),
    ],
)
def test_an_invalid_moment_is_refused_with_the_legal_ones(linebounce: Program, moment: str, named: str) -> None:
    said = linebounce.refused("steps", program_file(linebounce), "--machine", "p3_xeon_4way", "--at", moment)
    assert moment in said
    assert named in said


def test_a_program_that_fails_has_its_steps(linebounce: Program) -> None:
    broken = PROGRAM.replace("cpu:load(x)", 'cpu:load(x); error("no more")')
    result = linebounce("steps", linebounce.file("broken.lua", broken), "--machine", "p3_xeon_4way")
    document = json.loads(result.stdout)
    assert result.code == document["exit"] != 0
    assert "no more" in document["error"]
    assert "no more" in result.stderr
    assert_fits_together(document)
    assert "CPU 1 reads 3 from x." in document["sentences"]


def test_an_experiment_that_cannot_be_read_is_refused(linebounce: Program) -> None:
    assert "nothing_like_it" in linebounce.refused("steps", "nothing_like_it")


def test_a_sweeps_running_point_is_named_with_the_way_to_choose_another(linebounce: Program) -> None:
    swept = linebounce.file("swept.toml", experiment() + '[sweep]\n"machine.cpus" = [1, 2]\n')
    first = linebounce("steps", swept)
    assert first.stderr == "linebounce: running the first of 2 points, machine.cpus = 1; --set PATH=VALUE chooses another\n"
    assert json.loads(first.stdout)["cpus"] == 1
    second = linebounce("steps", swept, "--set", "machine.cpus=2")
    assert second.stderr == ""
    assert json.loads(second.stdout)["cpus"] == 2


def test_the_document_can_be_written_to_a_file(linebounce: Program) -> None:
    file = program_file(linebounce)
    whole = linebounce("steps", file, "--machine", "p3_xeon_4way").stdout
    done = linebounce("steps", file, "--machine", "p3_xeon_4way", "-o", "steps.json", "--at", "end")
    assert done.code == 0
    assert (linebounce.directory / "steps.json").read_text() == whole


def stale_program(linebounce: Program) -> list[str | Path]:
    """A program and a protocol under which CPU 1 keeps a stale copy, as arguments."""
    text = (PROTOCOLS / "mesi_snoop.md").read_text()
    row = next(line for line in text.splitlines() if line.startswith("| S, E ") and "| Other_GetM" in line)
    broken = f"| S | Other_GetM | - | = | broken |\n{row.replace('| S, E', '| E   ', 1)}"
    protocol = linebounce.file("broken.md", text.replace(row, broken))
    program = PROGRAM.replace("cpu:store(x, 3)", "cpu:load(x); cpu:compute(3000); cpu:store(x, 3)").replace(
        'cpu:spin_until(y, "==", 1)', "for i = 1, 20 do cpu:compute(1000); cpu:load(x) end"
    )
    arguments = [linebounce.file("stale.lua", program), "--machine", "p3_xeon_4way", "--set", "machine.cpus=2"]
    return [*arguments, "--set", f"machine.bus.protocol={protocol}"]


def test_a_protocol_that_keeps_a_stale_copy_is_shown_until_it_is_caught(linebounce: Program) -> None:
    arguments = stale_program(linebounce)
    result = linebounce("steps", *arguments, "--at", "a value is stale", "--at", "x is 3 in CPU 0", "-o", "stale.json")
    document = json.loads((linebounce.directory / "stale.json").read_text())
    assert result.code == document["exit"] == 4
    assert "stale value" in document["error"]
    stale, written = (int(line.split("\t")[0]) for line in result.stdout.splitlines())
    assert written < stale == len(document["log"])
    assert "CPU 1's cache leaves x in Shared: the GetM of CPU 0's cache is ordered on the bus." in document["sentences"]
    assert_fits_together(document)


def test_a_failed_run_shows_the_rows_that_ran_on_its_line(linebounce: Program) -> None:
    """A run keeps no history of rows. When it fails it is repeated with its history, and fails at the same tick."""
    arguments = stale_program(linebounce)
    said = linebounce.refused("run", *arguments, "-o", "out", code=4)
    what, _, history = said.partition("its history:\n")
    assert "stale value: cache 1 uses line 0x" in what
    assert re.search(r"tick \d+ cache 1: S Other_GetM -> S\n", history), "the broken row"
    document = steps(linebounce, *arguments, code=4)
    assert document["error"] in said, "the same words, whatever listens"


def test_a_traces_steps_keep_its_cpus_and_addresses(linebounce: Program) -> None:
    trace = linebounce.file("course.txt", "P0: read 120\nP0: write 120 <-- 80\nP3: read 120\nP1: write 9000000128 <-- 11\n")
    document = steps(linebounce, trace, "--protocol", "msi_snoop", "--cache-bytes", "8192", "--ways", "2")
    assert_fits_together(document)
    served = [(step[3], document["accesses"][step[4]], number(step[5])) for step in document["log"] if step[1] == ACCESS]
    assert served == [(0, "load", 0x120), (0, "store", 0x120), (3, "load", 0x120), (1, "store", 0x9000000128)]
    rows = {step[4] for step in document["log"] if step[1] == ROW}
    assert rows == {0x120 // document["line_bytes"], 0x9000000128 // document["line_bytes"]}
    assert "CPU 3 reads 0 from 0x120." in document["sentences"]
    found = linebounce("steps", trace, "--protocol", "msi_snoop", "--at", "CPU 3 loads 0x120")
    assert found.code == 0, found.stderr
    log = linebounce("steps", trace, "--machine", "course_8way", "--log-form", "{number} {line} {from} {to}").stdout
    assert "3 0x100 I IS_AD" in log.splitlines()


def test_options_of_traces_are_refused_for_experiments(linebounce: Program) -> None:
    done = linebounce("steps", "operation_costs", "--protocol", "mesi_snoop")
    assert done.code == 2
    assert "operation_costs is not a trace" in done.stderr
    assert "give an EXPERIMENT, a trace, or --accesses" in linebounce("steps").stderr
