"""A replay keeps a trace's lines in their cache sets: all bits of a physical address, and the page offset of a virtual one."""

import json
import random
import re
from collections import Counter, OrderedDict
from itertools import pairwise
from pathlib import Path

import pytest
from experiments import experiment
from memory import peak_mib
from program import Program
from recorded import Recorder
from results import read_csv
from ways import USUAL_WAYS, assert_every_way_agrees

LINE = 64
PAGE = 4096
NAMES = ("reads", "read_misses", "writes", "write_misses")
TWO_SOCKETS = "generic_2socket_32core"
DRAWN = "Page frames drawn by the seed and the order: the recorded addresses are virtual."

Access = tuple[int, bool, int]  # CPU, whether it writes, address


def model(accesses: list[Access], cpus: int, size: int, ways: int) -> list[dict[str, int]]:
    """Set-associative caches, each evicting its least recently used line, which keep each other coherent by MSI."""
    sets: list[dict[int, OrderedDict[int, str]]] = [{} for _ in range(cpus)]
    counts = [Counter(dict.fromkeys(NAMES, 0)) for _ in range(cpus)]
    for cpu, write, address in accesses:
        line = address // LINE
        index = line % (size // ways // LINE)
        mine = sets[cpu].setdefault(index, OrderedDict())
        counts[cpu]["writes" if write else "reads"] += 1
        if line not in mine:
            counts[cpu]["write_misses" if write else "read_misses"] += 1
            if len(mine) == ways:
                mine.popitem(last=False)
        for other in (one.get(index, {}) for one in sets if one is not sets[cpu]):
            if line in other and write:
                del other[line]
            elif line in other:
                other[line] = "S"
        mine[line] = "M" if write or mine.get(line) == "M" else "S"
        mine.move_to_end(line)
    return [dict(count) for count in counts]


def counted(program: Program, trace: Path, protocol: str, size: int, ways: int, *more: str) -> list[dict[str, int]]:
    """What `run TRACE` counts, by cache."""
    form = program.file("form.txt", "[each cache]\n" + " ".join(f"{{{name}}}" for name in NAMES) + "\n[end]\n")
    shape = ("--cache-bytes", str(size), "--ways", str(ways), "--line-bytes", str(LINE), "--machine", "course_8way")
    folder = () if protocol.endswith("_atomic") else ("-o", str(program.directory / "out"), "--fresh")
    done = program("run", trace, "--protocol", protocol, *shape, "--listing", form, *folder, *more)
    assert done.code == 0, done.stderr
    return [dict(zip(NAMES, map(int, line.split()), strict=True)) for line in done.stdout.splitlines()]


def scattered(seed: int, bits: int, cpus: int = 4, count: int = 3000) -> list[Access]:
    """Accesses to lines of 48 pages, anywhere below 2^`bits`. Few offsets, so that many lines meet in each set."""
    draw = random.Random(seed)
    pages = [draw.getrandbits(bits - 12) * PAGE for _ in range(48)]
    offsets = [LINE * draw.randrange(PAGE // LINE) for _ in range(3)]
    made = []
    for _ in range(count):
        hot = draw.random() < 0.5
        address = draw.choice(pages[:6] if hot else pages) + draw.choice(offsets) + 4 * draw.randrange(LINE // 4)
        made.append((draw.randrange(cpus), draw.random() < 0.3, address))
    return made


# A cache of one way, one whose sets are all within a page, and two that are indexed by bits of the page's number.
CACHES = [(1024, 1), (16384, 4), (65536, 2), (1 << 20, 1)]


@pytest.mark.parametrize(("size", "ways"), CACHES)
@pytest.mark.parametrize("bits", [32, 48, 64])
def test_scattered_pages_miss_alike_on_both_buses_and_in_a_model(linebounce: Program, bits: int, size: int, ways: int) -> None:
    accesses = scattered(bits + size + ways, bits)
    lines = "".join(f"{cpu} {'w' if write else 'r'} {address:x}\n" for cpu, write, address in accesses)
    trace = linebounce.file("scattered.txt", lines)
    expected = model(accesses, 4, size, ways)
    assert sum(one["read_misses"] for one in expected) < sum(one["reads"] for one in expected), "nothing hits"
    assert counted(linebounce, trace, "msi_atomic", size, ways)[:4] == expected
    assert counted(linebounce, trace, "msi_snoop", size, ways)[:4] == expected


def trace_of_pages(program: Program, pages: list[int], accesses: list[tuple[int, int]], more: str = "") -> Path:
    """A trace of one thread that reads words of these pages. `accesses`: a page's index, and the offset in it."""
    objects = "".join(f"object p{i} size={PAGE} alignment={PAGE} address={page} {more}\n" for i, page in enumerate(pages))
    loads = "".join(f"main load p{page}+{offset} 8\n" for page, offset in accesses)
    return program.file("pages.txt", f"linebounce trace 1\n{objects}stream main\n{loads}end\n")


# 16 lines in turn, each at a page's begin. A way of the cache has 16 KiB, and the pages are 16 KiB apart: without frames of
# their own, all lines are in one set of four ways.
STRIDE = 16384
CACHE, WAYS = 65536, 4
IN_TURN = [(page, 0) for _ in range(50) for page in range(16)]


def misses_of(program: Program, trace: Path, protocol: str, *more: str) -> int:
    return counted(program, trace, protocol, CACHE, WAYS, *more)[0]["read_misses"]


def test_addresses_that_are_not_virtual_are_used_as_they_are(linebounce: Program) -> None:
    trace = trace_of_pages(linebounce, [0x10000000 + STRIDE * i for i in range(16)], IN_TURN)
    for seed in ("1", "2"):
        for protocol in ("msi_atomic", "msi_snoop"):
            assert misses_of(linebounce, trace, protocol, "--seed", seed) == len(IN_TURN)


def test_seeds_sample_the_frames_of_virtual_pages(linebounce: Program) -> None:
    trace = trace_of_pages(linebounce, [0x10000000 + STRIDE * i for i in range(16)], IN_TURN, "page_bytes=4096")
    found = []
    for seed in map(str, range(1, 7)):
        found.append(misses_of(linebounce, trace, "msi_snoop", "--seed", seed))
        assert found[-1] == misses_of(linebounce, trace, "msi_atomic", "--seed", seed), "the atomic bus draws other frames"
    assert len(set(found)) > 1
    # Of 16 pages in four colours, about six are in colours of at most four pages, and hit from the second round on.
    assert min(found) < len(IN_TURN)
    assert misses_of(linebounce, trace, "msi_snoop", "--seed", "1") == found[0]


def test_huge_pages_keep_two_mebibytes(linebounce: Program) -> None:
    """All 16 pages are in one huge page."""
    trace = trace_of_pages(linebounce, [0x40000000 + STRIDE * i for i in range(16)], IN_TURN, "page_bytes=2097152")
    for seed in ("1", "2"):
        assert misses_of(linebounce, trace, "msi_snoop", "--seed", seed) == len(IN_TURN)
        assert misses_of(linebounce, trace, "msi_atomic", "--seed", seed) == len(IN_TURN)


def test_a_replay_may_assume_larger_pages(linebounce: Program) -> None:
    trace = trace_of_pages(linebounce, [0x40000000 + STRIDE * i for i in range(16)], IN_TURN, "page_bytes=4096")
    for seed in ("1", "2"):
        assert misses_of(linebounce, trace, "msi_snoop", "--seed", seed, "--set", "workload.page_kib=2048") == len(IN_TURN)
    said = linebounce.refused("trace", "replay", trace, "--machine", TWO_SOCKETS, "--set", "workload.page_kib=5")
    assert "workload.page_kib" in said
    assert "5 is not a page size; legal: powers of two from 4" in said


def metric(program: Program, output: str, name: str) -> float:
    metrics = json.loads((program.directory / output / "results.json").read_text())["points"][0]["metrics"]
    return metrics[name]["value"] if name in metrics else 0


def replayed(program: Program, trace: str | Path, output: str, *more: str) -> str:
    done = program("trace", "replay", trace, "--machine", TWO_SOCKETS, "-o", output, "--fresh", *more)
    assert done.code == 0, done.stderr
    return done.stdout


# 32 lines of one set of L1, read in turn: 1 MiB apart, or each in a mapping of its own far from the others.
MAPPINGS = """
#include <stdio.h>
#include <sys/mman.h>
enum { kLines = 32 };
static void *map(void *where, size_t bytes) {
  return mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
int main(int argc, char **argv) {
  (void)argv;
  volatile long *lines[kLines];
  char *all = argc > 1 ? NULL : map(NULL, (size_t)kLines << 20);
  for (size_t i = 0; i < kLines; i++)
    lines[i] = argc > 1 ? map((void *)(0x300000000000 + (i << 27)), 1 << 16) : (void *)(all + (i << 20));
  long sum = 0;
  for (int round = 0; round < 300; round++)
    for (size_t i = 0; i < kLines; i++) sum += lines[i][0];
  printf("%ld\\n", sum);
  return 0;
}
"""


def test_lines_of_one_set_stay_in_one_set_however_far_apart_they_are(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    program = recorder.compile(MAPPINGS, "-g")
    for arguments in ((), ("far",)):
        recording = recorder.record(program, *arguments)
        assert {one.page_bytes for one in recording.symbols.objects} == {PAGE}
        said = replayed(linebounce, "trace.lbt", "out")
        assert metric(linebounce, "out", "latency.l1.count") == 0
        assert metric(linebounce, "out", "replay.operations") > 300 * 32
        assert DRAWN in re.sub(r"\s+", " ", said)


def test_misses_are_named_in_every_page_of_an_object(linebounce: Program) -> None:
    """Pages 0, 1, 3 and 9 of a buffer that begins in the middle of a page."""
    offsets = [0, 2048 + 64, 3 * PAGE, 9 * PAGE + 128]
    loads = "".join(f"main load buffer+{offset} 8\n" for offset in offsets)
    buffer = (
        f"structure buffer size=40960 fields=all:0:40960\nobject buffer structure=buffer size=40960 address={0x7F0012345800}"
    )
    trace = linebounce.file("buffer.txt", f"linebounce trace 1\n{buffer} page_bytes=4096\nstream main\n{loads}end\n")
    replayed(linebounce, trace, "out")
    rows = {(row["object"], row["field"], int(row["line"])) for row in read_csv(linebounce.directory / "out" / "lines.csv")}
    assert rows == {("buffer", "all", offset // LINE) for offset in offsets}


HUGE = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
int main(void) {
  const size_t huge = 2 << 20;
  volatile long *asked = aligned_alloc(huge, 2 * huge);
  volatile long *plain = malloc(1000);
  if (madvise((void *)asked, 2 * huge, MADV_HUGEPAGE) != 0) perror("madvise");
  asked[0] = plain[0] = 1;
  asked[huge / sizeof(long)] = 2;
  munmap(mmap(NULL, huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0), huge);
  printf("%ld\\n", asked[0] + plain[0]);
  return 0;
}
"""


def test_a_recording_knows_the_huge_pages_that_the_program_asks_for(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    recording = recorder.record(recorder.compile(HUGE, "-g"))
    pages = {page: [one for one in recording.symbols.objects if one.page_bytes == page] for page in (PAGE, 2 << 20)}
    assert sum(len(of_size) for of_size in pages.values()) == len(recording.symbols.objects)
    (block,) = pages[2 << 20]
    assert (block.size, block.address % (2 << 20)) == (4 << 20, 0)
    assert pages[PAGE]


def test_every_way_of_running_draws_the_same_frames(linebounce: Program) -> None:
    """Threads on two nodes that read and write pages all over the address space, more than their caches hold."""
    draw = random.Random(5)
    pages = [draw.getrandbits(40) * PAGE for _ in range(400)]
    objects = "".join(
        f"object p{i} size={3 * PAGE} address={page + 8} page_bytes={4096 if i % 3 else 2097152}\n"
        for i, page in enumerate(sorted(pages))
    )
    work = "".join(
        f"t{draw.randrange(4)} {draw.choice(['load', 'store', 'fetch_add'])} p{draw.randrange(400)}"
        f"+{8 * draw.randrange(1536)} 8\n"
        for _ in range(4000)
    )
    streams = "".join(f"stream t{i}\n" for i in range(4))
    linebounce.file("far.txt", f"linebounce trace 1\n{objects}{streams}{work}end\n")
    workload = 'name = "replay"\ntrace = "far.txt"'
    replay = linebounce.file("replay.toml", experiment(workload=workload, run="warmup_us = 0\nmeasure_us = 0\nseeds = 2"))
    machine = ("--machine", TWO_SOCKETS, "--set", "machine.cpus=4")
    plain = assert_every_way_agrees(linebounce, replay, *machine, ways=USUAL_WAYS)
    misses = [row["value"] for row in read_csv(plain / "seeds.csv") if row["metric"] == "latency.l1.count"]
    assert len(set(misses)) == 2, "the two seeds draw the same frames"


def test_pages_are_interleaved_over_nodes_in_the_programs_order(linebounce: Program) -> None:
    pages = [0x7F0000000000 + PAGE * i for i in range(32)]
    trace = trace_of_pages(linebounce, pages, [(page, 8 * page) for page in range(32)], "page_bytes=4096")
    replayed(linebounce, trace, "out", "--set", "workload.placement=interleaved")
    homes = {int(row["object"][1:]): int(row["home"]) for row in read_csv(linebounce.directory / "out" / "lines.csv")}
    assert sorted(homes) == list(range(32))
    assert all(homes[page] != homes[page + 1] for page, _ in pairwise(range(32)))
    replayed(linebounce, trace, "out", "--set", "workload.placement=first_touch")
    homes = {row["home"] for row in read_csv(linebounce.directory / "out" / "lines.csv")}
    assert homes == {"0"}, "CPU 0 touches them all"


def test_a_replay_that_is_recorded_is_replayed_with_the_same_misses(linebounce: Program) -> None:
    draw = random.Random(7)
    pages = [draw.getrandbits(35) * PAGE for _ in range(64)]
    accesses = [(draw.randrange(64), 8 * draw.randrange(512)) for _ in range(3000)]
    for more in ("", "page_bytes=4096"):
        trace_of_pages(linebounce, pages, accesses, more)
        run = "warmup_us = 0\nmeasure_us = 0"
        linebounce.file("first.toml", experiment(workload='name = "replay"\ntrace = "pages.txt"', run=run))
        linebounce.file("second.toml", experiment(workload='name = "replay"\ntrace = "again.lbt"', run=run))
        machine = ("--machine", "course_8way")
        first = linebounce.run("first.toml", f"first{len(more)}", *machine)
        recorded = linebounce("trace", "record", "first.toml", "-o", "again.lbt", *machine)
        assert recorded.code == 0, recorded.stderr
        second = linebounce.run("second.toml", f"second{len(more)}", *machine)
        assert (first / "lines.csv").read_bytes() == (second / "lines.csv").read_bytes()


def test_every_answer_says_that_frames_were_drawn(linebounce: Program) -> None:
    def count(thread: int) -> str:
        return f"t{thread} fetch_add counts+{8 * thread} 8\nt{thread} compute 100\n"

    work = "".join(count(i) for _ in range(60) for i in range(4))
    streams = "".join(f"stream t{i}\n" for i in range(4))
    for more, expected in (("page_bytes=4096", True), ("", False)):
        objects = f"object counts size=64 address=69632 {more}\n"
        trace = linebounce.file("counts.txt", f"linebounce trace 1\n{objects}{streams}{work}end\n")
        for command in (["trace", "replay"], ["find-sharing"], ["advise"], ["run"]):
            here = ("--machine", TWO_SOCKETS, "-o", f"{command[-1]}_{expected}")
            named = ("--protocol", "msi_atomic") if command == ["run"] else here
            done = linebounce(*command, trace, *named)
            assert done.code == 0, done.stderr
            assert (DRAWN in re.sub(r"\s+", " ", done.stdout)) == expected, command


@pytest.mark.uninstrumented
def test_pages_far_apart_take_no_more_memory_than_others(linebounce: Program) -> None:
    accesses = [(page, 0) for page in range(400)]
    taken = []
    for distance in (PAGE, 1 << 50):
        trace = trace_of_pages(linebounce, [distance * i for i in range(400)], accesses, "page_bytes=4096")
        command = [linebounce.executable, "trace", "replay", trace, "--machine", TWO_SOCKETS, "-o", "out", "--fresh"]
        taken.append(peak_mib(command, linebounce.directory))
    assert taken[1] < taken[0] + 20
