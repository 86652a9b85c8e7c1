"""Traces in their binary form, read and written in constant memory (docs/trace-format.md).

with linebounce.trace.Trace("pool.lbt") as trace:
    for stream, facts in enumerate(trace.symbols.streams):
        for operation in trace.operations(stream):
            ...

with linebounce.trace.Writer("counter.lbt") as writer:
    total = writer.define(Object(name="total", size=8))
    main = writer.define(Stream(name="main"))
    writer.append(main, Operation(Kind.FETCH_ADD, 8, 0, total, 0))
    writer.finish(Summary(program="counter"))
"""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import zstandard

from linebounce.errors import InputError
from linebounce.files import at_once
from linebounce.program import checked, find_program
from linebounce.trace_binary import (
    ENTRY,
    FRAME,
    HEAD,
    HEAD_LETTERS,
    OPERATION,
    TAIL,
    VERSION_WITH_ROWS,
    Entry,
    rows_of,
)
from linebounce.trace_json import summary_from, symbol_from
from linebounce.trace_symbols import Kind, Operation, Stream, Summary, Symbols
from linebounce.trace_writer import Writer


class Trace:
    """A complete trace, opened for reading. Raises InputError for a text trace, and for what `linebounce trace info`
    refuses.

    That command checks the file first, so nothing is checked here. Its program is $LINEBOUNCE or the one in PATH;
    UsageError if there is none. Only `trace info --check` tells whether the operations make sense.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        checked([find_program(), "trace", "info", "--json", "--top", "1", "--", str(path)])
        self.symbols = Symbols()
        self.summary = Summary()
        self._decompressor = zstandard.ZstdDecompressor()
        self._file: BinaryIO = open(self.path, "rb", opener=at_once)  # noqa: SIM115
        try:
            self._open()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file. Operations can't be read afterwards."""
        self._file.close()

    def count(self, stream: int) -> int:
        """The number of operations in a stream. Raises IndexError for an undefined stream."""
        return sum(entry.items for entry, _ in self._streams[stream])

    def operations(self, stream: int) -> Iterator[Operation]:
        """Yields a stream's operations in order. Keeps one frame in memory at a time. Raises IndexError for an
        undefined stream."""
        for entry, end in self._streams[stream]:
            content = self._content(entry.offset, end)
            rows = content if self._version == VERSION_WITH_ROWS else rows_of(content)
            for kind, size, flags, symbol, argument in OPERATION.iter_unpack(rows):
                yield Operation(Kind(kind), size, flags, symbol, argument)

    def _open(self) -> None:
        _, _, letters, self._version = HEAD.unpack(self._read(0, HEAD.size).ljust(HEAD.size))
        if letters != HEAD_LETTERS:
            raise InputError(f"{self.path}: this is not a binary trace; `linebounce trace convert` makes one from a text")
        tail = self._file.seek(0, 2) - TAIL.size
        index = TAIL.unpack(self._read(tail, TAIL.size))[2]
        entries = [Entry(*each) for each in ENTRY.iter_unpack(self._content(index, tail))]
        frames = list(zip(entries, [entry.offset for entry in entries[1:]] + [index], strict=True))
        for entry, end in frames:
            if entry.type == b"SYMB":
                self._define(self._content(entry.offset, end))
            elif entry.type == b"SUMM":
                self.summary = summary_from(self._content(entry.offset, end))
        self._streams: list[list[tuple[Entry, int]]] = [[] for _ in self.symbols.streams]
        for entry, end in frames:
            if entry.type == b"OPER":
                self._streams[entry.stream].append((entry, end))

    def _define(self, lines: bytes) -> None:
        for line in lines.split(b"\n")[:-1]:
            symbol, redefines = symbol_from(line)
            if redefines is None:
                self.symbols.define(symbol)
            else:
                self.symbols.redefine(redefines, symbol)

    def _read(self, begin: int, size: int) -> bytes:
        self._file.seek(begin)
        return self._file.read(size)

    def _content(self, begin: int, end: int) -> bytes:
        """The uncompressed content of a frame."""
        try:
            return self._decompressor.decompress(self._read(begin, end - begin))[FRAME.size :]
        except zstandard.ZstdError as error:  # this zstd library may refuse data that the program's own accepted
            raise InputError(f"{self.path}: byte {begin}: damaged: {error}") from error


__all__ = ["Kind", "Operation", "Stream", "Summary", "Symbols", "Trace", "Writer"]
