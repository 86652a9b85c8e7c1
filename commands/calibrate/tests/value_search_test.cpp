#include "commands/calibrate/value_search.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace linebounce::sim {
namespace {

TryValues each(double (*off)(double)) {
  return [off](const std::vector<double>& values) {
    std::vector<double> found;
    for (const double value : values) found.push_back(off(value));
    return found;
  };
}

TEST(ValuesToTry, BeginWithNoneAndGrowByARatioInWholeSteps) {
  EXPECT_THAT(values_to_try(1, 8, 2, 1), testing::ElementsAre(0, 1, 2, 4, 8));
  EXPECT_THAT(values_to_try(1, 3, 1.2, 1), testing::ElementsAre(0, 1, 2, 3, 4)) << "the last one is past the most";
}

// Two valleys, at 3 and at 17, as if a longer hold let the owner complete one more operation. Only 17 is right.
TEST(FindValue, OfASawToothTakesTheDeepestValleyNotTheFirst) {
  const auto off = [](double value) { return 0.01 + 0.1 * std::min({std::fabs(value - 17), std::fabs(value - 3) + 0.5}); };
  const FoundValue found = find_value(values_to_try(1, 500, 1.2, 10), 10, each(off));
  EXPECT_NEAR(found.value, 17, 0.2);
  EXPECT_LE(found.low, found.value);
  EXPECT_GE(found.high, found.value);
  EXPECT_LT(found.high - found.low, 1);
}

TEST(FindValue, SaysFromWhereToWhereNothingTellsValuesApart) {
  const FoundValue found = find_value(values_to_try(5, 1000, 1.25, 10), 10,
                                      each([](double value) { return value < 100 ? 0.02 : 0.02 + (value - 100) / 100; }));
  EXPECT_EQ(found.value, 0);
  EXPECT_EQ(found.low, 0);
  EXPECT_NEAR(found.high, 95, 10);
}

TEST(FindValue, TriesNoValueTwice) {
  std::vector<double> tried;
  find_value({0, 10, 20}, 1, [&tried](const std::vector<double>& values) {
    std::vector<double> off;
    for (const double value : values) {
      EXPECT_EQ(std::ranges::count(tried, value), 0) << value;
      tried.push_back(value);
      off.push_back(std::fabs(value - 12));
    }
    return off;
  });
  EXPECT_THAT(tried, testing::Contains(12));
}

}  // namespace
}  // namespace linebounce::sim
