"""Makes broken traces from a seed: damage by disks, and frames of a malicious writer, with valid checksums."""

import json
import random
from collections.abc import Callable

import zstandard
from linebounce.trace_binary import ENTRY, FRAME, HEAD, OPERATION, SKIPPABLE, TAIL, TAIL_LETTERS, Entry

_ODD_NUMBERS = [-1, 0, 1, 3, 8, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**48, 2**48 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64]
_ODD_VALUES = [
    *_ODD_NUMBERS,
    *(1.0, 1e3, True, False, None, "", "x", "7", "node 3", "node -1", "node 4294967296", "\ud800", "lock", "object", "event"),
    *(
        [],
        {},
        [[]],
        [{}],
        [1],
        ["x"],
        [{"taker": 2**32 - 1}],
        [{"function": 2**32 - 1}],
        [{"name": "f", "offset": 8, "size": 8}],
    ),
    {"memory": 2**63},
]
_ODD_BYTES = [b"{", b"}", b"[", b'"', b",", b"\\", b"\r", b"\n", b" ", b"\xff", b"\xef\xbb\xbf", b"NaN", b"-", b"[" * 2000]


def with_damaged_bytes(content: bytes, dice: random.Random) -> bytes:
    """Flips bits, overwrites words, removes a part, or truncates the content."""
    damaged = bytearray(content)
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(damaged) + 1)
        match dice.randrange(5):
            case 0 | 1 if at < len(damaged):
                damaged[at] ^= 1 << dice.randrange(8)
            case 2:
                damaged[at : at + 4] = dice.choice([bytes(4), b"\xff" * 4, b"\x01\x00\x00\x00"])
            case 3:
                del damaged[at : at + dice.randint(1, 8)]
            case 4:
                del damaged[at:]
    return bytes(damaged)


def with_malicious_frames(content: bytes, dice: random.Random) -> bytes:
    """Changes one or two frames, or their list, and packs them again."""
    frames = frames_of(content)
    for _ in range(dice.randint(1, 2)):
        at = dice.randrange(len(frames))
        head, body = frames[at]
        match dice.randrange(12):
            case 0:
                frames[at] = (_odd_head(head, dice), body)
            case 1:
                frames.insert(dice.randrange(len(frames) + 1), frames[at])
            case 2 if len(frames) > 1:
                del frames[at]
            case _:
                frames[at] = (head, _changed(head, body, dice))
    return packed(frames, dice if dice.randrange(8) == 0 else None)


Frame = tuple[bytes, bytes]  # head and content


def frames_of(content: bytes) -> list[Frame]:
    """The frames of a valid binary trace, except its index."""
    index = TAIL.unpack(content[-TAIL.size :])[2]
    entries = [Entry(*each) for each in ENTRY.iter_unpack(zstandard.decompress(content[index : -TAIL.size])[FRAME.size :])]
    ends = [entry.offset for entry in entries[1:]] + [index]
    unpacked = [zstandard.decompress(content[entry.offset : end]) for entry, end in zip(entries, ends, strict=True)]
    return [(each[: FRAME.size], each[FRAME.size :]) for each in unpacked]


def packed(frames: list[Frame], dice: random.Random | None = None) -> bytes:
    """A trace made from frames. With `dice`, one number of the index is changed."""
    content = HEAD.pack(SKIPPABLE, 20, b"linebounce trace", 1)
    entries: list[list[object]] = []
    for head, body in frames:
        type_, stream, _ = FRAME.unpack(head)
        frame = _pack(head + body)
        items = {b"OPER": len(body) // OPERATION.size, b"SYMB": body.count(b"\n")}.get(type_, 1)
        entries.append([len(content), type_, stream, items, int.from_bytes(frame[-4:], "little")])
        content += frame
    if dice is not None and entries:
        entry, member = dice.choice(entries), dice.choice([0, 2, 3, 4])
        entry[member] = int(str(entry[member])) ^ dice.choice([1, 2, 28, 1 << 20])
    index = FRAME.pack(b"INDX", 0, 0) + b"".join(ENTRY.pack(*entry) for entry in entries)
    return content + _pack(index) + TAIL.pack(SKIPPABLE, 24, len(content), TAIL_LETTERS)


def _pack(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=1, write_checksum=True, write_content_size=True).compress(content)


def _odd_head(head: bytes, dice: random.Random) -> bytes:
    type_, stream, first = FRAME.unpack(head)
    match dice.randrange(3):
        case 0:
            type_ = dice.choice([b"OPER", b"SYMB", b"SUMM", b"INDX", b"ABCD"])
        case 1:
            stream = dice.choice([0, 1, 7, 2**32 - 1])
        case 2:
            first = dice.choice([0, 1, first ^ 1, 2**64 - 1])
    return FRAME.pack(type_, stream, first)


def _changed(head: bytes, body: bytes, dice: random.Random) -> bytes:
    if not body:
        return body
    if head.startswith(b"OPER"):
        changed = bytearray(body)
        changed[dice.randrange(len(changed))] = dice.choice([0, 1, 33, 34, 255])
        return bytes(changed) if dice.randrange(4) else bytes(changed[: -dice.randint(1, 16)])
    lines = body.split(b"\n")[: -1 if head.startswith(b"SYMB") else None]
    if not lines:
        return b"\n"
    at = dice.randrange(len(lines))
    ways: list[Callable[[], object]] = [
        lambda: lines.insert(at, dice.choice(lines)),
        lambda: lines.pop(at),
        lambda: lines.__setitem__(at, _with_odd_bytes(lines[at], dice)),
        *[lambda: lines.__setitem__(at, _with_odd_member(lines[at], dice))] * 6,
    ]
    dice.choice(ways)()
    return b"".join(line + b"\n" for line in lines)


def _with_odd_bytes(line: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(line) + 1)
    return line[:at] + dice.choice(_ODD_BYTES) + line[at + dice.randrange(2) :]


def _with_odd_member(line: bytes, dice: random.Random) -> bytes:
    try:
        members = json.loads(line)
    except ValueError:
        return line  # damaged earlier
    if not isinstance(members, dict):
        return line
    names = [*members, "size", "offset", "redefines", "object", "structure", "of_lock", "waits_in", "fields", "base_offset"]
    name = dice.choice(names) if dice.randrange(12) else dice.choice(["other", "parties", "cpu", "vector", "misses"])
    value = dice.choice(_ODD_VALUES)
    if isinstance(members.get(name), list) and members[name] and isinstance(members[name][0], dict) and dice.randrange(2):
        dice.choice(members[name])[dice.choice(["name", "offset", "size", "taker", "function"])] = value
    elif dice.randrange(6) == 0:
        members.pop(name, None)
    else:
        members[name] = value
    return json.dumps(members, ensure_ascii=dice.randrange(2) == 0, separators=(",", ":")).encode(errors="replace")
