#include "commands/import/lock_statistics_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/answer/quantity.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kMostStatistics = 20;  // locks
constexpr std::size_t kShownSites = 2;       // of each
constexpr double kLongestInSeconds = 1000;   // longer times are shown in minutes and hours

std::string time_text(double us) {
  return us < kLongestInSeconds * 1e6 ? quantity(us, {}, "us") : readable_duration(us / 1e6);
}

std::string mean_text(const LockTimes& times, std::uint64_t count) {
  return count == 0 ? "" : time_text(times.total_us / static_cast<double>(count));
}

// A tool that measures no times, or counts no waits, reports 0 for them. The cell then stays empty.
std::string total_text(const LockStatistics& lock) {
  return lock.wait.total_us == 0 && lock.waits > 0 ? "" : time_text(lock.wait.total_us);
}

std::string waits_text(const LockStatistics& lock) {
  return lock.waits == 0 && lock.wait.total_us > 0 ? "" : std::to_string(lock.waits);
}

std::string longest_text(const LockTimes& times) {
  return times.longest_us ? time_text(*times.longest_us) : "";
}

// Removes the function's size: "vm_munmap+0x41" from "vm_munmap+0x41/0x80".
std::string site_text(const LockSite& site) {
  return "  " + site.function.substr(0, site.function.find("/0x"));
}

// The figures that the tool provides. `hold`: how long a lock was held at a time; `held`: its share of all time.
struct Told {
  bool acquisitions = false, hold = false, held = false;
};

Table table_of(const LockStatisticsFile& file, const Told& told, const Painter& paint) {
  std::vector<Column> columns = {names(file.what), figures(file.all_timed ? "taken" : "waits", 9, 1)};
  if (told.acquisitions) columns.push_back(figures("of all", 8, 1));
  for (const char* title : {"waited", "mean", "longest"}) columns.push_back(figures(title, 9, 1));
  if (told.hold) {
    columns.push_back(figures("mean hold", 10, 1));
    columns.push_back(dispensable(figures("longest", 9, 1), 1));
  }
  if (told.held) columns.push_back(figures("held", 8, 1));
  Table table(std::move(columns), paint);
  table.add_rule();
  return table;
}

std::vector<Cell> cells_of(const LockStatistics& lock, const Told& told, double seconds) {
  std::vector<Cell> cells = {{shown_name(lock), Colour::bold}, waits_text(lock)};
  const auto all = static_cast<double>(lock.acquisitions.value_or(0));
  if (told.acquisitions)
    cells.emplace_back(all > 0 ? fmt::format("{:.3g} %", 100 * static_cast<double>(lock.waits) / all) : "");
  const std::string total = total_text(lock), mean = total.empty() ? "" : mean_text(lock.wait, lock.waits);
  for (const std::string& text : {total, mean, longest_text(lock.wait)}) cells.emplace_back(text);
  if (told.hold) {
    const LockTimes hold = lock.hold.value_or(LockTimes());
    cells.emplace_back(lock.hold ? mean_text(hold, lock.acquisitions.value_or(0)) : "");
    cells.emplace_back(longest_text(hold));
  }
  if (told.held) cells.emplace_back(lock.hold ? fmt::format("{:.3g} %", lock.hold->total_us / seconds / 1e4) : "");
  return cells;
}

}  // namespace

std::string lock_statistics_table(const LockStatisticsFile& file, std::optional<double> seconds, const Painter& paint) {
  if (file.locks.empty()) return "  no lock was taken\n";
  const bool hold = std::ranges::any_of(file.locks, [](const LockStatistics& lock) { return lock.hold.has_value(); });
  // From Linux 5.19 on, if lockdep is off, `perf lock report` only sees acquisitions that wait. Their share of all would then
  // be 100 % for every lock.
  const bool acquisitions = std::ranges::any_of(
      file.locks, [](const LockStatistics& lock) { return lock.acquisitions.value_or(lock.waits) != lock.waits; });
  const Told told{acquisitions, hold, hold && seconds};
  Table table = table_of(file, told, paint);
  const std::size_t shown = std::min(kMostStatistics, file.locks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const LockStatistics& lock = file.locks[i];
    table.add(cells_of(lock, told, seconds.value_or(0)));
    std::vector<LockSite> sites = lock.waited_in;
    std::ranges::stable_sort(sites, [](const auto& a, const auto& b) { return a.waits > b.waits; });
    for (std::size_t k = 0; k < std::min(kShownSites, sites.size()); ++k)
      table.add({{site_text(sites[k]), Colour::dim}, {std::to_string(sites[k].waits), Colour::dim}});
  }
  const std::size_t rest = file.locks.size() - shown;
  return table.text() + (rest > 0 ? paint(Colour::dim, fmt::format("  and {} more", rest)) + "\n" : "");
}

std::string lock_mix_table(const LockMix& mix, const Painter& paint) {
  if (mix.locks.empty()) return "";
  Table table({names("lock in the trace"), figures("rate", 10, 1), figures("held", 8, 1), figures("waited", 9, 1),
               figures("expected", 9, 1), figures("mean wait", 10, 1), figures("expected", 9, 1), figures("taken", 8, 1)},
              paint);
  table.add_rule();
  for (const MixedLock& lock : mix.locks) {
    table.add({{lock.name, Colour::bold},
               quantity(lock.per_s, {}, "1/s"),
               fmt::format("{:.3g} %", lock.per_s * lock.hold_us / 1e4),
               fmt::format("{:.3g} %", lock.busy_pct),
               fmt::format("{:.3g} %", lock.expected_busy_pct),
               time_text(lock.wait_us),
               time_text(lock.expected_wait_us),
               std::to_string(lock.acquisitions)});
  }
  return table.text();
}

}  // namespace linebounce::sim
