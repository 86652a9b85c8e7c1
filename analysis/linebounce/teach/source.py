"""Splits a lesson's Markdown file into blocks with line numbers, so that errors can name file and line."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from linebounce.errors import InputError, UsageError, malformed, meant
from linebounce.files import read_file

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
# Lessons are written by hand, so a longer file can't be one.
LONGEST_FILE = 1 << 20

# The legal KINDs in "```toml KIND NAME", and those that need a NAME.
KINDS = ("break", "lesson", "moment", "question", "scene")
NAMED = ("scene",)
LUA_KINDS = ("lock", "program")


class LessonError(UsageError):
    """A mistake in a lesson: "FILE:LINE: what is wrong, and what would be right"."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.line = line
        self.message = message


@dataclass(frozen=True)
class Block:
    """A fenced block, or the prose between two of them. `line`: the line in the file of the first line of `text`."""

    kind: str  # "prose", or one of KINDS or LUA_KINDS
    name: str
    text: str
    line: int
    html: str = ""
    plain: str = ""  # for prose, its Markdown


def html(text: str) -> str:
    """The HTML for a short Markdown text, such as a question or the reply to a wrong choice."""
    return _code_in_lines(_MARKDOWN.render(text.strip()))


def _code_in_lines(rendered: str) -> str:
    """Makes each line of code an element, so that a page can indent what it wraps of a long one. The text stays as it is."""

    def in_lines(block: re.Match[str]) -> str:
        lines = block[2].splitlines(keepends=True)
        return block[1] + "".join(f'<span class="line">{line}</span>' for line in lines) + block[3]

    return re.sub(r"(<pre><code[^>]*>)(.*?)(</code></pre>)", in_lines, rendered.strip(), flags=re.DOTALL)


def read_text(path: Path, longest: int = LONGEST_FILE) -> str:
    """Raises InputError for a file that can't be read, is not text, or is too long."""
    content = read_file(path, longest + 1)
    if len(content) > longest:
        raise InputError(f"{path} is longer than the limit of {longest >> 10} KiB")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{path}:{line}: this is not UTF-8 text") from None


def blocks_of(path: Path, text: str, more_kinds: Sequence[str] = ()) -> list[Block]:
    """All blocks of a file in order. Raises LessonError for a fenced block whose kind is neither in KINDS nor in
    `more_kinds`."""
    blocks: list[Block] = []
    prose: list[Token] = []
    lines = text.splitlines()
    for group in _top_level(_MARKDOWN.parse(text)):
        block = _fenced(path, group[0], more_kinds)
        if block is None:
            prose += group
            continue
        blocks += _prose(prose, lines)
        prose = []
        blocks.append(block)
    return blocks + _prose(prose, lines)


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Groups Markdown tokens by top-level element: a paragraph with its content, a list, a fenced block."""
    group: list[Token] = []
    depth = 0
    for token in tokens:
        group.append(token)
        depth += token.nesting
        if depth == 0:
            yield group
            group = []


def _fenced(path: Path, token: Token, more_kinds: Sequence[str]) -> Block | None:
    """The block of a fenced token, if its kind is one of a lesson's. None for prose, and for code that prose shows."""
    words = token.info.split() if token.type == "fence" else []
    if len(words) < 2 or words[0] not in ("toml", "lua"):
        return None
    line = (token.map or [0])[0] + 1
    kinds = (*KINDS, *more_kinds) if words[0] == "toml" else LUA_KINDS
    if words[1] not in kinds:
        raise LessonError(path, line, f'there is no block "{words[0]} {words[1]}"; known: {", ".join(kinds)}')
    named = words[1] in (*NAMED, *LUA_KINDS)
    if len(words) != (3 if named else 2):
        how = f"```{words[0]} {words[1]} NAME" if named else f"```{words[0]} {words[1]}"
        raise LessonError(path, line, f"this block begins as {how}")
    if named and not re.fullmatch(r"[a-z][a-z0-9_]*", words[2]):
        raise LessonError(path, line, f'"{words[2]}" is not a name; legal: a small letter, then small letters, digits and _')
    return Block(words[1], words[2] if named else "", token.content, line + 1)


def _prose(tokens: list[Token], lines: Sequence[str]) -> list[Block]:
    if not tokens:
        return []
    first, last = (tokens[0].map or [0, 0])[0], max((token.map or [0, 0])[1] for token in tokens)
    rendered = _code_in_lines(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))
    return [Block("prose", "", "", first + 1, rendered, "\n".join(lines[first:last]).strip())]


@dataclass(frozen=True)
class Field:
    """A key that a block may have."""

    type: type | tuple[type, ...]
    says: str  # the type in words, for error messages
    required: bool = False
    legal: tuple[str, ...] = ()


TEXT = Field(str, "a text")
NEEDED_TEXT = Field(str, "a text", required=True)


@dataclass(frozen=True)
class Table:
    """A block's TOML, with keys and types already checked."""

    path: Path
    block: Block
    values: dict[str, Any]

    def line(self, key: str) -> int:
        """The number of the line with this key, or with this text. If the block has neither, the number of the block's
        first line."""
        found = re.search(rf'^\s*(\[\[?)?"?{re.escape(key)}"?(\s*=|\])', self.block.text, re.MULTILINE)
        place = found.start() if found else self.block.text.find(key)
        if found:
            place += len(found[0]) - len(found[0].lstrip())
        return self.block.line + self.block.text.count("\n", 0, max(place, 0))

    def error(self, key: str, message: str) -> LessonError:
        return LessonError(self.path, self.line(key), message)

    def text(self, key: str, default: str = "") -> str:
        return str(self.values.get(key, default)).strip()

    def texts(self, key: str) -> list[str]:
        """A list of strings, or a single string as a list."""
        value = self.values.get(key, [])
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(one, str) for one in values):
            raise self.error(key, f"{key} holds strings: put each in quotation marks")
        return list(values)


def table_of(path: Path, block: Block, fields: dict[str, Field]) -> Table:
    """Raises LessonError for malformed TOML, unknown or missing keys, and wrong types."""
    table = Table(path, block, _toml(path, block))
    for key, value in table.values.items():
        if key not in fields:
            known = ", ".join(sorted(fields))
            raise table.error(key, f'a block "{block.kind}" has no key {key}: {meant(key, sorted(fields))} (known: {known})')
        field = fields[key]
        # Python takes a bool for an int.
        if not isinstance(value, field.type) or (isinstance(value, bool) and field.type is not bool):
            raise table.error(key, f"{key} is {field.says}")
        if field.legal and value not in field.legal:
            raise table.error(key, f'{key} = "{value}" is not known; legal: {", ".join(field.legal)}')
    for key, field in fields.items():
        if field.required and key not in table.values:
            raise LessonError(path, block.line - 1, f'this block "{block.kind}" lacks {key}, {field.says}')
    return table


def _toml(path: Path, block: Block) -> dict[str, Any]:
    try:
        return tomllib.loads(block.text)
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place[1]) - 1 if place and place[1] else block.text.count("\n")
        raise LessonError(path, block.line + line, malformed("TOML", block.text, error, numbered=False)) from None
