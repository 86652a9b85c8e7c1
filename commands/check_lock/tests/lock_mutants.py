"""Makes locks with one mistake each from those in programs/locks: a fence or wake-up removed, an order weakened, two
operations swapped."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from program import ROOT

LOCKS = ROOT / "programs" / "locks"
# Mistakes in the order of operations alone.
WEAK_ORDERS = ("drop a fence", "drop a load fence", "weaken an acquire", "weaken a release")


@dataclass(frozen=True)
class Mutant:
    lock: str
    name: str  # such as "drop a fence 1": the first line of the lock where this mistake can be made
    text: str


def is_operation(line: str) -> bool:
    """Whether a line is a single operation of the CPU, so that it can be removed or moved."""
    return bool(
        re.fullmatch(r" +cpu:(store|store_release|fetch_add|exchange|fence|store_fence|wake|spin_until\w*)\(.*\)", line)
    )


def without(lines: list[str], at: int) -> list[str]:
    return lines[:at] + lines[at + 1 :]


def swapped(lines: list[str], at: int) -> list[str]:
    return [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]


def changes(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    for at, line in enumerate(lines):
        if re.fullmatch(r" +cpu:(fence|store_fence)\(\)", line):
            yield "drop a fence", without(lines, at)
        elif re.fullmatch(r" +cpu:load_fence\(\)", line):
            yield "drop a load fence", without(lines, at)
        elif re.fullmatch(r" +cpu:wake\(.*\)", line):
            yield "skip a wake", without(lines, at)
        if acquires := re.search(r"cpu:(load|spin_until)_acquire\(", line):
            yield "weaken an acquire", [*lines[:at], line.replace(acquires[0], f"cpu:{acquires[1]}("), *lines[at + 1 :]]
        if "cpu:store_release(" in line:
            yield "weaken a release", [*lines[:at], line.replace("cpu:store_release(", "cpu:store("), *lines[at + 1 :]]
        if re.fullmatch(r" +cpu:store_release\(.*\)", line):
            yield "leave a release out", without(lines, at)
        if re.fullmatch(r" +cpu:spin_until\w*\(.*\)", line):
            yield "skip a wait", without(lines, at)
        if at + 1 < len(lines) and is_operation(line) and is_operation(lines[at + 1]) and line != lines[at + 1]:
            yield "swap two operations", swapped(lines, at)


def mutants() -> Iterator[Mutant]:
    for path in sorted(LOCKS.glob("*.lua")):
        lines = [re.sub(r" +--.*", "", line) for line in path.read_text().splitlines()]
        counts: dict[str, int] = {}
        for kind, changed in changes(lines):
            counts[kind] = counts.get(kind, 0) + 1
            yield Mutant(path.stem, f"{kind} {counts[kind]}", "\n".join(changed) + "\n")
