"""Symbols and the summary as lines of JSON (docs/trace-format.md)."""

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
# Members that are lists of such.
_LISTS: dict[str, type[Field | WaitsIn]] = {"fields": Field, "waits_in": WaitsIn}

_NONE = 0xFFFFFFFF  # a reference to nothing
_REFERENCES = {"structure", "object", "of_lock", "taker"}
_INT32, _INT64 = range(-(1 << 31), 1 << 31), range(-(1 << 63), 1 << 63)
_UINT32, _UINT64 = range(1 << 32), range(1 << 64)
# Of integers that are not _INT32.
_RANGES = {"size": _INT64, "offset": _INT64, "address": _UINT64, "function": _UINT32} | dict.fromkeys(_REFERENCES, _UINT32)


def line_of(symbol: Symbol, redefines: int | None = None) -> bytes:
    """Without its newline. `redefines`: the number of the lock whose facts these are."""
    members: dict[str, object] = {"kind": type(symbol).__name__.lower()}
    if redefines is not None:
        members["redefines"] = redefines
    return _dumped(members | _to_json(symbol))


def symbol_from(line: bytes) -> tuple[Symbol, int | None]:
    """A symbol, and the number of the lock that it redefines. Errors: ValueError, of what is no symbol."""
    members = _parsed(line)
    kind = members.pop("kind", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f'"kind" is {_shown(kind)}; legal are {", ".join(_KINDS)}')
    redefines = None
    if kind == "lock" and "redefines" in members:
        redefines = _integer("redefines", members.pop("redefines"), _UINT32)
    return _from_json(_KINDS[kind], members), redefines


def summary_text(summary: Summary) -> bytes:
    """One JSON object."""
    return _dumped(_to_json(summary))


def summary_from(text: bytes) -> Summary:
    """Errors: ValueError."""
    return _from_json(Summary, _parsed(text))


def _dumped(members: dict[str, object]) -> bytes:
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


def _to_json(value: Any) -> dict[str, object]:
    """Those members that differ from their default."""
    default = type(value)()
    members = {}
    for each in dataclasses.fields(value):
        member = getattr(value, each.name)
        if member != getattr(default, each.name):
            members[each.name] = [_to_json(one) for one in member] if each.name in _LISTS else member
    return members


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        letters = text.decode("utf-8-sig")
        value = json.loads(letters, parse_constant=_refuse_constant)
        if "\\u" in letters:
            _dumped(value)  # refuses one half of a surrogate pair, which Python's parser takes and JSON's other readers don't
    except RecursionError:
        raise ValueError("this is nested too deeply for a symbol or a summary") from None
    if not isinstance(value, dict):
        raise ValueError("this is not a JSON object")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _from_json(what: type[T], members: Any) -> T:
    if not isinstance(members, dict):
        raise ValueError(f"{_shown(members)} is not a JSON object")
    value = what()
    known = [each.name for each in dataclasses.fields(value)]  # type: ignore[arg-type]
    for name, member in members.items():
        if name not in known:
            raise ValueError(f'"{name}" is not known; known are {", ".join(known)}')
        setattr(value, name, _member(name, member, getattr(value, name)))
    return value


def _member(name: str, member: Any, default: Any) -> Any:
    if isinstance(default, int | None) and not isinstance(default, bool):
        return _integer(name, member, _RANGES.get(name, _INT32))
    if type(member) is not type(default):
        raise ValueError(f'"{name}" is {_shown(member)}; it has to be of type {type(default).__name__}')
    if name in _LISTS:
        return [_from_json(_LISTS[name], each) for each in member]
    if name == "misses":
        return {source: _integer(source, count, _INT64) for source, count in member.items()}
    if name == "missing" and not all(isinstance(each, str) for each in member):
        raise ValueError(f'"missing" is {_shown(member)}; it has to be a list of strings')
    return member


def _integer(name: str, value: Any, legal: range) -> int | None:
    if type(value) is not int or value not in legal:
        raise ValueError(f'"{name}" is {_shown(value)}; it has to be an integer from {legal[0]} to {legal[-1]}')
    return None if name in _REFERENCES and value == _NONE else value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."
