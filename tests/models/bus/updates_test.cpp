// Tests stores to a shared line that update the other copies instead of taking them (dragon_snoop): how many clocks they
// take, and when the other copies have the word. small_machine.hpp has the stages of an access.
#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"
#include "tests/support/expect_reached.hpp"

namespace linebounce::test {
namespace {

MachineSpec dragon_machine(int cpus) {
  return small_machine(cpus, "dragon_snoop");
}

// Expects that a load at `ns` hits and returns this value.
void expect_hit(Cpu& cpu, double ns, Value value) {
  EXPECT_EQ(cycles_from(cpu, ns, [&] { EXPECT_EQ(cpu.load(kLine), value) << "at " << ns; }), 2);
}

// L1 finds the line shared: stamped 2002, granted 2010, address phase 2020, snoop result 2060. The word occupies the data bus
// for the next clock, and the response comes with it, at 2070; 5 + 1. That is as long as an upgrade takes.
TEST(Update, CostsOneDataClockAndTheOtherCopyHasTheWordFromTheSnoopResultOn) {
  MachineSpec spec = dragon_machine(2);
  spec.memory.latency_ns = 500;  // plays no part
  SmallMachine small(spec);
  small.run({[&](Cpu& cpu) {
               cpu.load(kLine);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 1); }), 76);
               EXPECT_EQ(small.in_memory(kLine), 0U) << "memory does not listen to words";
               expect_hit(cpu, 2100, 1);
             },
             [](Cpu& cpu) {
               cpu.load(kLine);
               expect_hit(cpu, 2057, 0);
               expect_hit(cpu, 2060, 1);
             }});
  EXPECT_EQ(small.transitions("ScM_A", "Own_BusUpd [shared]"), 1);
  EXPECT_EQ(small.transitions("Sc", "Other_BusUpd"), 1);
  ASSERT_EQ(small.misses().size(), 3U);
  EXPECT_EQ(small.misses().back().source, Source::upgrade);
  EXPECT_EQ(small.machine.timebase().to_ns(small.machine.bus_statistics().data_busy), 40 + 40 + 10);
}

// CPU 2's miss at 1930 is stamped 1940, granted 1950, address phase 1960; memory's data is on the bus from 2060 to 2100. CPU
// 0's word, ordered at 2060, waits for the data bus and a clock of turnaround: 2110 to 2120; 5 + 1. The other copies have the
// word at 2060 all the same, because the order step changes them, not the transfer.
TEST(Update, WaitsForTheDataBusBeforeTheStoreIsOver) {
  SmallMachine small(dragon_machine(3));
  small.run({[](Cpu& cpu) {
               cpu.load(kLine);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 1); }), 126);
             },
             [](Cpu& cpu) {
               cpu.load(kLine);
               expect_hit(cpu, 2060, 1);
             },
             [](Cpu& cpu) { cycles_from(cpu, 1930, [&] { cpu.load(kLine + 32); }); }});
}

// On a bus of 4 bytes the word takes two clocks: 2060 to 2080; 5 + 1.
TEST(Update, TakesTwoClocksOnABusOfHalfAWord) {
  MachineSpec spec = dragon_machine(2);
  spec.bus.width_bytes = 4;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               cpu.load(kLine);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 1); }), 86);
             },
             [](Cpu& cpu) { cpu.load(kLine); }});
}

// Both requests are stamped at 2002.
// CPU 0's is ordered at 2060, when its operation reads and writes. It holds the line from 2075 to 2095, the 20 cycles of an
// atomic operation.
// CPU 1's address phase is at 2040. Its snoop is sampled at 2080, when the line is busy, and at 2100, so it reads what CPU 0
// wrote. Word and response take from 2100 to 2110; the operation holds the line from 2115 to 2135.
TEST(Update, AtomicOperationsReadAndWriteInTheirOrderStep) {
  SmallMachine small(dragon_machine(3));
  small.run({[](Cpu& cpu) {
               cpu.load(kLine);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.fetch_add(kLine, 1), 0U); }), 95);
             },
             [](Cpu& cpu) {
               cpu.load(kLine);
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.fetch_add(kLine, 1), 1U); }), 135);
             },
             [](Cpu& cpu) {
               cpu.load(kLine);
               expect_hit(cpu, 2057, 0);
               expect_hit(cpu, 2060, 1);
               expect_hit(cpu, 2092, 1);
               expect_hit(cpu, 2095, 2);
             }});
  EXPECT_EQ(small.transitions("ScM_A", "Other_BusUpd"), 1);
  EXPECT_EQ(small.transitions("Sm", "Other_BusUpd"), 1) << "who wrote last is the owner";
}

// A store of one byte changes no other byte of the line.
TEST(Update, ChangesNoByteButThoseThatWereWritten) {
  SmallMachine small(dragon_machine(2));
  small.run({[](Cpu& cpu) {
               cpu.store(kLine, 0x1111111111111111);
               cpu.store(kLine + 8, 0x2222222222222222);
               wait_until(cpu, 2000);
               cpu.store(kLine + 9, 0xAB, 1);
             },
             [](Cpu& cpu) {
               wait_until(cpu, 1000);
               cpu.load(kLine);
               wait_until(cpu, 3000);
               EXPECT_EQ(cpu.load(kLine), 0x1111111111111111U);
               EXPECT_EQ(cpu.load(kLine + 8), 0x222222222222AB22U);
             }});
  EXPECT_EQ(small.misses().size(), 3U) << "two first misses and the update";
}

// Snoop result 2070, the owner's data 3 clocks later: 116 in all. Memory gets no data, so the second reader is served by the
// owner, too.
TEST(Update, OwnerAnswersAReaderAndKeepsOnAnswering) {
  SmallMachine small(dragon_machine(3));
  small.run({[](Cpu& cpu) { cpu.store(kLine, 77); },
             [&](Cpu& cpu) {
               EXPECT_EQ(cycles_from(cpu, 2000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 116);
               EXPECT_EQ(small.in_memory(kLine), 0U);
             },
             [&](Cpu& cpu) {
               EXPECT_EQ(cycles_from(cpu, 3000, [&] { EXPECT_EQ(cpu.load(kLine), 77U); }), 116);
               EXPECT_EQ(small.in_memory(kLine), 0U);
             }});
  EXPECT_EQ(small.misses().back().source, Source::local_c2c);
}

// Two transactions, which count as one miss, with the line's supplier as its source.
// The line: granted 2020, address phase 2030, memory's data 2130, at the pins 2140, arrives 2145.
// The word: stamped 2145, granted 2150, address phase 2160, ordered 2200, response 2210, done 2216.
TEST(Update, AWriteMissFetchesTheLineAndThenSendsItsWord) {
  const ExpectReached mark{"fill_without_the_right"};
  SmallMachine small(dragon_machine(2));
  small.run({[](Cpu& cpu) { EXPECT_EQ(cycles_from(cpu, 2000, [&] { cpu.store(kLine, 1); }), 216); },
             [](Cpu& cpu) {
               cpu.load(kLine);
               expect_hit(cpu, 2197, 0);
               expect_hit(cpu, 2200, 1);
             }});
  ASSERT_EQ(small.misses().size(), 2U);
  EXPECT_EQ(small.misses().back().source, Source::local_memory);
  EXPECT_EQ(small.machine.timebase().to_ns(small.misses().back().latency), 215);
  EXPECT_EQ(small.transactions(), 3);
}

// CPU 0's line arrives at 2145, and its word would be ordered at 2200. CPU 1's atomic operation is ordered in between, at
// 2180. CPU 0's operation is ordered after the end of CPU 1's, and adds to its result.
TEST(Update, AWriteMissLosesNothingThatIsWrittenBetweenItsTwoTransactions) {
  SmallMachine small(dragon_machine(2));
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 2000);
               EXPECT_EQ(cpu.fetch_add(kLine, 1), 10U);
             },
             [](Cpu& cpu) {
               cpu.load(kLine);
               wait_until(cpu, 2100);
               EXPECT_EQ(cpu.fetch_add(kLine, 10), 0U);
               wait_until(cpu, 3000);
               EXPECT_EQ(cpu.load(kLine), 11U);
             }});
  EXPECT_EQ(small.transitions("ScM_A", "Other_BusUpd") + small.transitions("Sm", "Other_BusUpd"), 2);
}

// CPU 1 loads four other lines of the set, which evict its copy. No cache needs CPU 0's word, so the bus carries none, and
// CPU 0's copy is exclusive again.
TEST(Update, WithoutAnotherCopyNoWordIsSentAndLaterStoresAreFree) {
  SmallMachine small(dragon_machine(2));
  small.run({[](Cpu& cpu) {
               cpu.load(kLine);
               EXPECT_EQ(cycles_from(cpu, 4000, [&] { cpu.store(kLine, 1); }), 76);
               EXPECT_EQ(cycles_from(cpu, 5000, [&] { cpu.store(kLine, 2); }), 1);
             },
             [](Cpu& cpu) {
               cpu.load(kLine);
               for (Address i = 1; i <= 4; ++i) cpu.load(kLine + i * kSetStride);
             }});
  EXPECT_EQ(small.transitions("ScM_A", "Own_BusUpd [alone]"), 1);
  EXPECT_EQ(small.machine.timebase().to_ns(small.machine.bus_statistics().data_busy), 6 * 40) << "six lines and no word";
}

// Here a CPU never owns the right to write, so a prefetch to write can only fetch the line.
TEST(Update, APrefetchToWriteFetchesTheLineAndSendsNothing) {
  SmallMachine small(dragon_machine(2));
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 2000);
               cpu.prefetch(kLine, kWriteAccess);
               wait_until(cpu, 3000);
               cpu.prefetch(kLine, kWriteAccess);
               expect_hit(cpu, 4000, 0);
             },
             [](Cpu& cpu) { cpu.load(kLine); }});
  EXPECT_EQ(small.transactions(), 2);
}

// A spin must behave the same whether it is parked or simulated load by load.
class SpinOnUpdates : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, SpinOnUpdates, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "parked" : "simulated"; });

// CPU 1 loads at 1001, 1005, ... 2057, 2061. CPU 0's word arrives at 2060.
TEST_P(SpinOnUpdates, SeeTheWordWithTheNextLoadAndDoNotMiss) {
  EngineSpec engine;
  engine.parked_spins = GetParam();
  SmallMachine small(dragon_machine(2), engine);
  small.run({[](Cpu& cpu) {
               cpu.load(kLine);
               wait_until(cpu, 2000);
               cpu.store(kLine, 1);
             },
             [](Cpu& cpu) {
               cpu.load(kLine);
               wait_until(cpu, 1001);
               cpu.spin_until(kLine, [](Value value) { return value == 1; });
               EXPECT_EQ(cpu.now_ns(), 2063);
               EXPECT_EQ(cpu.counters().by_function[0].misses, 1);
             }});
}

// The protocol, with the last action of one row removed.
Protocol without_last_action(const std::string& state, const std::string& event) {
  Protocol protocol = shipped_protocol("dragon_snoop");
  ControllerTable& table = protocol.cache;
  for (std::size_t s = 0; s < table.states.size(); ++s) {
    for (std::size_t e = 0; e < table.events.size(); ++e) {
      if (table.states[s].name == state && table.events[e] == event) --table.rows[s * table.events.size() + e].count;
    }
  }
  return protocol;
}

// CPU 1 does not apply CPU 0's first word, because the row's action is missing. It receives the second word in another state
// (ScM_A), whose row is intact. Applying that word must not make the stale copy look current.
TEST(Update, DoesNotMendAStaleCopy) {
  SmallMachine small(dragon_machine(2), without_last_action("Sc", "Other_BusUpd"));
  // Stamps: CPU 0's second request 2078, CPU 1's 2079.
  const auto stores = [](Cpu& cpu) {
    cpu.load(kLine);
    wait_until(cpu, 2000);
    cpu.store(kLine, 1);
    cpu.store(kLine + 8, 2);
  };
  const auto stores_later = [](Cpu& cpu) {
    cpu.load(kLine);
    wait_until(cpu, 2077);
    cpu.store(kLine + 16, 3);
  };
  try {
    small.run({stores, stores_later});
    FAIL() << "nothing was thrown";
  } catch (const ModelFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("cache 1 takes the word that makes version 2, into version 0"),
              std::string::npos)
        << failure.what();
  }
}

}  // namespace
}  // namespace linebounce::test
