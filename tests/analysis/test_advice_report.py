"""`linebounce report` for the output of `linebounce advise`: the page and its refusals."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from program import Result


def gain(machine: str, low: float, pct: float, high: float, **more: object) -> dict[str, Any]:
    it = {"machine": machine, "change_pct": pct, "change_low_pct": low, "change_high_pct": high, "confirmed": True, "part": []}
    return it | more


def change(what: str, gains: list[dict[str, Any]], **more: object) -> dict[str, Any]:
    texts = dict.fromkeys(("seen", "only_if", "remains", "edit", "source", "diff", "no_diff"), "")
    numbers = {"alternative_to": 0, "recordings": 1}
    return {"what": what, "gains": gains, "cautions": [], "not_tried_on": []} | texts | numbers | more


DOCUMENT = {
    "schema": "linebounce.advise/1",
    "trace": "some/where/server.lbt",
    "machines": ["m1", "m2"],
    "verdict": "One change is worth making, by replays of server.lbt.",
    "limits": [],
    "recordings": 1,
    "time": [
        {
            "machine": "m1",
            "ticks": 1000,
            "shares": [
                {"pct": 75.0, "text": "taking and releasing the lock table_lock"},
                {"pct": 24.6, "text": "computation"},
                {"pct": 0.3, "text": "sleeping"},
                {"pct": 0.1, "text": "misses"},
            ],
        }
    ],
    "changes": [
        change(
            "replace the lock table_lock by <rwsem>",
            [gain("m1", 150, 300, 400), gain("m2", -3, -2, -1, confirmed=False, part=["a", "b"])],
            cautions=["readers must not sleep"],
            not_tried_on=["m3"],
            diff="--- a/x.c\n+++ b/x.c\n",
        )
    ],
    "depends": [],
    "conditional": [
        change("count hits per thread", [gain("m1", 1, 2, 3)], only_if="it is read seldom", seen="hits is an event counter")
    ],
    "seldom": [],
    "recheck": [
        {"machine": "m1", "change": 1, "comparable": True, "held": True, "change_pct": 290.0, "predicted_pct": 300.0}
        | {"operations": 5, "operations_before": 5}
    ],
    "words": [],
    "also_gains": [],
    "no_help": [],
    "not_offered": ["for table_lock seqlock, because its readers follow a pointer"],
    "not_tried": [],
    "missing": ["accesses of libraries"],
    "assumptions": [],
}


@pytest.fixture
def advised(tmp_path: Path) -> Path:
    directory = tmp_path / "server"
    directory.mkdir()
    (directory / "advise.json").write_text(json.dumps(DOCUMENT))
    return directory


def test_the_page_has_the_advice_its_evidence_and_its_limits(process: Callable[..., Result], advised: Path) -> None:
    result = process("report", str(advised))
    assert (result.code, result.stdout.split()) == (0, [str(advised.with_suffix(".html"))]), result.stderr
    page = advised.with_suffix(".html").read_text()
    assert "<script" not in page
    assert page.index("One change is worth making") < page.index("1. replace the lock") < page.index("2. count hits per thread")
    assert "replace the lock table_<wbr>lock by &lt;rwsem&gt;" in page
    for words in ("4.0 times as fast", "2.5 to 5.0", "-2.0 %", "with a and b alone"):
        assert words in page
    for words in ("Check: readers must not sleep.", "Only if it is read seldom.", "Not tried on m3.", "+++ b/x.c"):
        assert words in page
    assert "the prediction held" in page
    assert "75.0 %" in page
    assert "0.4 %" in page, "small shares are one row"
    assert "sleeping" not in page
    assert "seqlock, because its readers follow a pointer" in page
    assert "accesses of libraries" in page
    assert "Only on some machines" not in page


def test_advice_is_a_page_of_its_own(process: Callable[..., Result], advised: Path) -> None:
    both = process("report", str(advised), str(advised))
    assert (both.code, "give no other directory" in both.stderr) == (2, True)
    figures = process("report", str(advised), "--figures", str(advised / "figures"))
    assert (figures.code, "has no charts" in figures.stderr) == (2, True)


@pytest.mark.parametrize("damage", [{"schema": "linebounce.advise/9"}, {"changes": [{}]}, {"time": 3}])
def test_damaged_advice_is_named(process: Callable[..., Result], advised: Path, damage: dict[str, Any]) -> None:
    (advised / "advise.json").write_text(json.dumps(DOCUMENT | damage))
    result = process("report", str(advised))
    assert (result.code, str(advised / "advise.json") in result.stderr) == (3, True)
