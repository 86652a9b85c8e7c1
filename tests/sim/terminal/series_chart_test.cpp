#include <gmock/gmock.h>

#include <sstream>

#include "sim/terminal/charts.hpp"

namespace linebounce::sim {
namespace {

using testing::HasSubstr;

// So narrow that ten columns remain for time beside a name of ten characters.
const Painter kTenColumns(false, 0, 54);

// A series with one value every 0.2 s from 0 on. Each value fills two of the ten columns; the last row ends the series.
std::vector<SeriesRow> ramp(const std::string& name, const std::vector<double>& values) {
  std::vector<SeriesRow> rows;
  for (std::size_t i = 0; i < values.size(); ++i)
    rows.push_back({1e6 * static_cast<double>(i) / static_cast<double>(values.size() - 1), name, values[i]});
  return rows;
}

TEST(SeriesChart, WithoutSamplesIsEmpty) {
  EXPECT_EQ(series_chart({}, kTenColumns), "");
}

TEST(SeriesChart, SaysTheLowestTheMeanAndTheHighestAndDrawsFromZero) {
  const std::string chart = series_chart(ramp("ten.values", {7, 6, 5, 4, 3, 2, 1, 0, 7, 7, 2}), kTenColumns);
  EXPECT_THAT(chart, HasSubstr("  ten.values         0      4.00      7.00  █▇▆▅▄▃▂▁██\n"));
  EXPECT_THAT(chart, HasSubstr("over time"));
  EXPECT_THAT(chart, HasSubstr("0 to 1 s"));
}

// The range and the sum are beyond a double's.
TEST(SeriesChart, ValuesNearTheEndOfARangeAreDrawn) {
  std::vector<double> values;
  for (int i = 0; i < 11; ++i) values.push_back(i % 2 == 0 ? -1e308 : 1e308);
  EXPECT_THAT(series_chart(ramp("ten.values", values), kTenColumns), HasSubstr("▁█▁█▁█▁█▁█\n"));
}

// The mean over the column's interval would be 1.
TEST(SeriesChart, AShortPeakIsSeen) {
  std::vector<SeriesRow> rows = ramp("ten.values", std::vector<double>(1001, 0.0));
  rows[505].value = 70;
  EXPECT_THAT(series_chart(rows, kTenColumns), HasSubstr("  ▁▁▁▁▁█▁▁▁▁\n"));
}

TEST(SeriesChart, AStretchWithoutAValueIsEmptyAndAllSeriesHaveOneAxis) {
  std::vector<SeriesRow> rows = {{0, "first", 3}, {500'000, "first", 3}};
  const std::vector<SeriesRow> other = ramp("second", {0, -1, -2, -3, -4, -5, -6, -7, -7, -7, -7});
  rows.insert(rows.end(), other.begin(), other.end());
  const std::string chart = series_chart(rows, Painter(false, 0, 53));
  EXPECT_THAT(chart, HasSubstr("█    █\n"));
  EXPECT_THAT(chart, HasSubstr("█▇▆▅▄▃▂▁▁▁\n"));
}

TEST(SeriesChart, FitsTheNarrowestTerminal) {
  const Painter narrow(false, 0, kNarrowestTerminal);
  std::istringstream chart(series_chart(ramp("a.name.that.is.longer.than.its.column", {1, 2, 3}), narrow));
  for (std::string line; std::getline(chart, line);) EXPECT_LE(width_of(line), kNarrowestTerminal) << line;
}

}  // namespace
}  // namespace linebounce::sim
