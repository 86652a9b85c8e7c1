"""Text of others on its way to a terminal: names from traces, titles, file names, words of the command line."""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

# What would act on a terminal, as models/text/visible.cpp has it; surrogates stand for bytes of a name that are no UTF-8.
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with what would act on a terminal spelled out: \\u001b, and of a byte that is no text \\xff."""
    return _ACTIVE.sub(_spelled, text)


def visible_name(text: str) -> str:
    """The same for a name or a value within a line: newlines and tabs are spelled out, too."""
    return visible(text).replace("\n", "\\u000a").replace("\t", "\\u0009")


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


class _Visible:
    """A text stream that is written visible text to."""

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
    """The stream itself: for those who escape what they write, and colour it."""
    found: TextIO = stream.stream if isinstance(stream, _Visible) else stream
    return found


@contextmanager
def visible_streams() -> Iterator[None]:
    """What is printed in here, by whomever, is visible text. Colours are for consoles (console.py)."""
    before = sys.stdout, sys.stderr
    wrapped: Any = tuple(_Visible(raw(stream)) for stream in before)
    sys.stdout, sys.stderr = wrapped
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
