// Experiments that commands make for a trace. They are written as TOML, then read and run like any other experiment.
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
#include "sim/results/reported_point.hpp"
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

// The machine on which the trace was recorded, which is some commands' default. Errors: ConfigError if the trace names none.
std::string recorded_machine(const trace::Reader& reader);

// The default machines for changes of a real program: one with two sockets, one with eight.
inline constexpr std::array kUsualMachines = {"generic_2socket_32core", "generic_8socket_64core"};

// `given`; if empty, the machine on which the trace was recorded. If the trace names none: those of kUsualMachines that have a
// CPU for each of its threads, otherwise the smallest shipped machine that has. If none has, or `sets` ("PATH=VALUE") changes
// the CPUs or folds the threads: kUsualMachines. Errors: ConfigError if two of `given` have the same name.
std::vector<std::string> machines_for(const std::vector<std::string>& given, const trace::Reader& reader,
                                      const std::vector<std::string>& sets = {});

// The metric by which changes of a program are judged.
inline constexpr const char* kThroughput = "throughput.operations_per_s";

// The percentage of lock tries with another result than recorded. After such a try, the program would have taken another
// path.
inline constexpr const char* kTriesOtherwise = "replay.tries_otherwise_pct";
// Above this percentage, a replay no longer does what the program would do.
inline constexpr double kMostTriesOtherwise = 5;

// In percent of throughput: the smallest gain that is worth a change of the program.
inline constexpr double kWorthIt = 1;

// In percent of a run's time. Smaller costs are not attacked, because even removing them would gain less than a quarter of
// kWorthIt.
inline constexpr double kTooLittle = kWorthIt / 4;

// A metric of a point; 0 if the point does not have it.
double metric_of(const ReportedPoint& point, const std::string& name);

// How long the run took; 0 if it has not finished.
double run_us(const ReportedPoint& point);

// Misses that another cache served, and upgrades: how often a line, or the right to write it, moved between CPUs.
double transfers_of(const ReportedPoint& point);

// All accesses that a CPU's own caches could not serve: transfers_of(), and misses that memory and node caches served.
// Transfers alone are too few: if one CPU writes a line and many read it, only the first reader after a write is served by
// the writer's cache.
double misses_of(const ReportedPoint& point);

}  // namespace linebounce::sim
