// Reads the output of perf lock (tools/perf/builtin-lock.c, since Linux 4). The numbers come before or after a name that may
// contain blanks, so each line is split where its numbers end.
#include <algorithm>
#include <array>
#include <utility>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr int kLinesBeforeTitles = 100;  // perf's titles may follow up to this many lines of the measured command

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
  bool name_first = false;  // perf lock report
  bool plain_ns = false;    // before Linux 5.18: times are nanoseconds without a unit
  // The columns after the numbers, and what the name denotes: "type" and "caller", "pid" and "comm", "address" and "symbol",
  // or only "cgroup".
  std::string before_name{}, what;
};

// Parses the titles; returns nullopt for any other line.
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

class PerfLockFile {
 public:
  PerfLockFile(LineFile& in, PerfTitles titles) : in_(&in), titles_(std::move(titles)) {}

  // Reads the rows below the titles.
  std::vector<LockStatistics> read() {
    while (const auto line = in_->next()) {
      const std::string_view text = stripped(*line);
      if (text.starts_with("===")) break;  // end of the rows; the number of lost events follows
      // With -v, the lines after a lock's row have its call chain.
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
    if (text.empty()) in_->refuse("expected a name after the numbers");
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
    // Skips a time near 2^64 ns, which perf prints if it subtracted a later time from an earlier one.
    constexpr double kMostUs = 9e15;
    if (column == PerfColumn::wait_max && *us < kMostUs) lock.wait.longest_us = *us;
    if (column == PerfColumn::wait_avg) mean_us = *us;
  }

  // Computes the sum, which perf omits with -F, from the mean.
  static void complete(LockStatistics& lock, double mean_us) {
    if (lock.wait.total_us == 0) lock.wait.total_us = mean_us * static_cast<double>(lock.waits);
  }

  LineFile* in_;
  PerfTitles titles_;
  std::vector<LockStatistics> locks_;
};

LockStatisticsFile read_perf_lock(const std::filesystem::path& path) {
  LineFile in(path);
  std::optional<PerfTitles> titles;
  while (!titles) {
    const auto line = in.next();
    if (!line) in.refuse("expected titles of columns: contended, total wait, ... as perf lock prints them");
    titles = perf_titles(*line);
  }
  if (std::ranges::find(titles->columns, PerfColumn::contended) == titles->columns.end())
    in.refuse("the column contended is missing; without -k and -F, perf lock prints it");
  LockStatisticsFile file;
  file.tool = titles->name_first ? "perf lock report" : "perf lock contention";
  file.what = titles->what;
  // perf prints several rows for locks with the same name, and for a caller that has several callers itself. Nothing in the
  // rows tells them apart.
  file.locks = of_one_name_together(PerfLockFile(in, *titles).read());
  sort_hottest_first(file.locks);
  file.losses.add(Loss::no_holds, file.tool);
  file.losses.add_count(Loss::quotes_removed, file.tool, in.quoted());
  file.why_no_trace = "does not say how long a lock was held";
  return file;
}

Likeness perf_lock_likeness(const Excerpt& excerpt) {
  for (const Excerpt::Line& line : excerpt.lines) {
    if (line.number > kLinesBeforeTitles) break;
    if (perf_titles(line.text)) return certain_if(true, "a line has the titles of its columns");
  }
  return {};
}

}  // namespace

Form perf_lock_form() {
  return {.name = "perf-lock",
          .kind = FormKind::locks,
          .what = "perf lock contention, perf lock report",
          .marks = "its titles: contended, total wait, max wait, ...",
          .likeness = perf_lock_likeness,
          .read_locks = read_perf_lock};
}

}  // namespace linebounce::sim
