"""linebounce.open(): typed results, and one-line errors for unreadable ones."""

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import linebounce
import polars as pl
import pytest
from experiments import experiment
from linebounce import InputError, UsageError
from linebounce.frames import COLUMNS
from program import Program, Result
from test_assumptions import LATENCIES_ALONE
from written_headlines import headline, set_headlines


@pytest.fixture
def copy(locks_run: Path, tmp_path: Path) -> Path:
    """A copy of a results directory that the test may damage."""
    return Path(shutil.copytree(locks_run, tmp_path / "results"))


def refused(directory: Path) -> str:
    """The message, which must be one line and name the place."""
    with pytest.raises(InputError) as caught:
        everything(linebounce.open(directory))
    message = str(caught.value)
    assert "\n" not in message
    assert str(directory) in message
    return message


def everything(results: linebounce.Results) -> list[pl.DataFrame]:
    return [getattr(results, name) for name in COLUMNS]


def edit(path: Path, change: Callable[[str], str]) -> None:
    text = path.read_text()
    changed = change(text)
    assert changed != text, "the change changes nothing"
    path.write_text(changed)


# ---- valid results ----


def test_points_have_their_settings_and_metrics_with_units(locks_run: Path) -> None:
    results = linebounce.open(locks_run)
    assert len(results.points) == 9
    assert results.swept() == {"workload.lock": ["tas", "ticket", "mcs"], "machine.cpus": [1, 2, 4]}
    point = results.point(**{"workload.lock": "mcs", "machine.cpus": 4})
    assert point.number == 8
    assert results.point(lock="mcs", cpus=4) is point
    with pytest.raises(UsageError, match=r"locks is not swept; known: machine\.cpus, workload\.lock"):
        results.point(locks="mcs")
    throughput = point["throughput.operations_per_s"]
    assert throughput.unit == "1/s"
    assert throughput.ci95 is not None
    assert throughput.value > 1e5


def test_metrics_are_the_very_numbers_of_the_file(locks_run: Path) -> None:
    results = linebounce.open(locks_run)
    document = json.loads((locks_run / "results.json").read_text())
    for point, written in zip(results.points, document["points"], strict=True):
        assert dict(point.at) == written["at"]
        assert {name: metric.value for name, metric in point.metrics.items()} == {
            name: metric["value"] for name, metric in written["metrics"].items()
        }


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_a_frame_has_every_number_of_its_file(name: str, locks_run: Path, matrix_run: Path, series_run: Path) -> None:
    directory = {"matrix": matrix_run, "series": series_run}.get(name, locks_run)
    frame = getattr(linebounce.open(directory), name)
    with (directory / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert frame.columns == list(rows[0])
    for column, kind in COLUMNS[name].items():
        read = str if kind == pl.String() else int if kind == pl.Int64() else float
        assert frame[column].to_list() == [read(row[column]) for row in rows], column


def test_a_point_can_be_opened_alone_and_keeps_its_number(locks_run: Path) -> None:
    point = linebounce.open(locks_run / "points" / "4")
    whole = linebounce.open(locks_run)
    assert [p.number for p in point.points] == [4]
    assert point.points[0] == whole.points[4]
    assert point.lines.equals(whole.lines.filter(point=4))


def test_the_settings_of_a_sweep_can_be_joined_to_its_rows(locks_run: Path) -> None:
    results = linebounce.open(locks_run)
    beside = results.locks.filter(call_site="").join(results.settings, on="point")
    assert beside.filter(pl.col("machine.cpus") == 1)["con_pct"].to_list() == [0.0, 0.0, 0.0]


def test_the_table_of_seeds_exists_for_a_single_seed(costs_run: Path, locks_run: Path) -> None:
    one = linebounce.open(costs_run)
    assert one.seeds["seed"].unique().to_list() == [one.seed]
    assert one.seeds.height == len(one.points[0].metrics)
    assert linebounce.open(locks_run).seeds["seed"].unique().sort().to_list() == [1, 2, 3]


def test_a_run_without_a_matrix_has_an_empty_matrix_table(costs_run: Path) -> None:
    matrix = linebounce.open(costs_run).matrix
    assert matrix.is_empty()
    assert matrix.columns == list(COLUMNS["matrix"])


def test_a_run_without_series_has_an_empty_frame(costs_run: Path) -> None:
    series = linebounce.open(costs_run).series
    assert series.is_empty()
    assert series.columns == list(COLUMNS["series"])


def test_paper_rows_have_the_type_of_their_kind(oltp_run: Path) -> None:
    rows = {row.id: row for row in linebounce.open(oltp_run).paper}
    share = rows["ols2007.fig1.local_share_of_misses"]
    assert isinstance(share, linebounce.ValueRow)
    assert share.paper == 46
    order = rows["ols2007.fig1.order_of_sources"]
    assert isinstance(order, linebounce.OrderRow)
    assert len(order.simulated) == len(order.order) == 4


def test_a_metric_is_a_frame_over_the_points(locks_run: Path) -> None:
    results = linebounce.open(locks_run)
    frame = results["throughput.operations_per_s"]
    assert frame.columns == ["point", "workload.lock", "machine.cpus", "value", "unit", "ci95"]
    for row in frame.iter_rows(named=True):
        point = results.point(**{path: row[path] for path in results.swept()})
        metric = point["throughput.operations_per_s"]
        assert (row["point"], row["value"], row["unit"], row["ci95"]) == (point.number, metric.value, "1/s", metric.ci95)
    assert frame.height == 9
    shared = results["latency.local_c2c.mean_ns"]["machine.cpus"].unique().sort().to_list()
    assert shared == [2, 4], "one CPU has no other's lines"


def test_for_a_missing_metric_similar_ones_are_named(locks_run: Path) -> None:
    results = linebounce.open(locks_run)
    for of in (results, results.points[0]):
        with pytest.raises(UsageError, match=r"did you mean throughput\.operations_per_s or "):
            of["throughput.operations_per_sec"]
        with pytest.raises(UsageError, match=r"metric xyz; there are \d+, from "):
            of["xyz"]


def test_headlines_are_read_from_the_results_file(copy: Path) -> None:
    set_headlines(copy, [headline("bus.transactions", "bus", "neither"), headline("nowhere.at_all", "none", "lower")])
    assert linebounce.open(copy).headlines == (
        linebounce.Headline("bus.transactions", "bus", "neither"),
        linebounce.Headline("nowhere.at_all", "none", "lower"),
    )


def test_older_results_headline_is_the_throughput_or_the_first_metric(copy: Path) -> None:
    set_headlines(copy, None)
    assert linebounce.open(copy).headlines == (linebounce.Headline("throughput.operations_per_s", "operations", "higher"),)
    edit(copy / "results.json", lambda text: text.replace("throughput.operations_per_s", "throughput.others_per_s"))
    first = next(iter(linebounce.open(copy).points[0].metrics))
    assert linebounce.open(copy).headlines == (linebounce.Headline(first, first, "neither"),)


def test_data_frames_can_be_converted_to_pandas(locks_run: Path) -> None:
    results = linebounce.open(locks_run)
    for frame in (results["throughput.operations_per_s"], results.lines, results.locks, results.settings):
        converted = frame.to_pandas()
        assert list(converted.columns) == frame.columns
        assert converted.to_dict("list") == frame.to_dict(as_series=False)


def test_for_a_missing_point_the_existing_ones_are_named(locks_run: Path) -> None:
    with pytest.raises(UsageError, match=r"no points have machine\.cpus = 3.*machine\.cpus: 1, 2, 4"):
        linebounce.open(locks_run).point(**{"machine.cpus": 3})
    with pytest.raises(UsageError, match=r"3 points have machine\.cpus = 4"):
        linebounce.open(locks_run).point(**{"machine.cpus": 4})


# ---- refused results ----


def test_a_missing_directory_says_how_one_is_made(tmp_path: Path) -> None:
    assert "there is no such results directory; `linebounce run EXPERIMENT" in refused(tmp_path / "nothing")


def test_any_other_directory_is_not_a_results_directory(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").touch()
    assert "this is not a results directory" in refused(tmp_path)


@pytest.mark.parametrize("name", ["results", "manifest"])
def test_a_newer_schema_asks_for_a_newer_version(copy: Path, name: str) -> None:
    edit(copy / f"{name}.json", lambda text: text.replace(f"linebounce.{name}/1", f"linebounce.{name}/2"))
    message = refused(copy)
    assert f"{name}.json" in message
    assert f'"linebounce.{name}/2"' in message
    assert "newer" in message


def test_a_file_of_another_program_is_named(copy: Path) -> None:
    (copy / "results.json").write_text('{"name": "a package"}')
    assert "results.json: this is not a file that Linebounce wrote" in refused(copy)


def test_an_interrupted_run_says_how_far_it_is_and_how_to_continue(copy: Path) -> None:
    edit(
        copy / "manifest.json",
        lambda text: text.replace('"status": "complete"', '"status": "interrupted"').replace(
            '"points_done": 9', '"points_done": 2'
        ),
    )
    message = refused(copy)
    assert "interrupted" in message
    assert "2 of 9 points done" in message
    assert "run" in message.rpartition("goes on from there: ")[2]


def test_a_file_cut_in_its_last_line_is_refused_with_that_line(copy: Path) -> None:
    path = copy / "lines.csv"
    text = path.read_text()
    cut = text[: len(text) // 2].rstrip("\n") + "1"
    path.write_text(cut)
    assert refused(copy).startswith(f"{path}:{cut.count(chr(10)) + 1}: the file is cut off")


@pytest.mark.parametrize(
    ("name", "line", "change", "said"),
    [
        ("lines.csv", 3, lambda row: ",".join(row.split(",")[:5]), "5 values for 22 columns"),
        ("lines.csv", 3, lambda row: row + ",1", "23 values for 22 columns"),
        ("latency.csv", 2, lambda row: row.replace(row.split(",")[-1], "many"), 'count is "many"; expected an integer'),
        ("latency.csv", 2, lambda row: row.rpartition(",")[0] + ",", 'count is ""; expected an integer'),
        ("locks.csv", 2, lambda row: row.replace(row.split(",")[3], "x", 1), "expected a number"),
        ("seeds.csv", 5, lambda row: ",".join(row.split(",")[:4]), "4 values for 5 columns"),
    ],
)
def test_a_damaged_row_is_refused_with_its_line(copy: Path, name: str, line: int, change: Callable, said: str) -> None:
    path = copy / name
    rows = path.read_text().splitlines()
    rows[line - 1] = change(rows[line - 1])
    path.write_text("\n".join(rows) + "\n")
    assert refused(copy).startswith(f"{path}:{line}: ")
    assert said in refused(copy)


def test_other_columns_are_refused_with_those_that_there_must_be(copy: Path) -> None:
    edit(copy / "locks.csv", lambda text: text.replace("util_pct", "use", 1))
    assert "locks.csv:1: the columns are" in refused(copy)


@pytest.mark.parametrize(
    "name", ["results.json", "manifest.json", "config.toml", "latency.csv", "lines.csv", "transitions.csv"]
)
def test_a_missing_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()
    assert str(copy / name) in refused(copy)


@pytest.mark.parametrize("name", ["results.json", "manifest.json", "config.toml"])
def test_half_a_document_is_refused(copy: Path, name: str) -> None:
    edit(copy / name, lambda text: text[: len(text) // 2] + "\n[[[")
    assert f"{name}: cut off or damaged" in refused(copy)


@pytest.mark.parametrize(
    ("headlines", "said"),
    [
        ({}, "headlines is {}; expected list"),
        ([{"metric": "a.b", "label": "b"}], "'better' is missing"),
        ([headline("a.b", "b", "more")], "better is 'more'; expected"),
        ([headline("a.b", "b", "lower") | {"metric": 3}], "metric is 3; expected str"),
        (["throughput.operations_per_s"], "string indices must be integers"),
    ],
)
def test_headlines_of_another_shape_are_refused(copy: Path, headlines: object, said: str) -> None:
    set_headlines(copy, headlines)
    assert f"results.json: damaged: {said}" in refused(copy)


def test_a_document_without_a_part_names_it(copy: Path) -> None:
    edit(copy / "results.json", lambda text: text.replace('"experiment"', '"experimental"'))
    assert "results.json: damaged: 'experiment' is missing" in refused(copy)


def test_a_machines_omissions_are_shown_wherever_the_answer_is(
    session_linebounce: Program, command: Callable[..., Result], tmp_path: Path
) -> None:
    machine = session_linebounce.file("latencies_alone.toml", LATENCIES_ALONE)
    run = session_linebounce.run(session_linebounce.file("assumed.toml", experiment()), "assumed", "--machine", machine)
    (assumed,) = linebounce.open(run).assumptions
    assert "intel_mesh, assumed" in assumed
    assert command("report", run, "-o", tmp_path / "page.html").code == 0
    page = re.sub("<wbr>", "", (tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "intel_mesh, assumed" in page
    assert "intel_mesh, assumed" in command("compare", run, run).stdout
