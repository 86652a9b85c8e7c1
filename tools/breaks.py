#!/usr/bin/env python3
"""Switches off the mechanism that each prediction rests on; its row must then miss: breaks.py [EXPERIMENT | ROW]...

A row that is predicted names in `broken_by` an entry of configs/breaks.toml: settings of the machine or the workload that
switch off one mechanism. With them, a row within tolerance must miss, and the figure of a row that misses already must move
by more than its tolerance. A row that no break can move predicts nothing. `./dev reproduce --breaks` runs all of them,
evidence/tests/test_broken_mechanisms.py a sample.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rows import BREAKS, EXPERIMENTS, RowFiles, Table, begins, kind_of, rows_of
from source_tree import ROOT, SourceTree

PROGRAM = ROOT / "build" / "release" / "linebounce"


@dataclass(frozen=True)
class Outcome:
    """A row's result with its mechanism intact (`whole`) and switched off (`broken`), in the form of results.json."""

    experiment: str
    broken_by: str
    whole: Table
    broken: Table

    @property
    def is_lost(self) -> bool:
        """Whether switching the mechanism off has changed the row as required: a hit has become a miss, or a miss has
        moved."""
        if self.whole["ok"]:
            return self.broken["ok"] is False
        return has_moved(self.whole, self.broken)


def has_moved(whole: Table, broken: Table) -> bool:
    """Whether a missing row's result is a different one: it moved by more than the tolerance, or has another order or
    another sign."""
    before, after = whole["simulated"], broken["simulated"]
    if isinstance(before, list) and isinstance(after, list):
        return ranks(before) != ranks(after)
    if before is None or after is None:
        return before is not after
    if whole["paper"] is None:
        return bool(whole["simulated_sign"] != broken["simulated_sign"])
    allowed = whole.get("tolerance_abs", abs(whole.get("tolerance", 0) * whole["paper"]))
    return bool(abs(after - before) > allowed)


def ranks(values: list[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda at: values[at])


def broken_text(text: str, settings: Mapping[str, object]) -> str:
    """The experiment's file with these settings added to its [set], where they replace equal keys. Settings on the
    command line would do the same, but results with them are not scored."""
    lines = [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in settings.items()]
    own = re.search(r"^\[set\]\n", text, re.MULTILINE)
    if own:
        head, rest = text[: own.end()], text[own.end() :]
        table, bracket, after = re.match(r"(.*?)(^\[|\Z)(.*)", rest, re.MULTILINE | re.DOTALL).groups()  # type: ignore[union-attr]
        kept = [line for line in table.strip().splitlines() if not any(line.startswith(json.dumps(key)) for key in settings)]
        return head + "\n".join([*lines, *kept]) + "\n\n" + bracket + after
    first = re.search(r"^\[", text, re.MULTILINE)
    assert first
    return text[: first.start()] + "[set]\n" + "\n".join(lines) + "\n\n" + text[first.start() :]


def simulated(name: str, text: str, folder: Path, program: Path = PROGRAM) -> dict[str, Table]:
    """Runs the experiment, and returns its rows by id. Creates FOLDER, and links the experiment's programs there."""
    own = (ROOT / EXPERIMENTS / name).parent
    folder.mkdir(parents=True)
    for beside in own.glob("*.lua"):
        (folder / beside.name).symlink_to(beside)
    (folder / "experiment.toml").write_text(text, encoding="utf-8")
    command = [str(program), "run", "experiment.toml", "-o", "results", "--quiet", "-j", "1"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr}")
    results = json.loads((folder / "results" / "results.json").read_text(encoding="utf-8"))
    return {row["id"]: row for row in results["paper"]}


def predictions(files: RowFiles) -> Iterator[tuple[str, Table]]:
    """Pairs of an experiment's name and a scored row that it predicts."""
    for file, experiment in files.experiments.items():
        for row in rows_of(experiment).values():
            if kind_of(row) == "predicted" and row.get("scored", True):
                yield file.removeprefix(EXPERIMENTS).removesuffix(".toml"), row


def settings_of(files: RowFiles) -> dict[str, Table]:
    """The settings of each break, by its name."""
    breaks = files.sources.toml(BREAKS) if BREAKS in files.sources else {}
    return {name: entry["set"] for name, entry in breaks.items()}


def outcomes(name: str, rows: list[Table], settings: Mapping[str, Table], program: Path = PROGRAM) -> Iterator[Outcome]:
    """Runs the experiment unchanged, and once for each break that one of these rows names."""
    text = (ROOT / EXPERIMENTS / f"{name}.toml").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        whole = simulated(name, text, Path(folder) / "whole", program)
        for broken_by in dict.fromkeys(row["broken_by"] for row in rows):
            broken = simulated(name, broken_text(text, settings[broken_by]), Path(folder) / broken_by, program)
            for row in rows:
                if row["broken_by"] == broken_by:
                    yield Outcome(name, broken_by, whole[row["id"]], broken[row["id"]])


def told(outcome: Outcome) -> str:
    whole, broken = outcome.whole, outcome.broken
    verdict = ("is lost" if whole["ok"] else "moves") if outcome.is_lost else "STAYS"
    return f"{whole['id']} {verdict} with {outcome.broken_by}: {whole['simulated']} -> {broken['simulated']}"


def main() -> int:
    files = RowFiles(SourceTree.of_git())
    settings = settings_of(files)
    words = sys.argv[1:]
    rows: dict[str, list[Table]] = {}
    for name, row in predictions(files):
        if "broken_by" in row and (not words or any(name == word or begins(row["id"], word) for word in words)):
            rows.setdefault(name, []).append(row)
    found = []
    for name, own in rows.items():
        for outcome in outcomes(name, own, settings):
            found.append(outcome)
            print(told(outcome), flush=True)
    stay = sum(not outcome.is_lost for outcome in found)
    lost = sum(outcome.is_lost and outcome.whole["ok"] for outcome in found)
    print(f"{len(found)} predicted rows: {lost} hits are lost, {len(found) - lost - stay} misses move, {stay} stay as they are")
    return 1 if stay else 0


if __name__ == "__main__":
    sys.exit(main())
