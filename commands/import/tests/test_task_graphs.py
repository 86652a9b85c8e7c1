"""Contech's task graphs, written here as Contech writes them."""

import random
import struct
import zlib

import pytest
from imported import accesses
from program import Program

READ, WRITE, FREE, BLOCK = 1, 2, 3, 6


def action(kind: int, address: int, power_of_two: int = 0) -> int:
    return kind << 61 | power_of_two << 58 | address


def task(context: int, number: int, actions: list[int], kind: int = 0) -> tuple[int, bytes]:
    identity = context << 32 | number
    before = [identity - 1] if number > 0 else []
    lists = b"".join(struct.pack(f"<I{len(one)}Q", len(one), *one) for one in (actions, [identity + 1], before))
    return identity, struct.pack("<3Q", identity, 10, 20) + lists + struct.pack("<2i", kind, 0)


def graph(tasks: list[tuple[int, bytes]], level: int = 6) -> bytes:
    head = (
        struct.pack("<I3Q", 4315, 0, 0, 0) + struct.pack("<i6I", 1, 1, 0, 7, 1, 3, 1) + struct.pack("<I4sII", 4, b"work", 0, 0)
    )
    body, index = b"", b""
    for identity, record in tasks:
        packed = zlib.compress(record, level)
        index += struct.pack("<2Q", identity, len(head) + len(body))
        body += struct.pack("<2Q", len(record), len(packed)) + packed
    end = struct.pack("<Q", len(head) + len(body))
    return head[:4] + end + head[12:] + body + struct.pack("<Q", len(tasks)) + index


SMALL = [
    task(1, 0, [action(WRITE, 0x7F0000001008, 2)]),
    task(0, 1, [], kind=1),
    task(0, 2, [action(FREE, 0x1000), action(READ, 0x7F0000001008, 2)]),
    task(0, 0, [action(BLOCK, 1), action(READ, 0x7F0000001000, 3), action(WRITE, 0x7F0000001000, 3)]),
]


def test_a_contexts_tasks_follow_each_other_by_number(linebounce: Program) -> None:
    linebounce.file("small.taskgraph", graph(SMALL))
    done = linebounce("import", "small.taskgraph")
    assert done.code == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "taskgraph" in said
    assert "1 tasks of Contech's that create, join or synchronise threads are left out" in said
    assert "1 calls of malloc, free or memcpy are left out" in said
    assert "no order between threads" in said
    assert accesses(linebounce.directory / "small.lbt") == [
        ("cpu/0", [("load", 0), ("store", 0), ("load", 8)]),
        ("cpu/1", [("store", 8)]),
    ]
    form = linebounce.file("form.txt", "{reads} {writes}\n")
    counted = linebounce("run", "small.taskgraph", "--protocol", "mesi", "--listing", form)
    assert counted.stdout.split() == ["2", "2"], counted.stderr
    assert "1 tasks of Contech's that create, join or synchronise threads are left out" in counted.stderr


@pytest.mark.parametrize("level", [0, 1, 9])
def test_tasks_are_unpacked_however_they_were_packed(linebounce: Program, level: int) -> None:
    draw = random.Random(3)
    words = [[draw.randrange(512) * 8 for _ in range(2000)] for _ in range(2)]
    tasks = [task(cpu, 0, [action(READ, 0x10000 + word, 3) for word in words[cpu]]) for cpu in (0, 1)]
    linebounce.file("large.taskgraph", graph(tasks, level))
    done = linebounce("import", "large.taskgraph")
    assert done.code == 0, done.stderr
    read = accesses(linebounce.directory / "large.lbt")
    assert [[place for _, place in operations] for _, operations in read] == words


def test_damaged_graphs_are_refused_with_the_place(linebounce: Program) -> None:
    whole = graph(SMALL)
    linebounce.file("cut.taskgraph", whole[:-20])
    assert "it was cut off" in linebounce.refused("import", "cut.taskgraph", code=3)
    at = whole.index(zlib.compress(SMALL[0][1]))
    for place in range(at, at + 24, 4):
        damaged = bytearray(whole)
        damaged[place] ^= 0x15
        linebounce.file("bad.taskgraph", bytes(damaged))
        message = linebounce.refused("import", "bad.taskgraph", code=3)
        assert f"byte {at - 16}: a task that zlib can't unpack" in message
    linebounce.file("old.taskgraph", struct.pack("<I", 4314) + whole[4:])
    assert "no task graph of version 4315" in linebounce.refused("import", "old.taskgraph", "--as", "taskgraph", code=3)
