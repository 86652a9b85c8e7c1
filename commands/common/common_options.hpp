// Options that several subcommands share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/common/command.hpp"
#include "sim/config/experiment.hpp"
#include "sim/plan/run_plan.hpp"
#include "sim/terminal/run_report.hpp"

namespace linebounce::sim {

// The values of --machine, --set, --seed and --native.
struct OverrideArguments {
  std::string machine = {};
  std::vector<std::string> sets = {};
  std::optional<std::int64_t> seed = {};
  bool native = false;
};
Overrides overrides_of(const OverrideArguments& arguments);

// Adds --machine, --set, --seed and --native, for commands that run one point once.
void add_overrides(Command& command, OverrideArguments& arguments);

// Adds -j, the number of simultaneous simulations.
Option add_jobs(Command& command, int& at_once);

// Adds --native: Overrides::native.
void add_native(Command& command, bool& native);

// Adds --unchecked: RunOptions::unchecked.
void add_unchecked(Command& command, bool& unchecked);

// What --fresh means, for --help and for a run.
constexpr const char* kFreshMeaning = "Start over, and keep the directory's earlier results in a neighbour, DIR.1 and so on";
EarlierResults earlier_results(bool fresh);

// Errors: ConfigError if `point` is not a point of an experiment with `points` points.
void require_point(int point, std::size_t points);

// The options that all studies of a trace share.
struct StudyArguments {
  std::string trace;
  std::vector<std::string> sets;
  std::string directory;  // empty: the default folder of add_study_options(), and in it a folder with the trace's name
  int at_once = available_cores();
  bool json = false;
  bool unchecked = false;
  // Says how long the whole study takes: called after its first replay, with that replay's time in seconds and the number of
  // replays that follow. Empty: each of the study's runs says how long it takes.
  std::function<void(double, std::size_t)> foretell = {};
};

// Adds TRACE, --set, -o, -j, --unchecked and --json. `folder`: the default folder for results, which go into a subfolder named
// after the trace.
void add_study_options(Command& command, StudyArguments& arguments, const std::string& folder);

// Adds --machine, for studies that run on several machines.
void add_machines(Command& command, std::vector<std::string>& machines);

// Adds --orders.
Option add_orders(Command& command, int& orders);

// The options for running the study in `directory`.
RunOptions run_options(const StudyArguments& arguments, const std::filesystem::path& directory,
                       const std::vector<std::string>& argv);

// As run_options(), for trials whose runs are compared as a whole: leaves out the rows of lines.csv, most of what a replay
// writes.
RunOptions trial_options(const StudyArguments& arguments, const std::filesystem::path& directory,
                         const std::vector<std::string>& argv);

// Prints to standard error how long so many replays take on each machine, if they take long. `replay_s`: the time of one in
// seconds.
void print_foretold_replays(const std::filesystem::path& trace, double replay_s, std::size_t replays, std::size_t machines,
                            int at_once);

// Runs the plan in `options.directory`, with a progress line. Replaces results of other studies there. None if no point
// finished or the user interrupted; `code` and standard error tell which. Standard error also lists failed points
// (ReportedPoint::finished).
std::optional<std::vector<ReportedPoint>> run_study(const Plan& plan, RunOptions options, ExitCode& code);

}  // namespace linebounce::sim
