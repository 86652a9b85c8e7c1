"""The report of `linebounce advise`: the advice, its evidence and its limits as an HTML page that can be passed on."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from linebounce.errors import InputError
from linebounce.page_policy import page_policy
from linebounce.results import read_document, reading

FILE = "advise.json"
_SCHEMA = "linebounce.advise/1"
_SMALLEST_SHARE = 1.0  # percent; smaller shares of the time become one row
_FASTER = " times as fast"
_FACTOR_ABOVE = 200.0  # percent; a larger change is shown as a factor, as on the terminal
# For each list of changes, its heading; None: under the page's own.
_LISTS = {
    "changes": None,
    "depends": "Only on some machines",
    "conditional": "Only if the program can do without something",
    "seldom": "Only in some of the recordings",
}
# For each list of sentences, its heading.
_SENTENCES = {
    "words": "Words that behave like locks",
    "also_gains": "Gains too, but unconfirmed, or no more than what is advised",
    "no_help": "Tried without a gain",
    "not_offered": "Not offered",
    "not_tried": "Not tried",
    "missing": "Not seen by the recorder",
    "assumptions": "Assumed about the machines",
}

Document = Mapping[str, Any]


def is_advice(directory: Path) -> bool:
    try:
        return (directory / FILE).exists() and not (directory / "results.json").exists()
    except OSError:  # the path can't be a file's; opening it later reports that
        return False


def read_advice(directory: Path) -> Document:
    """Raises InputError unless the file was written by this version's `linebounce advise`."""
    path = directory / FILE
    document: Document = read_document(path, json.loads)
    with reading(path):
        if document["schema"] != _SCHEMA:
            raise InputError(f'{path}: its schema is "{document["schema"]}", and this version of linebounce reads "{_SCHEMA}"')
    return document


def make_advice_page(directory: Path, document: Document) -> str:
    """The HTML page. It has no scripts and fetches nothing. Raises InputError for a document with missing parts."""
    from linebounce.report.page import environment  # noqa: PLC0415  # Jinja takes a moment to load

    with reading(directory / FILE):
        template = environment().get_template("advice.html")
        return template.render(
            policy=page_policy(),
            document=document,
            name=Path(document["trace"]).name,
            times=[_time(account) for account in document["time"] if account["ticks"]],
            lists=list(_changes(document)),
            sentences=[(title, document[key]) for key, title in _SENTENCES.items() if document[key]],
            rechecked=[_rechecked(each) for each in document["recheck"]],
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        )


def _time(account: Document) -> dict[str, Any]:
    """One machine's rows: percent and sentence, the largest first. Small shares are together in the last row."""
    rows = [(share["pct"], share["text"]) for share in account["shares"]]
    large = [row for row in rows if row[0] >= _SMALLEST_SHARE]
    if small := rows[len(large) :]:
        noun = "smaller share" if len(small) == 1 else "smaller shares"
        large.append((sum(pct for pct, _ in small), f"{len(small)} {noun}"))
    return {"machine": account["machine"], "rows": large}


def _changes(document: Document) -> Iterator[tuple[str | None, Sequence[dict[str, Any]]]]:
    """The lists that have changes. Those of the first and the third list have numbers, to which alternatives refer."""
    number = 0
    for key, title in _LISTS.items():
        shown = []
        for change in document[key]:
            numbered = key in ("changes", "conditional")
            number += numbered
            shown.append(_change(change, document["recordings"]) | {"number": number if numbered else None})
        if shown:
            yield title, shown


def _change(change: Document, recordings: int) -> dict[str, Any]:
    facts = []
    if change["seen"]:
        facts.append(f"Seen: {change['seen']}.")
    if change["alternative_to"]:
        facts.append(f"An alternative to change {change['alternative_to']}: both change the same.")
    if change["remains"]:
        facts.append(change["remains"])
    if recordings > 1:
        facts.append(f"Advised by {change['recordings']} of {recordings} recordings.")
    facts += [f"Not tried on {machine}." for machine in change["not_tried_on"]]
    if change["source"]:
        facts.append(f"Declared at {change['source']}.")
    if change["no_diff"]:
        facts.append(f"No diff: {change['no_diff']}.")
    checks = [f"Only if {change['only_if']}."] if change["only_if"] else []
    checks += [f"Check: {caution}." for caution in change["cautions"]]
    return {
        "what": change["what"],
        "gains": [_gain(gain) for gain in change["gains"]],
        "facts": facts,
        "checks": checks,
        "code": change["diff"] or change["edit"],
    }


def _gain(gain: Document) -> dict[str, str]:
    low, high = gain["change_low_pct"], gain["change_high_pct"]
    remarks = ["confirmed in other interleavings"] if gain["confirmed"] else []
    if gain["part"]:
        remarks.append(f"with {' and '.join(gain['part'])} alone")
    return {
        "machine": gain["machine"],
        "change": _percent_or_factor(gain["change_pct"], gain["change_pct"]),
        "interval": " to ".join(_percent_or_factor(end, gain["change_pct"]).removesuffix(_FASTER) for end in (low, high)),
        "verdict": "good" if low > 0 else "bad" if high < 0 else "",
        "remark": ", ".join(remarks),
    }


def _percent_or_factor(pct: float, of: float) -> str:
    """`pct` in the form in which a change of `of` percent is shown."""
    return f"{1 + pct / 100:.1f}{_FASTER}" if of > _FACTOR_ABOVE else f"{pct:+.1f} %"


def _rechecked(it: Document) -> dict[str, Any]:
    if not it["comparable"]:
        verdict = f"not comparable, for it has {it['operations']} operations in place of {it['operations_before']}"
    else:
        verdict = "the prediction held" if it["held"] else "the prediction did not hold"
    return {
        "machine": it["machine"],
        "change": it["change"],
        "measured": _percent_or_factor(it["change_pct"], it["change_pct"]),
        "predicted": _percent_or_factor(it["predicted_pct"], it["predicted_pct"]),
        "verdict": verdict,
        "good": it["comparable"] and it["held"],
    }
