"""Writes traces in binary form, in constant memory. Exported as `linebounce.trace.Writer`."""

import fcntl
from collections import defaultdict
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import zstandard

from linebounce.errors import UsageError
from linebounce.trace_binary import (
    ENTRY,
    FRAME,
    FRAME_LINES,
    FRAME_OPERATIONS,
    HEAD,
    HEAD_LETTERS,
    LARGEST_TEXT,
    OPERATION,
    SKIPPABLE,
    TAIL,
    TAIL_CONTENT,
    TAIL_LETTERS,
    VERSION,
    Entry,
    planes_of,
)
from linebounce.trace_json import line_of, summary_text
from linebounce.trace_symbols import Lock, Operation, Summary, Symbol, Symbols

# The same limits as in trace/binary_writer.cpp.
# Operations over all streams; at this number the writer flushes every stream, however few operations it has.
MOST_BUFFERED = 4 << 20
TEXT_BUFFERED = 1 << 20  # bytes of symbols


def _alone(path: Path) -> BinaryIO:
    """Opens, empties and locks the file, as WriteLock in trace/files.hpp does."""
    file = path.open("ab")
    try:
        if path.is_file():
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.truncate(0)
    except BlockingIOError:
        file.close()
        raise UsageError(f"{path}: is being written by another process; wait for it, or choose another file") from None
    return file


class Writer:
    """Writes a trace while its operations arrive. Without finish(), the file can only be read with --recover.

    Raises OSError; UsageError if another process is writing the file, or if a symbol or the summary is larger than a
    frame may be (16 MiB).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.symbols = Symbols()
        self._compressor = zstandard.ZstdCompressor(level=1, write_checksum=True, write_content_size=True)
        self._index: list[Entry] = []
        self._lines = bytearray()
        self._line_count = 0
        self._first_line = 0
        self._buffers: dict[int, bytearray] = defaultdict(bytearray)
        self._buffered = 0  # operations in the buffers of all streams
        self._first: dict[int, int] = defaultdict(int)
        self._offset = 0
        self._file = _alone(self.path)
        self._write(HEAD.pack(SKIPPABLE, 20, HEAD_LETTERS, VERSION))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self.close()

    def define(self, symbol: Symbol) -> int:
        """Returns the symbol's number. REQUIRES: the symbols that it refers to are defined."""
        number = self.symbols.define(symbol)
        self._add_line(line_of(symbol))
        return number

    def redefine(self, lock: int, facts: Lock) -> None:
        """Replaces what is known about a lock, for facts that were learnt after its definition."""
        self.symbols.redefine(lock, facts)
        self._add_line(line_of(facts, lock))

    def append(self, stream: int, operation: Operation) -> None:
        """Appends an operation to a stream. REQUIRES: the stream, and all symbols that the operation refers to, are
        defined."""
        buffer = self._buffers[stream]
        buffer += OPERATION.pack(*operation)
        self._buffered += 1
        if len(buffer) == FRAME_OPERATIONS * OPERATION.size:
            self._write_operations(stream)
        elif self._buffered == MOST_BUFFERED:
            self._write_all()

    def finish(self, summary: Summary) -> None:
        """Writes the buffers, the summary and the index. Closes the file."""
        self._write_all()
        self._write_frame(b"SUMM", 0, 0, summary_text(summary), 1)
        index = self._offset
        self._write_frame(b"INDX", 0, 0, b"".join(ENTRY.pack(*entry) for entry in self._index), 0)
        self._write(TAIL.pack(SKIPPABLE, TAIL_CONTENT, index, TAIL_LETTERS))
        self.close()

    def close(self) -> None:
        """Closes the file. Nothing can be written afterwards."""
        self._file.close()

    def _write(self, content: bytes) -> None:
        self._file.write(content)
        self._offset += len(content)

    def _write_frame(self, type_: bytes, stream: int, first: int, content: bytes, count: int) -> None:
        content = FRAME.pack(type_, stream, first) + content
        if type_ != b"INDX" and len(content) > LARGEST_TEXT:
            raise UsageError(
                f"{self.path}: one symbol or the summary has {len(content)} bytes; at most {LARGEST_TEXT} can be written"
            )
        packed = self._compressor.compress(content)
        self._index.append(Entry(self._offset, type_, stream, count, int.from_bytes(packed[-4:], "little")))
        self._write(packed)

    def _add_line(self, line: bytes) -> None:
        self._lines += line + b"\n"
        self._line_count += 1
        if self._line_count == FRAME_LINES or len(self._lines) >= TEXT_BUFFERED:
            self._write_lines()

    def _write_lines(self) -> None:
        if self._line_count == 0:
            return
        self._write_frame(b"SYMB", 0, self._first_line, bytes(self._lines), self._line_count)
        self._first_line += self._line_count
        self._line_count = 0
        self._lines.clear()

    def _write_operations(self, stream: int) -> None:
        content = bytes(self._buffers[stream])
        count = len(content) // OPERATION.size
        self._write_lines()
        self._write_frame(b"OPER", stream, self._first[stream], planes_of(content), count)
        self._first[stream] += count
        self._buffered -= count
        del self._buffers[stream]

    def _write_all(self) -> None:
        self._write_lines()
        for stream in sorted(self._buffers):
            if self._buffers[stream]:
                self._write_operations(stream)
