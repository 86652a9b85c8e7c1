"""Prices the findings of static checkers: each finding gets the measured cost of what is declared at its line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from linebounce.errors import InputError, malformed
from linebounce.files import read_file
from linebounce.gate.judge import figure_of, items_of, sums, thread_us
from linebounce.gate.layouts import base_name, objects_of
from linebounce.gate.measure import Item, Side
from linebounce.gate.sources import Location, declaration, first_part
from linebounce.gate.verdict import Priced
from linebounce.trace_symbols import Symbols


def priced(path: Path, head: Side) -> list[Priced]:
    """Each finding of a SARIF file with its cost in the head. Raises InputError if the file is not a SARIF log."""
    text = ""
    try:
        text = read_file(path, pipes=True).decode()
        document = json.loads(text)
        runs = document["runs"]
        found = [(run["tool"]["driver"]["name"], result) for run in runs for result in run.get("results") or ()]
        return [_priced(str(tool), result, place, head) for tool, result in found for place in _locations(path, result)]
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: {malformed('JSON', text, error)}") from None
    except KeyError as error:
        raise InputError(f"{path}: this is no SARIF log: {error} is missing") from None
    except (ValueError, TypeError, AttributeError):
        raise InputError(f"{path}: this is no SARIF log: its runs, results or locations have another form") from None


def _locations(path: Path, result: dict[str, Any]) -> Iterator[Location]:
    for location in result.get("locations") or ():
        physical = location.get("physicalLocation")
        if physical and "region" in physical:
            uri = unquote(urlsplit(physical["artifactLocation"]["uri"]).path)
            file = Path(uri) if uri.startswith("/") else Path.cwd() / uri
            region = physical["region"]
            yield Location(file, int(region["startLine"]), int(region.get("startColumn", 0)))
            continue
        raise InputError(f"{path}: a result of {result.get('ruleId', 'a rule')} has no line")


def _priced(tool: str, result: dict[str, Any], place: Location, head: Side) -> Priced:
    subject, items = _subject_at(place, head)
    figures = []
    for condition in head.us if subject else ():
        after = [sums(of, items, thread_us(head, condition) / 100) for of in head.us[condition]]
        nothing = [[0.0] * len(orders) for orders in after]
        figures.append(figure_of(condition, nothing, after, 0))
    return Priced(tool, result.get("ruleId", ""), result["message"].get("text", ""), place, subject, figures)


def _subject_at(place: Location, head: Side) -> tuple[str, list[Item]]:
    """The field, variable or structure declared at this line, and the items whose cost it gets. A field also gets the misses on
    other bytes of its object, because the field may have caused them."""
    for symbols in head.symbols:
        for structure in symbols.structures:
            objects = objects_of(symbols, structure.name)
            for field in structure.fields:
                name = first_part(field.name)
                if _is_at(declaration(symbols, f"{structure.name}.{name}"), place):
                    items = [it for it in items_of(head.places, objects) if _concerns(it, objects, name)]
                    return f"{structure.name}.{name}", items + _locks(symbols, head, structure.name, field.offset)
            if _is_at(declaration(symbols, structure.name), place):
                return structure.name, items_of(head.places, objects)
        for it in symbols.objects:
            if it.source.endswith(f":{place.line}") and _is_at(declaration(symbols, it.name, it.source), place):
                return base_name(it.name), items_of(head.places, [base_name(it.name)])
    return "", []


def _concerns(item: Item, objects: set[str], field: str) -> bool:
    name = base_name(item.name)
    return name in objects or any(name == f"{it}.{field}" or name.startswith(f"{it}.{field}.") for it in objects)


def _locks(symbols: Symbols, head: Side, structure: str, offset: int) -> list[Item]:
    """The items of locks whose word is this field."""
    names = set()
    for lock in symbols.locks:
        it = None if lock.object is None else symbols.objects[lock.object]
        if it and it.structure is not None and symbols.structures[it.structure].name == structure and lock.offset == offset:
            names.add(base_name(lock.figures or lock.name))
    return sorted(item for item in head.places if item.what == "lock" and base_name(item.name) in names)


def _is_at(found: Location | None, place: Location) -> bool:
    return found is not None and found.line == place.line and _same_file(found.path, place.path)


def _same_file(one: Path, other: Path) -> bool:
    return one == other or one.resolve() == other.resolve()
