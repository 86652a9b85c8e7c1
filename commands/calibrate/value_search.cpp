#include "commands/calibrate/value_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace linebounce::sim {
namespace {

constexpr double kNearEnough = 0.01;  // relative
constexpr std::size_t kPlaces = 2;    // number of best values around which the search goes on
constexpr int kMostSearchRounds = 8;

using Seen = std::map<double, double>;  // deviation by value

double rounded_to(double value, int steps_per_unit) {
  return std::round(value * steps_per_unit) / steps_per_unit;
}

// The values that are no worse than both neighbours: at most kPlaces, the best first.
std::vector<Seen::const_iterator> valleys(const Seen& seen) {
  std::vector<Seen::const_iterator> found;
  for (auto at = seen.begin(); at != seen.end(); ++at) {
    const bool falls = at == seen.begin() || std::prev(at)->second >= at->second;
    const bool rises = std::next(at) == seen.end() || std::next(at)->second >= at->second;
    if (falls && rises) found.push_back(at);
  }
  std::ranges::stable_sort(found, {}, [](Seen::const_iterator at) { return at->second; });
  found.resize(std::min(found.size(), kPlaces));
  return found;
}

// Adds a value halfway to each neighbour, unless the neighbour is near already.
void add_between(const Seen& seen, Seen::const_iterator at, int steps_per_unit, std::vector<double>& values) {
  const auto add = [&](double from, double to) {
    const double middle = rounded_to((from + to) / 2, steps_per_unit);
    if (to - from > std::max(1.0 / steps_per_unit, kNearEnough * to) && !seen.contains(middle)) values.push_back(middle);
  };
  if (at != seen.begin()) add(std::prev(at)->first, at->first);
  if (std::next(at) != seen.end()) add(at->first, std::next(at)->first);
}

}  // namespace

FoundValue find_value(std::vector<double> values, int steps_per_unit, const TryValues& off) {
  Seen seen;
  for (int round = 0; round < kMostSearchRounds && !values.empty(); ++round) {
    const std::vector<double> tried = off(values);
    for (std::size_t i = 0; i < values.size(); ++i) seen[values[i]] = tried[i];
    values.clear();
    for (const auto at : valleys(seen)) add_between(seen, at, steps_per_unit, values);
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  const auto best = std::ranges::min_element(seen, {}, [](const auto& value) { return value.second; });
  const auto as_good = [&](Seen::const_iterator at) { return at->second <= best->second + kAsGoodShare; };
  auto low = Seen::const_iterator(best);
  while (low != seen.begin() && as_good(std::prev(low))) --low;
  auto high = Seen::const_iterator(best);
  while (std::next(high) != seen.end() && as_good(std::next(high))) ++high;
  return {best->first, best->second, low->first, high->first};
}

std::vector<double> values_to_try(double least, double most, double ratio, int steps_per_unit) {
  std::vector<double> values = {0};
  for (double value = least; value < most * ratio; value *= ratio) {
    if (const double rounded = rounded_to(value, steps_per_unit); rounded > values.back()) values.push_back(rounded);
  }
  return values;
}

}  // namespace linebounce::sim
