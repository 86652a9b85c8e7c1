// Reads what FreeBSD's sysctl debug.lock.prof.stats prints under LOCK_PROFILING: a row for each lock and place that acquires
// it, with times in microseconds. cnt_lock is how often the lock was held already when this place wanted it.
//
//      max  wait_max       total  wait_total       count    avg wait_avg cnt_hold cnt_lock name
//      120        80     1203400      340020       45020     26      7  0    1203 vfs_cache.c:1234 (rw:vnode cache)
#include <fmt/format.h>

#include <algorithm>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

// The columns by their titles. Older versions lack some.
class ProfTitles {
 public:
  explicit ProfTitles(std::string_view text) : titles_(words_of(text)) {}

  [[nodiscard]] bool fit() const {
    const auto has = [this](std::string_view title) { return std::ranges::find(titles_, title) != titles_.end(); };
    return has("wait_total") && has("total") && has("count") && has("cnt_lock") && titles_.back() == "name";
  }
  [[nodiscard]] std::vector<std::string> copy() const { return {titles_.begin(), titles_.end()}; }

 private:
  std::vector<std::string_view> titles_;
};

struct ProfRow {
  std::vector<std::uint64_t> figures;  // one for each title but the last
  std::string_view name;               // "vfs_cache.c:1234 (rw:vnode cache)"
};

std::optional<ProfRow> prof_row(std::string_view text, std::size_t figures) {
  ProfRow row;
  while (row.figures.size() < figures) {
    const auto figure = decimal(take_word(text));
    if (!figure) return std::nullopt;
    row.figures.push_back(*figure);
  }
  row.name = stripped(text);
  return row.name.empty() ? std::nullopt : std::optional(row);
}

// Splits "vfs_cache.c:1234 (rw:vnode cache)" into the lock's name and kind, and the place.
void set_names(std::string_view text, LockStatistics& lock) {
  const std::size_t open = text.rfind('('), colon = text.find(':', std::min(open, text.size()));
  if (open == text.npos || colon == text.npos || !text.ends_with(')')) {
    lock.name = text;
    return;
  }
  lock.kind = text.substr(open + 1, colon - open - 1);
  lock.name = text.substr(colon + 1, text.size() - colon - 2);
  const std::string_view place = stripped(text.substr(0, open));
  lock.waited_in = {{std::string(place.substr(place.rfind('/') + 1)), lock.waits}};
}

LockStatisticsFile read_freebsd_lock_prof(const std::filesystem::path& path) {
  LineFile in(path);
  std::vector<std::string> titles;
  std::vector<LockStatistics> rows;
  while (const auto line = in.next()) {
    const std::string_view text = stripped(*line);
    if (const ProfTitles found(text); found.fit()) {
      titles = found.copy();
      continue;
    }
    if (titles.empty()) continue;
    const auto row = prof_row(text, titles.size() - 1);
    if (!row) continue;
    const auto figure = [&](std::string_view title) -> std::uint64_t {
      const auto place = std::ranges::find(titles, title);
      return place == titles.end() ? 0 : row->figures[static_cast<std::size_t>(place - titles.begin())];
    };
    LockStatistics lock;
    lock.acquisitions = figure("count");
    lock.waits = figure("cnt_lock");
    lock.wait = {static_cast<double>(figure("wait_total")), static_cast<double>(figure("wait_max"))};
    lock.hold = LockTimes{static_cast<double>(figure("total")), static_cast<double>(figure("max"))};
    set_names(row->name, lock);
    rows.push_back(std::move(lock));
  }
  if (titles.empty()) in.refuse("expected the titles max, wait_max, total, wait_total, count, ..., cnt_lock, name");
  if (rows.empty()) in.refuse("no line below the titles has a lock and its figures");
  LockStatisticsFile file;
  file.tool = "FreeBSD's lock profiling";
  file.what = "lock";
  file.locks = of_one_name_together(rows);
  sort_hottest_first(file.locks);
  file.losses.add_count(Loss::quotes_removed, file.tool, in.quoted());
  return file;
}

Likeness freebsd_lock_prof_likeness(const Excerpt& excerpt) {
  const bool found = std::ranges::any_of(excerpt.lines, [](const Excerpt::Line& line) { return ProfTitles(line.text).fit(); });
  return certain_if(found, "a line has the titles of FreeBSD's lock profiling");
}

}  // namespace

Form freebsd_lock_prof_form() {
  return {.name = "freebsd-lock-prof",
          .kind = FormKind::locks,
          .what = "FreeBSD's lock profiling, debug.lock.prof.stats",
          .marks = "its titles: max, wait_max, total, wait_total, count",
          .likeness = freebsd_lock_prof_likeness,
          .read_locks = read_freebsd_lock_prof};
}

}  // namespace linebounce::sim
