"""The shipped lessons hold, answer by answer; a lesson with a mistake is refused with its line."""

import base64
import gzip
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from linebounce.errors import UsageError
from linebounce.teach import answers, site
from linebounce.teach.compiler import compile_lesson
from linebounce.teach.engine import Engine
from linebounce.teach.lesson import Question, read_lesson
from linebounce.teach.library import Library, script
from linebounce.teach.source import LessonError
from program import ROOT, Program, Result

Command = Callable[..., Result]

TEACH = ROOT / "teach"
LESSONS = sorted((TEACH / "lessons").glob("[0-9][0-9]-*.md"))
TESTS = [TEACH / "lessons" / "pre-test.md", TEACH / "lessons" / "post-test.md"]
# test_teach_variants.py tests the assignments that are made for each student.
SAME_FOR_ALL = [path for path in sorted((TEACH / "assignments").glob("*.md")) if "```toml variant" not in path.read_text()]
OTHERS = [*TESTS, *SAME_FOR_ALL, TEACH / "new-lesson.md"]


def compiled(path: Path) -> dict[str, Any]:
    return compile_lesson(Engine(), read_lesson(path))


@pytest.mark.parametrize("path", [*LESSONS, *OTHERS], ids=lambda path: path.stem)
def test_every_moment_comes_and_every_answer_is_the_runs(path: Path) -> None:
    parts = compiled(path)["parts"]
    for part in parts:
        if part["kind"] == "question":
            assert part["answer"] is not None
            assert part["then_step"] >= part["step"]
            assert part["right"]


def test_there_are_ten_lessons_and_more_of_five_to_ten_minutes() -> None:
    lessons = [read_lesson(path) for path in LESSONS]
    assert len(lessons) >= 10
    assert [lesson.number for lesson in lessons] == list(range(1, len(lessons) + 1))
    for lesson in lessons:
        assert 5 <= lesson.table.values["minutes"] <= 10
        assert sum(isinstance(task, Question) for task in lesson.tasks) >= 5, "several questions"
        assert lesson.scenes, "something that runs"
        for key in ("goal", "command", "shows", "papers"):
            assert lesson.table.text(key), f"{lesson.path.name}: {key}"


def test_most_questions_are_held_against_a_run() -> None:
    tasks = [task for path in LESSONS for task in read_lesson(path).tasks if isinstance(task, Question)]
    assert sum(bool(task.answer_from or task.holds) for task in tasks) > len(tasks) / 2


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_a_test_has_ten_questions_and_no_program_of_a_lesson(path: Path) -> None:
    test = read_lesson(path)
    assert len(test.tasks) == 10
    taught = {block.text for lesson in LESSONS for block in read_lesson(lesson).programs.values()}
    assert not taught & {block.text for block in test.programs.values()}


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_command_prints_what_the_lesson_quotes(path: Path, linebounce: Program) -> None:
    table = read_lesson(path).table
    words = shlex.split(table.text("command"))
    assert words[0] == "linebounce"
    words = [str(ROOT / word) if word.startswith("programs/") else word for word in words[1:]]
    if words[:2] == ["run", "litmus"]:
        pytest.skip("half a minute: tests/end_to_end/test_litmus.py holds its table")
    if words[:2] == ["run", "lock_scaling"]:
        words += ["--set", 'workload.lock=["tas", "ticket", "mcs"]']
        words = words[:-2]
    result = linebounce(*words, *(["-o", "out"] if words[0] == "run" else []))
    shown = [line.strip() for line in table.text("shows").splitlines() if line.strip()]
    printed = [line.strip() for line in result.stdout.splitlines()]
    assert [line for line in shown if line not in printed] == []


# A quoted run in a lesson's text: "$ linebounce ...", then lines that it prints.
QUOTED = re.compile(r"^```\n\$ (linebounce .*)\n((?:.*\n)*?)```$", re.MULTILINE)


def test_commands_in_a_lessons_text_print_what_is_quoted(linebounce: Program) -> None:
    found = 0
    for path in LESSONS:
        for command, lines in QUOTED.findall(path.read_text(encoding="utf-8")):
            words = [str(ROOT / word) if word.startswith("programs/") else word for word in shlex.split(command)[1:]]
            printed = linebounce(*words).stdout.splitlines()
            assert [line for line in lines.splitlines() if line not in printed] == [], path.name
            found += 1
    assert found >= 2, "lesson 18 reads the tool's tables"


BASE = (TEACH / "new-lesson.md").read_text(encoding="utf-8")

# For each kind of mistake: the text to replace, its replacement, a text on the line that must be named, part of the message.
BROKEN = {
    "no title": ('title   = "A lesson of my own"\n', "", "```toml lesson", "lacks title"),
    "minutes as text": ("minutes = 5", 'minutes = "five"', "minutes =", "minutes is a whole number"),
    "unknown key": ('at  = "start"\n', 'at  = "start"\nsay_it = "x"\n', "say_it", "has no key say_it: did you mean say?"),
    "no TOML": ('at  = "start"', "at  = start", "at  = start", "this is not TOML"),
    "unknown block": ("```toml moment", "```toml momnt", "```toml momnt", "known: break, lesson, moment, question, scene"),
    "unknown kind": ('kind        = "state"', 'kind        = "guess"', 'kind        = "guess"', "legal: choice, multiple"),
    "machine misspelt": ('"p3_xeon_4way"\n[set]', '"p3_xeon_5way"\n[set]', 'machine = "p3_xeon_5way"', "p3_xeon_4way"),
    "error in Lua": ("cpu:store(x, 7)", "cpu:stroe(x, 7)", "cpu:stroe", "stroe"),
    "moment of no form": (
        'then        = "CPU 0 stores x"',
        'then        = "x goes"',
        'then        = "x goes"',
        "legal: start; end",
    ),
    "moment that never comes": ('"CPU 0 stores x"', '"x is 9"', 'then        = "x is 9"', "never happens"),
    "answer that is not the run's": (
        "answer  = 7",
        'answer  = 8\nanswer_from = "value of x"',
        "answer  = 8",
        "value of x is 7",
    ),
    "claim that does not hold": ("value that CPU 1 read is 7", "value that CPU 1 read is 6", "holds", "in the run it is 7"),
    "reading of no form": (
        '"state of x in CPU 0"',
        '"colour of x"',
        'answer_from = "colour of x"',
        "legal: state of X in CPU N",
    ),
    "word that is not there": ('"state of x in CPU 0"', '"state of y in CPU 0"', "answer_from", 'nothing called "y"'),
    "no why for wrong answers": ('else = "CPU 1 gets the value that was written last, 7."\n', "", "[wrong]", 'lacks "else"'),
    "no answer": ("answer  = 7\n", "", 'ask     = "CPU 1 reads', "answer_from"),
    "solution that changes nothing there": ('"| free | I |', '"| frei | I |', "solution", "is not there"),
    "task that is none": ('until    = "broken"', 'until    = "holds"', "until", "the checker says holds"),
    "another violation": ('finds    = "swmr"', 'finds    = "no_deadlock"', "finds", 'finds "swmr"'),
    "protocol misspelt": ('protocol = "msi_snoop"\nask', 'protocol = "msi_snop"\nask', "msi_snop", "did you mean msi_snoop"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_lesson_with_a_mistake_is_refused_with_its_line(name: str, command: Command, tmp_path: Path) -> None:
    old, new, place, says = BROKEN[name]
    assert old in BASE, "the lesson to start from has changed: so must this test"
    text = BASE.replace(old, new, 1)
    path = tmp_path / "broken.md"
    path.write_text(text, encoding="utf-8")
    result = command("teach", "--check", path)
    assert result.code == 2
    assert result.stdout == ""
    found = re.match(rf"linebounce: {re.escape(str(path))}:(\d+): (.*)", result.stderr, re.DOTALL)
    assert found, result.stderr
    assert says in found[2]
    named = text.splitlines()[int(found[1]) - 1]
    assert place in named, f"line {found[1]}: {named}"


def test_a_text_that_is_not_a_lesson_is_refused(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    for content, code, says in (
        (b"", 2, "begins with a block"),
        (b"text\n\n```toml scene x\n```\n", 2, ":3: a lesson begins with a block ```toml lesson"),
        (b"\xff\xfe", 3, ":1: this is not UTF-8 text"),
        (b"x" * (1 << 21), 3, "longer than the limit of 1024 KiB"),
    ):
        path.write_bytes(content)
        result = command("teach", "--check", path)
        assert result.code == code
        assert says in result.stderr
    assert command("teach", "--check", tmp_path / "none.md").code == 3


def test_a_new_lesson_passes_and_is_not_written_over(command: Command, tmp_path: Path) -> None:
    assert command("teach", "--new", tmp_path / "mine").stdout == f"{tmp_path / 'mine.md'}\n"
    assert command("teach", "--check", tmp_path / "mine.md").code == 0
    result = command("teach", "--new", tmp_path / "mine.md")
    assert (result.code, "exists already" in result.stderr) == (2, True)


def test_the_pages_data_has_all_lessons_and_the_same_bytes_each_time() -> None:
    library = Library(Engine())
    texts = {script(library.compiled()) for _ in range(2)}
    assert len(texts) == 1
    packed = re.fullmatch(r'window\.LINEBOUNCE_LESSONS_PACKED="([A-Za-z0-9+/=]+)";\n', texts.pop())
    assert packed
    document = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    assert [lesson["slug"] for lesson in document["lessons"]] == [path.stem[3:] for path in LESSONS]
    assert [len(document["tests"][key]) for key in ("pre", "post")] == [10, 10]
    assert "models/protocols/dragon_snoop.md" in document["protocols"]
    assert "<script" not in json.dumps(document["lessons"])


def test_markup_of_a_lesson_is_text(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_text(BASE.replace("Text is Markdown.", "<script>alert(1)</script>"), encoding="utf-8")
    (prose, *_) = [part["html"] for part in compiled(path)["parts"] if part["kind"] == "prose"]
    assert "&lt;script&gt;alert(1)" in prose


# ---- readings of a run ----

# [tick, row, controller, agent, line, state, event, next] and so on, as in docs/steps.md.
RUN: dict[str, Any] = {
    "cpus": 2,
    "line_bytes": 32,
    "tick_ns": "1/2",
    "tables": [{"name": "cache", "states": ["I", "S", "M"]}, {"name": "memory", "states": ["Idle"]}],
    "caches": [["CPU 1's cache", 0, 0, [1]], ["CPU 0's cache", 0, 0, [0]]],
    "endpoints": [
        ["cache", 0, "CPU 1's cache", 0],
        ["cache", 1, "CPU 0's cache", 0],
        ["bus", 0, "the bus", 0],
        ["memory", 0, "memory", 1],
    ],
    "messages": ["GetS", "Data"],
    "words": [[64, 8, "x", 5, 6], [96, 8, "big", "0xffffffffffffffff", 0]],
    "objects": [["x", "x", 64, 8]],
    "metrics": {"bus.transactions": [4, ""]},
    "log": [
        [0, 2, 1, 2, 0, 2, 4, 0],
        [10, 2, 3, 1, 1, 2, 12, 1],
        [12, 0, 0, 1, 2, 0, 0, 1],
        [12, 1, 1, 0, 0, 64, 8, 5, 5],
        [20, 1, 1, 0, 1, 64, 8, 5, 6],
    ],
}


@pytest.mark.parametrize(
    ("reading", "begin", "end", "answer"),
    [
        ("state of x in CPU 0", 0, 5, "S"),
        ("state of x in CPU 0", 0, 2, "I"),
        ("state of x in CPU 1", 0, 5, "I"),
        ("state of x at memory", 0, 5, "Idle"),
        ("value of x", 0, 3, 5),
        ("value of x", 0, 5, 6),
        ("value of big", 0, 0, 2**64 - 1),
        ("value that CPU 0 read", 0, 5, 5),
        ("sender of data to CPU 0", 0, 5, "memory"),
        ("number of messages", 0, 5, 2),
        ("number of messages", 1, 5, 1),
        ("number of GetS", 0, 5, 1),
        ("number of messages that ask", 0, 5, 1),
        ("number of messages to other nodes", 0, 5, 1),
        ("number of loads of x by CPU 0", 0, 5, 2),
        ("metric bus.transactions", 0, 0, 4),
        ("metric latency.kernel.local_c2c.count", 0, 0, 0),
        ("nanoseconds", 1, 5, 10),
    ],
)
def test_a_reading_is_of_the_steps_up_to_there(reading: str, begin: int, end: int, answer: str | int) -> None:
    assert answers.read(reading, answers.Span(RUN, begin, end)) == answer


@pytest.mark.parametrize(
    ("reading", "says"),
    [
        ("the state of x", "legal: state of X in CPU N"),
        ("state of x in CPU 2", "no CPU 2"),
        ("state of x at home 0", "no directory"),
        ("value of y", 'no word "y"'),
        ("value that CPU 1 read", "has read nothing"),
        ("sender of data to CPU 1", "received no data"),
        ("number of GetX", 'no message "GetX"'),
        ("metric bus.transaction", "did you mean bus.transactions"),
    ],
)
def test_a_missing_reading_names_those_that_the_run_has(reading: str, says: str) -> None:
    with pytest.raises(answers.UnreadableError, match=re.escape(says)):
        answers.read(reading, answers.Span(RUN, 0, 5))


def test_an_error_names_file_and_line() -> None:
    assert str(LessonError(Path("a.md"), 3, "wrong")) == "a.md:3: wrong"


def test_a_page_that_is_refused_leaves_no_folder(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_built(_: Engine) -> Path:
        raise UsageError("the lesson page has not been built")

    monkeypatch.setattr(site, "built_page", not_built)
    done = command("teach", "-o", tmp_path / "pages" / "site")
    assert (done.code, "has not been built" in done.stderr) == (2, True)
    assert not list(tmp_path.iterdir())
