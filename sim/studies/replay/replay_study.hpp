// Experiments over a trace that a command has thought of: written as TOML, read and run as any other.
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

// The machine that the trace was recorded on, for a command that is given none. Errors: ConfigError if the trace names none.
std::string recorded_machine(const trace::Reader& reader);

// Where a real program's changes are judged: two sockets, and eight.
inline constexpr std::array kUsualMachines = {"generic_2socket_32core", "generic_8socket_64core"};

// `given`; else the machine that the trace was recorded on; of a real program's the usual ones.
std::vector<std::string> machines_for(const std::vector<std::string>& given, const trace::Reader& reader);

// The metric that changes of a program are judged by.
inline constexpr const char* kThroughput = "throughput.operations_per_s";

// The share of the tries of locks after which the program would have gone another way than recorded, in percent.
inline constexpr const char* kTriesOtherwise = "replay.tries_otherwise_pct";
// Above it a replay does not do what the program would do.
inline constexpr double kMostTriesOtherwise = 5;

// Percent of throughput: what gains less is not worth a change of the program.
inline constexpr double kWorthIt = 1;

// Percent of a run's time: what takes less is not replayed in another way, for that could not gain four times as much.
inline constexpr double kTooLittle = kWorthIt / 4;

// A metric; 0 where the run has none.
double metric_of(const ReportedPoint& point, const std::string& name);

// How long it took; 0 where it has not finished.
double run_us(const ReportedPoint& point);

// Misses that another cache has served, and upgrades: lines that went from one CPU to another.
double transfers_of(const ReportedPoint& point);

}  // namespace linebounce::sim
