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
        """Overrides Rich, which would exit with 1, the code for a failed check; commands.py handles broken pipes."""
        raise BrokenPipeError

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Rich's own colours and cursor movements pass through; everything else is escaped as text."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def output(pipe_columns: int) -> Console:
    """The console for output. In a pipe, which has no terminal width, lines have COLUMNS columns if that is set, otherwise
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
