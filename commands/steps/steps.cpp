#include <fmt/ranges.h>

#include <iostream>
#include <memory>
#include <optional>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "commands/steps/document.hpp"
#include "commands/steps/moments.hpp"
#include "commands/steps/recorded_steps.hpp"
#include "commands/steps/sentences.hpp"
#include "commands/steps/step_log.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/results/numbers.hpp"
#include "sim/terminal/visible_output.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kStepsFooter = R"(Examples:
  linebounce steps my_scene.toml -o scene.json            protocol rows, accesses, messages and operations, a sentence each
  linebounce steps my_program.lua --machine p3_xeon_4way  the steps of a program in Lua
  linebounce steps my_scene.toml --log-form "{number} {line} {from} {to}"    a line for each transition, for those who grade logs
  linebounce steps my_scene.toml --at "x is M in CPU 2" --at "CPU 1 loads x, 2nd time"

docs/steps.md describes the document's members. Of a sweep, the first point runs; --set PATH=VALUE chooses another.)";

struct StepsArguments : OverrideArguments {
  std::string experiment;
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

ExitCode run_and_print(const StepsArguments& arguments) {
  const RecordedSteps run = record_steps(arguments.experiment, overrides_of(arguments), arguments.steps);
  ExitCode code = run.exit;
  if (run.known) {
    tell_point(run);
    if (arguments.log || !arguments.log_form.empty()) {
      write_document(step_log(run, arguments.log_form.empty() ? kUsualLogLine : arguments.log_form), arguments.output);
    } else if (arguments.moments.empty() || !arguments.output.empty()) {
      write_document(steps_document(run), arguments.output);
    }
    code = larger(code, print_moments(run, arguments.moments));
  }
  if (!run.error.empty()) std::cerr << "linebounce: " << run.error << '\n';
  return code;
}

}  // namespace

void add_steps(Command& program) {
  auto arguments = std::make_shared<StepsArguments>();
  Command command = program.subcommand("steps", "Print every step of one run as one JSON document", HelpGroup::results);
  command
      .option("EXPERIMENT", "", &arguments->experiment,
              "A name (see: linebounce list experiments), a TOML file, or a program or lock in Lua")
      .required();
  command.option("-o,--output", "FILE", &arguments->output, "Write the document to FILE; default: standard output")
      .output_file("this document", {".json", ".txt", ".log"});
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
