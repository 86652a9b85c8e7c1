"""Checks records of first runs against git's history: a prediction must have been made before it was compared.

The commit that added a published figure must be an ancestor of the commit that recorded its first run, and a different
one. The recorded result must not change afterwards. A record counts as one of a first run only if no earlier commit
explains a miss of the experiment, or changes its load after its figures were there. Either would show that somebody had
already seen results. A shallow clone or an unpacked archive has no history to check.
"""

import json
import subprocess
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path, PurePosixPath

from rows import RECORDS, VALIDATION, RowFiles, Table, kind_of, rows_of
from source_tree import Finding

# The keys of a row that a record repeats. A record has `difference` and `visible` only where they differ from the default.
PUBLISHED = ["metric", "order", "of", "difference", "value", "sign", "visible", "tolerance", "tolerance_abs", "shape", "over"]
# The keys of a row that may change after its first run. Of `kind`, only a prediction may change into another kind.
FREE = {"miss", "why_off", "reason_tested", "broken_by", "source", "kind", "tolerance", "tolerance_abs"}
# The keys of an experiment that don't change its load: rows and names.
NO_LOAD = {"paper", "table", "name", "title", "family"}
LEFT_OUT = "default"
NO_PARAMETERS = {"name", "title", "cache_levels", "sources", "history"}


def canonical(value: object) -> object:
    """Makes equal numbers equal: 100 and 100.0, but not 1 and True. Rounds to the six digits that records have."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        rounded = float(f"{value:.6g}")
        return int(rounded) if rounded.is_integer() else rounded
    return value


def leaves(table: Table, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Every value with its dotted path."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def parameters(machine: Table) -> dict[str, object]:
    """The parameters in a machine's file by their path."""
    own = {key: value for key, value in machine.items() if key not in NO_PARAMETERS}
    return {path: canonical(value) for path, value in leaves(own)}


def parameters_of_steps(entry: Table) -> Iterator[tuple[str, list[object]]]:
    """The steps in `changed` of a history entry, by path. The entry may write a path as a quoted key, or as nested
    tables."""
    for path, step in leaves(entry.get("changed", {})):
        assert isinstance(step, list)
        yield path, step


def published(row: Table) -> Table:
    """The part of a row that a record repeats."""
    out = {key: canonical(row[key]) for key in PUBLISHED if key in row}
    if not row.get("difference"):
        out.pop("difference", None)
    if out.get("visible") == 0.01:
        del out["visible"]
    return out


def allowance(row: Table) -> float:
    """How far a row's result may be from the published figure."""
    return float(row.get("tolerance_abs", row.get("tolerance", 0) * abs(row.get("value", 0))))


def has_changed(row: Table, recorded: Table) -> bool:
    """Whether the published figure differs from the record's, or its tolerance is wider. A narrower tolerance is
    allowed."""
    room = ("tolerance", "tolerance_abs")
    now, then = ({key: value for key, value in published(each).items() if key not in room} for each in (row, recorded))
    return now != then or allowance(row) > allowance(recorded) * (1 + 1e-4)  # records have six digits


def experiment_of(record: str) -> str:
    return VALIDATION + record.removeprefix(RECORDS).removesuffix(".json") + ".toml"


class History:
    """Git's history: the versions of a file."""

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

    def versions(self, file: str) -> Iterator[tuple[str, str]]:
        """Pairs of commit and text for each version of a file, the oldest first."""
        for commit in self.git("log", "--format=%H", "--topo-order", "--full-history", "--reverse", "--", file).split():
            if self.git("ls-tree", "--name-only", commit, "--", file):
                yield commit, self.git("show", f"{commit}:{file}")

    def comes_before(self, first: str, then: str) -> bool:
        if (first, then) not in self.known:
            command = ["git", "-C", str(self.folder), "merge-base", "--is-ancestor", first, then]
            self.known[first, then] = first != then and subprocess.run(command, check=False).returncode == 0
        return self.known[first, then]


def recorded_rows(record: Table) -> dict[str, Table]:
    return {name: row for run in record["runs"] for name, row in run["rows"].items()}


def commit_with(figure: Table, name: str, figures: list[tuple[str, dict[str, Table]]]) -> str | None:
    """The first commit in which the row has this published figure."""
    return next((commit for commit, rows in figures if published(rows.get(name, {})) == figure), None)


def by_name(value: object) -> object:
    """Replaces the path of a lock in programs/ by its name. These locks have moved to programs/locks, and are found by
    name. Other files keep their paths."""
    if isinstance(value, dict):
        return {key: by_name(each) for key, each in value.items()}
    if not isinstance(value, str) or not value.endswith(".lua"):
        return value
    path = PurePosixPath(value)
    return path.stem if "programs" in path.parts else value


def fixed(row: Table) -> Table:
    return {key: by_name(value) for key, value in row.items() if key not in FREE}


def seen_before(run: Table, recorded: str, versions: list[tuple[str, Table]], history: History) -> str | None:
    """Evidence that somebody had run these rows before the commit that recorded their first run: the sentence, or None."""
    earlier = [(commit, experiment) for commit, experiment in versions if history.comes_before(commit, recorded)]
    for commit, experiment in earlier:
        explained = [name for name, row in rows_of(experiment).items() if "why_off" in row]
        if explained:
            return f"commit {commit[:12]} explains the miss of {explained[0]}"
    with_figures = [(commit, experiment) for commit, experiment in earlier if run["rows"].keys() <= rows_of(experiment).keys()]
    loads = [
        (commit, {key: by_name(experiment[key]) for key in experiment.keys() - NO_LOAD}) for commit, experiment in with_figures
    ]
    for (_, before), (commit, after) in pairwise(loads):
        if before != after:
            return f"commit {commit[:12]} changes the load"
    return None


def first_runs_are_first(record: str, files: RowFiles, history: History) -> Iterator[Finding]:
    """Findings for a record that claims to be of a first run although there is evidence of an earlier one. `record`:
    its file."""
    experiment = experiment_of(record)
    if experiment not in files.experiments:
        return
    versions = [(commit, tomllib.loads(text)) for commit, text in history.versions(experiment)]
    records = [(commit, recorded_rows(json.loads(text))) for commit, text in history.versions(record)]
    for run in files.first_runs[record]["runs"]:
        recorded = next((commit for commit, rows in records if run["rows"].keys() <= rows.keys()), None)
        seen = seen_before(run, recorded, versions, history) if run["first"] and recorded else None
        if seen and recorded:
            what = f"{seen} before commit {recorded[:12]} records the run of {run['date']}: that is not a first run"
            yield Finding(record, files.sources.line_of(record, f'"date": "{run["date"]}"'), what)


def order_of_commits(record: str, files: RowFiles, history: History) -> Iterator[Finding]:
    """Findings for figures that were not committed before their first run, or that changed afterwards. `record`: its
    file."""
    experiment = experiment_of(record)
    if experiment not in files.experiments:
        return
    figures = [(commit, rows_of(tomllib.loads(text))) for commit, text in history.versions(experiment)]
    records = [(commit, recorded_rows(json.loads(text))) for commit, text in history.versions(record)]
    today = rows_of(files.experiments[experiment])
    was_run = recorded_rows(files.first_runs[record])

    def of_row(name: str, what: str) -> Finding:
        return files.finding_of_row(experiment, name, f"{name}: {what}")

    for name, recorded in ((name, row) for name, row in was_run.items() if name in today):
        first = next(((commit, rows[name]) for commit, rows in records if name in rows), None)
        added = commit_with(published(recorded["published"]), name, figures)
        if added is None:
            yield of_row(name, "it was run, but no commit has its figure yet: commit that first")
            continue
        if first is None:
            continue  # not committed yet
        if not history.comes_before(added, first[0]):
            what = f"commit {added[:12]} adds its figure, and doesn't come before {first[0][:12]}, with its first run"
            yield of_row(name, what)
        if first[1] != recorded:
            yield Finding(record, 1, f"{name} is not what commit {first[0][:12]} recorded: a first run stays as it was")
        before = [rows[name] for commit, rows in figures if name in rows and history.comes_before(commit, first[0])]
        if before and fixed(before[-1]) != fixed(today[name]):
            yield of_row(name, f"it is not what it was before its first run, in commit {first[0][:12]}")
        kinds = [kind_of(row) for row in [*before[-1:], today[name]]]
        if kinds[-1] == "predicted" and kinds[0] != "predicted":
            yield of_row(name, f"it was {kinds[0]} when it was first run, and can't become a prediction")
