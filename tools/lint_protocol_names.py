"""Forbids code that asks which protocol runs: differences between protocols belong in their tables.

It finds comparisons with a protocol's name. In models/ and workloads/ it finds any string with one.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath

from cpp_tokens import Token
from source_tree import ROOT, Finding, SourceTree

FAMILIES = {"msi", "mesi", "mesif", "moesi", "dragon", "firefly", "illinois", "write_through"}
PROTOCOL = re.compile(r"(\w+_)?protocol(_name)?_?", re.IGNORECASE)
COMPARISONS = {"==", "!="}


@cache
def protocol_names() -> set[str]:
    return {path.stem for path in (ROOT / "models" / "protocols").glob("*.md") if path.stem != "README"} | FAMILIES


def mentions(token: Token, names: set[str]) -> bool:
    return token.kind == "string" and token.text.strip('"').lower() in names


def is_a_protocols_name(operand: list[Token]) -> bool:
    """Whether an operand may name a protocol: protocol, protocol_name, protocol.name, spec.bus.protocol."""
    words = [token.text for token in operand if token.kind == "name"]
    return bool(words) and bool(
        PROTOCOL.fullmatch(words[-1]) or (words[-1] == "name" and len(words) > 1 and PROTOCOL.fullmatch(words[-2]))
    )


def operand_before(all_tokens: list[Token], place: int) -> list[Token]:
    start = place
    while start and (all_tokens[start - 1].kind == "name" or all_tokens[start - 1].text in {".", "->", "::"}):
        start -= 1
    return all_tokens[start:place]


def operand_after(all_tokens: list[Token], place: int) -> list[Token]:
    end = place + 1
    while end < len(all_tokens) and (all_tokens[end].kind == "name" or all_tokens[end].text in {".", "->", "::"}):
        end += 1
    return all_tokens[place + 1 : end]


def findings(sources: SourceTree, file: str) -> Iterator[Finding]:
    names = protocol_names()
    all_tokens = sources.tokens(file)
    may_mention = PurePosixPath(file).parts[0] not in {"models", "workloads"}
    for place, token in enumerate(all_tokens):
        if token.text in COMPARISONS:
            sides = [operand_before(all_tokens, place), operand_after(all_tokens, place)]
            next_to = [*all_tokens[max(place - 1, 0) : place], *all_tokens[place + 1 : place + 2]]
            if any(mentions(side, names) for side in next_to) or any(is_a_protocols_name(side) for side in sides):
                yield Finding(file, token.line, "compares a protocol's name: put the difference into the protocol's table")
        elif mentions(token, names) and not may_mention:
            yield Finding(file, token.line, f"names the protocol {token.text}: hardware and workloads run any table")
