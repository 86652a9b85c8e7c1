"""Prints tables and coloured lines on the standard streams."""

import os
import sys
from collections.abc import Iterable
from typing import NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from linebounce.visible import raw, visible


class _Output(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Lets the exception reach commands.py. Rich would exit with 1, which means a failed check."""
        raise BrokenPipeError

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Escapes characters that act on a terminal, except in Rich's own colours and cursor movements."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def output(pipe_columns: int) -> Console:
    """The console for the standard output. A pipe has no width: lines are COLUMNS wide if that is set, otherwise
    `pipe_columns`."""
    stream = raw(sys.stdout)
    console = _Output(file=stream, highlight=False)
    return console if console.is_terminal else _Output(file=stream, highlight=False, width=_columns() or pipe_columns)


def _columns() -> int:
    """The value of COLUMNS; 0 if it is not a number."""
    text = os.environ.get("COLUMNS", "")
    return int(text) if text.isascii() and text.isdigit() else 0


def errors() -> Console:
    """The console for the standard error."""
    return _Output(file=raw(sys.stderr))
