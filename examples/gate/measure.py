#!/usr/bin/env python3
"""Measures `linebounce gate`: how often it calls a change where there is none, and how often it finds a planted one.

measure.py [-b BUILD] [-o OUTPUT] [--untimed] [--recordings N] [--program NAME]... [--kind KIND]... [PART...]
PART: computing, false-alarms, planted, table; default: all

false-alarms: records each program N times (30), deals the recordings into triples in many ways, and compares all triples of a
deal with each other. planted: records a program with a regression of 5 % of its threads' time ten times, three recordings each,
and compares them with three of the program as it was; the repetitions of either are compared with each other, too, which must
find nothing. table: changes that a reviewer would see, through the command itself. computing: likewise, twenty changes of a
program that computes for 10 to 50 us between two additions to a shared counter; none of them may fail.
--untimed: false-alarms and planted record without the time between accesses, which depends on how busy this computer is.
Exit code 1: a table row is wrong, or fewer than 57 of 60 planted regressions are found.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "analysis"))

from linebounce.gate.budget import Budget  # noqa: E402
from linebounce.gate.judge import Change, Comparison, thread_us  # noqa: E402
from linebounce.gate.measure import Condition, Gauge, Side, measure, opened  # noqa: E402
from linebounce.own_folder import emptied_folder, make_own_folder  # noqa: E402

MACHINES = ("generic_2socket_32core", "generic_8socket_64core")
TRIPLE = 3
DEALS = 200
# In the base, the planted code runs once in this many rounds: never. The base contains it because the compiler would
# otherwise compile its loops differently.
NEVER = 1_000_000_007
FOUND_AT_LEAST = 0.95


@dataclass(frozen=True)
class Example:
    """A program of examples/ as it should be, and the place in one of its loops where something can be planted."""

    source: str
    flags: tuple[str, ...]
    old: str = ""
    new: str = ""
    # For each kind of planted code: it runs in one of this many rounds, which costs 5 % of the threads' time.
    every: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return Path(self.source).stem


COUNTERS = Example(
    "counters.c",
    ("-DPADDED",),
    "    if (*at == '\\n') mine->lines++;",
    "    PLANT(at, mine - counts); if (*at == '\\n') mine->lines++;",
    {"COUNTER": 300, "NEIGHBOURS": 293, "LOCK": 371},
)
HASH_TABLE = Example(
    "hash_table.c",
    ("-DSTRIPES=64",),
    "    count_key((random >> 8) % different_keys);",
    "    count_key((random >> 8) % different_keys); PLANT(i, *(const unsigned*)seed);",
    {"COUNTER": 5, "NEIGHBOURS": 9, "LOCK": 6},
)
MEMORY_POOL = Example(
    "memory_pool.c",
    ("-DCACHED",),
    "      held[j] = get_block();",
    "      held[j] = get_block(); PLANT(i + j, *(const int*)number);",
    {"COUNTER": 70, "NEIGHBOURS": 90, "LOCK": 75},
)
PACKET_COUNTS = Example(
    "advice/packet_counts.c",
    ("-DCURED",),
    "packets_each; i++) take(&tallies[(long)number], sizes[(long)number][i]);",
    "packets_each; i++) { PLANT(i, (long)number); take(&tallies[(long)number], sizes[(long)number][i]); }",
    {"COUNTER": 190, "NEIGHBOURS": 185, "LOCK": 210},
)
ROUTE_REFERENCES = Example(
    "advice/route_references.c",
    ("-DCURED",),
    "    const unsigned size = (random >> 21) + to->header_bytes;",
    "    const unsigned size = (random >> 21) + to->header_bytes; PLANT(i, (unsigned long)bytes / 8);",
    {"COUNTER": 40, "NEIGHBOURS": 19, "LOCK": 42},
)
LOCK_BESIDE_MASK = Example(
    "advice/lock_beside_mask.c",
    ("-DCURED",),
    "    const unsigned key = next(&random) | 1;",
    "    const unsigned key = next(&random) | 1; PLANT(i, (unsigned long)&random / 4096);",
    {"COUNTER": 75, "NEIGHBOURS": 75, "LOCK": 117},
)
SIX = (COUNTERS, HASH_TABLE, MEMORY_POOL, PACKET_COUNTS, ROUTE_REFERENCES, LOCK_BESIDE_MASK)
LOG_QUEUE = Example("log_queue.cpp", ("-DBATCH=32",))
# Programs in which recordings differ most: by 5 % of the time and more.
NOISIEST = (
    LOG_QUEUE,
    Example("hash_table.c", ()),
    Example("log_queue.cpp", ()),
    Example("advice/padded_ring.c", ("-DCURED",)),
    Example("advice/spin_lock.c", ()),
)
KINDS = {"COUNTER": 4, "NEIGHBOURS": 3, "LOCK": 3}  # and how many of ten trials each of them has


class Bench:
    """Compiles, records and measures."""

    def __init__(self, build: Path, output: Path, machines: Sequence[str], *, untimed: bool) -> None:
        self.how = ["--untimed"] if untimed else []
        self.build, self.output = build.absolute(), output.absolute()
        make_own_folder(self.output)
        os.environ["LINEBOUNCE"] = str(self.build / "linebounce")  # for traces
        self.gauge = Gauge(str(self.build / "linebounce"), machines, (), Budget().orders, 2)

    def compiled(self, example: Example, *flags: str, edits: Sequence[tuple[str, str]] = ()) -> Path:
        """The program in a folder of its own, with the planted operation if flags say which. Edits are made in the copy."""
        kind = "-".join(flag.lstrip("-").replace("=", "") for flag in (*example.flags, *flags)) or "plain"
        folder = emptied_folder(self.output, f"{example.name}/{kind}{'-edited' if edits else ''}")
        text = (HERE.parent / example.source).read_text(encoding="utf-8")
        if any(flag.startswith("-DEVERY") for flag in flags):
            edits = [*edits, (example.old, example.new)]
            flags = (*flags, "-include", str(HERE / "plant.h"))
        for old, new in edits:
            if text.count(old) != 1:
                sys.exit(f"measure.py: {example.source} has not one place: {old}")
            text = text.replace(old, new)
        source = folder / Path(example.source).name
        source.write_text(text, encoding="utf-8")
        compiler = self.build / ("linebounce-c++" if source.suffix == ".cpp" else "linebounce-cc")
        subprocess.run(
            [compiler, "-O2", "-g", "-pthread", *example.flags, *flags, source, "-o", folder / source.stem], check=True
        )
        return folder / source.stem

    def recorded(self, program: Path, times: int) -> list[Path]:
        trace = program.with_name("trace.lbt")
        command = [self.build / "linebounce-record", *self.how, "--times", str(times), "-o", trace, "--", program]
        subprocess.run(command, check=True, capture_output=True)
        return [trace, *(trace.with_stem(f"trace-{number}") for number in range(2, times + 1))]

    def measured(self, program: Path, times: int) -> Side:
        side = opened(self.recorded(program, times))
        measure([side], self.gauge)
        for sentence in side.not_measured:
            sys.exit(f"measure.py: {program}: {sentence}")
        return side


def part_of(side: Side, chosen: Sequence[int]) -> Side:
    """Makes the measurements of these recordings only."""
    us = {condition: [recordings[number] for number in chosen] for condition, recordings in side.us.items()}
    return replace(side, us=us, symbols=[side.symbols[number] for number in chosen])


def worse(base: Side, head: Side) -> list[Change]:
    return [change for change in Comparison(base, head, Budget()).changes() if change.verdict == "worse"]


def upper_bound(found: int, of: int) -> float:
    """The 95 % upper bound of a share, Clopper and Pearson's, one-sided."""
    low, high = found / of, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        at_most = sum(math.comb(of, k) * middle**k * (1 - middle) ** (of - k) for k in range(found + 1))
        low, high = (middle, high) if at_most > 0.05 else (low, middle)
    return high


def deals(recordings: int) -> Iterator[list[list[int]]]:
    """Ways to deal recordings into disjoint triples; the first one in the order in which they were made."""
    chance = random.Random(1)
    numbers = list(range(recordings))
    for _ in range(DEALS):
        yield [numbers[at : at + TRIPLE] for at in range(0, recordings - TRIPLE + 1, TRIPLE)]
        chance.shuffle(numbers)


def false_alarms(bench: Bench, examples: Sequence[Example], recordings: int) -> None:
    print(f"  {'program':<32}{'pairs':>8}{'alarms':>8}{'share':>9}   of one deal: pairs, alarms; neighbours, alarms")
    whole, apart = [0, 0], [0, 0]
    for example in examples:
        side = bench.measured(bench.compiled(example), recordings)
        alarms, pairs, first, neighbours = 0, 0, [0, 0], [0, 0]
        for number, triples in enumerate(deals(recordings)):
            parts = [part_of(side, triple) for triple in triples]
            for i in range(len(parts)):
                for j in range(i):
                    alarm = bool(worse(parts[j], parts[i]))
                    alarms, pairs = alarms + alarm, pairs + 1
                    if number == 0:
                        first[0], first[1] = first[0] + 1, first[1] + alarm
                        if i % 2 == 1 and j == i - 1:  # no recording is in two of these pairs
                            neighbours[0], neighbours[1] = neighbours[0] + 1, neighbours[1] + alarm
        name = f"{example.name} {' '.join(example.flags)}"
        share = f"{100 * alarms / pairs:.2f} %"
        print(
            f"  {name:<32}{pairs:>8}{alarms:>8}{share:>9}   {first[0]:>4}{first[1]:>4}{neighbours[0]:>6}{neighbours[1]:>4}",
            flush=True,
        )
        whole = [whole[0] + pairs, whole[1] + alarms]
        apart = [apart[0] + neighbours[0], apart[1] + neighbours[1]]
    print(f"  all: {whole[1]} of {whole[0]} pairs, {100 * whole[1] / whole[0]:.2f} %")
    bound = 100 * upper_bound(apart[1], apart[0])
    print(f"  independent pairs: {apart[1]} of {apart[0]}: at most {bound:.1f} % (95 %)\n", flush=True)


def loss_pct(base: Side, head: Side) -> float:
    """By how many percent the threads take longer on the first machine."""
    condition = Condition(MACHINES[0])
    return 100 * (thread_us(head, condition) / thread_us(base, condition) - 1)


def alarms_among(sides: Sequence[Side]) -> tuple[int, int]:
    """False alarms, and pairs, of repetitions of one version. No recording is in two pairs."""
    pairs = list(zip(sides[::2], sides[1::2], strict=False))
    return sum(bool(worse(one, other)) for one, other in pairs), len(pairs)


def planted(bench: Bench, examples: Sequence[Example], kinds: Mapping[str, int]) -> bool:
    """Whether enough of the planted regressions are found."""
    found_in_all, trials, alarms, pairs = 0, 0, 0, 0
    print(f"  {'program':<20}{'planted':<12}{'one in':>7}{'costs':>9}{'found':>9}   first trial's largest")
    for example in examples:
        for kind, times in kinds.items():
            program = bench.compiled(example, f"-D{kind}", f"-DEVERY={NEVER}")
            every = example.every[kind]
            changed = bench.compiled(example, f"-D{kind}", f"-DEVERY={every}")
            found, losses, largest = 0, [], ""
            bases, heads = [], []
            for _ in range(times):
                base, head = bench.measured(program, TRIPLE), bench.measured(changed, TRIPLE)
                bases.append(base)
                heads.append(head)
                costs = worse(base, head)
                found += bool(costs)
                losses.append(loss_pct(base, head))
                if costs and not largest:
                    largest = f"{costs[0].rule} {costs[0].name} {max(it.change for it in costs[0].figures):+.1f}"
            found_in_all, trials = found_in_all + found, trials + times
            for sides in (bases, heads):
                more_alarms, more_pairs = alarms_among(sides)
                alarms, pairs = alarms + more_alarms, pairs + more_pairs
            cost = f"{fmean(losses):.1f} %"
            print(
                f"  {example.name:<20}{kind.lower():<12}{every:>7}{cost:>9}{f'{found} of {times}':>9}   {largest}", flush=True
            )
    print(f"  found: {found_in_all} of {trials}", flush=True)
    if pairs:
        bound = 100 * upper_bound(alarms, pairs)
        print(f"  false alarms among repetitions of a version: {alarms} of {pairs}: at most {bound:.1f} % (95 %)\n", flush=True)
    return found_in_all >= FOUND_AT_LEAST * trials


@dataclass(frozen=True)
class Row:
    """A change between two variants of a program, and whether it should fail the gate."""

    example: Example
    what: str
    fails: bool
    base: tuple[str, ...] = ()  # flags
    head: tuple[str, ...] = ()
    without: tuple[str, ...] = ()  # flags of the example that only the base has
    edits: tuple[tuple[str, str], ...] = ()


ROWS = (
    Row(COUNTERS, "the padding of counts removed", True, without=("-DPADDED",)),
    Row(COUNTERS, "a counter of all threads added", True, head=("-DCOUNTER", "-DEVERY=60")),
    Row(COUNTERS, "private work added", False, head=("-DPRIVATE", "-DEVERY=50")),
    Row(HASH_TABLE, "64 locks become one: each guards more", True, without=("-DSTRIPES=64",)),
    Row(
        HASH_TABLE,
        "comment and declaration above everything",
        False,
        edits=(("enum { most", "// Limits.\nstruct x;\nenum { most"),),
    ),
    Row(MEMORY_POOL, "no blocks kept: the pool's lock for each", True, without=("-DCACHED",)),
    Row(
        MEMORY_POOL, "a member added at the pool's end", False, edits=(("block* free;\n};", "block* free;\n  int spare;\n};"),)
    ),
    Row(LOG_QUEUE, "batches of 32 messages become 1", True, without=("-DBATCH=32",)),
    Row(LOG_QUEUE, "words of the message changed", False, edits=(("request served in so", "request was served"),)),
    Row(PACKET_COUNTS, "the padding of tallies removed", True, without=("-DCURED",)),
    Row(PACKET_COUNTS, "private work added", False, head=("-DPRIVATE", "-DEVERY=100")),
    Row(ROUTE_REFERENCES, "the count moved beside what packets read", True, without=("-DCURED",)),
    Row(ROUTE_REFERENCES, "two fields that are only read swapped", False, edits=(("gateway, device;", "device, gateway;"),)),
)

COMPUTING = Example("gate/computing.c", ())
ABOVE = "static double sum_of("
COMPUTING_ROWS = tuple(
    Row(COMPUTING, f"{terms} terms: {what}", False, (f"-DTERMS={terms}",), (f"-DTERMS={terms}", *flags), edits=edits)
    for terms in (5000, 10000, 15000, 25000)
    for what, flags, edits in (
        ("a member added", ["-DMEMBER"], ()),
        ("two private members swapped", ["-DSWAPPED"], ()),
        ("a result checked", ["-DCHECKED"], ()),
        ("2 % more terms", ["-DMORE"], ()),
        ("a comment and a declaration", [], ((ABOVE, f"// Sums up.\nstruct unused;\n{ABOVE}"),)),
    )
)


def table(bench: Bench, rows: Sequence[Row]) -> bool:
    """Whether all verdicts are right. Runs the command as a user does."""
    right = 0
    print(f"  {'program':<20}{'change':<42}{'expected':<10}{'exit':>5}   worst cost")
    for row in rows:
        example = row.example
        changed = replace(example, flags=tuple(flag for flag in example.flags if flag not in row.without))
        base = bench.compiled(example, *row.base)
        head = bench.compiled(changed, *row.head, edits=row.edits) if row.head or row.edits or row.without else base
        command = [bench.build / "linebounce", "gate", "--base", base, "--head", head, "--json", "-"]
        done = subprocess.run([*command, "-o", bench.output / "table"], capture_output=True, text=True, check=False)
        changes = json.loads(done.stdout)["changes"] if done.returncode in (0, 1) else []
        first = changes[0] if changes and changes[0]["verdict"] == "worse" else None
        cost = (
            f"{first['rule']} {first['name']} {max(it['change'] for it in first['machines']):+.1f}"
            if first
            else done.stderr.strip()
        )
        right += done.returncode == int(row.fails)
        print(
            f"  {example.name:<20}{row.what:<42}{'fails' if row.fails else 'passes':<10}{done.returncode:>5}   {cost}",
            flush=True,
        )
    print(f"  right: {right} of {len(rows)}\n", flush=True)
    return right == len(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "examples" / "gate")
    parser.add_argument("--untimed", action="store_true")
    parser.add_argument("--recordings", type=int, default=30)
    programs = sorted({it.name for it in (*SIX, *NOISIEST, COMPUTING)})
    parser.add_argument("--program", action="append", choices=programs, help="only this program; may be repeated")
    parser.add_argument("--kind", action="append", choices=sorted(KINDS), help="plant only this; may be repeated")
    parser.add_argument("parts", metavar="PART", nargs="*", choices=[[], "computing", "false-alarms", "planted", "table"])
    options = parser.parse_args()
    if options.recordings < 2 * TRIPLE:
        parser.error(f"--recordings: {options.recordings} is out of range; legal: at least {2 * TRIPLE}, for two triples")
    parts = options.parts or ["table", "computing", "planted", "false-alarms"]
    bench = Bench(options.build, options.output, MACHINES, untimed=options.untimed)
    good = True

    def chosen(examples: Sequence[Example]) -> list[Example]:
        return [it for it in examples if not options.program or it.name in options.program]

    if "table" in parts:
        good = table(bench, [row for row in ROWS if chosen([row.example])])
    if "computing" in parts:
        good = table(bench, [row for row in COMPUTING_ROWS if chosen([row.example])]) and good
    if "planted" in parts:
        kinds = {kind: times for kind, times in KINDS.items() if not options.kind or kind in options.kind}
        good = planted(bench, chosen(SIX), kinds) and good
    if "false-alarms" in parts:
        for examples in (SIX, NOISIEST):
            if chosen(examples):
                false_alarms(bench, chosen(examples), options.recordings)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
