"""The lint of rows' kinds: who names a row as a source, which rows that concerns, and the project itself."""

import pytest
from lint_row_kinds import findings

ROW = '[workload]\nname = "w"\n[[paper]]\nid = "a.table1.hit"\nkind = "{}"\n'
MACHINE = 'name = "m"\n[sources]\n"memory.latency_ns" = "{}"\n'


@pytest.mark.parametrize(
    "source", ["calibrated: a.table1.hit", "calibrated: in another machine, to a.table1.hit", "paper: a.table1.hit, twice"]
)
def test_a_row_that_a_machine_names_is_no_prediction(source: str) -> None:
    machine = MACHINE.format(source)
    (finding,) = findings({"m.toml": machine, "e.toml": ROW.format("predicted")})
    assert finding == "e.toml:4: a.table1.hit is predicted, but m.toml:3 names it as what a parameter comes from"
    for kind in ("calibrated", "in_sight", "definition"):
        assert findings({"m.toml": machine, "e.toml": ROW.format(kind)}) == []


def test_a_row_without_a_kind_is_predicted() -> None:
    row = ROW.format("predicted").replace('kind = "predicted"\n', "")
    assert len(findings({"m.toml": MACHINE.format("calibrated: a.table1.hit"), "e.toml": row})) == 1


def test_an_experiment_uses_what_it_is_calibrated_to_and_may_speak_of_other_rows() -> None:
    used = "# calibrated: the rate on a.table1.hit\n" + ROW.format("predicted")
    assert findings({"e.toml": used}) == [
        "e.toml:5: a.table1.hit is predicted, but e.toml:1 names it as what a parameter comes from"
    ]
    assert findings({"e.toml": "# a.table1.hit misses\n" + ROW.format("predicted")}) == []


def test_every_experiment_with_the_row_is_looked_at() -> None:
    texts = {"m.toml": MACHINE.format("calibrated: a.table1.hit")}
    texts |= {"one.toml": ROW.format("predicted"), "two.toml": ROW.format("calibrated"), "three.toml": ROW.format("predicted")}
    assert [finding.split(":")[0] for finding in findings(texts)] == ["one.toml", "three.toml"]


def test_what_only_begins_as_an_id_is_no_row() -> None:
    assert (
        findings({"m.toml": MACHINE.format("calibrated: a.table1, with a.table1.hits"), "e.toml": ROW.format("predicted")})
        == []
    )


@pytest.mark.parametrize(("keys", "count"), [("", 1), ('calibrated = ["f.lock"]\n', 0), ('kind = "in_sight"\n', 0)])
def test_a_tables_rows_have_kinds_too(keys: str, count: int) -> None:
    table = '# calibrated: a.fig3.f.lock\n[workload]\nname = "w"\n[[table]]\nid = "a.fig3"\n' + keys
    found = findings({"e.toml": table})
    assert len(found) == count
    assert all(finding.startswith("e.toml:5: a.fig3.f.lock is predicted") for finding in found)
