// What the points of a sweep differ in, and which part each of it plays in the run's answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/results/paper.hpp"

namespace linebounce::sim {

inline constexpr const char* kCpusPath = "machine.cpus";
inline constexpr const char* kLockPath = "workload.lock";

// One path, or several whose values change together.
struct VariedAxis {
  std::string path;                 // by which people know it
  std::vector<ConfigValue> values;  // of this path, in the sweep's order; two or more
};

// Which of them are alternatives, along which they are followed, and what is held equal while they are compared.
struct Roles {
  std::optional<VariedAxis> compared;  // "workload.lock"
  std::optional<VariedAxis> over;      // "machine.cpus"; numbers
  std::vector<VariedAxis> cells;       // the rest
};

// `compare`: the path of the alternatives, if the experiment says which; otherwise locks, else other words, else a parameter
// of few values are compared, and CPUs, else the longest row of numbers, is what they are followed along.
Roles roles_of(const std::vector<ReportedPoint>& points, const std::string& compare = "");

// Null: the point does not lie on this path.
const ConfigValue* value_at(const ReportedPoint& point, const std::string& path);

// A value as sentences and tables name it. A file is known by its name alone: "my_lock" of "/home/me/my_lock.lua".
std::string value_name(const ConfigValue& value);

// The last part of a path and as much before it as tells it from the others: "latency_ns", "memory.latency_ns".
std::string short_path(const std::string& path, const std::vector<std::string>& paths);

// "mcs" of a word, "latency_ns = 120" of a number or a switch.
std::string alternative_name(const VariedAxis& axis, const ConfigValue& value);

// "32 CPUs", "readers_pct = 90".
std::string place_name(const VariedAxis& axis, const ConfigValue& value);

// Where a point lies, in words: "mcs at 32 CPUs, readers_pct = 90".
std::string point_words(const ReportedPoint& point, const Roles& roles);

}  // namespace linebounce::sim
