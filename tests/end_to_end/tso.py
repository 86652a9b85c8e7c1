"""x86-TSO, by trying every order, and the litmus tests of its literature. It shares no code with the product.  A thread
is a list of operations: ("W", variable, value), ("R", variable, register) and ("F",). Owens, Sarkar, Sewell: "A better
x86 memory model: x86-TSO" (TPHOLs 2009)."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

Operation = tuple
Outcome = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class State:
    at: tuple[int, ...]
    buffers: tuple[tuple[tuple[str, int], ...], ...]
    memory: tuple[tuple[str, int], ...]
    registers: tuple[tuple[str, int], ...]


def replaced(pairs: tuple, key: str, value: int) -> tuple:
    return tuple(sorted({**dict(pairs), key: value}.items()))


def at_index(values: tuple, index: int, value: object) -> tuple:
    return (*values[:index], value, *values[index + 1 :])


def successors(threads: list[list[Operation]], state: State) -> Iterator[State]:
    for thread, operations in enumerate(threads):
        buffer = state.buffers[thread]
        if buffer:
            (variable, value), *rest = buffer
            memory = replaced(state.memory, variable, value)
            yield State(state.at, at_index(state.buffers, thread, tuple(rest)), memory, state.registers)
        if state.at[thread] == len(operations):
            continue
        kind, *arguments = operations[state.at[thread]]
        moved = at_index(state.at, thread, state.at[thread] + 1)
        if kind == "W":
            buffers = at_index(state.buffers, thread, (*buffer, (arguments[0], arguments[1])))
            yield State(moved, buffers, state.memory, state.registers)
        elif kind == "R":
            own = [value for variable, value in buffer if variable == arguments[0]]
            value = own[-1] if own else dict(state.memory).get(arguments[0], 0)
            yield State(moved, state.buffers, state.memory, replaced(state.registers, f"{thread}:{arguments[1]}", value))
        elif not buffer:
            yield State(moved, state.buffers, state.memory, state.registers)


def outcomes(threads: list[list[Operation]], finals: list[str]) -> set[frozenset[tuple[str, int]]]:
    """Every possible outcome: the registers' values, and the final values of these variables."""
    first = State((0,) * len(threads), ((),) * len(threads), (), ())
    seen, open_states, ends = {first}, [first], set()
    while open_states:
        state = open_states.pop()
        following = list(successors(threads, state))
        if not following:
            memory = dict(state.memory)
            ends.add(frozenset({*state.registers, *((name, memory.get(name, 0)) for name in finals)}))
        for after in following:
            if after not in seen:
                seen.add(after)
                open_states.append(after)
    return ends


@dataclass
class Test:
    """A ring of threads: each pair of neighbours shares a variable."""

    name: str
    threads: list[list[Operation]]
    asks: dict[str, int]

    @property
    def finals(self) -> list[str]:
        return [name for name in self.asks if ":" not in name]

    def text(self) -> str:
        columns = []
        for operations in self.threads:
            column = []
            for kind, *arguments in operations:
                column.append(
                    f"MOV [{arguments[0]}],${arguments[1]}"
                    if kind == "W"
                    else f"MOV {arguments[1]},[{arguments[0]}]"
                    if kind == "R"
                    else "MFENCE"
                )
            columns.append(column)
        rows = itertools.zip_longest(*columns, fillvalue="")
        names = sorted({operation[1] for operations in self.threads for operation in operations if operation[0] != "F"})
        head = " | ".join(f"P{number}" for number in range(len(columns)))
        body = "".join(" " + " | ".join(row) + " ;\n" for row in rows)
        condition = " /\\ ".join(f"{name}={value}" for name, value in self.asks.items())
        return f"X86 {self.name}\n{{ {' '.join(f'{name}=0;' for name in names)} }}\n {head} ;\n{body}exists ({condition})\n"


def ring(kinds: str) -> tuple[list[list[Operation]], dict[str, int]]:
    """Threads by their two operations, such as "WR RR". A thread's second operation and the next thread's first are of
    one variable.

    The question is whether there is a cycle: of two writes the first comes before the second, a read sees the write
    before it, or does not see the write after it.
    """
    pairs = kinds.split()
    names = "xyzabc"
    threads: list[list[Operation]] = []
    asks: dict[str, int] = {}
    for number, (first, second) in enumerate(pairs):
        variables = names[number], names[(number + 1) % len(pairs)]
        before, after = pairs[number - 1][1], pairs[(number + 1) % len(pairs)][0]
        operations: list[Operation] = []
        # The later of two writes of a variable writes 2.
        operations.append(("W", variables[0], 2 if before == "W" else 1) if first == "W" else ("R", variables[0], "EAX"))
        operations.append(("W", variables[1], 1) if second == "W" else ("R", variables[1], "EBX"))
        if first == "R":
            asks[f"{number}:EAX"] = 1
        if second == "R":
            asks[f"{number}:EBX"] = 0
        if second == "W" and after == "W":
            asks[variables[1]] = 2
        threads.append(operations)
    return threads, asks


SHAPES = {
    "SB": "WR WR", "MP": "WW RR", "LB": "RW RW", "R": "WW WR", "S": "WW RW", "2+2W": "WW WW",
    "3.SB": "WR WR WR", "3.2W": "WW WW WW", "3.LB": "RW RW RW", "ISA2": "WW RW RR",
    "Z6.0": "WW RW WR", "Z6.1": "WW WW RW", "Z6.2": "WW RW RW", "Z6.3": "WW WW RR", "Z6.4": "WW WR WR", "Z6.5": "WW WW WR",
    "4.SB": "WR WR WR WR", "4.LB": "RW RW RW RW", "4.2W": "WW WW WW WW", "4.MP": "WW RW RW RR", "4.R": "WW RW WR WR",
}  # fmt: skip
# Threads of one operation.
OTHERS: dict[str, tuple[list[list[Operation]], dict[str, int]]] = {
    "WRC": ([[("W", "x", 1)], [("R", "x", "EAX"), ("W", "y", 1)], [("R", "y", "EAX"), ("R", "x", "EBX")]],
            {"1:EAX": 1, "2:EAX": 1, "2:EBX": 0}),
    "W+RWC": ([[("W", "x", 1), ("W", "y", 1)], [("R", "y", "EAX"), ("R", "z", "EBX")], [("W", "z", 1), ("R", "x", "EAX")]],
              {"1:EAX": 1, "1:EBX": 0, "2:EAX": 0}),
    "RWC": ([[("W", "x", 1)], [("R", "x", "EAX"), ("R", "y", "EBX")], [("W", "y", 1), ("R", "x", "EAX")]],
            {"1:EAX": 1, "1:EBX": 0, "2:EAX": 0}),
    "IRIW": ([[("W", "x", 1)], [("W", "y", 1)], [("R", "x", "EAX"), ("R", "y", "EBX")], [("R", "y", "EAX"), ("R", "x", "EBX")]],
             {"2:EAX": 1, "2:EBX": 0, "3:EAX": 1, "3:EBX": 0}),
}  # fmt: skip


def with_fences(threads: list[list[Operation]], chosen: tuple[bool, ...]) -> list[list[Operation]]:
    choice = iter(chosen)
    return [
        [operations[0], ("F",), *operations[1:]] if len(operations) > 1 and next(choice) else list(operations)
        for operations in threads
    ]


def all_tests() -> Iterator[Test]:
    """Every shape with a fence in each choice of its threads."""
    shapes: dict[str, tuple[list[list[Operation]], dict[str, int]]] = {
        **{name: ring(kinds) for name, kinds in SHAPES.items()},
        **OTHERS,
    }
    for name, (threads, asks) in shapes.items():
        places = sum(len(operations) > 1 for operations in threads)
        for chosen in itertools.product((False, True), repeat=places):
            fences = "".join("f" if fence else "p" for fence in chosen)
            yield Test(f"{name}+{fences}", with_fences(threads, chosen), asks)
