// Tests Cpu::load_all, which has several loads of one thread under way at once. small_machine.hpp says when a miss at 2000 is
// done.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/models/support/small_machine.hpp"
#include "tests/support/expect_reached.hpp"

namespace linebounce::test {
namespace {

double time_of_loads(const MachineSpec& spec, std::vector<Cpu::Word> words, const std::vector<Address>& held = {}) {
  SmallMachine small(spec);
  double taken = 0;
  small.run({[&](Cpu& cpu) {
    for (const Address address : held) cpu.load(address);
    std::vector<Value> values(words.size());
    taken = cycles_from(cpu, 2000, [&] { cpu.load_all(words, values); });
  }});
  return taken;
}

TEST(LoadAll, OfOneWordIsALoad) {
  EXPECT_EQ(time_of_loads(small_machine(1), {{kLine}}), 146);
}
TEST(LoadAll, OfOneCachedWordIsAHit) {
  EXPECT_EQ(time_of_loads(small_machine(1), {{kLine}}, {kLine}), 2);
}

// The loads are issued at 2000, 2001, 2002 and 2003; the last is a hit, which takes 2 cycles.
TEST(LoadAll, HitsAreIssuedOneACycle) {
  EXPECT_EQ(time_of_loads(small_machine(1), {{kLine}, {kLine + 8}, {kLine + 16}, {kLine + 24}}, {kLine}), 5);
}

// The loads are issued at 2000 and 2001, and granted at 2020 and 2040, two clocks apart. The first one's data is on the bus
// from 2130 to 2170. Then comes the second's: at the pins 2180, done 2186.
TEST(LoadAll, TwoMissesOverlap) {
  EXPECT_EQ(time_of_loads(small_machine(1), {{kLine}, {kLine + 0x100}}), 186);
}

// With one outstanding miss, the second load is issued when the first line arrives, at 2145: stamped 2155, granted 2160, data
// 2270, at the pins 2280, done 2286.
TEST(LoadAll, NoMoreThanTheOutstandingMissesAreUnderWay) {
  const ExpectReached mark{"overlapped_loads_wait"};
  MachineSpec spec = small_machine(1);
  spec.cpu.outstanding_misses = 1;
  EXPECT_EQ(time_of_loads(spec, {{kLine}, {kLine + 0x100}}), 286);
}

// The first line is on its way when the second load needs it. That load waits for the fill at 2145. The third load does not
// wait for it, so both misses overlap as above.
TEST(LoadAll, AWordOfALineThatIsUnderWayDelaysNoLaterLoad) {
  EXPECT_EQ(time_of_loads(small_machine(1), {{kLine}, {kLine + 8}, {kLine + 0x100}}), 186);
}

// CPU 0's operation holds the line from 2000 to 2020; then CPU 1's load, at 2005, takes the 2 cycles of a hit: 15 + 2.
TEST(LoadAll, ALineThatASiblingLocksIsLoadedWhenTheLockEnds) {
  const ExpectReached mark{"overlapped_load_retried_at_unlock"};
  MachineSpec spec = small_machine(2);
  spec.cpu.threads_per_core = 2;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               cpu.fetch_add(kLine, 5);
               cycles_from(cpu, 2000, [&] { cpu.fetch_add(kLine, 1); });
             },
             [](Cpu& cpu) {
               const std::array<Cpu::Word, 1> words{{{kLine}}};
               std::array<Value, 1> values{};
               EXPECT_EQ(cycles_from(cpu, 2005, [&] { cpu.load_all(words, values); }), 17);
               EXPECT_EQ(values[0], 6U);
             }});
}

TEST(LoadAll, EachWordHasItsValueAndEachMissIsCounted) {
  SmallMachine small(small_machine(1));
  std::array<Value, 4> values{};
  small.run({[&](Cpu& cpu) {
    cpu.store(kLine + 0x200, 7);
    cpu.store(kLine + 0x108, 5);
    cpu.fetch_add(kLine + 8, 3);
    for (Address line = 1; line <= 4; ++line) cpu.load(kLine + 0x100 + line * kSetStride);  // evicts that line
    const std::array<Cpu::Word, 4> words = {{{kLine + 0x108}, {kLine + 0x200}, {kLine + 8}, {kLine + 0x208}}};
    const std::int64_t before = cpu.counters().by_function[0].misses;
    cpu.load_all(words, values);
    EXPECT_EQ(cpu.counters().by_function[0].misses - before, 1);
  }});
  EXPECT_EQ(values, (std::array<Value, 4>{5, 7, 3, 0}));
  EXPECT_EQ(small.misses().back().address, kLine + 0x108);
}

// The interrupt arrives at 2050. It can't split loads that are under way, so the way to the handler, 50 cycles, begins when
// they are done, at 2186.
TEST(LoadAll, AnInterruptComesBehindTheLoads) {
  SmallMachine small(small_machine(2));
  double handled = 0;
  small.run({[&handled](Cpu& cpu) {
               cpu.set_interrupt_handler([&handled](Cpu& self, int) { handled = self.now_ns(); });
               const std::array<Cpu::Word, 2> words = {{{kLine}, {kLine + 0x100}}};
               std::array<Value, 2> values{};
               wait_until(cpu, 2000);
               cpu.load_all(words, values);
               cpu.compute(1000);
             },
             [](Cpu& cpu) {
               wait_until(cpu, 1950);
               cpu.send_ipi(CpuId(0), 1);
             }});
  EXPECT_EQ(handled, 2186 + 50);
}

// The store is still in the buffer, so the cache has an older value.
TEST(LoadAll, SeesWhatItsOwnStoreBufferHolds) {
  MachineSpec spec = small_machine(1);
  spec.cpu.consistency = Consistency::tso;
  spec.cpu.store_buffer_entries = 4;
  SmallMachine small(spec);
  std::array<Value, 2> values{};
  small.run({[&values](Cpu& cpu) {
    cpu.store(kLine, 9);
    const std::array<Cpu::Word, 2> words = {{{kLine}, {kLine + 0x100}}};
    cpu.load_all(words, values);
  }});
  EXPECT_EQ(values, (std::array<Value, 2>{9, 0}));
}

}  // namespace
}  // namespace linebounce::test
