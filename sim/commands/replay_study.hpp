// Experiments over a trace that a command has thought of: written as TOML, read and run as any other.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  std::vector<std::pair<std::string, std::vector<std::string>>> sweep = {};
  std::string layout_changes = {};                 // [[layout.change]], as TOML
  std::optional<toml::table> machine_tables = {};  // [machine]
  std::optional<std::int64_t> seed = {};
};

// Errors: ConfigError, TraceError.
Plan plan_of(const ReplayStudy& study);

// Runs it, with a progress line, into `options.directory`; what another study has left there is replaced. None: it failed, or
// was interrupted; `code` and the standard error say so.
std::optional<std::vector<ReportedPoint>> run_study(const Plan& plan, RunOptions options, ExitCode& code);

// The machine that the trace was recorded on, for a command that is given none. Errors: ConfigError if the trace names none.
std::vector<std::string> machines_or_recorded(const std::vector<std::string>& given, const trace::Reader& reader);

// A metric; 0 where the run has none.
double metric_of(const ReportedPoint& point, const std::string& name);

// Misses that another cache has served, and upgrades: lines that went from one CPU to another.
double transfers_of(const ReportedPoint& point);

}  // namespace linebounce
