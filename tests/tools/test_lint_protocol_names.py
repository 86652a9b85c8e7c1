"""The lint that keeps `if (protocol == ...)` out of the code."""

import pytest
from lint_protocol_names import findings as all_findings
from source_tree import Finding, SourceTree

WRONG = [
    'if (protocol == "mesi") go();',
    "if (protocol_.name != other) go();",
    "if (spec.bus.protocol == x) go();",
    'if ("Dragon" == kind) go();',
    'auto p = load("moesi");',
]
RIGHT = [
    "if (message == own) go();",
    "const Protocol& protocol = load(name); if (name == x) go();",
    '// if (protocol == "mesi")\nint x;',
    "if (protocol.messages.size() == 3) go();",
]


def findings(path: str, code: str) -> list[Finding]:
    return list(all_findings(SourceTree.of({path: code}), path))


@pytest.mark.parametrize("code", WRONG)
def test_code_that_asks_for_the_protocol_is_found(code: str) -> None:
    finding, *_ = findings("models/bus/bus.cpp", code)
    assert str(finding).startswith("models/bus/bus.cpp:1: ")


@pytest.mark.parametrize("code", RIGHT)
def test_code_that_compares_no_protocol_is_left_alone(code: str) -> None:
    assert findings("models/bus/bus.cpp", code) == []


def test_the_configuration_may_mention_a_protocol_but_not_compare_it() -> None:
    assert findings("sim/machine/machine_schema.cpp", 'Text protocol{"mesi"};') == []
    assert len(findings("sim/machine/machine_schema.cpp", 'if (p == "mesi") go();')) == 1
