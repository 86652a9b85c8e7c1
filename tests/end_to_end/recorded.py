"""Compiles programs with linebounce-cc, records them, and reads the recordings."""

import os
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from linebounce.trace import Trace
from linebounce.trace_symbols import Kind, Operation, Symbols
from program import Program, Result

C_COMPILERS = ["gcc", "clang"]
CPP_OF_C = {"gcc": "g++", "clang": "clang++"}


@dataclass
class Recording:
    """A whole trace, for small ones."""

    symbols: Symbols
    streams: dict[str, list[Operation]]  # by thread name
    missing: list[str]

    def counts(self, thread: str) -> Counter[Kind]:
        return Counter(operation.kind for operation in self.streams[thread])

    def acquisitions(self, lock: str) -> int:
        """Acquisitions by all threads."""
        number = [each.name for each in self.symbols.locks].index(lock)
        taken = {Kind.ACQUIRE, Kind.ACQUIRE_SHARED, Kind.TRY_ACQUIRE}
        return sum(operation.kind in taken and operation.id == number for each in self.streams.values() for operation in each)

    def touched(self, thread: str) -> Counter[str]:
        """A thread's accesses, counted by object."""
        memory = {Kind.LOAD, Kind.STORE, Kind.EXCHANGE, Kind.FETCH_ADD, Kind.COMPARE_EXCHANGE}
        names = [each.name for each in self.symbols.objects]
        return Counter(names[operation.id] for operation in self.streams[thread] if operation.kind in memory)


class Recorder:
    """Compiles and records programs in a test's own directory."""

    def __init__(self, linebounce: Program) -> None:
        self.linebounce = linebounce

    def tool(self, name: str) -> Path:
        return self.linebounce.executable.parent / name

    def compile(self, source: str, *flags: str, compiler: str = "gcc", name: str = "program.c", output: str = "program") -> str:
        """Compiles the program, to be run as ./program."""
        self.linebounce.file(name, source)
        wrapper = self.tool("linebounce-c++" if name.endswith(".cpp") else "linebounce-cc")
        environment = os.environ | {"LINEBOUNCE_CC": compiler, "LINEBOUNCE_CXX": CPP_OF_C[compiler]}
        command = [wrapper, "-O2", "-pthread", *flags, name, "-o", output]
        done = subprocess.run(
            command, cwd=self.linebounce.directory, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return f"./{output}"

    def compile_plainly(self, source: str, *flags: str, compiler: str = "gcc", name: str = "plain.c") -> str:
        """Compiles with the plain compiler, as a user who doesn't know Linebounce does."""
        self.linebounce.file(name, source)
        command = [compiler, "-g", "-O2", "-pthread", *flags, name, "-o", "plain"]
        subprocess.run(command, cwd=self.linebounce.directory, check=True, timeout=60)
        return "./plain"

    def record_binary(self, source: str, *flags: str, code: int = 0, **options: str) -> Recording:
        """Records a run of a program that was not compiled with linebounce-cc."""
        return self.record(self.compile_plainly(source, *flags, **options), options=("--binary",), code=code)

    def run(self, *arguments: str, code: int = 0) -> Result:
        """Runs `linebounce-record` as a user types it; the exit code is the program's."""
        result = self.linebounce("record", *arguments, timeout=120)
        assert result.code == code, result.stdout + result.stderr
        return result

    def record(self, program: str, *arguments: str, options: tuple[str, ...] = (), code: int = 0) -> Recording:
        """The trace of a run, checked to make sense. Option --untimed leaves out what depends on how busy this computer is."""
        self.run(*options, "-o", "trace.lbt", "--", program, *arguments, code=code)
        return self.read("trace.lbt")

    def read(self, file: str) -> Recording:
        path = self.linebounce.directory / file
        # Bypasses self.linebounce, because names in a C++ program may look like our internals.
        command = [self.linebounce.executable, "trace", "info", "--check", path]
        checked = subprocess.run(command, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        with Trace(path) as trace:
            streams = {each.name: list(trace.operations(number)) for number, each in enumerate(trace.symbols.streams)}
            return Recording(trace.symbols, streams, trace.summary.missing)
