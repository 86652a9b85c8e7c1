"""The words for metrics and paths on axes and tiles, and those of messages."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from linebounce.errors import InputError, UsageError
from linebounce.files import read_file
from linebounce.gate.budget import read_budget
from linebounce.report.measured import read_measured
from linebounce.report.sweeps import x_scale
from linebounce.report.words import axis_title, path_words


@pytest.mark.parametrize(
    ("metric", "unit", "title"),
    [
        ("throughput.operations_per_s", "1/s", "operations per second, all CPUs"),
        ("locks.section_lock.wait_mean_us", "us", "section_lock: mean wait (µs)"),
        ("locks.dcache_lock.d_lookup.con_pct", "%", "dcache_lock in d_lookup: acquisitions that wait (%)"),
        ("latency.remote_c2c.mean_ns", "ns", "remote HITM: mean latency (ns)"),
        ("latency.kernel.local_memory.count", "", "kernel, local memory: accesses"),
        ("link.0_1.mb_per_s", "MB/s", "link 0 to 1: traffic (MB/s)"),
        ("core_to_core.modified.same_node_ns", "ns", "core to core, modified, same node (ns)"),
        ("oltp.reads_per_s", "1/s", "oltp, reads per second"),
        ("wait_ns", "ns", "wait (ns)"),
        ("cost.l2_hit", "ns", "cost, L2 hit (ns)"),
    ],
)
def test_a_metric_has_words_and_its_unit_once(metric: str, unit: str, title: str) -> None:
    assert axis_title(metric, unit) == title


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("machine", "machine"),
        ("machine.cpus", "CPUs"),
        ("workload.lock", "lock"),
        ("machine.memory.latency_ns", "memory latency (ns)"),
        ("machine.bus.clock_mhz", "bus clock (MHz)"),
        ("workload.outside_cycles", "outside (cycles)"),
    ],
)
def test_a_path_has_words_and_its_unit(path: str, words: str) -> None:
    assert path_words(path) == words


@pytest.mark.parametrize(
    ("path", "values", "scale"),
    [
        ("machine.cpus", [1, 2, 3, 4], "log"),
        ("workload.data_lines", [16, 1, 4], "log"),
        ("machine.memory.latency_ns", [100, 120, 140], "linear"),
        ("workload.outside_cycles", [0, 100, 10000], "linear"),
        ("workload.lock", ["tas", "mcs"], "linear"),
    ],
)
def test_numbers_that_grow_by_factors_have_a_logarithmic_axis(path: str, values: list[str | int], scale: str) -> None:
    assert x_scale(path, values) == scale


@pytest.mark.parametrize(
    ("command", "words", "says"),
    [
        ("report", "a --figurs", "there is no option --figurs; did you mean --figures?"),
        ("report", "a --figures", "--figures needs a value: --figures DIR"),
        ("report", "", "DIR is required"),
        ("compare", "", "A and B are required"),
        ("tables", "a locks b", 'unexpected argument "b"'),
        ("tables", "a --format cvs", '--format: "cvs" is not known; known: csv, json, parquet, markdown; did you mean csv?'),
        ("gate", "--base a --head b --times x", '--times: "x" is not a whole number; legal: 1 to 1000'),
        ("gate", "--base a --head b --cpus x", '--cpus: "x" is not a list of whole numbers, such as 2,4,8'),
        ("gate", "--base a --head b --times 0", "--times: 0 is out of range; legal: 1 to 1000"),
        ("gate", "--base a --head b -j 0", "--jobs: 0 is out of range; legal: 1 or more"),
        ("report", "a -o b -o c", "--output is given more than once; give it once"),
        ("report", "a --output=", "--output: the value is empty"),
        ("sweep", "a --seed x", '--seed: "x" is not a whole number; legal: 0 to 9007199254740992'),
        ("sweep", "a --workers 2 --scheduler b", "--workers has no effect with --scheduler, whose workers are running already"),
        ("teach", "--port x", '--port: "x" is not a whole number; legal: 0 to 65535'),
        ("sweep", "a --workers 0", "--workers: 0 is out of range; legal: 1 or more"),
        ("sweep", "a --workers x", '--workers: "x" is not a whole number; legal: 1 or more'),
        ("teach", "--serve --lesson 1", "--serve and --lesson exclude each other; give one of them"),
        ("teach", "--serve=1", "--serve takes no value"),
        ("teach", "--port 80", "--port needs --serve"),
        ("teach", "--level hard", "--level needs --questions"),
        ("teach", "--seed x", "--seed needs --hand-out or --questions"),
        ("teach", "--check a --json", "--json is for the list of lessons, --grade and --leaderboard"),
        ("teach", "--s 1", "there is no option --s; did you mean --serve, --slides, --student or --seed?"),
    ],
)
def test_a_wrong_command_line_is_refused_in_our_words(
    command: str, words: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main = import_module(f"linebounce.{command}.command").main
    assert main(words.split()) == 2
    assert capsys.readouterr().err.splitlines()[0] == f"linebounce: {says}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = 1\nb = = 2\n", 'this is not TOML: line 2, "b = = 2"'),
        ("a = 1\na = 2\n", 'this is not TOML: line 2, "a = 2", which says again what stands above'),
        ("[gate]\ntimes = [1,", "this is not TOML: it ends too early"),
    ],
)
def test_a_file_that_is_not_toml_is_refused_with_the_line_that_is_wrong(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "budget.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=re.escape(f"{file}: {says}")):
        read_budget(file)


def test_a_missing_file_is_told_alike_whatever_it_holds(tmp_path: Path) -> None:
    file = tmp_path / "none"
    for kind, read in [(UsageError, read_budget), (InputError, read_file), (InputError, read_measured)]:
        with pytest.raises(kind, match=f"^{file}: there is no such file$"):
            read(file)
