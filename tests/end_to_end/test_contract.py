"""The contract with scripts: exit codes, output streams, and the files of a results directory with their contents."""

import json
import os
import pty
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from experiments import MACHINE, experiment
from program import Program
from results import assert_same_data, check_results_directory, metric_of, read_csv, validate

SWEEP = experiment(more='[sweep]\n"machine.cpus" = [1, 2]\n"machine.memory.latency_ns" = [100, 150, 200]')


@pytest.fixture(scope="module")
def swept(session_linebounce: Program) -> Path:
    return session_linebounce.run(session_linebounce.file("contract_sweep.toml", SWEEP), "contract_sweep")


@pytest.fixture
def small(linebounce: Program) -> Path:
    return linebounce.file("small.toml", experiment())


def test_a_run_without_a_sweep_has_one_point_with_an_empty_at(linebounce: Program, small: Path) -> None:
    results = check_results_directory(linebounce.run(small, "out"))
    assert [point["at"] for point in results["points"]] == [{}]
    assert results["experiment"] == "small"
    assert results["machine"] == MACHINE
    assert results["seed"] == 1


def test_a_sweep_runs_every_combination_and_counts_points_from_zero(swept: Path) -> None:
    results = check_results_directory(swept)
    expected = [{"machine.cpus": cpus, "machine.memory.latency_ns": ns} for cpus in [1, 2] for ns in [100, 150, 200]]
    key = json.dumps
    assert sorted((point["at"] for point in results["points"]), key=key) == sorted(expected, key=key)
    for number, point in enumerate(results["points"]):
        own = validate(swept / "points" / str(number) / "results.json", "results")
        assert own["points"][0]["metrics"] == point["metrics"]
    assert {int(row["point"]) for row in read_csv(swept / "latency.csv")} == set(range(6))


def test_two_parameters_can_be_swept_together(linebounce: Program) -> None:
    text = experiment(more='[[sweep.together]]\n"machine.cpus" = [1, 4]\n"machine.memory.latency_ns" = [100, 150]')
    results = check_results_directory(linebounce.run(linebounce.file("small.toml", text), "out"))
    assert [point["at"] for point in results["points"]] == [
        {"machine.cpus": 1, "machine.memory.latency_ns": 100},
        {"machine.cpus": 4, "machine.memory.latency_ns": 150},
    ]


def test_one_to_n_means_powers_of_two_up_to_all_of_the_machine(linebounce: Program) -> None:
    path = linebounce.file("small.toml", experiment(more='[sweep]\n"machine.cpus" = "1..N"'))
    results = check_results_directory(linebounce.run(path, "out"))
    assert [point["at"]["machine.cpus"] for point in results["points"]] == [1, 2, 4]


@pytest.mark.parametrize("with_sweep", [False, True])
def test_the_resolved_configuration_gives_the_same_results_again(linebounce: Program, with_sweep: bool) -> None:
    text = SWEEP if with_sweep else experiment()
    first = linebounce.run(linebounce.file("small.toml", text), "first", "--set", "machine.bus.snoop_clocks=5", "--seed", "7")
    assert_same_data(first, linebounce.run(first / "config.toml", "again"))


def test_the_resolved_configuration_holds_every_parameter(linebounce: Program, small: Path) -> None:
    out = linebounce.run(small, "out", "--set", "machine.memory.latency_ns=234", "--set", "engine.run_ahead=false")
    config = tomllib.loads((out / "config.toml").read_text())
    assert config["machine"]["memory"]["latency_ns"] == 234
    assert config["machine"]["cache"]["L1D"]["size_kib"] == 16
    assert "engine" not in config


def test_the_configuration_hash_leaves_out_the_engine_and_nothing_else(linebounce: Program, small: Path) -> None:
    def hash_with(name: str, *arguments: str) -> str:
        return validate(linebounce.run(small, name, *arguments) / "manifest.json", "manifest")["hash"]

    plain = hash_with("plain")
    assert hash_with("engine", "--set", "engine.run_ahead=false") == plain
    others = [
        hash_with("seed", "--seed", "2"),
        hash_with("machine", "--set", "machine.memory.latency_ns=150"),
        hash_with("measure", "--set", "run.measure_us=21"),
    ]
    assert len({plain, *others}) == 4


def test_the_manifest_says_how_the_results_came_about(linebounce: Program, small: Path) -> None:
    manifest = validate(linebounce.run(small, "out", "--seed", "3") / "manifest.json", "manifest")
    assert manifest["argv"][1:] == ["run", str(small), "-o", "out", "--seed", "3"]
    assert manifest["seed"] == 3
    assert "2.3" in manifest["systemc"]
    assert re.search("gcc|g\\+\\+|GNU|clang", manifest["compiler"], re.IGNORECASE)
    for key in ["version", "commit", "hash", "host"]:
        assert manifest[key]


def test_several_seeds_give_a_mean_and_an_interval(linebounce: Program) -> None:
    path = linebounce.file("small.toml", experiment(run="warmup_us = 5\nmeasure_us = 20\nseeds = 3"))
    metrics = check_results_directory(linebounce.run(path, "out"))["points"][0]["metrics"]
    assert all(metric["ci95"] >= 0 for metric in metrics.values())
    assert any(metric["ci95"] > 0 for metric in metrics.values())


def test_results_go_to_out_and_the_experiments_name_by_default(linebounce: Program, small: Path) -> None:
    assert linebounce("run", small).code == 0
    check_results_directory(linebounce.directory / "out" / "small")


def test_a_paper_row_is_judged_by_its_tolerance_and_does_not_change_the_exit_code(linebounce: Program) -> None:
    small = linebounce.file("small.toml", experiment())
    results = check_results_directory(linebounce.run(small, "plain"))
    metric = next(name for name, entry in results["points"][0]["metrics"].items() if entry["value"])
    simulated = metric_of(results, metric)

    def row(name: str, value: float) -> str:
        keys = f'id = "test.{name}"\nmetric = "{metric}"\nvalue = {value}\ntolerance = 0.1\nkind = "predicted"'
        return f'[[paper]]\n{keys}\nsource = "this test"\n'

    rows = row("near", simulated * 1.05) + row("far", simulated * 2)
    with_rows = linebounce.file("rows.toml", experiment(more=rows))
    judged = {row["id"]: row for row in check_results_directory(linebounce.run(with_rows, "rows"))["paper"]}
    assert judged["test.near"]["ok"] is True
    assert judged["test.far"]["ok"] is False
    assert judged["test.far"]["ratio"] == pytest.approx(0.5, rel=1e-5)
    assert judged["test.far"]["simulated"] == simulated
    overridden = linebounce.run(with_rows, "overridden", "--set", "machine.memory.latency_ns=150")
    assert {row["ok"] for row in check_results_directory(overridden)["paper"]} == {None}


def test_a_set_table_and_a_set_option_are_the_same(linebounce: Program, small: Path) -> None:
    in_file = linebounce.file("set.toml", experiment(more='[set]\n"machine.memory.latency_ns" = 150'))
    on_command_line = linebounce.run(small, "a", "--set", "machine.memory.latency_ns=150")
    for name in ["latency.csv", "lines.csv", "transitions.csv"]:
        assert (on_command_line / name).read_bytes() == (linebounce.run(in_file, "b", "--fresh") / name).read_bytes()


def test_latency_csv_counts_what_the_metrics_count(linebounce: Program, small: Path) -> None:
    out = linebounce.run(small, "out")
    metrics = check_results_directory(out)["points"][0]["metrics"]
    counts: dict[str, int] = {}
    sums: dict[str, float] = {}
    for row in read_csv(out / "latency.csv"):
        counts[row["source"]] = counts.get(row["source"], 0) + int(row["count"])
        sums[row["source"]] = sums.get(row["source"], 0) + int(row["count"]) * float(row["latency_ns"])
    assert counts.get("local_c2c", 0) > 0, "contended lines move between caches"
    groups = {name.split(".")[1] for name in metrics if re.fullmatch(r"latency\.\w+\.count", name)}
    for source in groups - {"peaks", "user_peaks"}:
        assert metrics[f"latency.{source}.count"]["value"] == counts.get(source, 0)
        if counts.get(source):
            assert metrics[f"latency.{source}.mean_ns"]["value"] == pytest.approx(sums[source] / counts[source], rel=1e-4)


def test_nothing_is_printed_to_stderr_and_no_colours_where_there_is_no_terminal(linebounce: Program, small: Path) -> None:
    result = linebounce("run", small)
    assert result.stderr == ""
    assert "\x1b" not in result.stdout
    assert "out/small" in result.stdout
    assert linebounce("run", small, "--fresh", "--quiet").stdout == ""


# `run` prints the number of points.
@pytest.mark.parametrize(("command", "says"), [("run", b"6 points"), ("explain", b"explaining small")])
def test_progress_goes_to_stderr_when_it_is_a_terminal(linebounce: Program, command: str, says: bytes) -> None:
    path = linebounce.file("small.toml", SWEEP)
    terminal, its_end = pty.openpty()
    process = subprocess.Popen(
        [linebounce.executable, command, path], cwd=linebounce.directory, stdout=subprocess.PIPE, stderr=its_end, text=True
    )
    os.close(its_end)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        shown += part
    os.close(terminal)
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert says in shown
    assert "\r" not in stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "machines"],
        ["list", "experiments"],
        ["list", "workloads"],
        ["list", "locks"],
        ["list", "protocols"],
        ["describe", "machine", MACHINE],
        ["describe", "experiment", "operation_costs"],
        ["describe", "protocol", "mesi_snoop"],
    ],
    ids=" ".join,
)
def test_json_is_one_document_and_nothing_else(linebounce: Program, arguments: list[str]) -> None:
    result = linebounce(*arguments, "--json")
    assert result.code == 0
    assert result.stderr == ""
    json.loads(result.stdout)


def test_reproduce_prints_json(linebounce: Program) -> None:
    result = linebounce("reproduce", "ols2004.table1.l2_hit", "--json")
    assert result.code == 0
    document = json.loads(result.stdout)
    assert "ols2004.table1.l2_hit" in json.dumps(document)
    assert document["calibrated"] == {"within": 1, "of": 1}
    assert document["in_sight"] == document["predicted"] == {"within": 0, "of": 0}


@pytest.mark.thorough
def test_bench_prints_json(linebounce: Program) -> None:
    result = linebounce("bench", "--json", timeout=900)
    assert result.code == 0
    cases = json.loads(result.stdout)["cases"]
    assert {(case["name"], case["cpus"]) for case in cases} == {
        (name, cpus) for name in ["private", "mixed", "contended"] for cpus in [4, 8, 16]
    }
    for case in cases:
        assert case["ratio"] == pytest.approx(case["timed_refs_per_s"] / case["functional_refs_per_s"], rel=0.01)


def test_an_unknown_subcommand_runs_the_program_of_that_name(linebounce: Program) -> None:
    tool = linebounce.file("tools/linebounce-hello", '#!/bin/sh\necho "hello $*"\nexit 7\n')
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    result = linebounce("hello", "a b", "--json", env=environment)
    assert (result.code, result.stdout) == (7, "hello a b --json\n")


@pytest.mark.usefixtures("signals_count")
def test_a_program_that_a_subcommand_starts_ignores_no_signal(linebounce: Program) -> None:
    tool = linebounce.file("tools/linebounce-ignored", "#!/bin/sh\ngrep SigIgn /proc/self/status\n")
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    result = linebounce("ignored", env=environment)
    assert int(result.stdout.removeprefix("SigIgn:"), 16) == 0


def test_an_unknown_subcommand_of_trace_runs_the_program_of_both_names(linebounce: Program) -> None:
    tool = linebounce.file("tools/linebounce-trace-hello", '#!/bin/sh\necho "hello $*"\nexit 7\n')
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    result = linebounce("trace", "hello", "a b", "--json", env=environment)
    assert (result.code, result.stdout) == (7, "hello a b --json\n")
    message = linebounce.refused("trace", "inof", env=environment)
    assert "did you mean info?" in message


@pytest.mark.parametrize("subcommand", [[], ["run"], ["reproduce"], ["list"], ["describe"], ["bench"]], ids=" ".join)
def test_help_goes_to_stdout(linebounce: Program, subcommand: list[str]) -> None:
    result = linebounce(*subcommand, "--help")
    assert result.code == 0
    assert "usage" in result.stdout.lower()


def test_a_machine_may_be_chosen_as_any_other_setting(linebounce: Program) -> None:
    choice = ["run", "lock_scaling", "--plan", "--set", "machine.cpus=2"]
    by_option = linebounce(*choice, "--machine", "p3_xeon_4way")
    assert linebounce(*choice, "--set", "machine=p3_xeon_4way").stdout == by_option.stdout
    assert linebounce(*choice, "--set", 'machine="p3_xeon_4way"').stdout == by_option.stdout
    said = linebounce.refused(*choice, "--set", "machine=p3_xeon_5way")
    assert said.startswith("linebounce: --set machine: machine")
    assert "p3_xeon_4way" in said
    said = linebounce.refused(*choice, "--machine", "p3_xeon_8way", "--set", "machine=p3_xeon_4way")
    assert "[p3_xeon_8way,p3_xeon_4way]" in said


def test_the_program_runs_from_anywhere_and_by_any_path(linebounce: Program, small: Path) -> None:
    link = linebounce.directory / "link"
    link.symlink_to(linebounce.executable)
    out = linebounce.directory / "out"
    done = subprocess.run([link, "run", small, "-o", out], cwd="/", capture_output=True, text=True, check=False, env={})
    assert done.returncode == 0, done.stderr
    check_results_directory(out)
    by_name = subprocess.run([link, "list", "machines"], cwd="/", capture_output=True, text=True, check=False, env={})
    assert by_name.returncode == 0
    assert MACHINE in by_name.stdout
