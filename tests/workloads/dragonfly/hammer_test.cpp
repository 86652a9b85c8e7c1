// HAMMER's flush groups, inodes and reads: the effect of each of the four changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/workloads/run_workload.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

constexpr std::int64_t kInodes = 40;

MachineSpec hammer_machine(int cpus) {
  MachineSpec spec = small_machine(cpus);
  spec.caches[1].size_kib = 64;
  return spec;
}

// One reader, one writer and the flusher, with a disk that is fast enough for a test.
Metrics run_hammer(std::map<std::string, ParameterValue> changed, int cpus = 3, double run_us = 20000) {
  const std::map<std::string, ParameterValue> small_load = {
      {"blocks", std::int64_t{64}},        {"buffers", std::int64_t{16}},    {"inodes", kInodes},
      {"uneven_inodes", std::int64_t{20}}, {"even_inodes", std::int64_t{5}}, {"meta_buffers", std::int64_t{30}},
      {"meta_extents", std::int64_t{2}},   {"write_speed", 200.0},           {"series_us", 100.0}};
  for (const auto& [name, value] : small_load) changed.try_emplace(name, value);
  const MachineSpec spec = hammer_machine(cpus);
  SmallMachine small(spec, EngineSpec{}, 0, run_us);
  return run_workload("hammer", changed, small, spec);
}

double most(const std::vector<SeriesSample>& series) {
  double most = 0;
  for (const SeriesSample& sample : series) most = std::max(most, sample.value);
  return most;
}

std::vector<double> groups_of(const Metrics& metrics) {
  std::vector<double> inodes;
  for (const SeriesSample& sample : metrics.all_series.at("hammer.inodes_in_flush")) {
    if (sample.value > 0) inodes.push_back(sample.value);
  }
  return inodes;
}

TEST(Hammer, EvenGroupsAllHaveTheirSize) {
  const std::vector<double> groups = groups_of(run_hammer({{"flush_groups", "even"}}));
  ASSERT_GT(groups.size(), 4U);
  for (const double inodes : groups) EXPECT_EQ(inodes, 5);
}

// A flush begins when 20 inodes wait. More come while the disk writes those.
TEST(Hammer, AnUnevenGroupTakesAllInodesThatCameMeanwhile) {
  const std::vector<double> groups = groups_of(run_hammer({{"write_speed", 20.0}, {"inodes", std::int64_t{100}}}));
  ASSERT_GT(groups.size(), 2U);
  EXPECT_EQ(groups[0], 20);
  EXPECT_GT(*std::max_element(groups.begin() + 1, groups.end()), 20);
  EXPECT_LE(*std::max_element(groups.begin() + 1, groups.end()), 100 - 20);
}

constexpr double kOneInAStretch = 1e6 / 100;  // per second

// All inodes of a group, 20 or more, are freed within 0.1 ms.
TEST(Hammer, InodesAreFreedTogetherWhenTheirGroupIsOnTheDisk) {
  const Metrics metrics = run_hammer({{"write_speed", 20.0}});
  EXPECT_GE(most(metrics.all_series.at("hammer.inodes_freed_per_s")), 20 * kOneInAStretch);
}

// As many inodes are freed as buffers reach the disk in that time: less than half a group.
TEST(Hammer, InodesAreFreedAtTheDisksRate) {
  const Metrics metrics = run_hammer({{"write_speed", 20.0}, {"inodes_freed", "steady"}});
  EXPECT_GT(most(metrics.all_series.at("hammer.inodes_freed_per_s")), 0);
  EXPECT_LT(most(metrics.all_series.at("hammer.inodes_freed_per_s")), 10 * kOneInAStretch);
}

// The flusher holds the lock for 2000 us / 200 (its speed) for each of 20 or more inodes: 200 us at least. Without the lock,
// a read takes 15 us.
TEST(Hammer, AReadThatTakesTheLockWaitsForTheFlusher) {
  EXPECT_GT(run_hammer({{"sync_us", 2000.0}}).values.at("hammer.read_longest_us"), 150);
}
TEST(Hammer, AReadWithoutTheLockDoesNotWaitForTheFlusher) {
  EXPECT_LT(run_hammer({{"sync_us", 2000.0}, {"lock_before_getblk", false}}).values.at("hammer.read_longest_us"), 60);
}

TEST(Hammer, AllBlocksHaveBuffersWhereThereAreEnough) {
  EXPECT_EQ(run_hammer({{"buffers", std::int64_t{64}}}).values.at("hammer.buffers_made_pct"), 0);
}
// 16 of 64 blocks have a buffer.
TEST(Hammer, ABlockThatIsReadHasABufferAsOftenAsThereAreBuffers) {
  EXPECT_NEAR(run_hammer({}).values.at("hammer.buffers_made_pct"), 75, 5);
}

TEST(Hammer, ReadersWritersAndFlusherNeedACpuEach) {
  EXPECT_THROW(run_hammer({{"writers", std::int64_t{2}}}), std::invalid_argument);
}
TEST(Hammer, NeverFlushesMoreInodesThanExist) {
  EXPECT_THROW(run_hammer({{"uneven_inodes", kInodes + 1}}), std::invalid_argument);
}
TEST(Hammer, NeverHasMoreBuffersThanBlocks) {
  EXPECT_THROW(run_hammer({{"buffers", std::int64_t{65}}}), std::invalid_argument);
}

}  // namespace
}  // namespace linebounce::test
