"""Checks which folder may include which.

layers.txt lists the folders from the bottom up. A folder may include only what is on lines above its own, every folder
but those of tests must be listed, and no two headers may have the same name. `using namespace` may name only one of our
own layers. A subcommand's room may include only the rooms in its row of commands/README.md, and must use each of them.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from source_tree import Finding, SourceTree, is_test, line_at, room_of

LAYERS = Path(__file__).with_name("layers.txt")
ROOMS = "commands/README.md"
ROOM_ROW = re.compile(r"^\| `(\w+)/` \|[^|]*\|([^|]*)\|$", re.MULTILINE)
LAYERED = ("models", "workloads", "sim", "trace", "record", "types", "forms", "litmus", "commands", "evidence")
OPENED = re.compile(r"^\s*using namespace (?!(?:workloads|sim);)([\w:]+);", re.MULTILINE)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def heights(text: str) -> dict[str, int]:
    """Maps each folder to the number of its line."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {folder: height for height, line in enumerate(lines) for folder in line.split()}


def folder_of(file: str) -> str:
    return str(PurePosixPath(file).parent)


def included(sources: SourceTree, file: str) -> Iterator[tuple[int, str]]:
    """Pairs of the path from the root of each of our headers that a file includes, and the line number."""
    text = sources.text(file)
    for match in INCLUDE.finditer(text):
        yield line_at(text, match.start()), match[1] if "/" in match[1] else f"{folder_of(file)}/{match[1]}"


def misplaced(above: str, header: str, height: dict[str, int]) -> str | None:
    below = folder_of(header)
    for folder in (above, below):
        if folder not in height:
            return f"{folder}/ has no line in tools/layers.txt"
    if above == below or height[below] < height[above]:
        return None
    return f"{above}/ may not include {header}: tools/layers.txt has {below}/ beside or above it"


def room_findings(sources: SourceTree, files: list[str]) -> Iterator[Finding]:
    """Rooms that include another without saying so in the table, or say so and don't."""
    if ROOMS not in sources:
        return
    table = sources.text(ROOMS)
    for row in ROOM_ROW.finditer(table):
        room, named = row[1], set(re.findall(r"`(\w+)`", row[2]))
        used = set()
        for file in (file for file in files if room_of(file) == f"commands/{room}"):
            for line, header in included(sources, file):
                other = PurePosixPath(room_of(header) or f"commands/{room}").name
                used.add(other)
                if other not in {room, *named}:
                    yield Finding(file, line, f"{room} may not include {header}: its row in {ROOMS} doesn't name {other}")
        for unused in sorted(named - used):
            yield Finding(ROOMS, line_at(table, row.start()), f"{room} includes nothing of {unused}")


def same_names(files: list[str]) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for file in files:
        name = PurePosixPath(file).name
        if file.endswith(".hpp") and first.setdefault(name, file) != file:
            yield Finding(file, 1, f"{first[name]} has the same name")


def findings(sources: SourceTree, layers: str | None = None) -> Iterator[Finding]:
    height = heights(LAYERS.read_text(encoding="utf-8") if layers is None else layers)
    files = [file for file in sources.matching(*(f"{layer}/*.[ch]*" for layer in LAYERED)) if not is_test(file)]
    yield from same_names(files)
    yield from room_findings(sources, files)
    for file in files:
        for line, header in included(sources, file):
            if problem := misplaced(folder_of(file), header, height):
                yield Finding(file, line, problem)
        text = sources.text(file)
        for match in OPENED.finditer(text):
            yield Finding(file, line_at(text, match.start(1)), f"using namespace {match[1]}")
