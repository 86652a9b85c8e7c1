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

import json
import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self

import zstandard

from linebounce.errors import InputError
from linebounce.trace_symbols import Kind, Lock, Operation, Stream, Summary, Symbol, Symbols, from_json, symbol_from, to_json

VERSION = 1
FRAME_OPERATIONS = 8192
FRAME_LINES = 4096

_SKIPPABLE = 0x184D2A5B
_HEAD = struct.Struct("<II16sI")
_TAIL = struct.Struct("<IIQ16s")
_FRAME = struct.Struct("<4sIQ")
_ENTRY = struct.Struct("<Q4sIII")
_OPERATION = struct.Struct("<BBHIQ")
_HEAD_LETTERS = b"linebounce trace"
_TAIL_LETTERS = b"linebounce index"
_CHECKSUM_FLAG = 4  # of a frame's fifth byte
_LARGEST = {b"OPER": _FRAME.size + FRAME_OPERATIONS * _OPERATION.size, b"SYMB": 1 << 24, b"SUMM": 1 << 24}


class _Entry(NamedTuple):
    offset: int
    type: bytes
    stream: int
    count: int
    checksum: int


@dataclass
class _Frame:
    entry: _Entry
    size: int
    first: int


class Trace:
    """A trace that is whole. Raises InputError, here and when operations are read, of one that is damaged or none."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.symbols = Symbols()
        self.summary = Summary()
        self._decompressor = zstandard.ZstdDecompressor()
        self._frames: dict[int, list[_Frame]] = defaultdict(list)
        try:
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
        """How many operations a stream has."""
        return sum(frame.entry.count for frame in self._frames[stream])

    def operations(self, stream: int) -> Iterator[Operation]:
        """A stream's operations in order; one frame of them is in memory."""
        for frame in self._frames[stream]:
            content = self._content(frame)
            if len(content) != frame.entry.count * _OPERATION.size:
                raise self._error(frame.entry.offset, f"{len(content)} bytes for {frame.entry.count} operations")
            for kind, size, flags, symbol, argument in _OPERATION.iter_unpack(content):
                if not 1 <= kind <= len(Kind):
                    raise self._error(frame.entry.offset, f"an operation is of kind {kind}; legal: 1 to {len(Kind)}")
                yield Operation(Kind(kind), size, flags, symbol, argument)

    def _error(self, offset: int, what: str) -> InputError:
        return InputError(f"{self.path}: byte {offset}: {what}")

    def _read(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(size)

    def _open(self) -> None:
        head = self._read(0, _HEAD.size)
        if len(head) < _HEAD.size or _HEAD.unpack(head)[:3] != (_SKIPPABLE, 20, _HEAD_LETTERS):
            raise self._error(0, "this is no binary trace")
        version = _HEAD.unpack(head)[3]
        if version != VERSION:
            raise self._error(24, f"the format's version is {version}; legal: {VERSION}")
        for frame in self._listed():
            self._take(frame)

    def _listed(self) -> list[_Frame]:
        """What the index says."""
        size = self._file.seek(0, 2)
        tail = self._read(max(size - _TAIL.size, 0), _TAIL.size)
        magic, _, index, letters = _TAIL.unpack(tail) if len(tail) == _TAIL.size else (0, 0, 0, b"")
        end = size - _TAIL.size
        if (magic, letters) != (_SKIPPABLE, _TAIL_LETTERS) or not _HEAD.size <= index < end:
            raise self._error(size, "no index at the end: `linebounce trace convert --recover` makes a whole trace of this")
        packed = self._read(index, end - index)
        content = self._unpacked(index, packed, _FRAME.size + index * _ENTRY.size)
        if content[:4] != b"INDX" or (len(content) - _FRAME.size) % _ENTRY.size:
            raise self._error(index, "here is no index")
        entries = [_Entry(*each) for each in _ENTRY.iter_unpack(content[_FRAME.size :])]
        ends = [entry.offset for entry in entries[1:]] + [index]
        firsts: dict[tuple[bytes, int], int] = defaultdict(int)
        frames = []
        for entry, until in zip(entries, ends, strict=True):
            if not _HEAD.size <= entry.offset < until <= index:
                raise self._error(index, f"the index has a frame from byte {entry.offset} to {until}")
            frames.append(_Frame(entry, until - entry.offset, firsts[entry.type, entry.stream]))
            firsts[entry.type, entry.stream] += entry.count if entry.type in {b"OPER", b"SYMB"} else 0
        return frames

    def _take(self, frame: _Frame) -> None:
        match frame.entry.type:
            case b"OPER":
                self._frames[frame.entry.stream].append(frame)
            case b"SYMB":
                for line in self._content(frame).splitlines():
                    self._define(frame, line)
            case b"SUMM":
                self.summary = self._summary(frame)
            case other:
                raise self._error(frame.entry.offset, f"a frame of type {other!r}; legal: SYMB, OPER, SUMM")

    def _summary(self, frame: _Frame) -> Summary:
        try:
            return from_json(Summary, json.loads(self._content(frame)))
        except (ValueError, TypeError) as error:
            raise self._error(frame.entry.offset, str(error)) from error

    def _define(self, frame: _Frame, line: bytes) -> None:
        try:
            symbol, redefines = symbol_from(json.loads(line))
            if redefines is None:
                self.symbols.define(symbol)
            else:
                self.symbols.redefine(redefines, symbol)
        except (ValueError, TypeError, IndexError) as error:
            raise self._error(frame.entry.offset, str(error)) from error

    def _content(self, frame: _Frame) -> bytes:
        """What is behind a frame's own head, which has to agree with the index."""
        entry = frame.entry
        content = self._unpacked(entry.offset, self._read(entry.offset, frame.size), _LARGEST[entry.type])
        if _FRAME.unpack_from(content) != (entry.type, entry.stream, frame.first):
            raise self._error(entry.offset, "the frame is not the one that the index says is here")
        return content[_FRAME.size :]

    def _unpacked(self, offset: int, packed: bytes, most: int) -> bytes:
        try:
            size = zstandard.frame_content_size(packed)
            if not _FRAME.size <= size <= most or not packed[4] & _CHECKSUM_FLAG:
                raise self._error(offset, "the frame has no checksum, or no size of its content that is legal")
            return self._decompressor.decompress(packed)
        except zstandard.ZstdError as error:
            raise self._error(offset, f"damaged: {error}") from error


class Writer:
    """Writes a trace as its operations come. Without finish(), what has come is readable only with --recover."""

    def __init__(self, path: str | Path) -> None:
        self.symbols = Symbols()
        self._compressor = zstandard.ZstdCompressor(level=1, write_checksum=True, write_content_size=True)
        self._index: list[_Entry] = []
        self._lines: list[bytes] = []
        self._first_line = 0
        self._buffers: dict[int, bytearray] = defaultdict(bytearray)
        self._first: dict[int, int] = defaultdict(int)
        self._offset = 0
        self._file: BinaryIO = Path(path).open("wb")  # noqa: SIM115 - close() closes it
        self._write(_HEAD.pack(_SKIPPABLE, 20, _HEAD_LETTERS, VERSION))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self.close()

    def define(self, symbol: Symbol) -> int:
        """Its number. What it refers to has to be defined."""
        number = self.symbols.define(symbol)
        self._add_line({"kind": type(symbol).__name__.lower()} | to_json(symbol))
        return number

    def redefine(self, lock: int, facts: Lock) -> None:
        """Facts of a lock that are known only later."""
        self.symbols.redefine(lock, facts)
        self._add_line({"kind": "lock", "redefines": lock} | to_json(facts))

    def append(self, stream: int, operation: Operation) -> None:
        """The stream and what the operation names have to be defined."""
        buffer = self._buffers[stream]
        buffer += _OPERATION.pack(*operation)
        if len(buffer) == FRAME_OPERATIONS * _OPERATION.size:
            self._write_operations(stream)

    def finish(self, summary: Summary) -> None:
        """Writes what is buffered, the summary and the index, and closes the file."""
        self._write_lines()
        for stream in sorted(self._buffers):
            self._write_operations(stream)
        self._write_frame(b"SUMM", 0, 0, _dumped(to_json(summary)), 1)
        index = self._offset
        self._write_frame(b"INDX", 0, 0, b"".join(_ENTRY.pack(*entry) for entry in self._index), 0)
        self._write(_TAIL.pack(_SKIPPABLE, 24, index, _TAIL_LETTERS))
        self.close()

    def close(self) -> None:
        """Nothing can be written any more."""
        self._file.close()

    def _write(self, content: bytes) -> None:
        self._file.write(content)
        self._offset += len(content)

    def _write_frame(self, type_: bytes, stream: int, first: int, content: bytes, count: int) -> None:
        packed = self._compressor.compress(_FRAME.pack(type_, stream, first) + content)
        self._index.append(_Entry(self._offset, type_, stream, count, int.from_bytes(packed[-4:], "little")))
        self._write(packed)

    def _add_line(self, members: dict[str, object]) -> None:
        self._lines.append(_dumped(members))
        if len(self._lines) == FRAME_LINES:
            self._write_lines()

    def _write_lines(self) -> None:
        if self._lines:
            self._write_frame(b"SYMB", 0, self._first_line, b"".join(line + b"\n" for line in self._lines), len(self._lines))
        self._first_line += len(self._lines)
        self._lines.clear()

    def _write_operations(self, stream: int) -> None:
        content = bytes(self._buffers[stream])
        self._buffers[stream].clear()
        if content:
            self._write_lines()
            count = len(content) // _OPERATION.size
            self._write_frame(b"OPER", stream, self._first[stream], content, count)
            self._first[stream] += count


def _dumped(members: dict[str, object]) -> bytes:
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


__all__ = ["Kind", "Operation", "Stream", "Summary", "Symbols", "Trace", "Writer"]
