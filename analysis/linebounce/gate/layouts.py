"""Compares the layouts of two versions: which fields newly cross a cache line's end, and which structures take more
lines."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from linebounce.trace_symbols import Object, Structure, Symbols

LINE_BYTES = 64  # the line size of most machines


@dataclass(frozen=True)
class LayoutChange:
    """A change for the worse in how a structure lies in lines, such as "queue.tail crosses a line's end"."""

    structure: str
    field: str  # empty: the structure as a whole
    text: str


def base_name(name: str) -> str:
    """An object's name without element numbers ("counts" for "counts[3]") and without the line that allocates it
    ("load" for "load:42"). An edit further up the file would change that line."""
    return re.sub(r"\[\d+\]|(?<=\w):\d+", "", name)


def layout_changes(base: Symbols, head: Symbols) -> list[LayoutChange]:
    """Compares structures of the same name. A field counts as crossing a line's end if it crosses in any object of the
    structure whose address is known."""
    changes = []
    before = {structure.name: number for number, structure in enumerate(base.structures)}
    for number, structure in enumerate(head.structures):
        if structure.name not in before:
            continue
        old = _crossing(base, before[structure.name])
        for name in sorted(_crossing(head, number) - old):
            changes.append(LayoutChange(structure.name, name, f"{structure.name}.{name} crosses a line's end"))
        lines_before, lines = _lines(base, before[structure.name]), _lines(head, number)
        if lines > lines_before:
            text = f"each {structure.name} is on {lines} lines instead of {lines_before}"
            changes.append(LayoutChange(structure.name, "", text))
    return changes


def objects_of(symbols: Symbols, structure: str) -> set[str]:
    """Names, without numbers, of the objects that have this structure."""
    return {base_name(it.name) for it in symbols.objects if _structure_of(symbols, it) == structure}


def _structure_of(symbols: Symbols, it: Object) -> str:
    return "" if it.structure is None else symbols.structures[it.structure].name


def _positions(symbols: Symbols, number: int) -> set[int]:
    """The offsets in a cache line at which objects of this structure begin."""
    addresses = (it.address for it in symbols.objects if it.structure == number)
    return {address % LINE_BYTES for address in addresses if address is not None}


def _crossing(symbols: Symbols, number: int) -> set[str]:
    structure = symbols.structures[number]
    positions = _positions(symbols, number)
    return {it.name for it in structure.fields if it.size <= LINE_BYTES and _crosses(it.offset, it.size, positions)}


def _crosses(offset: int, size: int, positions: Iterable[int]) -> bool:
    return any((at + offset) // LINE_BYTES != (at + offset + max(size, 1) - 1) // LINE_BYTES for at in positions)


def _lines(symbols: Symbols, number: int) -> int:
    """The largest number of lines that an object of this structure lies on; 0 if no address is known."""
    structure: Structure = symbols.structures[number]
    return max(((at + max(structure.size, 1) - 1) // LINE_BYTES + 1 for at in _positions(symbols, number)), default=0)
