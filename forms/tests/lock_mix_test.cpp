#include "forms/lock_mix.hpp"

#include <gmock/gmock.h>

#include "forms/tests/converted.hpp"

namespace linebounce::sim {
namespace {

using testing::Contains;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::StartsWith;

LockStatistics class_of(const std::string& name, std::uint64_t acquisitions, std::uint64_t waits, double wait_us,
                        double hold_us) {
  LockStatistics lock;
  lock.name = name;
  lock.acquisitions = acquisitions;
  lock.waits = waits;
  lock.wait = {wait_us, {}};
  lock.hold = {hold_us, {}};
  return lock;
}

// For 1 s, two CPUs alternately compute for 3 us and hold the lock for 1 us. In a quarter of all cases the other CPU holds
// the lock; the wait then takes another 1 us on average, because hold times are exponential. So a round takes 3 + 1 + 1/4 us.
const double kTaken = 2 * 1e6 / 4.25;
const LockStatistics kByChance =
    class_of("chance", static_cast<std::uint64_t>(kTaken), static_cast<std::uint64_t>(kTaken / 4), kTaken / 4, kTaken);

TEST(LockMix, WhatIsTakenByChanceIsExpectedToWaitAsMeasured) {
  const LockMix mix = lock_mix({kByChance}, {1, 2});
  ASSERT_EQ(mix.locks.size(), 1U);
  EXPECT_THAT(mix.locks[0].expected_busy_pct, DoubleNear(25, 0.01));
  EXPECT_THAT(mix.locks[0].expected_wait_us, DoubleNear(0.25, 0.001));
  EXPECT_THAT(mix.between_us, DoubleNear(3, 0.001));
  EXPECT_TRUE(mix.left_out.empty());
}

TEST(LockMix, AClassWhoseWaitingChanceDoesNotExplainIsLeftOut) {
  const auto why = [](LockStatistics lock) {
    const LockMix mix = lock_mix({std::move(lock)}, {1, 2});
    return mix.left_out.empty() ? "mixed" : mix.left_out[0].why;
  };
  EXPECT_THAT(why(class_of("many", 470588, 1000, 1000, 470588)), HasSubstr("the class is many locks"));
  EXPECT_THAT(why(class_of("bursts", 1000, 800, 900, 1000)), HasSubstr("in bursts"));
  EXPECT_THAT(why(class_of("tail", 470588, 117647, 400000, 470588)), HasSubstr("some holds are much longer"));
  EXPECT_THAT(why(class_of("held", 1000, 800, 900, 1.2e6)), HasSubstr("held 120 % of the time"));
  EXPECT_THAT(why(class_of("i_mutex", 470588, 117647, 117647, 470588)), HasSubstr("sleeps, by its name"));
  EXPECT_THAT(why(class_of("rare", 100, 25, 25, 100)), HasSubstr("25 times: too few"));
  LockStatistics shared = kByChance;
  shared.has_readers = true;
  EXPECT_THAT(why(shared), HasSubstr("has readers"));
}

TEST(LockMix, OmitsALockWithoutWaiters) {
  const LockMix mix = lock_mix({kByChance, class_of("idle", 1000, 0, 0, 100)}, {1, 2});
  EXPECT_EQ(mix.locks.size(), 1U);
  EXPECT_TRUE(mix.left_out.empty());
}

// Four CPUs and two locks, one of which is taken twice as often. The times of computing, holding and waiting add up to the
// CPUs' time.
TEST(LockMix, LocksShareTheCpusTime) {
  const LockStatistics one = class_of("one", 100000, 15000, 16000, 100000), other = class_of("other", 50000, 3750, 4000, 50000);
  const LockMix mix = lock_mix({one, other}, {0.5, 4});
  ASSERT_EQ(mix.locks.size(), 2U) << mix.left_out.at(0).why;
  EXPECT_THAT(mix.between_us * 150000 + 150000 + 20000, DoubleNear(4 * 0.5e6, 1));
  EXPECT_EQ(mix.locks[0].acquisitions, 33333);
  EXPECT_EQ(mix.locks[1].acquisitions, 16667);
}

TEST(LockMix, ItsTraceTakesLocksAsOftenAndHoldsThemAsLongAsMeasured) {
  const LockMix mix = lock_mix({kByChance}, {1, 2});
  const TemporaryFolder folder;
  trace::Writer writer(folder / "out.lbt");
  trace::Summary summary;
  summary.missing = write_lock_mix(mix, 1000, writer);
  writer.finish(summary);
  const Converted it = read_all(folder / "out.lbt");
  ASSERT_EQ(it.streams.size(), 2U);
  EXPECT_EQ(it.symbols.streams[1].cpu, 1);
  ASSERT_EQ(it.symbols.locks.size(), 1U);
  EXPECT_EQ(it.symbols.locks[0].name, "chance");
  EXPECT_EQ(it.symbols.locks[0].algorithm, "qspinlock");
  double held = 0, between = 0, taken = 0;
  for (const auto& stream : it.streams) {
    for (std::size_t i = 0; i + 3 < stream.size(); i += 4) {
      between += static_cast<double>(stream[i].argument);
      EXPECT_EQ(stream[i + 1].kind, trace::Kind::acquire);
      held += static_cast<double>(stream[i + 2].argument);
      EXPECT_EQ(stream[i + 3].kind, trace::Kind::release);
      ++taken;
    }
  }
  EXPECT_EQ(taken, 50000);
  // 3 us and 1 us, in cycles at 1000 MHz. The means of 50,000 draws have a standard deviation of 0.45 %.
  EXPECT_THAT(between / taken, DoubleNear(3000, 60));
  EXPECT_THAT(held / taken, DoubleNear(1000, 20));
  EXPECT_THAT(it.missing, Contains(StartsWith("Nothing in it was recorded")));
}

TEST(LockMix, OfManyThatAreLeftOutTenAreNamed) {
  std::vector<LockStatistics> locks(13, class_of("i_mutex", 100, 1, 1, 1));
  const std::vector<std::string> sentences = left_out_sentences(lock_mix(locks, {1, 2}));
  EXPECT_EQ(sentences.size(), 11U);
  EXPECT_THAT(sentences.back(), StartsWith("3 more locks"));
}

}  // namespace
}  // namespace linebounce::sim
