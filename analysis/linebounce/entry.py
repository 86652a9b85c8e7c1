"""The main functions of linebounce-report, linebounce-sweep and so on.

This module imports only commands.py. A command imports its other modules under the protection of commands.py, because
under a memory limit imports are the first thing to fail.
"""

from importlib import import_module

from linebounce.commands import exit_code


def _run(command: str, package: str) -> int:
    def work() -> int:
        code: int = import_module(f"linebounce.{package}.command").main()
        return code

    return exit_code(f"linebounce {command}", work)


def compare() -> int:
    return _run("compare", "compare")


def gate() -> int:
    return _run("gate", "gate")


def report() -> int:
    return _run("report", "report")


def sweep() -> int:
    return _run("sweep", "sweep")


def tables() -> int:
    return _run("tables", "tables")


def teach() -> int:
    return _run("teach", "teach")


def trace_export() -> int:
    return _run("trace export", "trace_export")
