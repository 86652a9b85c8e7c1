"""Forbids, in code that makes results, constructs whose effect depends on the compiler, library or run."""

import re
from pathlib import PurePosixPath

from cpp_tokens import Token
from source_tree import Finding, SourceTree

# Functions whose last digit differs between mathematical libraries. sqrt is not among them: IEEE 754 defines it exactly.
INEXACT = re.compile(r"(pow|exp|exp2|expm1|log|log2|log10|log1p|sin|cos|tan|tanh|sinh|cosh|cbrt|hypot|tgamma|lgamma|fma)[fl]?")
# What the standard leaves to libraries, or what differs between computers.
FORBIDDEN = {
    re.compile(r"\w+_distribution|generate_canonical"): "its algorithm is the library's: use our own distributions",
    re.compile(r"shuffle|sample"): "its algorithm is the library's: use our own",
    re.compile(r"hash"): "its values are the library's: sort by a key instead",
    re.compile(r"random_device|s?rand|drand48"): "random numbers come from a seeded generator that is handed in",
}
HOST_TIME = re.compile(r"chrono|steady_clock|system_clock|clock_gettime|gettimeofday")
UNORDERED = re.compile(r"unordered_(map|set|multimap|multiset)")
BY_POINTER = {"map", "set", "multimap", "multiset"}


def is_std(all_tokens: list[Token], place: int) -> bool:
    return place >= 2 and [token.text for token in all_tokens[place - 2 : place]] == ["std", "::"]


def is_free_call(all_tokens: list[Token], place: int) -> bool:
    """Whether the name is neither a member nor being declared here."""
    before = all_tokens[place - 1] if place else Token("operator", ";", 1)
    return before.text not in {".", "->", "::"} and (before.kind != "name" or before.text == "return")


def texts(all_tokens: list[Token], place: int, count: int) -> list[str]:
    return [token.text for token in all_tokens[place : place + count]]


def complaint(all_tokens: list[Token], place: int, may_read_clock: bool) -> str | None:
    name = all_tokens[place].text
    if texts(all_tokens, place, 2) == ["long", "double"]:
        return '"long double" differs between machines'
    if (
        INEXACT.fullmatch(name)
        and texts(all_tokens, place + 1, 1) == ["("]
        and texts(all_tokens, place + 2, 1) != [")"]
        and (is_std(all_tokens, place) or is_free_call(all_tokens, place))
    ):
        return f'"{name}" differs between mathematical libraries'
    if is_std(all_tokens, place):
        for pattern, reason in FORBIDDEN.items():
            if pattern.fullmatch(name):
                return f'"std::{name}": {reason}'
        if HOST_TIME.fullmatch(name) and not may_read_clock:
            return f'"std::{name}": the host\'s time must not reach results'
        if name in BY_POINTER and orders_by_pointer(all_tokens, place + 1):
            return f'"std::{name}" sorted by pointers: their order differs from run to run'
    return None


def orders_by_pointer(all_tokens: list[Token], place: int) -> bool:
    """Whether the template list that begins here has a pointer as its first argument."""
    depth = 0
    for token in all_tokens[place:]:
        depth += {"<": 1, ">": -1, ">>": -2}.get(token.text, 0)
        if depth <= 0 or (depth == 1 and token.text == ","):
            return False
        if depth == 1 and token.text == "*":
            return True
    return False


def unordered_names(all_tokens: list[Token]) -> set[str]:
    """Names of variables that are unordered containers."""
    found = set[str]()
    for place, token in enumerate(all_tokens):
        if not UNORDERED.fullmatch(token.text):
            continue
        depth, end = 0, place + 1
        while end < len(all_tokens):
            depth += {"<": 1, ">": -1, ">>": -2}.get(all_tokens[end].text, 0)
            end += 1
            if depth <= 0:
                break
        while texts(all_tokens, end, 1) in (["&"], ["const"]):
            end += 1
        found.update(token.text for token in all_tokens[end : end + 1] if token.kind == "name")
    return found


def iterations(all_tokens: list[Token], names: set[str]) -> list[tuple[int, str]]:
    found = []
    for place, token in enumerate(all_tokens):
        if token.text not in names:
            continue
        in_for = place and all_tokens[place - 1].text == ":" and texts(all_tokens, place + 1, 1) == [")"]
        by_iterator = texts(all_tokens, place + 1, 2) in ([".", "begin"], [".", "cbegin"])
        if in_for or by_iterator:
            found.append((token.line, f'"{token.text}" is unordered: its order is the library\'s; sort by a key first'))
    return found


def findings(sources: SourceTree, file: str) -> list[Finding]:
    all_tokens = sources.tokens(file)
    path = PurePosixPath(file)
    # Code around the simulation may read the host's clock, for progress and the manifest. The simulation may not.
    may_read_clock = path.parts[0] not in ("models", "workloads") and "simulation" not in path.parts
    complaints = [
        (all_tokens[place].line, text)
        for place in range(len(all_tokens))
        if (text := complaint(all_tokens, place, may_read_clock))
    ]
    # A container declared in X.hpp may be used in X.cpp, and the other way round.
    both = [str(path.with_suffix(suffix)) for suffix in (".hpp", ".cpp")]
    declared = set[str]().union(*(unordered_names(sources.tokens(name)) for name in both if name in sources))
    return [Finding(file, line, text) for line, text in sorted([*complaints, *iterations(all_tokens, declared)])]
