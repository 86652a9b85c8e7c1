// Distributions of times: their means, their variation, and what is refused.
#include "workloads/program/duration.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace linebounce::workloads {
namespace {

struct Drawn {
  double mean = 0;
  double squared_variation = 0;  // variance / mean^2
  std::int64_t least = 0, most = 0;
};

Drawn drawn(const std::string& distribution, std::int64_t mean) {
  constexpr int kDraws = 100000;
  const Duration duration("inside", distribution, mean);
  Random random(7, 0, 0);
  std::vector<double> values;
  for (int i = 0; i < kDraws; ++i) values.push_back(static_cast<double>(duration.draw(random)));
  Drawn result;
  for (const double value : values) result.mean += value / kDraws;
  for (const double value : values)
    result.squared_variation += (value - result.mean) * (value - result.mean) / kDraws / (result.mean * result.mean);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  result.least = static_cast<std::int64_t>(*least);
  result.most = static_cast<std::int64_t>(*most);
  return result;
}

TEST(Duration, AConstantHasNoSpread) {
  const Drawn constant = drawn("constant", 1000);
  EXPECT_EQ(constant.least, 1000);
  EXPECT_EQ(constant.most, 1000);
}

TEST(Duration, UniformGoesFromOneToTwiceTheMean) {
  const Drawn uniform = drawn("uniform", 1000);
  EXPECT_NEAR(uniform.mean, 1000, 10);
  EXPECT_EQ(uniform.least, 1);
  EXPECT_EQ(uniform.most, 2000);
}

TEST(Duration, AnExponentialVariesAsMuchAsItsMean) {
  const Drawn exponential = drawn("exponential", 1000);
  EXPECT_NEAR(exponential.mean, 1000, 15);
  EXPECT_NEAR(exponential.squared_variation, 1, 0.05);
}

// 0.9 * 0.5 + 0.1 * 5.5 = 1, and 0.9 * 0.25 + 0.1 * 30.25 - 1 = 2.25.
TEST(Duration, TwoPointsKeepTheMeanAndVaryMore) {
  const Drawn two = drawn("two_point", 1000);
  EXPECT_NEAR(two.mean, 1000, 15);
  EXPECT_NEAR(two.squared_variation, 2.25, 0.1);
  EXPECT_EQ(two.least, 500);
  EXPECT_EQ(two.most, 5500);
}

TEST(Duration, AHistogramIsDrawnByItsWeights) {
  const Drawn histogram = drawn("100:9 5000:1", 0);
  EXPECT_NEAR(histogram.mean, 590, 25);
  EXPECT_EQ(histogram.least, 100);
  EXPECT_EQ(histogram.most, 5000);
}

TEST(Duration, AnUnknownDistributionIsRefusedWithTheKnownOnes) {
  for (const char* text : {"", "normal", "100", "100:", ":3", "100:0", "100:-1", "100:2 x:1", "1:1000000 2:1"}) {
    EXPECT_THAT(
        [&] { Duration("inside", text, 10); },
        testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("legal: constant, uniform, exponential, two_point")))
        << text;
  }
}

TEST(Duration, AMeanThatExponentialTimesCannotHaveIsRefused) {
  EXPECT_NO_THROW(Duration("inside", "uniform", 1'000'000'000));
  EXPECT_THAT([] { Duration("inside", "exponential", 1'000'000'000); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("workload.inside_cycles: 1000000000")));
}

}  // namespace
}  // namespace linebounce::workloads
