"""The signals that ask a process to end."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

# The same signals as in trace/termination_signals.hpp. SIGPIPE and SIGXFSZ are not among them: Python turns them off, and a
# failed write raises an error instead.
INTERRUPTS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGALRM,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGXCPU,
    signal.SIGPROF,
    signal.SIGVTALRM,
    signal.SIGIO,
    signal.SIGPWR,
    signal.SIGSTKFLT,
)
# Ctrl-C and Ctrl-\ reach every process of a terminal.
OF_TERMINALS = (signal.SIGINT, signal.SIGQUIT)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


@contextmanager
def handled(handler_of: Callable[[signal.Signals], Any]) -> Iterator[None]:
    """Sets each interrupt's handler, except for signals that are ignored, for example by nohup or in a background job, or
    that a caller already handles. Does nothing in a thread other than the main one, where Python allows no handlers."""
    usual = (signal.SIG_DFL, signal.default_int_handler, _interrupt)
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in INTERRUPTS if signal.getsignal(number) in usual}
    for number in before:
        signal.signal(number, handler_of(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interrupts_raise() -> Iterator[None]:
    """Interrupts raise KeyboardInterrupt, as Ctrl-C does, so that unfinished files are removed."""
    with handled(lambda _: _interrupt):
        yield
