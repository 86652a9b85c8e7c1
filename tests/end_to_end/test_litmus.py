"""The shipped experiment on memory ordering: one machine, three models."""

import json

import pytest
from program import Program

Points = dict[tuple[str, str], dict[str, int]]  # metrics by test and model

# The models that allow the outcome that the test asks about.
ASKED_FOR_UNDER: dict[str, set[str]] = {
    "sb": {"tso", "ia64"},
    "sb+fences": set(),
    "mp": {"ia64"},
    "mp+po+acq": {"ia64"},
    "mp+rel+acq": set(),
    "s": {"ia64"},
    "2+2w": {"ia64"},
    "isa2": {"ia64"},
    "lb": set(),
    "iriw": set(),
    "iriw+rels+acqs": set(),
}


@pytest.fixture(scope="module")
def points(session_linebounce: Program) -> Points:
    out = session_linebounce.run("litmus", "litmus", "-j", "2")
    return {
        (point["at"]["workload.test"], point["at"]["machine.cpu.consistency"]): {
            name: metric["value"] for name, metric in point["metrics"].items() if name.startswith("litmus.")
        }
        for point in json.loads((out / "results.json").read_text())["points"]
    }


@pytest.mark.parametrize("test", ASKED_FOR_UNDER)
def test_a_relaxed_outcome_is_seen_where_the_machine_can_produce_it(points: Points, test: str) -> None:
    seen = {model for model in ("sc", "tso", "ia64") if points[test, model]["litmus.asked"] > 0}
    assert seen == ASKED_FOR_UNDER[test]


def test_the_expected_outcomes_cover_every_litmus_test(points: Points) -> None:
    assert {test for test, _ in points} == set(ASKED_FOR_UNDER)


def test_counts_add_up_and_nothing_forbidden_is_seen(points: Points) -> None:
    for (_, model), metrics in points.items():
        outcomes = [count for name, count in metrics.items() if name.startswith("litmus.seen.")]
        assert sum(outcomes) == metrics["litmus.rounds"] == 4000
        assert metrics["litmus.forbidden"] == 0
        assert metrics["litmus.relaxed"] == 0 or model != "sc"


def test_a_test_needs_a_cpu_for_each_of_its_threads(linebounce: Program) -> None:
    result = linebounce("run", "litmus", "-o", "out", "--set", "machine.cpus=3")
    assert result.code == 2
    assert "iriw has 4 threads, the machine has 3 CPUs" in result.stderr


def test_an_unknown_test_is_answered_with_the_known_ones(linebounce: Program) -> None:
    result = linebounce("run", "litmus", "-o", "out", "--set", "workload.test=mp+rel+ack")
    assert result.code == 2
    assert "did you mean" in result.stderr
    assert "mp+rel+acq" in result.stderr
