// Tests the cost of contention, one mechanism at a time. small_machine.hpp has the times of one access.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

constexpr double kNow = 6000;  // by this time, all lines that the tests share are cached

// Returns how many cycles a store of CPU 0 at 6000 takes, to a line that the CPUs in `sharers` have loaded before.
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

// 6002 the request is stamped (L1 has the line); 6010 granted; 6020 address phase; 6060 snoop result; 6070 response; the
// store ends 5 + 1 later.
TEST(TakenCopies, CostNothingIfTheSnoopResultSaysThatTheyAreGone) {
  EXPECT_EQ(store_to_shared(small_machine(3), {0, 1, 2}), 76);
}

// Instead of the response, the others' answers end the request: they come 7 clocks after the snoop result, at 6130.
TEST(TakenCopies, AnUpgradeWaitsForTheLastAnswer) {
  MachineSpec spec = small_machine(3);
  spec.bus.invalidation_clocks = 7;
  EXPECT_EQ(store_to_shared(spec, {0, 1, 2}), 60 + 70 + 5 + 1);
}

// CPU 1's answer travels 7 + 20, CPU 2's 7 + 3.
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

// the owner's intervention and the latch: 4 clocks
TEST(TakenCopies, AnAnswerTakesAsLongAsALineFromThatCacheUnlessTheFileSaysElse) {
  MachineSpec spec = small_machine(2);
  spec.bus.invalidation_clocks = -1;
  EXPECT_EQ(store_to_shared(spec, {0, 1}), 60 + 40 + 5 + 1);
}

// The request is posted at 6010 and granted at 6020; its snoop result is at 6070. Memory's data reaches the pins at 6140, the
// last answer at 6160.
TEST(TakenCopies, DataFromMemoryWaitsForTheLastAnswerToo) {
  MachineSpec spec = small_machine(3);
  spec.bus.invalidation_clocks = 9;
  EXPECT_EQ(store_to_shared(spec, {1, 2}), 70 + 90 + 5 + 1);
}

// At 6060 CPU 0's bus has the snoop result. At 6070 CPU 0's controller asks the home, which is on its node; the home asks the
// other node at 6100. That gets the request at 6150. Its recall is posted at 6160, ordered at 6220 and answered at 6230. Its
// controller answers at 6240, which reaches CPU 0's controller at 6290. That posts the request again at 6300; the response is
// at 6370.
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

// Like upgrade_across_nodes(0), with a node 2 that has no copy and is 50 ns farther. The home asks at 6100 and gets its
// answer, with the line, at 6200. It holds the line for as long as node 2's answer takes: 2 * 100 for the links, 10 for its
// controller and 50 for its bus. So it reaches CPU 0's controller at 6460 instead of 6290.
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

// CPU 0 fetches each line. While a line is on its way, all other CPUs request it, one cycle apart, so that all wait when it
// arrives. Returns the order in which they got each line.
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

// Five CPUs wait for each of 40 lines: each is first for 8 of them on average, whoever asked first.
TEST(NextRequest, ChanceGivesEachTheSameShare) {
  std::vector<int> firsts(6);
  for (const std::vector<int>& order : orders_of_waiting(waiting(6, NextRequest::chance), 40)) {
    EXPECT_EQ(order.size(), 5U);
    ++firsts[order.front()];
  }
  for (int cpu = 1; cpu <= 5; ++cpu) EXPECT_GE(firsts[cpu], 3) << cpu;
}

// CPU 2 is one hop from CPU 0, which has the line; CPU 1 is nine hops away. From CPU 2 the line goes to its neighbour, CPU 3.
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

// Two nodes. CPU 0 has stored to a line of its node and holds it until 3146. CPU 1, on the other node, requests it at 2500, so
// its recall is on CPU 0's bus at 2640, after `waiting` CPUs of that bus have requested the line. Returns when CPU 1's store is
// done.
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

// The five requests come while the recall is under way. The controller defers each at its snoop result, 50 after its grant.
TEST(NextRequest, AHomesRecallStandsInLineWhereTheFirstIsServedFirst) {
  EXPECT_EQ(recalled_beside(5, NextRequest::first), kRecalledAlone + 5 * 50);
}

TEST(NextRequest, AHomesRecallGoesBeforeCpusThatWaitOnItsBus) {
  EXPECT_EQ(recalled_beside(5, NextRequest::chance), kRecalledAlone);
}

// CPU 0's store or load fetches the line, and is done at 2146. CPU 1's snoop, due at 2100, finds it busy and is sampled every
// 20: at 2160. Its line is ready at 2190 and at the pins at 2200; its store is done at 2206.
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

// The operation begins at 2145, takes 30, and then CPU 0 holds the line until 2375. CPU 1's snoop is sampled at 2380; the
// rest is as after a store.
TEST(Hold, ACompareAndExchangeHoldsWhereOnlyItDoes) {
  EXPECT_EQ(second_store(HoldAfter::compare_exchange, OperationKind::compare_exchange), 2380 + 46);
}

// Memory supplies the clean line as soon as the first has left the data bus: 2170.
TEST(Hold, ALoadDoesNotHoldTheLine) {
  EXPECT_EQ(second_store(HoldAfter::writes, OperationKind::load), 2186);
}

}  // namespace
}  // namespace linebounce::test
