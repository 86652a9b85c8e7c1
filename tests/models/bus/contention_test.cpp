// Tests the cost of contention, one mechanism at a time. small_machine.hpp has the stages of an access.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

constexpr double kNow = 6000;  // by this time, all lines that the tests share are cached

// Returns how many cycles CPU 0's store at 6000 takes if the CPUs in `sharers` have loaded the line before.
double store_to_shared(const MachineSpec& spec, const std::vector<int>& sharers) {
  SmallMachine small(spec);
  if (spec.has_nodes()) small.machine.homes().place(kLine, Home::on(0));
  double cycles = 0;
  std::vector<Core::Program> programs(spec.cpus);
  for (const int cpu : sharers) programs[cpu] = [](Cpu& reader) { reader.load(kLine); };
  programs[0] = [&cycles, reads = std::ranges::find(sharers, 0) != sharers.end()](Cpu& cpu) {
    if (reads) cpu.load(kLine);
    cycles = cycles_from(cpu, kNow, [&] { cpu.store(kLine, 1); });
  };
  small.run(std::move(programs));
  return cycles;
}

// Stamped 6002, because L1 has the line; granted 6010; address phase 6020; snoop result 6060; response 6070. The store ends 5
// + 1 later.
TEST(TakenCopies, CostNothingIfTheSnoopResultSaysThatTheyAreGone) {
  EXPECT_EQ(store_to_shared(small_machine(3), {0, 1, 2}), 76);
}

// The request ends with the sharers' answers, not with the response. They come 7 clocks after the snoop result: 6060 + 70 =
// 6130.
TEST(TakenCopies, AnUpgradeWaitsForTheLastAnswer) {
  MachineSpec spec = small_machine(3);
  spec.bus.invalidation_clocks = 7;
  EXPECT_EQ(store_to_shared(spec, {0, 1, 2}), 60 + 70 + 5 + 1);
}

// An answer also takes the way from the sharer to CPU 0: 20 + 7 ns from CPU 1, 3 + 7 ns from CPU 2.
MachineSpec with_ways() {
  MachineSpec spec = small_machine(3);
  spec.bus.invalidation_clocks = 7;
  spec.bus.way_ns = "7 20 3";
  return spec;
}

TEST(TakenCopies, AnAnswerTravelsAsFarAsALine) {
  EXPECT_EQ(store_to_shared(with_ways(), {0, 1, 2}), 60 + 70 + 27 + 5 + 1);
}

TEST(TakenCopies, TheWriterDoesNotWaitForCachesWithoutACopy) {
  EXPECT_EQ(store_to_shared(with_ways(), {0, 2}), 60 + 70 + 10 + 5 + 1);
}

// By default an answer takes the owner's intervention (3 clocks) and the latch (1 clock).
TEST(TakenCopies, AnAnswerTakesAsLongAsALineFromThatCacheUnlessTheFileSaysElse) {
  MachineSpec spec = small_machine(2);
  spec.bus.invalidation_clocks = -1;
  EXPECT_EQ(store_to_shared(spec, {0, 1}), 60 + 40 + 5 + 1);
}

// CPU 0 has no copy: stamped 6010, granted 6020, snoop result 6070. Memory's data is at the pins at 6140. The answers come 9
// clocks after the snoop result, at 6160, and so end the miss.
TEST(TakenCopies, DataFromMemoryWaitsForTheLastAnswerToo) {
  MachineSpec spec = small_machine(3);
  spec.bus.invalidation_clocks = 9;
  EXPECT_EQ(store_to_shared(spec, {1, 2}), 70 + 90 + 5 + 1);
}

// Home and CPU 0 are on node 0, the other sharer on node 1.
//   6060  snoop result on CPU 0's bus;
//   6070  a pass later, CPU 0's controller asks the home;
//   6100  after a pass and the look-up, the home asks node 1;
//   6150  a link later, the request is at node 1;
//   6160  its controller's recall is stamped there; granted 6170, snoop result 6220, response 6230;
//   6240  a pass later, node 1 answers;
//   6290  a link later, the answer is at CPU 0's controller;
//   6300  a pass later, CPU 0's request is stamped again; granted 6310, snoop result 6360, response 6370; done 6376.
double upgrade_across_nodes(int invalidation_clocks) {
  MachineSpec spec = small_nodes(2, 2);
  spec.bus.invalidation_clocks = invalidation_clocks;
  return store_to_shared(spec, {0, 1});
}

TEST(TakenCopies, OfAnotherNodeAreRecalledOnItsBus) {
  EXPECT_EQ(upgrade_across_nodes(0), 376);
}

TEST(TakenCopies, OfAnotherNodeAnswerOnItsBusFirst) {
  EXPECT_EQ(upgrade_across_nodes(7), 376 + 70 - 10);
}

// Like upgrade_across_nodes(0), with a third node that has no copy and whose link takes 50 ns longer. Memory's answer is
// ready at 6200. A home that broadcasts adds the time in which the farthest node answers a question: 2 * 100 for the links,
// 10 for node 2's controller and 50 for its bus, so the answer leaves at 6460. Without a broadcast CPU 0's controller has the
// last answer at 6290, 170 earlier.
double upgrade_beside_a_far_node(bool broadcasts) {
  MachineSpec spec = small_nodes(3, 3);
  spec.network.pairs.push_back({.name = "0_2", .latency_ns = 50});
  spec.directory.broadcasts = broadcasts;
  return store_to_shared(spec, {0, 1});
}

TEST(TakenCopies, ADirectoryAsksThoseThatHaveOne) {
  EXPECT_EQ(upgrade_beside_a_far_node(false), 376);
}

TEST(TakenCopies, ABroadcastWaitsForTheFarthestNode) {
  EXPECT_EQ(upgrade_beside_a_far_node(true), 376 + 170);
}

// CPU 0 fetches each line. While a line is on its way to CPU 0, all other CPUs request it one cycle apart, so all of them
// wait when it arrives. Returns, for each line, the CPUs in the order in which they got it.
std::vector<std::vector<int>> orders_of_waiting(const MachineSpec& spec, int lines) {
  std::vector<std::vector<std::pair<double, int>>> ended(lines);
  SmallMachine small(spec);
  std::vector<Core::Program> programs;
  for (int cpu = 0; cpu < spec.cpus; ++cpu) {
    programs.emplace_back([&ended, cpu](Cpu& self) {
      for (std::size_t line = 0; line < ended.size(); ++line) {
        wait_until(self, 5000.0 * static_cast<double>(line + 1) + (cpu == 0 ? 0 : 20 + cpu));
        self.store(kLine + 32 * line, 1);
        if (cpu != 0) ended[line].emplace_back(self.now_ns(), cpu);
      }
    });
  }
  small.run(std::move(programs));
  std::vector<std::vector<int>> orders;
  for (auto& line : ended) {
    std::ranges::sort(line);
    for (auto& order = orders.emplace_back(); const auto& [ns, cpu] : line) order.push_back(cpu);
  }
  return orders;
}

std::vector<int> order_of_waiting(const MachineSpec& spec) {
  return orders_of_waiting(spec, 1).front();
}

MachineSpec waiting(int cpus, NextRequest next) {
  MachineSpec spec = small_machine(cpus);
  spec.bus.one_per_line = true;
  spec.bus.next = next;
  return spec;
}

TEST(NextRequest, FirstComeFirstServed) {
  EXPECT_EQ(order_of_waiting(waiting(6, NextRequest::first)), (std::vector{1, 2, 3, 4, 5}));
}

// Five CPUs wait for each of 40 lines. Whatever the order of their requests, each CPU is the first for 40 / 5 = 8 lines on
// average. A deviation of 3 allows for chance.
TEST(NextRequest, ChanceGivesEachTheSameShare) {
  std::vector<int> firsts(6);
  for (const std::vector<int>& order : orders_of_waiting(waiting(6, NextRequest::chance), 40)) {
    EXPECT_EQ(order.size(), 5U);
    ++firsts[order.front()];
  }
  for (int cpu = 1; cpu <= 5; ++cpu) EXPECT_GE(firsts[cpu], 3) << cpu;
}

// CPU 0 has the line at first. CPU 2 is one hop from it, CPU 1 nine hops. Then CPU 2 has the line, and CPU 3 is next to it.
TEST(NextRequest, NearestMeansTheLeastWayOfTheLine) {
  MachineSpec spec = waiting(4, NextRequest::nearest);
  spec.bus.places = "0,0 9,0 1,0 2,0";
  spec.bus.hop_ns = 2;
  EXPECT_EQ(order_of_waiting(spec), (std::vector{2, 3, 1}));
}

TEST(NextRequest, ALongWaitingRequestGoesBeforeTheNearest) {
  MachineSpec spec = waiting(4, NextRequest::nearest);
  spec.bus.places = "0,0 9,0 1,0 2,0";
  spec.bus.hop_ns = 2;
  spec.bus.next_limit_ns = 50;
  EXPECT_EQ(order_of_waiting(spec), (std::vector{1, 2, 3}));
}

// CPU 0's store at 2000 is to a line of its own node, so it is done at 2296 (latencies_test.cpp), and CPU 0 holds the line
// for 1000: until 3296. CPU 1, on the other node, stores at 2500. The recall for it is stamped on CPU 0's bus at 2670, when
// `waiting` CPUs of that bus already wait for the line. Returns when CPU 1's store is done.
double recalled_beside(int waiting, NextRequest next) {
  MachineSpec spec = small_nodes(2, 12);
  spec.cpu.hold_ns = 1000;
  spec.cpu.hold_after = HoldAfter::writes;
  spec.bus.one_per_line = true;
  spec.bus.next = next;
  SmallMachine small(spec);
  small.machine.homes().place(kLine, Home::on(0));
  double over = 0;
  const auto stores_at = [&over](double at) {
    return [&over, at](Cpu& cpu) {
      wait_until(cpu, at);
      cpu.store(kLine, 1);
      if (at == 2500) over = cpu.now_ns();
    };
  };
  std::vector<Core::Program> programs(spec.cpus);
  programs[0] = stores_at(2000);
  programs[1] = stores_at(2500);
  for (int i = 1; i <= waiting; ++i) programs[2 * i] = stores_at(2300);
  small.run(std::move(programs));
  return over;
}

constexpr double kRecalledAlone = 3566;

TEST(NextRequest, AHomesRecallWaitsForTheHold) {
  EXPECT_EQ(recalled_beside(0, NextRequest::chance), kRecalledAlone);
}

// The five requests of the bus are granted before the recall. The controller defers each of them at its snoop result, 50
// after its grant.
TEST(NextRequest, AHomesRecallStandsInLineWhereTheFirstIsServedFirst) {
  EXPECT_EQ(recalled_beside(5, NextRequest::first), kRecalledAlone + 5 * 50);
}

TEST(NextRequest, AHomesRecallGoesBeforeCpusThatWaitOnItsBus) {
  EXPECT_EQ(recalled_beside(5, NextRequest::chance), kRecalledAlone);
}

// CPU 0's access at 2000 fetches the line, and is done at 2146. CPU 1's store at 2030: stamped 2040, granted 2050, snoop due
// 2100. The snoop finds the line busy and is sampled again every 20; at 2160 the line is free. CPU 0's data comes 3 clocks
// later, at 2190, and is at the pins at 2200; the store is done at 2206.
double second_store(HoldAfter after, OperationKind first) {
  MachineSpec spec = small_machine(2);
  spec.cpu.hold_ns = 200;
  spec.cpu.hold_after = after;
  SmallMachine small(spec);
  double over = 0;
  small.run({[first](Cpu& cpu) {
               wait_until(cpu, 2000);
               switch (first) {
                 case OperationKind::store: cpu.store(kLine, 1); break;
                 case OperationKind::compare_exchange: cpu.compare_exchange(kLine, 0, 1); break;
                 default: cpu.load(kLine);
               }
             },
             [&](Cpu& cpu) { over = 2030 + cycles_from(cpu, 2030, [&] { cpu.store(kLine, 1); }); }});
  return over;
}

TEST(Hold, ALineStaysAfterTheWriteThatFetchedIt) {
  EXPECT_EQ(second_store(HoldAfter::writes, OperationKind::store), 2206 + 200);
}

TEST(Hold, AStoreDoesNotHoldTheLineIfOnlyCompareAndExchangeDoes) {
  EXPECT_EQ(second_store(HoldAfter::compare_exchange, OperationKind::store), 2206);
}

// The operation runs from 2145 to 2175 and holds the line for 200 more, until 2375. CPU 1's snoop is sampled at 2380. Then 30
// for the intervention, 10 to the pins, 5 + 1.
TEST(Hold, ACompareAndExchangeHoldsWhereOnlyItDoes) {
  EXPECT_EQ(second_store(HoldAfter::compare_exchange, OperationKind::compare_exchange), 2380 + 46);
}

// The line is clean, so memory supplies it. The data is sent when the first transfer leaves the data bus, at 2170: 10 to the
// pins, 5 + 1.
TEST(Hold, ALoadDoesNotHoldTheLine) {
  EXPECT_EQ(second_store(HoldAfter::writes, OperationKind::load), 2186);
}

}  // namespace
}  // namespace linebounce::test
