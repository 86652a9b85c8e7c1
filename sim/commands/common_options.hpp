// Options that several subcommands have, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/commands/command.hpp"
#include "sim/config/experiment.hpp"
#include "sim/plan/run_plan.hpp"
#include "sim/terminal/run_report.hpp"

namespace linebounce::sim {

// What --machine, --set and --seed say.
struct OverrideArguments {
  std::string machine = {};
  std::vector<std::string> sets = {};
  std::optional<std::int64_t> seed = {};
};
Overrides overrides_of(const OverrideArguments& arguments);

// --machine, --set and --seed, of commands that run one point once.
void add_overrides(Command& command, OverrideArguments& arguments);

// -j: simulations at the same time.
Option add_jobs(Command& command, int& at_once);

// --unchecked: RunOptions::unchecked.
void add_unchecked(Command& command, bool& unchecked);

// Errors: ConfigError for a --point that an experiment of so many points does not have.
void require_point(int point, std::size_t points);

// What the command line says of every study of a trace.
struct StudyArguments {
  std::string trace;
  std::vector<std::string> sets;
  std::string directory;  // empty: add_study_options' folder, and the trace's name
  int at_once = available_cores();
  bool json = false;
  bool unchecked = false;
};

// TRACE, --set, -o, -j, --unchecked and --json. `folder`: where results go by default, below it one of the trace's name.
void add_study_options(Command& command, StudyArguments& arguments, const std::string& folder);

// --machine, of studies that run on several.
void add_machines(Command& command, std::vector<std::string>& machines);

// --orders.
void add_orders(Command& command, int& orders);

// Of the study's run in `directory`.
RunOptions run_options(const StudyArguments& arguments, const std::filesystem::path& directory,
                       const std::vector<std::string>& argv);

// Runs it, with a progress line, into `options.directory`; what another study has left there is replaced. None: no point has
// finished, or it was interrupted; `code` and the standard error say so, and of points that failed (ReportedPoint::finished).
std::optional<std::vector<ReportedPoint>> run_study(const Plan& plan, RunOptions options, ExitCode& code);

}  // namespace linebounce::sim
