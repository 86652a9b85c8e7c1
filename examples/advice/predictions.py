#!/usr/bin/env python3
"""Asks `linebounce advise` about the example programs, and writes what it recommends into the table of docs/advice-accuracy.md.

predictions.py [-b BUILD] [-o OUTPUT] [--print] [--check] [PROGRAM...]

A row is one recommendation: what it gains by the prediction, on two machines; by the program with the change in its source
(-DCURED and the like), recorded again; and as published, where the program is modelled on one whose cure was measured
(`// published: PERCENT % SOURCE` in its head). Published figures are of other machines and of larger programs, so only their
signs are compared; 0 is no difference. Where a known cure is not recommended, the row says so: it was missed. `// why: REASON`
in a program's head is printed for a row that is wrong or missed.

With PROGRAMs only their rows are written again. --print: writes no file. --check: writes none either, and ends with exit code 1
if a program's first recommendation or its sign is not the table's, in three recordings. `./dev reproduce advice` runs this,
which takes some ten minutes.
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

PAGE = ROOT / "docs" / "advice-accuracy.md"
BEGIN, END = "<!-- predictions: begin -->", "<!-- predictions: end -->"
HEAD = ["program", "recommended", "predicted", "changed source", "published", "sign"]
PUBLISHED_CASES = HERE.parent / "published"
# Examples outside these folders, with the flag of the recommended change; empty if the known cure is another change.
OTHERS = {"counters.c": "-DPADDED", "hash_table.c": "", "memory_pool.c": "", "log_queue.cpp": ""}
Change = dict[str, Any]  # an entry of advise.json
PUBLISHED = re.compile(r"^// published: ([+-]?[\d.]+) % (.+)$", re.MULTILINE)
WHY = re.compile(r"^// why: (.+(?:\n//   .+)*)$", re.MULTILINE)
NO_DIFFERENCE = 5  # percent; a gain within this agrees with a published 0
WORTH_IT = 1  # percent; smaller gains need not be recommended
NOTHING = "nothing"


@dataclass
class Published:
    gain_pct: float
    source: str


@dataclass
class Row:
    program: str
    recommended: str
    predicted: list[float]  # by machine
    changed_pct: float | None = None  # the gain of the change in the source; none if the known cure is another change
    published: Published | None = None
    why: str = ""

    @property
    def sign(self) -> str:
        known = [gain for gain in (self.changed_pct, self.published.gain_pct if self.published else None) if gain is not None]
        if not known:
            return "no measure"
        if self.recommended == NOTHING:
            return "right" if all(gain < WORTH_IT for gain in known) else "missed"
        return "right" if all(agree(self.predicted[0], gain) for gain in known) else "WRONG"

    @property
    def is_shown(self) -> bool:
        return self.recommended != NOTHING or self.published is not None or self.sign == "missed"

    def cells(self) -> list[str]:
        sign = self.sign
        return [
            self.program,
            self.recommended,
            "" if self.recommended == NOTHING else " / ".join(f"{gain:+.0f} %" for gain in self.predicted),
            "" if self.changed_pct is None else f"{self.changed_pct:+.0f} %",
            "" if self.published is None else f"sign only: {self.published.gain_pct:+g} %, {self.published.source}",
            f"{sign}: {self.why}" if self.why and sign in ("missed", "WRONG") else sign,
        ]


def agree(predicted: float, measured: float) -> bool:
    if measured == 0:
        return abs(predicted) < NO_DIFFERENCE
    return (predicted > 0) == (measured > 0)


def published_in(source: Path) -> Published | None:
    found = PUBLISHED.search(source.read_text(encoding="utf-8"))
    return Published(float(found[1]), found[2]) if found else None


def why_in(source: Path) -> str:
    found = WHY.search(source.read_text(encoding="utf-8"))
    return re.sub(r"\s*\n//   ", " ", found[1]) if found else ""


def changes_of(tools: Tools, trace: Path) -> list[Change]:
    """All recommended changes, with or without a condition."""
    directory = tools.output / "advise" / trace.stem
    page = json.loads((directory / "advise.json").read_text(encoding="utf-8"))
    changes: list[Change] = page["changes"] + page["conditional"]
    return changes


def in_short(change: Change) -> str:
    what: str = change["what"].split(": ")[0]
    return what + (" (on a condition)" if change["only_if"] else "")


def is_cure(program: confusion.Program, change: Change) -> bool:
    return bool(change["only_if"]) == (program.kind == "count") and confusion.concerns(program, change["what"])


def rows_of(tools: Tools, program: confusion.Program, cure: str) -> list[Row]:
    """Compares the known cure with the first recommendation of its kind."""
    trace = confusion.record(tools, program)
    confusion.advice(tools, trace)
    changes = changes_of(tools, trace)
    cures = [change for change in changes if program.kind == "bottleneck" or is_cure(program, change)]
    first = cures[0] if cures else None
    changed = confusion.gain_of(tools, program, trace, cure) if cure else None
    known = (changed, published_in(program.source), why_in(program.source))
    rows = [] if first else [Row(program.name, NOTHING, [0.0], *known)]
    for change in changes:
        gains = [gain["change_pct"] for gain in change["gains"]]
        rows.append(Row(program.name, in_short(change), gains, *(known if change is first else ())))
    return rows


def programs() -> dict[str, tuple[confusion.Program, str]]:
    """Programs by name, each with the flag of its known cure; empty if it has none."""
    all_programs = confusion.programs() | confusion.programs(PUBLISHED_CASES)
    has_cure = {name for name, it in all_programs.items() if it.has_cure or published_in(it.source)}
    found = {name: (program, "-DCURED" if name in has_cure else "") for name, program in all_programs.items()}
    for file, cure in OTHERS.items():
        source = HERE.parent / file
        found[source.stem] = (confusion.Program(source, "bottleneck", "", []), cure)
    return found


Cells = list[str]  # the cells of one row


def table(rows: list[Cells], nothing: list[str]) -> str:
    lines = [HEAD, ["---"] * len(HEAD), *rows]
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    names = ", ".join(f"`{name}`" for name in nothing)
    return "\n\n".join([text, textwrap.fill(f"Nothing is recommended for {names}.", 120), textwrap.fill(counted(rows), 120)])


def counted(rows: list[Cells]) -> str:
    signs = [cells[-1].split(":")[0] for cells in rows]
    recommended = sum(cells[1] != NOTHING for cells in rows)
    return (
        f"{recommended} recommendations; of {len(rows)} rows {signs.count('right')} have the right sign, "
        f"{signs.count('WRONG')} the wrong one, {signs.count('missed')} are cures that were missed, "
        f"and of {signs.count('no measure')} nothing is known."
    )


def rows_in(text: str) -> dict[str, list[Cells]]:
    """The rows of each program in a table."""
    found: dict[str, list[Cells]] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == len(HEAD) and cells[0] not in (HEAD[0], "---"):
            found.setdefault(cells[0], []).append(cells)
    return found


def parts_of(page: str) -> tuple[str, str, str]:
    """The text before the table, the table, and the text after it."""
    head, _, rest = page.partition(BEGIN)
    old, found, tail = rest.partition(END)
    if not found:
        sys.exit(f"predictions.py: {PAGE} has no {BEGIN} ... {END}")
    return head, old.strip(), tail


def differences(old: dict[str, list[Cells]], new: dict[str, list[Cells]]) -> list[str]:
    """Programs whose first recommendation, or its sign, has changed."""

    def verdict(rows: list[Cells] | None) -> str:
        return f"{rows[0][1]} ({rows[0][-1].split(':')[0]})" if rows else NOTHING

    return [
        f"{name}: the page says {verdict(old.get(name))}, found now: {verdict(new.get(name))}"
        for name in sorted(old.keys() | new.keys())
        if verdict(old.get(name)) != verdict(new.get(name))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "examples" / "predictions")
    parser.add_argument("--print", action="store_true", dest="prints")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("programs", metavar="PROGRAM", nargs="*")
    options = parser.parse_args()
    known = programs()
    if unknown := set(options.programs) - known.keys():
        parser.error(f"there is no program {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    tools = Tools(options.build, options.output, untimed=True)

    def shown_rows(name: str) -> list[Cells]:
        found = rows_of(tools, *known[name])
        for row in found:
            print("  " + "  ".join(cell for cell in row.cells() if cell), flush=True)
        return [row.cells() for row in found if row.is_shown]

    head, table_now, tail = parts_of(PAGE.read_text(encoding="utf-8"))
    old = rows_in(table_now)
    new = {name: rows for name, rows in old.items() if options.programs and name not in options.programs}
    for name in options.programs or known:
        for _ in range(3 if options.check else 1):  # recordings differ
            new[name] = shown_rows(name)
            if not differences({name: old.get(name, [])}, {name: new[name]}):
                break
    new = {name: rows for name, rows in new.items() if rows}
    rows = [cells for name in known for cells in new.get(name, [])]
    print("\n" + counted(rows))
    if options.check:
        changed = differences(old, new)
        print("\n".join(changed))
        return 1 if changed else 0
    if not options.prints:
        text = table(rows, [name for name in known if name not in new])
        PAGE.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
