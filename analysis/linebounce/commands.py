"""What all commands share: their exit codes, their --help, and one line for what goes wrong."""

import argparse
import errno
import io
import os
import re
import resource
import shutil
import signal
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import groupby
from pathlib import Path

from linebounce.errors import InputError, UsageError
from linebounce.visible import visible_streams

DONE, CHECK_FAILED, USAGE, UNREADABLE, OUT_OF_MEMORY, BUG, INTERRUPTED = 0, 1, 2, 3, 4, 70, 130
# What a shell reports of a program that ended by writing to a pipe that nobody reads.
CLOSED_PIPE = 128 + signal.SIGPIPE
_LONGEST_LINE = 4000
# Files have their own messages (files.py): what comes this far without a file's name is of the standard output.
_NO_OUTPUT = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF)


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
    """What `work` returns, or the code of what stops it, which is said in a line on the standard error, whatever it is. `name`:
    "linebounce report"."""
    _prepare_streams()
    if limit_of_memory() is not None:
        _spare_memory()
    with visible_streams():
        return _exit_code(name, work)


def limit_of_memory() -> int | None:
    """In bytes, where there is one."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _spare_memory() -> None:
    """Before the libraries of data frames are loaded, which would take a thread for each core, and a stack for each thread."""
    for name, value in (("POLARS_MAX_THREADS", "1"), ("_RJEM_MALLOC_CONF", "background_thread:false")):
        os.environ.setdefault(name, value)
    warnings.simplefilter("ignore")  # of a library whose parts can't be loaded


def _prepare_streams() -> None:
    """As UTF-8 whatever the locale says, as the C++ commands write. Where a stream is closed, Python has none: writing to the
    standard output fails, and complaints go nowhere."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Closed(), encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")


class _Closed(io.BufferedIOBase):
    """A standard output that was closed before the start."""

    def writable(self) -> bool:
        return True

    def write(self, _text: object) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def _exit_code(name: str, work: Callable[[], int]) -> int:
    try:
        code = _code(name, work)
        sys.stdout.flush()
    except BrokenPipeError:
        _write_to_nobody()
        return CLOSED_PIPE
    except OSError as error:
        _write_to_nobody()
        if error.errno in _NO_OUTPUT and error.filename is None:
            return _refused(name, f"cannot write the standard output: {error.strerror}", USAGE)
        named = f" {error.filename}" if error.filename else ""
        return _refused(name, f"the system refuses{named}: {error.strerror or error}", USAGE)
    return code


def _code(name: str, work: Callable[[], int]) -> int:
    try:
        return work()
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as exit_:  # of --help, and of a wrong command line
        return exit_.code if isinstance(exit_.code, int) else DONE
    except OSError:
        raise
    except BaseException as error:  # libraries in Rust have panics, which are no Exception
        text, code = _failure(error)
        return _refused(name, text, code)


def _failure(error: BaseException) -> tuple[str, int]:
    """What is said of it, and the exit code."""
    for kind, code in ((UsageError, USAGE), (InputError, UNREADABLE)):
        if isinstance(error, kind):
            return str(error), code
    limit = limit_of_memory()
    if _may_lack_memory(error, limit):
        return f"the memory ran out{'' if limit is None else f': ulimit -v limits it to {limit >> 20} MiB'}", OUT_OF_MEMORY
    if isinstance(error, ImportError):
        return f"cannot load {error.name or 'a package'}: {error}", USAGE
    return f"a bug in Linebounce: please report it with the command line ({_place(error)})", BUG


def _may_lack_memory(error: BaseException, limit: int | None) -> bool:
    """Where memory is limited, libraries find other words for it: a thread that does not start, a part that can't be loaded and
    so a name that isn't there, a panic, which is no Exception. What our own lines raise is a bug under a limit, too."""
    if isinstance(error, MemoryError):
        return True
    return limit is not None and (isinstance(error, ImportError) or not _is_raised_by_us(error))


def _is_raised_by_us(error: BaseException) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and Path(frames[-1].filename).is_relative_to(Path(__file__).parent)


def _place(error: BaseException) -> str:
    """What went wrong, and in which line of which file."""
    frames = traceback.extract_tb(error.__traceback__)
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{said}, at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else said


def _refused(name: str, text: str, code: int) -> int:
    lines = f"{name}: {text}".splitlines()
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
