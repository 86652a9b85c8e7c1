#!/usr/bin/env python3
"""Finds again what README.md says was found in the examples: compiles, records and replays them, and compares.

reproduce.py [-b BUILD] [-o OUTPUT] [EXAMPLE...]

BUILD is where linebounce and linebounce-cc are. No two recordings are quite the same, for threads meet differently each time:
each figure has a range. Where one is outside, two more recordings are made, and the median decides. Exit code 1: one is outside
even so. memcached is left out where it cannot be fetched, word_counts where rustc or QEMU is missing; the last line says so.
"""

import argparse
import csv
import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MACHINE = "generic_2socket_32core"
CANNOT_FETCH = 75
FAIR = ("ticket", "mcs", "clh", "qspinlock")  # locks that serve waiters in their order


class CannotFetchError(Exception):
    pass


@dataclass
class Claim:
    what: str
    readme: float
    now: float
    least: float
    most: float

    @property
    def holds(self) -> bool:
        return self.least <= self.now <= self.most


@dataclass
class Replayed:
    """The measurements of a replay."""

    metrics: dict[str, float]
    locks: list[dict[str, str]]

    @property
    def us(self) -> float:
        return 1e6 * self.metrics["replay.operations"] / self.metrics["throughput.operations_per_s"]

    @property
    def transfers(self) -> float:
        return sum(self.metrics.get(f"latency.{source}.count", 0) for source in ("local_c2c", "remote_c2c", "upgrade"))

    def lock(self, name: str, column: str) -> float:
        """The value in a column of locks.csv over all call sites."""
        (row,) = (row for row in self.locks if row["lock"] == name)
        return float(row[column])


@dataclass
class Time:
    """Percentages of all threads' time, by class and name."""

    shares: dict[tuple[str, str], float]

    @property
    def largest(self) -> tuple[str, str]:
        """The largest share. Waiting for threads to end does not count, because it is nobody's bottleneck."""
        return max((share for share in self.shares if share[0] != "joining"), key=lambda share: self.shares[share])

    def claims(self, what: str, name: str, readme: float, least: float, most: float) -> list[Claim]:
        """Claims that this share is the largest except waiting for threads to end, and that all shares add up to 100."""
        return [
            Claim(f"time: {what} {name}".strip() + ", %", readme, self.shares.get((what, name), 0), least, most),
            Claim("time: the largest share is that one", 1, self.largest == (what, name), 1, 1),
            self.sum(),
        ]

    def sum(self) -> Claim:
        return Claim("time: all shares, %", 100, sum(self.shares.values()), 99.9, 100.1)


class Tools:
    """The programs, called as in README.md, and the folder of their results."""

    def __init__(self, build: Path, output: Path, *, untimed: bool = False) -> None:
        self.build = build.resolve()
        self.output = output.resolve()
        self.how = ["--untimed"] if untimed else []  # recordings of programs compiled by linebounce-cc
        self.output.mkdir(parents=True, exist_ok=True)

    def run(self, tool: str | Path, *arguments: str | Path) -> str:
        done = subprocess.run([self.build / tool, *arguments], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode == CANNOT_FETCH:
            raise CannotFetchError
        if done.returncode != 0:
            sys.exit(f"reproduce.py: exit code {done.returncode}: {tool} {' '.join(map(str, arguments))}")
        return done.stdout

    def record(self, source: str, name: str, *flags: str) -> Path:
        """The trace of examples/SOURCE, compiled with these flags."""
        compiler = "linebounce-cc" if source.endswith(".c") else "linebounce-c++"
        program, trace = self.output / name, self.output / f"{name}.lbt"
        self.run(compiler, "-O2", "-pthread", *flags, HERE / source, "-o", program)
        self.run("linebounce-record", *self.how, "-o", trace, "--", program)
        return trace

    def record_rust(self, name: str, *flags: str) -> Path:
        """The trace of examples/word_counts.rs, as Debian's compiler makes it, in QEMU."""
        program, trace = self.output / name, self.output / f"{name}.lbt"
        if not all(shutil.which(tool) for tool in ("rustc", "qemu-x86_64")):
            raise CannotFetchError
        subprocess.run(["rustc", "-g", "-O", *flags, HERE / "word_counts.rs", "-o", program], check=True)
        self.run("linebounce-record", "--binary", "-o", trace, "--", program)
        return trace

    def record_memcached(self) -> Path:
        folder = ROOT / "build" / "examples" / "memcached"
        trace = self.output / "memcached.lbt"
        self.run(HERE / "memcached" / "build.sh", self.build / "linebounce-cc", folder)
        recorder = [self.build / "linebounce-record", *self.how, "-o", trace, "--"]
        self.run(HERE / "memcached" / "load.py", *recorder, folder / "memcached")
        return trace

    def ask(self, question: str, trace: Path, *more: str) -> dict:
        """The answer of find-sharing or compare-locks."""
        directory = self.output / question / trace.stem
        return json.loads(self.run("linebounce", question, trace, "--machine", MACHINE, "-o", directory, "--json", *more))

    def other_locks(self, trace: Path, lock: str) -> dict[str, float]:
        """The change in throughput, in percent, for each other algorithm in this lock's place."""
        (machine,) = self.ask("compare-locks", trace, "--lock", lock)["machines"]
        (compared,) = machine["locks"]
        return {trial["algorithm"]: trial["change_pct"] for trial in compared["trials"] if not trial["recorded"]}

    def time(self, trace: Path) -> Time:
        """Where the threads' time goes: the first part of advise's page."""
        return Time({(it["class"], it["name"]): it["pct"] for it in self.ask("advise", trace, "--time")["time"][0]["shares"]})

    def replay(self, trace: Path) -> Replayed:
        directory = self.output / "replay" / trace.stem
        self.run("linebounce", "trace", "replay", trace, "--machine", MACHINE, "--fresh", "-o", directory)
        (point,) = json.loads((directory / "results.json").read_text())["points"]
        with (directory / "locks.csv").open(newline="") as file:
            locks = [row for row in csv.DictReader(file) if not row["call_site"]]
        return Replayed({name: metric["value"] for name, metric in point["metrics"].items()}, locks)


def counters(tools: Tools) -> list[Claim]:
    shared = tools.record("counters.c", "counters")
    padded = tools.record("counters.c", "counters_padded", "-DPADDED")
    found = tools.ask("find-sharing", shared)
    (proposal,) = found["proposals"]
    now = tools.replay(padded)
    as_proposed = proposal["transfers_after"]
    return [
        Claim("falsely shared lines", 2, found["falsely_shared_lines"], 2, 2),
        Claim("transfers of lines", 1264, proposal["transfers_before"], 1000, 2500),
        Claim("transfers as proposed", 274, as_proposed, 250, 300),
        Claim("transfers with -DPADDED", 273, now.transfers, 0.95 * as_proposed, 1.05 * as_proposed),
        Claim("proposal: more throughput, %", 28, proposal["throughput_change_pct"], 20, 60),
        *tools.time(shared).claims("compute", "", 33, 20, 45),
    ]


def hash_table(tools: Tools) -> list[Claim]:
    one = tools.record("hash_table.c", "hash_table")
    striped = tools.record("hash_table.c", "hash_table_striped", "-DSTRIPES=64")
    others = tools.other_locks(one, "stripe.lock")
    return [
        Claim("hbo: more throughput, %", 28, others["hbo"], 10, 80),
        Claim("ttas: more throughput, %", 1, others["ttas"], -10, 25),
        Claim("the best fair lock: more throughput, %", -18, max(others[lock] for lock in FAIR), -45, -8),
        Claim("64 locks: times as fast", 3, tools.replay(one).us / tools.replay(striped).us, 2, 5),
        *tools.time(one).claims("lock", "stripe.lock", 70, 50, 85),
    ]


def memory_pool(tools: Tools) -> list[Claim]:
    trace = tools.record("memory_pool.c", "memory_pool")
    shared = tools.replay(trace)
    cached = tools.replay(tools.record("memory_pool.c", "memory_pool_cached", "-DCACHED"))
    return [
        Claim("the lock: taken when held, %", 44, shared.lock("pool_lock", "con_pct"), 10, 55),
        Claim("transfers of lines", 92092, shared.transfers, 30000, 110000),
        Claim("transfers with -DCACHED", 264, cached.transfers, 100, 500),
        Claim("-DCACHED: times as fast", 51, shared.us / cached.us, 30, 90),
        *tools.time(trace).claims("lock", "pool.lock", 73, 50, 85),
    ]


def log_queue(tools: Tools) -> list[Claim]:
    trace = tools.record("log_queue.cpp", "log_queue")
    single = tools.replay(trace)
    batched = tools.replay(tools.record("log_queue.cpp", "log_queue_batched", "-DBATCH=32"))
    return [
        Claim("the lock: taken when held, %", 99, single.lock("queue_mutex_", "con_pct"), 60, 100),
        Claim("taken in all", 2026, single.lock("queue_mutex_", "total"), 2001, 6000),
        Claim("taken with -DBATCH=32", 92, batched.lock("queue_mutex_", "total"), 60, 300),
        Claim("-DBATCH=32: times as fast", 2.2, single.us / batched.us, 1.5, 5),
        *tools.time(trace).claims("lock", "queue.mutex_", 58, 35, 85),
    ]


def word_counts(tools: Tools) -> list[Claim]:
    shared = tools.record_rust("word_counts")
    padded = tools.record_rust("word_counts_padded", "--cfg", "padded")
    proposal = tools.ask("find-sharing", shared)["proposals"][0]
    as_proposed = proposal["transfers_after"]
    return [
        Claim("transfers of lines", 18255, proposal["transfers_before"], 10000, 40000),
        Claim("transfers as proposed", 832, as_proposed, 600, 1100),
        Claim("transfers with --cfg padded", 832, tools.replay(padded).transfers, 0.9 * as_proposed, 1.1 * as_proposed),
        Claim("proposal: more throughput, %", 215, proposal["throughput_change_pct"], 100, 1000),
        *tools.time(shared).claims("false_sharing", "word_counts::COUNTS", 89, 60, 97),
    ]


def memcached(tools: Tools) -> list[Claim]:
    trace = tools.record_memcached()
    now = tools.replay(trace)
    return [
        Claim("slabs_lock: longest hold, us", 1735, now.lock("slabs_lock", "hold_max_us"), 1000, 2500),
        Claim("slabs_lock: share of CPUs that wait, %", 4.6, now.lock("slabs_lock", "cpu_pct"), 2, 8),
        Claim("slabs_lock: the best other lock, %", 0.1, max(tools.other_locks(trace, "slabs_lock").values()), -3, 4),
        Claim("LRU lock: taken when held, %", 51, now.lock("lru_locks[132]", "con_pct"), 30, 70),
        Claim("cas_id_lock: taken when held, %", 30, now.lock("cas_id_lock", "con_pct"), 12, 45),
        tools.time(trace).sum(),
    ]


EXAMPLES: dict[str, Callable[[Tools], list[Claim]]] = {
    function.__name__: function for function in (counters, hash_table, memory_pool, log_queue, word_counts, memcached)
}


def medians(recordings: list[list[Claim]]) -> list[Claim]:
    return [replace(same[0], now=statistics.median(claim.now for claim in same)) for same in zip(*recordings, strict=True)]


def print_claims(example: str, claims: list[Claim]) -> None:
    print(f"\n  {example:<42}{'README':>10}{'now':>10}{'range':>20}")
    for claim in claims:
        allowed = f"{claim.least:.5g} to {claim.most:.5g}"
        print(f"    {claim.what:<40}{claim.readme:>10.5g}{claim.now:>10.5g}{allowed:>20}{'' if claim.holds else '  no longer'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "examples")
    parser.add_argument("examples", metavar="EXAMPLE", nargs="*", help=", ".join(EXAMPLES))
    options = parser.parse_args()
    if unknown := set(options.examples) - EXAMPLES.keys():
        parser.error(f"there is no example {', '.join(sorted(unknown))}; there are {', '.join(EXAMPLES)}")
    tools = Tools(options.build, options.output, untimed=True)
    broken = 0
    left_out: list[str] = []
    for name in options.examples or EXAMPLES:
        try:
            claims = EXAMPLES[name](tools)
        except CannotFetchError:
            left_out.append(name)
            continue
        if not all(claim.holds for claim in claims):
            claims = medians([claims, EXAMPLES[name](tools), EXAMPLES[name](tools)])
        print_claims(name, claims)
        broken += sum(not claim.holds for claim in claims)
    result = f"{broken} claims of examples/README.md no longer hold" if broken else "All claims hold"
    print(f"\n{result}" + "".join(f"; {name} is left out: it, or what it needs, is not to be had here" for name in left_out))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
