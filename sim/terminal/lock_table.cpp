#include "sim/terminal/lock_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "sim/answer/quantity.hpp"
#include "sim/results/numbers.hpp"
#include "sim/statistics/share.hpp"
#include "sim/terminal/metrics_table.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kLockPrefix = "locks.";
// Limit on rows of locks and call sites; the costliest lock is shown in full even if it has more.
constexpr std::size_t kMostLines = 40;
constexpr std::size_t kRoomForName = 18;

// A lock's own row, followed by those of its call sites.
using LockBlock = std::vector<LockRow>;

std::vector<LockBlock> blocks_of(const std::vector<LockRow>& rows) {
  std::vector<LockBlock> blocks;
  for (const LockRow& row : rows) {
    if (row.call_site.empty() || blocks.empty()) blocks.emplace_back();
    if (row.total + row.rjct > 0) blocks.back().push_back(row);
  }
  std::erase_if(blocks, [](const LockBlock& block) { return block.empty(); });
  return blocks;
}

// The blocks to show, sorted by lock name: those of the locks that CPUs wait for most.
std::vector<LockBlock> chosen(std::vector<LockBlock> blocks) {
  const auto by_cost = [](const LockBlock& a, const LockBlock& b) {
    return std::tuple(-a[0].cpu_pct, -a[0].util_pct, a[0].lock) < std::tuple(-b[0].cpu_pct, -b[0].util_pct, b[0].lock);
  };
  std::ranges::sort(blocks, by_cost);
  std::size_t lines = 0;
  const auto too_many = std::ranges::find_if(blocks, [&lines](const LockBlock& block) {
    lines += block.size();
    return lines > kMostLines && lines > block.size();
  });
  blocks.erase(too_many, blocks.end());
  std::ranges::sort(blocks, [](const auto& a, const auto& b) { return a[0].lock < b[0].lock; });
  return blocks;
}

// ---- lockmeter's number format: two digits, four for large numbers ----

std::string lockmeter_percent(double value) {
  if (value == 0) return "0%";
  if (value < 1) return fmt::format("{:.2f}%", value);
  return value < 99.95 ? fmt::format("{:.1f}%", value) : fmt::format("{:.0f}%", value);
}

std::string time(double us) {
  if (us == 0) return "0µs";
  if (us < 9.95) return fmt::format("{:.1f}µs", us);
  return us < 9999.5 ? fmt::format("{:.0f}µs", us) : fmt::format("{:.0f}ms", us / 1000);
}

std::string mean_and_maximum(double mean, double maximum) {
  return fmt::format("{:>6}({:>6})", time(mean), time(maximum));
}

std::string wait_text(const LockRow& row) {
  if (row.spin == 0) return fmt::format("{:>6}{:15}", "0µs", "");  // no CPU waited, so there is no mean and no maximum
  return mean_and_maximum(row.wait_mean_us, row.wait_max_us) + fmt::format("({:>5})", lockmeter_percent(row.cpu_pct));
}

// A row's cells to the left of the name. For the table's head, the titles of these columns.
struct LockFiguresText {
  std::string all_times;                                    // UTIL to % CPU
  std::array<std::pair<std::size_t, std::string>, 4> rest;  // width and text of TOTAL, NOWAIT, SPIN and RJCT
};

// Leaves out columns on the right until the name has room. CON already tells what NOWAIT and SPIN do.
std::string figures_that_fit(const LockFiguresText& row, const Painter& paint) {
  std::string out = row.all_times;
  for (const auto& [width, text] : row.rest) {
    if (width_of(out) + width + kRoomForName > paint.columns()) break;
    out += pad_left(text, width);
  }
  return out;
}

// NOWAIT and SPIN are shares of TOTAL. RJCT is a share of all attempts.
std::string line_of(const LockRow& row, const Painter& paint) {
  const bool lock = row.call_site.empty();
  const std::string figures =
      figures_that_fit({fmt::format("{:>6}{:>6} {} {}", lockmeter_percent(row.util_pct), lockmeter_percent(row.con_pct),
                                    mean_and_maximum(row.hold_mean_us, row.hold_max_us), wait_text(row)),
                        {{{9, std::to_string(row.total)},
                          {7, lockmeter_percent(share_pct(row.nowait, row.total))},
                          {6, lockmeter_percent(share_pct(row.spin, row.total))},
                          {6, lockmeter_percent(share_pct(row.rjct, row.total + row.rjct))}}}},
                       paint);
  const std::size_t indent = lock ? 2 : 4;
  const std::string name = shortened(lock ? row.lock : row.call_site, paint.columns() - width_of(figures) - indent);
  return figures + std::string(indent, ' ') + paint(lock ? Colour::bold : Colour::none, name) + "\n";
}

std::string head(const Painter& paint) {
  const std::string groups = fmt::format("{:<13}{:^14} {:^21}", "LOCKS", "HOLD", "WAIT");
  const std::string columns = figures_that_fit(
      {fmt::format("{:>6}{:>6} {:>6}({:^6}) {:>6}({:^6})({:>5})", "UTIL", "CON", "MEAN", "MAX", "MEAN", "MAX", "% CPU"),
       {{{9, "TOTAL"}, {7, "NOWAIT"}, {6, "SPIN"}, {6, "RJCT"}}}},
      paint);
  return paint(Colour::bold, without_trailing_spaces(groups)) + "\n" + paint(Colour::bold, columns + "  NAME") + "\n";
}

struct RacedPoint {
  double sections = 0;
  std::size_t point = 0;
};

// By lock: the number of its critical sections that overlapped with others.
std::map<std::string, double> races_of(const ReportedPoint& point) {
  constexpr std::string_view kRaces = ".races";
  std::map<std::string, double> races;
  for (const auto& [name, metric] : point.metrics) {
    if (!name.starts_with(kLockPrefix) || !name.ends_with(kRaces)) continue;
    races[name.substr(kLockPrefix.size(), name.size() - kLockPrefix.size() - kRaces.size())] = as_double(metric.value);
  }
  return races;
}

// "; the first: CPU 2 came in at 5.25 µs while CPU 0 was inside". Empty if the point's metrics are means over several seeds,
// because there is then no single first race.
std::string first_race(const ReportedPoint& point, const std::string& lock) {
  const std::string prefix = std::string(kLockPrefix) + lock + ".first_race.";
  const auto inside = point.metrics.find(prefix + "inside_cpu");
  const auto entering = point.metrics.find(prefix + "entering_cpu");
  const auto at = point.metrics.find(prefix + "at_us");
  if (inside == point.metrics.end() || entering == point.metrics.end() || at == point.metrics.end()) return "";
  const auto* first = std::get_if<std::int64_t>(&inside->second.value);
  const auto* second = std::get_if<std::int64_t>(&entering->second.value);
  if (first == nullptr || second == nullptr) return "";
  return fmt::format("; the first: CPU {} came in at {} while CPU {} was inside", *second,
                     quantity(as_double(at->second.value), {}, "us"), *first);
}

}  // namespace

std::string lock_table(const std::vector<LockRow>& rows, const Painter& paint) {
  const std::vector<LockBlock> all = blocks_of(rows);
  if (all.empty()) return "";
  const std::vector<LockBlock> shown = chosen(all);
  std::string out = head(paint);
  for (const LockBlock& block : shown) {
    for (const LockRow& row : block) out += line_of(row, paint);
  }
  if (shown.size() < all.size()) {
    const std::string note =
        fmt::format("  {} of {} locks, those that were waited for most; locks.csv has them all", shown.size(), all.size());
    out += paint(Colour::dim, note) + "\n";
  }
  return out;
}

std::string race_note(const std::vector<ReportedPoint>& points, const Painter& paint) {
  std::map<std::string, RacedPoint> most;  // by lock: the point with the most overlapping sections
  for (std::size_t point = 0; point < points.size(); ++point) {
    for (const auto& [lock, sections] : races_of(points[point])) {
      if (sections > most[lock].sections) most[lock] = {sections, point};
    }
  }
  std::string out;
  for (const auto& [lock, raced] : most) {
    if (raced.sections == 0) continue;
    const std::string where =
        points.size() > 1 ? fmt::format(" at point {} ({})", raced.point, point_title(points[raced.point])) : "";
    const std::string text = fmt::format("{} excludes nobody: {:.0f} sections overlapped another CPU's{}{}", lock,
                                         raced.sections, where, first_race(points[raced.point], lock));
    out += "  " + paint(Colour::red, "RACE") + "  " + wrapped_from(text, 8, Colour::none, paint);
  }
  return out;
}

}  // namespace linebounce::sim
