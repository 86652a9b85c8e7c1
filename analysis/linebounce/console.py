"""Tables and coloured lines on the standard streams."""

import os
import sys
from collections.abc import Iterable
from typing import NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from linebounce.visible import raw, visible


class _Output(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Rich would end the process with 1, which is the code of a check that failed. commands.py has another."""
        raise BrokenPipeError

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Colours and moves of the cursor are Rich's own; the rest is text."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def output(pipe_columns: int) -> Console:
    """In a pipe lines have as many columns as COLUMNS says, else so many: no terminal is there whose width would count."""
    stream = raw(sys.stdout)
    console = _Output(file=stream, highlight=False)
    return console if console.is_terminal else _Output(file=stream, highlight=False, width=_columns() or pipe_columns)


def _columns() -> int:
    """What COLUMNS says; 0 if it says no number."""
    text = os.environ.get("COLUMNS", "")
    return int(text) if text.isascii() and text.isdigit() else 0


def errors() -> Console:
    """On the standard error."""
    return _Output(file=raw(sys.stderr))
