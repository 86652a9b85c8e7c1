"""Run by gdb: prints how gdb reads a program's structures, as JSON.

    gdb -batch -nx -ex 'python names, out = "NAMES", "OUT"' -x gdb_structures.py PROGRAM

Types are numbered. A field has its place in bits, unless only the running program knows it.
"""

import json

import gdb

AGGREGATES = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
types: list[dict] = []
numbers: dict[tuple, int] = {}


def place(field: gdb.Field) -> int | None:
    try:
        return field.bitpos
    except AttributeError:
        return None


def text_of(kind: gdb.Type) -> str:
    try:
        return str(kind)
    except gdb.error:  # an array of Fortran whose bounds are not known yet
        return "?"


def is_static(field: gdb.Field) -> bool:
    return not hasattr(field, "bitpos") and not field.is_base_class and not hasattr(field, "enumval")


def number_of(kind: gdb.Type, depth: int = 0) -> int:
    kind = kind.strip_typedefs()
    fields = kind.fields() if kind.code in AGGREGATES else []
    key = (text_of(kind), kind.sizeof, tuple((f.name, place(f), text_of(f.type)) for f in fields))
    if key in numbers:
        return numbers[key]
    numbers[key] = len(types)
    told: dict = {
        "name": kind.name,
        "size": kind.sizeof or 0,
        "aggregate": kind.code in AGGREGATES,
        "dynamic": kind.dynamic or kind.sizeof is None,
        # gdb takes std::nullptr_t for void, and a pointer to a closure of Go for the function.
        "none": kind.code in (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC),
        "fields": [],
    }
    types.append(told)
    if depth > 40:
        return numbers[key]
    if kind.code == gdb.TYPE_CODE_ARRAY:
        told["element"] = number_of(kind.target(), depth + 1)
    for field in fields:
        if is_static(field):
            continue
        told["fields"].append(
            {
                "name": field.name,
                "bit": place(field),
                "bits": field.bitsize,
                "base": field.is_base_class,
                "type": number_of(field.type, depth + 1),
            }
        )
    return numbers[key]


def found(name: str) -> list[gdb.Type]:
    symbols = list(gdb.lookup_static_symbols(name, gdb.SYMBOL_STRUCT_DOMAIN))
    symbol = gdb.lookup_global_symbol(name, gdb.SYMBOL_STRUCT_DOMAIN)
    if symbol is not None:
        symbols.append(symbol)
    kinds = [one.type for one in symbols if one.type is not None]
    if not kinds:
        try:
            kinds = [gdb.lookup_type(name)]
        except gdb.error:
            return []
    return [kind.strip_typedefs() for kind in kinds]


with open(names, encoding="utf-8") as file:  # noqa: F821
    wanted = file.read().split("\n")
answer = {name: sorted({number_of(kind) for kind in found(name) if kind.code in AGGREGATES}) for name in wanted if name}
with open(out, "w", encoding="utf-8") as file:  # noqa: F821
    json.dump({"types": types, "structures": answer}, file)
