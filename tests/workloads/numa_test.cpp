// The workloads for machines with several nodes, here on a machine with one.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/models/support/small_machine.hpp"
#include "tests/workloads/run_workload.hpp"
#include "workloads/program/zipf.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

TEST(Zipf, WithExponentOneGivesTheSecondRankHalfOfTheFirst) {
  const Zipf zipf(100, 1000);
  EXPECT_NEAR(static_cast<double>(zipf.share(0)) / static_cast<double>(zipf.share(1)), 2, 1e-4);
  EXPECT_NEAR(static_cast<double>(zipf.share(0)) / static_cast<double>(zipf.share(99)), 100, 0.1);
}
// 2^0.9 = 1.8660660, 500^0.9 = 268.5873
TEST(Zipf, TakesExponentsThatAreNotIntegers) {
  const Zipf zipf(500, 900);
  EXPECT_NEAR(static_cast<double>(zipf.share(0)) / static_cast<double>(zipf.share(1)), 1.866066, 1e-4);
  EXPECT_NEAR(static_cast<double>(zipf.share(0)) / static_cast<double>(zipf.share(499)), 268.59, 0.1);
}
TEST(Zipf, WithExponentZeroGivesAllRanksTheSameShare) {
  const Zipf zipf(7, 0);
  EXPECT_EQ(zipf.share(0), zipf.share(6));
}
TEST(Zipf, DrawsAsItsSharesSay) {
  const Zipf zipf(50, 900);
  Random random(1, 2, 3);
  std::vector<int> drawn(50);
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) ++drawn.at(static_cast<std::size_t>(zipf.draw(random)));
  for (int rank = 0; rank < 50; ++rank) {
    const double expected = kDraws * (static_cast<double>(zipf.share(rank)) / 4294967296.0);
    EXPECT_NEAR(drawn[static_cast<std::size_t>(rank)], expected, 5 * std::sqrt(expected)) << rank;
  }
}

// The receiver's access begins at any phase of the bus clock (10 ns), so the next edge is 5 ns after the failed look-up on
// average. The rest is in small_machine.hpp: 10 for the look-up, these 5, 80 to another cache's data or 110 to memory's, 10
// to the pins, 5, and a load's 1 or 2 cycles.
TEST(CoreToCore, CostsWhatTheMachineTakesForOneTransfer) {
  const MachineSpec spec = small_machine(3);
  SmallMachine small(spec);
  const Metrics metrics = run_workload("core_to_core", {{"repetitions", std::int64_t{50}}}, small, spec);
  EXPECT_NEAR(metrics.values.at("core_to_core.modified.same_node_ns"), 112, 3);
  EXPECT_NEAR(metrics.values.at("core_to_core.exclusive.same_node_ns"), 142, 3);
  EXPECT_NEAR(metrics.values.at("core_to_core.shared.same_node_ns"), 142, 3);
}

TEST(CoreToCore, HasARowForEveryOrderedPairAndState) {
  const MachineSpec spec = small_machine(3);
  SmallMachine small(spec);
  const Metrics metrics = run_workload("core_to_core", {{"repetitions", std::int64_t{1}}}, small, spec);
  EXPECT_EQ(metrics.hand_offs.size(), 3 * 2 * 3);
  for (const HandOff& row : metrics.hand_offs) EXPECT_NE(row.from_cpu, row.to_cpu);
}

TEST(CoreToCore, TwoCpusLeaveOutTheSharedLine) {
  const MachineSpec spec = small_machine(2);
  SmallMachine small(spec);
  const Metrics metrics = run_workload("core_to_core", {{"repetitions", std::int64_t{1}}}, small, spec);
  EXPECT_EQ(metrics.hand_offs.size(), 2 * 2);
}

TEST(CoreToCore, OneCpuIsRefused) {
  const MachineSpec spec = small_machine(1);
  SmallMachine small(spec);
  EXPECT_THROW(run_workload("core_to_core", {}, small, spec), std::invalid_argument);
}

TEST(CoreToCore, AHomeNodeThatDoesNotExistIsRefused) {
  const MachineSpec spec = small_machine(2);
  SmallMachine small(spec);
  EXPECT_THROW(run_workload("core_to_core", {{"homes", std::string("3")}}, small, spec), std::invalid_argument);
}

// A single CPU keeps the line, so each addition takes 20 cycles. With more CPUs each addition needs a transfer of the line.
TEST(AtomicScaling, OneCpuPaysOnlyForTheOperation) {
  const MachineSpec spec = small_machine(1);
  SmallMachine small(spec, {}, 5, 100);
  const Metrics metrics = run_workload("atomic_scaling", {}, small, spec);
  EXPECT_NEAR(metrics.values.at("cost.fetch_and_add"), 20, 0.1);
}
TEST(AtomicScaling, MoreCpusAddLessAndEachGetsItsShare) {
  const MachineSpec spec = small_machine(4);
  SmallMachine small(spec, {}, 5, 200);
  const Metrics metrics = run_workload("atomic_scaling", {}, small, spec);
  EXPECT_GT(metrics.values.at("cost.fetch_and_add"), 4 * 50);
  EXPECT_LT(metrics.values.at("throughput.operations_per_s"), 1e9 / 50);
  EXPECT_GT(metrics.values.at("fairness.least_share_pct"), 90);
}

// On one CPU: 20 cycles for an exchange, 30 for a compare-exchange, 2 more for the load of an increment.
double alone(const std::string& operation) {
  const MachineSpec spec = small_machine(1);
  SmallMachine small(spec, {}, 5, 100);
  return run_workload("atomic_scaling", {{"operation", operation}}, small, spec).values.at("cost." + operation);
}
TEST(AtomicScaling, AnExchangeAloneCostsItself) {
  EXPECT_NEAR(alone("exchange"), 20, 0.1);
}
TEST(AtomicScaling, ACompareExchangeAloneCostsItself) {
  EXPECT_NEAR(alone("compare_exchange"), 30, 0.1);
}
TEST(AtomicScaling, AnIncrementByCompareExchangeLoadsBefore) {
  EXPECT_NEAR(alone("increment"), 32, 0.1);
}

// Few lines, so that the small machine's caches hold them.
const std::map<std::string, ParameterValue> kFewLines = {{"hot_lines", std::int64_t{8}},
                                                         {"shared_lines", std::int64_t{16}},
                                                         {"user_lines", std::int64_t{4}},
                                                         {"node_lines", std::int64_t{4}}};

TEST(NumaMix, VisitsAreSharedOutAsItsParametersSay) {
  const MachineSpec spec = small_machine(4);
  SmallMachine small(spec, {}, 200, 5000);
  const Metrics metrics = run_workload("numa_mix", kFewLines, small, spec);
  const auto visits = [&](const std::string& kind) { return metrics.values.at("mix.visits." + kind); };
  const double kernel = visits("kernel_hot") + visits("kernel_shared") + visits("kernel_node") + visits("kernel_memory");
  const double user = visits("user_shared") + visits("user_memory");
  EXPECT_NEAR(visits("kernel_memory") / kernel, 0.22, 0.02);
  EXPECT_NEAR(visits("kernel_node") / kernel, 0.02, 0.01);
  EXPECT_NEAR(visits("kernel_hot") / (visits("kernel_hot") + visits("kernel_shared")), 0.43, 0.02);
  EXPECT_NEAR(visits("user_shared") / user, 0.12, 0.02);
  // 5.9 user instructions for each kernel instruction; one visit every 500 user and every 153 kernel instructions.
  EXPECT_NEAR(user / kernel, 5.9 * 153 / 500, 0.06);
}

// The mix determines the rest: a line of memory is in no cache, a written line is in that of its last visitor.
TEST(NumaMix, MemoryMissesAndWrittenLinesComeFromOtherCaches) {
  const MachineSpec spec = small_machine(4);
  SmallMachine small(spec, {}, 0, 3000);
  auto parameters = kFewLines;
  parameters["lock_pct"] = 0.0;  // no locks, because a lock's waiter would read a line before the visit
  const Metrics metrics = run_workload("numa_mix", parameters, small, spec);
  double memory = 0;
  double caches = 0;
  for (const Miss& miss : small.misses()) {
    memory += miss.source == Source::local_memory && miss.access == AccessKind::load ? 1 : 0;
    caches += miss.source == Source::local_c2c ? 1 : 0;
    EXPECT_NE(miss.source, Source::upgrade) << "a visit is one transaction";
  }
  const auto visits = [&](const std::string& kind) { return metrics.values.at("mix.visits." + kind); };
  EXPECT_NEAR(memory / (visits("kernel_memory") + visits("user_memory")), 1, 0.03);
  // In three of four visits another CPU was there last; some lines come from memory, because so small a cache evicts them.
  const double written = visits("kernel_hot") + visits("kernel_shared") + visits("kernel_node") + visits("user_shared");
  EXPECT_NEAR(caches / written, 0.72, 0.06);
}

TEST(NumaMix, SharesOfMoreThanAllAreRefused) {
  const MachineSpec spec = small_machine(2);
  SmallMachine small(spec);
  EXPECT_THROW(run_workload("numa_mix", {{"shared_pct", 99.0}}, small, spec), std::invalid_argument);
}

}  // namespace
}  // namespace linebounce::test
