"""Keeps published figures honest: a figure that chose a parameter is not a prediction, and predictions stay as they were.

1. Kinds. If a machine names a [[paper]] row anywhere, or an experiment has a comment "calibrated: ROW", the row's figure was
   used. Then no experiment may call a row of that id predicted, nor the row of a [[table]]. A predicted row names the break
   with which it misses (configs/breaks.toml), and tolerances follow one rule (row_tolerance.py).
2. Documents. Every figure, table and claim of the five documents is compared, shown, or has a reason why not. Four things must
   agree: the claims of configs/papers, the rows and tables of experiments, the record of what `linebounce reproduce` found
   (configs/papers/results.json), and docs/every-figure.md. A figure that no claim names is an error. A claim says why its rows
   miss if one does, and only then. An experiment that a claim awaits is not checked.
3. First runs. `linebounce validate --record` keeps the result of each row of configs/experiments/validation in its first run,
   and the parameters that its machine had then. A published figure that has been run must not change. If a machine's parameter
   differs from the record's, [[history]] entries must lead from one value to the other. A machine with such predictions names
   no validation row as what a parameter was calibrated to; each calibrated parameter names a calibrated row or a file of
   measurements. row_history.py checks the records against git's history, and that first runs were first.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import breaks
import papers_page
from papers_page import MISSES, PAGE, README, RECORD, Papers, claims, is_miss
from row_history import (
    LEFT_OUT,
    History,
    canonical,
    experiment_of,
    first_runs_are_first,
    has_changed,
    order_of_commits,
    parameters,
    parameters_of_steps,
)
from row_tolerance import tolerance_findings
from rows import (
    BREAKS,
    EXPERIMENTS,
    LATENCIES,
    MACHINES,
    VALIDATION,
    RowFiles,
    Table,
    begins,
    kind_in_table,
    kind_of,
    own_ids,
    rows_of,
    tables_of,
)
from source_tree import Finding, SourceTree

# Words with dots in them, which may be ids of rows.
NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")
USED = re.compile(r"#.*?\bcalibrated: (.*)")
WORD = re.compile(r"[A-Za-z0-9_/-]+(?:\.[A-Za-z0-9_-]+)*")
WAYS = ("rows", "run", "command", "cannot", "awaits")
AGAIN = "run `linebounce reproduce {} --json > out/it.json && tools/papers_page.py out/it.json`"


# Kinds


def used(files: RowFiles) -> Iterator[tuple[str, str]]:
    """Words that may be ids of rows, each with FILE:LINE, from statements that a parameter was taken from a published
    figure."""
    for file in [*files.machines, *files.experiments]:
        for number, line in enumerate(files.sources.text(file).splitlines(), 1):
            said = USED.search(line) if file in files.experiments else None
            words = line if file in files.machines else said[1] if said else ""
            yield from ((name, f"{file}:{number}") for name in NAME.findall(words))


def predicted(name: str, experiment: Table) -> str | None:
    """The id of the row called `name`, or of its table, if the experiment says that it is predicted; otherwise None."""
    if row := rows_of(experiment).get(name):
        return name if kind_of(row) == "predicted" else None
    for table_id, table in tables_of(experiment).items():
        if name.startswith(table_id + "."):
            return table_id if kind_in_table(table, name) == "predicted" else None
    return None


def kind_findings(files: RowFiles) -> Iterator[Finding]:
    places = list(used(files))
    for file, experiment in files.experiments.items():
        for name, place in places:
            if row := predicted(name, experiment):
                what = f"{name} is predicted, but {place} names it as what a parameter comes from"
                yield files.finding_of_row(file, row, what)


# Breaks


def break_findings(files: RowFiles) -> Iterator[Finding]:
    """Predictions that name no known break. tools/breaks.py runs the breaks."""
    known = breaks.settings_of(files)
    used = set[str]()
    for name, row in breaks.predictions(files):
        file, named = f"{EXPERIMENTS}{name}.toml", row.get("broken_by")
        used.add(str(named))
        if named is None:
            what = "is predicted, but names no break that would lose it (broken_by): a row that no break can move is in sight"
            yield files.finding_of_row(file, row["id"], f"{row['id']} {what}")
        elif named not in known:
            yield files.finding_of_row(file, row["id"], f"{row['id']}: broken_by names no entry of {BREAKS}: {named}")
    for file, experiment in files.experiments.items():
        for table in experiment.get("table", []):
            if "tolerance_abs" in table and (table.get("predicted") or kind_of(table) == "predicted"):
                yield files.finding_of_row(
                    file, table["id"], f"{table['id']}: rows of a table have no break: they are in sight"
                )
    yield from (files.finding(BREAKS, f"[{name}]", f"no row is broken by {name}") for name in known.keys() - used)


# Documents


def compared(papers: Papers) -> dict[str, Table]:
    """The experiments that have rows. Leaves out those that a claim still awaits."""
    awaited = {claim["awaits"] for _, claim in claims(papers) if "awaits" in claim}
    return {name: one for name, one in papers.experiments.items() if own_ids(one) and name not in awaited}


def claim_problems(claim: Table, papers: Papers) -> Iterator[str]:
    if sum(way in claim for way in WAYS) != 1:
        yield f"a claim has one of {', '.join(WAYS)}"
        return
    yield from (f"there is no experiment {name}" for name in claim.get("run", []) if name not in papers.experiments)
    ids = [row_id for experiment in papers.experiments.values() for row_id in own_ids(experiment)]
    for prefix in claim.get("rows", []):
        if not any(begins(row_id, prefix) or begins(prefix, row_id) for row_id in ids):
            yield f"no experiment has a row that begins with {prefix}"
    misses = [row for _, row in papers_page.rows_of_claim(claim, papers) if is_miss(row)]
    unexplained = [row["id"] for row in misses if "why_off" not in row]
    if unexplained and "why_off" not in claim:
        yield f"misses without a why_off: {', '.join(unexplained)}"
    shown_by = [table["reason_tested"] for table in (claim, *misses) if "reason_tested" in table]
    yield from (f"reason_tested names no experiment: {name}" for name in shown_by if name not in papers.experiments)
    if not misses and "why_off" in claim:
        yield "has a why_off, but no row misses"


def claim_findings(papers: Papers, sources: SourceTree) -> Iterator[Finding]:
    for file, document in papers.documents.items():
        for section in document["section"]:
            for claim in section["claim"]:
                where = f'{document["document"]}, section {section["number"]}, "{claim["what"]}"'
                line = sources.line_of(file, claim["what"])
                yield from (Finding(file, line, f"{where}: {problem}") for problem in claim_problems(claim, papers))


def unknown_figures(papers: Papers, sources: SourceTree) -> Iterator[Finding]:
    prefixes = [prefix for _, claim in claims(papers) for prefix in claim.get("rows", [])]
    for name, experiment in compared(papers).items():
        file = f"{EXPERIMENTS}{name}.toml"
        for row_id in own_ids(experiment):
            if not any(begins(row_id, prefix) or begins(prefix, row_id) for prefix in prefixes):
                yield Finding(file, sources.line_of(file, row_id), f"{row_id} is in no claim of configs/papers")


def differs(row: Table, recorded: Table) -> bool:
    """Whether the row's figure, tolerance or kind differs from the record's."""
    pairs = [("value", "paper"), ("tolerance", "tolerance"), ("tolerance_abs", "tolerance_abs"), ("shape", "shape")]
    if kind_of(row) != recorded["kind"] or (not row.get("scored", True) and recorded["ok"] is not None):
        return True
    return any(row.get(ours) != recorded.get(theirs) for ours, theirs in pairs)


def stale_rows(experiment: Table, recorded: list[Table]) -> set[str]:
    """Rows that differ from the record."""
    rows = rows_of(experiment)
    tables = tables_of(experiment)
    stale = {row["id"] for row in recorded if row["id"] in rows and differs(rows[row["id"]], row)}
    stale |= rows.keys() - {row["id"] for row in recorded}
    for table_id, table in tables.items():
        of_table = [row for row in recorded if row["id"].startswith(table_id + ".")]
        stale |= {row["id"] for row in of_table if row["kind"] != kind_in_table(table, row["id"])}
        if not of_table and "tolerance_abs" in table:
            stale.add(table_id)
    starts = tuple(table_id + "." for table_id in tables)
    return stale | {row["id"] for row in recorded if row["id"] not in rows and not row["id"].startswith(starts)}


def record_findings(papers: Papers, sources: SourceTree) -> Iterator[Finding]:
    for name, experiment in compared(papers).items():
        for row_id in sorted(stale_rows(experiment, papers.record.get(name, []))):
            what = f"{row_id} of {name} is not recorded as it is: {AGAIN.format(name)}"
            yield Finding(RECORD, sources.line_of(RECORD, f'"{row_id}"'), what)
    for name in papers.record.keys() - papers.experiments.keys():
        yield Finding(RECORD, sources.line_of(RECORD, f'"{name}"'), f"there is no experiment {name} with rows")


def document_findings(
    papers: Papers, sources: SourceTree, page_text: str, readme_text: str = "", misses_text: str = ""
) -> list[Finding]:
    found = [*claim_findings(papers, sources), *unknown_figures(papers, sources), *record_findings(papers, sources)]
    if not found and papers_page.page(page_text, papers) != page_text:
        found.append(Finding(PAGE, 1, "is out of date: run tools/papers_page.py"))
    if not found and papers_page.misses_page(misses_text, papers) != misses_text:
        found.append(Finding(MISSES, 1, "its misses are out of date: run tools/papers_page.py"))
    if not found and papers_page.readme(readme_text, papers) != readme_text:
        found.append(Finding(README, 1, "its totals are out of date: run tools/papers_page.py"))
    return found


# First runs


def machines_of(experiment: Table) -> set[str]:
    """The names of all machines that the experiment runs on."""
    named = [experiment.get("machine"), *experiment.get("sweep", {}).get("machine", [])]
    for together in experiment.get("sweep", {}).get("together", []):
        named += together.get("machine", [])
    return {name for name in named if isinstance(name, str)}


def validation_is_complete(files: RowFiles) -> Iterator[Finding]:
    for file, experiment in files.validation.items():
        if "family" not in experiment:
            yield Finding(file, 1, 'no family = "...": what its rows are about')
    for file, row in files.own_rows():
        if "calibrated" in (row.get("kind"), *row):
            what = f"{row['id']}: nothing is fitted to a validation row: it can't be calibrated"
            yield files.finding_of_row(file, row["id"], what)
        if not row.get("source"):
            yield files.finding_of_row(file, row["id"], f"{row['id']}: where was this published? it has no source")
    for file, experiment in files.experiments.items():
        for row_id, row in rows_of(experiment).items() if file.startswith((VALIDATION, LATENCIES)) else ():
            if "why_off" in row and "miss" not in row:
                yield files.finding_of_row(file, row_id, f"{row_id}: a row with a why_off names its class of misses")


def figures_are_as_recorded(files: RowFiles, record: str) -> Iterator[Finding]:
    experiment = experiment_of(record)
    if experiment not in files.experiments:
        yield Finding(record, 1, f"{experiment} is gone, but its figures had been run")
        return
    rows = rows_of(files.experiments[experiment])
    for run in files.first_runs[record]["runs"]:
        for name, recorded in run["rows"].items():
            if name not in rows:
                yield Finding(experiment, 1, f"{name} is gone, but it was run on {run['date']}")
            elif has_changed(rows[name], recorded["published"]):
                what = f"{name} is not what it was when it was first run, on {run['date']}: see {record}"
                yield files.finding_of_row(experiment, name, what)


def machines_are_as_recorded(files: RowFiles, record: str) -> Iterator[Finding]:
    for run in files.first_runs[record]["runs"]:
        for name, recorded in run["machines"].items():
            machine = f"{MACHINES}{name}.toml"
            if machine not in files.machines:
                yield Finding(record, 1, f"{machine} is gone, but predictions of {run['date']} were made on it")
                continue
            was = {path: canonical(value) for path, value in recorded.items()}
            for path, change in unexplained(files.machines[machine], was):
                what = f"{path} was {change[0]} when predictions were first run, on {run['date']}, and is {change[1]}"
                no_history = f"{what}: [[history]] doesn't lead from one to the other"
                yield files.finding(machine, path.rsplit(".", 1)[-1], no_history)


def unexplained(machine: Table, recorded: Table) -> Iterator[tuple[str, tuple[object, object]]]:
    """Parameters that differ from the record without [[history]] entries that lead from the recorded value to the
    present one."""
    now = parameters(machine)
    steps = [
        (path, canonical(before), canonical(after))
        for entry in machine.get("history", [])
        for path, (before, after) in parameters_of_steps(entry)
    ]
    for path in sorted(recorded.keys() | now.keys()):
        was, becomes = recorded.get(path, LEFT_OUT), now.get(path, LEFT_OUT)
        if was == becomes:
            continue
        own = [step[1:] for step in steps if step[0] == path]
        if all(before != was for before, _ in own) or own[-1][1] != becomes:
            yield path, (was, becomes)


def machines_are_fitted_to_other_things(files: RowFiles) -> Iterator[Finding]:
    predictions = {name for experiment in files.validation.values() for name in rows_of(experiment)}
    calibrated = {
        name: file
        for file, experiment in files.experiments.items()
        if file not in files.validation
        for name, row in rows_of(experiment).items()
        if kind_of(row) == "calibrated"
    }
    used_machines = set[str]().union(*map(machines_of, files.validation.values()))
    latencies = [experiment for file, experiment in files.experiments.items() if file.startswith(LATENCIES)]
    fitted = set[str]().union(*map(machines_of, latencies))
    for machine in sorted(f"{MACHINES}{name}.toml" for name in used_machines):
        # A machine with latency experiments may be calibrated only to these.
        has_latencies = PurePosixPath(machine).stem in fitted
        legal = {name for name, file in calibrated.items() if file.startswith(LATENCIES) or not has_latencies}
        for path, source in files.machines.get(machine, {}).get("sources", {}).items():
            if not source.startswith("calibrated:"):
                continue
            words = [word.rstrip(".") for word in WORD.findall(source.removeprefix("calibrated:"))]
            if any(begins(name, word) for word in words if "." in word for name in predictions):
                what = "calibrated to a validation row, which is then no prediction"
                yield files.finding(machine, source, f"{path}: {what}")
            elif not any(begins(name, word) for word in words for name in legal) and not any(map(is_file, words)):
                what = "calibrated to what? no word of it is a calibrated row or a file with measurements"
                yield files.finding(machine, source, f"{path}: {what}")


def is_file(word: str) -> bool:
    return "/" in word and Path(word).is_file()


def first_run_findings(files: RowFiles) -> Iterator[Finding]:
    yield from validation_is_complete(files)
    for record in files.first_runs:
        yield from figures_are_as_recorded(files, record)
        yield from machines_are_as_recorded(files, record)
    yield from machines_are_fitted_to_other_things(files)


def findings(sources: SourceTree) -> Iterator[Finding]:
    files = RowFiles(sources)
    yield from kind_findings(files)
    yield from break_findings(files)
    yield from tolerance_findings(files)
    texts = [sources.text(page) for page in (PAGE, README, MISSES)]
    yield from document_findings(papers_page.papers_of(files), sources, *texts)
    yield from first_run_findings(files)
    history = History(sources.root)
    if not history.is_whole():
        print("The order of commits was not checked: git's whole history isn't here.", file=sys.stderr)
        return
    for record in files.first_runs:
        yield from order_of_commits(record, files, history)
        yield from first_runs_are_first(record, files, history)
