#include "sim/results/numbers.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace linebounce::sim {
namespace {

TEST(Numbers, HaveSixSignificantDigits) {
  EXPECT_EQ(significant(12.857142857), "12.8571");
  EXPECT_EQ(significant(0.000123456789), "0.000123457");
  EXPECT_EQ(significant(123456789.0), "1.23457e+08");
}

TEST(Numbers, DropZerosThatSayNothingAndTheSignOfZero) {
  EXPECT_EQ(significant(100.0), "100");
  EXPECT_EQ(significant(-0.0), "0");
}

TEST(Numbers, ThatAreNotFiniteAreABug) {
  EXPECT_THROW(significant(std::numeric_limits<double>::infinity()), std::logic_error);
  EXPECT_THROW(significant(std::numeric_limits<double>::quiet_NaN()), std::logic_error);
}

TEST(Numbers, CountsStayExactBeyondWhatADoubleHolds) {
  const std::int64_t count = 9007199254740993;  // 2^53 + 1
  EXPECT_EQ(number_to_json(count).dump(), "9007199254740993");
  EXPECT_EQ(std::get<std::int64_t>(number_from_json(number_to_json(count))), count);
}

TEST(Numbers, AWholeDoubleIsStillADoubleWhenItIsReadBack) {
  EXPECT_EQ(number_to_json(100.0).dump(), "100.0");
  EXPECT_TRUE(std::holds_alternative<double>(number_from_json(number_to_json(100.0))));
}

TEST(Numbers, IntegerAndFloatOfTheSameValueAreTheSamePointOfASweep) {
  EXPECT_TRUE(same_value(std::int64_t{8}, 8.0));
  EXPECT_FALSE(same_value(std::int64_t{8}, 8.5));
  EXPECT_FALSE(same_value(std::int64_t{1}, true));
  EXPECT_FALSE(same_value(std::string("8"), std::int64_t{8}));
}

// A merge reads rounded values and rounds them again, which must change nothing.
RC_GTEST_PROP(Numbers, RoundingTwiceIsRoundingOnce, (double value)) {
  RC_PRE(std::isfinite(value));
  RC_ASSERT(rounded(rounded(value)) == rounded(value));
}

}  // namespace
}  // namespace linebounce::sim
