// Reads the table that mutrace prints of a program's most contended mutexes. It counts a mutex's acquisitions, the changes of
// its owner and the waits, and times holds, in milliseconds. Later versions, which are not in distributions, also time waits
// ("cont."); they print a second line, of readers, below that of a reader-writer lock, and a table of condition variables.
//
//    Mutex #   Locked  Changed    Cont. tot.Time[ms] avg.Time[ms] max.Time[ms]  Flags
//          3   368268      407      275      120.822        0.000        0.894 M-.--.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr double kUsPerMs = 1000;

bool is_mutrace_title(std::string_view text) {
  return text.find("Locked") != text.npos && text.find("Changed") != text.npos && text.find("tot.Time[ms]") != text.npos;
}

// A row's figures by their titles: "Locked", "Cont.", "tot.Time[ms]". Empty for a line that is no row.
using MutraceRow = std::map<std::string, double, std::less<>>;

class MutraceReader {
 public:
  explicit MutraceReader(const std::filesystem::path& path) : in_(path) {}

  LockStatisticsFile read() {
    file_.tool = "mutrace";
    file_.what = "lock";
    while (const auto line = in_.next()) {
      const std::string_view text = stripped(*line);
      if (is_mutrace_title(text)) {
        begin_table(text);
      } else if (text.starts_with("Cond #")) {
        titles_.clear();
      } else if (!titles_.empty()) {
        row(words_of(text));
      }
    }
    if (!titled_) in_.refuse("expected the titles Mutex #, Locked, Changed, Cont., tot.Time[ms]");
    if (file_.locks.empty()) in_.refuse("no line below the titles has a mutex and its figures");
    return finished();
  }

 private:
  // "Mutex # Locked ... Flags": the number comes first, the flags, or the type, last.
  void begin_table(std::string_view text) {
    titles_.clear();
    for (const std::string_view word : words_of(text)) {
      if (word != "Mutex" && word != "#" && word != "Flags" && word != "Type") titles_.emplace_back(word);
    }
    titled_ = true;
    has_waits_ = text.find("cont.Time[ms]") != text.npos || text.find("tot.Cont[ms]") != text.npos;
  }

  void row(const std::vector<std::string_view>& words) {
    const bool is_readers = words.size() + 1 == titles_.size() && !file_.locks.empty() && file_.locks.back().kind == "rwlock";
    if (!is_readers && words.size() <= titles_.size()) return;
    MutraceRow figures;
    std::size_t at = is_readers ? 0 : 1;
    for (const std::string& title : titles_) {
      if (is_readers && title == "Changed") continue;
      const auto figure = real(words[at++]);
      if (!figure) return;
      figures[title] = *figure;
    }
    const auto number = decimal(words[0]);
    if (!number) return;
    LockStatistics lock;
    lock.name = is_readers ? file_.locks.back().name : fmt::format("mutex {}", *number);
    lock.kind = is_readers ? "rwlock:R" : kind_of(words.size() > at ? words[at] : "");
    lock.acquisitions = static_cast<std::uint64_t>(figures["Locked"]);
    lock.waits = static_cast<std::uint64_t>(figures["Cont."]);
    lock.hold = LockTimes{figures["tot.Time[ms]"] * kUsPerMs, longest(figures, "max.Time[ms]")};
    const char* const waited = figures.contains("cont.Time[ms]") ? "cont.Time[ms]" : "tot.Cont[ms]";
    if (has_waits_) lock.wait = LockTimes{figures[waited] * kUsPerMs, longest(figures, "max.Cont[ms]")};
    file_.locks.push_back(std::move(lock));
  }

  static std::string kind_of(std::string_view flags) {
    return flags.starts_with('M') ? "mutex" : flags.starts_with('W') ? "rwlock" : "";
  }

  static std::optional<double> longest(const MutraceRow& figures, std::string_view title) {
    const auto found = figures.find(title);
    return found == figures.end() ? std::nullopt : std::optional(found->second * kUsPerMs);
  }

  LockStatisticsFile finished() {
    if (has_waits_) {
      sort_hottest_first(file_.locks);
      if (std::ranges::any_of(file_.locks, [](const LockStatistics& lock) { return lock.kind.starts_with("rwlock"); }))
        file_.why_no_trace = "has reader-writer locks, whose readers hold them together";
    } else {
      std::ranges::stable_sort(file_.locks, std::ranges::greater(), &LockStatistics::waits);
      file_.losses.add(Loss::no_waits, file_.tool);
      file_.why_no_trace = "does not say how long anybody waited";
    }
    file_.losses.add_count(Loss::quotes_removed, file_.tool, in_.quoted());
    return std::move(file_);
  }

  LineFile in_;
  LockStatisticsFile file_;
  std::vector<std::string> titles_;  // of the table that is being read; empty: none
  bool titled_ = false, has_waits_ = false;
};

LockStatisticsFile read_mutrace(const std::filesystem::path& path) {
  return MutraceReader(path).read();
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
