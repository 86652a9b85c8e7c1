"""What all commands share: their exit codes, and one line for what goes wrong."""

import errno
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from linebounce.errors import InputError, UsageError

DONE, CHECK_FAILED, USAGE, UNREADABLE, INTERRUPTED = 0, 1, 2, 3, 130
# What a shell reports of a program that ended by writing to a pipe that nobody reads.
CLOSED_PIPE = 128 + signal.SIGPIPE
# Files have their own messages (files.py): what comes this far is of the standard output.
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)


def exit_code(name: str, work: Callable[[], int]) -> int:
    """What `work` returns, or the code of what stops it, which is said on the standard error. `name`: "linebounce report"."""
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
    print(f"{name}: {error}", file=sys.stderr, flush=True)
    return code


def _write_to_nobody() -> None:
    """Releases what a standard stream could not write: Python would try it again at its end, and complain."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(ValueError):  # a stream without a file of its own
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
