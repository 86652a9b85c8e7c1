"""Results directories with a damaged file: report, compare and export work, or name the file in one line."""

import json
import os
import random
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from linebounce.compare import command as compare
from linebounce.frames import COLUMNS
from linebounce.report import command as report
from linebounce.trace_export import command as export
from program import Program
from results_reader import VALUES, places_of, toml_text

SEED = 20261121


@pytest.fixture(scope="module")
def good(session_linebounce: Program) -> Path:
    """Two points with everything that a directory can have: paper rows, seeds, nodes, a latency matrix, a timeline."""
    path = session_linebounce.file(
        "damaged/good.toml",
        """\
name    = "good"
machine = "numaq_16way"
[workload]
name = "core_to_core"
[run]
seeds           = 2
record_timeline = true
timeline_us     = 100
[set]
"machine.cpus" = 8
[sweep]
"machine.memory.latency_ns" = [100, 200]
[[paper]]
id = "a"
kind = "predicted"
source = "a paper"
metric = "core_to_core.other_node_ns"
value = 500
tolerance = 0.5
at = { "machine.memory.latency_ns" = 100 }
""",
    )
    return session_linebounce.run(path, "damaged/good")


Ask = Callable[[Path], str]


@pytest.fixture
def ask(good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Makes every command read a directory; returns their messages, each at most one line, and never a traceback."""

    def all_of_them(directory: Path) -> str:
        output = tmp_path / "output"
        calls = [
            (report.main, [directory, "-o", output / "page.html"]),
            (compare.main, [good, directory]),
            (compare.main, [directory, good, "--fail-on", "bus.utilisation_pct > 101"]),
            (export.main, [directory, "--point", "0", "--perfetto", output / "x.pftrace"]),
        ]
        said = ""
        for main, arguments in calls:
            code = main([str(argument) for argument in arguments])
            lines = capsys.readouterr().err
            assert code in (0, 1, 2, 3), lines
            assert lines.count("\n") <= 2 if code == 1 else lines.count("\n") == (code != 0), lines
            said += lines
        return said

    return all_of_them


def files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file() and not path.name.startswith("."))


@pytest.mark.parametrize("text", ["", 'name = "x"\n', "[machine]\n"])
def test_a_configuration_without_a_machine_is_one_line(ask: Ask, good: Path, tmp_path: Path, text: str) -> None:
    directory = Path(shutil.copytree(good, tmp_path / "copy"))
    (directory / "config.toml").write_text(text)
    missing = "bus" if "machine" in text else "machine"
    assert ask(directory).startswith(f"linebounce: {directory / 'config.toml'}: damaged: '{missing}' is missing\n")


def test_complete_files_are_read(ask: Ask, good: Path) -> None:
    assert ask(good) == ""


@pytest.mark.parametrize("text", ["", "{}", "[machine]\n", "machine = 3\n", "\xff\n,,,\n"])
def test_any_emptied_or_replaced_file_gives_at_most_one_line(ask: Ask, good: Path, tmp_path: Path, text: str) -> None:
    names = [path.relative_to(good) for path in files(good) if path.relative_to(good).parts[:2] != ("points", "1")]
    assert len(names) > 10
    for name in names:
        directory = tmp_path / "copy"
        shutil.copytree(good, directory)
        (directory / name).write_bytes(text.encode("latin-1"))
        said = ask(directory)
        if name in (Path("config.toml"), Path("results.json"), Path("manifest.json"), Path("lines.csv")):
            assert str(directory / name) in said
        shutil.rmtree(directory)


def test_a_name_that_is_not_valid_text_is_a_one_line_error(ask: Ask, good: Path, tmp_path: Path) -> None:
    directory = Path(shutil.copytree(good, tmp_path / "copy"))
    path = directory / "results.json"
    path.write_text(path.read_text().replace('"unit": "ns"', '"unit": "\\ud800"'))
    assert f"{path}: cut off or damaged: " in ask(directory)
    shutil.copy(good / "results.json", path)
    cells = directory / "latency.csv"
    header, row, *rows = cells.read_text().splitlines()
    values = row.split(",")
    cells.write_text("\n".join([header, ",".join([*values[:4], '"a\nb"', values[5]]), *rows, ""]))
    assert r'latency_ns is "a\u000ab"; expected a number' in ask(directory)


@pytest.mark.parametrize("name", ["config.toml", "lines.csv", "manifest.json", "points/0/timeline.csv", "results.json"])
def test_pipes_and_holes_are_refused_at_once(ask: Ask, good: Path, tmp_path: Path, name: str) -> None:
    """A pipe's writer may never come, and a file with holes may state any size."""
    directory = Path(shutil.copytree(good, tmp_path / "copy"))
    os.truncate(directory / name, 100 << 30)
    assert f"{directory / name}: larger than 4 GiB, so it is not a file that Linebounce wrote" in ask(directory)
    (directory / name).unlink()
    os.mkfifo(directory / name)
    assert f"{directory / name}: cannot be read: it is not a regular file" in ask(directory)


@pytest.mark.parametrize("name", ["lines", "seeds", "series"])
def test_a_cell_longer_than_the_csv_modules_limit_gives_at_most_one_line(
    ask: Ask, good: Path, tmp_path: Path, name: str
) -> None:
    directory = Path(shutil.copytree(good, tmp_path / "copy"))
    path = directory / f"{name}.csv"
    columns = COLUMNS[name]
    row = ",".join("0" if kind != pl.String() else f'"{"n" * 150_000}"' for kind in columns.values())
    path.write_text(f"{','.join(columns)}\n{row}\n")
    assert ask(directory) == ""
    path.write_text(f"{','.join(columns)}\n{row}\n{row},1\n")
    assert f"{path}:3: {len(columns) + 1} values for {len(columns)} columns" in ask(directory)


CELLS = [
    "",
    "x",
    "-1",
    "9e17",
    "1.5",
    "99999999999999999999",
    "nan",
    "0_1",
    "miss",
    "link",
    "grace_period",
    "\u202e",
    '"',
    '"\n"',
]


def test_wrong_cells_of_a_timeline_give_at_most_one_line(ask: Ask, good: Path, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    directory = Path(shutil.copytree(good, tmp_path / "copy"))
    timeline = directory / "points" / "0" / "timeline.csv"
    whole = timeline.read_text().splitlines()
    misses = [number for number, row in enumerate(whole) if row.startswith("miss")]
    said = ""
    for _ in range(12):
        rows = list(whole)
        row = chance.choice(misses)
        cells = rows[row].split(",")
        cells[chance.randrange(len(cells))] = chance.choice(CELLS)
        rows[row] = ",".join(cells)
        timeline.write_text("\n".join(rows) + "\n")
        said += ask(directory)
    assert f"{timeline}:" in said


@pytest.mark.parametrize("name", ["results.json", "manifest.json", "config.toml", "points/0/config.toml"])
def test_values_of_other_types_and_missing_ones_give_at_most_one_line(ask: Ask, good: Path, tmp_path: Path, name: str) -> None:
    chance = random.Random(f"{SEED} {name}")
    directory = Path(shutil.copytree(good, tmp_path / "copy"))
    text = (good / name).read_text()
    for _ in range(8):
        document = tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
        for _ in range(chance.choice([1, 1, 3])):
            container, key = chance.choice(list(places_of(document)))
            if chance.random() < 0.3:
                del container[key]
            else:
                container[key] = chance.choice(VALUES)
        changed = (
            "".join(f"{json.dumps(key)} = {toml_text(value)}\n" for key, value in document.items())
            if name.endswith(".toml")
            else json.dumps(document)
        )
        (directory / name).write_text(changed)
        try:
            ask(directory)
        except Exception as error:
            raise AssertionError(f"{name}:\n{changed[:2000]}") from error


@pytest.mark.parametrize("name", ["latency", "lines", "locks", "matrix", "seeds", "transitions", "points/0/timeline"])
def test_rows_that_are_cut_or_of_other_types_give_at_most_one_line(ask: Ask, good: Path, tmp_path: Path, name: str) -> None:
    chance = random.Random(f"{SEED} {name}")
    directory = Path(shutil.copytree(good, tmp_path / "copy"))
    path = directory / f"{name}.csv"
    lines = path.read_text().splitlines()[:400]
    for _ in range(5):
        changed = list(lines)
        row = chance.randrange(len(changed))
        values = changed[row].split(",")
        values[chance.randrange(len(values))] = chance.choice(["", "nan", "inf", "-1", "1e3", "99", "x", '"', "9" * 30, "0"])
        changed[row] = ",".join(values)
        text = "\n".join(changed) + "\n"
        path.write_text(text[: chance.randrange(len(text))] if chance.random() < 0.3 else text)
        ask(directory)
