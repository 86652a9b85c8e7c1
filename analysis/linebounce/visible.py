"""Escapes text from others before it reaches a terminal: names from traces, titles, file names, words of the command line."""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

# Characters that would act on a terminal, as in models/text/visible.cpp; surrogates stand for bytes that are not UTF-8.
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """Spells out characters that would act on a terminal, such as \\u001b, and bytes that are not text, such as \\xff."""
    return _ACTIVE.sub(_spelled, text)


def visible_name(text: str) -> str:
    """The same for a name or value within a line: also spells out newlines and tabs."""
    return visible(text).replace("\n", "\\u000a").replace("\t", "\\u0009")


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


class _Visible:
    """A text stream that makes everything written to it visible text."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def raw(stream: Any) -> TextIO:
    """The underlying stream, for writers that escape and colour text themselves."""
    found: TextIO = stream.stream if isinstance(stream, _Visible) else stream
    return found


@contextmanager
def visible_streams() -> Iterator[None]:
    """Within this context, everything printed is visible text. Colours are for consoles (console.py)."""
    before = sys.stdout, sys.stderr
    wrapped: Any = tuple(_Visible(raw(stream)) for stream in before)
    sys.stdout, sys.stderr = wrapped
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
