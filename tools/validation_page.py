#!/usr/bin/env python3
"""Writes docs/validation-results.md and README's counts from what was found: validation_page.py [OUT/validation.json]

A test holds the page and the picture in README to what the program finds. After a change of machines or predictions:

    linebounce validate && tools/validation_page.py && linebounce report out/validate --figures docs/pictures
"""

import json
import re
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "validation-results.md"
README = ROOT / "README.md"
BETWEEN = re.compile(r"(?<=<!-- written by tools/validation_page.py -->\n).*(?=<!-- end -->\n)", re.DOTALL)
COLUMNS = 120
# Matches the cells of the present-day machines' row in README's table.
COUNTS = re.compile(r"(?<=^\| ten machines of 2009 to 2022 \| ).*(?= \|$)", re.MULTILINE)
# Matches README's sentences about predictions for the present-day machines.
PREDICTIONS = re.compile(
    r"\d+ of \d+ predicted signs are right\. Half of the \d+ predicted sizes are within [\d.]+ %".replace(" ", r"\s+")
)
KINDS = {"calibrated": "fitted", "in_sight": "in sight", "predicted": "predicted"}
SIGNS = {"gain": "a gain", "loss": "a loss", "none": "no effect"}
TALLIES = ("within_15_pct", "within_30_pct", "signs", "orders", "within_tolerance")
# For each class of reasons, how many of the validation page's figures were out of tolerance before there was any contention
# mechanism (68 in all). Counted by hand on commit 58ce6ba. A figure counts in the class that fits best.
CLASSES = {
    "load": ("the experiment's guess of the load", 25),
    "machine": ("another machine or number of CPUs", 12),
    "turns": ("who gets a contended line, and for how long", 10),
    "waiters": ("spin waiters against the releaser", 7),
    "overlap": ("overlap in a core out of order", 7),
    "siblings": ("sibling threads", 3),
    "clean_owner": ("a clean line from its owner", 2),
    "other": ("others", 2),
}
WINNABLE = ("turns", "waiters", "overlap", "siblings", "clean_owner")
HEAD = (
    "| rows | number | median error | within 15 % | within 30 % | sign right | order right | within tolerance |\n"
    "|---|---|---|---|---|---|---|---|\n"
)

Document = dict[str, Any]


def score_row(title: str, score: Document) -> str:
    if score["rows"] == 0:
        return ""
    error = "" if score["median_error"] is None else f"{100 * score['median_error']:.1f} %"
    counts = [f"{score[key]['right']} of {score[key]['of']}" if score[key]["of"] else "" for key in TALLIES]
    return f"| {' | '.join([title, str(score['rows']), error, *counts])} |\n"


def counts(document: Document) -> str:
    text = HEAD + "".join(score_row(title, document["score"][kind]) for kind, title in KINDS.items())
    for family, kinds in document["families"].items():
        text += score_row(f"predicted: {family.replace('_', ' ')}", kinds["predicted"])
    for machine, kinds in document["machines"].items():
        text += score_row(f"predicted: `{machine}`", kinds["predicted"])
    return text


def is_miss(row: Document) -> bool:
    return row["ok"] is False or row.get("sign_right") is False


def classes(own: list[Document]) -> str:
    """The number of misses in each class. Exits if a missing row names no class, or a row that doesn't miss names one."""
    wrong = [row["id"] for row in own if is_miss(row) != ("miss" in row)]
    if wrong:
        sys.exit(f"`miss` names the class of a row that misses, and of no other: {', '.join(wrong)}")
    now = Counter(row["miss"] for row in own if "miss" in row)
    text = "| misses because of | `miss` | before | now |\n|---|---|---|---|\n"
    for name, (title, before) in CLASSES.items():
        text += f"| {title} | `{name}` | {before} | {now[name]} |\n"
    winnable = sum(CLASSES[name][1] for name in WINNABLE), sum(now[name] for name in WINNABLE)
    text += f"| turns, waiters, overlap, siblings and clean_owner together | | {winnable[0]} | {winnable[1]} |\n"
    return text + f"| all | | {sum(before for _, before in CLASSES.values())} | {now.total()} |\n"


def figure(row: Document, value: object) -> str:
    if isinstance(value, list):
        return " → ".join(figure(row, each) for each in value)
    if not isinstance(value, int | float):
        return "nothing"
    if "relative_to" in row and not row["difference"]:
        return f"{100 * value:+.1f} %"
    rounded = float(f"{value:.4g}")
    digits = f"{rounded:,.0f}" if rounded >= 1000 else f"{rounded:g}"
    return f"{digits}/s" if row["unit"] == "1/s" else f"{digits} {row['unit']}".rstrip()


def published(row: Document) -> str:
    if row.get("paper") is not None:
        return figure(row, row["paper"])
    return SIGNS.get(row.get("sign", "")) or row.get("shape") or "rising"


def miss(row: Document) -> str:
    why = row.get("why_off", "no reason known")
    figures = f"{figure(row, row['simulated'])}, published {published(row)}"
    text = f"- `{row['id']}` on `{row['machine']}`, {KINDS[row['kind']]} {figures}: {why}."
    return textwrap.fill(text, COLUMNS, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False) + "\n"


def distance(row: Document) -> float:
    """A sort key: larger errors are larger, and a change in the wrong direction is largest."""
    ratio: float | None = row["simulated_over_published"]
    if row.get("sign_right") is False or ratio is None or ratio <= 0:
        return float("inf")
    return max(ratio, 1 / ratio)


def tables(document: Document) -> str:
    own = [row for row in document["rows"] if row["family"] != "documents"]
    misses = sorted(filter(is_miss, own), key=distance, reverse=True)
    return f"\n{counts(document)}\n{classes(own)}\n" + ("".join(map(miss, misses)) + "\n" if misses else "")


def cells(document: Document) -> str:
    """The cells of README's row of counts, from the document of `validate --json`."""
    verdict = document["verdicts"]["present_day"]
    fitted, in_sight, own = (verdict[kind] for kind in KINDS)
    within = ["{right} of {of}".format(**kind["within_tolerance"]) for kind in (fitted, in_sight, own)]
    return f"{within[0]} | {within[1]} | {in_sight['guess']} | {within[2]} | {own['guess']} | {own['lost_when_broken']}"


def predictions(document: Document) -> str:
    """README's sentences about predictions, from the document of `validate --json`."""
    predicted = document["score"]["predicted"]
    signs = "{right} of {of}".format(**predicted["signs"])
    return (
        f"{signs} predicted signs are right. Half of the {predicted['figures']} predicted sizes are "
        f"within {100 * predicted['median_error']:.1f} %"
    )


def readme(text: str, document: Document) -> str:
    """README with up-to-date counts. A paragraph whose figures have changed is wrapped anew."""
    text = COUNTS.sub(cells(document), text)
    found = PREDICTIONS.search(text)
    if not found or " ".join(found[0].split()) == predictions(document):
        return text
    start, end = text.rfind("\n\n", 0, found.start()) + 2, text.find("\n\n", found.end())
    paragraph = PREDICTIONS.sub(lambda _: predictions(document), " ".join(text[start:end].split()))
    return text[:start] + textwrap.fill(paragraph, COLUMNS, break_on_hyphens=False, break_long_words=False) + text[end:]


def page(text: str, document: Document) -> str:
    """The page with up-to-date tables."""
    return BETWEEN.sub(lambda _: tables(document), text, count=1)


def main() -> int:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "out" / "validate" / "validation.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    for path, written in ((PAGE, page), (README, readme)):
        path.write_text(written(path.read_text(encoding="utf-8"), document), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
