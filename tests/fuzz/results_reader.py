"""Reads results directories as the Python package does, after changing them at random.

An execution changes one file of a small results directory, and reads whatever comes from that file. The reader must
succeed, or raise an InputError of one line that names the file. If a change reaches a block of the package for the
first time, it is kept and changed further. Files are in memory (/dev/shm). guided_results.py runs this module; its
first lines say how.
"""

import json
import pickle
import random
import shutil
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import linebounce
from linebounce.errors import InputError
from linebounce.frames import COLUMNS, read_frame, read_timeline
from linebounce.report.machine import Machine, machine_of
from linebounce.results import Results, reading

VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    1e308,
    2**63,
    "",
    "all",
    "\x1b[2J\n",
    "=1+1",
    "\ud800",
    [],
    [1],
    {},
    {"a": 1},
    [[[]]],
]
CELLS = ["", "nan", "inf", "-1", "1e3", "99", "x", '"', "9" * 30, "0", "'=1", "''-", "\r", "\0", '"\n"', "\u202e"]
KEPT = 400
METRICS = 6  # of each point; more would show nothing new
ROWS = 12  # of seeds.csv


class Fuzzer:
    """One target: a file in the directory. `reached`: blocks of the package that have run; stays empty if the package
    is not compiled with notes. `corpus`: contents to begin with."""

    def __init__(
        self, good: Path, name: str, seed: int, reached: set[int] | None = None, corpus: Iterator[bytes] | None = None
    ) -> None:
        self.reached = set() if reached is None else reached
        self.directory = Path(shutil.copytree(good, Path(tempfile.mkdtemp(dir="/dev/shm")) / "d"))
        self.name = name
        self.path = self.directory / name
        self.dice = random.Random(f"{seed} {name}")
        make_small(self.directory)
        self.points = range(len(linebounce.open(self.directory).points))
        self.verdicts: Counter[str] = Counter()
        self.kept: list[bytes] = []
        self.found: list[bytes] = []
        for content in [self.path.read_bytes(), *(corpus or ())]:
            self.execute(content)
        self.kept = self.kept or [self.path.read_bytes()]
        assert self.verdicts[""], "the unchanged file is refused"

    def run(self, executions: int) -> None:
        for _ in range(executions):
            self.execute(self._changed(self.dice.choice(self.kept)))

    def execute(self, content: bytes) -> None:
        """Reads the file with this content; keeps the content if it reached something new."""
        self.path.write_bytes(content)
        before = len(self.reached)
        try:
            self._read()
            self.verdicts[""] += 1
        except InputError as error:
            text = str(error)
            assert text.startswith(f"{self.directory}"), text
            assert "\n" not in text, text
            self.verdicts["InputError"] += 1
        except BaseException:
            print(f"{self.name}: broken by\n{content[:4000]!r}", file=sys.stderr)
            raise
        if len(self.reached) > before:
            self.found.append(content)
            self.kept.append(content)
            del self.kept[1:-KEPT]

    def end(self) -> None:
        shutil.rmtree(self.directory.parent)

    def _read(self) -> None:
        stem = Path(self.name).stem
        if stem in COLUMNS:
            read_frame(self.directory, stem, self.points)
        elif stem == "timeline":
            read_timeline(self.path.parent)
        else:
            use(linebounce.open(self.directory))

    def _changed(self, content: bytes) -> bytes:
        for _ in range(self.dice.choice([1, 1, 1, 2, 5])):
            content = self._change(content)
        return content

    def _change(self, content: bytes) -> bytes:
        if self.dice.random() < 0.3:
            return self._bytes_changed(content)
        try:
            if self.name.endswith(".csv"):
                return self._cell_changed(content.decode())
            if self.name.endswith(".json"):
                return json.dumps(self._value_changed(json.loads(content))).encode()
            document = self._value_changed(parsed_toml(content.decode()))
            return "".join(f"{json.dumps(key)} = {toml_text(value)}\n" for key, value in document.items()).encode()
        except (ValueError, RecursionError, AttributeError):
            return self._bytes_changed(content)

    def _bytes_changed(self, content: bytes) -> bytes:
        at, end = sorted(self.dice.randrange(len(content) + 1) for _ in range(2))
        if self.dice.random() < 0.5:
            end = min(at + self.dice.randrange(4), len(content))
        return (
            content[:at]
            + self.dice.choice([b"", bytes([self.dice.randrange(256)]), b"\n", b"[" * 2000, content[at:end]])
            + content[end:]
        )

    def _cell_changed(self, text: str) -> bytes:
        rows = text.split("\n")
        row = self.dice.randrange(len(rows))
        cells = rows[row].split(",")
        cells[self.dice.randrange(len(cells))] = self.dice.choice(CELLS)
        rows[row] = ",".join(cells)
        return "\n".join(rows).encode()

    def _value_changed(self, document: Any) -> Any:
        places = list(places_of(document))
        if not places:
            return self.dice.choice(VALUES)
        container, key = self.dice.choice(places)
        if self.dice.random() < 0.3:
            del container[key]
        else:
            container[key] = self.dice.choice(VALUES)
        return document


def use(results: Results) -> None:
    """Reads everything that a report reads from a directory's documents."""
    _ = results.title, results.metrics, results.settings, results.swept(), results.headlines, results.paper, results.answer
    _ = results.answered_point, results.require_finished
    with reading(results.directory / "config.toml"):
        Machine(results.config["machine"]).check()
    for point in results.points:
        _ = str(point.title), [str(metric) for metric in point.metrics.values()]
        machine_of(results, point.number)


def places_of(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a document, with each of its keys."""
    keys = list(document) if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else []
    for key in keys:
        yield document, key
        yield from places_of(document[key])


def toml_text(value: Any) -> str:
    """A value as TOML with inline tables; values that TOML lacks become a word."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml_text(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_text, value)) + "]"
    return '"none"' if value is None else json.dumps(value)


def targets(good: Path) -> list[str]:
    """The files to change; for a directory with several points, those of one point."""
    paths = [path.relative_to(good) for path in good.rglob("*") if path.is_file() and not path.name.startswith(".")]
    inner = {"config.toml", "timeline.csv"}
    chosen = [path for path in paths if len(path.parts) == 1 or (path.parts[:2] == ("points", "0") and path.name in inner)]
    return sorted(str(path) for path in chosen if path.suffix in (".csv", ".json", ".toml"))


def remembering(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Parses each text only once. Most executions don't change the file that takes the longest."""

    @lru_cache(1000)
    def pickled(text: str) -> bytes:
        return pickle.dumps(parse(text))

    return lambda text: pickle.loads(pickled(text))


parsed_toml = remembering(tomllib.loads)


def make_small(directory: Path) -> None:
    """Leaves out most metrics, seeds and sources, because a reader treats all alike."""
    for path in [*directory.rglob("results.json")]:
        document = json.loads(path.read_bytes())
        for point in document["points"]:
            point["metrics"] = dict([*point["metrics"].items()][:METRICS])
        path.write_text(json.dumps(document))
    for path in [*directory.rglob("seeds.csv")]:
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:ROWS]))
    for path in [*directory.rglob("config.toml")]:
        document = tomllib.loads(path.read_text())
        document["machine"].pop("sources", None)
        path.write_text("".join(f"{json.dumps(key)} = {toml_text(value)}\n" for key, value in document.items()))
