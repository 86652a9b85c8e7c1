#!/usr/bin/env python3
"""Changes that others published for their programs: the gain natively on this computer beside what Linebounce predicts.

changes.py [-b BUILD] [-o OUTPUT] [--machine FILE] [--runs N] [--recordings N] [PROGRAM...]

Each program is other people's source from before and after a public change, fetched by git or as a Debian package, with a small
main() of ours where it is a library; two threads work. First both run N times (11) without Linebounce, in turns. Then each is
recorded, by default five times, also in turns, and the gain is predicted on FILE, a machine that linebounce-probe and
linebounce calibrate made here (without --machine they make one first, which takes two minutes): by what advise says of the
source before the change, and by replays of the recordings before and after it. Exit code 1: a sign is wrong. A program that
cannot be fetched is left out. Sources and builds stay in build/examples/programs.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from native.measure import FACTOR, Native, calibrated  # noqa: E402
from reproduce import ROOT, CannotFetchError  # noqa: E402
from table import FOLDER, LMDB, BuildError, Compiler, Workshop  # noqa: E402

NO_EFFECT_PCT = 3  # a smaller gain is none
RECORDED_TIMES = 5
SHORT_RUNS = 5  # times as many runs of the rounds that are recorded, which take some milliseconds
TOO_FEW_RUNS = 255  # what task-scheduler's benchmark returns after fewer than three


@dataclass
class Change:
    """What was changed, and how both versions are built and run."""

    where: str  # the change in public
    published: str  # its gain, as its author measured it
    sources: tuple[str, ...]  # below the fetched folder, or, if they begin with a point, here
    flags: tuple[str, ...]
    arguments: tuple[str, ...]  # {} is the rounds
    native_rounds: int
    recorded_rounds: int
    repository: str = ""  # on GitHub; without one the source is LMDB's package
    commits: tuple[str, str] = ("", "")  # before and after
    concerns: str = ""  # what is changed, as a regular expression for advise's words; nothing if advise cannot propose it
    flags_before: tuple[str, ...] = ()
    folder: str = "."  # of the repository

    def command(self, program: Path, rounds: int, scratch: Path) -> list[str | Path]:
        return [program, *(argument.format(rounds, scratch=scratch) for argument in self.arguments)]


@dataclass
class Both:
    """The programs before and after the change."""

    before: Path
    after: Path


@dataclass
class Advice:
    """What advise recommends first of a recording before the change."""

    change: str = ""
    gain_pct: float = 0
    slow_pct: float = 0  # if the program computes slowly
    fast_pct: float = 0
    explained: str = ""  # how much of the native time the replay explains
    has_size: bool = True  # false: advise shows none, because it explains too little or too much


@dataclass
class Row:
    name: str
    change: Change
    native: Native
    short: Native  # natively, as many rounds as are recorded
    advice: Advice
    before_us: list[float]  # replays of recordings
    after_us: list[float]

    @property
    def replayed_pct(self) -> float:
        return 100 * (statistics.median(self.before_us) / statistics.median(self.after_us) - 1)

    @property
    def replayed_interval_pct(self) -> tuple[float, float]:
        """The middle half of the gains in each pair of recordings."""
        return Native(self.before_us, self.after_us).interval_pct

    def verdict(self, predicted_pct: float, has_size: bool = True) -> str:
        native_pct, (low, high) = self.native.gain_pct, self.native.interval_pct
        if low < 0 < high:
            return "within native noise" if low <= predicted_pct <= high else "WRONG"
        if max(native_pct, predicted_pct) < NO_EFFECT_PCT:
            # The change does nothing, or harm: to advise nothing is right.
            return "right" if predicted_pct == 0 or 1 / FACTOR <= predicted_pct / native_pct <= FACTOR else "right sign"
        if min(native_pct, predicted_pct) < NO_EFFECT_PCT:
            return "WRONG"
        if not has_size:
            return "right sign, size not known"
        return "right" if 1 / FACTOR <= predicted_pct / native_pct <= FACTOR else "right sign"

    def advice_verdict(self) -> str:
        verdict = self.verdict(self.advice.gain_pct, self.advice.has_size)
        is_other = self.advice.change and not re.search(self.change.concerns or r"^$", self.advice.change)
        return verdict + (", another change" if is_other else "")

    def text(self) -> str:
        low, high = self.native.interval_pct
        advice = self.advice.change or "nothing"
        if self.advice.change:
            sizes = f"{self.advice.gain_pct:+.0f} % ({self.advice.slow_pct:+.0f} to {self.advice.fast_pct:+.0f})"
            advice += f": {sizes}" if self.advice.has_size else f": a gain; without `--plain` {sizes}"
        least, most = self.replayed_interval_pct
        cells = (
            self.name,
            self.change.published,
            f"{self.native.gain_pct:+.0f} % ({low:+.0f} to {high:+.0f})",
            "{:+.0f} % ({:+.0f} to {:+.0f})".format(self.short.gain_pct, *self.short.interval_pct),
            advice,
            self.advice.explained,
            self.advice_verdict(),
            f"{self.replayed_pct:+.0f} % ({least:+.0f} to {most:+.0f})",
            self.verdict(self.replayed_pct),
        )
        return f"| {' | '.join(cells)} |"


CHANGES = {
    "yse-soundengine": Change(
        "yvanvds/yse-soundengine pull request 296: each cell of mpmcQueue on a line of its own",
        "+4.7 %, one producer and consumer",
        ("./changes/ring_cells.cpp",),
        ("-std=c++20", "-I{source}/YseEngine"),
        ("{}",),
        20_000_000,
        250_000,
        "yvanvds/yse-soundengine",
        ("6b0dc3bd14d2^", "6b0dc3bd14d2"),
        concerns="cell|buffer_",
    ),
    "valkey": Change(
        "valkey-io/valkey pull request 1179: the main thread's count of memory apart from the I/O threads'",
        "+2 to 4 % (XADD, 16 threads)",
        ("./changes/memory_counts.c", "src/zmalloc.c", "src/siphash.c"),
        ("-I{source}/src",),
        ("{}",),
        20_000_000,
        100_000,
        "valkey-io/valkey",
        ("a62d1f177b78^", "a62d1f177b78"),
        concerns="used_memory_thread",
    ),
    "aeron": Change(
        "aeron-io/aeron pull request 1915: the words of producer and consumer of a queue on lines of their own",
        "a gain; its size is not to be had here",
        ("./changes/command_queue.c", "concurrent/aeron_spsc_concurrent_array_queue.c", "util/aeron_bitutil.c"),
        ("-std=gnu11", "-I{source}"),
        ("{}",),
        20_000_000,
        400_000,
        "aeron-io/aeron",
        ("5199e94d3334^", "5199e94d3334"),
        folder="aeron-client/src/main/c",
        concerns="head|tail|queue",
    ),
    "task-scheduler": Change(
        "ubisoft/task-scheduler issue 15: the words of producer and consumers of a queue on lines of their own",
        "x1.2 to more than x2 (its own benchmark)",
        ("bench/BenchMultiConsumerQueue.cpp", "bench/Bench.cpp", "src/mg/common/*.cpp"),
        ("-std=c++11", "-include", "cstdarg", "-I{source}/src", "-I{source}/bench"),
        ("-op", "push-pop", "-load", "empty", "-threads", "1", "-subqsize", "5000", "-items", "{}"),
        4_000_000,
        300_000,
        "ubisoft/task-scheduler",
        ("7a7a9b7b159e^", "7a7a9b7b159e"),
        concerns="Index|myCount|myPending|myFirst|MCQBase",
    ),
    "crypto1_bs": Change(
        "aczid/crypto1_bs pull request 55: tested states are counted per thread, and added to the sum every 65,536",
        "+16 % with 32 threads, +27 % with 10",
        ("./changes/tested_states.c", "crypto1_bs.c", "crypto1_bs_crack.c"),
        ("-std=gnu99", "-O3", "-march=native", "-I{source}", f"-I{HERE}/changes", "-Wl,--allow-multiple-definition"),
        ("{}",),
        100_000,
        250,
        "aczid/crypto1_bs",
        ("a24323535b0e^", "a24323535b0e"),
        concerns="total_states_tested",
    ),
    "SPSCQueue": Change(
        "rigtorp/SPSCQueue pull request 29: producer and consumer keep a copy of the other's index",
        "5.5 to 112 million items a second (rigtorp.se/ringbuffer, the same change)",
        ("./changes/queue_indices.cpp",),
        ("-std=c++17", "-I{source}/include"),
        ("{}",),
        40_000_000,
        600_000,
        "rigtorp/SPSCQueue",
        ("3a0507a193b0^", "3a0507a193b0"),
    ),
    "lmdb": Change(
        "LMDB since its first release: readers' slots padded to a line (CACHELINE), taken away before",
        "no figure",
        ("./changes/reader_slots.c", "libraries/liblmdb/mdb.c", "libraries/liblmdb/midl.c"),
        ("-I{source}/libraries/liblmdb",),
        ("{scratch}", "{}"),
        10_000_000,
        25_000,
        flags_before=("-DCACHELINE=1",),
        concerns="mdb_env_setup_locks|MDB_reader",
    ),
}


def fetched(shop: Workshop, name: str, change: Change, which: int) -> Path:
    """The source before (0) or after (1) the change."""
    if not change.repository:
        shop.fetch(LMDB)
        return shop.source("lmdb", shop.native, LMDB)[0]
    folder = FOLDER / "changes" / f"{name}_{'before' if which == 0 else 'after'}"
    if folder.exists():
        return folder
    repository = FOLDER / "repositories" / f"{change.repository.replace('/', '+')}.git"
    if not repository.exists():
        clone = ["git", "clone", "--quiet", "--bare", f"https://github.com/{change.repository}", repository]
        if subprocess.run(clone, check=False).returncode != 0:
            raise CannotFetchError
    archive = [
        "git",
        "--git-dir",
        repository,
        "archive",
        change.commits[which] if change.folder == "." else f"{change.commits[which]}:{change.folder}",
    ]
    tar = subprocess.run(archive, stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=BytesIO(tar)) as files:
        files.extractall(folder, filter="data")
    return folder


def build(shop: Workshop, name: str, change: Change, which: int, compiler: Compiler) -> Path:
    source = fetched(shop, name, change, which)
    program = shop.output / f"{name}_{'before' if which == 0 else 'after'}_{compiler.name}"
    sources: list[Path] = []
    for each in change.sources:
        sources += [HERE / each] if each.startswith("./") else sorted(source.glob(each))
    if name == "task-scheduler":
        sources = [each for each in sources if not each.stem.endswith("_Win")]
    driver = compiler.cxx if sources[0].suffix == ".cpp" else compiler.cc
    flags = [*(flag.format(source=source) for flag in change.flags), *(change.flags_before if which == 0 else ())]
    shop.shell(shop.output, driver, "-O2", "-g", "-pthread", *flags, *sources, "-o", program)
    return program


def run_once(shop: Workshop, name: str, command: list[str | Path]) -> tuple[bytes, float]:
    """What the program prints, and its wall time in seconds."""
    (shop.output / f"{name}_scratch").mkdir(exist_ok=True)
    began = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, TOO_FEW_RUNS):
        sys.exit(f"changes.py: exit code {done.returncode}: {' '.join(map(str, command))}")
    return done.stdout, time.monotonic() - began


def measured_natively(shop: Workshop, name: str, programs: Both, runs: int, rounds: int = 0) -> Native:
    """Runs in turns: long ones, or as many rounds as are recorded, from which starting and ending are subtracted."""
    change, found = CHANGES[name], Native([], [])
    scratch = shop.output / f"{name}_scratch"

    def seconds(program: Path, many: int) -> float:
        return run_once(shop, name, change.command(program, many, scratch))[1]

    start = {each: statistics.median(seconds(each, 1) for _ in range(runs)) for each in (programs.before, programs.after)}
    for number in range(runs):
        order = ((programs.before, found.plain), (programs.after, found.cured))
        for program, times in order if number % 2 else reversed(order):
            times.append(seconds(program, rounds) - start[program] if rounds else seconds(program, change.native_rounds))
    return found


def recorded(shop: Workshop, name: str, programs: Both, expected: bytes, count: int) -> list[tuple[Path, Path]]:
    """Recordings of whole runs before and after the change, each of which has to print what the plain program prints."""
    change, scratch = CHANGES[name], shop.output / f"{name}_scratch"
    traces = []
    for number in range(count):
        pair = (shop.output / f"{name}_before_{number}.lbt", shop.output / f"{name}_after_{number}.lbt")
        for program, trace in zip((programs.before, programs.after), pair, strict=True):
            trace.unlink(missing_ok=True)
            recorder = [shop.build / "linebounce-record", "-o", trace, "--"]
            printed, _ = run_once(shop, name, [*recorder, *change.command(program, change.recorded_rounds, scratch)])
            if printed != expected and name != "task-scheduler":  # which prints times
                sys.exit(f"changes.py: {name}: recorded, it prints another result")
        traces.append(pair)
    return traces


def advised(shop: Workshop, trace: Path, plain: Path, machine: Path) -> Advice:
    """What is asked with the plain program, and again without it if advise then shows no size."""
    found = Advice()
    for more in (["--plain", plain, "--yes"], []):
        directory = shop.output / "advise" / trace.stem
        page = json.loads(shop.run("linebounce", "advise", trace, "--machine", machine, *more, "-o", directory, "--json"))
        if more:
            found.explained = " to ".join(f"{page['explained'][0][end]:.2f}" for end in ("low", "high"))
        offered = page["changes"] + page["conditional"]
        if not offered:
            return found
        gains = [change["gains"][0] for change in offered]
        found.has_size = found.has_size and all(gain["change_pct"] is not None for gain in gains)
        if found.has_size or not more:
            best = max(range(len(offered)), key=lambda i: gains[i]["change_pct"])
            found.change, found.gain_pct = offered[best]["what"], gains[best]["change_pct"]
            found.fast_pct, found.slow_pct = gains[best].get("change_over_pace_pct") or (found.gain_pct,) * 2
            return found
    return found


def replayed_us(shop: Workshop, trace: Path, machine: Path) -> float:
    directory = shop.output / "replay" / trace.stem
    shop.run("linebounce", "trace", "replay", trace, "--machine", machine, "--fresh", "-o", directory)
    (point,) = json.loads((directory / "results.json").read_text())["points"]
    metrics = {name: metric["value"] for name, metric in point["metrics"].items()}
    return 1e6 * float(metrics["replay.operations"]) / float(metrics["throughput.operations_per_s"])


def examine(shop: Workshop, name: str, machine: Path, count: int, natively: tuple[Native, Native]) -> Row:
    change = CHANGES[name]
    plain = Both(*(build(shop, name, change, which, shop.native) for which in (0, 1)))
    programs = Both(*(build(shop, name, change, which, shop.recorded) for which in (0, 1)))
    short = change.command(plain.before, change.recorded_rounds, shop.output / f"{name}_scratch")
    traces = recorded(shop, name, programs, run_once(shop, name, short)[0], count)
    before_us, after_us = ([replayed_us(shop, pair[which], machine) for pair in traces] for which in (0, 1))
    # The recording asked about is the one whose replay is the median.
    asked = traces[before_us.index(statistics.median_low(before_us))][0]
    return Row(name, change, *natively, advised(shop, asked, plain.before, machine), before_us, after_us)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "examples" / "changes")
    parser.add_argument("--machine", type=Path)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--recordings", type=int, default=RECORDED_TIMES)
    parser.add_argument("--native-only", action="store_true", help="only measure, before anything is predicted")
    parser.add_argument("programs", metavar="PROGRAM", nargs="*", help=", ".join(CHANGES))
    options = parser.parse_args()
    if unknown := set(options.programs) - CHANGES.keys():
        parser.error(f"there is no program {', '.join(sorted(unknown))}; there are {', '.join(CHANGES)}")
    shop = Workshop(options.build, options.output)
    print(f"load {os.getloadavg()[0]:.2f} at the begin", flush=True)

    # All native figures come first, so that none of them is known to follow a prediction.
    native: dict[str, Native] = {}
    short: dict[str, Native] = {}
    left_out: list[str] = []
    for name in options.programs or CHANGES:
        try:
            programs = Both(*(build(shop, name, CHANGES[name], which, shop.native) for which in (0, 1)))
        except CannotFetchError:
            left_out.append(name)
            continue
        except BuildError as error:
            sys.exit(f"changes.py: {error}")
        native[name] = measured_natively(shop, name, programs, options.runs)
        rounds = CHANGES[name].recorded_rounds
        short[name] = measured_natively(shop, name, programs, SHORT_RUNS * options.runs, rounds)
        low, high = native[name].interval_pct
        seconds = statistics.median(native[name].plain)
        print(f"  {name}: natively {native[name].gain_pct:+.1f} % ({low:.1f} to {high:.1f}), {seconds:.2f} s", flush=True)
        print(
            "    as many rounds as are recorded: {:+.1f} % ({:.1f} to {:.1f})".format(
                short[name].gain_pct, *short[name].interval_pct
            )
        )
    print(f"load {os.getloadavg()[0]:.2f} after the native runs", flush=True)
    if options.native_only:
        return 0

    machine = options.machine or calibrated(shop)
    rows = []
    for name, times in native.items():
        rows.append(examine(shop, name, machine, options.recordings, (times, short[name])))
        print(rows[-1].text(), flush=True)
    for name in left_out:
        print(f"{name} is left out: it is not to be had here")
    wrong = sum("WRONG" in row.advice_verdict() or row.verdict(row.replayed_pct) == "WRONG" for row in rows)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
