"""`linebounce report`: its files, its error messages, and its speed."""

import base64
import gzip
import html
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import vl_convert
from charts import CHARTS
from linebounce.report.figures import write_chart
from linebounce.report.vega import vega_bundle
from opened_page import DESKTOP, open_page
from playwright.sync_api import Browser
from program import ROOT, Result

Command = Callable[..., Result]


def test_the_page_is_written_next_to_the_directory(command: Command, costs_run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(costs_run, tmp_path / "costs")
    result = command("report", "costs", cwd=tmp_path)
    assert result.code == 0, result.stderr
    assert result.stdout == "costs.html\n"
    assert (tmp_path / "costs.html").read_text().startswith("<!doctype html>")
    assert {path.name for path in copy.iterdir()} == {path.name for path in costs_run.iterdir()}


def processor_seconds() -> float:
    """The CPU time of all child processes that have ended. Wall time would depend on the machine's load."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_a_process_takes_little_time_and_ends_with_the_code(process: Command, costs_run: Path, tmp_path: Path) -> None:
    page = tmp_path / "new" / "page.html"
    vega_bundle()  # bundled before the measurement, because the first call takes some seconds
    before = processor_seconds()
    assert process("report", costs_run, "-o", page).code == 0
    assert processor_seconds() - before < 1.5
    assert page.exists(), "its directory was made"
    assert process("report", tmp_path).code == 3


def test_the_report_names_no_other_host(command: Command, costs_run: Path, tmp_path: Path) -> None:
    """Vega's own text contains addresses of namespaces and of its editor. The rest of the page must contain none."""
    page = tmp_path / "page.html"
    command("report", costs_run, "-o", page)
    ours = [part for part in page.read_text().split("<script>") if "vegaEmbed=" not in part and "window.vegaEmbed" not in part]
    assert not [part for part in ours if "http://" in part or "https://" in part]
    assert "default-src 'none'" in html.unescape(ours[0])


def test_names_of_the_run_are_text_and_never_markup(command: Command, costs_run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(costs_run, tmp_path / "costs"))
    config = (copy / "config.toml").read_text()
    (copy / "config.toml").write_text(config.replace('title = "What', 'title = "</script><script>alert(1)</script> What', 1))
    page = tmp_path / "page.html"
    assert command("report", copy, "-o", page).code == 0
    assert "<script>alert" not in page.read_text()


def test_figures_are_svg_and_png(command: Command, locks_run: Path, tmp_path: Path) -> None:
    result = command("report", locks_run, "-o", tmp_path / "page.html", "--figures", tmp_path / "figures")
    assert result.code == 0, result.stderr
    figures = tmp_path / "figures" / locks_run.resolve().name
    names = {path.name for path in figures.iterdir()}
    assert names == {f"{chart}.{suffix}" for chart in CHARTS["locks_run"] for suffix in ("svg", "png")}
    for path in figures.iterdir():
        start = path.read_bytes()[:8]
        assert start.startswith(b"<svg") if path.suffix == ".svg" else start == b"\x89PNG\r\n\x1a\n"
    assert [Path(line).name for line in result.stdout.splitlines()[1:]] == sorted(names, key=result.stdout.find)


def test_a_matrix_and_paper_rows_have_figures(command: Command, costs_run: Path, crossbar_run: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures"
    result = command("report", costs_run, crossbar_run, "-o", tmp_path / "page.html", "--figures", figures)
    assert result.code == 0, result.stderr
    assert (figures / costs_run.name / "paper_ratios.svg").exists()
    assert (figures / crossbar_run.name / "matrix_modified_home_1.png").exists()


def test_a_second_report_overwrites_no_figure(command: Command, locks_run: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures"
    other = Path(shutil.copytree(locks_run, tmp_path / "other"))
    last = max(int(path.name) for path in (other / "points").iterdir())
    for run in (locks_run, other, other / "points" / str(last)):
        assert command("report", run, "-o", tmp_path / "page.html", "--figures", figures).code == 0
    assert {path.name for path in figures.iterdir()} == {locks_run.name, "other", f"other_{last}"}
    assert command("report", other, other, "-o", tmp_path / "page.html", "--figures", tmp_path / "twice").code == 0
    assert {path.name for path in (tmp_path / "twice").iterdir()} == {"0_other", "1_other"}


@pytest.mark.parametrize("directory", ["nothing", "."])
def test_a_directory_without_results_is_refused_in_one_line(command: Command, tmp_path: Path, directory: str) -> None:
    result = command("report", directory, cwd=tmp_path)
    assert result.code == 3
    assert result.stderr.startswith("linebounce: ")
    assert result.stderr.count("\n") == 1


def test_a_damaged_file_is_refused_before_anything_is_written(command: Command, costs_run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(costs_run, tmp_path / "costs"))
    (copy / "lines.csv").write_text((copy / "lines.csv").read_text()[:-3])
    result = command("report", copy)
    assert result.code == 3
    assert "lines.csv:" in result.stderr
    assert not (tmp_path / "costs.html").exists()


def test_an_output_that_cannot_be_written_is_exit_code_2(command: Command, costs_run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = command("report", costs_run, "-o", tmp_path / "file" / "page.html")
    assert result.code == 2
    assert str(tmp_path / "file") in result.stderr
    assert command("report", costs_run, "-o", tmp_path).code == 2


def test_wrong_usage_is_exit_code_2_and_help_has_examples(command: Command) -> None:
    assert command("report").code == 2
    assert command("report", "--nothing").code == 2
    shown = command("report", "--help")
    assert shown.code == 0
    assert "Examples:" in shown.stdout


def test_the_program_finds_the_command(executable: Path, costs_run: Path, tmp_path: Path) -> None:
    """The program finds linebounce-report beside itself or on PATH; here PATH has it, as ./dev sets it up."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "analysis"),
    }
    page = tmp_path / "page.html"
    done = subprocess.run(
        [executable, "report", costs_run, "-o", page], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert page.exists()


def test_a_hundred_thousand_rows_take_under_three_seconds_and_ten_mebibytes(
    process: Command, oltp_run: Path, tmp_path: Path
) -> None:
    assert (oltp_run / "lines.csv").read_bytes().count(b"\n") > 100_000
    page = tmp_path / "page.html"
    vega_bundle()
    before = processor_seconds()
    assert process("report", oltp_run, "-o", page).code == 0
    assert processor_seconds() - before < 3
    assert page.stat().st_size < 10 * 2**20


def test_vega_is_bundled_once_and_again_if_the_kept_copy_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    bundle = vega_bundle()
    (kept,) = (tmp_path / "linebounce").iterdir()
    whole = kept.read_bytes()
    with monkeypatch.context() as without:
        without.delattr(vl_convert, "javascript_bundle")
        assert vega_bundle() == bundle
    for damaged in (b"", whole[:-9], whole[:99] + b"\0" + whole[100:]):
        kept.write_bytes(damaged)
        assert vega_bundle() == bundle
        assert kept.read_bytes() == whole


def test_an_unwritable_cache_is_not_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert "vega" in vega_bundle()


def with_series(run: Path, directory: Path, values: list[float]) -> Path:
    """A copy of a run, with one series of these values."""
    copy = Path(shutil.copytree(run, directory))
    rows = "".join(f"0,{time},program.x,{value!r}\n" for time, value in enumerate(values))
    (copy / "series.csv").write_text(f"point,time_us,name,value\n{rows}")
    return copy


@pytest.mark.parametrize(
    "values", [[1.2e308, 1.6e308, 1.7e308] * 200, [-1.5e308, 1.5e308], [2e-323, -1e-323, 0.0], [0.0, 3e-310], [1.0, 1e300]]
)
def test_a_series_that_no_axis_can_show_is_left_out(
    process: Command, browser: Browser, costs_run: Path, tmp_path: Path, values: list[float]
) -> None:
    copy = with_series(costs_run, tmp_path / "run", values)
    result = process("report", copy, "--figures", tmp_path / "figures")
    assert result.code == 0, result.stderr
    words = "its values are too large or too small to be drawn"
    assert result.stderr == f"linebounce: {tmp_path / 'figures' / 'run' / 'series_program.x'} is left out: {words}\n"
    assert "cpi_cpus.svg" in result.stdout
    page = open_page(browser, tmp_path / "run.html", size=DESKTOP)
    page.scroll_through()
    assert f"program.x over time: this chart is left out, because {words}." in page.page.inner_text("[data-series]")
    assert page.marks("cpi_cpus") > 0
    assert page.problems == []
    page.page.context.close()


def test_a_series_of_large_and_small_values_is_drawn(command: Command, costs_run: Path, tmp_path: Path) -> None:
    copy = with_series(costs_run, tmp_path / "run", [-1e200, 0.0, 1e-200, 1e200])
    result = command("report", copy, "--figures", tmp_path / "figures")
    assert (result.code, result.stderr) == (0, "")
    assert (tmp_path / "figures" / "run" / "series_program.x.png").exists()


def test_an_error_of_vega_is_one_line(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert list(write_chart({"mark": {"no": "such"}}, tmp_path, "a\nb")) == []
    said = capfd.readouterr().err
    assert said.startswith(f"linebounce: {tmp_path}/a\\u000ab is left out: Vega fails: ")
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["/dev/zero", "fifo"])
def test_a_measured_matrix_without_an_end_is_refused_at_once(
    command: Command, matrix_run: Path, tmp_path: Path, kind: str
) -> None:
    path = Path(kind) if kind.startswith("/") else tmp_path / kind
    if path.parent == tmp_path:
        os.mkfifo(path)
    result = command("report", matrix_run, "--measured", path, "-o", tmp_path / "page.html")
    assert (result.code, result.stderr) == (3, f"linebounce: {path}: cannot be read: it is not a regular file\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f",5\n5,{'8' * 140_000}\n", f'm.csv:2: ...: "{"8" * 60}…" is not a latency from 0 to 1e+12 ns'),
        (f",5\n{'z' * 140_000},\n", f'm.csv:2: ...: "{"z" * 60}…" is not a number'),
        ('"a\nb",5\n5,\n', r'm.csv:2: ...: "a\u000ab" is not a number'),
        (",-3\n4,\n", 'm.csv:1: ...: "-3" is not a latency from 0 to 1e+12 ns'),
        (",inf\n4,\n", 'm.csv:1: ...: "inf" is not a latency from 0 to 1e+12 ns'),
        (",0\n0,\n", "m.csv: ...: the latency of CPUs 0 and 1 is 0"),
        (
            f"probe_format = 1\n[core_to_core]\nmedian_ns = [[0, 1{'0' * 400}], [1, 0]]\n",
            f'm.csv: ...: "1{"0" * 59}…" is not a latency from 0 to 1e+12 ns',
        ),
    ],
)
def test_a_wrong_cell_of_a_measured_matrix_is_named(
    command: Command, matrix_run: Path, tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "m.csv").write_text(text)
    result = command("report", matrix_run, "--measured", tmp_path / "m.csv", "-o", tmp_path / "page.html")
    expected = says.replace("...", "neither linebounce-probe's file nor a core-to-core matrix")
    assert (result.code, result.stderr) == (3, f"linebounce: {tmp_path}/{expected}\n")


def test_characters_that_act_are_escapes_wherever_a_page_shows_a_file(
    process: Command, series_run: Path, tmp_path: Path
) -> None:
    active, shown = "p\u2067q\u009dr\u200es", r"p\u2067q\u009dr\u200es"
    copy = Path(shutil.copytree(series_run, tmp_path / f"run {active}"))
    config = (copy / "config.toml").read_text()
    (copy / "config.toml").write_bytes(f"# {active}\r\n{config}".replace('title = "', f'title = "{active}').encode())
    series = (copy / "series.csv").read_text()
    (copy / "series.csv").write_text(series.replace("program.filled", f"program.{active}"))
    results = (copy / "results.json").read_text()
    (copy / "results.json").write_text(
        results.replace('"metrics": {', f'"metrics": {{ "{active}": {{"value": 1, "unit": ""}},', 1)
    )
    for words in (["report", copy, "-o", "a.html", "--figures", "f"], ["compare", copy, copy, "-o", "b.html"]):
        result = process(*words, cwd=tmp_path)
        assert result.code == 0, result.stderr
    texts = [(tmp_path / name).read_text() for name in ("a.html", "b.html")]
    texts += [path.read_text() for path in (tmp_path / "f").rglob("*.svg")]
    assert len(texts) > 4
    for text in texts:
        assert not set(active) & set(text) - set("pqrs")
    assert f"# {shown}" in texts[0]
    assert shown in texts[1]
    packed = re.search(r'<script id="data" type="application/octet-stream">([^<]*)<', texts[0])
    assert packed is not None
    data = gzip.decompress(base64.b64decode(packed[1])).decode()
    assert shown in json.loads(data)["runs"][0]["metrics"]
    assert f"program.{shown}" in json.loads(data)["runs"][0]["series"]["name"]
