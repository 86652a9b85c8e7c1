#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "commands/course/exercise.hpp"
#include "commands/course/trace_files.hpp"
#include "commands/course/typed_table.hpp"
#include "commands/steps/document.hpp"
#include "commands/steps/moments.hpp"
#include "commands/steps/recorded_steps.hpp"
#include "commands/steps/sentences.hpp"
#include "commands/steps/step_log.hpp"
#include "commands/steps/trace_steps.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/results/numbers.hpp"
#include "sim/terminal/terminal.hpp"
#include "sim/terminal/visible_output.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kStepsFooter = R"(Examples:
  linebounce steps my_scene.toml -o scene.json            protocol rows, accesses, messages and operations, a sentence each
  linebounce steps my_program.lua --machine p3_xeon_4way  the steps of a program in Lua
  linebounce steps my_scene.toml --log-form "{number} {line} {from} {to}"    a line for each transition, for those who grade logs
  linebounce steps --accesses "P1 R x; P2 W x; P1 R x" --protocol mesi      the table that exams ask for (docs/course-traces.md)
  linebounce steps course.txt --protocol mesi --cache-bytes 8192 --format csv
  linebounce steps my_scene.toml --at "x is M in CPU 2" --at "CPU 1 loads x, 2nd time"

docs/steps.md describes the document's members. Of a sweep, the first point runs; --set PATH=VALUE chooses another.)";

struct StepsArguments : OverrideArguments {
  std::string experiment;
  std::vector<std::string> more_files;  // of a trace with a file for each CPU
  std::string format;
  TraceOptions trace;  // without files and overrides
  std::int64_t steps = kMostSteps;
  std::vector<std::string> moments;
  std::string output;
  bool log = false;
  std::string log_form;
};

void write_document(const std::string& document, const std::string& output) {
  if (output.empty()) {
    std::cout << document;
    return;
  }
  UnfinishedFile file(output);
  file.write(document);
  file.finish();
}

// Writes to standard error, because standard output holds only the document.
void tell_point(const RecordedSteps& run) {
  if (run.points == 1) return;
  std::vector<std::string> values;
  for (const auto& [path, value] : run.at) values.push_back(path + " = " + value_text(value));
  print_error(
      fmt::format("running the first of {} points, {}; --set PATH=VALUE chooses another", run.points, fmt::join(values, ", ")));
}

// Refuses a name of the output that ends as another form does. Errors: UsageError.
void require_ending(const std::string& output, const std::string& what, const std::vector<std::string>& endings) {
  const std::string ending = std::filesystem::path(output).extension().string();
  if (ending.empty() || std::ranges::find(endings, ending) != endings.end()) return;
  throw UsageError(
      fmt::format("--output {}: {}, and the name ends in {}; legal: {}", output, what, ending, fmt::join(endings, ", ")));
}

// Prints a line for each moment: its position, and the sentence about the step before it.
ExitCode print_moments(const RecordedSteps& run, const std::vector<std::string>& moments) {
  const std::vector<std::string> said = sentences(run);
  ExitCode code = ExitCode::done;
  for (const std::string& moment : moments) {
    const std::optional<std::size_t> found = find_moment(run, moment);
    if (!found) {
      std::cout << fmt::format("-\t{}\tnever\n", moment);
      code = ExitCode::check_failed;
      continue;
    }
    std::cout << fmt::format("{}\t{}\t{}\n", *found, moment, *found == 0 ? "" : said[*found - 1]);
  }
  return code;
}

// The document, log or moments of a run. An experiment's and a trace's are alike.
ExitCode print_steps(const StepsArguments& arguments, const std::function<RecordedSteps()>& record) {
  const bool as_log = arguments.log || !arguments.log_form.empty();
  if (as_log) {
    require_ending(arguments.output, "this is a log", {".txt", ".log", ".md", ".csv"});
  } else {
    require_ending(arguments.output, "this document is JSON", {".json"});
  }
  const RecordedSteps run = record();
  ExitCode code = run.exit;
  const bool refused = code == ExitCode::usage && run.steps.empty();  // before the first step
  if (run.known && !refused) {
    tell_point(run);
    if (as_log) {
      write_document(step_log(run, arguments.log_form.empty() ? kUsualLogLine : arguments.log_form), arguments.output);
    } else if (arguments.moments.empty() || !arguments.output.empty()) {
      write_document(steps_document(run), arguments.output);
    }
    code = larger(code, print_moments(run, arguments.moments));
  }
  if (!run.error.empty()) std::cerr << "linebounce: " << run.error << '\n';
  return code;
}

TraceOptions trace_of(const StepsArguments& arguments) {
  TraceOptions trace = arguments.trace;
  trace.overrides = arguments;
  trace.files = {arguments.experiment};
  trace.files.insert(trace.files.end(), arguments.more_files.begin(), arguments.more_files.end());
  return trace;
}

// "text", "markdown" or "csv". Errors: UsageError if the name of the output ends as another form does.
std::string format_of(const StepsArguments& arguments) {
  const std::string& output = arguments.output;
  const std::string named = output.ends_with(".csv") ? "csv" : output.ends_with(".md") ? "markdown" : "text";
  const std::string format = arguments.format.empty() ? named : arguments.format;
  const std::string ending = format == "csv" ? ".csv" : format == "markdown" ? ".md" : ".txt";
  std::vector<std::string> legal = {ending};
  if (arguments.format.empty()) legal = {".txt", ".md", ".csv"};
  require_ending(output, arguments.format.empty() ? "this is a table" : "this table's form is " + format, legal);
  return format;
}

std::string written(const StateTable& table, const std::string& format) {
  if (format == "csv") return table.csv();
  return table.text(format == "markdown" ? painter_for_stdout().for_markdown() : painter_for_stdout());
}

// Prints the table that `make_table` makes. A protocol that does what no correct one does ends with a message.
template <class MakeTable>
ExitCode print_table(const StepsArguments& arguments, const Protocol& protocol, MakeTable make_table) {
  if (!arguments.moments.empty() || arguments.log || !arguments.log_form.empty())
    throw UsageError(fmt::format(
        "--at, --log and --log-form are for runs in time; {} is for an atomic bus, whose steps are a table", protocol.name));
  const std::string format = format_of(arguments);
  return run_on_bus(protocol, [&] {
    const StateTableRun made = make_table(static_cast<std::size_t>(arguments.steps));
    write_document(written(*made.table, format), arguments.output);
    if (made.cut)
      print_error(fmt::format("the table has the first {} accesses; --steps N sets another limit", arguments.steps));
  });
}

ExitCode run_exercise_steps(const StepsArguments& arguments, const Exercise& exercise) {
  const Protocol protocol = protocol_of_accesses(arguments.trace);
  TraceOptions options = arguments.trace;
  options.overrides = arguments;
  return print_table(arguments, protocol, [&](std::size_t most) {
    try {
      return typed_table(options, exercise.text, protocol, most);
    } catch (const ConfigError& refused) {
      refuse_exercise(exercise, refused);
    }
  });
}

ExitCode run_trace_steps(const StepsArguments& arguments) {
  const TraceOptions options = trace_of(arguments);
  std::optional<Protocol> protocol;
  if (!options.protocol.empty()) protocol = protocol_of_course(options.protocol);
  const ConvertedTrace trace(options, "steps", "");
  const trace::Reader reader(trace.path());
  if (protocol && is_for_atomic_bus(*protocol))
    return print_table(arguments, *protocol, [&](std::size_t most) { return trace_table(options, reader, *protocol, most); });
  if (!arguments.format.empty())
    throw UsageError("--format is for the table of an atomic bus; choose its protocol, such as --protocol mesi");
  return print_steps(arguments, [&] { return trace_steps(options, reader, static_cast<std::size_t>(arguments.steps)); });
}

ExitCode run_and_print(const StepsArguments& arguments) {
  const auto exercise = exercise_of(arguments.trace, arguments.experiment, arguments.more_files);
  const bool is_meant = exercise || is_meant_as_trace(arguments.experiment, arguments.trace);
  if (is_meant && arguments.native) throw UsageError("--native is for experiments; a trace names no locks in C");
  if (exercise) return run_exercise_steps(arguments, *exercise);
  if (is_meant) return run_trace_steps(arguments);
  if (!arguments.more_files.empty())
    throw UsageError(fmt::format("unexpected argument \"{}\": {} is not a trace, and further files are for traces",
                                 arguments.more_files.front(), arguments.experiment));
  if (has_trace_options(arguments.trace) || !arguments.format.empty())
    throw UsageError(
        fmt::format("{} is not a trace: --as, --protocol, --cache-bytes, --ways, --line-bytes and --format are for "
                    "traces; an experiment's are set by --set",
                    arguments.experiment));
  return print_steps(arguments, [&] {
    return record_steps(arguments.experiment, overrides_of(arguments), static_cast<std::size_t>(arguments.steps));
  });
}

}  // namespace

void add_steps(Command& program) {
  auto arguments = std::make_shared<StepsArguments>();
  Command command = program.subcommand("steps", "Print every step of one run as one JSON document", HelpGroup::results);
  command.option("EXPERIMENT", "", &arguments->experiment,
                 "A name (see: linebounce list experiments), a TOML file, a program or lock in Lua, or a trace");
  command.option("FILES", "", &arguments->more_files, "For a trace with a file for each CPU: the other CPUs' files");
  add_trace_options(command, arguments->trace);
  command
      .option("--format", "FORM", &arguments->format,
              "Form of the table of an atomic bus's accesses: text, markdown or csv; default: as FILE's name ends, else text")
      .one_of({"text", "markdown", "csv"});
  command.option("-o,--output", "FILE", &arguments->output, "Write the document to FILE; default: standard output")
      .output_file("this document", {".json", ".txt", ".log", ".md", ".csv"});
  command
      .option("--at", "MOMENT", &arguments->moments,
              "Print the position of this moment instead, such as \"x is M in CPU 2\"; may be repeated")
      .one_value_each();
  command.flag("--log", arguments->log, "Print a line of text for each transition of a line's state instead");
  command.option("--log-form", "TEXT", &arguments->log_form,
                 fmt::format("The form of these lines; default: \"{}\"", kUsualLogLine));
  command.option("--steps", "N", &arguments->steps, fmt::format("Stop after this many steps; default: {}", kMostSteps))
      .between(1, 100'000'000);
  add_overrides(command, *arguments);
  command.footer(kStepsFooter);
  command.action([arguments] { return run_and_print(*arguments); });
}

}  // namespace linebounce::sim
