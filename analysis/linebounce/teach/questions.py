"""Makes short questions on a protocol, with answers from the simulator: `linebounce teach --questions N`."""

import random
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linebounce.errors import UsageError, not_known
from linebounce.files import scratch_folder
from linebounce.teach.engine import Engine, EngineError

CPUS = 4
LINE_BYTES = 64
_FIRST_ADDRESS = 0x100000
_PAGE_BYTES = 4096
# Costs in cycles that the questions state. They are round numbers, because a question is about what happens, not about a real
# machine.
COSTS = {"hit": 1, "right": 10, "cache": 40, "memory": 100}
LEVELS = ("easy", "mixed", "hard")
# How many candidates to make for each question that is wanted. An easy bank takes the candidates with the fewest transient
# states, a hard one those with the most.
_CANDIDATES = 3
_SNOOP, _ATOMIC = "_snoop", "_atomic"  # of tables' names: for a split bus and for an atomic one

Access = tuple[int, bool]  # the CPU, and whether it writes


@dataclass(frozen=True)
class Asked:
    """A question with its answer. `choices` is empty if the answer is a number."""

    id: str
    kind: str  # "states", "state", "messages", "supplier", "cycles", "next"
    text: str
    answer: str
    choices: tuple[str, ...]  # empty: a number
    facts: dict[str, Any]  # what the question is about, for programs
    transient: int  # how many protocol rows with a transient state the caches used


@dataclass(frozen=True)
class Observed:
    """What the simulator did on one line. Each list has an entry for each access."""

    states: list[tuple[str, ...]]  # the state in each cache after the access
    asked: list[tuple[str, ...]]  # the messages that went over the bus
    suppliers: list[str]  # "memory", "CPU 1's cache", or "" where no data moved
    transient: int


def make_questions(engine: Engine, count: int, protocol: str, seed: str, level: str) -> list[Asked]:
    """The same arguments give the same questions. Raises UsageError for a protocol that is not for a bus, and for a level
    other than "mixed" of one that has no waiting states."""
    name = _protocol_name(engine, protocol)
    is_atomic = name.endswith(_ATOMIC)
    if is_atomic and level != "mixed":
        raise UsageError(f"--level: {name} is for an atomic bus, and has no waiting states by which questions are hard or easy")
    draw = random.Random(f"{name} {seed} {level}")
    wanted = count if level == "mixed" else count * _CANDIDATES
    sequences = _sequences(draw, wanted, [kind for kind in _KINDS if not (is_atomic and kind == "next")])
    try:
        table, observed = (_observe_rows if is_atomic else _observe)(engine, name, sequences)
    except EngineError as error:
        raise UsageError(f"--protocol {protocol}: {error}") from None
    made = [_question(draw, name, table, *one) for one in zip(sequences, observed, strict=True)]
    if level != "mixed":
        made.sort(key=lambda one: one.transient, reverse=level == "hard")
    chosen = made[:count]
    return [_numbered(one, number) for number, one in enumerate(chosen, 1)]


def _numbered(one: Asked, number: int) -> Asked:
    return Asked(f"q{number}", one.kind, one.text, one.answer, one.choices, one.facts, one.transient)


def _protocol_name(engine: Engine, wanted: str) -> str:
    """The name of the protocol's table for a bus: "MOESI" is moesi_snoop, and "Illinois", which a split bus lacks,
    illinois_atomic. Raises UsageError if there is none."""
    folder = engine.root / "models" / "protocols"
    tables = [path.stem for form in (f"*{_SNOOP}*.md", f"*{_ATOMIC}.md") for path in sorted(folder.glob(form))]
    name = wanted.lower().replace("-", "_")
    for one in (name, name + _SNOOP, name + _ATOMIC):
        if one in tables:
            return one
    raise UsageError(f"--protocol: protocol {not_known(wanted, tables, len(tables))}")


def _sequences(draw: random.Random, count: int, kinds: list[str]) -> list[tuple[str, tuple[Access, ...]]]:
    """Different pairs of a kind of question and a sequence of accesses."""
    made: dict[tuple[str, tuple[Access, ...]], None] = {}
    while len(made) < count:
        length = draw.randint(2, 6)
        sequence = tuple((draw.randrange(CPUS), draw.random() < 0.45) for _ in range(length))
        made[draw.choice(kinds), sequence] = None
    return list(made)


# ---- the simulator's run ----


def _observe(engine: Engine, protocol: str, sequences: list[tuple[str, tuple[Access, ...]]]) -> tuple[Any, list[Observed]]:
    """Runs all sequences in one simulation, each on its own line. Returns the caches' protocol table, and what happened
    on each line."""
    with scratch_folder() as folder:
        document = engine.steps(_experiment(engine, folder, protocol, sequences), _most_steps(sequences))
    if document["cut"]:
        raise UsageError(f"so many questions need more than {_most_steps(sequences)} steps; make fewer")
    by_line = _by_line(document)
    table = document["tables"][0]
    first = _first_line(document)
    return table, [_seen(document, table, by_line[first + i], len(one)) for i, (_, one) in enumerate(sequences)]


def _most_steps(sequences: list[tuple[str, tuple[Access, ...]]]) -> int:
    return 60 * sum(len(one) for _, one in sequences) + 1000


def _trace(folder: Path, sequences: list[tuple[str, tuple[Access, ...]]]) -> Path:
    lines = (
        f"{cpu} {'w' if write else 'r'} {_FIRST_ADDRESS + LINE_BYTES * number:x}\n"
        for number, (_, accesses) in enumerate(sequences)
        for cpu, write in accesses
    )
    file = folder / "questions.txt"
    file.write_text("".join(lines), encoding="utf-8")
    return file


def _observe_rows(engine: Engine, protocol: str, sequences: list[tuple[str, tuple[Access, ...]]]) -> tuple[Any, list[Observed]]:
    """The same of a protocol for an atomic bus: from the table of accesses, which has no states but stable ones."""
    with scratch_folder() as folder:
        rows = iter(engine.table(_trace(folder, sequences), protocol))
    controllers = engine.protocol(protocol)["controllers"]
    states = next([state["name"] for state in one["states"]] for one in controllers if one["name"] == "cache")
    table = {"states": states, "stable": [True] * len(states), "title": engine.protocol(protocol)["title"]}
    observed = []
    for _, accesses in sequences:
        seen = Observed([], [], [], 0)
        for row in (next(rows) for _ in accesses):
            seen.states.append(tuple(row.get(f"P{cpu}_after", states[0]) for cpu in range(CPUS)))
            seen.asked.append(tuple(filter(None, row["bus"].split(", "))))
            seen.suppliers.append(row["data_from"] and _supplier(row["data_from"]))
        observed.append(seen)
    return table, observed


def _supplier(word: str) -> str:
    """ "CPU 1's cache" for "P1"."""
    return word if word == "memory" else f"CPU {word.removeprefix('P')}'s cache"


def _experiment(engine: Engine, folder: Path, protocol: str, sequences: list[tuple[str, tuple[Access, ...]]]) -> Path:
    trace = folder / "questions.lbt"
    imported = [engine.program, "import", str(_trace(folder, sequences)), "--as", "ordered", "-o", str(trace)]
    done = subprocess.run(imported, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise EngineError(done.stderr.strip())
    cpus = sorted({cpu for _, accesses in sequences for cpu, _ in accesses})
    # Each CPU once, in the order in which the trace names its thread.
    threads = {cpu: None for _, accesses in sequences for cpu, _ in accesses}
    experiment = folder / "questions.toml"
    experiment.write_text(
        'name = "questions"\nmachine = "course_8way"\n\n[set]\n'
        f'"machine.cpus" = {max(cpus) + 1}\n"machine.bus.protocol" = "{protocol}"\n'
        '"machine.cache.L1.size_kib" = 1024\n\n[workload]\nname = "replay"\n'
        f'trace = "{trace}"\nthreads = "{" ".join(map(str, threads))}"\n',
        encoding="utf-8",
    )
    return experiment


def _first_line(document: Any) -> int:
    """The number of the line that the first sequence uses."""
    name, _, address, _ = document["objects"][0]
    moved = int(name.removeprefix("page_"), 16) * _PAGE_BYTES - _FIRST_ADDRESS
    return int((address - moved) // document["line_bytes"])


def _by_line(document: Any) -> dict[int, list[list[Any]]]:
    found: dict[int, list[list[Any]]] = {}
    for step in document["log"]:
        if step[1] in (0, 2):
            found.setdefault(step[4] if step[1] == 0 else step[5], []).append(step)
        elif step[1] == 1:
            found.setdefault(step[5] // document["line_bytes"], []).append(step)
    return found


def _seen(document: Any, table: Any, steps: list[list[Any]], accesses: int) -> Observed:
    states = dict.fromkeys(range(CPUS), table["states"][0])
    seen = Observed([], [], [], sum(_waits(table, step) for step in steps))
    asked: list[str] = []
    supplier = ""
    requests = document["messages"][: document["messages"].index("Shared")]
    for step in steps:
        if step[1] == 0 and step[2] == 0:
            states[step[3]] = table["states"][step[7]]
        elif step[1] == 2 and step[4] < len(requests):
            asked.append(requests[step[4]])
        elif step[1] == 2 and document["messages"][step[4]] == "Data":
            supplier = document["endpoints"][step[2]][2]
        elif step[1] == 1:
            seen.states.append(tuple(states[cpu] for cpu in range(CPUS)))
            seen.asked.append(tuple(asked))
            seen.suppliers.append(supplier)
            asked, supplier = [], ""
    assert len(seen.states) == accesses
    return seen


def _waits(table: Any, step: list[Any]) -> bool:
    """Whether the step is a row of the caches' table that begins or ends in a transient state."""
    stable = table["stable"]
    return step[1] == 0 and step[2] == 0 and not (stable[step[5]] and stable[step[7]])


# ---- the questions ----


def _question(draw: random.Random, protocol: str, table: Any, asked: tuple[str, tuple[Access, ...]], seen: Observed) -> Asked:
    kind, accesses = asked
    facts: dict[str, Any] = {"protocol": protocol, "accesses": [list(one) for one in accesses]}
    intro = f"{CPUS} CPUs have a cache each, all empty, and the caches run {_title(protocol, table)}. One after the other, "
    story = intro + ", ".join(f"CPU {cpu} {'writes' if write else 'reads'} x" for cpu, write in accesses) + ". "
    text, answer, choices = _KINDS[kind](Story(draw, table, accesses, seen, facts))
    return Asked("", kind, story + text, answer, choices, facts, seen.transient)


def _title(protocol: str, table: Any) -> str:
    if protocol.endswith(_ATOMIC):
        return str(table["title"]).partition(":")[0]
    family = protocol.partition("_")[0]
    if protocol.count("_") > 1:
        return protocol
    return family.capitalize() if family == "dragon" else family.upper()


_Made = tuple[str, str, tuple[str, ...]]  # text, answer, choices


@dataclass(frozen=True)
class Story:
    """The data that a question is made from."""

    draw: random.Random
    table: Any  # the caches' protocol table, as in the document of `linebounce steps`
    accesses: tuple[Access, ...]
    seen: Observed
    facts: dict[str, Any]  # to be filled in


def _of_states(story: Story) -> _Made:
    cpus = sorted({cpu for cpu, _ in story.accesses})
    right = ", ".join(story.seen.states[-1][cpu] for cpu in cpus)
    stable = [state for state, is_stable in zip(story.table["states"], story.table["stable"], strict=True) if is_stable]
    choices = {right: None}
    while len(choices) < min(4, len(stable) ** len(cpus)):
        choices[", ".join(story.draw.choice(stable) for _ in cpus)] = None
    story.facts["cpus"] = cpus
    *first, last = (f"CPU {cpu}" for cpu in cpus)
    named = f"caches of {', '.join(first)} and {last}" if first else f"cache of {last}"
    return f"In which {'states' if first else 'state'} is x now in the {named}?", right, tuple(sorted(choices))


def _of_state(story: Story) -> _Made:
    story.facts["cpu"] = story.draw.randrange(CPUS)
    stable = tuple(state for state, is_stable in zip(story.table["states"], story.table["stable"], strict=True) if is_stable)
    return (
        f"In which state is x now, in the cache of CPU {story.facts['cpu']}?",
        story.seen.states[-1][story.facts["cpu"]],
        stable,
    )


def _of_messages(story: Story) -> _Made:
    every = [message for asked in story.seen.asked for message in asked]
    story.facts["message"] = story.draw.choice(sorted(set(every)))
    count = str(every.count(story.facts["message"]))
    return f"How many {story.facts['message']} have the caches put on the bus for x?", count, ()


def _of_supplier(story: Story) -> _Made:
    choices = ("nobody", "memory", *(f"CPU {cpu}'s cache" for cpu in range(CPUS)))
    return "Who supplied the line's data for the last access?", story.seen.suppliers[-1] or "nobody", choices


def _of_cycles(story: Story) -> _Made:
    total = sum(_cost(asked, supplier) for asked, supplier in zip(story.seen.asked, story.seen.suppliers, strict=True))
    costs = (
        f"An access that needs no bus takes {COSTS['hit']} cycle, one that uses the bus without moving a line "
        f"{COSTS['right']}, one whose line comes from another cache {COSTS['cache']}, and from memory {COSTS['memory']}. "
    )
    return f"{costs}How many cycles do they all take?", str(total), ()


def _cost(asked: tuple[str, ...], supplier: str) -> int:
    if not asked:
        return COSTS["hit"]
    return COSTS["memory"] if supplier == "memory" else COSTS["cache"] if supplier else COSTS["right"]


def _of_next(story: Story) -> _Made:
    cpu, write = story.draw.randrange(CPUS), story.draw.random() < 0.5
    story.facts.update({"cpu": cpu, "write": write})
    event = story.table["events"].index("Store" if write else "Load")
    state = story.table["states"].index(story.seen.states[-1][cpu])
    line = story.table["lines"][state * len(story.table["events"]) + event]
    then = next(row[4] for row in story.table["rows"] if row[0] == line)
    after = story.table["states"][state] if then == "=" else then
    done = "writes" if write else "reads"
    text = f"Now CPU {cpu} {done} x, too. In which state is its cache's copy at once, before the bus answers?"
    return text, after, tuple(story.table["states"])


_KINDS: dict[str, Callable[[Story], _Made]] = {
    "states": _of_states,
    "state": _of_state,
    "messages": _of_messages,
    "supplier": _of_supplier,
    "cycles": _of_cycles,
    "next": _of_next,
}


def kinds_of(questions: list[Asked]) -> Iterator[tuple[str, int]]:
    for kind in _KINDS:
        yield kind, sum(one.kind == kind for one in questions)
