"""Runs each reader of readers.cpp for many executions under libFuzzer, starting from the corpus and the shipped files. Coverage
guides it; sanitizers and the program's own "a bug in Linebounce" stop it, with the file that caused it.

LINEBOUNCE_FUZZ_EXECUTIONS is the total for all readers. Faster readers get more, so that each takes about as long: README.md
has the figures.
"""

import os
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from cases import unpack
from program import ROOT

FUZZER = ROOT / "build" / "fuzzer" / "fuzz_readers"
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
EXECUTIONS = float(os.environ.get("LINEBOUNCE_FUZZ_EXECUTIONS", "1e8"))
MOST_WORDS = 400


@dataclass(frozen=True)
class Reader:
    speed: int  # approximate executions per second on one processor
    most_bytes: int  # maximum size of a file: larger ones are slower and find little more
    shipped: str = ""  # existing files of this kind, not made for fuzzing


READERS = {
    "experiment": Reader(1_500, 1500, "configs/experiments/*.toml"),
    "machine": Reader(3_300, 2500, "configs/machines/*.toml"),
    "protocol": Reader(2_200, 4000, "models/protocols/*_*.md"),
    "layout": Reader(12_000, 1000, "configs/layouts/*.toml"),
    "pahole": Reader(7_000, 1000, "configs/layouts/*.pahole"),
    "matrix": Reader(24_000, 500, "docs/examples/*.csv"),
    "measured_rows": Reader(19_000, 500, "configs/figures/*/*.csv"),
    "probe": Reader(13_000, 1500),
    "library": Reader(1_000, 300),
    "lock": Reader(2_800, 1000, "programs/locks/*.lua"),
    "lua": Reader(2_200, 1000, "programs/**/*.lua"),
    "trace": Reader(6_000, 1500, "tests/fuzz/corpus/*.*"),
    "trace_frames": Reader(3_500, 1500),
    "dinero": Reader(6_000, 200),
    "lackey": Reader(6_300, 300),
    "champsim": Reader(2_900, 256),
    "perf_script": Reader(5_800, 500),
    "drmemtrace": Reader(7_000, 500),
    "lock_statistics": Reader(18_000, 1000),
    "ordered": Reader(6_000, 200),
    "perf_lock": Reader(18_000, 500),
    "perf_lock_csv": Reader(18_000, 300),
    "klockstat": Reader(18_000, 500),
    "perf_c2c": Reader(15_000, 1000),
    "litmus": Reader(15_000, 500),
    "recognised": Reader(3_000, 1000),
    "manifest": Reader(23_000, 1000),
    "results": Reader(12_000, 1000),
    "seed_file": Reader(15_000, 3500),
}


def dictionary(files: list[Path]) -> str:
    """Words that libFuzzer inserts as a whole: the most frequent ones in these files."""
    words: Counter[bytes] = Counter()
    for file in files:
        words.update(set(re.findall(rb"[A-Za-z_][A-Za-z0-9_.]{2,40}", file.read_bytes())))
    return "".join(f'"{word.decode()}"\n' for word, _ in words.most_common(MOST_WORDS))


@pytest.mark.thorough
@pytest.mark.parametrize("reader", READERS)
def test_whatever_a_file_holds_it_is_taken_or_refused(tmp_path: Path, reader: str) -> None:
    assert FUZZER.exists(), "./dev fuzz builds it"
    about = READERS[reader]
    found, known = tmp_path / "found", tmp_path / "known"
    found.mkdir()
    unpack(CORPUS / reader / "found.cases", known)
    broken = [file for file in (CORPUS / reader).iterdir() if file.suffix != ".cases"]
    for file in [*broken, *(ROOT.glob(about.shipped) if about.shipped else ())]:
        shutil.copy(file, known)
    words = tmp_path / "words"
    words.write_text(dictionary(sorted(known.iterdir())))
    runs = int(EXECUTIONS * about.speed / sum(other.speed for other in READERS.values()))
    options = [f"-runs={runs}", f"-max_len={about.most_bytes}", "-timeout=60", "-rss_limit_mb=3000"]
    if words.stat().st_size:
        options.append(f"-dict={words}")
    done = subprocess.run(
        [FUZZER, *options, "-verbosity=0", f"-artifact_prefix={tmp_path}/", found, known],
        env={**os.environ, "LINEBOUNCE_READER": reader},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
