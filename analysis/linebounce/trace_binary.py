"""The binary form of a trace, byte for byte (docs/trace-format.md): what its reader and its writer share."""

import struct
from typing import NamedTuple

VERSION = 2
VERSION_WITH_ROWS = 1  # is read, too: operations lie one after the other, not in planes of bytes
SKIPPABLE = 0x184D2A5B
HEAD_LETTERS = b"linebounce trace"
TAIL_LETTERS = b"linebounce index"

HEAD = struct.Struct("<II16sI")
TAIL = struct.Struct("<IIQ16s")
TAIL_CONTENT = 24  # bytes behind its first eight
FRAME = struct.Struct("<4sIQ")
ENTRY = struct.Struct("<Q4sIII")
OPERATION = struct.Struct("<BBHIQ")

FRAME_OPERATIONS = 8192
FRAME_LINES = 4096
LARGEST_TEXT = 1 << 24  # bytes of a frame of symbols or the summary, its head counted


def planes_of(rows: bytes) -> bytes:
    """Operations, their bytes sorted: the first byte of all of them, then the second one, up to the last."""
    return b"".join(rows[plane :: OPERATION.size] for plane in range(OPERATION.size))


def rows_of(planes: bytes) -> bytes:
    """The reverse."""
    rows = bytearray(len(planes))
    count = len(planes) // OPERATION.size
    for plane in range(OPERATION.size):
        rows[plane :: OPERATION.size] = planes[plane * count : (plane + 1) * count]
    return bytes(rows)


class Entry(NamedTuple):
    """Of the index: one for each frame before it."""

    offset: int
    type: bytes
    stream: int
    items: int
    checksum: int
