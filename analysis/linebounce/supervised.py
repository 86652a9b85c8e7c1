"""Runs a command in a child process where memory or file descriptors are limited. Without memory or descriptors, Rust
and C++ libraries abort the process, print pages of errors, or wait forever for a thread that could not start. The
parent process reports the lack in one line."""

import os
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from linebounce.interrupts import INTERRUPTS, OF_TERMINALS, handled

PREFIX = "linebounce: "  # begins every message on the standard error, as print_error() in sim/terminal has it
FEW_FILES = 64  # the libraries open about twenty files
_NOISE = re.compile(r"panicked at|memory allocation of|stack backtrace:|Fatal process out of memory")
_TOO_MANY_FILES = re.compile(r"Too many open files|TooManyOpenFiles|\bcode: 24\b")
_IDLE_SECONDS = 15  # a process that was idle for this long is assumed to wait for a thread that never started
_MAY_IDLE = ("linebounce sweep", "linebounce teach")  # exempt: these commands wait for other processes or for the user
_ABORTED = {signal.SIGABRT, signal.SIGTRAP, signal.SIGILL, signal.SIGSEGV, signal.SIGBUS}


_is_child = False


def limit_of_memory() -> int | None:
    """The limit on address space in bytes; None without a limit."""
    return _limit(resource.RLIMIT_AS)


def limit_of_files() -> int | None:
    """The limit on open files, if it is below FEW_FILES; otherwise None."""
    limit = _limit(resource.RLIMIT_NOFILE)
    return limit if limit is not None and limit < FEW_FILES else None


def _limit(kind: int) -> int | None:
    limit = resource.getrlimit(kind)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def lack_of_memory(limit: int | None) -> str:
    return f"the memory ran out{'' if limit is None else f': ulimit -v limits it to {limit >> 20} MiB'}"


def supervised(name: str, work: Callable[[], int], out_of_memory: int, usage: int) -> int:
    """Returns the exit code of `work`; or one of the two other codes, if a lack of memory or of files ended its
    process."""
    memory, files = limit_of_memory(), limit_of_files()
    if (memory is None and files is None) or _is_child:
        return work()
    # An interrupt waits until it has a handler that knows the child.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        said = os.memfd_create("linebounce")
        child = os.fork()
    except OSError:  # too little is left even to start a process
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return work()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        globals()["_is_child"] = True  # main() of a command calls supervised() again in the child
        os.dup2(said, 2)
        os.close(said)
        code = work()
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    code, killed_by = _wait_for(child, before, may_idle=name in _MAY_IDLE)
    text = os.pread(said, os.fstat(said).st_size, 0).decode(errors="replace")
    os.close(said)
    aborted = killed_by in _ABORTED
    said_so = _TOO_MANY_FILES.search(text) and (aborted or _NOISE.search(text))
    if files is not None and (said_so or (aborted and memory is None)):
        text, code = f"{PREFIX}{os.strerror(24)}: ulimit -n limits them to {files}\n", usage
    elif aborted and memory is not None:
        text, code = f"{PREFIX}{lack_of_memory(memory)}\n", out_of_memory
    elif _NOISE.search(text):
        text = "".join(line for line in text.splitlines(keepends=True) if line.startswith(PREFIX))
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()
    return code


def _wait_for(child: int, signals: Iterable[int], *, may_idle: bool) -> tuple[int, signal.Signals | None]:
    """Returns the child's exit code in a shell's form, and the signal that ended it, if any. The terminal sends Ctrl-C
    to the child as well, so the parent ignores it. The parent passes other interrupts on. `signals`: which to block once
    they are handled so."""

    def pass_on(number: int, _frame: object) -> None:
        with suppress(ProcessLookupError):  # the child has just ended
            os.kill(child, number)

    def handler_of(number: signal.Signals) -> Any:
        return signal.SIG_IGN if number in OF_TERMINALS else pass_on

    worked, since = 0, time.monotonic()
    with handled(handler_of):
        signal.pthread_sigmask(signal.SIG_SETMASK, signals)
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            time.sleep(0.02)
            if (now := _work_of(child)) != worked or may_idle:
                worked, since = now, time.monotonic()
            elif time.monotonic() - since > _IDLE_SECONDS:
                os.kill(child, signal.SIGABRT)
    code = os.waitstatus_to_exitcode(ended[1])
    return (code, None) if code >= 0 else (128 - code, signal.Signals(-code))


def _work_of(child: int) -> int:
    """The process's processor time in clock ticks. Returns another number at each call while the process is not asleep."""
    try:
        with open(f"/proc/{child}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return 0
    state, *fields = text.rpartition(")")[2].split()
    waits = 0 if state == "S" else time.monotonic_ns()  # the process runs, waits for a disk, or is stopped
    return int(fields[10]) + int(fields[11]) + waits
