#include "sim/config/suggestions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace linebounce {
namespace {

// The longest first, so that "mb_per_s" is not taken for "s".
constexpr std::array<std::string_view, 25> kUnits = {
    "instructions", "mb_per_s", "gb_per_s", "percent", "entries", "cycles", "clocks", "bytes", "ticks",
    "lines",        "bits",     "kib",      "mib",     "gib",     "mhz",    "ghz",    "khz",   "pct",
    "ns",           "us",       "ms",       "ps",      "kb",      "mb",     "s"};

std::string_view without_unit(std::string_view key) {
  const auto unit = unit_suffix(key);
  return unit.empty() ? key : key.substr(0, key.size() - unit.size() - 1);
}

}  // namespace

std::size_t edit_distance(std::string_view from, std::string_view to) {
  const std::size_t width = to.size() + 1;
  std::vector<std::size_t> before_last(width), last(width), row(width);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[to.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best = &candidate;
    best_distance = distance;
  }
  return best ? *best : std::string{};
}

std::string_view unit_suffix(std::string_view key) {
  for (const auto unit : kUnits) {
    if (key.size() > unit.size() + 1 && key.ends_with(unit) && key[key.size() - unit.size() - 1] == '_') {
      return key.substr(key.size() - unit.size());
    }
  }
  return {};
}

std::string same_in_other_unit(std::string_view key, const std::vector<std::string>& candidates) {
  for (const auto& candidate : candidates) {
    if (!unit_suffix(candidate).empty() && without_unit(candidate) == without_unit(key)) return candidate;
  }
  return {};
}

std::string not_known(std::string_view word, const std::vector<std::string>& known) {
  std::string text =
      fmt::format("\"{}\" is not known; known: {}", word, known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
  if (const auto near = nearest(word, known); !near.empty()) text += fmt::format("; did you mean {}?", near);
  return text;
}

}  // namespace linebounce
