#include "sim/answer/quantity.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "models/text/csv_row.hpp"

namespace linebounce::sim {
namespace {

// tests/analysis/test_quantity.py holds the Python package to the same table.
TEST(Quantity, FiguresAreThoseOfTheTable) {
  std::ifstream file(std::string(LINEBOUNCE_SOURCE_DIR) + "/tests/analysis/quantities.csv");
  std::string line;
  std::getline(file, line);
  int rows = 0;
  for (; std::getline(file, line); ++rows) {
    line += '\n';
    std::string_view rest = line;
    const auto fields = take_csv_row(rest);
    ASSERT_TRUE(fields && fields->size() == 3) << line;
    EXPECT_EQ(quantity(std::stod((*fields)[0]), {}, (*fields)[1]), (*fields)[2]);
  }
  EXPECT_GT(rows, 10);
}

TEST(Quantity, OneColumnHasOneUnitAndOneNumberOfDecimals) {
  const Scale rate = scale_of(1064000, "1/s");
  EXPECT_EQ(rate.name(), "M/s");
  EXPECT_EQ(figure_in(rate, 1064000), "1.06");
  EXPECT_EQ(figure_in(rate, 266000), "0.27");
  EXPECT_EQ(figure_in(rate, 1064000, 20000), "1.06 ±0.02");
  EXPECT_EQ(figure_in(scale_of(2000, "ns"), 137.66), "0.14");
}

TEST(Quantity, AnIntervalThatIsOnlyRoundingIsLeftOut) {
  EXPECT_EQ(quantity(2.5, 0, ""), "2.50");
  EXPECT_EQ(quantity(2.5, 0.25, ""), "2.50 ±0.25");
  EXPECT_EQ(quantity(1234.5, 0.0123, ""), "1234 ±0.01") << "never shown as zero";
}

}  // namespace
}  // namespace linebounce::sim
