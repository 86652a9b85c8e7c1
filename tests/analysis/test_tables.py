"""`linebounce tables`: any table of results as CSV, JSON, Parquet or Markdown."""

import json
from collections.abc import Callable
from pathlib import Path

import linebounce
import polars as pl
import pytest
from program import Result


@pytest.mark.parametrize("table", ["metrics", "lines", "locks", "settings"])
def test_a_table_of_results_is_the_same_in_each_form(
    command: Callable[..., Result], locks_run: Path, tmp_path: Path, table: str
) -> None:
    results = linebounce.open(locks_run)
    expected: pl.DataFrame = getattr(results, table)
    if table != "settings":  # the sweep's values stand beside the point
        swept = [[point.at[path] for path in results.swept()] for point in results.points]
        expected = pl.DataFrame(
            [
                {"point": row["point"]} | dict(zip(results.swept(), swept[row["point"]], strict=True)) | row
                for row in expected.to_dicts()
            ],
            schema={"point": pl.Int64} | results.settings.drop("point").schema | dict(expected.schema),
        )
    assert expected.height > 0
    for name in ("t.csv", "t.json", "t.parquet"):
        result = command("tables", locks_run, table, "-o", tmp_path / name)
        assert result.code == 0, result.stderr
        assert f"{expected.height} rows of {expected.width} columns" in result.stdout
    assert pl.read_parquet(tmp_path / "t.parquet").equals(expected)
    assert json.loads((tmp_path / "t.json").read_text()) == expected.to_dicts()
    assert pl.read_csv(tmp_path / "t.csv").columns == expected.columns
    markdown = command("tables", locks_run, table, "--format", "markdown").stdout.splitlines()
    assert len(markdown) == expected.height + 2
    assert markdown[0] == f"| {' | '.join(expected.columns)} |"


def test_no_name_is_a_formula_of_a_spreadsheet_or_acts_in_markdown(command: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("name,@sum\n=1+1,1\n'=1+1,2\n-x,3\n-2.5e+1,5\na|`b`<img src=x>[c](d),4\n")
    assert command("tables", tmp_path / "w.csv", "-o", tmp_path / "t.csv").code == 0
    rows = (tmp_path / "t.csv").read_text().splitlines()
    assert rows == ["name,'@sum", "'=1+1,1", "''=1+1,2", "'-x,3", "-2.5e+1,5", "a|`b`<img src=x>[c](d),4"]
    markdown = command("tables", tmp_path / "w.csv", "--format", "markdown").stdout
    assert r"| a\|\`b\`&lt;img src=x&gt;\[c\](d) | 4 |" in markdown


def test_without_a_table_its_list_is_printed(command: Callable[..., Result], locks_run: Path) -> None:
    assert "metrics: " in command("tables", locks_run).stdout


def test_a_csv_file_becomes_parquet_with_its_types(command: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text('name,waits,wait_total_us\n"a, b",1,2.5\nc,,1\n')
    assert command("tables", tmp_path / "w.csv", "-o", tmp_path / "w.parquet").code == 0
    frame = pl.read_parquet(tmp_path / "w.parquet")
    assert frame.to_dicts() == [
        {"name": "a, b", "waits": 1, "wait_total_us": 2.5},
        {"name": "c", "waits": None, "wait_total_us": 1.0},
    ]


def test_a_cell_may_have_any_length(command: Callable[..., Result], tmp_path: Path) -> None:
    long = "y," * 80_000
    (tmp_path / "w.csv").write_text(f'name,waits\n"{long}",3\n')
    assert json.loads(command("tables", tmp_path / "w.csv", "--format", "json").stdout) == [{"name": long, "waits": 3}]


def test_numbers_of_any_size_are_read_and_json_has_no_infinities(command: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text(f"large,real\n{8 * 10**50},nan\n2,-inf\n")
    shown = command("tables", tmp_path / "w.csv", "--format", "json").stdout
    assert json.loads(shown, parse_constant=pytest.fail) == [{"large": 8e50, "real": None}, {"large": 2.0, "real": None}]


@pytest.mark.parametrize("option", [["-o", "x.csv"], ["--format", "json"]])
def test_options_that_the_list_of_tables_would_ignore_are_refused(
    command: Callable[..., Result], locks_run: Path, tmp_path: Path, option: list[str]
) -> None:
    result = command("tables", locks_run, *option, cwd=tmp_path)
    assert (result.code, result.stdout) == (2, "")
    assert f"{'--output' if option[0] == '-o' else option[0]} needs TABLE" in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_name_with_a_newline_stays_on_one_line(command: Callable[..., Result], tmp_path: Path) -> None:
    folder = tmp_path / "a\nlinebounce: done"
    folder.mkdir()
    (folder / "w.csv").write_text("x\n1\n")
    for words in (
        ["tables", folder],
        ["tables", folder / "w.csv", "-o", folder / "t.json"],
        ["report", folder],
    ):
        result = command(*words)
        assert (result.stdout + result.stderr).count("\n") == 1, result
        assert r"a\u000alinebounce: done" in result.stdout + result.stderr


@pytest.mark.parametrize("option", [[], ["--no\nsuch"]])
def test_a_wrong_word_with_a_newline_stays_on_one_line(command: Callable[..., Result], option: list[str]) -> None:
    result = command("tables", "a\nb", "c\nd", "e\nf", *option)
    assert result.stderr.count("\n") == 2, "the message, and the line that names --help"
    assert r"\u000a" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'a,b\n1,"{"x" * 140_000}\n"\n2\n', "w.csv:4: 1 cells"),
        ("a,b\n1\n", "w.csv:2: 1 cells"),
        ("a,a\n1,2\n", "a title occurs twice"),
        ("", "has no line of titles"),
    ],
)
def test_a_damaged_csv_file_is_refused_with_its_line(
    command: Callable[..., Result], tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "w.csv").write_text(text)
    result = command("tables", tmp_path / "w.csv", "--format", "json")
    assert result.code == 3
    assert message in result.stderr


def test_unknown_tables_and_forms_are_refused_with_the_known_ones(
    command: Callable[..., Result], locks_run: Path, tmp_path: Path
) -> None:
    result = command("tables", locks_run, "lock")
    assert result.code == 2
    assert "locks" in result.stderr
    result = command("tables", locks_run, "locks", "-o", tmp_path / "t.xlsx")
    assert result.code == 2
    assert ".parquet" in result.stderr
