// Finds which paths vary in a sweep, and the role of each in the answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/results/reported_point.hpp"

namespace linebounce::sim {

inline constexpr const char* kCpusPath = "machine.cpus";
inline constexpr const char* kLockPath = "workload.lock";
inline constexpr const char* kMachinePath = "machine";

// One varied path, or several whose values change together.
struct VariedAxis {
  std::string path;                 // the path by which users know the axis
  std::vector<ConfigValue> values;  // the path's values in the sweep's order; two or more
};

// What each axis is for: the alternatives, the axis along which they are compared, and the axes on which compared points must
// agree.
struct Roles {
  std::optional<VariedAxis> compared;  // "workload.lock"
  std::optional<VariedAxis> over;      // "machine.cpus"; numbers
  std::vector<VariedAxis> cells;       // all other axes
};

// `compare`: the path that the experiment names for the alternatives; may be empty. The alternatives are then the locks, else
// other words, else a number with few values. They are compared along CPUs, or else along the number with the most values.
Roles roles_of(const std::vector<ReportedPoint>& points, const std::string& compare = "");

// Null if the point has no value for this path.
const ConfigValue* value_at(const ReportedPoint& point, const std::string& path);

// A value's name in sentences and tables. For a file, its bare name: "my_lock" for "/home/me/my_lock.lua"; for an empty text,
// two quotation marks. Never empty.
std::string value_name(const ConfigValue& value);

// As many trailing parts of a path as distinguish it from the others: "latency_ns", "memory.latency_ns".
std::string short_path(const std::string& path, const std::vector<std::string>& paths);

// "mcs" for a word, "latency_ns = 120" for a number or a switch, `count = ""` for an empty word. Distinct for each of the
// axis's values.
std::string alternative_name(const VariedAxis& axis, const ConfigValue& value);

// "32 CPUs", "readers_pct = 90".
std::string place_name(const VariedAxis& axis, const ConfigValue& value);

// A point's position in words: "mcs at 32 CPUs, readers_pct = 90".
std::string point_words(const ReportedPoint& point, const Roles& roles);

}  // namespace linebounce::sim
