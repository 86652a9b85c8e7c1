// Experiments that commands make for a trace. They are written as TOML, and read and run like any other experiment.
#pragma once

#include <toml++/toml.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/results/paper.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

struct ReplayStudy {
  std::string name, title;
  std::string machine;  // a name or a path, unless `machine_tables` is set
  std::filesystem::path trace;
  std::vector<std::string> sets = {};  // "PATH=VALUE", as of run --set
  // Parameters that vary together: a path and its value at each point.
  std::vector<std::pair<std::string, toml::array>> sweep = {};
  std::string layout_changes = {};                 // [[layout.change]], as TOML
  std::optional<toml::table> machine_tables = {};  // [machine]
  std::optional<std::int64_t> seed = {};
  OptionNames options = {};  // Overrides::options
};

// Errors: ConfigError, TraceError.
Plan plan_of(const ReplayStudy& study);

// The machine that the trace was recorded on, the default of some commands. Errors: ConfigError if the trace names none.
std::string recorded_machine(const trace::Reader& reader);

// The default machines for a real program's changes: two sockets, and eight.
inline constexpr std::array kUsualMachines = {"generic_2socket_32core", "generic_8socket_64core"};

// `given`; or the machine that the trace was recorded on; or, for a real program, the usual ones.
std::vector<std::string> machines_for(const std::vector<std::string>& given, const trace::Reader& reader);

// The metric that decides about changes of a program.
inline constexpr const char* kThroughput = "throughput.operations_per_s";

// The percentage of lock tries whose result differs from the recorded one; after these, the program would have taken another
// path.
inline constexpr const char* kTriesOtherwise = "replay.tries_otherwise_pct";
// Above this percentage, a replay no longer does what the program would do.
inline constexpr double kMostTriesOtherwise = 5;

// In percent of throughput. A smaller gain is not worth a change of the program.
inline constexpr double kWorthIt = 1;

// In percent of a run's time. Nothing is tried against smaller costs, because a cure could not gain four times as much.
inline constexpr double kTooLittle = kWorthIt / 4;

// A metric; 0 if the run does not have it.
double metric_of(const ReportedPoint& point, const std::string& name);

// How long the run took; 0 if it has not finished.
double run_us(const ReportedPoint& point);

// Misses that another cache served, and upgrades: how often a line, or the right to write it, moved between CPUs.
double transfers_of(const ReportedPoint& point);

// Those, and what memory and node caches have served: all accesses that a CPU's own caches could not. Of a line that one CPU
// writes and many read, only the first reader after a write is served by the writer's cache.
double misses_of(const ReportedPoint& point);

}  // namespace linebounce::sim
