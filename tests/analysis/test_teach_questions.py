"""`linebounce teach --questions`: answers agree with a table interpreter that shares nothing with the simulator."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from program import Result
from table_interpreter import Interpreter
from textbook import Shape, told

Command = Callable[..., Result]

PROTOCOLS = ("MSI", "MESI", "MESIF", "MOESI", "Dragon")
CPUS = 4
COUNT = 500


def answer_of(one: dict[str, Any]) -> str:
    """The answer by the interpreter."""
    facts = one["facts"]
    caches = Interpreter(facts["protocol"], CPUS)
    done = [caches.access(cpu, write) for cpu, write in facts["accesses"]]
    messages = [message for access in done for message in access.messages]
    if one["kind"] == "states":
        return ", ".join(caches.states[cpu] for cpu in facts["cpus"])
    if one["kind"] == "state":
        return caches.states[facts["cpu"]]
    if one["kind"] == "messages":
        return str(messages.count(facts["message"]))
    if one["kind"] == "supplier":
        return done[-1].supplier or "nobody"
    if one["kind"] == "cycles":
        return str(sum(_cycles(access.messages, access.supplier) for access in done))
    assert one["kind"] == "next"
    event = "Store" if facts["write"] else "Load"
    return caches.row("cache", caches.states[facts["cpu"]], event)[1]


def _cycles(messages: list[str], supplier: str) -> int:
    if not messages:
        return 1
    return {"": 10, "memory": 100}.get(supplier, 40)


def bank(command: Command, path: Path, *arguments: str) -> list[dict[str, Any]]:
    result = command("teach", "--questions", *arguments, "-o", path)
    assert result.code == 0, result.stderr
    questions: list[dict[str, Any]] = json.loads(path.read_text())["questions"]
    return questions


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_answers_are_those_of_the_table_and_no_question_comes_twice(command: Command, tmp_path: Path, protocol: str) -> None:
    questions = bank(command, tmp_path / "bank.json", str(COUNT), "--protocol", protocol, "--seed", "1")
    assert len(questions) == COUNT
    assert [one["text"] for one in questions if one["answer"] != answer_of(one)] == []
    assert len({one["text"] for one in questions}) == COUNT
    assert min(Counter(one["kind"] for one in questions).values()) > COUNT // 12
    assert all(one["answer"] in one["choices"] for one in questions if one["choices"])


def test_a_seed_repeats_its_questions_and_another_does_not(command: Command, tmp_path: Path) -> None:
    first = bank(command, tmp_path / "a.json", "20", "--protocol", "MESI", "--seed", "1")
    assert first == bank(command, tmp_path / "b.json", "20", "--protocol", "MESI", "--seed", "1")
    other = bank(command, tmp_path / "c.json", "20", "--protocol", "MESI", "--seed", "2")
    assert len({one["text"] for one in [*first, *other]}) > 35


def test_hard_questions_cross_more_transient_rows_than_easy_ones(command: Command, tmp_path: Path) -> None:
    easy, hard = (
        bank(command, tmp_path / f"{level}.json", "40", "--protocol", "MOESI", "--seed", "1", "--level", level)
        for level in ("easy", "hard")
    )
    assert max(one["transient"] for one in easy) < min(one["transient"] for one in hard)


def test_moodles_file_has_one_right_answer_for_each_question(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "bank.xml"
    assert command("teach", "--questions", "30", "--protocol", "MESI", "--seed", "3", "-o", path).code == 0
    category, *questions = ElementTree.parse(path).getroot()
    assert category.get("type") == "category"
    assert len(questions) == 30
    for question in questions:
        assert question.get("type") in ("multichoice", "numerical")
        assert question.findtext("name/text")
        assert question.findtext("questiontext/text", "").startswith("<p>4 CPUs")
        assert [answer.get("fraction") for answer in question.iter("answer")].count("100") == 1


def test_markdown_and_page_have_every_question_and_its_answer(command: Command, tmp_path: Path) -> None:
    for name, marks in {"bank.md": ("**q9.**", "\n- q9: "), "bank.html": ("<li id=q9>", "<summary>Answer")}.items():
        assert command("teach", "--questions", "9", "--protocol", "MSI", "--seed", "1", "-o", tmp_path / name).code == 0
        text = (tmp_path / name).read_text()
        assert all(mark in text for mark in marks)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["5"], "--questions needs --protocol"),
        (["0", "--protocol", "MESI"], "legal: 1 to 2000"),
        (["5", "--protocol", "NESI"], '--protocol: protocol "NESI" is not known; known: dragon_snoop'),
        (["5", "--protocol", "illinoi"], "did you mean illinois_atomic"),
        (["5", "--protocol", "illinois", "--level", "hard"], "has no waiting states"),
        (["5", "--protocol", "MESI", "-o", "bank.docx"], "legal: .md, .xml, .html, .json"),
    ],
)
def test_wrong_usage_is_refused_with_what_is_legal(command: Command, arguments: list[str], says: str) -> None:
    result = command("teach", "--questions", *arguments)
    assert result.code == 2
    assert says in result.stderr


def textbooks_answer(one: dict[str, Any], protocol: str) -> str:
    """The answer by a model of the textbooks, which has no tables. All questions' lines stay in their caches."""
    facts = one["facts"]
    rows = told(protocol, [(cpu, write, 0x1000) for cpu, write in facts["accesses"]], Shape(4096, 4, 64))
    asked = [[word for word in row["bus"].split(", ") if word] for row in rows]
    suppliers = [re.sub(r"P(\d)", r"CPU \1's cache", row["data_from"]) for row in rows]
    states = [rows[-1].get(f"P{cpu}_after", "I") for cpu in range(CPUS)]
    return {
        "states": lambda: ", ".join(states[cpu] for cpu in facts["cpus"]),
        "state": lambda: states[facts["cpu"]],
        "messages": lambda: str(sum(messages.count(facts["message"]) for messages in asked)),
        "supplier": lambda: suppliers[-1] or "nobody",
        "cycles": lambda: str(sum(map(_cycles, asked, suppliers))),
    }[one["kind"]]()


@pytest.mark.parametrize("protocol", ["illinois", "mesi_atomic", "write_through", "MOSI", "write-through-allocate"])
def test_answers_for_an_atomic_bus_are_the_textbooks(command: Command, tmp_path: Path, protocol: str) -> None:
    questions = bank(command, tmp_path / "bank.json", "100", "--protocol", protocol, "--seed", "1")
    family = protocol.lower().replace("-", "_").removesuffix("_atomic")
    assert [one["text"] for one in questions if one["answer"] != textbooks_answer(one, family)] == []
    assert len({one["text"] for one in questions}) == 100
    assert {one["kind"] for one in questions} == {"states", "state", "messages", "supplier", "cycles"}
    assert all(one["answer"] in one["choices"] for one in questions if one["choices"])
    assert all("on an atomic bus" in one["text"] for one in questions)
