"""Tables and coloured lines on the standard output."""

from typing import NoReturn

from rich.console import Console


class _Output(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Rich would end the process with 1, which is the code of a check that failed. commands.py has another."""
        raise BrokenPipeError


def output(pipe_columns: int) -> Console:
    """In a pipe lines have so many columns: nothing is cut to the width of a terminal that isn't there."""
    console = _Output(highlight=False)
    return console if console.is_terminal else _Output(highlight=False, width=pipe_columns)
