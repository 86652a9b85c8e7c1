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

// The address phases are at 30 and 50. The bank is busy until 230. The second read overlaps its snoop, whose result is at 90,
// so it has waited for 140 when its 100 ns of latency begin. Before that it waited 20 for the bus.
TEST(Waits, AMissToABusyBankQueuesForTheMemory) {
  MachineSpec spec = small_machine(2);
  spec.memory.banks = 2;
  spec.memory.bank_busy_ns = 200;
  const auto misses = two_at_once(
      spec, [](Cpu& cpu) { cpu.load(kLine); }, [](Cpu& cpu) { cpu.load(kOtherLine); });
  ASSERT_EQ(misses.size(), 2U);
  EXPECT_EQ(misses[0].waits, Waits());
  constexpr Tick kNs = 10;  // in ticks
  EXPECT_EQ(misses[1].waits[Resource::memory], 140 * kNs);
  EXPECT_EQ(misses[1].waits[Resource::bus], 20 * kNs);
  EXPECT_EQ(misses[1].waits.total(), 160 * kNs);
}

// Memory runs both operations. The first reads the bank at 30 and writes its result at 130, when the bank is still busy until
// 230; so it is busy until 430. The second's snoop result is at 90.
TEST(Waits, AnOperationAtMemoryQueuesForItsBankLikeARead) {
  MachineSpec spec = small_machine(2, "mesi_far_snoop");
  spec.memory.banks = 2;
  spec.memory.bank_busy_ns = 200;
  const auto misses = two_at_once(
      spec, [](Cpu& cpu) { cpu.fetch_add(kLine, 1); }, [](Cpu& cpu) { cpu.fetch_add(kOtherLine, 1); });
  ASSERT_EQ(misses.size(), 2U);
  constexpr Tick kNs = 10;  // in ticks
  EXPECT_EQ(misses[0].waits, Waits());
  EXPECT_EQ(misses[1].waits[Resource::memory], (430 - 90) * kNs);
}

}  // namespace
}  // namespace linebounce::test
