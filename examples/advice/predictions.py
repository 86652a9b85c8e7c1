#!/usr/bin/env python3
"""Asks `linebounce advise` about the example programs, and writes what it recommends into the table of docs/real-programs.md.

predictions.py [-b BUILD] [-o OUTPUT] [--print] [PROGRAM...]

A row is one recommendation: what it gains by the prediction, on two machines; by the program with the change in its source
(-DCURED and the like), recorded again; and as published, where the program is modelled on one whose cure was measured
(`// published: PERCENT SOURCE` in its head). Published figures are of other machines and of larger programs, so only their
signs are compared. --print: writes no file. `./dev reproduce advice` runs this; it takes some five minutes.
"""

import argparse
import json
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import confusion  # noqa: E402
from reproduce import ROOT, Tools  # noqa: E402

PAGE = ROOT / "docs" / "real-programs.md"
BEGIN, END = "<!-- predictions: begin -->", "<!-- predictions: end -->"
HEAD = ["program", "recommended", "predicted", "changed source", "published", "sign"]
# Examples beside those of this folder, with the flag of the recommended change; that of the others is another change.
OTHERS = {"counters.c": "-DPADDED", "hash_table.c": "", "memory_pool.c": "", "log_queue.cpp": ""}
Change = dict[str, Any]  # of advise.json
PUBLISHED = re.compile(r"^// published: ([+-][\d.]+) % (.+)$", re.MULTILINE)


@dataclass
class Published:
    gain_pct: float
    source: str


@dataclass
class Row:
    program: str
    recommended: str
    predicted: list[float]  # by machine
    changed_pct: float | None  # of the change in the source; none: it is another change
    published: Published | None

    @property
    def sign(self) -> str:
        known = [gain for gain in (self.changed_pct, self.published.gain_pct if self.published else None) if gain is not None]
        if not known:
            return "no measure"
        return "right" if all((gain > 0) == (self.predicted[0] > 0) for gain in known) else "WRONG"

    def cells(self) -> list[str]:
        return [
            self.program,
            self.recommended,
            " / ".join(f"{gain:+.0f} %" for gain in self.predicted),
            "" if self.changed_pct is None else f"{self.changed_pct:+.0f} %",
            "" if self.published is None else f"{self.published.gain_pct:+g} %, {self.published.source}",
            self.sign,
        ]


def published_in(source: Path) -> Published | None:
    found = PUBLISHED.search(source.read_text(encoding="utf-8"))
    return Published(float(found[1]), found[2]) if found else None


def changes_of(tools: Tools, trace: Path) -> list[Change]:
    """All that is recommended, with or without a condition."""
    directory = tools.output / "advise" / trace.stem
    page = json.loads((directory / "advise.json").read_text(encoding="utf-8"))
    changes: list[Change] = page["changes"] + page["conditional"]
    return changes


def in_short(change: Change) -> str:
    what: str = change["what"].split(": ")[0]
    return what + (" (if the program can do without something)" if change["only_if"] else "")


def rows_of(tools: Tools, program: confusion.Program, name: str, cure: str) -> list[Row]:
    trace = confusion.record(tools, program)
    confusion.advice(tools, trace)
    rows = []
    for number, change in enumerate(changes_of(tools, trace)):
        is_cure = number == 0 and (confusion.concerns(program, change["what"]) if program.has_cure else cure != "")
        changed = confusion.gain_of(tools, program, trace, cure) if is_cure and cure else None
        gains = [gain["change_pct"] for gain in change["gains"]]
        rows.append(Row(name, in_short(change), gains, changed, published_in(program.source) if is_cure else None))
    return rows or [Row(name, "nothing", [0.0], None, None)]


def programs() -> dict[str, tuple[confusion.Program, str]]:
    """Each with the flag of its known cure; empty: it has none."""
    found = {name: (program, "-DCURED" if program.has_cure else "") for name, program in confusion.programs().items()}
    for file, cure in OTHERS.items():
        source = HERE.parent / file
        found[source.stem] = (confusion.Program(source, "bottleneck", "", []), cure)
    return found


def table(rows: list[Row]) -> str:
    lines = [HEAD, ["---"] * len(HEAD), *(row.cells() for row in rows if row.recommended != "nothing")]
    nothing = [f"`{row.program}`" for row in rows if row.recommended == "nothing"]
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return text + ("\n\n" + textwrap.fill(f"Nothing is recommended for {', '.join(nothing)}.", 120) if nothing else "")


def written(page: str, new: str) -> str:
    head, _, rest = page.partition(BEGIN)
    _, found, tail = rest.partition(END)
    if not found:
        sys.exit(f"predictions.py: {PAGE} has no {BEGIN} ... {END}")
    return f"{head}{BEGIN}\n\n{new}\n\n{END}{tail}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "examples" / "predictions")
    parser.add_argument("--print", action="store_true", dest="prints")
    parser.add_argument("programs", metavar="PROGRAM", nargs="*")
    options = parser.parse_args()
    known = programs()
    if unknown := set(options.programs) - known.keys():
        parser.error(f"there is no program {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    tools = Tools(options.build, options.output)
    rows: list[Row] = []
    for name in options.programs or known:
        program, cure = known[name]
        found = rows_of(tools, program, name, cure)
        rows += found
        for row in found:
            print("  " + "  ".join(cell for cell in row.cells() if cell), flush=True)
    if not options.prints and not options.programs:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), table(rows)), encoding="utf-8")
    wrong = [row for row in rows if row.sign == "WRONG"]
    print(f"\n{len(rows)} rows, {len(wrong)} with the wrong sign")
    return 0


if __name__ == "__main__":
    sys.exit(main())
