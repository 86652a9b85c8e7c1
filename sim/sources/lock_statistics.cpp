// lock_stat: Documentation/locking/lockstat.rst; perf lock: tools/perf/builtin-lock.c, from Linux 4 on. Both print columns of
// numbers before or after a name that may contain blanks, so a line is parsed from the side of the numbers.
#include "sim/sources/lock_statistics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "sim/sources/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kLockStatTitle = "lock_stat version ";
constexpr int kLinesBeforeTitles = 100;  // lines before perf's titles: output of the measured command

std::optional<double> real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// Removes and returns the last word.
std::string_view take_last_word(std::string_view& text) {
  text = stripped(text);
  const std::size_t blank = text.find_last_of(" \t");
  const std::string_view word = text.substr(blank == std::string_view::npos ? 0 : blank + 1);
  text = stripped(text.substr(0, text.size() - word.size()));
  return word;
}

// ---- /proc/lock_stat ----

class LockStatFile {
 public:
  explicit LockStatFile(LineFile& in) : in_(&in) {}

  // REQUIRES: the title has been read.
  std::vector<LockStatistics> read() {
    bool titles = false;
    while (const auto line = in_->next()) {
      const std::string_view text = stripped(*line);
      if (text.starts_with("class name")) {
        titles = true;
      } else if (text.empty() || text.starts_with("*WARNING*") || text.find_first_not_of(text.front()) == text.npos) {
        if (text.starts_with('-')) ++rules_;
      } else if (!titles) {
        in_->refuse("expected the titles of the columns: class name, con-bounces, ... holdtime-avg");
      } else if (const std::size_t colon = numbers_at(text); colon != text.npos) {
        add(text.substr(0, colon), text.substr(colon + 1));
      } else {
        site(text);
      }
    }
    return std::move(locks_);
  }

 private:
  // The position of the colon that only figures follow.
  static std::size_t numbers_at(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos || text.find_first_not_of("0123456789. \t", colon + 1) != text.npos) return text.npos;
    return colon;
  }

  void add(std::string_view name, std::string_view figures) {
    constexpr std::size_t kWaits = 1, kWaitMax = 3, kWaitTotal = 4, kAcquisitions = 7, kHoldMax = 9, kHoldTotal = 10;
    std::array<double, 12> value{};
    for (double& one : value) {
      const auto read = real(take_word(figures));
      if (!read) in_->refuse("expected 12 figures behind the name: con-bounces to holdtime-avg");
      one = *read;
    }
    if (!stripped(figures).empty()) in_->refuse("more than the 12 figures con-bounces to holdtime-avg");
    const auto count = [&](std::size_t which) {
      if (value[which] >= 0x1p64) in_->refuse("contentions or acquisitions are more than 64 bits can count");
      return static_cast<std::uint64_t>(value[which]);
    };
    LockStatistics lock;
    // "-W" occurs only if there are readers.
    if (name.ends_with("-R")) lock.kind = "readers";
    if (name.ends_with("-W")) lock.kind = "writers";
    lock.has_readers = !lock.kind.empty();
    lock.name = lock.has_readers ? name.substr(0, name.size() - 2) : name;
    lock.waits = count(kWaits);
    lock.wait = {value[kWaitTotal], value[kWaitMax]};
    lock.acquisitions = count(kAcquisitions);
    lock.hold = {value[kHoldTotal], value[kHoldMax]};
    locks_.push_back(std::move(lock));
    rules_ = 0;
  }

  // "unix_table_lock  45  [<ffffffff8150ad8e>] unix_create1+0x16e/0x1b0".
  void site(std::string_view text) {
    const std::size_t address = text.find("[<");
    const std::size_t end = text.find(">]", address);
    if (locks_.empty() || rules_ == 0 || end == text.npos)
      in_->refuse("expected a class with 12 figures, or below one a place: NAME COUNT [<ADDRESS>] FUNCTION");
    std::string_view before = text.substr(0, address);
    const auto waits = decimal(take_last_word(before));
    if (!waits) in_->refuse("expected a count before [<ADDRESS>]");
    LockStatistics& lock = locks_.back();
    (rules_ == 1 ? lock.waited_in : lock.held_in).push_back({std::string(stripped(text.substr(end + 2))), *waits});
  }

  LineFile* in_;
  std::vector<LockStatistics> locks_;
  int rules_ = 0;  // rules since the last class: after the first come its waiters, after the second the holders they waited for
};

// ---- perf lock ----

enum class PerfColumn { acquired, contended, wait_total, wait_max, wait_min, wait_avg };

struct PerfTitle {
  std::string_view text;
  PerfColumn column;
};
constexpr std::array kPerfTitles = {
    PerfTitle{"acquired", PerfColumn::acquired},     PerfTitle{"contended", PerfColumn::contended},
    PerfTitle{"total wait", PerfColumn::wait_total}, PerfTitle{"max wait", PerfColumn::wait_max},
    PerfTitle{"min wait", PerfColumn::wait_min},     PerfTitle{"avg wait", PerfColumn::wait_avg},
};

struct PerfTitles {
  std::vector<PerfColumn> columns;
  bool name_first = false;  // for perf lock report
  bool plain_ns = false;    // before Linux 5.18, times have no unit
  // The title of what follows the figures, and its meaning: "type" and "caller", "pid" and "comm", "address" and "symbol", or
  // only "cgroup".
  std::string before_name{}, what;
};

// nullopt if the text has no titles.
std::optional<PerfTitles> perf_titles(std::string_view text) {
  PerfTitles titles;
  text = stripped(text);
  if (text.starts_with("Name ")) {
    titles.name_first = true;
    take_word(text);
  }
  for (;;) {
    const auto* const title =
        std::ranges::find_if(kPerfTitles, [text](const PerfTitle& one) { return text.starts_with(one.text); });
    if (title == kPerfTitles.end()) break;
    titles.columns.push_back(title->column);
    text = stripped(text.substr(title->text.size()));
    if (text.starts_with("(ns)")) {
      titles.plain_ns = true;
      take_word(text);
    }
  }
  titles.what = titles.name_first ? "lock" : take_last_word(text);
  titles.before_name = text;
  const bool named = titles.name_first ? text.empty() : !titles.what.empty() && text.find_first_of(" \t") == text.npos;
  return titles.columns.size() >= 2 && named ? std::optional(titles) : std::nullopt;
}

std::optional<double> microseconds(std::string_view number, std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
      {{"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"m", 60e6}, {"h", 3600e6}}};
  const auto value = real(number);
  const auto* const found = std::ranges::find_if(kUnits, [unit](const auto& one) { return one.first == unit; });
  if (!value || found == kUnits.end()) return std::nullopt;
  return *value * found->second;
}

class PerfLockFile {
 public:
  PerfLockFile(LineFile& in, PerfTitles titles) : in_(&in), titles_(std::move(titles)) {}

  // REQUIRES: the titles have been read.
  std::vector<LockStatistics> read() {
    while (const auto line = in_->next()) {
      const std::string_view text = stripped(*line);
      if (text.starts_with("===")) break;  // counts of perf's own lost events
      // With -v, the callers' callers follow a lock.
      if (!text.empty() && !text.starts_with("0x")) locks_.push_back(titles_.name_first ? named_first(text) : named_last(text));
    }
    return std::move(locks_);
  }

 private:
  LockStatistics named_last(std::string_view text) const {
    LockStatistics lock;
    double mean_us = 0;
    for (const PerfColumn column : titles_.columns) {
      const std::string_view number = take_word(text);
      const bool plain = titles_.plain_ns || !is_time(column);
      set(lock, mean_us, column, number, plain ? std::string_view("ns") : take_word(text));
    }
    if (text.empty()) in_->refuse("there is no name behind the figures");
    const std::string_view before = titles_.before_name.empty() ? std::string_view() : take_word(text);
    if (titles_.before_name == "type") lock.kind = before;
    lock.name = text.empty() ? before : text;
    if (titles_.before_name == "pid") lock.name.append("/").append(before);
    complete(lock, mean_us);
    return lock;
  }

  LockStatistics named_first(std::string_view text) const {
    LockStatistics lock;
    double mean_us = 0;
    for (auto column = titles_.columns.rbegin(); column != titles_.columns.rend(); ++column) {
      const bool plain = titles_.plain_ns || !is_time(*column);
      const std::string_view unit = plain ? std::string_view("ns") : take_last_word(text);
      set(lock, mean_us, *column, take_last_word(text), unit);
    }
    lock.name = text.empty() ? "(no name)" : text;
    complete(lock, mean_us);
    return lock;
  }

  static bool is_time(PerfColumn column) { return column != PerfColumn::acquired && column != PerfColumn::contended; }

  void set(LockStatistics& lock, double& mean_us, PerfColumn column, std::string_view number, std::string_view unit) const {
    if (!is_time(column)) {
      const auto count = decimal(number);
      if (!count) in_->refuse("expected a count of acquisitions where the titles have acquired or contended");
      (column == PerfColumn::acquired ? lock.acquisitions.emplace() : lock.waits) = *count;
      return;
    }
    const auto us = microseconds(number, unit);
    if (!us) in_->refuse("expected a time in ns, us, ms, s, m or h where the titles have a wait");
    if (column == PerfColumn::wait_total) lock.wait.total_us = *us;
    // Where perf has subtracted a later time from an earlier one, it prints 2^64 ns.
    constexpr double kMostUs = 9e15;
    if (column == PerfColumn::wait_max && *us < kMostUs) lock.wait.longest_us = *us;
    if (column == PerfColumn::wait_avg) mean_us = *us;
  }

  // -F may have left out the sum.
  static void complete(LockStatistics& lock, double mean_us) {
    if (lock.wait.total_us == 0) lock.wait.total_us = mean_us * static_cast<double>(lock.waits);
  }

  LineFile* in_;
  PerfTitles titles_;
  std::vector<LockStatistics> locks_;
};

// perf separates locks of one name by their callers' callers without printing these, so their rows are added up.
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
  }
  return locks;
}

LockStatisticsFile hottest_first(std::string tool, std::string what, std::vector<LockStatistics> locks) {
  std::ranges::stable_sort(locks, std::ranges::greater{}, [](const LockStatistics& lock) { return lock.wait.total_us; });
  return {std::move(tool), std::move(what), std::move(locks)};
}

}  // namespace

std::string shown_name(const LockStatistics& lock) {
  return lock.kind.empty() ? lock.name : lock.name + " (" + lock.kind + ")";
}

std::optional<LockStatisticsFile> read_lock_statistics(const std::filesystem::path& file) {
  LineFile in(file);
  for (int number = 0; number < kLinesBeforeTitles; ++number) {
    const auto line = in.next();
    if (!line) return std::nullopt;
    if (number == 0 && line->starts_with(kLockStatTitle)) {
      if (stripped(*line) != "lock_stat version 0.4") in.refuse("only version 0.4 (Linux since 3.13) can be read");
      return hottest_first("lock_stat", "lock", LockStatFile(in).read());
    }
    if (const auto titles = perf_titles(*line)) {
      const char* const tool = titles->name_first ? "perf lock report" : "perf lock contention";
      return hottest_first(tool, titles->what, of_one_name_together(PerfLockFile(in, *titles).read()));
    }
  }
  return std::nullopt;
}

}  // namespace linebounce::sim
