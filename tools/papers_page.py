#!/usr/bin/env python3
"""Writes docs/every-figure.md, the misses in docs/papers-misses.md and README's totals: papers_page.py [REPRODUCED.json]

configs/papers has the documents' sections with their figures, tables and claims, and the latest result of each in
results.json. tools/lint_rows.py checks that the page, the experiments and this record agree. After a change:

    linebounce reproduce --json > out/reproduce.json && tools/papers_page.py out/reproduce.json

`linebounce reproduce NAME --json` will do: experiments that the file doesn't have keep their record. Without a file the
page is written again from the record.
"""

import json
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import median

from rows import EXPERIMENTS, LATENCIES, PAPERS, VALIDATION, RowFiles, Table, begins
from source_tree import ROOT, SourceTree

RECORD = PAPERS + "results.json"
PAGE = "docs/every-figure.md"
MISSES = "docs/papers-misses.md"
README = "README.md"
BETWEEN = re.compile(r"(?<=<!-- written by tools/papers_page.py -->\n).*(?=<!-- end -->\n)", re.DOTALL)
# Matches the cells of the documents' row in README's table.
TOTALS = re.compile(r"(?<=^\| five documents on Linux \| ).*(?= \|$)", re.MULTILINE)
SHARES_GUESSED = (0.0, 33.3, 50.0, 66.7, 100.0)
DOCUMENTS = ("ols2002", "ols2004", "ols2007", "mail2005", "mail2011")
KINDS = {"calibrated": "calibrated", "in_sight": "in sight", "predicted": "predicted", "input": "input"}
# The keys that the record keeps of a row of `linebounce reproduce --json`.
KEPT = (
    "id",
    "metric",
    "order",
    "shape",
    "sign",
    "difference",
    "paper",
    "simulated",
    "unit",
    "tolerance",
    "tolerance_abs",
    "kind",
    "ok",
    "why_off",
    "reason_tested",
    "broken_by",
)
COLUMNS = 120
THOUSANDS_FROM = 1e4  # rates, as in the tables of the program
MANY_TIMES = 10  # from this factor on, a change is shown as a factor, not in percent


@dataclass(frozen=True)
class Papers:
    documents: dict[str, Table]  # by file: configs/papers/*.toml
    experiments: dict[str, Table]  # the files of the documents' experiments, by name
    record: dict[str, list[Table]]  # by experiment: the rows that `reproduce` found last time


def claims(papers: Papers) -> Iterator[tuple[Table, Table]]:
    """Pairs of a section and a claim in it."""
    for document in papers.documents.values():
        yield from claims_of(document)


def claims_of(document: Table) -> Iterator[tuple[Table, Table]]:
    for section in document["section"]:
        for claim in section["claim"]:
            yield section, claim


def read_record(sources: SourceTree) -> dict[str, list[Table]]:
    record: dict[str, list[Table]] = sources.json(RECORD) if RECORD in sources else {}
    return record


def papers_of(files: RowFiles) -> Papers:
    documents = [f"{PAPERS}{name}.toml" for name in DOCUMENTS]
    experiments = {
        file.removeprefix(EXPERIMENTS).removesuffix(".toml"): experiment
        for file, experiment in files.experiments.items()
        if not file.startswith((LATENCIES, VALIDATION))
    }
    return Papers({file: files.documents[file] for file in documents}, experiments, read_record(files.sources))


def recorded(reproduced: Table, record: dict[str, list[Table]]) -> dict[str, list[Table]]:
    """The record with `reproduce`'s results in place of older ones."""
    now = {
        entry["experiment"]: [{key: row[key] for key in KEPT if key in row} for row in entry["paper"]]
        for entry in reproduced["experiments"]
    }
    return dict(sorted({**record, **now}.items()))


def write_record(record: dict[str, list[Table]]) -> None:
    parts = []
    for experiment, rows in record.items():
        lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
        parts.append(f" {json.dumps(experiment)}: [\n{lines}\n ]")
    (ROOT / RECORD).write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def rows_of_claim(claim: Table, papers: Papers) -> list[tuple[str, Table]]:
    """Pairs of experiment and row for each row that the claim names."""
    return [
        (experiment, row)
        for experiment, rows in papers.record.items()
        for row in rows
        if any(begins(row["id"], prefix) for prefix in claim.get("rows", []))
    ]


def is_miss(row: Table) -> bool:
    return row["ok"] is False


def command(name: str) -> str:
    return f"linebounce what-if {name}" if name.startswith("what_if/") else f"linebounce run {name}"


def experiments_of(claim: Table, papers: Papers) -> list[str]:
    names = [experiment for experiment, _ in rows_of_claim(claim, papers)] + claim.get("run", [])
    return list(dict.fromkeys(names))


def commands(claim: Table, papers: Papers) -> list[str]:
    """The commands that run the claim, for the table of contents."""
    return [claim["command"]] if "command" in claim else [command(name) for name in experiments_of(claim, papers)]


def code(words: list[str]) -> str:
    return "<br>".join(f"`{word}`" for word in words)


def within(rows: list[Table], kind: str) -> str:
    """How many of the scored rows of this kind are within tolerance: `2 of 3`. Empty if there are none."""
    scored = [row for row in rows if row["kind"] == kind and row["ok"] is not None]
    return f"{sum(not is_miss(row) for row in scored)} of {len(scored)}" if scored else ""


def is_guessed(row: Table, rows: list[Table]) -> bool:
    """Whether a trivial guess is within the row's tolerance. The guess is the one that `linebounce validate` makes: no
    change for a change, flat for a shape, for a share in a measured table the best of five shares, and otherwise the
    median of the other figures in the same column. A test compares both."""
    if "shape" in row or "order" in row:
        return bool(row.get("shape") == "flat")
    if "sign" in row:
        return bool(row["sign"] == "none")
    if "difference" in row:
        return is_near(row, 0)
    if row.get("metric", "").startswith("table."):
        return any(is_near(row, share) for share in SHARES_GUESSED)
    column = row.get("metric", "").rpartition(".")[2]
    others = [
        other["paper"]
        for other in rows
        if other is not row
        and other.get("metric", "").rpartition(".")[2] == column
        and other.get("paper") is not None
        and not {"shape", "difference"} & other.keys()
    ]
    return bool(others) and is_near(row, median(others))


def is_near(row: Table, figure: float) -> bool:
    allowed = row.get("tolerance_abs", row.get("tolerance", 0) * abs(row["paper"]))
    return bool(abs(figure - row["paper"]) <= allowed)


def verdict(groups: list[list[Table]], kind: str) -> Table:
    """The verdict on the scored rows of this kind, grouped by experiment, in the form of `validate --json`."""
    scored = [(row, group) for group in groups for row in group if row["kind"] == kind and row["ok"] is not None]
    hits = [row for row, _ in scored if row["ok"]]
    found = {
        "within_tolerance": {"right": len(hits), "of": len(scored)},
        "guess": sum(is_guessed(row, group) for row, group in scored),
    }
    return found | ({"lost_when_broken": sum("broken_by" in row for row in hits)} if kind == "predicted" else {})


def tally(rows: list[Table]) -> str:
    """How many rows of each kind are within tolerance: `predicted 2 of 3, calibrated 1 of 1`."""
    parts = [f"{title} {counted}" for kind, title in KINDS.items() if (counted := within(rows, kind))]
    shown = sum(row["ok"] is None for row in rows)
    if shown:
        parts.append(f"{shown} shown only")
    return ", ".join(parts)


def reason(claim: Table, papers: Papers) -> str:
    """Why the claim's rows miss: the claim's own reason, otherwise those of its rows."""
    of_rows = [row.get("why_off", "") for _, row in rows_of_claim(claim, papers) if is_miss(row)]
    return claim.get("why_off") or "; ".join(dict.fromkeys(filter(None, of_rows)))


def state(claim: Table, papers: Papers) -> str:
    if "cannot" in claim:
        return f"not asked: {claim['cannot']}"
    if "awaits" in claim:
        return f"to come, with `{claim['awaits']}`"
    if "rows" not in claim:
        return "shown; no figure to compare"
    found = [(experiment, list(group)) for experiment, group in groupby(rows_of_claim(claim, papers), key=lambda pair: pair[0])]
    parts = [(f"`{experiment}`: " if len(found) > 1 else "") + tally([row for _, row in rows]) for experiment, rows in found]
    why = f". **Misses**: {why}" if (why := reason(claim, papers)) else ""
    return "; ".join(parts) + why


def how(claim: Table, papers: Papers) -> list[str]:
    """The command that runs a claim's rows and no others; for a claim without rows, the whole experiment."""
    if "rows" not in claim:
        return commands(claim, papers)
    return [f"linebounce reproduce {' '.join(claim['rows'])}"]


def escaped(text: str) -> str:
    return text.replace("|", "\\|")


def contents(papers: Papers) -> str:
    """The table of contents: each section with the commands that run it."""
    text = "## From a section to its command\n"
    for document in papers.documents.values():
        text += (
            f"\n{document['document']}, {document['authors']}: {document['title']}\n\n| section | | command |\n|---|---|---|\n"
        )
        for section in document["section"]:
            words = [word for claim in section["claim"] for word in commands(claim, papers)]
            text += f"| {section['number']} | {escaped(section['title'])} | {code(list(dict.fromkeys(words)))} |\n"
    return text


def claim_tables(papers: Papers) -> str:
    text = ""
    for document in papers.documents.values():
        text += f"\n## {document['document']}\n\n| section | figure, table or claim | state | command |\n|---|---|---|---|\n"
        for section, claim in claims_of(document):
            cells = [section["number"], escaped(claim["what"]), escaped(state(claim, papers)), code(how(claim, papers))]
            text += f"| {' | '.join(cells)} |\n"
    return text


def figure(row: Table, value: object) -> str:
    if isinstance(value, list):
        return " → ".join(figure(row, each) for each in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "nothing"
    if row.get("difference") is False:
        return f"{100 * value:+.1f} %" if value < MANY_TIMES else f"{value + 1:.4g} times"
    if row["unit"] == "1/s":
        return f"{value / 1000:.4g} k/s" if value >= THOUSANDS_FROM else f"{value:.4g} /s"
    return f"{value:.4g} {row['unit']}".rstrip()


def published(row: Table) -> str:
    if row.get("paper") is not None:
        return figure(row, row["paper"])
    return row.get("sign") or row.get("shape") or "rising"


def outcome(row: Table) -> str:
    if row["ok"] is None:
        return "shown only"
    return "**miss**" if is_miss(row) else "within"


def all_rows(papers: Papers) -> str:
    text = "\n## Row by row\n\nEach line is a `[[paper]]` row of the experiment, or one of its `[[table]]`s.\n"
    for experiment, rows in papers.record.items():
        text += f"\n### {experiment}\n\n| row | published | simulated | kind | |\n|---|---|---|---|---|\n"
        for row in rows:
            cells = [f"`{row['id']}`", published(row), figure(row, row["simulated"]), KINDS[row["kind"]], outcome(row)]
            text += f"| {' | '.join(cells)} |\n"
    return text


def summary(papers: Papers) -> str:
    rows = [row for group in papers.record.values() for row in group]
    all_claims = [claim for _, claim in claims(papers)]
    counted = {
        "compared with a figure": sum("rows" in claim for claim in all_claims),
        "shown without one": sum("run" in claim or "command" in claim for claim in all_claims),
        "not asked": sum("cannot" in claim for claim in all_claims),
        "to come": sum("awaits" in claim for claim in all_claims),
    }
    numbers = ", ".join(f"{number} are {what}" for what, number in counted.items() if number)
    text = f"Of {len(all_claims)} figures, tables and claims {numbers}. Rows within tolerance: {tally(rows)}."
    return textwrap.fill(text, COLUMNS, break_on_hyphens=False) + "\n"


def tables(papers: Papers) -> str:
    return f"\n{summary(papers)}\n{contents(papers)}{claim_tables(papers)}{all_rows(papers)}\n"


def page(text: str, papers: Papers) -> str:
    """The page with up-to-date tables."""
    return BETWEEN.sub(lambda _: tables(papers), text, count=1)


def misses(papers: Papers) -> str:
    """Every row that misses, grouped by claim, with the reason and the experiment that tests the reason."""
    text = "\n| | misses | because | tested by |\n|---|---|---|---|\n"
    for document in papers.documents.values():
        for section, claim in claims_of(document):
            found = [row for _, row in rows_of_claim(claim, papers) if is_miss(row)]
            for why, rows in grouped_by_reason(found, claim):
                tested = next((row["reason_tested"] for row in rows if "reason_tested" in row), claim.get("reason_tested"))
                ids = ", ".join(f"`{row['id'].partition('.')[2]}`" for row in rows)
                place = f"{document['document']}, {section['number']}"
                text += f"| {place} | {ids} | {escaped(why)} | {f'`{tested}`' if tested else 'untested'} |\n"
    return text + "\n"


def grouped_by_reason(rows: list[Table], claim: Table) -> Iterator[tuple[str, list[Table]]]:
    reasons: dict[str, list[Table]] = {}
    for row in rows:
        reasons.setdefault(row.get("why_off") or claim["why_off"], []).append(row)
    yield from reasons.items()


def misses_page(text: str, papers: Papers) -> str:
    return BETWEEN.sub(lambda _: misses(papers), text, count=1)


def totals(papers: Papers) -> str:
    groups = list(papers.record.values())
    calibrated, in_sight, predicted = (verdict(groups, kind) for kind in ("calibrated", "in_sight", "predicted"))
    within = ["{right} of {of}".format(**each["within_tolerance"]) for each in (calibrated, in_sight, predicted)]
    lost = predicted["lost_when_broken"]
    return f"{within[0]} | {within[1]} | {in_sight['guess']} | {within[2]} | {predicted['guess']} | {lost}"


def readme(text: str, papers: Papers) -> str:
    """README with up-to-date totals."""
    return TOTALS.sub(totals(papers), text)


def main() -> int:
    if len(sys.argv) > 1:
        reproduced = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
        write_record(recorded(reproduced, read_record(SourceTree.of_git())))
    sources = SourceTree.of_git()
    papers = papers_of(RowFiles(sources))
    for name, written in ((PAGE, page), (MISSES, misses_page), (README, readme)):
        (ROOT / name).write_text(written(sources.text(name), papers), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
