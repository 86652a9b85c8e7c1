// Runs a litmus test on a machine and reports its outcomes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/models/support/small_machine.hpp"
#include "workloads/litmus/litmus.hpp"
#include "workloads/litmus/reference.hpp"
#include "workloads/locks/lock_set.hpp"

namespace linebounce::test {

using namespace workloads;

// Stores wait long for their lines, so that other operations can pass them.
inline MachineSpec litmus_machine(Consistency consistency, int cpus = 4) {
  MachineSpec spec = small_machine(cpus);
  spec.cpu.consistency = consistency;
  spec.cpu.store_buffer_entries = consistency == Consistency::sc ? 0 : 16;
  spec.cpu.outstanding_misses = 2;
  return spec;
}

struct LitmusCounts final : MetricSink {
  void add(const MetricDeclaration&, const std::string& name, MetricValue number) override {
    static const std::string kOutcome = "litmus.seen.";
    const auto value = std::get<std::int64_t>(number);
    if (name == "litmus.rounds") rounds = value;
    if (name == "litmus.asked") asked = value;
    if (name == "litmus.relaxed") relaxed = value;
    if (name == "litmus.forbidden") forbidden = value;
    if (name.starts_with(kOutcome) && value > 0) outcomes.insert(name.substr(kOutcome.size()));
  }
  std::int64_t rounds = 0, asked = 0, relaxed = 0, forbidden = 0;
  std::set<std::string> outcomes;  // the observed outcomes
};

struct LitmusRun {
  std::int64_t rounds;
  std::optional<Consistency> judged_by = {};  // the model to judge by; default: the machine's own
  double measure_us = 0;                      // 0: until all rounds are done
  LitmusOrigin origin = LitmusOrigin::catalogue;
  LitmusJudge judge = LitmusJudge::machine;
};

inline LitmusCounts run_litmus(const LitmusTest& test, const MachineSpec& spec, const LitmusRun& run) {
  SmallMachine small(spec, {}, 0, run.measure_us);
  const std::unique_ptr<Workload> workload = make_litmus(test, run.rounds, run.origin, run.judge);
  AddressSpace space(small.machine.store(), &small.machine.homes());
  MachineSpec judged = spec;
  judged.cpu.consistency = run.judged_by.value_or(spec.cpu.consistency);
  LockSet locks(space, spec.cpus);
  workload->set_up({space, locks, judged, small.machine.layout(), 1});
  small.run(std::vector<Core::Program>(static_cast<std::size_t>(spec.cpus), [&workload](Cpu& cpu) { workload->run(cpu); }));
  LitmusCounts counts;
  const std::function<const Cpu&(int)> cpu = [&small](int number) -> const Cpu& { return small.machine.cpu(number); };
  workload->report({small.machine.timebase().to_ns(small.machine.measured()), cpu, spec.cpus}, counts);
  return counts;
}

inline std::set<std::string> names_of(const LitmusTest& test, const std::set<LitmusOutcome>& outcomes) {
  std::set<std::string> names;
  for (const LitmusOutcome& outcome : outcomes) names.insert(test.outcome_name(outcome));
  return names;
}

// "mp+rel+acq" as a name that GoogleTest accepts.
inline std::string identifier(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

inline std::string name_of(Consistency model) {
  return model == Consistency::sc ? "sc" : model == Consistency::tso ? "tso" : "ia64";
}

}  // namespace linebounce::test
