"""Metrics are declared once: the program lists them, results have no others, and docs/results.md agrees."""

import json

import metrics_page
import pytest
from experiments import experiment
from program import Program


@pytest.fixture
def declared(linebounce: Program) -> list[dict]:
    return json.loads(linebounce("list", "metrics", "--json").stdout)


def test_the_page_of_metrics_matches_the_programs_declarations(declared: list[dict]) -> None:
    text = metrics_page.PAGE.read_text()
    assert metrics_page.page(text, declared) == text, "docs/results.md is out of date: run tools/metrics_page.py"
    assert f"`{declared[0]['name']}`" in text


def test_the_list_says_unit_group_and_which_way_is_better(declared: list[dict]) -> None:
    metrics = {metric["name"]: metric for metric in declared}
    rate = metrics["throughput.operations_per_s"]
    assert (rate["unit"], rate["group"], rate["better"], rate["headline"]) == ("1/s", "throughput", "higher", True)
    assert metrics["locks.<lock>.con_pct"]["better"] == "lower"
    assert metrics["rcu.callbacks"]["better"] is None
    assert not metrics["profile.<function>.time_pct"]["headline"]


def test_a_metric_of_a_result_is_described_by_its_declaration(linebounce: Program) -> None:
    name = "locks.dcache_lock.d_lookup.wait_mean_us"
    described = json.loads(linebounce("describe", "metric", name, "--json").stdout)
    assert (described["name"], described["pattern"]) == (name, "locks.<lock>.<call_site>.wait_mean_us")
    page = linebounce("describe", "metric", name).stdout
    assert described["title"] in page
    assert described["pattern"] in page


def test_describing_an_undeclared_name_is_refused(linebounce: Program) -> None:
    message = linebounce.refused("describe", "metric", "cpi.kernal")
    assert "cpi.kernal" in message
    assert "did you mean cpi.kernel?" in message


def test_a_run_of_a_few_points_begins_with_what_its_workload_did(linebounce: Program) -> None:
    """By group in the declared order, and by name within a group."""
    printed = linebounce("run", linebounce.file("small.toml", experiment()), "-o", "out", "--all-metrics").stdout
    printed = printed[printed.index("───") :]
    first_words = [line.split()[0] for line in printed.splitlines() if line.startswith("  ") and "." in line]
    groups = [word.split(".")[0] for word in first_words if word in json_metrics(linebounce)]
    assert groups.index("throughput") < groups.index("cpi") < groups.index("bus") < groups.index("latency")


def json_metrics(linebounce: Program) -> set[str]:
    results = json.loads((linebounce.directory / "out/results.json").read_text())
    return {name for point in results["points"] for name in point["metrics"]}
