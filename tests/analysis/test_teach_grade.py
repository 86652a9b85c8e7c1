"""`linebounce teach --grade` and `--hand-out` with right, wrong and hostile answers."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from linebounce.teach.compiler import compile_lesson
from linebounce.teach.engine import Engine
from linebounce.teach.lesson import read_lesson
from program import ROOT, Program, Result

Command = Callable[..., Result]

ASSIGNMENT = ROOT / "teach" / "assignments" / "coherence-1.md"
RIGHT = {
    "states": "I, I, M",
    "value": 3,
    "requests": 6,
    "faster": ["A local variable, added to the array at the end", "Each element on a line of its own"],
    "mend": "mend.md",
    "fence": "fence.lua",
}


@pytest.fixture(scope="module")
def tasks(executable: Path) -> dict[str, Any]:
    """The assignment's tasks by id."""
    parts = compile_lesson(Engine(str(executable)), read_lesson(ASSIGNMENT))["parts"]
    return {part["id"]: part for part in parts if "id" in part}


def handed_in(folder: Path, tasks: dict[str, Any], answers: dict[str, Any]) -> Path:
    """Hands in answers, with both files mended."""
    (folder / "mend.md").write_text(tasks["mend"]["solution"])
    (folder / "fence.lua").write_text(tasks["fence"]["solution"])
    lines = [f"{key} = {json.dumps(value)}" for key, value in answers.items()]
    path = folder / "answers.toml"
    path.write_text("\n".join(['assignment = "coherence-1"', 'student = "A. B."', "[answers]", *lines]))
    return path


def graded(command: Command, path: Path, *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    result = command("teach", "--grade", path, "--json", *arguments)
    return result.code, json.loads(result.stdout)


def test_right_answers_get_all_points_and_exit_code_0(command: Command, tasks: dict[str, Any], tmp_path: Path) -> None:
    code, document = graded(command, handed_in(tmp_path, tasks, RIGHT))
    assert code == 0
    assert (document["points"], document["of"]) == (11, 11)
    assert (document["student"], document["assignment"]) == ("A. B.", "coherence-1")
    assert all(one["right"] for one in document["answers"])


def test_wrong_or_missing_cases_exit_with_1_and_a_reason(command: Command, tasks: dict[str, Any], tmp_path: Path) -> None:
    answers = RIGHT | {"states": "I, S, M", "requests": "six", "faster": ["Atomic additions"]}
    del answers["value"]
    code, document = graded(command, handed_in(tmp_path, tasks, answers))
    says = {one["id"]: one["says"] for one in document["answers"]}
    assert code == 1
    assert document["points"] == 6
    assert says["states"] == "When one cache has the line in M, no other has a copy."
    assert says["value"] == "no answer"
    assert "which are hits?" in says["requests"]
    assert "Atomic additions: Each element has one writer" in says["faster"]


def test_tables_and_locks_are_what_the_checkers_say(command: Command, tasks: dict[str, Any], tmp_path: Path) -> None:
    path = handed_in(tmp_path, tasks, RIGHT)
    cases = {
        "mend.md": [
            (tasks["mend"]["text"], "nothing was changed"),
            ((ROOT / "models" / "protocols" / "mesi_snoop.md").read_text(), "lines differ from the file that was given"),
            (tasks["mend"]["text"] + "\nmore\n", "cache 1"),
            ("no table", "lines differ"),
        ],
        "fence.lua": [
            (tasks["fence"]["text"] + "-- mended\n", "both hold the lock"),
            (tasks["fence"]["text"] + "while true do end\n", "instructions"),
        ],
    }
    for name, tries in cases.items():
        whole = (tmp_path / name).read_text()
        for text, says in tries:
            (tmp_path / name).write_text(text)
            code, document = graded(command, path)
            (one,) = [one for one in document["answers"] if one["given"] == name]
            assert (code, one["right"]) == (1, False)
            assert says in one["says"]
        (tmp_path / name).write_text(whole)


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret.md", "link.md", ".", "", "none.md", "a\0b", 7, ["mend.md"]])
def test_only_files_beside_the_answers_are_read(command: Command, tasks: dict[str, Any], tmp_path: Path, name: Any) -> None:
    folder = tmp_path / "handed"
    folder.mkdir()
    (tmp_path / "secret.md").write_text(tasks["mend"]["solution"])
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    path = handed_in(folder, tasks, {"mend": name})
    code, document = graded(command, path)
    (one,) = [one for one in document["answers"] if one["id"] == "mend"]
    assert (code, one["right"]) == (1, False)
    assert "folder of the answers" in one["says"] or "file beside the answers" in one["says"]


@pytest.mark.parametrize("name", ["answers.toml", "saved.json"])
def test_a_pipe_in_place_of_answers_keeps_nobody_waiting(linebounce: Program, tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    for more in ([], ["--class"]):
        where = tmp_path if more else tmp_path / name
        done = linebounce("teach", "--grade", where, *more, timeout=60)
        assert done.code == 3
        assert "not a regular file" in done.stderr or "no answers that can be graded" in done.stderr


def test_a_pipe_in_place_of_a_named_file_keeps_nobody_waiting(
    linebounce: Program, tasks: dict[str, Any], tmp_path: Path
) -> None:
    path = handed_in(tmp_path, tasks, {})
    os.mkfifo(tmp_path / "lesson.md")
    (tmp_path / "variants").mkdir()
    os.mkfifo(tmp_path / "roster")
    for words in (
        ("--grade", path, "--assignment", tmp_path / "lesson.md"),
        ("--check", tmp_path / "lesson.md"),
        ("--hand-out", "coherence-2", "--roster", tmp_path / "roster", "--seed", "s", "-o", tmp_path / "out"),
    ):
        assert linebounce("teach", *words, timeout=60).code == 3, words


def test_large_files_are_refused(command: Command, tasks: dict[str, Any], tmp_path: Path) -> None:
    path = handed_in(tmp_path, tasks, RIGHT)
    (tmp_path / "mend.md").write_text("x" * (1 << 19))
    _, document = graded(command, path)
    assert "longer than the limit of 256 KiB" in next(one["says"] for one in document["answers"] if one["id"] == "mend")
    path.write_text("#" * (1 << 19))
    assert command("teach", "--grade", path).code == 3


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("assignment = ", 3, "this is not TOML"),
        ("x = 1", 3, "x: unknown key; legal: assignment, student, [answers]"),
        ("[answers]", 3, "lacks assignment"),
        ('assignment = "coherence-1"\nanswers = 3', 3, "[answers] must be a table"),
        ('assignment = "coherence-1"\n[answers]\nstate = "x"', 3, "did you mean states?"),
        ('assignment = "coherence-9"', 2, "did you mean coherence-"),
        ('assignment = "coherence-2"', 2, "another one for each student: give --variants"),
        ('assignment = "../../../etc/passwd"', 2, 'assignment "../../../etc/passwd" is not known'),
        ("a = " + "[" * 100000, 3, "this is not TOML"),
    ],
    ids=["no TOML", "unknown key", "no assignment", "answers", "unknown task", "unknown name", "varied", "a path", "deep"],
)
def test_a_file_that_is_not_an_answer_file_is_refused(
    command: Command, tmp_path: Path, text: str, code: int, says: str
) -> None:
    path = tmp_path / "answers.toml"
    path.write_text(text)
    result = command("teach", "--grade", path)
    assert result.code == code
    assert says in result.stderr


def test_names_do_not_act_on_the_terminal(command: Command, tasks: dict[str, Any], tmp_path: Path) -> None:
    path = handed_in(tmp_path, tasks, RIGHT)
    path.write_text(path.read_text().replace("A. B.", "\\u001b[2J[red]").replace('"I, I, M"', '"\\u001b]0;x\\u0007[bold]"'))
    text = command("teach", "--grade", path).stdout
    assert "\x1b[2J" not in text
    assert "\x1b]0" not in text
    assert "[red]" in text
    assert "[bold]" in text


def test_a_teachers_own_assignment_is_graded(command: Command, tmp_path: Path) -> None:
    mine = tmp_path / "mine.md"
    mine.write_bytes((ROOT / "teach" / "new-lesson.md").read_bytes())
    path = tmp_path / "answers.toml"
    path.write_text('[answers]\n"mine.1" = "M"\n"mine.2" = 7.0\n')
    code, document = graded(command, path, "--assignment", mine)
    assert code == 1
    assert [one["right"] for one in document["answers"]] == [True, True, False]
    assert command("teach", "--assignment", mine).code == 2


def test_the_pages_saved_answers_are_graded_again(command: Command, tmp_path: Path) -> None:
    """The page's own marks are ignored."""
    path = tmp_path / "linebounce-answers.json"
    pre = {"pre.1": {"given": "Only 3", "right": True}, "pre.7": {"given": "1", "right": True}}
    lessons = {"why-coherence": {"done": True, "answers": {"why-coherence.1": {"first": "From memory", "right": True}}}}
    path.write_text(
        json.dumps({"format": "linebounce.answers/1", "name": "C.", "tests": {"pre": {"answers": pre}}, "lessons": lessons})
    )
    result = command("teach", "--grade", path, "--json")
    test, lesson = json.loads(result.stdout)
    assert result.code == 1
    assert (test["assignment"], test["points"], test["of"]) == ("pre-test", 1, 10)
    assert (lesson["points"], lesson["of"]) == (1, 7)
    for text in ("[]", "{", "[" * 100000, '{"format": "x"}'):
        path.write_text(text)
        assert command("teach", "--grade", path).code == 3


def test_handouts_have_no_answers(command: Command, tasks: dict[str, Any], tmp_path: Path) -> None:
    result = command("teach", "--hand-out", "coherence-1", cwd=tmp_path)
    assert result.stdout == "coherence-1/assignment.md\n"
    folder = tmp_path / "coherence-1"
    text = (folder / "assignment.md").read_text()
    assert "**requests** (2 points)" in text
    for task in tasks.values():
        assert task["right"] not in text
    assert (folder / "mend.md").read_text() == tasks["mend"]["text"]
    code, document = graded(command, folder / "answers.toml")
    assert (code, document["points"]) == (1, 0)
    assert command("teach", "--hand-out", "coherence-1", cwd=tmp_path).code == 2
