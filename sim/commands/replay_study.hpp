// Experiments over a trace that a command has thought of: written as TOML, read and run as any other.
#pragma once

#include <toml++/toml.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/commands/run_report.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/run_plan.hpp"
#include "trace/reader.hpp"

namespace linebounce {

struct ReplayStudy {
  std::string name, title;
  std::string machine;  // a name or a path, unless there are `machine_tables`
  std::filesystem::path trace;
  std::vector<std::string> sets = {};  // "PATH=VALUE", as of run --set
  // What varies together: a path and its value at each point.
  std::vector<std::pair<std::string, toml::array>> sweep = {};
  std::string layout_changes = {};                 // [[layout.change]], as TOML
  std::optional<toml::table> machine_tables = {};  // [machine]
  std::optional<std::int64_t> seed = {};
};

// Errors: ConfigError, TraceError.
Plan plan_of(const ReplayStudy& study);

// What the command line says of every study of a trace.
struct StudyArguments {
  std::string trace;
  std::vector<std::string> sets;
  std::string directory;  // empty: add_study_options' folder, and the trace's name
  int at_once = available_cores();
  bool json = false;
};

// TRACE, --set, -o, -j and --json. `folder`: where results go by default, below it one of the trace's name.
void add_study_options(CLI::App& command, StudyArguments& arguments, const std::string& folder);

// Of the study's run in `directory`.
RunOptions run_options(const StudyArguments& arguments, const std::filesystem::path& directory,
                       const std::vector<std::string>& argv);

// Runs it, with a progress line, into `options.directory`; what another study has left there is replaced. None: no point has
// finished, or it was interrupted; `code` and the standard error say so, and of points that failed (ReportedPoint::finished).
std::optional<std::vector<ReportedPoint>> run_study(const Plan& plan, RunOptions options, ExitCode& code);

// The machine that the trace was recorded on, for a command that is given none. Errors: ConfigError if the trace names none.
std::string recorded_machine(const trace::Reader& reader);

// The metric that changes of a program are judged by.
inline constexpr const char* kThroughput = "throughput.operations_per_s";
// Percent of it: what gains less is not worth a change of the program.
inline constexpr double kWorthIt = 1;

// What of kThroughput `changed` has more than `base`, in percent; 0 if that has none.
double throughput_change_pct(const ReportedPoint& base, const ReportedPoint& changed);

// A metric; 0 where the run has none.
double metric_of(const ReportedPoint& point, const std::string& name);

// Misses that another cache has served, and upgrades: lines that went from one CPU to another.
double transfers_of(const ReportedPoint& point);

}  // namespace linebounce
