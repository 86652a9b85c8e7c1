"""Direct I/O through block layer, SCSI and driver: each what-if changes what it is said to change, and nothing else."""

import json
from pathlib import Path

import pytest
from program import Program
from results import read_csv
from ways import assert_every_way_agrees

SHORT = ["--set", "run.warmup_us=1000", "--set", "run.measure_us=3000"]


@pytest.fixture(scope="module")
def plain(session_linebounce: Program) -> Path:
    return session_linebounce.run("block_io", "block_io", "--fresh", *SHORT)


def rows(directory: Path, point: int, **wanted: str) -> list[dict[str, str]]:
    all_rows = read_csv(directory / "lines.csv")
    return [row for row in all_rows if row["point"] == str(point) and all(row[key] == value for key, value in wanted.items())]


def points(directory: Path) -> list[dict[str, bool]]:
    return [point["at"] for point in json.loads((directory / "results.json").read_text())["points"]]


def test_block_io_gives_the_same_results_in_every_engine_mode(linebounce: Program, plain: Path) -> None:
    assert_every_way_agrees(linebounce, "block_io", *SHORT, plain=plain)


def test_without_plugs_no_queue_arms_its_timer(plain: Path) -> None:
    for number, at in enumerate(points(plain)):
        armed = rows(plain, number, structure="request_queue", function="blk_plug_device", field="queue_flags")
        assert bool(armed) == at["workload.plug"]


def test_without_the_check_a_completion_leaves_queue_depth_alone(plain: Path) -> None:
    for number, at in enumerate(points(plain)):
        read = rows(plain, number, structure="scsi_device", function="qla2x00_process_completed_request", field="queue_depth")
        assert bool(read) == at["workload.adjust_queue_depth_check"]


def test_completion_on_the_submitter_keeps_the_count_in_its_cache(plain: Path) -> None:
    """If an I/O completes on the CPU that submitted it, the counts of its process stay in that CPU's cache; if not, the
    interrupted CPUs miss on them."""
    for number, at in enumerate(points(plain)):
        missed = rows(plain, number, structure="size_1024", function="dio_bio_end_io", field="dio.refcount")
        assert bool(missed) != at["workload.complete_on_submitter"]
