// Runs a registered workload on a small machine, and returns its metrics.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/results/metrics.hpp"
#include "tests/models/support/small_machine.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::test {

using namespace workloads;

class Metrics final : public MetricSink {
 public:
  void hand_off(const HandOff& cost) override { hand_offs.push_back(cost); }
  void series(const std::string& name, std::span<const SeriesSample> samples) override {
    all_series[name].assign(samples.begin(), samples.end());
  }
  std::map<std::string, double> values;
  std::vector<HandOff> hand_offs;
  std::map<std::string, std::vector<SeriesSample>> all_series;

 protected:
  void add(const MetricDeclaration&, const std::string& name, MetricValue value) override {
    EXPECT_NE(sim::find_metric(name), nullptr) << name << ": report() doesn't reach its line where nothing has run";
    values[name] = std::visit([](auto number) { return static_cast<double>(number); }, value);
  }
};

// Runs it with default parameters except for `changed`.
inline Metrics run_workload(const std::string& name, const std::map<std::string, ParameterValue>& changed, SmallMachine& small,
                            const MachineSpec& spec, const LayoutSet& layouts = {}) {
  const WorkloadEntry& entry = find_workload(name);
  std::map<std::string, ParameterValue> values;
  for (const ParameterDeclaration& parameter : entry.parameters) values[parameter.name] = parameter.default_value;
  for (const auto& [parameter, value] : changed) values.at(parameter) = value;
  const std::unique_ptr<Workload> workload = entry.create(Parameters(values));
  AddressSpace space(small.machine.store());
  LockSet locks(space, spec.cpus);
  workload->set_up({space, locks, spec, small.machine.layout(), 1, &layouts});
  small.machine.set_functions(space.functions().size());
  small.run(std::vector<Core::Program>(static_cast<std::size_t>(spec.cpus), [&workload](Cpu& cpu) { workload->run(cpu); }));
  Metrics metrics;
  const std::function<const Cpu&(int)> cpu = [&small](int number) -> const Cpu& { return small.machine.cpu(number); };
  workload->report({small.machine.timebase().to_ns(small.machine.measured()), cpu, spec.cpus}, metrics);
  return metrics;
}

}  // namespace linebounce::test
