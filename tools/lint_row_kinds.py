"""A figure that chose a parameter is no prediction: lint_row_kinds.py MACHINE.toml|EXPERIMENT.toml...

A machine that names a [[paper]] row anywhere, and a comment "calibrated: ROW" of an experiment, say that the row's figure was
used. No experiment may then call a row of that id predicted, nor the row of a [[table]].
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Words with dots in them, as ids of rows are.
NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")
USED = re.compile(r"#.*?\bcalibrated: (.*)")

Texts = dict[str, str]


def is_experiment(document: dict[str, Any]) -> bool:
    return "workload" in document or "extends" in document or "paper" in document


def named(text: str, *, experiment: bool) -> Iterator[tuple[int, str]]:
    """Line and word of all that may be a row's id where a figure is said to have been used."""
    for number, line in enumerate(text.splitlines(), 1):
        found = USED.search(line) if experiment else None
        used = (found[1] if found else "") if experiment else line
        for name in NAME.findall(used):
            yield number, name


def predicted(name: str, document: dict[str, Any]) -> str | None:
    """If the experiment has a row with that id and calls it predicted: the id of the row, or of the table that it is in."""
    for row in document.get("paper", []):
        if row["id"] == name:
            return name if row.get("kind", "predicted") == "predicted" else None
    for table in document.get("table", []):
        if name.startswith(table["id"] + "."):
            row = name.removeprefix(table["id"] + ".")
            kinds = [kind for kind in ("calibrated", "in_sight", "predicted") if row in table.get(kind, [])]
            return table["id"] if [*kinds, table.get("kind", "predicted")][0] == "predicted" else None
    return None


def place_of(name: str, file: str, text: str) -> str:
    """FILE:LINE of the row or table with that id."""
    before = re.split(rf'^id\s*=\s*"{re.escape(name)}"', text, maxsplit=1, flags=re.MULTILINE)[0]
    return f"{file}:{before.count(chr(10)) + 1}"


def findings(texts: Texts) -> list[str]:
    documents = {file: tomllib.loads(text) for file, text in texts.items()}
    experiments = {file: document for file, document in documents.items() if is_experiment(document)}
    places = [
        (name, f"{file}:{number}")
        for file, text in texts.items()
        for number, name in named(text, experiment=file in experiments)
    ]
    return [
        f"{place_of(row, file, texts[file])}: {name} is predicted, but {place} names it as what a parameter comes from"
        for file, document in experiments.items()
        for name, place in places
        if (row := predicted(name, document))
    ]


def main() -> int:
    found = findings({name: Path(name).read_text(encoding="utf-8") for name in sys.argv[1:]})
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
