// Reads the table that mutrace prints of a program's most contended mutexes. It counts a mutex's acquisitions, the changes of
// its owner and the waits, and times holds, in milliseconds; it times no waits.
//
//    Mutex #   Locked  Changed    Cont. tot.Time[ms] avg.Time[ms] max.Time[ms]  Flags
//          3   368268      407      275      120.822        0.000        0.894 M-.--.
#include <fmt/format.h>

#include <algorithm>

#include "sim/sources/forms.hpp"
#include "sim/sources/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr double kUsPerMs = 1000;

bool is_mutrace_title(std::string_view text) {
  return text.find("Locked") != text.npos && text.find("Changed") != text.npos && text.find("tot.Time[ms]") != text.npos;
}

// Returns nothing for a line that is not a mutex's.
std::optional<LockStatistics> mutrace_row(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 7) return std::nullopt;
  const auto number = decimal(words[0]), locked = decimal(words[1]), waited = decimal(words[3]);
  const auto held_ms = real(words[4]), longest_ms = real(words[6]);
  if (!number || !locked || !decimal(words[2]) || !waited || !held_ms || !longest_ms) return std::nullopt;
  LockStatistics lock;
  lock.name = fmt::format("mutex {}", *number);
  if (words.size() > 7) lock.kind = words[7].starts_with('M') ? "mutex" : words[7].starts_with('W') ? "rwlock" : "";
  lock.acquisitions = *locked;
  lock.waits = *waited;
  lock.hold = LockTimes{*held_ms * kUsPerMs, *longest_ms * kUsPerMs};
  return lock;
}

LockStatisticsFile read_mutrace(const std::filesystem::path& path) {
  LineFile in(path);
  LockStatisticsFile file;
  file.tool = "mutrace";
  file.what = "lock";
  bool titled = false;
  while (const auto line = in.next()) {
    const std::string_view text = stripped(*line);
    titled |= is_mutrace_title(text);
    if (!titled) continue;
    if (auto lock = mutrace_row(text)) file.locks.push_back(std::move(*lock));
  }
  if (!titled) in.refuse("expected the titles Mutex #, Locked, Changed, Cont., tot.Time[ms]");
  if (file.locks.empty()) in.refuse("no line below the titles has a mutex and its figures");
  std::ranges::stable_sort(file.locks, std::ranges::greater(), &LockStatistics::waits);
  file.losses.add(Loss::no_waits, file.tool);
  file.losses.add_count(Loss::quotes_removed, file.tool, in.quoted());
  file.why_no_trace = "does not say how long anybody waited";
  return file;
}

Likeness mutrace_likeness(const Excerpt& excerpt) {
  const bool found = std::ranges::any_of(excerpt.lines, [](const Excerpt::Line& line) { return is_mutrace_title(line.text); });
  return certain_if(found, "a line has the titles of mutrace's columns");
}

}  // namespace

Form mutrace_form() {
  return {.name = "mutrace",
          .kind = FormKind::locks,
          .what = "mutrace, of a program's mutexes",
          .marks = "its titles: Mutex #, Locked, Changed, Cont.",
          .likeness = mutrace_likeness,
          .read_locks = read_mutrace};
}

}  // namespace linebounce::sim
