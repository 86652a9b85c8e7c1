// The locks of a write, and why the first write and one in a new jiffy take more.
#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/workloads/run_workload.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

using testing::ElementsAre;

// Nothing needs refilling in ten writes, which all fall into one jiffy.
const std::map<std::string, ParameterValue> kPlain = {
    {"pages_left", std::int64_t{16}}, {"buffer_heads_left", std::int64_t{16}}, {"between_writes_us", 1.0}};

std::vector<int> locks_of_writes(std::map<std::string, ParameterValue> changed) {
  for (const auto& [name, value] : kPlain) changed.try_emplace(name, value);
  changed.try_emplace("buffers", std::int64_t{4});
  MachineSpec spec = small_machine(2);
  spec.caches[1].size_kib = 64;
  SmallMachine small(spec);
  const Metrics metrics = run_workload("locks_per_4k_write", changed, small, spec);
  std::vector<int> locks;
  for (int buffer = 0; metrics.values.contains("write.buffer_" + std::to_string(buffer) + ".locks"); ++buffer) {
    locks.push_back(static_cast<int>(metrics.values.at("write.buffer_" + std::to_string(buffer) + ".locks")));
  }
  return locks;
}

// 11 sites. The first write also updates the time (a handle: 4), the bitmap and group descriptor of the file (4), and dirties
// the inode (1).
TEST(LocksPer4kWrite, TheFirstWriteTakesNineMoreThanTheOthers) {
  EXPECT_THAT(locks_of_writes({}), ElementsAre(20, 11, 11, 11));
}

TEST(LocksPer4kWrite, AWriteInANewJiffyUpdatesTheTime) {
  EXPECT_THAT(locks_of_writes({{"between_writes_us", 350.0}}), ElementsAre(20, 11, 11, 15));
}

TEST(LocksPer4kWrite, AnEmptyListIsRefilledUnderTheZonesLock) {
  EXPECT_THAT(locks_of_writes({{"pages_left", std::int64_t{1}}, {"buffer_heads_left", std::int64_t{3}}}),
              ElementsAre(20, 12, 11, 12));
}

// `merged` makes one section of lookup and insertion (1 lock less), of the two at each start and end of a handle (2), and of
// each filing (2 in the first write).
TEST(LocksPer4kWrite, MergingAdjacentSectionsSavesThree) {
  EXPECT_THAT(locks_of_writes({{"merged", true}}), ElementsAre(13, 8, 8, 8));
}

TEST(LocksPer4kWrite, MoreWritersThanCpusAreRefused) {
  EXPECT_THROW(locks_of_writes({{"writers", std::int64_t{3}}}), std::invalid_argument);
}

}  // namespace
}  // namespace linebounce::test
