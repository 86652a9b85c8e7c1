"""Checks the style of text for readers.

In documentation, comments and messages: no word of wrong_words.txt. In Markdown also: lines have at most 120 columns,
except tables and code, and a source file named in backticks exists.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from source_tree import Finding, SourceTree, fits, line_at

WRONG_WORDS = Path(__file__).with_name("wrong_words.txt")
COLUMNS = 120

FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"`[^`\n]+`")
WORD = re.compile(r"(?<![\w-])[a-z]+(?:-[a-z]+)*(?![\w-])", re.IGNORECASE)
# Matches the name of a source file: `core.cpp`, `models/core/core.*`. Names of users' files (results, programs, machine
# files) don't match.
SOURCE_FILE = re.compile(r"(?:\./)?(?P<path>[\w*/.-]*[\w*])\.(?P<suffix>cpp|hpp|py|js|css|html|\*)")


def read_words(text: str) -> dict[str, str]:
    """The replacement for each wrong word."""
    rules = [line.split(" => ") for line in text.splitlines() if line and not line.startswith("#")]
    return {word: right for wrong, right in rules for word in wrong.split(", ")}


@cache
def shipped_words() -> dict[str, str]:
    return read_words(WRONG_WORDS.read_text(encoding="utf-8"))


def blanked(pattern: re.Pattern[str], text: str) -> str:
    """The text with every match replaced by blanks, so that line numbers stay the same."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def wrong_words(text: str, words: Mapping[str, str]) -> list[tuple[int, str]]:
    return [
        (line_at(text, match.start()), f'"{match[0]}": write {words[match[0].lower()]}')
        for match in WORD.finditer(text)
        if match[0].lower() in words
    ]


def long_lines(text: str) -> list[tuple[int, str]]:
    return [
        (number, f"{len(line)} columns; documentation has at most {COLUMNS}")
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > COLUMNS and not line.startswith("|") and " " in line.strip()
    ]


def missing_files(path: str, text: str, files: Sequence[str]) -> list[tuple[int, str]]:
    """Source files that are named in backticks and exist nowhere in the tree."""
    found = []
    for span in CODE_SPAN.finditer(text):
        name = SOURCE_FILE.fullmatch(span.group().strip("`"))
        if name is None or any(placeholder in name["path"].rpartition("/")[2] for placeholder in (".", "NAME", "*")):
            continue
        # Only README files name sources so; elsewhere `locks.*` is a group of metrics.
        if name["suffix"] == "*" and not path.endswith("README.md"):
            continue
        wanted = f"{name['path']}.{name['suffix']}"
        if not any(fits(file, (wanted, f"*/{wanted}")) for file in files):
            found.append((line_at(text, span.start()), f"there is no file {wanted}"))
    return found


def findings(sources: SourceTree, file: str, words: Mapping[str, str] | None = None) -> list[Finding]:
    text = sources.text(file)
    words = shipped_words() if words is None else words
    if file.endswith(".md"):
        prose = blanked(FENCE, text)
        found = [*long_lines(prose), *missing_files(file, prose, sources.names)]
        found += wrong_words(blanked(CODE_SPAN, prose), words)
    else:
        found = wrong_words(text, words)
    return [Finding(file, line, what) for line, what in sorted(found)]
