"""Reads the files with rows of published figures, for the lint of rows and for the pages made from them."""

import re
from collections.abc import Iterator
from typing import Any

from source_tree import Finding, SourceTree

EXPERIMENTS = "configs/experiments/"
LATENCIES = EXPERIMENTS + "latencies/"
VALIDATION = EXPERIMENTS + "validation/"
RECORDS = VALIDATION + "records/"
MACHINES = "configs/machines/"
PAPERS = "configs/papers/"
BREAKS = "configs/breaks.toml"

Table = dict[str, Any]


def begins(row_id: str, prefix: str) -> bool:
    """Whether a prefix selects a row: it is the row's id, its table's id, or a part of the id up to a dot or
    underscore."""
    return row_id == prefix or row_id.startswith(prefix if prefix.endswith((".", "_")) else prefix + ".")


def rows_of(experiment: Table) -> dict[str, Table]:
    return {row["id"]: row for row in experiment.get("paper", [])}


def tables_of(experiment: Table) -> dict[str, Table]:
    return {table["id"]: table for table in experiment.get("table", [])}


def own_ids(experiment: Table) -> list[str]:
    """The ids of its rows and of its tables."""
    return [*rows_of(experiment), *tables_of(experiment)]


def kind_of(row: Table) -> str:
    return str(row.get("kind", "predicted"))


def kind_in_table(table: Table, row_id: str) -> str:
    name = row_id.removeprefix(table["id"] + ".")
    return next((kind for kind in ("calibrated", "in_sight", "predicted") if name in table.get(kind, [])), kind_of(table))


class RowFiles:
    """Experiments, machines, records of first runs and the documents' claims, each by file."""

    def __init__(self, sources: SourceTree) -> None:
        self.sources = sources
        self.experiments = self._tables(EXPERIMENTS)
        self.machines = self._tables(MACHINES)
        self.documents = self._tables(PAPERS)
        self.validation = {file: table for file, table in self.experiments.items() if file.startswith(VALIDATION)}
        self.first_runs: dict[str, Table] = {file: sources.json(file) for file in sources.matching(f"{RECORDS}*.json")}

    def _tables(self, folder: str) -> dict[str, Table]:
        return {file: self.sources.toml(file) for file in self.sources.matching(f"{folder}*.toml")}

    def finding(self, file: str, needle: str, what: str) -> Finding:
        """A finding at the first line of the file that contains `needle`."""
        return Finding(file, self.sources.line_of(file, needle), what)

    def finding_of_row(self, file: str, row_id: str, what: str) -> Finding:
        """A finding at the line with the id of a row or table."""
        match = re.search(rf'^id\s*=\s*"{re.escape(row_id)}"', self.sources.text(file), re.MULTILINE)
        return self.finding(file, match[0] if match else row_id, what)

    def own_rows(self) -> Iterator[tuple[str, Table]]:
        """Pairs of file and row or table, for all experiments in configs/experiments/validation."""
        for file, experiment in self.validation.items():
            for row in [*experiment.get("paper", []), *experiment.get("table", [])]:
                yield file, row
