#!/usr/bin/env python3
"""Every figure, table and claim of the five documents is compared, shown, or has a reason why not: lint_papers.py

It holds four things to each other: the claims of configs/papers, the [[paper]] rows and [[table]]s of experiments, the record
of what `linebounce reproduce` found (configs/papers/results.json), and docs/every-figure.md. What no claim names is an unknown
figure. A claim with rows that miss says why, and only such a one. An experiment that a claim awaits is not looked at.
"""

import sys
from pathlib import Path

import papers_page
from papers_page import EXPERIMENTS, FOLDER, PAGE, README, RECORD, ROOT, Papers, Table, begins, claims, is_miss, rows_of

WAYS = ("rows", "run", "command", "cannot", "awaits")
AGAIN = "run `linebounce reproduce {} --json > out/it.json && tools/papers_page.py out/it.json`"


def place(file: Path) -> str:
    return file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name


def awaited(papers: Papers) -> set[str]:
    return {claim["awaits"] for document in papers.documents for _, claim in claims(document) if "awaits" in claim}


def own_ids(experiment: Table) -> list[str]:
    """Of its rows and of its tables."""
    return [row["id"] for row in [*experiment.get("paper", []), *experiment.get("table", [])]]


def compared(papers: Papers) -> dict[str, Table]:
    """The experiments with rows, but for those that are awaited."""
    wanted = awaited(papers)
    return {name: one for name, one in papers.experiments.items() if own_ids(one) and name not in wanted}


def claim_findings(document: Table, section: Table, claim: Table, papers: Papers) -> list[str]:
    where = f'{document["document"]}, section {section["number"]}, "{claim["what"]}"'
    if sum(way in claim for way in WAYS) != 1:
        return [f"{where}: a claim has one of {', '.join(WAYS)}"]
    found = [f"{where}: there is no experiment {name}" for name in claim.get("run", []) if name not in papers.experiments]
    ids = [row_id for experiment in papers.experiments.values() for row_id in own_ids(experiment)]
    for prefix in claim.get("rows", []):
        if not any(begins(row_id, prefix) or begins(prefix, row_id) for row_id in ids):
            found.append(f"{where}: no experiment has a row that begins with {prefix}")
    misses = [row for _, row in rows_of(claim, papers) if is_miss(row)]
    unexplained = [row["id"] for row in misses if "why_off" not in row]
    if unexplained and "why_off" not in claim:
        found.append(f"{where}: misses without a why_off: {', '.join(unexplained)}")
    if not misses and "why_off" in claim:
        found.append(f"{where}: has a why_off, but no row misses")
    return found


def unknown_figures(papers: Papers) -> list[str]:
    prefixes = [prefix for document in papers.documents for _, claim in claims(document) for prefix in claim.get("rows", [])]
    return [
        f"{place(EXPERIMENTS / name)}.toml: {row_id} is in no claim of configs/papers"
        for name, experiment in compared(papers).items()
        for row_id in own_ids(experiment)
        if not any(begins(row_id, prefix) or begins(prefix, row_id) for prefix in prefixes)
    ]


def differs(row: Table, recorded: Table) -> bool:
    """Whether the row has another figure, tolerance or kind than the one that was recorded."""
    pairs = [("value", "paper"), ("tolerance", "tolerance"), ("tolerance_abs", "tolerance_abs"), ("shape", "shape")]
    if row.get("kind", "predicted") != recorded["kind"] or (not row.get("scored", True) and recorded["ok"] is not None):
        return True
    return any(row.get(ours) != recorded.get(theirs) for ours, theirs in pairs)


def table_kind(table: Table, row_id: str) -> str:
    name = row_id.removeprefix(table["id"] + ".")
    kinds = [kind for kind in ("calibrated", "in_sight", "predicted") if name in table.get(kind, [])]
    return [*kinds, table.get("kind", "predicted")][0]


def record_findings(name: str, experiment: Table, recorded: list[Table]) -> list[str]:
    """Where the record is not of the experiment's rows as they are."""
    rows = {row["id"]: row for row in experiment.get("paper", [])}
    tables = experiment.get("table", [])
    stale = {row["id"] for row in recorded if row["id"] in rows and differs(rows[row["id"]], row)}
    stale |= rows.keys() - {row["id"] for row in recorded}
    for table in tables:
        of_table = [row for row in recorded if row["id"].startswith(table["id"] + ".")]
        stale |= {row["id"] for row in of_table if row["kind"] != table_kind(table, row["id"])}
        if not of_table and "tolerance_abs" in table:
            stale.add(table["id"])
    starts = tuple(table["id"] + "." for table in tables)
    stale |= {row["id"] for row in recorded if row["id"] not in rows and not (starts and row["id"].startswith(starts))}
    return [f"{place(RECORD)}: {row_id} of {name} is not recorded as it is: {AGAIN.format(name)}" for row_id in sorted(stale)]


def findings(papers: Papers, page_text: str, readme_text: str = "") -> list[str]:
    found = [
        finding
        for document in papers.documents
        for section, claim in claims(document)
        for finding in claim_findings(document, section, claim, papers)
    ]
    found = [f"{place(FOLDER)}: {finding}" for finding in found] + unknown_figures(papers)
    experiments = compared(papers)
    for name, experiment in experiments.items():
        found += record_findings(name, experiment, papers.record.get(name, []))
    found += [
        f"{place(RECORD)}: there is no experiment {name} with rows" for name in papers.record if name not in papers.experiments
    ]
    if not found and papers_page.page(page_text, papers) != page_text:
        found.append(f"{place(PAGE)}: is out of date: run tools/papers_page.py")
    if not found and papers_page.readme(readme_text, papers) != readme_text:
        found.append(f"{place(README)}: its totals are out of date: run tools/papers_page.py")
    return found


def main() -> int:
    found = findings(papers_page.read_papers(), PAGE.read_text(encoding="utf-8"), README.read_text(encoding="utf-8"))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
