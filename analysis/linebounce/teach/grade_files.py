"""Writes grades for other programs: Gradescope's results.json, JUnit's XML, and lines for a gradebook."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from linebounce.files import write_file
from linebounce.visible import no_formula

Document = dict[str, Any]


@dataclass(frozen=True)
class GradeFiles:
    """The files to write, and what students may see."""

    gradescope: Path | None = None
    junit: Path | None = None
    csv: Path | None = None
    feedback: bool = True  # whether a wrong answer also shows the reply to it or the checker's counterexample
    hidden: tuple[str, ...] = ()  # tasks whose results students see only after the grades are published

    def write(self, documents: Sequence[Document]) -> None:
        if self.gradescope:
            text = json.dumps(gradescope(documents, feedback=self.feedback, hidden=self.hidden), indent=1, ensure_ascii=False)
            write_file(self.gradescope, f"{text}\n".encode())
        if self.junit:
            write_file(self.junit, junit(documents, feedback=self.feedback).encode())
        if self.csv:
            write_file(self.csv, gradebook(documents).encode())


def gradescope(documents: Sequence[Document], *, feedback: bool, hidden: Sequence[str]) -> Document:
    """The document that Gradescope's autograder reads. It has a test for each task; Gradescope adds up their scores."""
    return {
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            {
                "name": f"{one['assignment']}: {task['id']}",
                "number": str(number),
                "score": task["points"],
                "max_score": task["of"],
                "status": "passed" if task["right"] else "failed",
                "output": task["says"] if feedback or task["right"] else "",
                "visibility": "after_published" if task["id"] in hidden else "visible",
            }
            for one in documents
            for number, task in enumerate(one["answers"], 1)
        ],
    }


def junit(documents: Sequence[Document], *, feedback: bool) -> str:
    """JUnit's XML with a test suite for each assignment and a test case for each task."""
    suites = ElementTree.Element("testsuites")
    for one in documents:
        wrong = [task for task in one["answers"] if not task["right"]]
        counts = {"tests": str(len(one["answers"])), "failures": str(len(wrong)), "errors": "0"}
        suite = ElementTree.SubElement(suites, "testsuite", {"name": one["assignment"], **counts})
        for task in one["answers"]:
            case = ElementTree.SubElement(suite, "testcase", classname=one["assignment"], name=task["id"])
            if not task["right"]:
                message = f"{task['points']} of {task['of']} points"
                failure = ElementTree.SubElement(case, "failure", message=message)
                failure.text = _legal(task["says"]) if feedback else ""
    ElementTree.indent(suites, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _legal(text: str) -> str:
    """Replaces control characters, which students' files may have but XML may not."""
    return "".join(letter if letter >= " " or letter in "\n\t" else "?" for letter in text)


def gradebook(documents: Sequence[Document]) -> str:
    """CSV with a row for each student and assignment, and a column for each task."""
    tasks = list(dict.fromkeys(task["id"] for one in documents for task in one["answers"]))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", "assignment", *tasks, "points", "of"])
    for one in documents:
        points = {task["id"]: task["points"] for task in one["answers"]}
        row = [one["student"], one["assignment"], *(points.get(task, "") for task in tasks), one["points"], one["of"]]
        writer.writerow([no_formula(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()
