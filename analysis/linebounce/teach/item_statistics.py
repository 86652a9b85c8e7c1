"""Grades a class and prints statistics of each task: how difficult it is, whether it separates strong from weak
students, and how much the class gained between two tests."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table as Shown
from rich.text import Text

from linebounce.commands import DONE
from linebounce.console import output
from linebounce.errors import InputError, of_lines
from linebounce.teach.engine import Engine
from linebounce.teach.grade import Sheet, graded_documents
from linebounce.teach.grade_files import Document, GradeFiles

_PRE, _POST = "pre-test", "post-test"


@dataclass(frozen=True)
class Item:
    """A task's statistics over a class."""

    assignment: str
    id: str
    students: int
    difficulty: float  # the share of students with a right answer: 1 is easiest
    # Correlation of the task's points with those of the rest; None if one of them is the same for all students.
    discrimination: float | None


@dataclass(frozen=True)
class Gain:
    """What a class gained between two tests. Only students who took both count."""

    students: int
    before: float  # mean share of the points
    after: float
    normalised: float | None  # the gain as a share of the largest possible gain; None if no gain was possible


def grade_class(engine: Engine, folder: Path, sheet: Sheet, *, as_json: bool, files: GradeFiles) -> int:
    """Grades every file of answers in the folder and its subfolders. Prints the names of files that can't be read, and
    leaves them out."""
    documents: list[Document] = []
    refused = []
    for path in answer_files(folder):
        try:
            documents += graded_documents(engine, path, sheet)
        except InputError as error:
            refused.append(str(error))
    if not documents:
        raise of_lines(InputError, [f"{folder}: there are no answers that can be graded", *refused])
    files.write(documents)
    items, gain = items_of(documents), gain_of(documents)
    if as_json:
        found = {"items": [asdict(one) for one in items], "gain": asdict(gain) if gain else None, "refused": refused}
        print(json.dumps({**found, "students": documents}, indent=1, ensure_ascii=False))
    else:
        _show(items, gain, refused)
    return DONE


def answer_files(folder: Path) -> Iterator[Path]:
    """The files that may hold a student's answers. Other TOML files, such as a scene's experiment, are left out."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and (path.name == "answers.toml" or path.suffix == ".json" or path.name.endswith(".answers.toml")):
            yield path


def items_of(documents: Sequence[Document]) -> list[Item]:
    items = []
    for assignment in dict.fromkeys(one["assignment"] for one in documents):
        of_assignment = [one for one in documents if one["assignment"] == assignment]
        for task in dict.fromkeys(answer["id"] for one in of_assignment for answer in one["answers"]):
            pairs = [
                (answer["right"], one["points"] - answer["points"])
                for one in of_assignment
                for answer in one["answers"]
                if answer["id"] == task
            ]
            right = [float(one) for one, _ in pairs]
            rest = [float(points) for _, points in pairs]
            items.append(Item(assignment, task, len(pairs), sum(right) / len(right), correlation(right, rest)))
    return items


def correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Pearson's correlation; None if one of the two is constant."""
    mean_1, mean_2 = sum(first) / len(first), sum(second) / len(second)
    of_first = sum((one - mean_1) ** 2 for one in first)
    of_second = sum((one - mean_2) ** 2 for one in second)
    if of_first == 0 or of_second == 0:
        return None
    return sum((a - mean_1) * (b - mean_2) for a, b in zip(first, second, strict=True)) / math.sqrt(of_first * of_second)


def gain_of(documents: Sequence[Document]) -> Gain | None:
    """The gain between the pre-test and the post-test; None if no student took both. Students are matched by name."""
    shares: dict[str, dict[str, float]] = {_PRE: {}, _POST: {}}
    for one in documents:
        if one["assignment"] in shares and one["of"]:
            shares[one["assignment"]][one["student"]] = one["points"] / one["of"]
    both = sorted(set(shares[_PRE]) & set(shares[_POST]))
    if not both:
        return None
    before, after = (sum(shares[test][student] for student in both) / len(both) for test in (_PRE, _POST))
    return Gain(len(both), before, after, (after - before) / (1 - before) if before < 1 else None)


def _show(items: Sequence[Item], gain: Gain | None, refused: Sequence[str]) -> None:
    console = output(100)
    table = Shown(box=None, padding=(0, 2, 0, 0))
    for name in ("assignment", "task", "students", "right", "discrimination"):
        table.add_column(name, justify="left" if name in ("assignment", "task") else "right")
    for one in items:
        separates = "" if one.discrimination is None else f"{one.discrimination:.2f}"
        table.add_row(Text(one.assignment), Text(one.id), str(one.students), f"{100 * one.difficulty:.0f} %", separates)
    console.print(table)
    if gain:
        share = "" if gain.normalised is None else f", {100 * gain.normalised:.0f} % of what could be gained"
        scores = f"{100 * gain.before:.0f} % before, {100 * gain.after:.0f} % after"
        console.print(f"{gain.students} students took both tests: {scores}{share}", markup=False)
    for reason in refused:
        console.print(f"left out: {reason}", markup=False)
