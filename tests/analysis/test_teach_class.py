"""`linebounce teach --grade FOLDER --class`: statistics of tasks, and the gain between two tests."""

import csv
import io
import json
import random
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from linebounce.teach.item_statistics import correlation
from program import Result

Command = Callable[..., Result]


def hand_in(folder: Path, student: str, answers: dict[str, Any]) -> None:
    (folder / student).mkdir(parents=True)
    lines = [f"{key} = {json.dumps(value)}" for key, value in answers.items()]
    text = "\n".join(['assignment = "coherence-1"', f'student = "{student}"', "[answers]", *lines])
    (folder / student / "answers.toml").write_text(text)


def test_each_task_has_its_share_of_right_answers_and_its_discrimination(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    # Strong students answer the questions on values and requests correctly, weak students wrongly. All of them guess the
    # states equally well.
    for number in range(4):
        strong = number < 2
        answers = {
            "states": "I, I, M" if number % 2 else "S, S, S",
            "value": 3 if strong else 1,
            "requests": 6 if strong else 4,
        }
        hand_in(folder, f"student{number}", answers)
    (folder / "torn").mkdir()
    (folder / "torn" / "answers.toml").write_text("assignment = ")
    done = command("teach", "--grade", folder, "--class", "--json", "--csv", tmp_path / "grades.csv")
    assert done.code == 0, done.stderr
    found = json.loads(done.stdout)
    items = {one["id"]: one for one in found["items"]}
    assert items["value"]["difficulty"] == 0.5
    assert items["faster"]["difficulty"] == 0
    assert items["faster"]["discrimination"] is None  # nobody has it right
    assert items["value"]["discrimination"] > 0.8
    assert abs(items["states"]["discrimination"]) < 0.2
    assert len(found["refused"]) == 1
    assert "this is not TOML" in found["refused"][0]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "grades.csv").read_text())))
    assert [row["student"] for row in rows] == [f"student{number}" for number in range(4)]
    shown = command("teach", "--grade", folder, "--class")
    assert "50 %" in shown.stdout
    assert "left out:" in shown.stdout


def test_the_gain_is_that_of_students_who_took_both_tests(command: Command, tmp_path: Path) -> None:
    for name, members in {"a": ("pre", "post"), "b": ("pre",)}.items():
        tests = {member: {"answers": {"none": {"given": "x"}}} for member in members}
        document = {"format": "linebounce.answers/1", "name": name, "tests": tests}
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    done = command("teach", "--grade", tmp_path, "--class", "--json")
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout)["gain"] == {"students": 1, "before": 0.0, "after": 0.0, "normalised": 0.0}


@pytest.mark.parametrize("seed", range(5))
def test_the_correlation_is_pearsons(seed: int) -> None:
    draw = random.Random(seed)
    first = [draw.random() for _ in range(20)]
    second = [one + draw.random() for one in first]
    assert correlation(first, second) == pytest.approx(statistics.correlation(first, second))
    assert correlation(first, [1.0] * 20) is None


def test_a_folder_without_answers_is_refused(command: Command, tmp_path: Path) -> None:
    done = command("teach", "--grade", tmp_path, "--class")
    assert done.code == 3
    assert "no answers" in done.stderr
