// The latency histogram for the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "sim/answer/quantity.hpp"
#include "sim/statistics/source_names.hpp"
#include "sim/terminal/charts.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kLatencyLabelWidth = 16;
constexpr std::size_t kMostColumns = 56;
constexpr std::size_t kMeanWidth = 10;
constexpr std::size_t kShareWidth = 15;  // "% of accesses"
constexpr std::size_t kBesideStrips = kLatencyLabelWidth + 2 + kMeanWidth + kShareWidth;
constexpr std::size_t kRowHeight = 8;  // in eighths of a character cell
constexpr std::size_t kRows = 2;       // height of a strip in cells
constexpr std::array kPalette = {Colour::green, Colour::cyan, Colour::yellow, Colour::magenta, Colour::blue, Colour::red};

struct Strip {
  std::string source;
  std::vector<double> counts;  // by column
  double count = 0;
  double ns = 0;  // sum, for the mean
};

// The logarithm to base 2, interpolated linearly between powers of two. The error is at most 0.09, too little to show in a
// column, and the result does not depend on the mathematical library. REQUIRES: value > 0.
double octaves(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // 0.5 to 1
  return exponent - 2 + 2 * fraction;
}

// Maps latencies to columns. All strips share one axis.
class Axis {
 public:
  Axis(double shortest, double longest, std::size_t columns)
      : low_(octaves(shortest)), high_(octaves(longest)), columns_(columns) {
    // The axis spans at least two octaves, so that a single latency is not at its edge.
    const double room = std::max(0.05 * (high_ - low_), (2 - (high_ - low_)) / 2);
    low_ -= room;
    high_ += room;
  }

  [[nodiscard]] double position(double ns) const {
    return (octaves(ns) - low_) / (high_ - low_) * static_cast<double>(columns_);
  }
  [[nodiscard]] std::size_t column(double ns) const {
    return static_cast<std::size_t>(std::clamp(position(ns), 0.0, static_cast<double>(columns_ - 1)));
  }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] bool holds(double ns) const { return position(ns) >= 0 && position(ns) < static_cast<double>(columns_); }

  // Round latencies to mark on the axis: powers of ten; if these are few, also 2 and 5 times such powers.
  [[nodiscard]] std::vector<double> ticks() const {
    constexpr double kShortest = 1e-3;  // a picosecond
    constexpr double kLongest = 1e12;
    constexpr double kManyOctaves = 7;
    const bool wide = high_ - low_ > kManyOctaves;
    std::vector<double> marks;
    for (double decade = kShortest; decade < kLongest; decade *= 10) {
      for (const double step : {1.0, 2.0, 5.0}) {
        if ((step == 1 || !wide) && holds(step * decade)) marks.push_back(step * decade);
      }
    }
    return marks;
  }

 private:
  double low_;
  double high_;
  std::size_t columns_;
};

std::vector<Strip> strips_of(const std::vector<LatencyRow>& rows, const Axis& axis) {
  std::map<std::string, Strip> by_source;
  for (const LatencyRow& row : rows) {
    if (row.latency_ns <= 0) continue;
    Strip& strip = by_source[row.source];
    const auto count = static_cast<double>(row.count);
    strip.source = row.source;
    strip.counts.resize(axis.columns());
    strip.counts[axis.column(row.latency_ns)] += count;
    strip.count += count;
    strip.ns += count * row.latency_ns;
  }
  std::vector<Strip> strips;
  for (auto& [source, strip] : by_source) strips.push_back(strip);
  std::ranges::sort(strips,
                    [](const Strip& left, const Strip& right) { return left.ns * right.count < right.ns * left.count; });
  return strips;
}

// Draws one row of a strip's character cells. `row` 0 is the lowest.
std::string cells(const Strip& strip, std::size_t row) {
  static constexpr std::array kEighths = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double highest = *std::ranges::max_element(strip.counts);
  std::string out;
  for (const double count : strip.counts) {
    std::size_t height = std::lround(count / highest * kRowHeight * kRows);
    if (count > 0) height = std::max<std::size_t>(height, 1);  // makes even a single occurrence visible
    const std::size_t below = row * kRowHeight;
    out += kEighths.at(height > below ? std::min(height - below, kRowHeight) : 0);
  }
  return out;
}

std::string axis_text(const Axis& axis, const Painter& paint) {
  std::string line;
  std::string labels;
  std::size_t line_end = 0;
  std::size_t labels_end = 0;
  for (const double tick : axis.ticks()) {
    const std::size_t at = axis.column(tick);
    const Scale scale = scale_of(tick, "ns");
    const std::string label = fmt::format("{:g} {}", tick / scale.factor, scale.unit);
    line += repeated("─", at - line_end) + "┴";
    line_end = at + 1;
    const std::size_t start = at > width_of(label) / 2 ? at - width_of(label) / 2 : 0;
    if (start < labels_end + (labels.empty() ? 0 : 2)) continue;
    labels += std::string(start - labels_end, ' ') + label;
    labels_end = start + width_of(label);
  }
  line += repeated("─", axis.columns() - line_end);
  const std::string indent(kLatencyLabelWidth + 2, ' ');
  return indent + paint(Colour::dim, line) + "\n" + indent + paint(Colour::dim, labels) + "\n";
}

}  // namespace

std::string latency_chart(const std::vector<LatencyRow>& rows, const Painter& paint) {
  double shortest = 0;
  double longest = 0;
  double total = 0;
  for (const LatencyRow& row : rows) {
    if (row.latency_ns <= 0 || row.count == 0) continue;
    shortest = shortest == 0 ? row.latency_ns : std::min(shortest, row.latency_ns);
    longest = std::max(longest, row.latency_ns);
    total += static_cast<double>(row.count);
  }
  if (total == 0) return "";
  if (shortest == longest) {
    const auto one = std::ranges::find_if(rows, [](const LatencyRow& row) { return row.latency_ns > 0 && row.count > 0; });
    const bool alone = std::ranges::all_of(
        rows, [&one](const LatencyRow& row) { return row.source == one->source || row.latency_ns <= 0 || row.count == 0; });
    if (alone)
      return paragraph(fmt::format("Each of {} accesses took {}: {}.", figure(total, ""), quantity(shortest, {}, "ns"),
                                   source_words(one->source)),
                       2, Colour::none, paint);
  }
  const Axis axis(shortest, longest, std::min(kMostColumns, paint.columns() - kBesideStrips));
  Table table({{"Latency, waiting included", Fit::text, kLatencyLabelWidth, 0, Colour::bold},
               words("", axis.columns()),
               figures("mean", kMeanWidth),
               figures("% of accesses", kShareWidth)},
              paint);
  std::size_t number = 0;
  for (const Strip& strip : strips_of(rows, axis)) {
    const Colour colour = kPalette.at(number++ % kPalette.size());
    for (std::size_t row = kRows - 1; row > 0; --row) table.add({"", {without_trailing_spaces(cells(strip, row)), colour}});
    table.add({{source_words(strip.source), colour},
               {cells(strip, 0), colour},
               quantity(strip.ns / strip.count, {}, "ns"),
               fmt::format("{:.1f}", 100 * strip.count / total)});
  }
  return table.text() + axis_text(axis, paint);
}

}  // namespace linebounce::sim
