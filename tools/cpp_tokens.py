"""Splits C++ source into tokens and a tree of its brackets: enough for the project's own lints, without a parser."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<string>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"
      |(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
  | (?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<operator><<=|>>=|<=>|->\*|\.\.\.|->|::|&&|\|\||<<|>>|[-+*/%&|^=!<>]=|\+\+|--|.)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)

_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Token:
    kind: str  # "string", "number", "name" or "operator"
    text: str
    line: int


@dataclass(slots=True)
class Group:
    """The content of a pair of brackets. A whole file is a group of kind "{"."""

    kind: str  # "(", "[" or "{"
    line: int
    items: list["Token | Group"] = field(default_factory=list)


Item = Token | Group


def tokens(text: str) -> list[Token]:
    """The tokens, without white space, comments and preprocessor lines."""
    found = []
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup if match.lastgroup != "delimiter" else "string"
        if kind and kind != "skip":
            found.append(Token(kind, match.group(), line))
        line += match.group().count("\n")
    return found


def tree(file_tokens: Iterable[Token]) -> Group:
    """Groups a file's tokens by brackets. An unmatched bracket closes as many groups as it can."""
    root = Group("{", 1)
    open_groups = [root]
    for token in file_tokens:
        if token.kind == "operator" and token.text in _CLOSING:
            group = Group(token.text, token.line)
            open_groups[-1].items.append(group)
            open_groups.append(group)
        elif token.kind == "operator" and token.text in _CLOSING.values():
            if len(open_groups) > 1 and _CLOSING[open_groups[-1].kind] == token.text:
                open_groups.pop()
        else:
            open_groups[-1].items.append(token)
    return root
