"""Additions to commands, and to what they print and leave behind."""

from addition import Clone, addition, after, before, instead, row

SAMPLE_COMMAND = """// linebounce sample: says which machine it was given.
#include <iostream>
#include <memory>

#include "commands/common/command.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {

void add_sample(Command& program) {
  auto machine = std::make_shared<std::string>();
  auto directory = std::make_shared<std::string>();
  Command command = program.subcommand("sample", "Say which machine it was given, as a sample", HelpGroup::machines);
  command.try_first("linebounce sample p3_xeon_4way", "say that it is one");
  command.option("MACHINE", "", machine.get(), "A machine's name").required();
  command.option("-o,--output", "DIR", directory.get(), "Also write it into this directory").own_directory();
  command.action([machine, directory] {
    std::cout << *machine << " is a machine.\\n";
    if (directory->empty()) return ExitCode::done;
    make_own_directory(*directory);
    write_file(*directory + "/sample.txt", *machine + "\\n");
    return ExitCode::done;
  });
}

}  // namespace linebounce::sim
"""


@addition(
    "command",
    "commands/README.md",
    files={
        "commands/sample/sample.cpp": SAMPLE_COMMAND,
        "commands/sample/README.md": "# commands/sample\n\n`linebounce sample`.\n\n| file | subject |\n|---|---|\n"
        "| `sample.cpp` | the command |\n",
        "commands/sample/tests/test_sample.py": '''"""linebounce sample."""

from program import Program


def test_a_machine_is_named_and_written(linebounce: Program) -> None:
    assert linebounce("sample", "vax", "-o", "out").stdout == "vax is a machine.\\n"
    assert (linebounce.directory / "out" / "sample.txt").read_text() == "vax\\n"
''',
    },
    edits=(
        after("CMakeLists.txt", "linebounce_room(new)\n", "linebounce_room(sample)\n"),
        after("tools/layers.txt", "commands/lock commands/new", " commands/sample"),
        before(
            "commands/command_line.cpp",
            "  LISTED(AddSubcommand, add_reproduce)(program);\n",
            "  LISTED(AddSubcommand, add_sample)(program);\n",
        ),
        before(
            "tests/end_to_end/test_strangers_directories.py",
            '    "find-sharing": ("find-sharing", "t.lbt"),\n',
            '    "sample": ("sample", "vax"),\n',
        ),
    ),
    row=row("commands/README.md", "| `new/` |", "| `sample/` | `sample` | |"),
)
def command(clone: Clone) -> None:
    program_help = clone.linebounce("--help")
    group = program_help.partition("Fit a machine:\n")[2].partition("\n\n")[0]
    assert "sample" in group
    assert "linebounce sample p3_xeon_4way" in program_help
    assert "vax is a machine" in clone.linebounce("sample", "vax")
    clone.pytest("commands/sample/tests/test_sample.py")
    clone.pytest("tests/end_to_end/test_strangers_directories.py", "sample")
    clone.pytest("tests/end_to_end/test_printed_commands.py::test_every_example_of_a_help_text_works_when_typed[linebounce]")


@addition(
    "kind for list and describe",
    "commands/describe/README.md",
    files={
        "commands/describe/describe_sample.cpp": """// Samples: one, which is called "one".
#include "commands/describe/named_kinds.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {

std::vector<ListedThing> list_samples() {
  return {{"one", "The only sample", ""}};
}

std::string sample_page(const std::string& name, const Painter&) {
  if (name != "one") throw ConfigError("sample " + not_known(name, {"one"}));
  return "one: The only sample\\n";
}

nlohmann::ordered_json sample_json(const std::string& name) {
  return {{"name", name}, {"title", "The only sample"}};
}

}  // namespace linebounce::sim
"""
    },
    edits=(
        after(
            "commands/describe/named_kinds.hpp",
            "std::vector<ListedThing> list_layouts();\n",
            "std::vector<ListedThing> list_samples();\n",
        ),
        after(
            "commands/describe/named_kinds.hpp",
            "nlohmann::ordered_json layout_json(const std::string& name);\n",
            "std::string sample_page(const std::string& name, const Painter& paint);\n"
            "nlohmann::ordered_json sample_json(const std::string& name);\n",
        ),
        after(
            "commands/describe/named_kinds.hpp",
            '    Kind{"layout", "layouts", list_layouts, layout_page, layout_json},\n',
            '    Kind{"sample", "samples", list_samples, sample_page, sample_json},\n',
        ),
    ),
    row=instead("commands/describe/README.md", "`describe_metric.cpp`", "`describe_metric.cpp`, `describe_sample.cpp`"),
)
def kind(clone: Clone) -> None:
    assert "samples" in clone.linebounce("list")
    assert "samples" in clone.linebounce("list", "--help")
    assert "sample, " in clone.linebounce("describe", "--help")
    assert "The only sample" in clone.linebounce("describe", "sample", "one")
    clone.pytest("commands/describe/tests/test_list_describe.py")


@addition(
    "counter of a course",
    "commands/run/README.md",
    edits=(
        after("sim/statistics/class_counters.hpp", "  sc_failures,\n", "  sample_accesses,\n"),
        instead(
            "sim/statistics/class_counters.hpp", "constexpr int kClassCounters = 29;", "constexpr int kClassCounters = 30;"
        ),
        before(
            "sim/statistics/class_counters.cpp",
            '    {"bus_bytes", "bytes on the bus", ',
            '    {"sample_accesses", "sample accesses", "accesses, as a sample"},\n',
        ),
        after(
            "sim/statistics/class_counters.cpp",
            "MissClasses::Change ClassCounters::access_ran(int cache, Address address, int bytes, bool writes, bool hit) {\n",
            "  add(cache, ClassCounter::sample_accesses);\n",
        ),
        row("docs/course-traces.md", "| `updates` |", "| `sample_accesses` | accesses |"),
        instead(
            "commands/run/tests/test_course_counters.py",
            '"sc_failures", "bus_bytes",',
            '"sc_failures", "bus_bytes", "sample_accesses",',
        ),
        after(
            "commands/run/tests/test_course_counters.py",
            '        count["writes" if write else "reads"] += 1\n',
            '        count["sample_accesses"] += 1\n',
        ),
    ),
)
def class_counter(clone: Clone) -> None:
    assert "sample_accesses" in clone.linebounce("list", "metrics")
    clone.pytest("commands/run/tests/test_course_counters.py", "counters_of_an_ordered_trace")


@addition(
    "column or file of results",
    "sim/results/README.md",
    edits=(
        instead(
            "sim/results/csv.cpp",
            '"point,from_cpu,to_cpu,home_node,state,latency_ns"',
            '"point,from_cpu,to_cpu,home_node,state,latency_ns,sample"',
        ),
        instead(
            "sim/results/csv.cpp",
            "row.to_cpu << row.home_node << row.state << row.latency_ns;",
            "row.to_cpu << row.home_node << row.state << row.latency_ns << row.to_cpu - row.from_cpu;",
        ),
        instead(
            "docs/results.md",
            "`point,from_cpu,to_cpu,home_node,state,latency_ns`",
            "`point,from_cpu,to_cpu,home_node,state,latency_ns,sample`",
        ),
        after(
            "analysis/linebounce/frames.py",
            '        "state": _TEXT,\n        "latency_ns": _NUMBER,\n',
            '        "sample": _COUNT,\n',
        ),
        instead(
            "tests/end_to_end/results.py",
            '"point,from_cpu,to_cpu,home_node,state,latency_ns"',
            '"point,from_cpu,to_cpu,home_node,state,latency_ns,sample"',
        ),
        instead(
            "tests/sim/results/csv_test.cpp",
            'home_node,state,latency_ns\\n2,0,3,1,Modified,132.5\\n"',
            'home_node,state,latency_ns,sample\\n2,0,3,1,Modified,132.5,3\\n"',
        ),
    ),
    targets=("test_sim_results",),
)
def column(clone: Clone) -> None:
    clone.ctest("test_sim_results", "Csv.*")
    clone.pytest("tests/end_to_end/test_numa_workloads.py", "matrix")
