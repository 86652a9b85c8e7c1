// Reads the tables that lockmeter's command lockstat prints, the tool of the OLS papers: one of spin locks, one of reads and
// one of writes of reader-writer locks. A lock's row is followed by rows of its call sites, whose names are indented.
//
//   SPINLOCKS         HOLD            WAIT
//     UTIL  CON    MEAN(  MAX )   MEAN(  MAX )(% CPU)     TOTAL NOWAIT SPIN RJECT  NAME
//    70.2% 85.1%  8.1us( 170us)   43us(1700us)(38.2%)   1900000 14.9% 85.1%    0%  runqueue_lock
//     8.1% 90.2%  8.2us( 140us)   50us( 900us)( 5.9%)    210000  9.8% 90.2%    0%    __wake_up+0x70
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

enum class LockmeterTable : std::uint8_t { none, spin, reads, writes };

LockmeterTable lockmeter_table(std::string_view text) {
  const bool titles = text.find("HOLD") != text.npos && text.find("WAIT") != text.npos;
  if (!titles) return LockmeterTable::none;
  if (text.starts_with("SPINLOCKS")) return LockmeterTable::spin;
  if (text.starts_with("RWLOCK READS")) return LockmeterTable::reads;
  return text.starts_with("RWLOCK WRITES") ? LockmeterTable::writes : LockmeterTable::none;
}

// A figure of a row, with the longest time in parentheses behind a mean.
struct LockmeterCell {
  enum class Kind : std::uint8_t { percent, time, count };
  Kind kind = Kind::count;
  double value = 0;  // of a time: in microseconds
  std::optional<double> longest_us = {};
};

// A row's figures, and the name behind them with its indentation.
class LockmeterRow {
 public:
  explicit LockmeterRow(std::string_view text) : rest_(text) {
    while (next()) {
    }
  }

  [[nodiscard]] const std::vector<LockmeterCell>& cells() const { return cells_; }
  [[nodiscard]] std::string_view name() const { return stripped(rest_); }
  [[nodiscard]] std::size_t indentation() const { return std::min(rest_.find_first_not_of(' '), rest_.size()); }

  // The n-th time of the row; none if it has fewer.
  [[nodiscard]] const LockmeterCell* time(std::size_t number) const {
    for (const LockmeterCell& cell : cells_) {
      if (cell.kind == LockmeterCell::Kind::time && number-- == 0) return &cell;
    }
    return nullptr;
  }

 private:
  static constexpr std::string_view kDigits = "0123456789.";

  // Takes a figure from the beginning of the rest. Returns false where the name begins.
  bool next() {
    const std::string_view text = rest_.substr(std::min(rest_.find_first_not_of(' '), rest_.size()));
    const bool inside = text.starts_with('(');
    const std::string_view figure = stripped(text.substr(inside ? 1 : 0));
    const std::size_t digits = std::min(figure.find_first_not_of(kDigits), figure.size());
    const auto number = real(figure.substr(0, digits));
    if (!number) return false;
    const std::size_t end = std::min(figure.find_first_of(" ()", digits), figure.size());
    const std::string_view unit = figure.substr(digits, end - digits);
    std::string_view behind = figure.substr(end);
    if (inside) {
      behind = behind.substr(std::min(behind.find_first_not_of(' '), behind.size()));
      if (!behind.starts_with(')')) return false;
      behind.remove_prefix(1);
    }
    if (!take(*number, unit, inside)) return false;
    rest_ = behind;
    return true;
  }

  bool take(double number, std::string_view unit, bool inside) {
    const auto us = microseconds(fmt::format("{}", number), unit);
    if (!inside) {
      if (unit == "%") cells_.push_back({LockmeterCell::Kind::percent, number});
      if (unit.empty()) cells_.push_back({LockmeterCell::Kind::count, number});
      if (us) cells_.push_back({LockmeterCell::Kind::time, *us});
      return us || unit == "%" || unit.empty();
    }
    if (us && !cells_.empty() && cells_.back().kind == LockmeterCell::Kind::time) cells_.back().longest_us = *us;
    return us || unit == "%";
  }

  std::string_view rest_;
  std::vector<LockmeterCell> cells_;
};

class LockmeterReader {
 public:
  explicit LockmeterReader(const std::filesystem::path& path) : in_(path) {}

  LockStatisticsFile read() {
    bool any = false;
    while (const auto line = in_.next()) {
      if (const LockmeterTable next = lockmeter_table(stripped(*line)); next != LockmeterTable::none) {
        table_ = next;
        any = true;
        indentation_ = std::string_view::npos;
        continue;
      }
      if (table_ != LockmeterTable::none) row(*line);
    }
    if (!any) in_.refuse("expected the title of a table of lockmeter: SPINLOCKS HOLD WAIT");
    if (file_.locks.empty()) in_.refuse("no line below the titles has a lock and its figures");
    file_.tool = "lockmeter";
    file_.what = "lock";
    sort_hottest_first(file_.locks);
    file_.losses.add_count(Loss::quotes_removed, file_.tool, in_.quoted());
    if (std::ranges::any_of(file_.locks, [](const LockStatistics& lock) { return lock.kind != "spinlock"; }))
      file_.why_no_trace = "has reader-writer locks, whose readers hold them together";
    return std::move(file_);
  }

 private:
  using Kind = LockmeterCell::Kind;

  // In a table of reads, the mean time of a hold is followed by the number of readers at a time and by the time that the lock
  // was held by any reader. The next time is the wait in every table.
  void row(std::string_view text) {
    const LockmeterRow row(text);
    const LockmeterCell* const hold = row.time(0);
    const LockmeterCell* const wait = row.time(table_ == LockmeterTable::reads ? 2 : 1);
    if (hold == nullptr || wait == nullptr || row.name().empty() || row.name() == "*TOTAL*") return;
    // The figures behind the last time: acquisitions, then the percentages that did not wait, and that did.
    const auto last_time = std::find_if(row.cells().rbegin(), row.cells().rend(),
                                        [](const LockmeterCell& cell) { return cell.kind == Kind::time; });
    const auto total = last_time.base();
    if (row.cells().end() - total < 3 || total->kind != Kind::count || (total + 2)->kind != Kind::percent)
      in_.refuse("expected the columns TOTAL, NOWAIT and SPIN behind the times");
    const auto acquisitions = static_cast<std::uint64_t>(total->value);
    const auto waits = static_cast<std::uint64_t>(std::llround(total->value * (total + 2)->value / 100));
    if (indentation_ == std::string_view::npos || row.indentation() <= indentation_) {
      indentation_ = row.indentation();
      add_lock(row, acquisitions, waits, *hold, *wait);
    } else if (std::vector<LockSite>& sites = file_.locks.back().waited_in; sites.size() < kMostSites) {
      sites.push_back({std::string(row.name()), waits});
    }
  }

  void add_lock(const LockmeterRow& row, std::uint64_t acquisitions, std::uint64_t waits, const LockmeterCell& hold,
                const LockmeterCell& wait) {
    LockStatistics lock;
    lock.name = row.name();
    lock.kind = table_ == LockmeterTable::spin ? "spinlock" : table_ == LockmeterTable::reads ? "rwlock:R" : "rwlock:W";
    lock.acquisitions = acquisitions;
    lock.waits = waits;
    lock.wait = {wait.value * static_cast<double>(waits), wait.longest_us.value_or(0)};
    lock.hold = LockTimes{hold.value * static_cast<double>(acquisitions), hold.longest_us};
    file_.locks.push_back(std::move(lock));
  }

  LineFile in_;
  LockStatisticsFile file_;
  LockmeterTable table_ = LockmeterTable::none;
  std::size_t indentation_ = std::string_view::npos;  // of the table's locks; npos: no row yet
};

Likeness lockmeter_likeness(const Excerpt& excerpt) {
  const bool found = std::ranges::any_of(
      excerpt.lines, [](const Excerpt::Line& line) { return lockmeter_table(stripped(line.text)) != LockmeterTable::none; });
  return certain_if(found, "a line has the titles of lockmeter's tables");
}

}  // namespace

Form lockmeter_form() {
  return {.name = "lockmeter",
          .kind = FormKind::locks,
          .what = "lockmeter's command lockstat",
          .marks = "its titles: SPINLOCKS HOLD WAIT",
          .likeness = lockmeter_likeness,
          .read_locks = [](const std::filesystem::path& path) { return LockmeterReader(path).read(); }};
}

}  // namespace linebounce::sim
