"""Runs results_reader.py with the package compiled so that it notes what it reaches.

    python tests/fuzz/guided_results.py DIRECTORY EXECUTIONS [SEED] [--keep FOLDER]

DIRECTORY: results of a small sweep, with a timeline. Starts from the corpus, and prints a row for each file: executions, of
those a second, blocks reached by the unchanged file, by the corpus, and now, and how many executions were without an error.
--keep writes what reached new blocks into FOLDER/FILE.cases; without it, the corpus stays as it is.
"""

import argparse
import importlib
import time
import tomllib
from pathlib import Path

from cases import packed, unpacked
from reached_blocks import REACHED, note_blocks_of

CORPUS = Path(__file__).parent / "corpus" / "results_directory"


def cases_of(name: str, folder: Path = CORPUS) -> Path:
    return folder / f"{name.replace('/', '_')}.cases"


def corpus_of(name: str) -> list[bytes]:
    path = cases_of(name)
    return [*unpacked(path.read_bytes())] if path.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("executions", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    note_blocks_of("linebounce")
    reader = importlib.import_module("results_reader")  # imports the package, so the notes must be enabled before
    tomllib.loads = reader.parsed_toml
    for name in reader.targets(arguments.directory):
        REACHED.clear()
        fuzzer = reader.Fuzzer(arguments.directory, name, arguments.seed, REACHED)
        plain = len(REACHED)
        for content in corpus_of(name):
            fuzzer.execute(content)
        known = len(REACHED)
        begun, before = time.process_time(), fuzzer.verdicts[""]
        fuzzer.run(arguments.executions)
        speed = arguments.executions / (time.process_time() - begun)
        print(
            f"| {name} | {arguments.executions:,} | {speed:,.0f} | {plain} | {known} | {len(REACHED)} "
            f"| {fuzzer.verdicts[''] - before:,} |",
            flush=True,
        )
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            cases_of(name, arguments.keep).write_bytes(packed(fuzzer.found))
        fuzzer.end()


if __name__ == "__main__":
    main()
