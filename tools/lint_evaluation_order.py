"""Finds two side effects that the compiler may run in either order.

gcc and clang evaluate the arguments of a call, and the operands of most operators, in different orders. Where two of them
each access simulated memory, place an object in it or draw a random number, results would differ between compilers.
So this is an error:

    record(cpu.load(a), cpu.load(b));        cpu.load(a) + cpu.load(b)        place(random.below(4), random.below(8))

and this, whose order the language fixes, is not:

    cpu.load(a) && cpu.load(b)    Pair{cpu.load(a), cpu.load(b)}    cpu.store(a, cpu.load(a) + 1)    cpu.load(a) << cpu.load(b)

An effect is a call of a member named below, any use of a random number generator, and, in a workload, any call that is
handed the CPU, for it may access memory.
"""

import re
from pathlib import PurePosixPath
from typing import TypeGuard

from cpp_tokens import Group, Item, Token, tree
from source_tree import Finding, SourceTree

# Calls with a side effect: members of the CPU's interface and of the random number generator.
EFFECTS = re.compile(
    r"load(_\w+)?|store(_\w+)?|fetch_\w+|exchange(_\w+)?|compare_exchange\w*|test_and_set|spin_\w+|prefetch|fence|execute"
    r"|compute|sleep\w*|draw\w*|next\w*|below|between|uniform\w*|exponential\w*|chance|shuffle"
    r"|place|place_array|shared|nodes|allocate|create"  # these place objects in memory, one after the other
)
EFFECTS_WITHOUT_ARGUMENTS = re.compile(r"fence|draw\w*|next\w*|uniform\w*|exponential\w*|chance")
GENERATOR = re.compile(r"(?:\w+_)?(?:random|rng|generator)_?")

# Operators, the loosest first, with whether their operands run in a fixed order. An assignment runs its right side first.
# "?:" runs only one alternative.
LEVELS = [
    ({"&&", "||", "?", ":", ";", "="} | {f"{sign}=" for sign in [*"+-*/%&|^", "<<", ">>"]}, True),
    ({"|", "^", "&", "==", "!=", "<", ">", "<=", ">=", "<=>"}, False),
    ({"<<", ">>"}, True),
    ({"+", "-", "*", "/", "%"}, False),
]
CONTROL = {"if", "while", "for", "switch", "return", "catch", "constexpr", "case", "co_return", "throw"}
UNEVALUATED = {"sizeof", "decltype", "noexcept", "alignof", "requires", "static_assert"}


class Linter:
    def __init__(self, file: str, brackets: Group) -> None:
        self.file = file
        self.is_workload = "workloads" in PurePosixPath(file).parts
        self.findings: list[Finding] = []
        self._visit(brackets, called=False)

    def _visit(self, group: Group, called: bool) -> Token | None:
        """Checks everything inside a group. Returns the group's own effect, or None. `called`: whether the group holds
        a call's arguments."""
        items = self._without_bodies(_without_template_lists(group.items))
        parts = [self._expression(part, 0) for part in _split(items, {","})]
        return self._at_most_one(parts, "arguments of one call") if called else _first(parts)

    def _expression(self, items: list[Item], level: int) -> Token | None:
        if level == len(LEVELS):
            return self._operand(items)
        operators, in_order = LEVELS[level]
        parts = [self._expression(part, level + 1) for part in _split(items, operators)]
        return _first(parts) if in_order else self._at_most_one(parts, "operands of one expression")

    def _without_bodies(self, items: list[Item]) -> list[Item]:
        """Checks bodies of functions and lambdas, and removes them from the group, because they don't run where they
        are written."""
        kept: list[Item] = []
        in_lambda = False
        for place, item in enumerate(items):
            before = items[place - 1] if place else None
            if isinstance(item, Group) and item.kind == "[" and not _ends_operand(before) and not _is_attribute(item):
                in_lambda = True
            elif in_lambda and _is_word(item, {";", ":", "=", ","}):
                in_lambda = False  # this bracket was a structured binding's, not a lambda's
            if isinstance(item, Group) and item.kind == "{" and (in_lambda or _is_block(item)):
                self._visit(item, called=False)
                # After a lambda the expression goes on. After a block a new statement begins.
                kept.append(Token("name", "lambda", item.line) if in_lambda else Token("operator", ";", item.line))
                in_lambda = False
            elif not in_lambda:
                kept.append(item)
        return kept

    def _operand(self, items: list[Item]) -> Token | None:
        """The effect of a sequence of names, calls and brackets, which runs from left to right."""
        effects = []
        for place, item in enumerate(items):
            before = items[place - 1] if place else None
            if isinstance(item, Group):
                called = item.kind == "(" and _ends_operand(before) and not _is_word(before, CONTROL)
                effect = self._visit(item, called)
                effects.append(None if _is_word(before, UNEVALUATED) else effect)
                if called and isinstance(before, Token) and self._is_handed_the_cpu(item):
                    effects.append(before)
            elif item.kind == "name":
                effects.append(self._effect_of_name(items, item, place))
        return _first(effects)

    def _effect_of_name(self, items: list[Item], name: Token, place: int) -> Token | None:
        before = items[place - 1] if place else None
        after = items[place + 1] if place + 1 < len(items) else None
        is_called = isinstance(after, Group) and after.kind == "("
        # A memory access takes an address. A store() without arguments is not an access: it returns a part of a machine.
        effects = EFFECTS if isinstance(after, Group) and after.items else EFFECTS_WITHOUT_ARGUMENTS
        if is_called and _is_word(before, {".", "->"}) and effects.fullmatch(name.text):
            return name
        # `Random& random` declares the generator; `random.below(4)` and `pick(random)` use it.
        is_declared = before is not None and _ends_operand(before)
        if GENERATOR.fullmatch(name.text) and not is_called and not is_declared:
            return name
        return None

    def _is_handed_the_cpu(self, arguments: Group) -> bool:
        return self.is_workload and any(
            len(argument) == 1 and _is_word(argument[0], {"cpu"}) for argument in _split(arguments.items, {","})
        )

    def _at_most_one(self, effects: list[Token | None], where: str) -> Token | None:
        found = [effect for effect in effects if effect]
        if len(found) > 1:
            names = " and ".join(f'"{effect.text}"' for effect in found[:2])
            what = f"{names} are {where}; compilers differ in which runs first: give each a variable"
            self.findings.append(Finding(self.file, found[1].line, what))
        return found[0] if found else None


def _first(effects: list[Token | None]) -> Token | None:
    return next(filter(None, effects), None)


def _split(items: list[Item], separators: set[str]) -> list[list[Item]]:
    parts: list[list[Item]] = [[]]
    for item in items:
        # Without a left operand, the operator is a prefix: -x, *p, &x.
        if _is_word(item, separators) and (parts[-1] or item.text not in {"-", "+", "*", "&", "&&"}):
            parts.append([])
        else:
            parts[-1].append(item)
    return parts


def _without_template_lists(items: list[Item]) -> list[Item]:
    """Removes template arguments, <...>. Takes <...> for them only after a name and before a bracket, a name or "::"."""
    kept: list[Item] = []
    place = 0
    while place < len(items):
        end = _end_of_template_list(items, place)
        if end:
            place = end
        else:
            kept.append(items[place])
            place += 1
    return kept


def _end_of_template_list(items: list[Item], start: int) -> int | None:
    if not _is_word(items[start], {"<"}) or start == 0 or not _is_name(items[start - 1]):
        return None
    depth = 0
    for place in range(start, len(items)):
        item = items[place]
        if isinstance(item, Token):
            depth += {"<": 1, ">": -1, ">>": -2}.get(item.text, 0)
            if item.kind == "operator" and item.text not in {"<", ">", ">>", "::", ",", "*", "&", "..."}:
                return None
        if depth <= 0:
            after = items[place + 1] if place + 1 < len(items) else None
            return place + 1 if isinstance(after, Group) or _is_name(after) or _is_word(after, {"::", "&", "*"}) else None
    return None


def _is_word(item: Item | None, words: set[str]) -> TypeGuard[Token]:
    return isinstance(item, Token) and item.text in words


def _is_name(item: Item | None) -> TypeGuard[Token]:
    return isinstance(item, Token) and item.kind == "name"


def _is_attribute(group: Group) -> bool:
    return len(group.items) == 1 and isinstance(group.items[0], Group) and group.items[0].kind == "["


def _ends_operand(item: Item | None) -> bool:
    """Whether an operand may end with this item, so that an operator or a call's bracket may follow."""
    if isinstance(item, Token):
        return item.text != "return" if item.kind == "name" else item.kind != "operator" or item.text in {"++", "--"}
    return item is not None


def _is_block(group: Group) -> bool:
    """Whether the braces hold statements. Otherwise they hold initial values."""
    return not group.items or any(_is_word(item, {";"}) or _has_body(item) for item in group.items)


def _has_body(item: Item) -> bool:
    return isinstance(item, Group) and item.kind == "{" and bool(item.items) and _is_block(item)


def findings(sources: SourceTree, file: str) -> list[Finding]:
    return Linter(file, tree(sources.tokens(file))).findings
