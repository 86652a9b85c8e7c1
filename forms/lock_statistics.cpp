#include "forms/lock_statistics.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "forms/line_file.hpp"

namespace linebounce::sim {

std::string shown_name(const LockStatistics& lock) {
  return lock.kind.empty() ? lock.name : lock.name + " (" + lock.kind + ")";
}

std::vector<LockStatistics> of_one_name_together(const std::vector<LockStatistics>& rows) {
  std::vector<LockStatistics> locks;
  std::map<std::string, std::size_t> places;
  for (const LockStatistics& row : rows) {
    const auto [place, is_new] = places.try_emplace(shown_name(row), locks.size());
    if (is_new) {
      locks.push_back(row);
      continue;
    }
    LockStatistics& lock = locks[place->second];
    lock.waits += row.waits;
    if (lock.acquisitions) *lock.acquisitions += row.acquisitions.value_or(0);
    lock.wait.total_us += row.wait.total_us;
    lock.wait.longest_us = std::max(lock.wait.longest_us, row.wait.longest_us);
    if (lock.hold && row.hold) {
      lock.hold->total_us += row.hold->total_us;
      lock.hold->longest_us = std::max(lock.hold->longest_us, row.hold->longest_us);
    }
    for (const LockSite& site : row.waited_in) {
      if (lock.waited_in.size() < kMostSites) lock.waited_in.push_back(site);
    }
  }
  return locks;
}

void sort_hottest_first(std::vector<LockStatistics>& locks) {
  std::ranges::stable_sort(locks, std::ranges::greater{}, [](const LockStatistics& lock) { return lock.wait.total_us; });
}

std::string_view take_last_word(std::string_view& text) {
  text = stripped(text);
  const std::size_t blank = text.find_last_of(" \t");
  const std::string_view word = text.substr(blank == std::string_view::npos ? 0 : blank + 1);
  text = stripped(text.substr(0, text.size() - word.size()));
  return word;
}

std::optional<double> microseconds(std::string_view number, std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
      {{"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"m", 60e6}, {"h", 3600e6}}};
  const auto value = real(number);
  const auto* const found = std::ranges::find_if(kUnits, [unit](const auto& one) { return one.first == unit; });
  if (!value || found == kUnits.end()) return std::nullopt;
  return *value * found->second;
}

}  // namespace linebounce::sim
