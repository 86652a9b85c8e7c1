"""The table of recommendations in docs/real-programs.md, without recording anything: what it says, and what its sources say."""

import importlib
import re
import sys

import pytest
from program import ROOT

sys.path.append(str(ROOT / "examples" / "advice"))
predictions = importlib.import_module("predictions")
PROGRAMS = predictions.programs()
_, TABLE, _ = predictions.parts_of(predictions.PAGE.read_text(encoding="utf-8"))
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in TABLE.splitlines() if line.startswith("| ")][2:]


def test_every_program_is_in_the_table_or_named_below_it() -> None:
    named = set(re.findall(r"`(\w+)`", TABLE.partition("Nothing is recommended for")[2]))
    assert {row[0] for row in ROWS} | named == PROGRAMS.keys()
    assert not {row[0] for row in ROWS} & named


def test_every_published_figure_stands_in_the_table_as_in_the_programs_head() -> None:
    shown = {row[0]: row[4] for row in reversed(ROWS) if row[4]}
    assert len(shown) >= 10
    for name, (program, _) in PROGRAMS.items():
        published = predictions.published_in(program.source)
        assert shown.get(name, "") == (f"{published.gain_pct:+g} %, {published.source}" if published else "")


def test_what_is_wrong_or_missed_has_its_reason_and_all_are_counted() -> None:
    signs = [row[5].split(":")[0] for row in ROWS]
    assert {*signs} <= {"right", "WRONG", "missed", "no measure"}
    for row in ROWS:
        if row[5].startswith(("WRONG", "missed")):
            assert re.match(r"(WRONG|missed): \w.{20}", row[5]), row
    recommended = sum(row[1] != "nothing" for row in ROWS)
    sentence = " ".join(TABLE.split())
    assert f"{recommended} recommendations; of {len(ROWS)} rows {signs.count('right')} have the right sign" in sentence


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
    assert predictions.differences(TABLE, TABLE) == []
    row = next(row for row in ROWS if row[5] == "right")
    changed = TABLE.replace(f"| {row[0]} | {row[1]} |", f"| {row[0]} | something else |", 1)
    assert [it.split(":")[0] for it in predictions.differences(TABLE, changed)] == [row[0]]
