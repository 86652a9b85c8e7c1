#include "models/timebase.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "models/frequency.hpp"

namespace linebounce {
namespace {

TEST(Frequencies, TheSmallestDenominatorWithinATenthOfAThousandthIsTaken) {
  EXPECT_EQ(to_frequency(700), (Frequency{700, 1}));
  EXPECT_EQ(to_frequency(666.667), (Frequency{2000, 3}));
  EXPECT_EQ(to_frequency(533.333), (Frequency{1600, 3}));
  EXPECT_EQ(to_frequency(133.33), (Frequency{400, 3}));
  EXPECT_EQ(to_frequency(66.5), (Frequency{133, 2}));
  EXPECT_EQ(to_frequency(0), std::nullopt);
  EXPECT_EQ(to_frequency(1.2345), std::nullopt);
}

// The clocks' common frequency is 700 MHz. A tick divides its period and is at most 100 ps long: 15 ticks for each period.
TEST(Timebase, ATickDividesBothPeriodsAndIsAtMost100Picoseconds) {
  const std::array<Frequency, 2> clocks = {Frequency{700, 1}, Frequency{100, 1}};
  const Timebase timebase(clocks);
  EXPECT_EQ(timebase.period({700, 1}), 15);
  EXPECT_EQ(timebase.period({100, 1}), 105) << "7 cycles are one bus clock, exactly";
  EXPECT_LE(timebase.to_ns(1), 0.1);
  EXPECT_NEAR(timebase.to_ns(9 * 15), 12.857142857142858, 1e-12) << "9 cycles";
}

// 2000/3 MHz: 1.5 ns. With 100 MHz the common frequency is 2000 MHz, the tick 0.1 ns.
TEST(Timebase, AThirdOfAMegahertzIsExact) {
  const std::array<Frequency, 2> clocks = {Frequency{2000, 3}, Frequency{100, 1}};
  const Timebase timebase(clocks);
  EXPECT_EQ(timebase.to_ns(timebase.period({2000, 3})), 1.5);
  EXPECT_EQ(timebase.to_ns(timebase.period({100, 1})), 10);
  EXPECT_EQ(timebase.period({2000, 3}) * 20, timebase.period({100, 1}) * 3);
}

TEST(Timebase, AClockGivenAsAnUnreducedFractionIsTheSameClock) {
  const std::array<Frequency, 2> clocks = {Frequency{4000, 6}, Frequency{100, 1}};
  const Timebase timebase(clocks);
  EXPECT_EQ(timebase.period({2000, 3}), timebase.period({4000, 6}));
}

TEST(Timebase, OfSlowClocksTheTickIsStillShort) {
  const std::array<Frequency, 1> clocks = {Frequency{1, 1}};
  EXPECT_LE(Timebase(clocks).to_ns(1), 0.1);
}

TEST(Timebase, NanosecondsRoundToTheNearestTickHalfUp) {
  const std::array<Frequency, 1> clocks = {Frequency{1000, 1}};
  const Timebase timebase(clocks);  // 0.1 ns a tick
  EXPECT_EQ(timebase.from_ns(0), 0);
  EXPECT_EQ(timebase.from_ns(0.04), 0);
  EXPECT_EQ(timebase.from_ns(0.05), 1);
  EXPECT_EQ(timebase.from_ns(120), 1200);
  EXPECT_EQ(timebase.from_us(3), 30000);
}

TEST(Timebase, ClocksWithoutACommonTickAreRefused) {
  const std::array<Frequency, 2> primes = {Frequency{99991, 1}, Frequency{99989, 1}};
  EXPECT_THROW(Timebase{primes}, std::invalid_argument);
  const std::array<Frequency, 3> many = {Frequency{997, 1}, Frequency{1009, 1}, Frequency{1013, 1}};
  EXPECT_THROW(Timebase{many}, std::invalid_argument);
}

TEST(Timebase, AClockOfNoFrequencyIsRefused) {
  const std::array<Frequency, 1> clocks = {Frequency{0, 1}};
  EXPECT_THROW(Timebase{clocks}, std::invalid_argument);
}

TEST(Timebase, AForeignClockHasNoPeriod) {
  const std::array<Frequency, 1> clocks = {Frequency{700, 1}};
  EXPECT_THROW(static_cast<void>(Timebase(clocks).period({701, 1})), std::logic_error);
}

TEST(AlignUp, GoesToTheNextMultipleOrStays) {
  EXPECT_EQ(align_up(0, 10), 0);
  EXPECT_EQ(align_up(1, 10), 10);
  EXPECT_EQ(align_up(10, 10), 10);
  EXPECT_EQ(align_up(11, 10), 20);
}

}  // namespace
}  // namespace linebounce
