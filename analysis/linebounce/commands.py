"""What all commands share: their exit codes, and one line for what goes wrong."""

import sys
from collections.abc import Callable

from linebounce.errors import InputError, UsageError

DONE, CHECK_FAILED, USAGE, UNREADABLE, INTERRUPTED = 0, 1, 2, 3, 130


def exit_code(name: str, work: Callable[[], int]) -> int:
    """What `work` returns, or the code of what stops it, which is said on the standard error. `name`: "linebounce report"."""
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
