// Tests to which part of a thread's time each cycle is charged. small_machine.hpp says when a miss at 2000 is done.
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

constexpr Address kNextLine = kLine + 32;
constexpr Address kThirdLine = kLine + 64;

// The time that a thread spent in function 0, by part, in cycles.
struct Stack {
  Stack(SmallMachine& small, int cpu) : thread(small.machine.cpu(cpu)), cycle(small.machine.core_spec().cycle) {
    const ThreadCounters& counters = thread.counters();
    ticks = time_parts(counters, 0, small.machine.core_spec().hit_latency);
    EXPECT_EQ(std::accumulate(ticks.begin(), ticks.end(), Tick{0}), counters.time_in_function[0] + counters.asleep());
  }
  [[nodiscard]] double operator[](TimePart part) const {
    return static_cast<double>(ticks[ordinal(part)]) / static_cast<double>(cycle);
  }
  // All parts except `issue`.
  [[nodiscard]] double stalls() const {
    const Tick all = std::accumulate(ticks.begin(), ticks.end(), Tick{0});
    return static_cast<double>(all - ticks[ordinal(TimePart::issue)]) / static_cast<double>(cycle);
  }

  const Cpu& thread;
  Tick cycle;
  TimeParts ticks{};
};

MachineSpec buffered_by(Consistency consistency) {
  MachineSpec spec = small_machine(1);
  spec.cpu.consistency = consistency;
  spec.cpu.store_buffer_entries = 2;
  return spec;
}

TEST(CpiStack, AMissIsChargedToItsSourceAndTheLoadsCycleToIssue) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.load(kLine);
  }});
  const Stack stack(small, 0);
  EXPECT_EQ(stack[TimePart::local_memory], 145);
  EXPECT_EQ(stack[TimePart::issue], 2001);
  EXPECT_EQ(stack.stalls(), 145);
}

// Lines kSetStride apart share a set of L1, which has two ways: the third line evicts the first, which stays in L2.
TEST(CpiStack, AHitIsChargedToTheLevelThatServesIt) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    for (const Address set : {0, 1, 2}) cpu.load(kLine + set * kSetStride);
    cpu.load(kLine);
    cpu.load(kLine);
    cpu.load(kLine + 8);
  }});
  const Stack stack(small, 0);
  EXPECT_EQ(stack[TimePart::l2], 10);
  EXPECT_EQ(stack[TimePart::l1], 2 + 2);
}

TEST(CpiStack, ALineOfAnotherCacheIsALocalHitm) {
  SmallMachine small(small_machine(2));
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 2000);
               cpu.load(kLine);
             },
             [](Cpu& cpu) { cpu.store(kLine, 1); }});
  EXPECT_EQ(Stack(small, 0)[TimePart::local_c2c], 115);
}

// Without a store buffer, a thread waits for each of its misses. So the time it waits for data is the sum of its misses'
// latencies, for each source.
TEST(CpiStack, OnTwoNodesTheWaitsAreTheLatenciesOfTheMisses) {
  SmallMachine small(small_nodes(2, 2));
  const auto program = [](Cpu& cpu) {
    for (int i = 0; i < 40; ++i) {
      cpu.store(kLine + 32 * (i % 5), 1);
      cpu.load(kThirdLine + 4096 * (i % 7));
      cpu.compute(10);
    }
  };
  small.run({program, program});
  for (const int cpu : {0, 1}) {
    TimeParts latencies{};
    for (const Miss& miss : small.misses()) {
      if (miss.cpu.value == cpu) latencies[ordinal(part_of(miss.source))] += miss.latency;
    }
    const Stack stack(small, cpu);
    for (int source = 0; source < kSources; ++source) {
      const std::size_t part = ordinal(part_of(static_cast<Source>(source)));
      EXPECT_EQ(stack.ticks[part], latencies[part]) << "CPU " << cpu << ", source " << source;
    }
    EXPECT_GT(stack[TimePart::remote_c2c], 0);
  }
}

TEST(CpiStack, AStoresMissThatTheStoreBufferHidesCostsNothing) {
  SmallMachine small(buffered_by(Consistency::tso));
  small.run({[](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.store(kLine, 7);
    cpu.compute(500);
  }});
  EXPECT_EQ(small.misses().size(), 1U);
  EXPECT_EQ(Stack(small, 0).stalls(), 0);
}

TEST(CpiStack, AHiddenStoreMissCostsNothingUnderIa64Either) {
  SmallMachine small(buffered_by(Consistency::ia64));
  small.run({[](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.store(kLine, 7);
    cpu.store(kNextLine, 7);
    cpu.compute(500);
  }});
  EXPECT_EQ(small.misses().size(), 2U);
  EXPECT_EQ(Stack(small, 0).stalls(), 0);
}

TEST(CpiStack, WithoutAStoreBufferTheStoreWaits) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.store(kLine, 7);
  }});
  EXPECT_EQ(Stack(small, 0)[TimePart::local_memory], 145);
}

// Stores are issued at 2000 and 2001, one cycle each. The third waits from 2002 until the first is done, at 2145.
TEST(CpiStack, AFullStoreBufferCostsTheTimeUntilThereIsRoom) {
  SmallMachine small(buffered_by(Consistency::tso));
  small.run({[](Cpu& cpu) {
    wait_until(cpu, 2000);
    for (const Address line : {kLine, kNextLine, kThirdLine}) cpu.store(line, 1);
  }});
  const Stack stack(small, 0);
  EXPECT_EQ(stack[TimePart::store_buffer], 145 - 2);
  EXPECT_EQ(stack.stalls(), 145 - 2);
}

// The store is issued at 2000 and takes one cycle. The fence waits from 2001 until the store is done, at 2145, and takes 8.
TEST(CpiStack, AFenceCostsTheTimeUntilTheStoresHaveDrained) {
  SmallMachine small(buffered_by(Consistency::tso));
  small.run({[](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.store(kLine, 1);
    cpu.fence();
  }});
  const Stack stack(small, 0);
  EXPECT_EQ(stack[TimePart::fence], 144 + 8);
  EXPECT_EQ(stack.stalls(), 144 + 8);
}

TEST(CpiStack, AnAtomicsWaitForEarlierStoresIsAFence) {
  SmallMachine small(buffered_by(Consistency::tso));
  small.run({[](Cpu& cpu) {
    cpu.store(kNextLine, 1);
    wait_until(cpu, 2000);
    cpu.store(kLine, 1);
    cpu.fetch_add(kNextLine, 1);
  }});
  const Stack stack(small, 0);
  EXPECT_EQ(stack[TimePart::fence], 144);
  EXPECT_EQ(stack[TimePart::atomic], 20);
  EXPECT_EQ(stack.stalls(), 164);
}

TEST(CpiStack, AnAtomicThatMissesWaitsForTheLineAndThenOperates) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    wait_until(cpu, 2000);
    cpu.compare_exchange(kLine, 0, 1);
  }});
  const Stack stack(small, 0);
  EXPECT_EQ(stack[TimePart::local_memory], 145);
  EXPECT_EQ(stack[TimePart::atomic], 30);
}

// The two loads are issued at 2000 and 2001, and both are done at 2186 (load_all_test.cpp). One cycle of these 186 is issue.
TEST(CpiStack, OverlappedMissesAreChargedOnce) {
  SmallMachine small(small_machine(1));
  small.run({[](Cpu& cpu) {
    wait_until(cpu, 2000);
    std::array<Value, 2> values{};
    cpu.load_all(std::array<Cpu::Word, 2>{{{kLine}, {kLine + 0x100}}}, values);
  }});
  const Stack stack(small, 0);
  EXPECT_EQ(stack[TimePart::local_memory], 185);
  EXPECT_EQ(stack[TimePart::issue], 2001);
}

// CPU 0's operation holds the line from 2000 to 2020, so CPU 1 waits for 15 from 2005 on.
TEST(CpiStack, ASiblingsAtomicCostsTheOtherThreadTheWait) {
  MachineSpec spec = small_machine(2);
  spec.cpu.threads_per_core = 2;
  SmallMachine small(spec);
  small.run({[](Cpu& cpu) {
               cpu.store(kLine, 5);
               wait_until(cpu, 2000);
               cpu.fetch_add(kLine, 1);
             },
             [](Cpu& cpu) {
               wait_until(cpu, 2005);
               cpu.load(kLine);
             }});
  const Stack stack(small, 1);
  EXPECT_EQ(stack[TimePart::atomic], 15);
  EXPECT_EQ(stack[TimePart::l1], 2);
}

class CpiStackOfSpin : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, CpiStackOfSpin, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "parked" : "simulated"; });

// As in spin_and_interrupt_test.cpp: the first load, at 1000, hits in 2 cycles. From then on the time is the spin's, until
// the load that sees the change is done, at 2206.
TEST_P(CpiStackOfSpin, ASpinIsOnePartWhetherItIsParkedOrSimulated) {
  EngineSpec engine;
  engine.parked_spins = GetParam();
  SmallMachine small(small_machine(2), engine);
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 2000);
               cpu.store(kLine, 1);
             },
             [](Cpu& cpu) {
               cpu.load(kLine);
               wait_until(cpu, 1000);
               cpu.spin_until(kLine, [](Value value) { return value == 1; });
             }});
  const Stack stack(small, 1);
  EXPECT_EQ(stack[TimePart::spin], 2206 - 1002);
  EXPECT_EQ(stack[TimePart::l1], 2);
  EXPECT_EQ(stack[TimePart::local_c2c], 0);
}

// CPU 1 spins from 1002 on. Its timer's interrupt at 1500 takes 50 to its handler and 100 in it.
TEST_P(CpiStackOfSpin, AHandlersTimeIsNotChargedToTheSpin) {
  EngineSpec engine;
  engine.parked_spins = GetParam();
  double seen = 0;
  SmallMachine small(small_machine(2), engine);
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 2000);
               cpu.store(kLine, 1);
             },
             [&seen](Cpu& cpu) {
               cpu.load(kLine);
               cpu.set_interrupt_handler([](Cpu& handling, int) { handling.compute(100); });
               cpu.set_timer(1500 - cpu.now_ns(), 1);
               wait_until(cpu, 1000);
               cpu.spin_until(kLine, [](Value value) { return value == 1; });
               seen = cpu.now_ns();
             }});
  const Stack stack(small, 1);
  EXPECT_EQ(stack[TimePart::spin], seen - 1002 - 150);
}

// The measured time is the 1000 ns from 1000 on. In it, CPU 1 only spins, and CPU 0 only hits.
TEST_P(CpiStackOfSpin, OnlyTheMeasuredTimeCounts) {
  EngineSpec engine;
  engine.parked_spins = GetParam();
  SmallMachine small(small_machine(2), engine, 1, 1);
  small.run({[](Cpu& cpu) {
               for (;;) cpu.load(kNextLine);
             },
             [](Cpu& cpu) { cpu.spin_until(kLine, [](Value value) { return value == 1; }); }});
  EXPECT_EQ(Stack(small, 0)[TimePart::l1], 1000);
  EXPECT_EQ(Stack(small, 1)[TimePart::spin], 1000);
}

// The function issued nothing but hits. The measured time ends in the middle of the last one, so the cycles outside are taken
// from the level that serves it, the nearest one included.
TEST(CpiStack, AHitCountsOnlyUntilTheMeasuredTimeEnds) {
  constexpr std::array<Tick, 2> kLatency = {3, 10};
  ThreadCounters counters;
  counters.by_function.resize(2);
  counters.waits.resize(2);
  counters.by_function[0].hits_of(0, AccessKind::load) = 4;
  counters.by_function[1].hits_of(1, AccessKind::load) = 2;
  counters.time_in_function = {4 * 3 - 1, 2 * 10 - 7};
  TimeParts nearest{}, farther{};
  nearest[ordinal(TimePart::l1)] = 11;
  farther[ordinal(TimePart::l2)] = 13;
  EXPECT_EQ(time_parts(counters, 0, kLatency), nearest);
  EXPECT_EQ(time_parts(counters, 1, kLatency), farther);
}

TEST(CpiStack, SleepIsAPartOfItsOwn) {
  SmallMachine small(small_machine(2));
  small.run({[](Cpu& cpu) {
               wait_until(cpu, 3000);
               cpu.wake(CpuId(1));
             },
             [](Cpu& cpu) {
               wait_until(cpu, 1500);
               cpu.sleep();
             }});
  EXPECT_EQ(Stack(small, 1)[TimePart::sleep], 1600);
}

}  // namespace
}  // namespace linebounce::test
