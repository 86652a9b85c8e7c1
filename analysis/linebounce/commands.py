"""What all commands share: their exit codes, their --help, and one line for what goes wrong."""

import argparse
import errno
import os
import re
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import groupby

from linebounce.errors import InputError, UsageError
from linebounce.visible import visible_streams

DONE, CHECK_FAILED, USAGE, UNREADABLE, INTERRUPTED = 0, 1, 2, 3, 130
# What a shell reports of a program that ended by writing to a pipe that nobody reads.
CLOSED_PIPE = 128 + signal.SIGPIPE
# Files have their own messages (files.py): what comes this far is of the standard output.
_LONGEST_LINE = 4000
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)


class HelpFormatter(argparse.HelpFormatter):
    """Breaks the text below the options at the terminal's width. Of examples, lines of "  COMMAND    what it does", the words
    stand below the commands where one is too long. As sim/commands/command_line.cpp does it."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(indent + _group(lines.splitlines(), width) for lines in text.split("\n\n"))


def _group(lines: list[str], width: int) -> str:
    if all(len(line) <= width for line in lines):
        return "\n".join(lines)
    blocks = groupby(lines, lambda line: line.startswith("  "))
    return "\n".join(_examples(block, width) if examples else _prose(block, width) for examples, block in blocks)


def _prose(lines: Iterable[str], width: int) -> str:
    return textwrap.fill(" ".join(lines), width, break_on_hyphens=False)


def _examples(lines: Iterable[str], width: int) -> str:
    return "\n".join(_example(line, width) for line in lines)


def _example(line: str, width: int) -> str:
    command, _, words = line.strip().partition("  ")
    below = textwrap.TextWrapper(width, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
    # An option and its value stay together.
    held = re.sub(r'(--\S+) ("[^"]*"|\S+)', lambda found: found[0].replace(" ", "\0"), command)
    lines = [part.replace("\0", " ") for part in below.wrap(held)]
    below.initial_indent = below.subsequent_indent
    return "\n".join(lines + below.wrap(words.strip()))


def parser_of(name: str, description: str, epilog: str, usage: str | None = None) -> argparse.ArgumentParser:
    """`name`: "linebounce report". `usage`: the words behind the name, where argparse's own don't say enough."""
    whole = f"{name} {usage}" if usage else None
    return argparse.ArgumentParser(name, whole, description, epilog, formatter_class=HelpFormatter)


def exit_code(name: str, work: Callable[[], int]) -> int:
    """What `work` returns, or the code of what stops it, which is said on the standard error. `name`: "linebounce report"."""
    with visible_streams():
        return _exit_code(name, work)


def _exit_code(name: str, work: Callable[[], int]) -> int:
    try:
        code = _code(name, work)
        sys.stdout.flush()
    except BrokenPipeError:
        _write_to_nobody()
        return CLOSED_PIPE
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _write_to_nobody()
        return _refused(name, UsageError(f"cannot write the standard output: {error.strerror}"), USAGE)
    return code


def _code(name: str, work: Callable[[], int]) -> int:
    try:
        return work()
    except UsageError as error:
        return _refused(name, error, USAGE)
    except InputError as error:
        return _refused(name, error, UNREADABLE)
    except KeyboardInterrupt:
        return INTERRUPTED


def _refused(name: str, error: Exception, code: int) -> int:
    lines = f"{name}: {error}".splitlines()
    print("\n".join(map(_wrapped, map(_shortened, lines))), file=sys.stderr, flush=True)
    return code


def _wrapped(line: str) -> str:
    """As wide as the terminal, if there is one."""
    if not sys.stderr.isatty():
        return line
    return textwrap.fill(line, shutil.get_terminal_size().columns, subsequent_indent="  ", break_on_hyphens=False)


def _shortened(line: str) -> str:
    """Of a line that is very long, as it holds what a user has given, the beginning and the end."""
    half = _LONGEST_LINE // 2
    return line if len(line) <= _LONGEST_LINE else f"{line[:half]}…{line[-half:]}"


def _write_to_nobody() -> None:
    """Releases what a standard stream could not write: Python would try it again at its end, and complain."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(ValueError):  # a stream without a file of its own
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
