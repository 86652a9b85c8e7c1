#include "sim/plan/telling_points.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "sim/point/config_error.hpp"
#include "sim/simulation/simulate.hpp"

namespace linebounce::sim {
namespace {

// Each word and switch among a path's values, and the first and the last number.
std::vector<ConfigValue> telling_values(std::vector<ConfigValue> values) {
  const auto is_number = [](const ConfigValue& value) {
    return !std::holds_alternative<std::string>(value) && !std::holds_alternative<bool>(value);
  };
  const auto first = std::ranges::find_if(values, is_number);
  const auto last = std::find_if(values.rbegin(), values.rend(), is_number);
  if (first == values.end()) return values;
  std::erase_if(values, [&, low = *first, high = *last](const ConfigValue& value) {
    return is_number(value) && value != low && value != high;
  });
  return values;
}

// Points that together have all telling values of each path.
std::vector<int> telling_points(const Plan& plan, const std::vector<int>& numbers) {
  std::map<std::string, std::vector<ConfigValue>> missing;  // by path
  for (const int number : numbers) {
    for (const auto& [path, value] : plan.points[number].at) {
      std::vector<ConfigValue>& values = missing[path];
      if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    }
  }
  for (auto& [path, values] : missing) values = telling_values(std::move(values));
  std::vector<int> telling;
  for (const int number : numbers) {
    bool adds = false;
    for (const auto& [path, value] : plan.points[number].at) adds |= std::erase(missing[path], value) > 0;
    if (adds) telling.push_back(number);
  }
  return telling;
}

}  // namespace

void check_points(const Plan& plan, const std::vector<int>& numbers, int at_once, InterruptGuard& guard) {
  const std::vector<int> telling = telling_points(plan, numbers);
  std::map<int, std::string> refused;  // by position in `telling`: the first point's refusal is told, whichever ended first
  PoolCallbacks callbacks;
  callbacks.work = [&](int job, const std::function<void(double)>&) { check_set_up(plan.make_point(telling[job]).input); };
  callbacks.tick = [](const std::vector<RunningJob>&) {};
  callbacks.finished = [&](int job, const JobOutcome& outcome) {
    if (outcome.failure.code == ExitCode::usage) refused[job] = outcome.failure.message;
    return true;
  };
  run_in_processes(static_cast<int>(telling.size()), at_once, guard, callbacks);
  if (!refused.empty()) throw ConfigError(refused.begin()->second);
}

}  // namespace linebounce::sim
