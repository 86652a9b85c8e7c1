"""Computes from a line's misses which CPUs own and share it."""

from pathlib import Path

import linebounce
import polars as pl
from linebounce.frames import TIMELINE
from linebounce.report.ownership import first_part, ownership, ownership_frames

Miss = tuple[int, str, float]  # CPU, access, end in ns


def timeline(*misses: Miss, line: int = 0) -> pl.DataFrame:
    """Misses on one line of object o, 10 ns each."""
    rows = [
        ("miss", str(cpu), end - 10, end, "upgrade" if access == "store" else "local_c2c", access, "o", line, 8, "f")
        for cpu, access, end in misses
    ]
    return pl.DataFrame(rows, schema=TIMELINE, orient="row")


def spans(frame: pl.DataFrame) -> list[tuple[int, str, float, float]]:
    ((_, found),) = ownership(frame)
    return [(span["cpu"], span["state"], 1000 * span["from_us"], 1000 * span["to_us"]) for span in found]


def test_a_store_takes_the_line_from_all_others_at_its_end() -> None:
    assert spans(timeline((0, "load", 20), (1, "load", 30), (2, "store", 50), (0, "atomic", 90), (1, "store", 100))) == [
        (0, "shares", 20, 50),
        (1, "shares", 30, 50),
        (2, "owns", 50, 90),
        (0, "owns", 90, 100),
    ]


def test_a_load_shares_the_line_with_its_owner() -> None:
    assert spans(timeline((0, "store", 20), (1, "load", 40), (1, "store", 70), (0, "load", 100))) == [
        (0, "owns", 20, 40),
        (0, "shares", 40, 70),
        (1, "shares", 40, 70),
        (1, "owns", 70, 100),
    ]


def test_a_second_miss_of_the_owner_changes_nothing() -> None:
    frame = timeline((0, "store", 20), (0, "store", 25), (0, "load", 30), (1, "store", 60))
    assert spans(frame) == [(0, "owns", 20, 60)]
    assert next(ownership(frame))[0] == {"object": "o", "line": 0, "changes": 2, "cpus": 1}


def test_lines_that_change_most_come_first_and_those_that_never_do_not_at_all() -> None:
    frame = pl.concat(
        [
            timeline((0, "load", 20), (1, "store", 30)),
            timeline((0, "store", 20), (1, "store", 30), (0, "store", 40), line=1),
            timeline((0, "load", 20), line=2),
        ]
    )
    assert [line["line"] for line, _ in ownership(frame)] == [1, 0]


def test_at_no_time_has_a_line_two_owners_or_an_owner_beside_readers(timeline_run: Path) -> None:
    lines, found = ownership_frames(linebounce.open(timeline_run))
    assert lines.height > 5
    for _, of_line in found.group_by("object", "line"):
        owned = of_line.filter(state="owns")
        for begin, end in owned.select("from_us", "to_us").iter_rows():
            beside = of_line.filter(pl.col("from_us") < end, pl.col("to_us") > begin)
            assert beside.height == 1


def test_a_run_without_a_timeline_has_no_owners(locks_run: Path) -> None:
    lines, found = ownership_frames(linebounce.open(locks_run))
    assert lines.is_empty()
    assert found.is_empty()


def test_the_first_part_of_a_lines_time_is_cut_at_its_end() -> None:
    spans = pl.DataFrame({"from_us": [0.0, 4.0, 12.0], "to_us": [4.0, 12.0, 100.0]})
    assert first_part(spans, 10).rows() == [(0.0, 4.0), (4.0, 10.0)]
    assert first_part(spans, 1).equals(spans)
