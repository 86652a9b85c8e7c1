"""The lint for code whose results differ between compilers, libraries or runs."""

import pytest
from lint_reproducible import findings as findings_in
from source_tree import Finding, SourceTree

WRONG = [
    "long double x = 1;",
    "x = std::pow(a, 2);",
    "x = log(a);",
    "return exp(a);",
    "std::uniform_int_distribution<int> d;",
    "std::shuffle(a.begin(), a.end(), g);",
    "std::hash<int> h;",
    "auto t = std::chrono::steady_clock::now();",
    "std::random_device seed;",
    "std::map<const Line*, int> lines_;",
    "std::unordered_map<int, std::pair<int, int>> lines_; void f() { for (auto& line : lines_) g(line); }",
    "std::unordered_set<int> seen; auto it = seen.begin();",
]
RIGHT = [
    "x = std::sqrt(a);",
    "tracer.log(a); events.exp(3);",
    "const TransitionLog& log() const { return log_; }",
    "void log(const std::string& text);",
    "std::map<int, Line*> lines_;",
    "std::unordered_map<int, int> lines_; void f() { auto found = lines_.find(3); }",
    "std::vector<int> lines_; void f() { for (auto& line : lines_) g(line); }",
    "// std::hash and long double\n",
]


def findings(files: dict[str, str]) -> list[Finding]:
    return [finding for file in files for finding in findings_in(SourceTree.of(files), file)]


@pytest.mark.parametrize("code", WRONG)
def test_code_whose_results_may_differ_between_runs_is_found(code: str) -> None:
    (finding,) = findings({"models/x.cpp": f"\n{code}"})
    assert str(finding).startswith("models/x.cpp:2: ")


@pytest.mark.parametrize("code", RIGHT)
def test_text_that_is_the_same_everywhere_is_left_alone(code: str) -> None:
    assert findings({"models/x.cpp": code}) == []


def test_a_member_declared_in_the_header_is_known_in_the_source_file() -> None:
    header = "struct A { std::unordered_map<int, int> table_; };"
    source = "void A::f() { for (auto& row : table_) g(row); }"
    assert len(findings({"models/a.hpp": header, "models/a.cpp": source})) == 1
    assert findings({"models/a.hpp": header, "models/b.cpp": source}) == []


def test_the_clock_may_be_read_for_progress_but_not_in_the_simulation() -> None:
    code = "auto t = std::chrono::steady_clock::now();"
    assert findings({"commands/run/run.cpp": code}) == []
    assert len(findings({"sim/simulation/simulate.cpp": code})) == 1
