"""What symbols of a trace have to be; the same as trace/symbol_rules.cpp says."""

import re
from functools import singledispatch

from linebounce.trace_symbols import Barrier, Event, Function, Lock, Object, Stream, Structure, Symbol, Symbols, Word

_LARGEST = 1 << 48  # bytes: more than any address of a 64-bit program is apart
_MOST_CPUS = 1 << 16
_LARGEST_ALIGNMENT = 1 << 20


def check(before: Symbols, symbol: Symbol) -> None:
    """Raises ValueError of a symbol that can't be the next. Not seen here: of_lock, whose lock may come later."""
    wrong = _wrong_with(symbol, before)
    if wrong:
        raise ValueError(wrong)


def check_locks(symbols: Symbols) -> None:
    """Raises ValueError of an object whose lock never came."""
    for each in symbols.objects:
        if each.of_lock is not None and each.of_lock >= len(symbols.locks):
            raise ValueError(f"{each.name} belongs to lock {each.of_lock}; {len(symbols.locks)} are defined")


@singledispatch
def _wrong_with(_symbol: Symbol, _before: Symbols) -> str:
    raise NotImplementedError


@_wrong_with.register
def _(_symbol: Function | Event, _before: Symbols) -> str:
    return ""


@_wrong_with.register
def _(it: Structure, _before: Symbols) -> str:
    if not 0 <= it.size <= _LARGEST:
        return _size_complaint(it.size)
    if not _is_alignment(it.alignment):
        return f"its alignment is {it.alignment}; legal: powers of two up to 2^20"
    if it.base_offset is not None and not 0 <= it.base_offset <= _LARGEST_ALIGNMENT:
        return f"its base_offset is {it.base_offset}; legal: 0 to 2^20"
    for field in it.fields:
        if field.offset < 0 or field.size < 0 or field.offset + field.size > it.size:
            return f'its field "{field.name}" has {field.size} bytes at {field.offset}; the structure has {it.size}'
    return ""


@_wrong_with.register
def _(it: Object, before: Symbols) -> str:
    if not 0 <= it.size <= _LARGEST:
        return _size_complaint(it.size)
    if it.alignment != 0 and not _is_alignment(it.alignment):
        return f"its alignment is {it.alignment}; legal: 0 and powers of two up to 2^20"
    if it.structure is not None and it.structure >= len(before.structures):
        return f"its structure is number {it.structure}; so far {len(before.structures)} are defined"
    if it.structure is not None and it.size < before.structures[it.structure].size:
        return f"it has {it.size} bytes, fewer than its structure's {before.structures[it.structure].size}"
    if not _is_home(it.home):
        return f'its home is "{it.home}"; legal: node N, first_touch, interleaved, local'
    return ""


@_wrong_with.register
def _(it: Lock, before: Symbols) -> str:
    for waits in it.waits_in:
        last = waits.function if waits.taker is None else max(waits.taker, waits.function)
        if last >= len(before.functions):
            return f"waits_in names function {last}; so far {len(before.functions)} are defined"
    return "" if it.object is None else _place_complaint(before, it.object, it.offset, it.word_bytes)


@_wrong_with.register
def _(it: Word, before: Symbols) -> str:
    return _place_complaint(before, it.object, it.offset, it.bytes)


@_wrong_with.register
def _(it: Barrier, _before: Symbols) -> str:
    return "" if it.parties > 0 else f"its parties are {it.parties}; legal: 1 and more"


@_wrong_with.register
def _(it: Stream, _before: Symbols) -> str:
    for what, number in (("cpu", it.cpu), ("vector", it.vector)):
        if not -1 <= number < _MOST_CPUS:
            return f"its {what} is {number}; legal: -1 (none) to 65535"
    return ""


def _size_complaint(size: int) -> str:
    return f"its size is {size}; legal: 0 to 2^48 bytes"


def _is_alignment(bytes_: int) -> bool:
    return 0 < bytes_ <= _LARGEST_ALIGNMENT and bytes_.bit_count() == 1


def _is_home(home: str) -> bool:
    node = re.fullmatch(r"node (\d+)", home, re.ASCII)
    return home in {"", "first_touch", "interleaved", "local"} or (node is not None and int(node[1]) < 1 << 31)


def _place_complaint(before: Symbols, object_: int | None, offset: int, bytes_: int) -> str:
    """Of a word of so many bytes in an object."""
    if bytes_ not in {1, 2, 4, 8}:
        return f"it has {bytes_} bytes; legal: 1, 2, 4, 8"
    if object_ is None or object_ >= len(before.objects):
        return f"it lies in object {object_}; so far {len(before.objects)} are defined"
    whole = before.objects[object_]
    if not 0 <= offset <= whole.size - bytes_:
        return f"its {bytes_} bytes at {offset} are outside {whole.name}, which has {whole.size}"
    return ""
