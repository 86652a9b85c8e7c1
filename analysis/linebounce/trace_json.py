"""Symbols and the summary as lines of JSON (docs/trace-symbols.md)."""

import dataclasses
import json
from typing import Any, TypeVar

from linebounce.trace_symbols import (
    Barrier,
    Event,
    Field,
    Function,
    Lock,
    Object,
    Stream,
    Structure,
    Summary,
    Symbol,
    WaitsIn,
    Word,
)

T = TypeVar("T")

_KINDS: dict[str, type[Symbol]] = {
    each.__name__.lower(): each for each in (Structure, Object, Function, Lock, Barrier, Event, Word, Stream)
}
# Members that are lists, and their element types.
_LISTS: dict[str, type[Field | WaitsIn]] = {"fields": Field, "unexplained": Field, "waits_in": WaitsIn}

_NONE = 0xFFFFFFFF  # a null reference
_REFERENCES = {"structure", "object", "of_lock", "taker"}


def line_of(symbol: Symbol, redefines: int | None = None) -> bytes:
    """A symbol as a line of JSON without the newline. `redefines`: the number of the lock that this symbol replaces."""
    members: dict[str, object] = {"kind": type(symbol).__name__.lower()}
    if redefines is not None:
        members["redefines"] = redefines
    return _dumped(members | _to_json(symbol))


def symbol_from(line: bytes) -> tuple[Symbol, int | None]:
    """A symbol, and the number of the lock that it replaces, if any. REQUIRES: a line of a valid trace."""
    members = _parsed(line)
    redefines = members.pop("redefines", None)
    return _from_json(_KINDS[members.pop("kind")], members), redefines


def summary_text(summary: Summary) -> bytes:
    """The summary as one JSON object."""
    return _dumped(_to_json(summary))


def summary_from(text: bytes) -> Summary:
    """REQUIRES: the summary of a valid trace."""
    return _from_json(Summary, _parsed(text))


def _dumped(members: dict[str, object]) -> bytes:
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


def _to_json(value: Any) -> dict[str, object]:
    """The members of a symbol that differ from their defaults."""
    default = type(value)()
    members = {}
    for each in dataclasses.fields(value):
        member = getattr(value, each.name)
        if member != getattr(default, each.name):
            members[each.name] = [_to_json(one) for one in member] if each.name in _LISTS else member
    return members


def _parsed(text: bytes) -> dict[str, Any]:
    members: dict[str, Any] = json.loads(text.decode("utf-8-sig"))
    return members


def _from_json(what: type[T], members: dict[str, Any]) -> T:
    return what(**{name: _member(name, member) for name, member in members.items()})


def _member(name: str, member: Any) -> Any:
    if name in _REFERENCES and member == _NONE:
        return None
    return [_from_json(_LISTS[name], each) for each in member] if name in _LISTS else member
