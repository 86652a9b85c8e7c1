"""What all commands share: their exit codes, and one line for what goes wrong."""

import errno
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from linebounce.errors import InputError, UsageError
from linebounce.visible import visible_streams

DONE, CHECK_FAILED, USAGE, UNREADABLE, INTERRUPTED = 0, 1, 2, 3, 130
# What a shell reports of a program that ended by writing to a pipe that nobody reads.
CLOSED_PIPE = 128 + signal.SIGPIPE
# Files have their own messages (files.py): what comes this far is of the standard output.
_LONGEST_LINE = 4000
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)


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
    print("\n".join(map(_shortened, lines)), file=sys.stderr, flush=True)
    return code


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
