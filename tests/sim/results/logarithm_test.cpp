#include "sim/results/logarithm.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace linebounce::sim {
namespace {

TEST(Logarithm, IsThatOfTheMathematicalLibraryButForTheLastDigits) {
  for (double value = 1e-9; value < 1e9; value *= 1.037) {
    EXPECT_NEAR(natural_logarithm(value), std::log(value), 4e-15 * std::fmax(1, std::fabs(std::log(value)))) << value;
  }
  for (double value = 0.99; value < 1.01; value += 0.00013)
    EXPECT_NEAR(natural_logarithm(value), std::log(value), 1e-17) << value;
}

TEST(Logarithm, IsUndoneByTheExponential) {
  for (double logarithm = -12; logarithm < 12; logarithm += 0.17) {
    EXPECT_NEAR(exponential_less_one(logarithm), std::expm1(logarithm), 1e-12 * std::exp(logarithm) + 4e-16) << logarithm;
  }
}

TEST(Logarithm, OfOneIsExactlyZero) {
  EXPECT_EQ(natural_logarithm(1), 0);
  EXPECT_EQ(exponential_less_one(0), 0);
}

}  // namespace
}  // namespace linebounce::sim
