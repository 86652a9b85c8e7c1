"""The lint for side effects in unspecified order: what it must find, and what it must accept."""

import pytest
from lint_evaluation_order import findings as all_findings
from source_tree import Finding, SourceTree

WRONG = [
    "record(cpu.load(a), cpu.load(b));",
    "make_unique<Mutex>(place.place(layout), per_cpu.shared(node));",
    "record(1, cpu.load(a), f(g(cpu.load(b))));",
    "sum = cpu.load(a) + cpu.load(b);",
    "return cpu.load_acquire(a) == cpu.fetch_add(b, 1);",
    "if (cpu->load(a) < cpu->load(b)) go();",
    "x = cpu.load(a) << 8 | cpu.load(b);",
    "x = (cpu.load(a) << 8) + 2 * cpu.load(b);",
    "Point point(random.below(4), random.below(8));",
    "auto p = std::make_pair<int, int>(random_.next(), random_.next());",
    "p = pick(random_, 3) + pick(random_, 4);",
    "f(cpu.load(a) && x, cpu.load(b));",
    "f([&] { return cpu.load(a) + cpu.load(b); });",
    "f(Pair{cpu.load(a), 1}, cpu.load(b));",
    "EXPECT_EQ(cpu.exchange(a, 1), cpu.load(b));",
    "table[i] = a + cpu.load(a) - (wide ? cpu.load(b) : 0);",
    "for (auto& [name, value] : table) { f(cpu.load(a), cpu.load(b)); }",
    "[[maybe_unused]] const auto x = cpu.load(a) * cpu.load(b);",
]

RIGHT = [
    "if (cpu.load(a) && cpu.load(b)) go();",
    "x = cpu.load(a) == 1 ? cpu.load(b) : cpu.load(c);",
    "Pair pair{cpu.load(a), cpu.load(b)};",
    "cpu.store_release(serving_, cpu.load(serving_) + 1);",
    "cpu.load(a); cpu.load(b);",
    "for (cpu.load(a); cpu.load(b) < 3; cpu.store(c, 1)) f(cpu.load(d), 2);",
    "while (cpu.load(a) != 0) { cpu.compute(3); } x = y + cpu.load(b);",
    "out << cpu.load(a) << cpu.load(b);",
    "cpu.load(a) += cpu.load(b);",
    "record(random.below(4), other);",
    "void place(Random& random, Random& random_b, int n);",
    "Spread(Random random, int n) : random_(random), n_(random_.below(n)), m_(random_.below(n)) {}",
    "run([&] { cpu.load(a); }, [&] { cpu.load(b); });",
    '// f(cpu.load(a), cpu.load(b))\n/* cpu.load(a) + cpu.load(b) */ const char* s = "cpu.load(a) + cpu.load(b)";',
    "#define BOTH f(cpu.load(a), \\\n cpu.load(b))\nint x;",
    "Value operator+(Cpu& cpu) { return cpu.load(a); } bool operator<(Cpu& cpu) { return cpu.load(b); }",
    "format(agent.store().line(a), agent.store().line(b));",
    "sizeof(cpu.load(a)) + cpu.load(b);",
    "std::vector<int> x = f(cpu.load(a)), y = f(cpu.load(b));",
]


def findings(code: str, path: str = "workloads/locks/x.cpp") -> list[Finding]:
    return all_findings(SourceTree.of({path: f"void f() {{\n{code}\n}}"}), path)


@pytest.mark.parametrize("code", WRONG)
def test_two_effects_without_an_order_are_found(code: str) -> None:
    assert len(findings(code)) == 1


@pytest.mark.parametrize("code", RIGHT)
def test_effects_in_a_fixed_order_are_left_alone(code: str) -> None:
    assert findings(code) == []


def test_a_finding_names_the_file_and_the_line_of_the_second_effect() -> None:
    sources = SourceTree.of({"models/x.cpp": "\n\nint x = f(cpu.load(a),\n  cpu.store(b, 1));\n"})
    (finding,) = all_findings(sources, "models/x.cpp")
    assert str(finding).startswith('models/x.cpp:4: "load" and "store" are arguments of one call')


def test_in_a_workload_a_call_that_is_handed_the_cpu_is_an_effect() -> None:
    assert len(findings("return find(cpu, a) + find(cpu, b);")) == 1
    assert findings("return find(cpu, a) + find(cpu, b);", "models/bus/bus.cpp") == []


def test_digit_separators_and_raw_strings_do_not_hide_what_follows() -> None:
    assert len(findings('x = 1\'000\'000; y = R"(")"; z = cpu.load(a) + cpu.load(b);')) == 1
