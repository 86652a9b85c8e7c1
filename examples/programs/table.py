#!/usr/bin/env python3
"""Other people's programs, from Debian's packages: do they build and run right, how slow are they, and is what was found true?

table.py [-b BUILD] [-o OUTPUT] [PROGRAM...]

Each program is built with linebounce-cc beside one without (Debian's own binary, or gcc's), and has to give the same result.
The slow-down is a longer run's: the recording's wall time by the median of three runs without. What find-sharing answers of a
short run must be what README.md expects; where the source was changed (a cure made, or a known one taken away) both are
recorded, and the gain is measured by replays. Exit code 1: something is not as expected. A program that cannot be fetched is
left out; the last line says so. Sources and builds stay in build/examples/programs.
"""

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from reproduce import ROOT, CannotFetchError, Tools  # noqa: E402

FOLDER = ROOT / "build" / "examples" / "programs"
NATIVE_RUNS = 3
NOTHING = r"Leave the layouts as they are|No line"
NO_VERDICT = r"No verdict"
UNSEEN = r"Atomic instructions of functions .* were not recorded"


@dataclass
class Package:
    """A source package's tarball, and binary packages, none of which is installed."""

    name: str = ""
    tarball: str = ""
    sha256: str = ""
    debs: tuple[str, ...] = ()


@dataclass
class Compiler:
    name: str  # native or recorded
    cc: str
    cxx: str

    @cached_property
    def fingerprint(self) -> str:
        return hashlib.sha256(Path(shutil.which(self.cc) or self.cc).read_bytes()).hexdigest()


@dataclass
class Cure:
    """A change in the source with a known gain, measured by replaying recordings with and without it."""

    what: str
    flags: tuple[str, ...]  # flags for the compiler; with `taken_away` they undo an existing cure
    gain_pct: tuple[float, float] | None  # bounds; None if recordings differ too much for any
    taken_away: bool = False
    expected: str = ""  # what find-sharing answers without the existing cure


@dataclass
class Program:
    version: str
    package: Package
    build: Callable[["Workshop", Compiler, tuple[str, ...]], Path]
    command: Callable[["Run"], list[str | Path]]
    expected: str  # what find-sharing answers, as a regular expression
    truth: str  # from where it is known that the answer is right or wrong
    spends: str = ""  # where most of the threads' time goes, as a regular expression for row.spends
    longer: int = 1  # the factor by which the run that measures the slow-down is longer
    binary: bool = False  # recorded unchanged, in QEMU
    cure: Cure | None = None
    least_threads: int = 4
    check: Callable[["Workshop", bytes], bool] = lambda _shop, _result: True


@dataclass
class Run:
    """The parts of a command line."""

    recorder: list[str | Path]
    program: Path
    scratch: Path
    inputs: Path
    times: int

    @property
    def start(self) -> list[str | Path]:
        return [*self.recorder, self.program]


@dataclass
class Row:
    name: str
    version: str
    right: bool
    operations: float
    slow_down: float
    native_s: float
    threads: int
    verdict: str
    spends: str = ""  # where most of the threads' time goes
    wrong: list[str] = field(default_factory=list)
    cured: list[str] = field(default_factory=list)


class Workshop(Tools):
    """The folders where programs are fetched, built and run."""

    def __init__(self, build: Path, output: Path) -> None:
        super().__init__(build, output)
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.inputs = FOLDER / "inputs"
        if not self.inputs.exists():
            make_inputs(self.inputs)
        self.native = Compiler("native", "gcc", "g++")
        self.recorded = Compiler("recorded", str(self.build / "linebounce-cc"), str(self.build / "linebounce-c++"))

    def fetch(self, package: Package) -> None:
        if package.name or package.debs:
            source: list[str] = [package.name, package.tarball, package.sha256] if package.name else ["--"]
            self.run(HERE.parent / "fetch.sh", FOLDER, *source, *package.debs)

    def source(self, program: str, compiler: Compiler, package: Package) -> tuple[Path, bool]:
        """The package's source for this compiler, and whether it must be built because it is new or the compiler has
        changed."""
        folder = FOLDER / program / compiler.name
        stamp = folder.with_suffix(".built")
        if stamp.exists() and stamp.read_text() == compiler.fingerprint:
            return folder, False
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with tarfile.open(FOLDER / package.tarball) as tar:
            for member in tar.getmembers():
                member.name = member.name.partition("/")[2]
                if member.name:
                    tar.extract(member, folder)
        return folder, True

    def built(self, folder: Path, compiler: Compiler) -> None:
        folder.with_suffix(".built").write_text(compiler.fingerprint)

    def shell(self, folder: Path, *command: str | Path) -> None:
        """Runs a step of a build, with its output in a log."""
        with (folder / "linebounce.log").open("a") as log:
            if subprocess.run(command, cwd=folder, stdout=log, stderr=log, check=False).returncode != 0:
                raise BuildError(f"{' '.join(map(str, command[:3]))} ... in {folder}; see {log.name}")

    def compile(self, output: str, compiler: Compiler, source: str, flags: tuple[str, ...], *arguments: str | Path) -> Path:
        """Compiles a program of ours with a packaged library."""
        program = self.output / f"{output}_{compiler.name}{''.join(flags)}"
        cplusplus = source.endswith(".cpp")
        command = [compiler.cxx if cplusplus else compiler.cc, "-O2", "-g", "-pthread", *flags]
        command += ["-std=c++20"] if cplusplus else []
        self.shell(self.output, *command, HERE / source, *map(str, arguments), "-o", str(program))
        return program

    def debian(self, package: str, program: str) -> Path:
        """A program from a binary package."""
        folder = FOLDER / "debian" / package
        if not folder.exists():
            folder.parent.mkdir(exist_ok=True)
            (deb,) = FOLDER.glob(f"{package}_*.deb")
            subprocess.run(["dpkg-deb", "--extract", deb, folder], check=True)
        return folder / "usr" / "bin" / program


class BuildError(Exception):
    pass


def make_inputs(folder: Path) -> None:
    """A text, files to search, and sequences that descend from one another, always the same."""
    chance = random.Random(1)
    words = ["".join(chance.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(chance.randint(2, 9))) for _ in range(2000)]
    text = " ".join(chance.choice(words) for _ in range(600000))
    for number in range(40):
        file = folder / "files" / str(number % 5) / f"{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text[4096 * number : 4096 * (number + 1)])
    for kib in (24, 120, 600, 3000):
        (folder / f"text{kib}").write_text(text[: 1000 * kib])
    for count, length in ((12, 80), (40, 150)):
        sequences = ["".join(chance.choice("ACGT") for _ in range(length))]
        while len(sequences) < count:
            child = list(chance.choice(sequences))
            for _ in range(length // 12):
                child[chance.randrange(length)] = chance.choice("ACGT")
            sequences.append("".join(child))
        (folder / f"alignment{count}.fa").write_text("".join(f">s{i}\n{one}\n" for i, one in enumerate(sequences)))


LEVELDB = Package("leveldb", "leveldb_1.23.orig.tar.gz", "9a37f8a6174f09bd622bc723b55881dc541cd50747cbd08831c2a82d620f6d76")
REDIS = Package("redis", "redis_7.0.15.orig.tar.gz", "4b1dc4ee6d622a09fff9c6777191209750fb5e5a725ef78ea012d6eef4c22982")
XZ = Package(
    "xz-utils",
    "xz-utils_5.4.1.orig.tar.xz",
    "5d9827aa1875b21c288f78864bb26d2650b436ea8d2cad364e4921eb6266a5a5",
    ("xz-utils",),
)
ZSTD = Package(
    "libzstd",
    "libzstd_1.5.4+dfsg2.orig.tar.xz",
    "8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953",
    ("zstd",),
)
CK = Package("ck", "ck_0.7.1.orig.tar.xz", "296a4c803fecd1fb0191f78715c0ec97cc2d9109ed3c2c89b0385d4d2263d9c5")
LIBURCU = Package("liburcu", "liburcu_0.13.2.orig.tar.bz2", "1213fd9f1b0b74da7de2bb74335b76098db9738fec5d3cdc07c0c524f34fc032")
FASTTREE = Package(
    "fasttree", "fasttree_2.1.11.orig.tar.xz", "7f15713f02afb167f4f33dc067b5b2282b219b22fbaa17eb8f771a7147a05a5c"
)
LBZIP2 = Package(
    "lbzip2",
    "lbzip2_2.5.orig.tar.bz2",
    "eec4ff08376090494fa3710649b73e5412c3687b4b9b758c93f73aa7be27555b",
    ("lbzip2",),
)
LMDB = Package("lmdb", "lmdb_0.9.24.orig.tar.gz", "8e7200fdc9bb09b0cfad1d4eee8b20d539e43fe05c7ef9406247d64659c4a480")


def build_leveldb(shop: Workshop, compiler: Compiler, flags: tuple[str, ...]) -> Path:
    folder, new = shop.source("leveldb", compiler, LEVELDB)
    if new:
        options = [f"-DLEVELDB_{one}=OFF" for one in ("BUILD_TESTS", "BUILD_BENCHMARKS", "INSTALL")] + ["-DCMAKE_CXX_FLAGS=-g"]
        options += [f"-DCMAKE_C_COMPILER={compiler.cc}", f"-DCMAKE_CXX_COMPILER={compiler.cxx}", "-DCMAKE_BUILD_TYPE=Release"]
        shop.shell(folder, "cmake", "-S", ".", "-B", "build", *options)
        shop.shell(folder, "cmake", "--build", "build", "--target", "leveldb", "--parallel", "2")
        shop.built(folder, compiler)
    return shop.compile("leveldb", compiler, "leveldb.cpp", flags, f"-I{folder}/include", folder / "build" / "libleveldb.a")


def build_redis(shop: Workshop, compiler: Compiler, flags: tuple[str, ...]) -> Path:
    folder, new = shop.source("redis", compiler, REDIS)
    make = ["make", "-C", "src", "-j2", "redis-server", "MALLOC=libc", f"CC={compiler.cc}", "CFLAGS=-g", "OPTIMIZATION=-O2"]
    aligned = "__attribute__((aligned(CACHE_LINE_SIZE))) threads_pending"
    text = (folder / "src" / "networking.c").read_text()
    assert aligned in text or not new
    if flags:  # removes the alignment of threads_pending that 7.0 added, as in 6.0
        (folder / "src" / "networking.c").write_text(text.replace(aligned, "threads_pending"))
    (folder / "src" / "redis-server").unlink(missing_ok=True)  # links again, because the compiler may bring another library
    shop.shell(folder, *make)
    program = shop.output / f"redis_{compiler.name}{''.join(flags)}"
    shutil.copy(folder / "src" / "redis-server", program)
    if flags:
        (folder / "src" / "networking.c").write_text(text)
    shop.built(folder, compiler)
    return program


def build_xz(shop: Workshop, compiler: Compiler, _flags: tuple[str, ...]) -> Path:
    if compiler is shop.native:
        return shop.debian("xz-utils", "xz")
    folder, new = shop.source("xz", compiler, XZ)
    if new:
        without = ["shared", "nls", "lzmadec", "lzmainfo", "scripts", "doc", "lzma-links", "dependency-tracking"]
        shop.shell(folder, "./configure", f"CC={compiler.cc}", "CFLAGS=-O2 -g", *(f"--disable-{one}" for one in without))
        shop.shell(folder, "make", "-j2", "-C", "src/liblzma")
        shop.built(folder, compiler)
    (folder / "src" / "xz" / "xz").unlink(missing_ok=True)
    shop.shell(folder, "make", "-j2", "-C", "src/xz")
    return folder / "src" / "xz" / "xz"


def build_zstd(shop: Workshop, compiler: Compiler, _flags: tuple[str, ...]) -> Path:
    if compiler is shop.native:
        return shop.debian("zstd", "zstd")
    folder, _ = shop.source("zstd", compiler, ZSTD)
    without = [f"{one}=0" for one in ("ZSTD_LEGACY_SUPPORT", "HAVE_ZLIB", "HAVE_LZMA", "HAVE_LZ4", "BACKTRACE")]
    program = folder / "programs" / "zstd"
    program.unlink(missing_ok=True)
    for linked in (folder / "programs" / "obj").glob("*/zstd"):
        linked.unlink()
    shop.shell(folder, "make", "-j2", "-C", "programs", "zstd", f"CC={compiler.cc}", "CFLAGS=-O2 -g", "DEBUGFLAGS=", *without)
    shop.built(folder, compiler)
    return program


def build_ck(shop: Workshop, compiler: Compiler, flags: tuple[str, ...]) -> Path:
    folder, new = shop.source("ck", compiler, CK)
    if new:
        shop.shell(folder, "env", f"CC={compiler.cc}", "./configure")
        shop.built(folder, compiler)
    return shop.compile("ck", compiler, "ck.c", flags, f"-I{folder}/include")


def build_liburcu(shop: Workshop, compiler: Compiler, flags: tuple[str, ...]) -> Path:
    folder, new = shop.source("liburcu", compiler, LIBURCU)
    if new:
        shop.shell(folder, "./configure", f"CC={compiler.cc}", "--disable-shared", "--disable-dependency-tracking")
        shop.shell(folder, "make", "-j2", "-C", "src", "liburcu-memb.la")
        shop.built(folder, compiler)
    libraries = [folder / "src" / ".libs" / f"liburcu-{part}.a" for part in ("memb", "common")]
    return shop.compile("liburcu", compiler, "liburcu.c", flags, "-D_LGPL_SOURCE", f"-I{folder}/include", *libraries)


def build_fasttree(shop: Workshop, compiler: Compiler, _flags: tuple[str, ...]) -> Path:
    folder, new = shop.source("fasttree", compiler, FASTTREE)
    if new:
        shop.shell(folder, compiler.cc, "-O2", "-g", "-fopenmp", "-DOPENMP", "-c", "fasttree.c", "-o", "fasttree.o")
        shop.built(folder, compiler)
    shop.shell(folder, compiler.cc, "-fopenmp", "fasttree.o", "-lm", "-o", "fasttree")
    return folder / "fasttree"


def build_primitives(shop: Workshop, compiler: Compiler, flags: tuple[str, ...]) -> Path:
    return shop.compile("primitives", compiler, "primitives.cpp", flags)


def build_lbzip2(shop: Workshop, compiler: Compiler, _flags: tuple[str, ...]) -> Path:
    if compiler is shop.native:
        return shop.debian("lbzip2", "lbzip2")
    folder, new = shop.source("lbzip2", compiler, LBZIP2)
    if new:
        # Its gnulib is older than glibc 2.28, and must be told what changed there.
        flags = "CFLAGS=-O2 -g -D_IO_ftrylockfile"
        shop.shell(folder, "./configure", f"CC={compiler.cc}", flags, "--disable-dependency-tracking")
        shop.shell(folder, "make", "-j2", "-C", "lib")
        shop.built(folder, compiler)
    (folder / "src" / "lbzip2").unlink(missing_ok=True)
    shop.shell(folder, "make", "-j2", "-C", "src")
    return folder / "src" / "lbzip2"


def build_lmdb(shop: Workshop, compiler: Compiler, flags: tuple[str, ...]) -> Path:
    folder, new = shop.source("lmdb", compiler, LMDB)
    if new:
        shop.built(folder, compiler)
    library = folder / "libraries" / "liblmdb"
    return shop.compile("lmdb", compiler, "lmdb.c", flags, f"-I{library}", library / "mdb.c", library / "midl.c")


def build_ripgrep(shop: Workshop, _compiler: Compiler, _flags: tuple[str, ...]) -> Path:
    return shop.debian("ripgrep", "rg")


def decompresses_by(package: str, program: str) -> Callable[[Workshop, bytes], bool]:
    """Checks that the output compressed during the recording decompresses to the text."""

    def check(shop: Workshop, result: bytes) -> bool:
        command: list[str | Path] = [shop.debian(package, program), "-dc"]
        text = subprocess.run(command, input=result, stdout=subprocess.PIPE, check=False).stdout
        return any(text == file.read_bytes() for file in shop.inputs.glob("text*"))

    return check


def text_of(run: Run, short: int, long: int) -> Path:
    return run.inputs / f"text{short if run.times == 1 else long}"


def alignment_of(run: Run) -> Path:
    return run.inputs / f"alignment{12 if run.times == 1 else 40}.fa"


def with_times(run: Run) -> list[str | Path]:
    return [*run.start, str(run.times)]


def with_scratch(run: Run) -> list[str | Path]:
    return [*run.start, run.scratch, str(run.times)]


PROGRAMS = {
    "leveldb": Program(
        "1.23",
        LEVELDB,
        build_leveldb,
        lambda run: [*run.start, run.scratch / "database", str(run.times)],
        NOTHING,
        "not contradicted: its hot line is one mutex that all need (DBImpl::mutex_), and a reference count",
        longer=10,
        least_threads=6,
    ),
    "redis": Program(
        "7.0.15",
        REDIS,
        build_redis,
        lambda run: [HERE / "redis_load.py", "--requests", str(1200 * run.times), *run.start],
        NOTHING,
        "true: 7.0 aligned io_threads_pending; what that gained is measured below",
        longer=4,
        least_threads=6,
        spends=r"compute",
        cure=Cure("threads_pending aligned", ("-DAS_IN_6",), None, taken_away=True, expected=NOTHING),
    ),
    "xz": Program(
        "5.4.1",
        XZ,
        build_xz,
        lambda run: [*run.start, "-0", "-T4", "--block-size=6000", "-kc", text_of(run, 24, 120)],
        NOTHING,
        "true: threads meet in the coder's mutex, a few times for each block",
        longer=5,
        check=decompresses_by("xz-utils", "xz"),
    ),
    "zstd": Program(
        "1.5.4",
        ZSTD,
        build_zstd,
        lambda run: [*run.start, "-1", "-T4", "-qkc", text_of(run, 600, 3000)],
        NOTHING,
        "true: jobs of 512 KiB share nothing but the queue's mutex",
        longer=5,
        check=decompresses_by("zstd", "zstd"),
    ),
    "ck": Program(
        "0.7.1",
        CK,
        build_ck,
        with_times,
        UNSEEN,
        "true: lock, counter and ring are inline assembler, which linebounce-cc does not see",
        longer=50,
    ),
    "ck, as it is": Program(
        "0.7.1",
        CK,
        build_ck,
        with_times,
        r"ck_ring|Leave the layouts",
        "the lock, the sum and the counter are in the line of the ring's mask, but cost more than that does",
        longer=20,
        binary=True,
        cure=Cure("ring on lines of its own", ("-DPADDED",), None),
    ),
    "liburcu": Program(
        "0.13.2",
        LIBURCU,
        build_liburcu,
        with_times,
        UNSEEN,
        "true: uatomic_ is inline assembler; that `current` should be apart from `freed` is true as well",
        longer=5,
        least_threads=6,
        cure=Cure("current on a line of its own", ("-DPADDED",), (-2, 40)),
    ),
    "fasttree (OpenMP)": Program(
        "2.1.11",
        FASTTREE,
        build_fasttree,
        lambda run: [*run.start, "-quiet", "-nt", "-noml", "-nosupport", alignment_of(run)],
        NOTHING,
        "not contradicted: its parallel loops write profiles of their own",
        longer=10,
    ),
    "C++20 primitives": Program(
        "gcc 12",
        Package(),
        build_primitives,
        with_times,
        r"_M_elems of sums",
        "true: four threads' sums are in one line, with the semaphore",
        longer=10,
        least_threads=6,
        cure=Cure("each sum on a line of its own", ("-DPADDED",), (10, 300)),
    ),
    "lbzip2": Program(
        "2.5",
        LBZIP2,
        build_lbzip2,
        lambda run: [*run.start, "-1", "-n", "4", "-kc", text_of(run, 120, 600)],
        NOTHING,
        "true: workers take blocks of 100 kB from one queue; nothing else is shared",
        spends=r"waiting sched_cond",
        longer=5,
        check=decompresses_by("lbzip2", "lbzip2"),
    ),
    "lmdb": Program(
        "0.9.24",
        LMDB,
        build_lmdb,
        with_scratch,
        r"MDB_env|Leave the layouts",
        "unmeasured: the writer's fields of MDB_env lie beside what readers read; slots' padding is measured below",
        longer=10,
        least_threads=6,
        cure=Cure("readers' slots padded", ("-DCACHELINE=1",), (5, 40), taken_away=True, expected="costliest line|MDB_env"),
    ),
    "ripgrep (Rust)": Program(
        "13.0.0",
        Package(debs=("ripgrep",)),
        build_ripgrep,
        lambda run: [*run.start, "-j4", "-c", "--no-ignore", "ab+a", run.inputs / "files"],
        NOTHING,
        "not contradicted: threads search files of their own, which they take from one stack",
        binary=True,
    ),
}


def run_once(shop: Workshop, program: Program, built: Path, recorder: list[str | Path], times: int) -> tuple[bytes, float]:
    """The program's output, and its wall time in seconds."""
    with tempfile.TemporaryDirectory(dir=shop.output) as scratch:
        command = program.command(Run(recorder, built, Path(scratch), shop.inputs, times))
        environment = os.environ | {"OMP_NUM_THREADS": "4"}
        began = time.monotonic()
        done = subprocess.run(command, capture_output=True, env=environment, check=False)
        seconds = time.monotonic() - began
    if done.returncode != 0:
        print(done.stderr.decode(errors="replace")[-500:], file=sys.stderr)
    return done.stdout if done.returncode == 0 else b"exit code %d" % done.returncode, seconds


def recorder(shop: Workshop, program: Program, trace: Path, *, untimed: bool = False) -> list[str | Path]:
    how = ["--binary"] if program.binary else ["--untimed"] if untimed else []
    return [shop.build / "linebounce-record", *how, "-o", trace, "--"]


def result_of(name: str, output: bytes) -> bytes:
    """The output without the order in which threads print."""
    return b"\n".join(sorted(output.splitlines())) if name.startswith("ripgrep") else output


def examine(shop: Workshop, name: str, program: Program) -> Row:
    stem = re.sub(r"\W+", "_", name)
    shop.fetch(program.package)
    native = program.build(shop, shop.native, ())
    built = native if program.binary else program.build(shop, shop.recorded, ())
    trace, long_trace = shop.output / f"{stem}.lbt", shop.output / f"{stem}_longer.lbt"

    runs = [run_once(shop, program, native, [], program.longer) for _ in range(NATIVE_RUNS)]
    native_s = statistics.median(seconds for _, seconds in runs)
    longer, recorded_s = run_once(shop, program, built, recorder(shop, program, long_trace), program.longer)
    long_trace.unlink(missing_ok=True)
    short, _ = run_once(shop, program, built, recorder(shop, program, trace), 1)
    alone, _ = run_once(shop, program, native, [], 1)
    right = [result_of(name, longer) == result_of(name, runs[0][0]), result_of(name, short) == result_of(name, alone)]
    right += [program.check(shop, longer), program.check(shop, short)]

    info = json.loads(shop.run("linebounce", "trace", "info", trace, "--json"))
    verdict, _ = asked(shop, trace)
    threads = len(info["streams"])
    row = Row(name, program.version, all(right), info["operations"], recorded_s / native_s, native_s, threads, verdict)
    time = shop.time(trace)
    row.spends = f"{time.shares[time.largest]:.0f} % {' '.join(time.largest).strip()}"
    if abs(sum(time.shares.values()) - 100) > 0.1:
        row.wrong.append(f"the shares of the threads' time add up to {sum(time.shares.values()):.1f} %")
    if not re.search(program.spends, row.spends):
        row.wrong.append(f"most time is not where it was: {program.spends}")
    if not row.right:
        row.wrong.append("the recorded run's result is another")
    if row.threads < program.least_threads:
        row.wrong.append(f"recorded {row.threads} threads, not {program.least_threads}")
    if not re.search(program.expected, verdict):
        row.wrong.append(f"the verdict is not as expected: {program.expected}")
    if program.cure:
        measure_cure(shop, program, built, trace, row)
    return row


def asked(shop: Workshop, trace: Path) -> tuple[str, list[float]]:
    """The verdict, and the gains of the proposals, in percent."""
    found = shop.ask("find-sharing", trace, "--top", "2")
    return found["advice"], [one["throughput_change_pct"] for one in found["proposals"] if one["gains"]]


def measure_cure(shop: Workshop, program: Program, unchanged: Path, trace: Path, row: Row) -> None:
    """By recordings without measured time, which differs by half between two recordings of a short program."""
    cure = program.cure
    assert cure is not None
    built = program.build(shop, shop.native if program.binary else shop.recorded, cure.flags)
    traces = [trace.with_name(f"{trace.stem}_{which}.lbt") for which in ("unchanged", "changed")]
    for recorded, to in zip((unchanged, built), traces, strict=True):
        run_once(shop, program, recorded, recorder(shop, program, to, untimed=True), 1)
    without, with_cure = reversed(traces) if cure.taken_away else traces
    gain = 100 * (shop.replay(without).us / shop.replay(with_cure).us - 1)
    verdict, predicted = asked(shop, without)
    expected = "expected {:+.0f} to {:+.0f}".format(*cure.gain_pct) if cure.gain_pct else "varies; nothing is expected"
    row.cured.append(
        f"{cure.what}: gains {gain:+.0f} % measured ({expected}), "
        + (f"{max(predicted):+.0f} predicted" if predicted else "nothing was proposed")
    )
    if cure.taken_away:
        row.cured.append(f"without it: {verdict}")
        if not re.search(cure.expected, verdict):
            row.wrong.append(f"the verdict without it is not as expected: {cure.expected}")
    if cure.gain_pct and not cure.gain_pct[0] <= gain <= cure.gain_pct[1]:
        row.wrong.append(f"{cure.what}: the gain is outside what is expected")


def print_row(row: Row, program: Program) -> None:
    millions = row.operations / 1e6
    print(
        f"  {row.name:<18}{row.version:<9}{'yes':<8}{'yes' if row.right else 'NO':<7}{row.threads:>7}{millions:>12.2f}"
        f"{row.native_s:>10.3f}{row.slow_down:>11.0f}"
    )
    print(f"      found  {row.verdict}\n      known  {program.truth}")
    print(f"      time   {row.spends}")
    for line in row.cured:
        print(f"      made   {line}")
    for line in row.wrong:
        print(f"      WRONG  {line}")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "examples" / "programs")
    parser.add_argument("programs", metavar="PROGRAM", nargs="*", help=", ".join(PROGRAMS))
    options = parser.parse_args()
    if unknown := set(options.programs) - PROGRAMS.keys():
        parser.error(f"there is no program {', '.join(sorted(unknown))}; there are {', '.join(PROGRAMS)}")
    shop = Workshop(options.build, options.output)
    left_out: list[str] = []
    wrong: list[str] = []
    head = (
        f"{'program':<18}{'version':<9}{'builds':<8}{'right':<7}{'threads':>7}{'10^6 ops':>12}{'alone, s':>10}{'slow-down':>11}"
    )
    print(f"  {head}")
    for name in options.programs or PROGRAMS:
        try:
            row = examine(shop, name, PROGRAMS[name])
        except CannotFetchError:
            left_out.append(name)
            continue
        except BuildError as error:
            print(f"  {name:<18}{PROGRAMS[name].version:<9}{'NO':<8}{error}")
            wrong.append(name)
            continue
        print_row(row, PROGRAMS[name])
        wrong += [name] if row.wrong else []
    result = f"Not as expected: {', '.join(wrong)}" if wrong else "All as expected"
    print(f"\n{result}" + "".join(f"; {name} is left out: it, or what it needs, is not to be had here" for name in left_out))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
