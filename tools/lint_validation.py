"""Predictions are made before they are compared: lint_validation.py MACHINE.toml|EXPERIMENT.toml|RECORD.json...

`linebounce validate --record` keeps what each row of configs/experiments/validation came to when it was first run, and which
parameters its machine had then. This holds the files to that record, and the record to git's history:

- a published figure that has been run stays what it was, and so does what the first run came to;
- the commit that added the figure is an ancestor of the one that recorded its first run, and another one;
- a machine's parameter that differs from the record's has [[history]] entries that lead from one value to the other;
- no machine with such predictions names a validation row as what a parameter was calibrated to, and each calibrated parameter
  names a calibrated row or a file of measurements.

Without git's whole history (a shallow clone, an unpacked archive) the second is not checked, which is said.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXPERIMENTS = "configs/experiments/"
MACHINES = "configs/machines/"
VALIDATION = EXPERIMENTS + "validation/"
RECORDS = VALIDATION + "records/"
LATENCIES = EXPERIMENTS + "latencies/"
WORD = re.compile(r"[A-Za-z0-9_/-]+(?:\.[A-Za-z0-9_-]+)*")
# What of a row the record repeats. `difference` and `visible` are there where they are not the default.
PUBLISHED = ["metric", "order", "of", "difference", "value", "sign", "visible", "tolerance", "tolerance_abs", "shape", "over"]
# What of a row may change after its first run. A prediction may be taken back, but nothing becomes one.
FREE = {"why_off", "source", "kind"}
LEFT_OUT = "default"
NO_PARAMETERS = {"name", "title", "cache_levels", "sources", "history"}

Table = dict[str, Any]
Texts = dict[str, str]


def canonical(value: object) -> object:
    """100 and 100.0 are one value; True is not 1. Records have six significant digits."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        rounded = float(f"{value:.6g}")
        return int(rounded) if rounded.is_integer() else rounded
    return value


def parameters(machine: Table, prefix: str = "") -> dict[str, object]:
    """What a machine's file gives, by path."""
    found: dict[str, object] = {}
    for key, value in machine.items():
        if not prefix and key in NO_PARAMETERS:
            continue
        if isinstance(value, dict):
            found |= parameters(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = canonical(value)
    return found


def published(row: Table) -> Table:
    """What of a row the record repeats."""
    out = {key: canonical(row[key]) for key in PUBLISHED if key in row}
    if not row.get("difference"):
        out.pop("difference", None)
    if out.get("visible") == 0.01:
        del out["visible"]
    return out


def rows_of(experiment: Table) -> dict[str, Table]:
    return {row["id"]: row for row in experiment.get("paper", [])}


def machines_of(experiment: Table) -> set[str]:
    """The names of all machines that it runs on."""
    named = [experiment.get("machine"), *experiment.get("sweep", {}).get("machine", [])]
    for together in experiment.get("sweep", {}).get("together", []):
        named += together.get("machine", [])
    return {name for name in named if isinstance(name, str)}


def line_of(needle: str, text: str) -> int:
    """The line with it, or the first."""
    return text[: max(text.find(needle), 0)].count("\n") + 1


def record_of(file: str) -> str:
    """The record of an experiment's file."""
    return RECORDS + file.removeprefix(VALIDATION).removesuffix(".toml") + ".json"


def experiment_of(record: str) -> str:
    return VALIDATION + record.removeprefix(RECORDS).removesuffix(".json") + ".toml"


class Checker:
    """The rule, on files as they are."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self.tables = {file: tomllib.loads(text) for file, text in texts.items() if file.endswith(".toml")}
        self.records = {file: json.loads(text) for file, text in texts.items() if file.endswith(".json")}
        self.experiments = {file: table for file, table in self.tables.items() if file.startswith(EXPERIMENTS)}
        self.validation = {file: table for file, table in self.tables.items() if file.startswith(VALIDATION)}

    def findings(self) -> Iterator[str]:
        yield from self.experiments_are_complete()
        for file, record in self.records.items():
            yield from self.figures_are_as_recorded(file, record)
            yield from self.machines_are_as_recorded(file, record)
        yield from self.machines_are_fitted_to_other_things()

    def experiments_are_complete(self) -> Iterator[str]:
        for file, experiment in self.validation.items():
            if "family" not in experiment:
                yield f'{file}:1: no family = "...": what its rows are about'
            for row in [*experiment.get("paper", []), *experiment.get("table", [])]:
                place = f"{file}:{line_of(row['id'], self.texts[file])}: {row['id']}"
                if "calibrated" in (row.get("kind"), *row):
                    yield f"{place}: nothing is fitted to a validation row: it can't be calibrated"
                if not row.get("source"):
                    yield f"{place}: where was this published? it has no source"

    def figures_are_as_recorded(self, file: str, record: Table) -> Iterator[str]:
        experiment = experiment_of(file)
        if experiment not in self.tables:
            yield f"{file}:1: {experiment} is gone, but its figures had been run"
            return
        rows = rows_of(self.tables[experiment])
        for run in record["runs"]:
            for name, recorded in run["rows"].items():
                if name not in rows:
                    yield f"{experiment}:1: {name} is gone, but it was run on {run['date']}"
                elif published(rows[name]) != published(recorded["published"]):
                    place = f"{experiment}:{line_of(name, self.texts[experiment])}"
                    yield f"{place}: {name} is not what it was when it was first run, on {run['date']}: see {file}"

    def machines_are_as_recorded(self, file: str, record: Table) -> Iterator[str]:
        for run in record["runs"]:
            for name, recorded in run["machines"].items():
                machine = f"{MACHINES}{name}.toml"
                if machine not in self.tables:
                    yield f"{file}:1: {machine} is gone, but predictions of {run['date']} were made on it"
                    continue
                yield from self.unexplained(machine, {path: canonical(value) for path, value in recorded.items()}, run["date"])

    def unexplained(self, machine: str, recorded: dict[str, object], date: str) -> Iterator[str]:
        """Parameters that are not what they were, and no history that says why."""
        now = parameters(self.tables[machine])
        steps = [
            (path, canonical(before), canonical(after))
            for entry in self.tables[machine].get("history", [])
            for path, (before, after) in parameters_of_steps(entry)
        ]
        for path in sorted(recorded.keys() | now.keys()):
            was, becomes = recorded.get(path, LEFT_OUT), now.get(path, LEFT_OUT)
            if was == becomes:
                continue
            own = [step[1:] for step in steps if step[0] == path]
            begins = [i for i, step in enumerate(own) if step[0] == was]
            if not begins or own[-1][1] != becomes:
                line = line_of(path.rsplit(".", 1)[-1], self.texts[machine])
                yield (
                    f"{machine}:{line}: {path} was {was} when predictions were first run, on {date}, and is {becomes}: "
                    f"[[history]] doesn't lead from one to the other"
                )

    def machines_are_fitted_to_other_things(self) -> Iterator[str]:
        predicted = {name for table in self.validation.values() for name in rows_of(table)}
        calibrated = {
            name: file
            for file, table in self.experiments.items()
            if file not in self.validation
            for name, row in rows_of(table).items()
            if row.get("kind") == "calibrated"
        }
        used = set[str]().union(*map(machines_of, self.validation.values()))
        latencies = [table for file, table in self.experiments.items() if file.startswith(LATENCIES)]
        fitted = set[str]().union(*map(machines_of, latencies))
        for machine in sorted(f"{MACHINES}{name}.toml" for name in used):
            if machine not in self.tables:
                continue
            # A machine that has experiments of latencies was fitted to nothing else.
            has_latencies = Path(machine).stem in fitted
            legal = {name for name, file in calibrated.items() if file.startswith(LATENCIES) or not has_latencies}
            for path, source in self.tables[machine].get("sources", {}).items():
                if not source.startswith("calibrated:"):
                    continue
                place = f"{machine}:{line_of(source, self.texts[machine])}: {path}"
                words = [word.rstrip(".") for word in WORD.findall(source.removeprefix("calibrated:"))]
                if any(begins(word, name) for word in words for name in predicted if "." in word):
                    yield f"{place}: calibrated to a validation row, which is then no prediction"
                elif not any(begins(word, name) for word in words for name in legal) and not any(map(is_file, words)):
                    yield f"{place}: calibrated to what? no word of it is a calibrated row or a file with measurements"


def parameters_of_steps(entry: Table) -> Iterator[tuple[str, list[object]]]:
    """`changed` of a history entry: its keys may be quoted paths, or tables."""

    def below(table: Table, prefix: str) -> Iterator[tuple[str, list[object]]]:
        for key, value in table.items():
            if isinstance(value, dict):
                yield from below(value, f"{prefix}{key}.")
            else:
                yield prefix + key, value

    return below(entry.get("changed", {}), "")


def begins(word: str, name: str) -> bool:
    return name == word or name.startswith(word + ".")


def is_file(word: str) -> bool:
    return "/" in word and Path(word).is_file()


@dataclass(frozen=True)
class Version:
    commit: str
    text: str


class History:
    """git's: which versions of a file there have been."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: dict[tuple[str, str], bool] = {}

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def is_whole(self) -> bool:
        try:
            return self.git("rev-parse", "--is-shallow-repository").strip() == "false"
        except (OSError, subprocess.CalledProcessError):
            return False

    def versions(self, file: str) -> Iterator[Version]:
        """The oldest first."""
        for commit in self.git("log", "--format=%H", "--topo-order", "--full-history", "--reverse", "--", file).split():
            if self.git("ls-tree", "--name-only", commit, "--", file):
                yield Version(commit, self.git("show", f"{commit}:{file}"))

    def comes_before(self, first: str, then: str) -> bool:
        if (first, then) not in self.known:
            command = ["git", "-C", str(self.folder), "merge-base", "--is-ancestor", first, then]
            self.known[first, then] = first != then and subprocess.run(command, check=False).returncode == 0
        return self.known[first, then]


def recorded_rows(text: str) -> dict[str, Table]:
    return {name: row for run in json.loads(text)["runs"] for name, row in run["rows"].items()}


def fixed(row: Table) -> Table:
    return {key: value for key, value in row.items() if key not in FREE}


def order_of_commits(file: str, texts: Texts, history: History) -> Iterator[str]:
    """That figures came before their first run, and that neither has changed since. `file`: a record."""
    experiment = experiment_of(file)
    if experiment not in texts:
        return
    figures = [(version.commit, rows_of(tomllib.loads(version.text))) for version in history.versions(experiment)]
    records = [(version.commit, recorded_rows(version.text)) for version in history.versions(file)]
    today = rows_of(tomllib.loads(texts[experiment]))
    for name, recorded in recorded_rows(texts[file]).items():
        if name not in today:
            continue
        place = f"{experiment}:{line_of(name, texts[experiment])}: {name}"
        first = next(((commit, rows[name]) for commit, rows in records if name in rows), None)
        added = next(
            (commit for commit, rows in figures if published(rows.get(name, {})) == published(recorded["published"])), None
        )
        if added is None:
            yield f"{place}: it was run, but no commit has its figure yet: commit that first"
            continue
        if first is None:
            continue  # the next commit will have it
        if not history.comes_before(added, first[0]):
            yield f"{place}: commit {added[:12]} adds its figure, and doesn't come before {first[0][:12]}, with its first run"
        if first[1] != recorded:
            yield f"{file}:1: {name} is not what commit {first[0][:12]} recorded: a first run stays as it was"
        before = [rows[name] for commit, rows in figures if name in rows and history.comes_before(commit, first[0])]
        if before and fixed(before[-1]) != fixed(today[name]):
            yield f"{place}: it is not what it was before its first run, in commit {first[0][:12]}"
        kinds = [row.get("kind", "predicted") for row in [*before[-1:], today[name]]]
        if kinds[-1] == "predicted" and kinds[0] != "predicted":
            yield f"{place}: it was {kinds[0]} when it was first run, and can't become a prediction"


def findings(texts: Texts, history: History) -> list[str]:
    found = list(Checker(texts).findings())
    for file in texts:
        if file.endswith(".json") and history.is_whole():
            found += order_of_commits(file, texts, history)
    return found


def main() -> int:
    texts = {name: Path(name).read_text(encoding="utf-8") for name in sys.argv[1:]}
    history = History(Path.cwd())
    found = findings(texts, history)
    print("\n".join(found), end="\n" if found else "")
    if not history.is_whole():
        print("The order of commits was not checked: git's whole history isn't here.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
