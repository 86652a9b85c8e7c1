"""Finds places in the program's source: where a name is declared, and where functions use it.

A recording names variables and structures with their lines, but functions without. So this module searches the files,
as they are now, for fields and accesses. Whatever is not found is left out.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from linebounce.errors import InputError
from linebounce.files import read_file
from linebounce.gate.layouts import base_name, objects_of
from linebounce.trace_symbols import Object, Symbols

_LONGEST_DECLARATION = 400  # lines
_MOST_ACCESSES = 8


@dataclass(frozen=True)
class Location:
    """A place in a file. Lines and columns count from 1; column 0 means unknown."""

    path: Path
    line: int
    column: int = 0
    end_column: int = 0
    text: str = ""  # what the source does there: "writes in count"


@dataclass(frozen=True)
class Replacement:
    """Replaces lines `first` to `last` with `text`. If `last` is before `first`, inserts `text` before line `first`."""

    path: Path
    first: int
    last: int
    text: str


def location_of(source: str, text: str = "") -> Location | None:
    """Parses "/src/cache.c:12"; None if there is no line number."""
    path, _, line = source.rpartition(":")
    return Location(Path(path), int(line), text=text) if path and line.isdecimal() else None


def declaration(symbols: Symbols, name: str, fallback: str = "") -> Location | None:
    """The declaration of an object ("counts"), a field of it ("queue.tail") or a structure. `fallback`: the place that
    advise gives, for a name that the symbols lack."""
    wanted = base_name(name)
    for it in symbols.objects:
        known = base_name(it.name)
        if wanted == known or wanted.startswith(f"{known}."):
            return _declared(symbols, it, wanted[len(known) + 1 :], fallback)
    for structure in symbols.structures:
        if wanted == structure.name or wanted.startswith(f"{structure.name}."):
            return _field(structure.source, wanted[len(structure.name) + 1 :]) or location_of(structure.source)
    return location_of(fallback)


def _declared(symbols: Symbols, it: Object, field: str, fallback: str) -> Location | None:
    structure = "" if it.structure is None else symbols.structures[it.structure].source
    return _field(structure, field) or location_of(structure) or location_of(it.source) or location_of(fallback)


def _field(source: str, field: str) -> Location | None:
    """The line of a field in the structure whose declaration begins at `source`."""
    begin = location_of(source)
    if begin is None or not field:
        return None
    word = re.compile(rf"\b{re.escape(first_part(field))}\b")
    for number, text in _lines(begin.path, begin.line, _LONGEST_DECLARATION):
        found = word.search(_code(text))
        if found and number > begin.line:
            return Location(begin.path, number, found.start() + 1, found.end() + 1, field)
        if text.startswith("}"):
            break
    return None


def accesses(symbols: Symbols, functions: Iterable[str], name: str) -> list[Location]:
    """Lines of these functions that use this name or a field of its structure. If there are none, because the functions
    were inlined, indented lines of the file that declares it."""
    words = [word for word in re.split(r"[.\[\]:]+", base_name(name)) if word and not word.isdecimal()]
    fields = [it.name.split(".")[0] for of in symbols.structures if name in objects_of(symbols, of.name) for it in of.fields]
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, dict.fromkeys([words[-1], *fields])))})\b") if words else None
    if pattern is None:
        return []
    files = _files(symbols)
    lines = [it for function in functions for path in files for it in _body(path, function)]
    found = [it for it in lines if pattern.search(_code(it.text))]
    if not found:
        found = [it for it in _indented(declaration(symbols, name)) if pattern.search(_code(it.text))]
    return [Location(it.path, it.line, text=it.text.strip()) for it in found[:_MOST_ACCESSES]]


def _indented(declared: Location | None) -> Iterator[Location]:
    """The indented lines of the file, except the declaration."""
    for number, text in _lines(declared.path, 1) if declared else ():
        if text[:1].isspace() and declared and number != declared.line:
            yield Location(declared.path, number, text=text)


def _files(symbols: Symbols) -> list[Path]:
    sources = [it.source for it in symbols.structures] + [it.source for it in symbols.objects]
    return sorted({place.path for source in sources if (place := location_of(source))})


def _body(path: Path, function: str) -> Iterator[Location]:
    """The lines of a function's body. The body ends at a closing brace with the same indentation as the function's
    head."""
    name = re.sub(r"<.*", "", function).rpartition("::")[2]
    head = re.compile(rf"^(\s*)[^;=]*\b{re.escape(name)}\s*\([^;]*$")
    closing = ""
    for number, text in _lines(path, 1):
        if closing:
            yield Location(path, number, text=text)
            if text.startswith(closing):
                closing = ""
        elif (found := head.match(text)) and not text.rstrip().endswith("}"):
            closing = found[1] + "}"


def _code(text: str) -> str:
    return text.split("//", maxsplit=1)[0]


def first_part(field: str) -> str:
    """The part before the first dot or bracket: "stats" of "stats.hits"."""
    return re.split(r"[.\[]", field, maxsplit=1)[0]


def _lines(path: Path, first: int, most: int = 1_000_000) -> Iterator[tuple[int, str]]:
    yield from enumerate(_text(path)[first - 1 : first - 1 + most], first)


@cache
def _text(path: Path) -> list[str]:
    try:
        return read_file(path).decode(errors="replace").splitlines()
    except InputError:
        return []


def replacements(diff: str, root: Path) -> list[Replacement]:
    """The edits in a unified diff. File names in it are relative to `root`."""
    found: list[Replacement] = []
    path, line = root, 0
    removed, added, begin = 0, "", 0

    def finish() -> None:
        nonlocal removed, added
        if removed or added:
            found.append(Replacement(path, begin, begin + removed - 1, added))
        removed, added = 0, ""

    for text in diff.splitlines():
        if text.startswith("--- "):
            finish()
        elif text.startswith("+++ "):
            path = root / text[4:].removeprefix("b/")
        elif hunk := re.match(r"@@ -(\d+)", text):
            finish()
            line = int(hunk[1])
        elif text.startswith("-"):
            begin, removed, line = (begin if removed or added else line), removed + 1, line + 1
        elif text.startswith("+"):
            begin, added = (begin if removed or added else line), added + text[1:] + "\n"
        elif text.startswith(" "):
            finish()
            line += 1
    finish()
    return found
