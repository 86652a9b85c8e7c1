#!/usr/bin/env python3
"""Linebounce's speed beside gem5's and SST's: the same references on as similar a machine as each can be.

./dev bench --peers [--cpus N] [--scale X]

Runs the cases of `linebounce bench` on one bus: private, mixed and contended. Where a program gem5 (compiled with Ruby's
MESI_Two_Level and with protobuf; or the one that GEM5 names) and a program sst (with sst-elements; or SST) are installed, they
replay references drawn in the same proportions, one at a time from each CPU, through tests/benchmarks/peers/*.py.

A rate is references per second of processor time, by the difference of two runs, so that start-up drops out. A peer that is
not installed has no column. What others have published about the two is printed in any case, with its source.
"""

import argparse
import os
import random
import shutil
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cost import cost_of, host

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build" / "release" / "linebounce"
SCRIPTS = ROOT / "tests" / "benchmarks" / "peers"

# Values as in commands/bench/speed.hpp, except LINE, which must be the line size in the peers' scripts.
LINE = 64
SHARED_LINES = 16
NEAR_BYTES = 8 * 1024
FAR_BYTES = 64 * 1024
PRIVATE_AREA = 1 << 20


@dataclass(frozen=True)
class Case:
    shared_per_mille: int
    references: int  # of Linebounce's longer run, over all CPUs; the shorter run has a quarter of them


CASES = {"private": Case(0, 32_000_000), "mixed": Case(100, 12_000_000), "contended": Case(1000, 4_000_000)}
PEERS_SHARE = 50  # a peer's runs have this many times fewer references

PUBLISHED = """\
Published, on other hosts and other machines, so by the order of magnitude:

  gem5, Ruby MESI_Two_Level, 2 CPUs that boot Linux: 152,177,680 requests to memory in 505.21 s, 0.30 M/s; nearly all hit
    gem5/gem5, commit 0746e92cd3c0, tests/long/fs/10.linux-boot/ref/x86/linux/pc-simple-timing-ruby-MESI_Two_Level/stats.txt
    (physmem.num_reads and num_writes, host_seconds)
  gem5, Ruby MESI_Two_Level, 8 memory testers whose requests all miss: 610,387 in 111.49 s, 0.0055 M/s
    gem5/gem5, commit 0aaa7d10d8ce, tests/quick/se/50.memtest/ref/alpha/linux/memtest-ruby-MESI_Two_Level/stats.txt
    (ruby.latency_hist samples, host_seconds)
  SST, Ariel with memHierarchy: a loop of a million iterations takes a minute, 0.017 M iterations/s
    sstsimulator/sst-elements, issue 2157 (2023)"""


@dataclass(frozen=True)
class Access:
    address: int
    writes: bool


def references(case: Case, cpu: int, count: int) -> Iterator[Access]:
    """One CPU's references, mixed as by ReferenceStream. The peers get a write for each atomic operation."""
    draw = random.Random(cpu)
    private = (cpu + 1) * PRIVATE_AREA
    for _ in range(count):
        if draw.randrange(1000) < case.shared_per_mille:
            yield Access(draw.randrange(SHARED_LINES) * LINE, draw.randrange(2) == 0)
            continue
        near = draw.randrange(8) != 0
        offset = draw.randrange(NEAR_BYTES // 8) * 8 if near else NEAR_BYTES + draw.randrange(FAR_BYTES // 8) * 8
        yield Access(private + offset, draw.randrange(256) < 77)


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def message(*fields: tuple[int, int | bytes]) -> bytes:
    """A protobuf message preceded by its length."""
    body = b""
    for number, value in fields:
        if isinstance(value, bytes):
            body += varint(number << 3 | 2) + varint(len(value)) + value
        else:
            body += varint(number << 3) + varint(value)
    return varint(len(body)) + body


def write_gem5_trace(file: Path, accesses: Iterator[Access]) -> None:
    """A packet trace for gem5 (src/proto/packet.proto). All packets have tick 0: each CPU waits for its last packet
    anyway."""
    read_request, write_request = 1, 4
    with file.open("wb") as out:
        out.write(struct.pack("<I", 0x356D6567) + message((1, b"linebounce"), (3, 10**12)))
        for access in accesses:
            command = write_request if access.writes else read_request
            out.write(message((1, 0), (2, command), (3, access.address), (4, 8)))


def write_sst_trace(file: Path, accesses: Iterator[Access]) -> None:
    """A trace in Prospero's text form: cycle, kind, address, length."""
    with file.open("w") as out:
        out.writelines(f"0 {'W' if access.writes else 'R'} {access.address} 8\n" for access in accesses)


@dataclass(frozen=True)
class Peer:
    name: str
    program: str
    script: str
    write: Callable[[Path, Iterator[Access]], None]

    def installed(self) -> str | None:
        return os.environ.get(self.name.upper()) or shutil.which(self.program)

    def seconds(self, case: Case, cpus: int, count: int) -> float:
        """Processor time in s for this many references over all CPUs."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for cpu in range(cpus):
                self.write(folder / f"{cpu}.trace", references(case, cpu, count // cpus))
            program = self.installed()
            assert program is not None
            return cost_of([program, SCRIPTS / self.script], {"LINEBOUNCE_TRACES": name}, folder).seconds


PEERS = (
    Peer("gem5", "gem5", "gem5_machine.py", write_gem5_trace),
    Peer("SST", "sst", "sst_machine.py", write_sst_trace),
)


def linebounce_seconds(program: Path, name: str, cpus: int, count: int) -> float:
    shape = ("--case", name, "--cpus", str(cpus), "--nodes", "1")
    return cost_of([program, "bench", "--timed-only", *shape, "--references", str(count)]).seconds


def rate(seconds: Callable[[int], float], longer: int) -> float:
    """References per second of processor time, from the difference of a longer and a shorter run."""
    shorter = longer // 4
    return (longer - shorter) / (seconds(longer) - seconds(shorter))


def millions(value: float) -> str:
    return f"{value / 1e6:.3g} M/s"


def row(program: Path, name: str, cpus: int, count: int, peers: list[Peer]) -> str:
    case = CASES[name]
    ours = rate(lambda references: linebounce_seconds(program, name, cpus, references), count)
    line = f"  {name:<12}{millions(ours):>14}"
    for peer in peers:
        theirs = rate(lambda references, peer=peer: peer.seconds(case, cpus, references), count // PEERS_SHARE)  # type: ignore[misc]
        line += f"{millions(theirs):>14}{f'x {ours / theirs:.1f}':>10}"
    return line


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpus", type=int, choices=(4, 8, 16), default=8)
    parser.add_argument("--scale", type=float, default=1.0, help="runs so many times as long")
    parser.add_argument("--program", type=Path, default=RELEASE, help="Linebounce's")
    arguments = parser.parse_args()
    peers = [peer for peer in PEERS if peer.installed()]
    print(f"References per second of processor time, {arguments.cpus} CPUs on one bus. {host()}\n")
    print(f"  {'case':<12}{'linebounce':>14}" + "".join(f"{peer.name:>14}{'ratio':>10}" for peer in peers))
    for name, case in CASES.items():
        count = int(case.references * arguments.scale)
        print(row(arguments.program, name, arguments.cpus, count, peers), flush=True)
    missing = [peer for peer in PEERS if peer not in peers]
    for peer in missing:
        print(f"\n{peer.name} is not installed here ({peer.program} is not on PATH, and {peer.name.upper()} is not set).")
    print(f"\n{PUBLISHED}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
