"""The order of `linebounce compare`'s output, in terminals of any width and on its page: headlines, then other changes."""

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import linebounce
import pytest
from experiments import experiment
from linebounce.compare import command
from linebounce.compare.changes import Change, compare
from linebounce.compare.layout import LOST_FIRST, Column, Kind, fits, shortened, table_lines
from linebounce.compare.rows import Row, rows_of
from linebounce.compare.selection import other_changes
from program import ROOT, Program
from rich.text import Text
from written_headlines import headline, set_headlines

SEEDS = experiment(run="warmup_us = 5\nmeasure_us = 20\nseeds = 4", more='[sweep]\n"machine.cpus" = [2, 4]')
THROUGHPUT, WAIT, BUS = "throughput.operations_per_s", "locks.section_lock.wait_mean_us", "bus.transactions"
HEADLINES = [headline(THROUGHPUT, "operations", "higher"), headline(WAIT, "wait", "lower"), headline(BUS, "bus", "neither")]
OTHERS = "Other changes, the largest first"


@pytest.fixture(scope="module")
def runs(session_linebounce: Program) -> Path:
    """Results directories: tas, mcs and slow (which differs in memory) have two points of four seeds. one_tas and
    one_mcs have one point with one seed. old has no headlines."""
    path = session_linebounce.file("output/seeds.toml", SEEDS)
    one = session_linebounce.file("output/one.toml", experiment())
    for name, file, *settings in [
        ("tas", path),
        ("mcs", path, "workload.lock=mcs"),
        ("slow", path, "machine.memory.latency_ns=300"),
        ("one_tas", one),
        ("one_mcs", one, "workload.lock=mcs"),
    ]:
        run = session_linebounce.run(file, f"output/{name}", *(word for each in settings for word in ("--set", each)))
        set_headlines(run, HEADLINES)
    directory = session_linebounce.directory / "output"
    set_headlines(Path(shutil.copytree(directory / "tas", directory / "old")), None)
    return directory


class Shown:
    """The printed output, in parts separated by blank lines, and each table row's words."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.splitlines()
        self.parts = text.split("\n\n")

    @property
    def answers(self) -> list[str]:
        return self.parts[1].splitlines()

    @property
    def headlines(self) -> list[list[str]]:
        return [line.split() for line in self.parts[2].splitlines()[1:]]

    @property
    def others(self) -> list[list[str]]:
        others = next((part for part in self.parts if part.startswith(OTHERS)), "")
        return [line.split() for line in others.splitlines()[2:]]


@pytest.fixture
def shown(runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def run(*arguments: str, columns: int = 200) -> Shown:
        monkeypatch.chdir(runs)
        monkeypatch.setenv("COLUMNS", str(columns))
        assert command.main(arguments) == 0
        return Shown(capsys.readouterr().out)

    return run


def test_a_comparison_begins_with_the_differences_and_the_better_side(shown, runs: Path) -> None:
    said = shown("tas", "slow").answers
    assert said[0] == "B differs in machine.memory.latency_ns 100 -> 300", "as the machine's file and the command line have it"
    before, after = (linebounce.open(runs / name).answered_point for name in ("tas", "slow"))
    assert said[1].startswith(f"{before.at['machine.cpus']} CPUs: ")
    assert after.at == before.at
    assert re.search(
        r": (B is (better|worse), [+-][\d.]+ ±[\d.]+ %|the difference of .* is within its 95 % interval)\.$", said[1]
    )
    alone = linebounce.open(runs / "tas").answer.text
    assert said[2] == f"A alone: {alone}"
    assert shown("tas", "tas").answers[0] == "B differs in nothing that the configuration says"


def test_the_answers_are_in_the_json_and_on_the_page(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(runs / "tas"), str(runs / "mcs"), "--json", "-o", str(tmp_path / "page.html")]
    assert command.main(arguments) == 0
    (answer,) = json.loads(capsys.readouterr().out)["answers"]
    assert answer["differences"] == ["workload.lock ticket -> mcs"]
    assert answer["text"] in (tmp_path / "page.html").read_text(encoding="utf-8").replace("&gt;", ">")


def changes(runs: Path, *names: str) -> list[Row]:
    base, *others = (linebounce.open(runs / name) for name in names)
    return rows_of([compare(base, other) for other in others])


# ---- headlines ----


@pytest.mark.parametrize("other", ["mcs", "slow"])
def test_headlines_of_the_answers_point_come_first_then_the_first_headline_elsewhere(shown, runs: Path, other: str) -> None:
    result = shown("tas", other)
    answered = str(linebounce.open(runs / "tas").answered_point.at["machine.cpus"])
    assert result.answers[1].startswith(f"{answered} CPUs: ")
    rows = result.headlines
    assert [row[:2] for row in rows[:3]] == [[answered, THROUGHPUT], [answered, WAIT], [answered, BUS]]
    elsewhere = [row for row in changes(runs, "tas", other) if row.metric == THROUGHPUT and row.larger_than_chance]
    assert [row[:2] for row in rows[3:]] == [
        [cpus, THROUGHPUT] for row in elsewhere if (cpus := str(row.at["machine.cpus"])) != answered
    ]


@pytest.mark.parametrize(
    ("better", "difference", "ci95", "verdict"),
    [
        ("higher", 2, 1, "better"),
        ("higher", -2, 1, "worse"),
        ("lower", -2, 1, "better"),
        ("lower", 2, 1, "worse"),
        ("neither", 2, 1, "changed"),
        ("higher", 2, 3, "same"),
        ("neither", -2, 3, "same"),
        ("higher", 0, 0, "same"),
        ("higher", 2, 0, "better"),
        ("higher", 2, None, None),
        ("lower", 2, None, None),
        ("neither", 2, None, None),
        ("lower", 0, None, "same"),
        (None, 2, 1, None),
    ],
)
def test_a_change_is_better_or_worse_where_its_interval_does_not_hold_0(
    better: str | None, difference: float, ci95: float | None, verdict: str | None
) -> None:
    change = Change("a.b", "", 10, 10 + difference, difference, ci95)
    row = Row({}, "a.b", "", 10, (change, None), better)  # type: ignore[arg-type]
    assert row.verdict(change) == verdict
    assert row.verdict(None) == (better and "missing")


def test_each_headline_names_its_kind_in_one_word(shown, runs: Path) -> None:
    expected = {(str(row.at["machine.cpus"]), row.metric): row.verdict(row.changes[0]) for row in changes(runs, "tas", "slow")}
    rows = shown("tas", "slow").headlines
    assert len(rows) >= 3
    assert {(row[0], row[1]): row[-1] for row in rows}.items() <= {key: word for key, word in expected.items() if word}.items()
    assert {row[-1] for row in shown("tas", "tas").headlines} == {"same"}


def test_one_seed_decides_nothing_and_the_note_says_so(shown) -> None:
    result = shown("one_tas", "one_mcs")
    assert [row[0] for row in result.headlines[:2]] == [THROUGHPUT, WAIT]
    assert [row[-1] for row in result.headlines[:2]] == ["%", "%"], "no verdict behind the change"
    assert "One seed has no interval: chance may have made any of these differences" in result.text
    assert "Student" not in result.text
    assert "One seed" not in shown("tas", "mcs").text


def test_a_headline_that_the_other_run_lacks_is_missing(shown, runs: Path) -> None:
    directory = Path(shutil.copytree(runs / "mcs", runs / "without_wait"))
    results = directory / "results.json"
    results.write_text(results.read_text().replace(f'"{WAIT}"', '"locks.section_lock.elsewhere"'))
    rows = shown("tas", "without_wait").headlines
    assert [row[-1] for row in rows if row[1] == WAIT] == ["missing"]
    shutil.rmtree(directory)


def test_older_results_show_the_throughput_first(shown) -> None:
    assert [row[1] for row in shown("old", "mcs").headlines] == [THROUGHPUT, THROUGHPUT]


def test_runs_of_one_point_each_say_where_they_lie(shown, runs: Path, session_linebounce: Program) -> None:
    for cpus in (2, 4):
        session_linebounce.run(runs / "seeds.toml", f"output/of_{cpus}", "--set", f"machine.cpus={cpus}")
    lines = shown("of_2", "of_4").lines
    assert lines[1] == "A  of_2  p3_xeon_4way  machine.cpus = 2"
    assert lines[2] == "B  of_4  p3_xeon_4way  machine.cpus = 4"
    assert lines[4] == "B differs in machine.cpus 2 -> 4"
    assert lines[lines.index("", 5) + 1].split()[0] == "metric"


# ---- other changes ----


@pytest.mark.parametrize("names", [("tas", "mcs"), ("tas", "mcs", "slow"), ("one_tas", "one_mcs")])
def test_at_most_ten_rows_are_shown_and_the_answers_points_largest_changes_are_the_last_of_them(
    shown, runs: Path, names: tuple[str, ...]
) -> None:
    swept = not names[0].startswith("one")
    result = shown(*names)
    shown_rows = [(row[0] if swept else "", row[swept]) for row in result.others]
    assert len(result.headlines) + len(shown_rows) == 10
    assert {place for place, _ in shown_rows} == {result.headlines[0][0] if swept else ""}
    in_order = [
        (str(row.at["machine.cpus"]) if swept else "", row.metric) for row in changes(runs, *names) if row.larger_than_chance
    ]
    assert shown_rows == [each for each in in_order if each in shown_rows]
    metrics = [metric for _, metric in shown_rows]
    assert in_order.index(shown_rows[-1]) < 30, "what is between them are headlines, and figures that stand there already"
    assert not {THROUGHPUT, WAIT, BUS} & set(metrics)
    assert not any(".peaks." in metric and not metric.endswith("count") for metric in metrics), "their numbers mean others"


def test_a_change_that_chance_explains_is_not_listed_with_the_others(shown, runs: Path) -> None:
    assert all(row[-1] == "*" for row in shown("tas", "mcs").others)
    rows = changes(runs, "tas", "mcs")
    assert any(row.chance and row.size > 0 for row in rows)
    assert not any(row.chance for row in other_changes(rows))
    assert shown("tas", "tas").others == []


@pytest.mark.parametrize("names", [("tas", "mcs"), ("one_tas", "one_mcs"), ("tas", "mcs", "slow")])
def test_equal_figures_of_a_part_and_its_whole_are_shown_once(shown, names: tuple[str, ...]) -> None:
    """The workload runs only kernel code, only one function takes the lock, and no access hits L2. Metrics of such
    parts say nothing more than the totals."""
    result = shown(*names)
    text = result.text.partition("\nonly ")[0]
    for longer in ("latency.kernel.", "kernel_l1_misses", "locks.section_lock.critical_section."):
        assert longer not in text
    assert any("latency." in word for row in result.others for word in row)
    everything = shown(*names, "--all-metrics").text
    assert "latency.kernel.local_c2c.mean_ns" in everything
    assert "locks.section_lock.critical_section.total" in everything


def test_a_part_with_other_figures_than_the_whole_stays(shown, runs: Path) -> None:
    """A headline's figures are not shown again under another name."""
    directory = Path(shutil.copytree(runs / "one_mcs", runs / "changed"))
    results = directory / "results.json"
    document = results.read_text()
    for name, value in [("latency.kernel.l1.count", 10**9), ("latency.l1.count", 10**8)]:
        document = re.sub(rf'("{name}": {{"value": )[\d.]+', rf"\g<1>{value}", document)
    results.write_text(document)
    metrics = [row[0] for row in shown("one_tas", "changed").others]
    assert {"latency.kernel.l1.count", "latency.l1.count"} <= set(metrics)
    shutil.rmtree(directory)
    led_by_part = Path(shutil.copytree(runs / "one_tas", runs / "led_by_part"))
    set_headlines(led_by_part, [headline("latency.kernel.l1.count", "hits", "higher")])
    assert shown("led_by_part", "one_mcs").headlines[0][0] == "latency.kernel.l1.count"
    assert "latency.l1.count" in [row.metric for row in other_changes(changes(runs, "one_tas", "one_mcs"))]
    assert "latency.l1.count" not in [row.metric for row in other_changes(changes(runs, "led_by_part", "one_mcs"))]


def test_metrics_that_are_not_shown_are_counted(shown, runs: Path) -> None:
    rows = changes(runs, "tas", "mcs")
    result = shown("tas", "mcs")
    left = len(rows) - len(result.headlines) - len(result.others)
    changed = sum(row.larger_than_chance for row in rows)
    changed -= sum(row[-1] != "same" for row in result.headlines) + len(result.others)
    assert f"{left} more metrics at 2 points, {changed} of them changed: --all-metrics prints all" in result.lines


def test_all_metrics_are_those_of_the_results_in_their_order(shown, runs: Path) -> None:
    result = shown("tas", "mcs", "--all-metrics")
    assert OTHERS not in result.text
    assert "more metrics" not in result.text
    assert [row[1] for row in result.headlines] == [THROUGHPUT, WAIT, BUS] * 2, "the headlines of every point"
    base, other = linebounce.open(runs / "tas"), linebounce.open(runs / "mcs")
    parts = result.parts[3:-1]
    assert [part.splitlines()[0] for part in parts] == [point.title for point in base.points]
    for part, point, counterpart in zip(parts, base.points, other.points, strict=True):
        shared = [name for name in point.metrics if name in counterpart.metrics]
        assert [line.split()[0] for line in part.splitlines()[2:]] == shared


# ---- widths ----


@pytest.mark.parametrize("columns", [72, 80, 100, 120])
@pytest.mark.parametrize(
    "arguments",
    [
        ("tas", "mcs"),
        ("one_tas", "one_mcs"),
        ("tas", "mcs", "slow"),
        ("tas", "mcs", "--all-metrics"),
        ("tas", "mcs", "slow", "old", "mcs", "slow"),
    ],
)
def test_no_line_is_wider_than_the_terminal_and_no_row_takes_two(shown, arguments: tuple[str, ...], columns: int) -> None:
    result = shown(*arguments, columns=columns)
    assert max(map(len, result.lines)) <= columns
    wide = shown(*arguments, columns=1000)
    if len(arguments) == 2:  # if the runs don't fit side by side, they are split over several tables
        assert len(result.headlines) == len(wide.headlines)
        assert len(result.others) == len(wide.others)
        assert [row[-1] for row in result.headlines] == [row[-1] for row in wide.headlines]


def test_runs_that_do_not_fit_beside_each_other_stand_below(shown) -> None:
    """Headlines and other metrics each have tables with all their rows."""
    parts = shown("tas", *["mcs", "slow"] * 3, columns=72).parts[2:-1]
    runs_of_parts = [re.findall(r"([B-G]): change", part) for part in parts]
    assert [run for runs in runs_of_parts for run in runs] == [*"BCDEFG"] * 2
    assert max(map(len, runs_of_parts)) > 1
    rows = [len(re.findall(r"^\d+ ", part, re.MULTILINE)) for part in parts]
    first_of_others = next(i for i, part in enumerate(parts) if part.startswith(OTHERS))
    assert set(rows[:first_of_others]) == {rows[0]}
    assert set(rows[first_of_others:]) == {10 - rows[0]}


def test_a_terminal_shows_verdicts_in_colour_and_as_much_as_it_has_room_for(runs: Path) -> None:
    text = in_terminal(72, runs, "slow", "mcs")
    assert re.search(r"\x1b\[32m[^\n]*better", text)
    assert re.search(r"\x1b\[33m[^\n]*changed", text)
    plain = re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()
    assert 50 < max(map(len, plain)) <= 72
    assert re.search(r"\x1b\[31m[^\n]*worse", in_terminal(72, runs, "mcs", "slow"))


def test_a_difference_of_one_seed_has_no_colour(runs: Path) -> None:
    text = in_terminal(100, runs, "one_tas", "one_mcs")
    assert re.search(rf"{WAIT}.* %", text)
    assert not re.search(r"\x1b\[3[123]m", text)


def in_terminal(columns: int, directory: Path, *arguments: str) -> str:
    terminal, its_end = pty.openpty()
    fcntl.ioctl(its_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    unset = ("COLUMNS", "NO_COLOR", "FORCE_COLOR")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    process = subprocess.Popen(
        [sys.executable, "-m", "linebounce.compare.command", *arguments],
        cwd=directory,
        env=environment | {"PYTHONPATH": str(ROOT / "analysis"), "TERM": "xterm"},
        stdin=its_end,
        stdout=its_end,
        stderr=its_end,
    )
    os.close(its_end)
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # the pipe's other end is closed
            break
    os.close(terminal)
    assert process.wait(timeout=60) == 0, shown
    return shown.decode().replace("\r\n", "\n")


NAME = "locks.section_lock.critical_section.wait_mean_us"
CELLS: dict[Kind, str] = {
    "metric": NAME,
    "base": "4.21 µs",
    "value": "3.39 µs",
    "change": "-19.3 %",
    "interval": "± 3.4",
    "verdict": "better",
}


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (90, f"{NAME}  4.21 µs  3.39 µs  -19.3 %  ± 3.4  better"),
        (89, f"{NAME}  4.21 µs  3.39 µs  -19.3 %  better"),
        (82, f"{NAME}  4.21 µs  -19.3 %  better"),
        (73, f"{NAME}  -19.3 %  better"),
        (64, "locks.section_lock.crit…al_section.wait_mean_us  -19.3 %  better"),
        (45, "locks.section_….wait_mean_us  -19.3 %  better"),
    ],
)
def test_columns_are_lost_in_their_order_and_names_are_shortened_last(columns: int, row: str) -> None:
    assert LOST_FIRST == ("interval", "value", "base")
    table = [Column(kind, "", [Text(cell)]) for kind, cell in CELLS.items()]
    assert table_lines(table, columns)[1].plain == row
    assert fits(table, columns)
    assert not fits(table, 44), "in less, names look alike"


def test_a_name_is_shortened_in_the_middle() -> None:
    assert shortened("throughput.operations_per_s", 27) == "throughput.operations_per_s"
    assert shortened("throughput.operations_per_s", 15) == "through…s_per_s"
    assert shortened("線線線線線", 7) == "線線…線"
    assert shortened("ab", 1) == "…"


# ---- the page and JSON ----


def test_the_comparison_page_has_each_points_headlines_then_every_metric(shown, runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    shown("tas", "slow", "mcs", "-o", str(page))
    text = page.read_text()
    points = re.findall(r'<section class="of-point( judged)?" id="(point-\d)".*?</section>', text, re.DOTALL)
    assert [anchor for _, anchor in points] == ["point-0", "point-1"]
    assert [bool(judged) for judged, _ in points].count(True) == 1
    sections = re.findall(r"<section class=\"of-point.*?</section>", text, re.DOTALL)
    for section in sections:
        headlines, _, lines = section.partition("Lines whose misses differ most")
        assert re.findall(r"<tr[^>]*><td>([^<]+)", headlines) == [THROUGHPUT, WAIT, BUS]
        assert "<td>section_lock.serving</td>" in lines
        assert section.count("<svg") == 1
    others = re.findall(r"<tr[^>]*><td>([^<]+)", text.partition("<details>")[2])
    assert others == [row.metric for row in changes(runs, "tas", "slow", "mcs") if row.better is None]
    assert '<td class="text better">better</td>' in text.partition("<details>")[0]
    assert "verdict" not in text.partition("<details>")[2]
    clips = re.findall(r'<clipPath id="([^"]+)"', text)
    assert len(clips) == len(set(clips)), "a hidden chart's clip of the same name would hide another chart"


def test_a_page_shows_a_point_even_if_no_answer_is_about_one(shown, runs: Path, tmp_path: Path) -> None:
    directory = Path(shutil.copytree(runs / "one_mcs", runs / "other_metric"))
    results = directory / "results.json"
    results.write_text(results.read_text().replace(f'"{THROUGHPUT}"', '"throughput.elsewhere"'))
    page = tmp_path / "page.html"
    shown("one_tas", "other_metric", "-o", str(page))
    assert page.read_text().count('<section class="of-point judged"') == 1
    shutil.rmtree(directory)


def test_json_has_the_bases_headlines_and_all_rows(shown, runs: Path) -> None:
    document = json.loads(shown("tas", "mcs", "--json").text)
    assert document["headlines"] == HEADLINES
    assert [row["metric"] for row in document["rows"]] == [row.metric for row in changes(runs, "tas", "mcs")]
    assert [headline["metric"] for headline in json.loads(shown("old", "mcs", "--json").text)["headlines"]] == [THROUGHPUT]
