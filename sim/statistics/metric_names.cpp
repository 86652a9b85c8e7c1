#include "sim/statistics/metric_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace linebounce::sim {
namespace {

char cleaned(char letter) {
  if (letter >= 'A' && letter <= 'Z') return static_cast<char>(letter - 'A' + 'a');
  const bool legal = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' ||
                     letter == '[' || letter == ']';
  return legal ? letter : '_';
}

std::string cleaned(std::string name) {
  std::ranges::transform(name, name.begin(), [](char letter) { return cleaned(letter); });
  return name.empty() ? "_" : name;
}

}  // namespace

std::map<std::string, std::string> metric_names(const std::set<std::string>& names) {
  std::map<std::string, std::string> parts;
  std::set<std::string> taken;
  // Legal names keep their spelling, so they are assigned before names that must be changed.
  for (const std::string& name : names) {
    if (cleaned(name) == name) taken.insert(parts[name] = name);
  }
  for (const std::string& name : names) {
    if (parts.contains(name)) continue;
    const std::string wanted = cleaned(name);
    std::string part = wanted;
    for (int number = 2; !taken.insert(part).second; ++number) part = fmt::format("{}-{}", wanted, number);
    parts.emplace(name, part);
  }
  return parts;
}

}  // namespace linebounce::sim
