"""Escapes untrusted text before it reaches a terminal or a spreadsheet: names from traces, titles, file names, words of the
command line."""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

# Characters that act on a terminal, as in models/text/visible.cpp. Python's surrogates stand for bytes that are not UTF-8.
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

_LONGEST_QUOTED = 60


def visible(text: str) -> str:
    """Replaces characters that act on a terminal by escapes such as \\u001b, and bytes that are not UTF-8 by escapes
    such as \\xff."""
    return _ACTIVE.sub(_spelled, text)


def visible_name(text: str) -> str:
    """Like visible(), for a name or value within a line: also escapes newlines and tabs."""
    return visible(text).replace("\n", "\\u000a").replace("\t", "\\u0009")


def shortened_name(text: str) -> str:
    """Like visible_name(), for a value of any length that a message quotes."""
    return visible_name(text if len(text) <= _LONGEST_QUOTED else text[:_LONGEST_QUOTED] + "…")


def print_line(text: object) -> None:
    """Prints one line, even if a name in it has newlines."""
    print(visible_name(str(text)))


def no_formula(text: str) -> str:
    """The text with an apostrophe in front if a spreadsheet would compute it; sim/results/csv.cpp does the same."""
    return f"'{text}" if text.lstrip("'").startswith(("=", "+", "-", "@", "\t", "\r")) else text


def finalized(value: Any) -> Any:
    """For Jinja's `finalize`: a page's source acts on no terminal, either. Markup is ours and stays."""
    return visible(value) if type(value) is str else value


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


class _Visible:
    """A text stream that escapes whatever is written to it."""

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
    """The stream below a _Visible one, for writers that escape text themselves, such as console.py."""
    found: TextIO = stream.stream if isinstance(stream, _Visible) else stream
    return found


@contextmanager
def visible_streams() -> Iterator[None]:
    """Escapes everything that is printed within this context. Coloured output goes through console.py instead."""
    before = sys.stdout, sys.stderr
    wrapped: Any = tuple(_Visible(raw(stream)) for stream in before)
    sys.stdout, sys.stderr = wrapped
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
