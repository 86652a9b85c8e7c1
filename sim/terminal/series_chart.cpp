// Quantities over simulated time for the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "sim/answer/quantity.hpp"
#include "sim/terminal/charts.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kTimeTitle = "over time";
constexpr std::size_t kMostSeriesColumns = 56;
constexpr std::size_t kSeriesFigure = 10;     // width of the column with the figures
constexpr std::size_t kBesideSeries = 2 + 2;  // the indent, and the gap before the strip

constexpr double kScale = 0x1p-64;  // keeps sums within a double's range, exactly

struct Series {
  std::string name;
  double lowest = 0;
  double highest = 0;
  double sum = 0;  // of values times kScale
  std::int64_t count = 0;
  std::vector<std::optional<double>> peaks;  // by column

  [[nodiscard]] double mean() const { return sum / static_cast<double>(count) / kScale; }
};

void add(Series& series, double value, std::size_t column) {
  series.lowest = series.count == 0 ? value : std::min(series.lowest, value);
  series.highest = series.count == 0 ? value : std::max(series.highest, value);
  series.sum += value * kScale;
  ++series.count;
  std::optional<double>& peak = series.peaks.at(column);
  peak = peak ? std::max(*peak, value) : value;
}

// Each column shows the highest value in its interval of time, because a mean would hide peaks.
std::vector<Series> all_series(const std::vector<SeriesRow>& rows, double last_us, std::size_t columns) {
  std::vector<Series> all;
  for (const SeriesRow& row : rows) {
    if (all.empty() || all.back().name != row.name)
      all.push_back({.name = row.name, .peaks = std::vector<std::optional<double>>(columns)});
    const double share = last_us > 0 ? row.time_us / last_us : 0;
    add(all.back(), row.value, std::min(columns - 1, static_cast<std::size_t>(share * static_cast<double>(columns))));
  }
  return all;
}

std::string strip_of(const Series& series) {
  static constexpr std::array kEighths = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double from = std::min(0.0, series.lowest);
  const double half_range = series.highest / 2 - from / 2;  // the whole may be beyond a double's range
  std::string strip;
  for (const std::optional<double>& peak : series.peaks) {
    const double height =
        peak && half_range > 0 ? (*peak / 2 - from / 2) / half_range * static_cast<double>(kEighths.size() - 1) : 0;
    strip += peak ? kEighths.at(std::lround(height)) : " ";
  }
  return without_trailing_spaces(strip);
}

std::size_t longest_name(const std::vector<SeriesRow>& rows) {
  std::size_t longest = width_of(kTimeTitle);
  for (const SeriesRow& row : rows) longest = std::max(longest, width_of(row.name));
  return longest;
}

}  // namespace

std::string series_chart(const std::vector<SeriesRow>& rows, const Painter& paint) {
  if (rows.empty()) return "";
  constexpr std::size_t kLongestName = 28;
  const std::size_t name = std::min(longest_name(rows), kLongestName);
  const std::size_t beside = kBesideSeries + name + 3 * kSeriesFigure;
  const std::size_t columns = std::min(kMostSeriesColumns, paint.columns() - beside);
  double last_us = 0;
  for (const SeriesRow& row : rows) last_us = std::max(last_us, row.time_us);
  std::string to = fmt::format("0 to {}", quantity(last_us, {}, "us"));
  if (const std::size_t zeros = to.find(".00 "); zeros != std::string::npos) to.erase(zeros, 3);
  const std::string axis = width_of("highest from " + to) <= columns ? "highest from " + to : to;
  Table table({names(kTimeTitle, name), figures("lowest", kSeriesFigure), figures("mean", kSeriesFigure),
               figures("highest", kSeriesFigure), words(axis, columns, 2)},
              paint);
  for (const Series& series : all_series(rows, last_us, columns)) {
    table.add(
        {series.name, figure(series.lowest), figure(series.mean()), figure(series.highest), {strip_of(series), Colour::blue}});
  }
  return table.text();
}

}  // namespace linebounce::sim
