"""`linebounce teach --hand-out NAME --roster FILE`: each student's own assignment, and what becomes of a copied solution."""

import csv
import io
import json
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import gradescope_schema
import pytest
from linebounce.teach.compiler import compile_lesson
from linebounce.teach.engine import Engine
from linebounce.teach.lesson import read_lesson
from program import ROOT, Result

Command = Callable[..., Result]

STUDENTS = [f"s{number}" for number in range(1, 5)]
ASSIGNMENTS = ["coherence-2", "coherence-3"]


@pytest.fixture(scope="module", params=ASSIGNMENTS)
def handed_out(request: pytest.FixtureRequest, command: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a class's hand-outs; the teacher's is beside it."""
    folder = tmp_path_factory.mktemp("class")
    roster = folder / "ids.txt"
    roster.write_text("\n".join(STUDENTS))
    out = folder / "handed"
    done = command("teach", "--hand-out", request.param, "--roster", roster, "--seed", "a secret", "-o", out)
    assert done.code == 0, done.stderr
    return out


def tasks_of(executable: Path, handed_out: Path, student: str) -> dict[str, Any]:
    own = handed_out.with_name("handed-teacher") / f"{student}.md"
    parts = compile_lesson(Engine(str(executable)), read_lesson(own))["parts"]
    return {part["id"]: part for part in parts if "id" in part}


def solve(executable: Path, handed_out: Path, student: str, solution_of: str) -> Path:
    """Hands in the solution for `solution_of` under this student's name, in a copy of the student's hand-out."""
    tasks = tasks_of(executable, handed_out, solution_of)
    folder = handed_out.with_name(f"done-{student}-{solution_of}")
    shutil.copytree(handed_out / student, folder, dirs_exist_ok=True)
    answers = folder / "answers.toml"
    assignment = tomllib.loads(answers.read_text())["assignment"]
    (folder / "mend.md").write_text(tasks["mend"]["solution"])
    values = [f"{key} = {json.dumps(task['answer'])}" for key, task in tasks.items() if "answer" in task]
    head = [f'assignment = "{assignment}"', f'student = "{student}"', "[answers]"]
    answers.write_text("\n".join([*head, *values, 'mend = "mend.md"']))
    return answers


def graded(command: Command, handed_out: Path, answers: Path, *more: str | Path) -> tuple[int, dict[str, Any]]:
    done = command("teach", "--grade", answers, "--variants", handed_out.with_name("handed-teacher"), "--json", *more)
    return done.code, json.loads(done.stdout)


def test_a_students_own_solution_passes_and_another_students_fails(
    command: Command, executable: Path, handed_out: Path
) -> None:
    for number, student in enumerate(STUDENTS):
        code, document = graded(command, handed_out, solve(executable, handed_out, student, student))
        assert (code, document["points"]) == (0, document["of"]), document
        other = STUDENTS[(number + 1) % len(STUDENTS)]
        code, document = graded(command, handed_out, solve(executable, handed_out, student, other))
        mend = next(one for one in document["answers"] if one["id"] == "mend")
        assert (code, mend["right"]) == (1, False)
        assert "lines differ from the file that was given" in mend["says"]


def test_no_two_students_tables_break_in_the_same_way(executable: Path, handed_out: Path) -> None:
    engine = Engine(str(executable))
    found = set()
    for student in STUDENTS:
        violation = json.loads(engine.check(handed_out / student / "mend.md").output)["violation"]
        # Each student's hand-out uses other names. If only the names differed, a copied explanation would still fit.
        names = [name for step in violation["steps"] for name in (step.get("message", ""), *step["states"])]
        order = {name: number for number, name in enumerate(dict.fromkeys(names))}
        steps = [(step["step"], step["cache"]) for step in violation["steps"]]
        found.add((violation["promise"], tuple(steps), tuple(order[name] for name in names)))
    assert len(found) == len(STUDENTS)


def test_students_get_neither_the_seed_nor_an_answer(handed_out: Path, executable: Path) -> None:
    for student in STUDENTS:
        text = "".join(path.read_text() for path in (handed_out / student).iterdir())
        tasks = tasks_of(executable, handed_out, student)
        assert "a secret" not in text
        assert tasks["mend"]["solution"] not in text
        assert "solution" not in text
        assert not (handed_out / student / f"{student}.md").exists()


def test_the_same_class_and_seed_give_the_same_hand_out(command: Command, handed_out: Path, tmp_path: Path) -> None:
    name = tomllib.loads((handed_out / "s1" / "answers.toml").read_text())["assignment"]
    roster = tmp_path / "ids.txt"
    roster.write_text("\n".join(STUDENTS))
    again = ["--roster", roster, "--student", "s3", "-o", tmp_path / "handed"]
    assert command("teach", "--hand-out", name, "--seed", "a secret", *again).code == 0
    assert [path.name for path in (tmp_path / "handed").iterdir()] == ["s3"]
    own = "handed-teacher/s3.md"
    assert (tmp_path / own).read_text() == (handed_out.parent / own).read_text()
    for folder in ("handed", "handed-teacher"):
        shutil.rmtree(tmp_path / folder)
    assert command("teach", "--hand-out", name, "--seed", "another", *again).code == 0
    assert (tmp_path / own).read_text() != (handed_out.parent / own).read_text()


def test_grades_are_written_for_autograders_and_gradebooks(
    command: Command, executable: Path, handed_out: Path, tmp_path: Path
) -> None:
    answers = solve(executable, handed_out, "s1", "s2")
    files = ["--gradescope", tmp_path / "results.json", "--junit", tmp_path / "junit.xml", "--csv", tmp_path / "grades.csv"]
    _, document = graded(command, handed_out, answers, *files, "--hidden", "value")
    results = json.loads((tmp_path / "results.json").read_text())
    gradescope_schema.require_valid(results)
    tests = results["tests"]
    assert sum(one["score"] for one in tests) == document["points"]
    assert {one["name"].rpartition(" ")[2]: one["visibility"] for one in tests}["value"] == "after_published"
    assert any("lines differ" in one["output"] for one in tests)
    (suite,) = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert int(suite.get("failures", "")) == len(list(suite.iter("failure"))) > 0
    (row,) = csv.DictReader(io.StringIO((tmp_path / "grades.csv").read_text()))
    assert (row["student"], row["mend"], int(row["points"])) == ("s1", "0", document["points"])
    graded(command, handed_out, answers, *files, "--no-feedback")
    assert "lines differ" not in "".join(path.read_text() for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--hand-out", "coherence-2"], "another one for each student"),
        (["--hand-out", "coherence-2", "--student", "s1"], "--student needs --roster"),
        (["--hand-out", "coherence-2", "--roster", "ids.txt"], "needs --seed"),
        (["--hand-out", "coherence-1", "--roster", "ids.txt", "--seed", "1"], "the same for all students"),
        (["--hand-out", "coherence-2", "--roster", "twice.txt", "--seed", "1"], "listed twice"),
        (["--hand-out", "coherence-2", "--roster", "bad.txt", "--seed", "1"], 'student 1, "../a"'),
    ],
)
def test_a_class_that_cannot_be_is_refused(command: Command, tmp_path: Path, arguments: list[str], says: str) -> None:
    for name, text in {"ids.txt": "s1\n", "twice.txt": "s1\ns1\n", "bad.txt": "../a\n"}.items():
        (tmp_path / name).write_text(text)
    words = [str(tmp_path / word) if word.endswith(".txt") else word for word in arguments]
    done = command("teach", *words, "-o", tmp_path / "out")
    assert done.code in (2, 3)
    assert says in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_table_that_is_still_broken_gets_its_counterexample_step_by_step(
    command: Command, handed_out: Path, tmp_path: Path
) -> None:
    shutil.copytree(handed_out / "s1", tmp_path / "s1")
    table = tmp_path / "s1" / "mend.md"
    row = re.compile(r"^(\|[^|\n]*\| Store +\|(?:[^|\n]*\|){2})[^|\n]*\|$", re.MULTILINE)
    table.write_text(row.sub(r"\1 another reason |", table.read_text(), count=1))
    name = tomllib.loads((tmp_path / "s1" / "answers.toml").read_text())["assignment"]
    answers = tmp_path / "s1" / "answers.toml"
    answers.write_text(f'assignment = "{name}"\nstudent = "s1"\n[answers]\nmend = "mend.md"\n')
    graded(command, handed_out, answers, "--gradescope", tmp_path / "results.json")
    (said,) = [one["output"] for one in json.loads((tmp_path / "results.json").read_text())["tests"] if one["max_score"] > 1]
    text, _, steps = said.partition("\n\n")
    assert "cache" in text
    assert re.fullmatch(r"(\d+\. cache \d+\S* .*: \w+(, \w+)+\n?){3,}", steps), said


def test_a_student_without_a_variant_is_named(command: Command, tmp_path: Path) -> None:
    (tmp_path / "variants").mkdir()
    answers = tmp_path / "answers.toml"
    for student in ("s9", "../s9", ""):
        answers.write_text(f'assignment = "coherence-2"\nstudent = "{student}"\n[answers]\nvalue = 1\n')
        done = command("teach", "--grade", answers, "--variants", tmp_path / "variants")
        assert done.code == 3
        assert "has no assignment of student" in done.stderr


def test_shipped_varied_assignments_are_all_tested() -> None:
    varied = {path.stem for path in (ROOT / "teach" / "assignments").glob("*.md") if "```toml variant" in path.read_text()}
    assert varied == set(ASSIGNMENTS)
