"""The list of the project's own lint rules."""

from lint import RULES, FileRule, all_findings
from source_tree import Finding, SourceTree

WRONG_WORD = "data-" + "base"
TEXTS = {"models/x.hpp": f'#include "sim/y.hpp"\n// a {WRONG_WORD}\n', "sim/y.hpp": f"// a {WRONG_WORD}\n"}


def test_a_finding_has_its_file_line_and_error() -> None:
    rule = RULES["prose"]
    assert isinstance(rule, FileRule)
    (finding,) = rule.findings(SourceTree.of(TEXTS), "models/x.hpp")
    assert str(finding) == f'models/x.hpp:2: "{WRONG_WORD}": write database'


def test_with_files_only_rules_of_single_files_run_and_only_on_these() -> None:
    assert list(all_findings(SourceTree.of(TEXTS), ["sim/y.hpp"])) == [
        Finding("sim/y.hpp", 1, f'"{WRONG_WORD}": write database')
    ]


def test_a_file_is_read_once_whatever_rules_look_at_it() -> None:
    read: list[str] = []

    def text(name: str) -> str:
        read.append(name)
        return TEXTS[name]

    sources = SourceTree(TEXTS, text)
    for name in RULES.keys() - {"rows"}:
        rule = RULES[name]
        for file in sources.names:
            list(rule.findings(sources, file) if isinstance(rule, FileRule) else rule.findings(sources))
    assert sorted(read) == sorted(TEXTS)
