// Every registered workload runs with its defaults, and the random tester finds the errors that it is meant to find.
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "models/failure.hpp"
#include "tests/models/support/small_machine.hpp"
#include "tests/workloads/run_workload.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

TEST(RandomReferences, EveryCpuDoesItsOperationsAndTheSumsAreRight) {
  const MachineSpec spec = small_machine(3);
  SmallMachine small(spec);
  const Metrics metrics = run_workload("random_references", {{"operations", std::int64_t{500}}}, small, spec);
  EXPECT_EQ(metrics.values.at("random.operations"), 3 * 500);
}

TEST(RandomReferences, WithoutAnEndItRunsToTheEndOfTheMeasurement) {
  const MachineSpec spec = small_machine(3);
  SmallMachine small(spec, {}, 1, 20);
  const Metrics metrics = run_workload("random_references", {}, small, spec);
  EXPECT_GT(metrics.values.at("random.operations"), 100);
  EXPECT_EQ(small.machine.timebase().to_ns(small.machine.measured()), 20000);
}

TEST(RandomReferences, SharesOfNothingAreRefused) {
  const MachineSpec spec = small_machine(1);
  SmallMachine small(spec);
  std::map<std::string, ParameterValue> none;
  for (const ParameterDeclaration& parameter : find_workload("random_references").parameters) {
    if (parameter.name.ends_with("_share")) none[parameter.name] = std::int64_t{0};
  }
  EXPECT_THROW(run_workload("random_references", none, small, spec), std::invalid_argument);
}

// Only loads and atomic operations, so only increments can be lost. The upgrade of a copy that was lost to another writer
// continues as if the copy were still there: two CPUs add 1 to the same value.
TEST(RandomReferences, FindsAProtocolThatLosesWrites) {
  const MachineSpec spec = small_machine(4);
  std::string text = shipped_text("mesi_snoop");
  const std::string row = "| SM_AD                                       | Other_GetM                         | -      ";
  ASSERT_NE(text.find(row), std::string::npos);
  const std::size_t then = text.find("| IM_AD |", text.find(row));
  text.replace(then, 9, "| =     |");
  SmallMachine small(spec, parse_protocol({{"broken.md", text}}));
  EXPECT_THROW(run_workload("random_references", {{"operations", std::int64_t{2000}}}, small, spec), ModelFailure);
}

// Two words one line apart never interfere; two in one line do.
double increments_per_s(std::int64_t stride) {
  const MachineSpec spec = small_machine(2);
  SmallMachine small(spec, {}, 1, 50);
  return run_workload("false_sharing", {{"stride_bytes", stride}, {"outside_cycles", std::int64_t{100}}}, small, spec)
      .values.at("throughput.operations_per_s");
}
// A load, a store and 100 cycles: 103 ns for each of two CPUs.
TEST(FalseSharing, WordsOnLinesOfTheirOwnCostNothing) {
  EXPECT_NEAR(increments_per_s(32), 2e9 / 103, 2e9 / 103 / 100);
}
// Between its rounds each CPU loses the line, so each round is longer by at least an upgrade (74 ns).
TEST(FalseSharing, WordsOfOneLineAreSlower) {
  EXPECT_LT(increments_per_s(8), 2e9 / (103 + 70));
}

// 100 cycles inside plus the data, so at most one entry in 100 ns; the lock itself costs at least one transfer of its line.
TEST(CriticalSection, EntersNoFasterThanItsInsideAllows) {
  const MachineSpec spec = small_machine(4);
  SmallMachine small(spec, {}, 5, 100);
  const Metrics metrics = run_workload("critical_section", {{"outside_cycles", std::int64_t{0}}}, small, spec);
  EXPECT_LT(metrics.values.at("throughput.operations_per_s"), 1e9 / 100);
  EXPECT_GT(metrics.values.at("throughput.operations_per_s"), 1e9 / 1000);
  EXPECT_GT(metrics.values.at("fairness.least_share_pct"), 90) << "a ticket lock is fair";
}

// CPU 0's round takes 100 us, CPU 1's a little more than 1 us: CPU 0 enters a hundredth as often.
TEST(CriticalSection, ACpuMayStayOutsideLongerThanTheOther) {
  const MachineSpec spec = small_machine(2);
  SmallMachine small(spec, {}, 5, 2000);
  const Metrics metrics = run_workload(
      "critical_section",
      {{"inside_cycles", std::int64_t{10}}, {"outside", std::string("constant")}, {"outside_by_cpu", std::string("0:100000")}},
      small, spec);
  EXPECT_NEAR(metrics.values.at("fairness.least_share_pct"), 1, 0.1);
}

TEST(CriticalSection, AHistogramLeavesNoMeanToSet) {
  const MachineSpec spec = small_machine(2);
  SmallMachine small(spec);
  EXPECT_THROW(run_workload("critical_section", {{"outside", std::string("100:1")}, {"outside_by_cpu", std::string("0:5")}},
                            small, spec),
               std::invalid_argument);
}

TEST(OperationCosts, OnRoundNumbersAreWhatTheMachineSays) {
  const MachineSpec spec = small_machine(2);
  SmallMachine small(spec);
  const Metrics metrics = run_workload("operation_costs", {{"repetitions", std::int64_t{1000}}}, small, spec);
  EXPECT_EQ(metrics.values.at("cost.clock_cycle"), 1);
  EXPECT_EQ(metrics.values.at("cost.instruction"), 1);
  EXPECT_EQ(metrics.values.at("cost.l2_hit"), 10);
}

TEST(ContendedLine, OneCpuAddsAsFastAsItsAtomicOperationGoes) {
  const MachineSpec spec = small_machine(2);
  SmallMachine small(spec);
  const Metrics metrics = run_workload("contended_line", {{"measurements", std::string("fetch_add: 0")}}, small, spec);
  EXPECT_NEAR(metrics.values.at("contended_line.0.ns"), 20, 0.1);
}

TEST(ContendedLine, BesideASiblingThatComputesAThreadKeepsItsShare) {
  MachineSpec spec = small_machine(2);
  spec.cpu.threads_per_core = 2;
  spec.cpu.shared_issue_pct = 50;
  spec.cpu.pausing_sibling_pct = 80;
  SmallMachine small(spec);
  const std::string all = "alone: 0; beside_computing: 0 1; beside_pausing: 0 1";
  const Metrics metrics = run_workload("contended_line", {{"measurements", all}}, small, spec);
  EXPECT_NEAR(metrics.values.at("contended_line.0.ns"), 1000, 1) << "its sibling sleeps";
  EXPECT_NEAR(metrics.values.at("contended_line.1.ns"), 2000, 1);
  EXPECT_NEAR(metrics.values.at("contended_line.2.ns"), 1250, 1);
}

TEST(ContendedLine, AnUnknownMeasurementIsRefused) {
  const MachineSpec spec = small_machine(2);
  SmallMachine small(spec);
  for (const std::string text :
       {"fetch: 0", "fetch_add 0 1", "fetch_add: 2", "fetch_add: 0 0", "fetch_add -1: 0", "shared_store: 0", ";"}) {
    EXPECT_THROW(run_workload("contended_line", {{"measurements", text}}, small, spec), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace linebounce::test
