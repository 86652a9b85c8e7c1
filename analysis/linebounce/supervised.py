"""A command in a process of its own, where memory or file descriptors are limited. Libraries in Rust and C++ that lack either
abort the process, or write pages about it; the process that waits here says it in one line."""

import os
import re
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

FEW_FILES = 64  # the libraries open some twenty
_NOISE = re.compile(r"panicked at|memory allocation of|stack backtrace:|Fatal process out of memory")
_TOO_MANY_FILES = re.compile(r"Too many open files|TooManyOpenFiles|\bcode: 24\b")
_ABORTED = {signal.SIGABRT, signal.SIGTRAP, signal.SIGILL, signal.SIGSEGV, signal.SIGBUS}


def limit_of_memory() -> int | None:
    """The limit on address space in bytes; None without a limit."""
    return _limit(resource.RLIMIT_AS)


def limit_of_files() -> int | None:
    """The limit on open files; None if it is not a low one."""
    limit = _limit(resource.RLIMIT_NOFILE)
    return limit if limit is not None and limit < FEW_FILES else None


def _limit(kind: int) -> int | None:
    limit = resource.getrlimit(kind)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def lack_of_memory(limit: int | None) -> str:
    return f"the memory ran out{'' if limit is None else f': ulimit -v limits it to {limit >> 20} MiB'}"


def supervised(name: str, work: Callable[[], int], out_of_memory: int, usage: int) -> int:
    """Returns the exit code of `work`, or one of the two others if a lack of memory or of files ended its process."""
    memory, files = limit_of_memory(), limit_of_files()
    if memory is None and files is None:
        return work()
    try:
        said = os.memfd_create("linebounce")
        child = os.fork()
    except OSError:  # not even that is left
        return work()
    if child == 0:
        os.dup2(said, 2)
        os.close(said)
        code = work()
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    code, killed_by = _wait_for(child)
    text = os.pread(said, os.fstat(said).st_size, 0).decode(errors="replace")
    os.close(said)
    aborted = killed_by in _ABORTED
    if files is not None and _TOO_MANY_FILES.search(text) and (aborted or _NOISE.search(text)):
        text, code = f"{name}: {os.strerror(24)}: ulimit -n limits them to {files}\n", usage
    elif aborted and memory is not None:
        text, code = f"{name}: {lack_of_memory(memory)}\n", out_of_memory
    elif _NOISE.search(text):
        text = "".join(line for line in text.splitlines(keepends=True) if line.startswith(name))
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()
    return code


def _wait_for(child: int) -> tuple[int, signal.Signals | None]:
    """Its exit code as a shell has it, and the signal that ended it. Ctrl-C reaches the child by itself."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    _, status = os.waitpid(child, 0)
    signal.signal(signal.SIGINT, before)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    code = os.waitstatus_to_exitcode(status)
    return (code, None) if code >= 0 else (128 - code, signal.Signals(-code))
