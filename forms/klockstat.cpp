// Reads the output of klockstat (of bcc and libbpf-tools): a table of waiting times (titled "Spin" in older versions) and one
// of hold times, with a row for each caller or thread. bcc prints nanoseconds without a unit; libbpf-tools prints units.
// Lines without numbers, below a caller's row, are the callers of that function.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr double kNsOfUs = 1000;

enum class KlockTable : std::uint8_t { none, waits, holds };

// Recognises a table by its titles, "Caller  Avg Wait  Count  Max Wait  Total Wait". Older versions print "Average Spin" and
// "Max spin".
KlockTable klock_table(std::string_view text) {
  if (!text.starts_with("Caller") && !text.starts_with("Tid")) return KlockTable::none;
  if (text.find("Count") == text.npos || text.find("Total") == text.npos) return KlockTable::none;
  if (text.ends_with("Hold") || text.ends_with("hold")) return KlockTable::holds;
  const bool waits = text.ends_with("Wait") || text.ends_with("wait") || text.ends_with("Spin") || text.ends_with("spin");
  return waits ? KlockTable::waits : KlockTable::none;
}

bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 6> kUnits = {"ns", "us", "ms", "s", "m", "h"};
  return std::ranges::find(kUnits, word) != kUnits.end();
}

struct KlockRow {
  std::string name;
  std::uint64_t count = 0;
  LockTimes times;
};

// Removes the time at the end of the text and returns it.
std::optional<double> take_last_time(std::string_view& text) {
  std::string_view word = take_last_word(text);
  if (!is_unit(word)) {
    const std::size_t digits = std::min(word.find_first_not_of("0123456789."), word.size());
    if (is_unit(word.substr(digits))) return microseconds(word.substr(0, digits), word.substr(digits));
    const auto ns = decimal(word);
    return ns ? std::optional(static_cast<double>(*ns) / kNsOfUs) : std::nullopt;
  }
  const std::string_view unit = word;
  word = take_last_word(text);
  return microseconds(word, unit);
}

// Removes Python's marks of a byte string: "b'pipe_write+0x35'".
std::string_view without_bytes_mark(std::string_view name) {
  if (!name.starts_with("b'") || !name.ends_with('\'') || name.size() < 3) return name;
  return name.substr(2, name.size() - 3);
}

// Parses a row; returns nothing for a line without numbers.
std::optional<KlockRow> klock_row(std::string_view text) {
  KlockRow row;
  const auto total = take_last_time(text);
  const auto longest = take_last_time(text);
  const auto count = decimal(take_last_word(text));
  const auto mean = take_last_time(text);
  if (!total || !longest || !count || !mean || text.empty()) return std::nullopt;
  row.name = without_bytes_mark(text);
  row.count = *count;
  row.times = {*total, *longest};
  return row;
}

LockStatisticsFile read_klockstat(const std::filesystem::path& path) {
  LineFile in(path);
  LockStatisticsFile file;
  file.tool = "klockstat";
  file.all_timed = true;
  KlockTable table = KlockTable::none;
  std::vector<LockStatistics> waits;
  std::map<std::string, LockTimes> holds;
  std::int64_t rows = 0;
  std::string unread;  // the first line below the titles, if it is not a row
  while (const auto line = in.next()) {
    const std::string_view text = stripped(*line);
    if (const KlockTable next = klock_table(text); next != KlockTable::none) {
      table = next;
      if (file.what.empty()) file.what = text.starts_with("Tid") ? "thread" : "caller";
      continue;
    }
    const auto row = klock_row(text);
    if (table == KlockTable::none) continue;
    if (!row && rows == 0 && unread.empty() && !text.empty()) unread = text;
    if (!row) continue;
    ++rows;
    if (table == KlockTable::waits) {
      LockStatistics lock;
      lock.name = row->name;
      lock.waits = row->count;
      lock.acquisitions = row->count;
      lock.wait = row->times;
      waits.push_back(std::move(lock));
    } else {
      LockTimes& hold = holds[row->name];
      hold.total_us += row->times.total_us;
      hold.longest_us = std::max(hold.longest_us.value_or(0), *row->times.longest_us);
    }
  }
  if (table == KlockTable::none) in.refuse("expected titles of columns: Caller, Avg Wait, Count, Max Wait, Total Wait");
  if (rows == 0 && !unread.empty())
    in.refuse(fmt::format("no line below the titles has a caller and its times; the first is \"{}\"", unread));
  file.locks = of_one_name_together(waits);
  for (LockStatistics& lock : file.locks) {
    if (const auto hold = holds.find(lock.name); hold != holds.end()) lock.hold = hold->second;
  }
  sort_hottest_first(file.locks);
  file.losses.add(Loss::waits_are_all, file.tool);
  file.losses.add(Loss::callers_not_locks, file.tool);
  file.losses.add_count(Loss::quotes_removed, file.tool, in.quoted());
  file.why_no_trace = "names callers and no locks, so which of them wait for each other is not told";
  return file;
}

Likeness klockstat_likeness(const Excerpt& excerpt) {
  const bool found =
      std::ranges::any_of(excerpt.lines, [](const Excerpt::Line& line) { return klock_table(line.text) != KlockTable::none; });
  return certain_if(found, "a line has the titles of its columns");
}

}  // namespace

Form klockstat_form() {
  return {.name = "klockstat",
          .kind = FormKind::locks,
          .what = "klockstat of bcc or libbpf-tools",
          .marks = "its titles: Caller, Avg Wait, Count, Max Wait, Total Wait",
          .likeness = klockstat_likeness,
          .read_locks = read_klockstat};
}

}  // namespace linebounce::sim
