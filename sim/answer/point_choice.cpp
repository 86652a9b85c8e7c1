#include "sim/answer/point_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "sim/answer/what_varies.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

bool is_path(const std::string& path, std::string_view name) {
  return path == name || path.ends_with("." + std::string(name));
}

std::string path_of(const std::string& name, const ReportedPoint& point) {
  std::vector<std::string> known, found;
  for (const auto& [path, value] : point.at) {
    known.push_back(path);
    if (is_path(path, name)) found.push_back(path);
  }
  if (found.size() == 1) return found.front();
  throw ConfigError(fmt::format("--point: {} is {} of the swept paths; swept: {}", name, found.empty() ? "none" : "several",
                                known.empty() ? "nothing" : fmt::format("{}", fmt::join(known, ", "))));
}

std::string values_of(const std::string& path, const std::vector<ReportedPoint>& points) {
  std::vector<std::string> values;
  for (const ReportedPoint& point : points) {
    const std::string name = value_name(*value_at(point, path));
    if (std::ranges::find(values, name) == values.end()) values.push_back(name);
  }
  return fmt::format("{}", fmt::join(values, ", "));
}

}  // namespace

std::optional<int> point_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string out_of_range(int point, std::size_t points) {
  return fmt::format("--point: {} is out of range; legal: 0{}", point, points > 1 ? fmt::format(" to {}", points - 1) : "");
}

int chosen_point(const std::string& text, const std::vector<ReportedPoint>& points) {
  if (const auto number = point_number(text)) {
    if (*number >= 0 && *number < std::ssize(points)) return *number;
    throw ConfigError(out_of_range(*number, points.size()));
  }
  std::vector<std::pair<std::string, std::string>> wanted;  // path, value
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string setting = text.substr(begin, end - begin);
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos)
      throw ConfigError(
          fmt::format("--point {}: must be a number or settings, such as workload.lock=mcs,machine.cpus=8", text));
    wanted.emplace_back(path_of(setting.substr(0, equals), points.front()), setting.substr(equals + 1));
    begin = end + 1;
  }
  for (int number = static_cast<int>(points.size()) - 1; number >= 0; --number) {
    const auto lies_there = [&](const auto& setting) {
      const ConfigValue& value = *value_at(points[number], setting.first);
      return value_name(value) == setting.second || value_text(value) == setting.second;
    };
    if (std::ranges::all_of(wanted, lies_there)) return number;
  }
  std::vector<std::string> legal;
  for (const auto& [path, value] : wanted) legal.push_back(path + ": " + values_of(path, points));
  throw ConfigError(fmt::format("--point {}: no point has these settings; there are {}", text, fmt::join(legal, "; ")));
}

}  // namespace linebounce::sim
