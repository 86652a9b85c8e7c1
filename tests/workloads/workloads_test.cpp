// Every workload of the registry runs with its defaults, and the random tester finds what it is there to find.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "models/failure.hpp"
#include "tests/models/support/small_machine.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/registry.hpp"

namespace linebounce::test {
namespace {

class Metrics final : public MetricSink {
 public:
  void metric(const std::string& name, double value, const std::string&) override { values[name] = value; }
  void count(const std::string& name, std::int64_t value) override { values[name] = static_cast<double>(value); }
  void handover(const Handover& cost) override { handovers.push_back(cost); }
  std::map<std::string, double> values;
  std::vector<Handover> handovers;
};

const WorkloadEntry& find_workload(const std::string& name) {
  const auto entry =
      std::find_if(workloads().begin(), workloads().end(), [&name](const WorkloadEntry& w) { return w.name == name; });
  if (entry == workloads().end()) throw std::logic_error("no workload of this name");
  return *entry;
}

Metrics run(const std::string& name, const std::map<std::string, ParameterValue>& changed, SmallMachine& small,
            const MachineSpec& spec) {
  const WorkloadEntry& entry = find_workload(name);
  std::map<std::string, ParameterValue> values;
  for (const ParameterDeclaration& parameter : entry.parameters) values[parameter.name] = parameter.default_value;
  for (const auto& [parameter, value] : changed) values.at(parameter) = value;
  const std::unique_ptr<Workload> workload = entry.create(Parameters(values));
  AddressSpace space(small.machine.store());
  workload->set_up({space, spec, small.machine.layout(), 1});
  small.machine.set_functions(space.functions().size());
  small.run(std::vector<Core::Program>(static_cast<std::size_t>(spec.cpus), [&workload](Cpu& cpu) { workload->run(cpu); }));
  Metrics metrics;
  const std::function<const Cpu&(int)> cpu = [&small](int number) -> const Cpu& { return small.machine.cpu(number); };
  workload->report({small.machine.timebase().to_ns(small.machine.measured()), cpu, spec.cpus}, metrics);
  return metrics;
}

TEST(RandomReferences, EveryCpuDoesItsOperationsAndTheSumsAreRight) {
  const MachineSpec spec = small_machine(3);
  SmallMachine small(spec);
  const Metrics metrics = run("random_references", {{"operations", std::int64_t{500}}}, small, spec);
  EXPECT_EQ(metrics.values.at("random.operations"), 3 * 500);
}

TEST(RandomReferences, WithoutAnEndItRunsToTheEndOfTheMeasurement) {
  const MachineSpec spec = small_machine(3);
  SmallMachine small(spec, {}, 1, 20);
  const Metrics metrics = run("random_references", {}, small, spec);
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
  EXPECT_THROW(run("random_references", none, small, spec), std::invalid_argument);
}

// Only loads and atomic operations, so that there is nothing but increments to lose. The upgrade of a copy that was lost to
// another writer goes on as if it were still there: two CPUs add 1 to the same value.
TEST(RandomReferences, FindsAProtocolThatLosesWrites) {
  const MachineSpec spec = small_machine(4);
  std::string text = protocol_text("mesi_snoop");
  const std::string row = "| SM_AD                                       | Other_GetM                         | -      ";
  ASSERT_NE(text.find(row), std::string::npos);
  const std::size_t then = text.find("| IM_AD |", text.find(row));
  text.replace(then, 9, "| =     |");
  SmallMachine small(spec, parse_protocol(text, "broken.md"));
  EXPECT_THROW(run("random_references", {{"operations", std::int64_t{2000}}}, small, spec), ModelFailure);
}

// Two words a line apart never disturb each other, two in one line do.
double increments_per_s(std::int64_t stride) {
  const MachineSpec spec = small_machine(2);
  SmallMachine small(spec, {}, 1, 50);
  return run("false_sharing", {{"stride_bytes", stride}, {"outside_cycles", std::int64_t{100}}}, small, spec)
      .values.at("throughput.operations_per_s");
}
// A load, a store and 100 cycles: 103 ns for each of two CPUs.
TEST(FalseSharing, WordsOnLinesOfTheirOwnCostNothing) {
  EXPECT_NEAR(increments_per_s(32), 2e9 / 103, 2e9 / 103 / 100);
}
// The line was taken away meanwhile: at the least an upgrade (74 ns and more) is added to each.
TEST(FalseSharing, WordsOfOneLineAreSlower) {
  EXPECT_LT(increments_per_s(8), 2e9 / (103 + 70));
}

// Inside 100 cycles beside the data, so at most one entry in 100 ns; the lock itself costs at least one transfer of its line.
TEST(CriticalSection, EntersNoFasterThanItsInsideAllows) {
  const MachineSpec spec = small_machine(4);
  SmallMachine small(spec, {}, 5, 100);
  const Metrics metrics = run("critical_section", {{"outside_cycles", std::int64_t{0}}}, small, spec);
  EXPECT_LT(metrics.values.at("throughput.operations_per_s"), 1e9 / 100);
  EXPECT_GT(metrics.values.at("throughput.operations_per_s"), 1e9 / 1000);
  EXPECT_GT(metrics.values.at("fairness.least_share_pct"), 90) << "a ticket lock is fair";
}

TEST(OperationCosts, OnRoundNumbersAreWhatTheMachineSays) {
  const MachineSpec spec = small_machine(2);
  SmallMachine small(spec);
  const Metrics metrics = run("operation_costs", {{"repetitions", std::int64_t{1000}}}, small, spec);
  EXPECT_EQ(metrics.values.at("cost.clock_cycle"), 1);
  EXPECT_EQ(metrics.values.at("cost.instruction"), 1);
  EXPECT_EQ(metrics.values.at("cost.l2_hit"), 10);
}

}  // namespace
}  // namespace linebounce::test
