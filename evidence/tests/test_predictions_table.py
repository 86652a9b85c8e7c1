"""The table of recommendations in docs/advice-accuracy.md agrees with its sources; nothing is recorded here."""

import importlib
import re
import sys

import pytest
from program import ROOT

sys.path.append(str(ROOT / "examples" / "advice"))
predictions = importlib.import_module("predictions")
PROGRAMS = predictions.programs()
_, TABLE, _ = predictions.parts_of(predictions.PAGE.read_text(encoding="utf-8"))
BY_PROGRAM = predictions.rows_in(TABLE)
ROWS = [row for rows in BY_PROGRAM.values() for row in rows]


def test_every_program_is_in_the_table_or_named_below_it() -> None:
    named = set(re.findall(r"`(\w+)`", TABLE.partition("Nothing is recommended for")[2]))
    assert {row[0] for row in ROWS} | named == PROGRAMS.keys()
    assert not {row[0] for row in ROWS} & named


def test_the_table_has_every_published_figure_of_the_programs_heads() -> None:
    shown = {row[0]: row[4] for row in reversed(ROWS) if row[4]}
    assert len(shown) >= 10
    for name, (program, _) in PROGRAMS.items():
        published = predictions.published_in(program.source)
        assert shown.get(name, "") == (f"sign only: {published.gain_pct:+g} %, {published.source}" if published else "")


def test_wrong_and_missed_cases_have_reasons_and_all_are_counted() -> None:
    signs = [row[5].split(":")[0] for row in ROWS]
    assert {*signs} <= {"right", "WRONG", "missed", "no measure"}
    for row in ROWS:
        if row[5].startswith(("WRONG", "missed")):
            assert re.match(r"(WRONG|missed): \w.{20}", row[5]), row
    assert predictions.counted(ROWS) in " ".join(TABLE.split())


@pytest.mark.parametrize(
    ("recommended", "predicted", "changed", "published", "sign"),
    [
        ("apart", 20, 30, 10, "right"),
        ("apart", 20, 30, -10, "WRONG"),
        ("apart", 20, None, 0, "WRONG"),
        ("nothing", 0, -10, 0, "right"),
        ("nothing", 0, 20, 10, "missed"),
        ("apart", 20, None, None, "no measure"),
    ],
)
def test_a_sign_is_right_if_all_that_was_measured_agrees(
    recommended: str, predicted: float, changed: float | None, published: float | None, sign: str
) -> None:
    figure = None if published is None else predictions.Published(published, "somebody")
    assert predictions.Row("it", recommended, [predicted], changed, figure).sign == sign


def test_a_table_with_another_recommendation_differs() -> None:
    assert predictions.differences(BY_PROGRAM, BY_PROGRAM) == []
    name, (row, *others) = next(iter(BY_PROGRAM.items()))
    changed = BY_PROGRAM | {name: [[row[0], "something else", *row[2:]], *others]}
    assert [it.split(":")[0] for it in predictions.differences(BY_PROGRAM, changed)] == [name]
