"""Breaking a prediction: how the experiment's file is changed, and what counts as broken."""

from typing import Any

import pytest
from breaks import Outcome, broken_text, told

EXPERIMENT = """name = "e"

[workload]
name = "w"

[set]
"machine.cpus" = 4
"machine.memory.latency_ns" = 90

[[paper]]
id = "r"
"""
NO_MEMORY = {"machine.memory.latency_ns": 0}


def test_a_break_replaces_what_the_experiment_sets() -> None:
    changed = EXPERIMENT.replace(
        '"machine.cpus" = 4\n"machine.memory.latency_ns" = 90', '"machine.memory.latency_ns" = 0\n"machine.cpus" = 4'
    )
    assert broken_text(EXPERIMENT, NO_MEMORY) == changed


def test_a_break_sets_where_nothing_was_set() -> None:
    plain = 'name = "e"\n\n[workload]\nname = "w"\n'
    assert broken_text(plain, NO_MEMORY) == 'name = "e"\n\n[set]\n"machine.memory.latency_ns" = 0\n\n[workload]\nname = "w"\n'


def figure(simulated: object, ok: bool, **more: object) -> dict[str, Any]:
    return {"id": "r", "paper": 10.0, "tolerance": 0.1, "simulated": simulated, "ok": ok} | more


@pytest.mark.parametrize(
    ("whole", "broken", "lost"),
    [
        (figure(10.5, True), figure(12.0, False), True),
        (figure(10.5, True), figure(9.5, True), False),
        # A miss counts as broken if it moves by more than the tolerance, which is 1.
        (figure(14.0, False), figure(15.5, False), True),
        (figure(14.0, False), figure(14.5, False), False),
        (figure(14.0, False), figure(None, False), True),
        (figure([3, 2, 1], False), figure([1, 2, 3], False), True),
        (figure([3, 2, 1], False), figure([30, 2, 1], False), False),
        (figure(0.0, False, paper=None, simulated_sign="none"), figure(0.2, True, paper=None, simulated_sign="gain"), True),
        (figure(0.0, False, paper=None, simulated_sign="none"), figure(0.0, False, paper=None, simulated_sign="none"), False),
    ],
)
def test_a_hit_is_lost_and_a_miss_is_moved(whole: dict, broken: dict, lost: bool) -> None:
    outcome = Outcome("e", "no_memory", whole, broken)
    assert outcome.is_lost is lost
    assert ("STAYS" in told(outcome)) is not lost
