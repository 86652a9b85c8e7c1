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

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import zstandard

from linebounce import trace_rules
from linebounce.errors import InputError
from linebounce.trace_binary import (
    ENTRY,
    FRAME,
    FRAME_OPERATIONS,
    HEAD,
    HEAD_LETTERS,
    LARGEST_OPERATIONS,
    LARGEST_TEXT,
    OPERATION,
    SKIPPABLE,
    TAIL,
    TAIL_LETTERS,
    VERSION,
    Entry,
)
from linebounce.trace_json import summary_from, symbol_from
from linebounce.trace_symbols import Kind, Operation, Stream, Summary, Symbols
from linebounce.trace_writer import Writer

_SHORTEST_PACKED = 13  # bytes of a zstd frame: magic number, descriptor, size, one block's head, checksum
_CHECKSUM_FLAG = 4  # of a zstd frame's fifth byte


@dataclass
class _Frame:
    entry: Entry
    size: int
    first: int


class Trace:
    """A trace that is whole. Raises InputError, here and when operations are read, of one that is damaged or none.

    Refuses what `linebounce trace info` refuses. Whether the operations make sense, `trace info --check` says."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.symbols = Symbols()
        self.summary = Summary()
        self._decompressor = zstandard.ZstdDecompressor()
        self._streams: list[list[_Frame]] = []  # of operations
        try:
            if self.path.exists() and not self.path.is_file():
                raise InputError(f"{path}: a trace is a regular file, which this is not")
            self._file: BinaryIO = self.path.open("rb")
        except OSError as error:
            raise InputError(f"{path}: the trace can't be read: {error.strerror}") from error
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
        """No operations can be read any more."""
        self._file.close()

    def count(self, stream: int) -> int:
        """How many operations a stream has. Raises IndexError of a stream that is not defined."""
        return sum(frame.entry.items for frame in self._streams[stream])

    def operations(self, stream: int) -> Iterator[Operation]:
        """A stream's operations in order; one frame of them is in memory. Raises IndexError of a stream that is not defined."""
        for frame in self._streams[stream]:
            content = self._content(frame, LARGEST_OPERATIONS)
            offset, count = frame.entry.offset, frame.entry.items
            if len(content) != count * OPERATION.size:
                raise self._error(offset, f"{len(content)} bytes for {count} operations")
            kinds = content[:: OPERATION.size]
            for kind in (min(kinds), max(kinds)):
                if not 1 <= kind <= len(Kind):
                    raise self._error(offset, f"an operation is of kind {kind}; legal: 1 to {len(Kind)}")
            for kind, size, flags, symbol, argument in OPERATION.iter_unpack(content):
                yield Operation(Kind(kind), size, flags, symbol, argument)

    def _error(self, offset: int, what: str) -> InputError:
        return InputError(f"{self.path}: byte {offset}: {what}")

    def _read(self, offset: int, size: int) -> bytes:
        try:
            self._file.seek(offset)
            return self._file.read(size)
        except OSError as error:
            raise self._error(offset, f"the trace can't be read: {error.strerror}") from error

    def _open(self) -> None:
        head = self._read(0, HEAD.size)
        if len(head) < HEAD.size or HEAD.unpack(head)[:3] != (SKIPPABLE, 20, HEAD_LETTERS):
            raise self._error(0, "this is no binary trace; `linebounce trace convert` makes one of a text")
        version = HEAD.unpack(head)[3]
        if version != VERSION:
            raise self._error(24, f"the format's version is {version}; legal: {VERSION}")
        frames = self._listed()
        self._read_symbols([frame for frame in frames if frame.entry.type == b"SYMB"])
        self._read_summary([frame for frame in frames if frame.entry.type == b"SUMM"])
        self._streams = [[] for _ in self.symbols.streams]
        for frame in frames:
            if frame.entry.type not in {b"SYMB", b"SUMM"}:
                self._list_operations(frame)

    def _listed(self) -> list[_Frame]:
        """What the index says."""
        size = self._file.seek(0, 2)
        end = size - TAIL.size
        tail = self._read(max(end, 0), TAIL.size)
        magic, _, index, letters = TAIL.unpack(tail) if len(tail) == TAIL.size else (0, 0, 0, b"")
        if (magic, letters) != (SKIPPABLE, TAIL_LETTERS) or not HEAD.size <= index < end:
            raise self._error(size, "no index at the end: `linebounce trace convert --recover` makes a whole trace of this")
        content = self._unpacked(index, end - index, FRAME.size + index // _SHORTEST_PACKED * ENTRY.size)
        if content[:4] != b"INDX" or (len(content) - FRAME.size) % ENTRY.size:
            raise self._error(index, "here is no index")
        entries = [Entry(*each) for each in ENTRY.iter_unpack(content[FRAME.size :])]
        places = [HEAD.size] + [entry.offset for entry in entries[1:]] + [index]
        lines = 0
        operations: dict[int, int] = defaultdict(int)  # so far, of each stream
        frames = []
        for entry, begin, until in zip(entries, places, places[1:], strict=False):
            if not entry.offset == begin < until <= index:
                raise self._error(index, f"the index has a frame from byte {entry.offset} to {until}")
            first = lines if entry.type == b"SYMB" else operations[entry.stream] if entry.type == b"OPER" else 0
            frames.append(_Frame(entry, until - begin, first))
            lines += entry.items if entry.type == b"SYMB" else 0
            operations[entry.stream] += entry.items if entry.type == b"OPER" else 0
        return frames

    def _read_symbols(self, frames: list[_Frame]) -> None:
        for frame in frames:
            content = self._content(frame, LARGEST_TEXT)
            lines = content.split(b"\n")
            if lines.pop() or len(lines) != frame.entry.items:
                raise self._error(
                    frame.entry.offset, f"{len(lines)} whole lines of symbols; the index says {frame.entry.items}"
                )
            for number, line in enumerate(lines, frame.first):
                self._define(frame, number, line)
        try:
            trace_rules.check_locks(self.symbols)
        except ValueError as error:
            raise InputError(f"{self.path}: {error}") from error

    def _define(self, frame: _Frame, number: int, line: bytes) -> None:
        try:
            symbol, redefines = symbol_from(line)
            trace_rules.check(self.symbols, symbol)
            if redefines is None:
                self.symbols.define(symbol)
            else:
                self.symbols.redefine(redefines, symbol)
        except ValueError as error:
            raise self._error(frame.entry.offset, f"line {number} of symbols: {error}") from error

    def _read_summary(self, frames: list[_Frame]) -> None:
        if not frames:
            raise InputError(f"{self.path}: there is no summary")
        try:
            self.summary = summary_from(self._content(frames[0], LARGEST_TEXT))
        except ValueError as error:
            raise self._error(frames[0].entry.offset, f"the summary: {error}") from error

    def _list_operations(self, frame: _Frame) -> None:
        entry = frame.entry
        if entry.type != b"OPER":
            raise self._error(entry.offset, f"a frame of type {entry.type!r}; legal: SYMB, OPER, SUMM")
        if entry.stream >= len(self._streams):
            raise self._error(entry.offset, f"operations of stream {entry.stream}; {len(self._streams)} are defined")
        if not 1 <= entry.items <= FRAME_OPERATIONS:
            raise self._error(entry.offset, f"{entry.items} operations; legal: 1 to {FRAME_OPERATIONS}")
        self._streams[entry.stream].append(frame)

    def _content(self, frame: _Frame, most: int) -> bytes:
        """What is behind a frame's own head, which has to agree with the index."""
        entry = frame.entry
        content = self._unpacked(entry.offset, frame.size, most)
        if FRAME.unpack_from(content) != (entry.type, entry.stream, frame.first):
            raise self._error(entry.offset, "the frame is not the one that the index says is here")
        return content[FRAME.size :]

    def _unpacked(self, offset: int, size: int, most: int) -> bytes:
        """A zstd frame's content. `most`: bytes that it may have, so that a damaged file does not fill the memory."""
        if not _SHORTEST_PACKED <= size <= _largest_packed(most):
            raise self._error(offset, f"a frame of {size} bytes; legal: {_SHORTEST_PACKED} to {_largest_packed(most)}")
        packed = self._read(offset, size)
        try:
            unpacked = zstandard.frame_content_size(packed)
            if not FRAME.size <= unpacked <= most or not packed[4] & _CHECKSUM_FLAG:
                raise self._error(offset, "the frame has no checksum, or no size of its content that is legal")
            return self._decompressor.decompress(packed, allow_extra_data=False)
        except zstandard.ZstdError as error:
            raise self._error(offset, f"damaged: {error}") from error


def _largest_packed(content: int) -> int:
    """What zstd can make of so many bytes: ZSTD_compressBound()."""
    return content + (content >> 8) + (max(0, (1 << 17) - content) >> 11)


__all__ = ["Kind", "Operation", "Stream", "Summary", "Symbols", "Trace", "Writer"]
