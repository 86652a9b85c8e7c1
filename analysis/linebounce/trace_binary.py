"""The binary form of a trace, byte for byte (docs/trace-files.md): shared by reader and writer."""

import struct
from typing import NamedTuple

VERSION = 2
VERSION_WITH_ROWS = 1  # version 1 is readable, too: it stores operations one after the other, not in byte planes
SKIPPABLE = 0x184D2A5B
HEAD_LETTERS = b"linebounce trace"
TAIL_LETTERS = b"linebounce index"

HEAD = struct.Struct("<II16sI")
TAIL = struct.Struct("<IIQ16s")
TAIL_CONTENT = 24  # bytes of the tail after its first eight
FRAME = struct.Struct("<4sIQ")
ENTRY = struct.Struct("<Q4sIII")
OPERATION = struct.Struct("<BBHIQ")

FRAME_OPERATIONS = 8192
FRAME_LINES = 4096
LARGEST_TEXT = 1 << 24  # largest frame of symbols or summary in bytes, including its head


def planes_of(rows: bytes) -> bytes:
    """Reorders operations into byte planes: the first bytes of all of them, then the second bytes, and so on."""
    return b"".join(rows[plane :: OPERATION.size] for plane in range(OPERATION.size))


def rows_of(planes: bytes) -> bytes:
    """The inverse of planes_of()."""
    rows = bytearray(len(planes))
    count = len(planes) // OPERATION.size
    for plane in range(OPERATION.size):
        rows[plane :: OPERATION.size] = planes[plane * count : (plane + 1) * count]
    return bytes(rows)


class Entry(NamedTuple):
    """An entry of the index. The index has one for each frame before it."""

    offset: int
    type: bytes
    stream: int
    items: int
    checksum: int
