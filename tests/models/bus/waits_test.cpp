// What each miss waits for in queues (Miss::waits). small_machine.hpp has the stages of an access without any queue.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

constexpr Address kOtherLine = kLine + 64;

// CPU 0 and CPU 1 access one line each at the same time.
std::vector<Miss> two_at_once(const MachineSpec& spec, const std::function<void(Cpu&)>& first,
                              const std::function<void(Cpu&)>& second) {
  SmallMachine small(spec);
  small.run({first, second});
  return small.misses();
}

TEST(Waits, AMissAloneTravels) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) { cpu.load(kLine); }});
  ASSERT_EQ(small.misses().size(), 1U);
  EXPECT_EQ(small.misses()[0].waits, Waits());
}

// The second request waits for the next address phase, and for the data bus until the first line has been transferred.
TEST(Waits, OfTwoMissesAtOnceTheSecondQueuesForAsLongAsItIsSlower) {
  const auto misses = two_at_once(
      small_machine(2), [](Cpu& cpu) { cpu.load(kLine); }, [](Cpu& cpu) { cpu.load(kOtherLine); });
  ASSERT_EQ(misses.size(), 2U);
  EXPECT_EQ(misses[0].waits, Waits());
  EXPECT_GT(misses[1].waits[Resource::bus], 0);
  EXPECT_EQ(misses[1].waits.total(), misses[1].latency - misses[0].latency);
}

TEST(Waits, ARequestForABusyLineQueuesForThatLine) {
  const auto misses = two_at_once(
      small_machine(2), [](Cpu& cpu) { cpu.store(kLine, 1); }, [](Cpu& cpu) { cpu.store(kLine, 2); });
  ASSERT_EQ(misses.size(), 2U);
  EXPECT_GT(misses[1].waits[Resource::line], 0);
  EXPECT_LT(misses[1].waits.total(), misses[1].latency);
}

}  // namespace
}  // namespace linebounce::test
