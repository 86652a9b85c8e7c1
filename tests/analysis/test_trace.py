"""Traces written by Python and read by the program, and vice versa; both are compared as text."""

import re
from collections import Counter
from pathlib import Path

import pytest
import zstandard
from damaged_traces import frames_of, packed
from linebounce.errors import InputError, UsageError
from linebounce.trace import Trace, Writer
from linebounce.trace_binary import ENTRY, FRAME, TAIL
from linebounce.trace_symbols import (
    COUNTED,
    FOR_WRITE,
    PAIRED,
    PART,
    RELEASE,
    REPEAT_SHIFT,
    Barrier,
    Event,
    Field,
    Function,
    Kind,
    Lock,
    Object,
    Operation,
    Stream,
    Structure,
    Summary,
    WaitsIn,
    Word,
)
from program import ROOT, Program

TEXT = """linebounce trace 1
structure rq size=128 alignment=64 base_offset=32 subsystem=scheduler fields=nr_running:0:4,curr:64:8
function schedule
event "work is there"
stream main cpu=0
stream worker created=yes
object rq[0] structure=rq size=128 home="node 1"
object heap size=4096 address=139638282147448 page_bytes=4096
lock rq[0].lock algorithm=ticket object=rq[0] offset=4 word_bytes=4 waits_in=*:#0,#0:#0 in_handlers=yes
barrier start parties=2
object "node of a lock" size=16 of_lock=#0
word object=rq[0] offset=64
main create worker
main enter schedule
main acquire rq[0].lock
main store rq[0].curr 8 counted release
main load heap+64 8 paired
main load heap+0 1 part repeats=2047
main prefetch heap+128 8 for_write
main release rq[0].lock
main barrier start
main wait "work is there" 1
main leave
worker barrier start
worker await rq[0].curr 1
worker signal "work is there"
program "dbench 8"
machine p3_xeon_8way
misses memory 4
missing "No kernel."
configuration "[run]\\n"
end
"""


WAITS = [WaitsIn(None, 0), WaitsIn(0, 0)]


def write_sample(path: Path, loads: int) -> None:
    """Writes the trace in TEXT plus `loads` loads."""
    with Writer(path) as writer:
        fields = [Field("nr_running", 0, 4), Field("curr", 64, 8)]
        rq = writer.define(Structure("rq", 128, 64, 32, "scheduler", fields))
        schedule = writer.define(Function("schedule"))
        there = writer.define(Event("work is there"))
        main = writer.define(Stream("main", cpu=0))
        worker = writer.define(Stream("worker", created=True))
        queue = writer.define(Object("rq[0]", rq, 128, home="node 1"))
        heap = writer.define(Object("heap", size=4096, address=139638282147448, page_bytes=4096))
        lock = writer.define(Lock("rq[0].lock"))
        writer.define(Object("node of a lock", size=16, of_lock=lock))
        start = writer.define(Barrier("start", 2))
        word = writer.define(Word(queue, 64))
        for operation in (
            Operation(Kind.CREATE, id=worker),
            Operation(Kind.ENTER, id=schedule),
            Operation(Kind.ACQUIRE, id=lock),
            Operation(Kind.STORE, 8, COUNTED | RELEASE, queue, 64),
            Operation(Kind.LOAD, 8, PAIRED, heap, 64),
            Operation(Kind.LOAD, 1, PART | 2047 << REPEAT_SHIFT, heap, 0),
            Operation(Kind.PREFETCH, 8, FOR_WRITE, heap, 128),
            Operation(Kind.RELEASE, id=lock),
            Operation(Kind.BARRIER, id=start),
            Operation(Kind.WAIT, id=there, argument=1),
            Operation(Kind.LEAVE),
        ):
            writer.append(main, operation)
        writer.append(worker, Operation(Kind.BARRIER, id=start))
        writer.append(worker, Operation(Kind.AWAIT, id=word, argument=1))
        writer.append(worker, Operation(Kind.SIGNAL, id=there))
        for i in range(loads):
            writer.append(worker, Operation(Kind.LOAD, 8, 0, heap, i % 512 * 8))
        facts = Lock("rq[0].lock", "ticket", object=queue, offset=4, word_bytes=4, waits_in=WAITS, in_handlers=True)
        writer.redefine(lock, facts)
        writer.finish(Summary("dbench 8", "", "p3_xeon_8way", {"memory": 4}, "[run]\n", ["No kernel."]))


def text_of(linebounce: Program, trace: str) -> str:
    result = linebounce("trace", "convert", trace, "shown.txt")
    assert result.code == 0, result.stderr
    return (linebounce.directory / "shown.txt").read_text()


def test_the_program_reads_pythons_traces(linebounce: Program) -> None:
    write_sample(linebounce.directory / "python.lbt", loads=0)
    assert text_of(linebounce, "python.lbt") == TEXT


def test_the_program_reads_pythons_traces_with_many_frames(linebounce: Program) -> None:
    write_sample(linebounce.directory / "python.lbt", loads=20000)
    result = linebounce("trace", "info", "--check", "python.lbt")
    assert result.code == 0, result.stderr
    assert "20 014" in result.stdout


def test_python_reads_and_rewrites_the_programs_traces(linebounce: Program) -> None:
    linebounce.file("given.txt", TEXT)
    assert linebounce("trace", "convert", "given.txt", "program.lbt").code == 0
    with Trace(linebounce.directory / "program.lbt") as trace, Writer(linebounce.directory / "again.lbt") as writer:
        symbols = trace.symbols
        assert symbols.structures[0].fields[1] == Field("curr", 64, 8)
        assert symbols.locks == [
            Lock("rq[0].lock", "ticket", object=0, offset=4, word_bytes=4, waits_in=WAITS, in_handlers=True)
        ]
        assert Counter(operation.kind for operation in trace.operations(1)) == {Kind.BARRIER: 1, Kind.AWAIT: 1, Kind.SIGNAL: 1}
        assert (trace.count(0), trace.count(1)) == (11, 3)
        objects = symbols.objects
        for each in (*symbols.structures, *symbols.functions, *symbols.events, *symbols.streams, *objects[:2]):
            writer.define(each)
        for each in (*symbols.locks, objects[2], *symbols.barriers, *symbols.words):
            writer.define(each)
        for stream in range(2):
            for operation in trace.operations(stream):
                writer.append(stream, operation)
        writer.finish(trace.summary)
    assert text_of(linebounce, "again.lbt") == TEXT


def test_the_documentation_has_every_kind_with_its_number() -> None:
    text = (ROOT / "docs" / "trace-format.md").read_text()
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", text.split("| flag |")[0], re.MULTILINE)
    assert [(int(number), name) for number, name in rows] == [(kind.value, kind.name.lower()) for kind in Kind]


def frame_sizes(path: Path, type_: bytes) -> list[int]:
    return [len(body) for head, body in frames_of(path.read_bytes()) if head.startswith(type_)]


def test_symbols_of_any_size_are_in_frames_that_both_can_read(linebounce: Program) -> None:
    fields = [Field(f"field_{i:03}_of_a_large_structure", i * 8, 8) for i in range(150)]
    path = linebounce.directory / "large.lbt"
    with Writer(path) as writer:
        for i in range(4096):
            writer.define(Structure(f"structure_{i}", 1200, fields=fields))
        writer.finish(Summary("large"))
    sizes = frame_sizes(path, b"SYMB")
    assert sum(sizes) > 1 << 24  # more than a single frame may have
    assert max(sizes) < (1 << 20) + 16384
    with Trace(path) as trace:
        assert len(trace.symbols.structures) == 4096
    assert linebounce("trace", "info", path).code == 0


def test_a_symbol_that_no_frame_can_hold_is_not_written(tmp_path: Path) -> None:
    with Writer(tmp_path / "large.lbt") as writer, pytest.raises(UsageError, match="at most 16777216 can be written"):
        writer.define(Event("x" * (1 << 24)))


def test_operations_of_all_streams_together_are_bounded_in_memory(linebounce: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linebounce.trace_writer.MOST_BUFFERED", 1000)
    path = linebounce.directory / "many.lbt"
    with Writer(path) as writer:
        heap = writer.define(Object("heap", size=4096))
        streams = [writer.define(Stream(f"stream {i}")) for i in range(300)]
        for i in range(3500):
            writer.append(streams[i % 300], Operation(Kind.LOAD, 8, 0, heap, i % 512 * 8))
        assert path.stat().st_size > 0
        writer.finish(Summary())
    assert sum(frame_sizes(path, b"OPER")) == 3500 * 16
    assert len(frame_sizes(path, b"OPER")) == 4 * 300  # the frame was filled three times, and the fourth has the rest
    with Trace(path) as trace:
        assert [operation.argument for operation in trace.operations(7)] == [i % 512 * 8 for i in range(7, 3500, 300)]
    assert linebounce("trace", "info", "--check", path).code == 0


SYMBOLS_HEAD = b"SYMB" + bytes(12)


def refused(linebounce: Program, content: bytes) -> str:
    """Python's error message, which must be the program's, too."""
    path = linebounce.file("wrong.lbt", content)
    with pytest.raises(InputError) as caught:
        Trace(path)
    assert linebounce.refused("trace", "info", path, code=3).strip() == f"linebounce: {caught.value}"
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ('{"kind":"event","name":' + "[" * 3000 + "]" * 3000 + "}", "nested more than 8 deep"),
        ('{"kind":"object","size":-1}', "its size is -1; legal: 0 to 2^48 bytes"),
        ('{"kind":"object","structure":0}', "its structure is number 0; so far 0 are defined"),
        ('{"kind":"object","of_lock":3}', "belongs to lock 3; 0 are defined"),
        ('{"kind":"object","address":18446744073709551616}', '"address" is 1.8446744073709552e+19; it has to be an integer'),
        ('{"kind":"object","home":"attic"}', "legal: node N, first_touch, interleaved, local"),
        ('{"kind":"structure","alignment":3}', "legal: powers of two up to 2^20"),
        (
            '{"kind":"structure","size":8,"fields":[{"name":"f","offset":8,"size":1}]}',
            'its field "f" has 1 bytes at 8; the structure has 8',
        ),
        ('{"kind":"lock","waits_in":[{}]}', "waits_in names function 0; so far 0 are defined"),
        ('{"kind":"lock","offset":-1}', "its offset is -1; legal: 0 to 2^63 - 1"),
        ('{"kind":"lock","word_bytes":-1}', "its word_bytes are -1; legal: 0 to 2^31 - 1"),
        ('{"kind":"event","":0}', '"" is not known; known are kind, name'),
        ('{"kind":"structure","fields":[{"kind":"x"}]}', '"kind" is not known; known are name'),
        ('{"kind":"event"}\0{"kind":"no such"}', "it has a byte 0"),
        ('{"kind":"lock","redefines":null}', '"redefines" is null'),
        ('{"kind":"lock","redefines":0}', '"redefines" is 0, which is not a lock'),
        ('{"kind":"event","redefines":0}', '"redefines" is not known; known are kind, name'),
        ('{"kind":"word"}', "it lies in object 4294967295; so far 0 are defined"),
        ('{"kind":"barrier"}', "its parties are 0; legal: 1 and more"),
        ('{"kind":"stream","cpu":65536}', "its cpu is 65536; legal: -1 (not known) to 65535"),
        ('{"kind":"stream","cpu":1.0}', '"cpu" is 1.0; it has to be an integer'),
        ('{"kind":"event","name":"\\ud800"}', "this is not a JSON object"),
        ('{"kind":"event","name":NaN}', "this is not a JSON object"),
        ("", "this is not a JSON object"),
    ],
)
def test_symbols_that_make_no_sense_are_refused(line: str, wrong: str, linebounce: Program) -> None:
    summary = (b"SUMM" + bytes(12), b"{}")
    assert wrong in refused(linebounce, packed([(SYMBOLS_HEAD, line.encode() + b"\n"), summary]))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('{"kind":"summary"}', '"kind" is not known; known are program'),
        ('{"":0}', '"" is not known; known are program'),
        ('{"misses":{"memory":-1}}', '"memory" is -1; it has to be an integer from 0 to 2^63 - 1'),
        ("{}\0", "it has a byte 0"),
    ],
)
def test_summaries_that_make_no_sense_are_refused(text: str, wrong: str, linebounce: Program) -> None:
    assert wrong in refused(linebounce, packed([(b"SUMM" + bytes(12), text.encode())]))


def test_a_few_kilobytes_that_unpack_to_a_gigabyte_of_symbols_are_refused(linebounce: Program) -> None:
    lines = b'{"kind":"event"}\n' * 900_000  # nearly the size limit of a frame
    count = lines.count(b"\n")
    frames = [(b"SYMB" + bytes(4) + (number * count).to_bytes(8, "little"), lines) for number in range(40)]
    content = packed([*frames, (b"SUMM" + bytes(12), b"{}")])
    assert len(content) < 1 << 20
    assert "symbols up to here have" in refused(linebounce, content)


def test_a_last_line_of_symbols_without_its_newline_is_refused(linebounce: Program) -> None:
    symbols = b'{"kind":"event"}\n{"kind":"event"} '
    assert "line 1 does not end with a newline" in refused(
        linebounce, packed([(SYMBOLS_HEAD, symbols), (b"SUMM" + bytes(12), b"{}")])
    )


def test_a_file_that_is_damaged_is_refused_with_its_place(linebounce: Program) -> None:
    whole = packed([(SYMBOLS_HEAD, b'{"kind":"event"}\n'), (b"SUMM" + bytes(12), b"{}")])
    tail = len(whole) - TAIL.size
    index = TAIL.unpack(whole[tail:])[2]
    entries = bytearray(zstandard.decompress(whole[index:tail]))
    entries[FRAME.size + ENTRY.size - 1] ^= 1  # flips a bit of the first checksum
    odd_index = zstandard.ZstdCompressor(write_checksum=True, write_content_size=True).compress(entries)
    for content, wrong in (
        (whole[: tail + 4] + b"\x19" + whole[tail + 5 :], f"byte {tail + 4}: "),
        (whole[:index] + odd_index + whole[tail:], "byte 28: "),
        (whole[:-10], "no index at the end: the file was cut off"),
        (whole[:60] + bytes([whole[60] ^ 1]) + whole[61:], "byte 28: frame 0 (symbols): it is cut off"),
        (whole[:24] + b"\0" + whole[25:], "byte 24: the format's version is 0; legal: 1 and 2"),
    ):
        assert wrong in refused(linebounce, content)


def test_frames_that_make_no_sense_are_refused(linebounce: Program) -> None:
    symbols, summary = (SYMBOLS_HEAD, b'{"kind":"stream","name":"only"}\n'), (b"SUMM" + bytes(12), b"{}")
    loads = bytes([Kind.CLOCK, *bytes(15)])
    of_stream_7 = (b"OPER" + (7).to_bytes(4, "little") + bytes(8), loads)
    for frames, wrong in (
        ([symbols, of_stream_7, summary], "1 streams are defined"),
        ([symbols, (b"OPER" + bytes(12), b""), summary], "0 operations; legal: 1 to 8192"),
        ([symbols], "there is no summary"),
        ([symbols, (b"TEAS" + bytes(12), b""), summary], "legal types: SYMB, OPER, SUMM"),
    ):
        assert wrong in refused(linebounce, packed(frames))


def test_a_file_that_is_not_a_binary_trace_is_refused(linebounce: Program) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        Trace(linebounce.directory / "nothing.lbt")
    with pytest.raises(InputError, match="this is a folder, not a file"):
        Trace(linebounce.directory)
    refused(linebounce, b"")
    with pytest.raises(InputError, match="this is not a binary trace"):
        Trace(linebounce.file("trace.txt", TEXT))
