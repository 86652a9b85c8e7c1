"""Decides whether an answer is right and what to reply, in the terminal and when grading."""

from dataclasses import dataclass
from typing import Any

from linebounce.teach.compiler import Compiled
from linebounce.teach.lesson import ELSE, Question


@dataclass(frozen=True)
class Mark:
    right: bool
    says: str  # the reply, in Markdown


def mark(question: Question, compiled: Compiled, given: Any) -> Mark:
    """The mark for an answer and the reply to it. `given`: a string, a number, or a list of strings for several
    choices."""
    right = _RIGHT[question.kind](compiled, given)
    return Mark(right, question.table.text("right") if right else _why_wrong(question, compiled, given))


def _plain(text: Any) -> str:
    return " ".join(str(text).split()).casefold()


def _is_text(compiled: Compiled, given: Any) -> bool:
    answers = compiled["answer"] if isinstance(compiled["answer"], list) else [compiled["answer"]]
    return _plain(given) in map(_plain, answers)


def _is_set(compiled: Compiled, given: Any) -> bool:
    return isinstance(given, list) and {_plain(one) for one in given} == {_plain(one) for one in compiled["answer"]}


def number_of(given: Any) -> float | None:
    if isinstance(given, bool | list):
        return None
    try:
        return float(given)
    except ValueError:
        return None


def _is_number(compiled: Compiled, given: Any) -> bool:
    number = number_of(given)
    return number is not None and abs(number - float(compiled["answer"])) <= compiled["within"] + 1e-9


_RIGHT = {"choice": _is_text, "state": _is_text, "text": _is_text, "multiple": _is_set, "number": _is_number}


def _why_wrong(question: Question, compiled: Compiled, given: Any) -> str:
    wrong = {_plain(key): text for key, text in question.wrong.items()}
    if question.kind == "multiple":
        chosen = {_plain(one) for one in given} if isinstance(given, list) else set()
        differ = chosen ^ {_plain(one) for one in compiled["answer"]}
        said = [f"{choice}: {text}" for choice, text in question.wrong.items() if _plain(choice) in differ]
        return "\n\n".join(said)
    key = _plain(given)
    number = number_of(given) if question.kind == "number" else None
    if number is not None:
        key = next((one for one in wrong if number_of(one) == number), key)
    return wrong.get(key, wrong.get(ELSE, "")).strip()
