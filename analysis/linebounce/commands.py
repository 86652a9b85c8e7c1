"""Shared by all commands: exit codes, --help, and one-line error messages."""

import argparse
import errno
import io
import os
import re
import shutil
import signal
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn

from linebounce.errors import InputError, UsageError
from linebounce.interrupts import interrupts_raise
from linebounce.supervised import PREFIX, lack_of_memory, limit_of_memory, supervised
from linebounce.usage import Once, path, reworded
from linebounce.visible import visible_name, visible_streams

DONE, CHECK_FAILED, USAGE, UNREADABLE, OUT_OF_MEMORY, BUG, INTERRUPTED = 0, 1, 2, 3, 4, 70, 130
# The exit status that a shell reports for a program killed by writing to a pipe without a reader.
CLOSED_PIPE = 128 + signal.SIGPIPE
_LONGEST_LINE = 4000
# Errors that a write to the standard output can raise. Errors of named files carry the name (files.py); one without a name
# comes from the standard output.
_NO_OUTPUT = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF)


_TITLES = {"positional arguments": "Positionals", "options": "Options"}


_COLUMNS, _MEANING_COLUMN, _NARROW_MEANING_COLUMN = 100, 30, 24
_BELOW: dict[str, Any] = {"initial_indent": " " * 6, "subsequent_indent": " " * 6, "break_on_hyphens": False}


class HelpFormatter(argparse.HelpFormatter):
    """Writes --help in the form of commands/command_line.cpp. An example is a line "  COMMAND    what it does". If an
    example is too long, its description moves to the next line."""

    def __init__(self, prog: str) -> None:
        columns = min(_COLUMNS, shutil.get_terminal_size((_COLUMNS, 0)).columns)
        super().__init__(
            prog, max_help_position=_MEANING_COLUMN if columns == _COLUMNS else _NARROW_MEANING_COLUMN, width=columns
        )

    def _format_action_invocation(self, action: argparse.Action) -> str:
        words = [",".join(action.option_strings) or str(action.metavar)]
        if action.option_strings and action.nargs != 0:
            words.append(str(action.metavar or "|".join(action.choices or ())))
        if action.nargs in ("+", "*") or isinstance(action, argparse._AppendAction):
            words.append("...")
        return " ".join(words + ["REQUIRED"] * action.required)

    def add_usage(self, usage: str | None, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, prefix or "Usage: ")

    def start_section(self, heading: str | None) -> None:
        super().start_section(_TITLES.get(heading or "", heading))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(indent + _group(lines.splitlines(), width) for lines in text.split("\n\n"))


class _Parser(argparse.ArgumentParser):
    """Reports wrong usage, and writes --help, in the form that the C++ commands use."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.register("action", None, Once)
        self.register("action", "store", Once)
        self.register("type", Path, path)

    def format_help(self) -> str:
        formatter = self._get_formatter()
        formatter.add_text(self.description)
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        for group in self._action_groups:
            formatter.start_section(group.title)
            formatter.add_arguments(group._group_actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help().replace("\n\nUsage: ", "\nUsage: ", 1)

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{PREFIX}{visible_name(reworded(self, message))}\nTry: {self.prog} --help\n")


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
    return "\n".join(_command_lines(command, width) + textwrap.wrap(words.strip(), width, **_BELOW))


def _command_lines(command: str, width: int) -> list[str]:
    """Breaks a long command between options; an option stays on one line with its value. A backslash ends each line but the
    last, so that the lines can be typed or pasted as they stand."""
    if len(command) + 2 <= width:
        return ["  " + command]
    held = re.sub(r'(--\S+) ("[^"]*"|\S+)', lambda found: found[0].replace(" ", "\0"), command)
    lines = textwrap.wrap(held, width - 2, **(_BELOW | {"initial_indent": "  "}))
    return [part.replace("\0", " ") for part in " \\\n".join(lines).splitlines()]


def parser_of(name: str, description: str, epilog: str, usage: str | None = None) -> argparse.ArgumentParser:
    """`name`: the words of the command, such as "linebounce report". `usage`: replaces the arguments that argparse
    lists after the name."""
    whole = f"{name} {usage}" if usage else None
    parser = _Parser(name, whole, description, epilog, formatter_class=HelpFormatter, add_help=False)
    parser.add_argument("-h", "--help", action="help", help="Print this help and exit")
    return parser


def exit_code(name: str, work: Callable[[], int]) -> int:
    """Returns the exit code of `work`. If an exception ends it, prints one line on the standard error and returns the
    exception's exit code. `name`: the words of the command, such as "linebounce report"."""
    _prepare_streams()
    if limit_of_memory() is not None:
        _spare_memory()

    def visibly() -> int:
        with visible_streams():
            return _exit_code(work)

    with interrupts_raise():
        return supervised(name, visibly, OUT_OF_MEMORY, USAGE)


def _spare_memory() -> None:
    """Limits the data-frame libraries to one thread. By default they start one for each core when they are loaded, each
    with a stack of its own. REQUIRES: called before they are loaded."""
    for name, value in (("POLARS_MAX_THREADS", "1"), ("_RJEM_MALLOC_CONF", "background_thread:false")):
        os.environ.setdefault(name, value)
    warnings.simplefilter("ignore")  # the libraries warn about optional parts that can't be loaded


def _prepare_streams() -> None:
    """Sets the output streams to UTF-8 whatever the locale, as in the C++ commands. Replaces streams that were closed
    before the start, for which Python has None: writing to the standard output then fails, and writing to the standard
    error does nothing. Opens /dev/null for a closed standard input; otherwise the next file opened would get its
    number, 0."""
    try:
        os.fstat(0)
    except OSError:
        os.open(os.devnull, os.O_RDONLY)  # a new file gets the lowest free number, here 0
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Closed(), encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")


class _Closed(io.BufferedIOBase):
    """A standard output that was closed before the program started."""

    def writable(self) -> bool:
        return True

    def write(self, _text: object) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def _exit_code(work: Callable[[], int]) -> int:
    try:
        code = _code(work)
        sys.stdout.flush()
    except BrokenPipeError:
        _write_to_nobody()
        return CLOSED_PIPE
    except OSError as error:
        _write_to_nobody()
        if error.errno in _NO_OUTPUT and error.filename is None:
            return _refused([f"cannot write to the standard output: {error.strerror}"], USAGE)
        return _refused([_of_the_system(error)], USAGE)
    return code


def _of_the_system(error: OSError) -> str:
    if error.filename is None and error.errno == errno.ENOENT and not _current_folder():
        return "the current folder no longer exists; change to one that does"
    named = f" {error.filename}" if error.filename else ""
    return f"the system refuses{named}: {error.strerror or error}"


def _current_folder() -> str:
    """Its path; empty if it has been deleted."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _code(work: Callable[[], int]) -> int:
    try:
        return work()
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as exit_:  # raised by --help, and for a wrong command line
        return exit_.code if isinstance(exit_.code, int) else DONE
    except OSError:
        raise
    except BaseException as error:  # Rust libraries raise panics, which don't derive from Exception
        text, code = _failure(error)
        return _refused([text, *getattr(error, "__notes__", ())], code)


def _from_here(text: str) -> str:
    """Shortens the path at the start of the message to the form that the user typed: relative to the current folder, unless
    the command line contains the whole path. As print_error() in sim/terminal/visible_output.cpp."""
    folder = f"{_current_folder()}/"
    return text if folder == "/" or any(folder in word for word in sys.argv) else text.removeprefix(folder)


def _failure(error: BaseException) -> tuple[str, int]:
    """The message for an exception, and the exit code."""
    for kind, code in ((UsageError, USAGE), (InputError, UNREADABLE)):
        if isinstance(error, kind):
            return _from_here(str(error)), code
    limit = limit_of_memory()
    if _may_lack_memory(error, limit):
        return lack_of_memory(limit), OUT_OF_MEMORY
    if isinstance(error, ImportError):
        return f"cannot load {error.name or 'a package'}: {error}", USAGE
    return f"a bug in Linebounce: please report it with the command line ({_place(error)})", BUG


def _may_lack_memory(error: BaseException, limit: int | None) -> bool:
    """Whether the error comes from a lack of memory. Under a memory limit, that may also show as a thread that can't
    start, a module that can't be loaded, a Rust panic (not an Exception), or any error that an installed package
    raises. An error raised by our own code is a bug, even under a limit."""
    if isinstance(error, MemoryError):
        return True
    other_names = isinstance(error, ImportError | RuntimeError | SystemError) or not isinstance(error, Exception)
    return limit is not None and (other_names or _is_raised_by_a_package(error))


def _is_raised_by_a_package(error: BaseException) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and not {"site-packages", "dist-packages"}.isdisjoint(Path(frames[-1].filename).parts)


def _place(error: BaseException) -> str:
    """The exception's type and text, with file and line."""
    frames = traceback.extract_tb(error.__traceback__)
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{said}, at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else said


def _refused(lines: Sequence[str], code: int) -> int:
    shown = [visible_name(line) for line in (f"{PREFIX}{lines[0]}", *lines[1:])]
    print("\n".join(map(_wrapped, map(_shortened, shown))), file=sys.stderr, flush=True)
    return code


def _wrapped(line: str) -> str:
    """Wraps the line to the terminal's width. Without a terminal, leaves it as it is."""
    if not sys.stderr.isatty():
        return line
    return textwrap.fill(line, shutil.get_terminal_size().columns, subsequent_indent="  ", break_on_hyphens=False)


def _shortened(line: str) -> str:
    """Cuts the middle out of a very long line. Such a line quotes text from the user."""
    half = _LONGEST_LINE // 2
    return line if len(line) <= _LONGEST_LINE else f"{line[:half]}…{line[-half:]}"


def _write_to_nobody() -> None:
    """Discards what the standard streams could not write. Otherwise Python would try again at exit, and print an error."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(ValueError):  # the stream may have no file descriptor
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
