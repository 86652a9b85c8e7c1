#include "sim/answer/what_varies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <variant>

#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

// A number with at most this many values may be the alternatives. With more, it is an axis along which others are compared.
constexpr std::size_t kFewValues = 3;

bool is_word(const VariedAxis& axis) {
  return std::ranges::any_of(axis.values, [](const ConfigValue& value) { return std::holds_alternative<std::string>(value); });
}

bool is_number(const VariedAxis& axis) {
  return std::ranges::none_of(axis.values, [](const ConfigValue& value) {
    return std::holds_alternative<std::string>(value) || std::holds_alternative<bool>(value);
  });
}

// Whether the two paths' values correspond one to one.
bool change_together(const std::vector<ReportedPoint>& points, const std::string& left, const std::string& right) {
  std::map<ConfigValue, ConfigValue> there, back;
  for (const ReportedPoint& point : points) {
    const ConfigValue &a = *value_at(point, left), &b = *value_at(point, right);
    if (there.try_emplace(a, b).first->second != b || back.try_emplace(b, a).first->second != a) return false;
  }
  return true;
}

VariedAxis axis_of(const std::vector<ReportedPoint>& points, const std::string& path) {
  VariedAxis axis{path, {}};
  for (const ReportedPoint& point : points) {
    const ConfigValue& value = *value_at(point, path);
    if (std::ranges::find(axis.values, value) == axis.values.end()) axis.values.push_back(value);
  }
  return axis;
}

// Whether `candidate` is the better name for an axis of paths whose values change together. The requested path comes first,
// then a lock, then a word.
bool names_better(const VariedAxis& candidate, const VariedAxis& known, const std::string& compare) {
  if (candidate.path == compare || known.path == compare) return candidate.path == compare;
  if (candidate.path == kLockPath || known.path == kLockPath) return candidate.path == kLockPath;
  return is_word(candidate) && !is_word(known);
}

std::vector<VariedAxis> axes_of(const std::vector<ReportedPoint>& points, const std::string& compare) {
  std::vector<VariedAxis> axes;
  if (points.empty()) return axes;
  for (const auto& [path, value] : points.front().at) {
    const std::string& everywhere = path;
    if (!std::ranges::all_of(points, [&](const auto& point) { return value_at(point, everywhere) != nullptr; })) continue;
    VariedAxis axis = axis_of(points, path);
    if (axis.values.size() < 2) continue;
    const std::string& other = path;
    const auto same =
        std::ranges::find_if(axes, [&](const VariedAxis& known) { return change_together(points, known.path, other); });
    if (same == axes.end()) {
      axes.push_back(std::move(axis));
    } else if (names_better(axis, *same, compare)) {
      *same = std::move(axis);
    }
  }
  return axes;
}

template <class Condition>
std::optional<VariedAxis> take_first(std::vector<VariedAxis>& axes, Condition condition) {
  const auto found = std::ranges::find_if(axes, condition);
  if (found == axes.end()) return std::nullopt;
  VariedAxis axis = std::move(*found);
  axes.erase(found);
  return axis;
}

// Machines are places in which a question is answered, so they are the alternatives only if nothing else is.
std::optional<VariedAxis> take_compared(std::vector<VariedAxis>& axes, const std::string& compare) {
  const auto named = [](const std::string& path) { return [path](const VariedAxis& axis) { return axis.path == path; }; };
  const auto is_machine = named(kMachinePath);
  if (auto axis = take_first(axes, named(compare))) return axis;
  if (auto axis = take_first(axes, named(kLockPath))) return axis;
  if (auto axis = take_first(axes, [&](const VariedAxis& a) { return is_word(a) && !is_machine(a); })) return axis;
  if (auto axis = take_first(axes, [&](const VariedAxis& a) { return !is_number(a) && !is_machine(a); })) return axis;
  const bool is_alone = axes.size() == 1;
  std::size_t fewest = SIZE_MAX;
  for (const VariedAxis& axis : axes) {
    if (is_number(axis) && axis.path != kCpusPath) fewest = std::min(fewest, axis.values.size());
  }
  const bool has_machines = std::ranges::any_of(axes, is_machine);
  if (is_alone || has_machines) fewest = std::min(fewest, kFewValues);
  const auto is_few = [fewest](const VariedAxis& a) {
    return is_number(a) && a.path != kCpusPath && a.values.size() <= fewest;
  };
  if (auto axis = take_first(axes, is_few)) return axis;
  return take_first(axes, is_machine);
}

std::optional<VariedAxis> take_over(std::vector<VariedAxis>& axes) {
  if (auto axis = take_first(axes, [](const VariedAxis& a) { return a.path == kCpusPath; })) return axis;
  std::size_t most = 0;
  for (const VariedAxis& axis : axes) {
    if (is_number(axis)) most = std::max(most, axis.values.size());
  }
  return take_first(axes, [most](const VariedAxis& a) { return is_number(a) && a.values.size() == most; });
}

double number_of(const ConfigValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

bool is_file(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".lua") || text.ends_with(".toml");
}

// The value's name, or its whole text if another of the axis's values has the same name: "a/mine.lua" beside "b/mine.lua".
std::string name_among(const VariedAxis& axis, const ConfigValue& value) {
  const std::string name = value_name(value);
  const auto same = std::ranges::count_if(axis.values, [&](const ConfigValue& other) { return value_name(other) == name; });
  return same > 1 ? value_text(value) : name;
}

}  // namespace

Roles roles_of(const std::vector<ReportedPoint>& points, const std::string& compare) {
  std::vector<VariedAxis> axes = axes_of(points, compare);
  Roles roles;
  roles.compared = take_compared(axes, compare);
  roles.over = take_over(axes);
  if (roles.over) std::ranges::sort(roles.over->values, {}, number_of);
  roles.cells = std::move(axes);
  return roles;
}

const ConfigValue* value_at(const ReportedPoint& point, const std::string& path) {
  const auto found = std::ranges::find(point.at, path, &std::pair<std::string, ConfigValue>::first);
  return found == point.at.end() ? nullptr : &found->second;
}

std::string value_name(const ConfigValue& value) {
  const std::string text = value_text(value);
  if (text.empty()) return "\"\"";
  const bool file = std::holds_alternative<std::string>(value) && is_file(text);
  const std::string stem = file ? std::filesystem::path(text).stem().string() : "";
  return stem.empty() ? text : stem;
}

std::string short_path(const std::string& path, const std::vector<std::string>& paths) {
  for (std::size_t dot = path.rfind('.'); dot != std::string::npos && dot > 0; dot = path.rfind('.', dot - 1)) {
    const std::string tail = path.substr(dot);
    if (std::ranges::count_if(paths, [&](const std::string& other) { return other.ends_with(tail); }) == 1) {
      return tail.substr(1);
    }
  }
  return path;
}

std::string alternative_name(const VariedAxis& axis, const ConfigValue& value) {
  const auto* word = std::get_if<std::string>(&value);
  return word != nullptr && !word->empty() ? name_among(axis, value) : place_name(axis, value);
}

std::string place_name(const VariedAxis& axis, const ConfigValue& value) {
  if (axis.path == kCpusPath) return value_text(value) + (same_value(value, std::int64_t{1}) ? " CPU" : " CPUs");
  return short_path(axis.path, {axis.path}) + " = " + name_among(axis, value);
}

std::string point_words(const ReportedPoint& point, const Roles& roles) {
  std::string text;
  const auto add = [&](const char* between, const std::string& words) { text += (text.empty() ? "" : between) + words; };
  if (roles.compared) add("", alternative_name(*roles.compared, *value_at(point, roles.compared->path)));
  if (roles.over) add(" at ", place_name(*roles.over, *value_at(point, roles.over->path)));
  for (const VariedAxis& cell : roles.cells) add(", ", place_name(cell, *value_at(point, cell.path)));
  return text;
}

}  // namespace linebounce::sim
