// All CPUs count in one counter, or take and drop references to one object: what each algorithm costs, and how it scales.
#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "workloads/counters/counter_registry.hpp"
#include "workloads/counters/counter_trial.hpp"
#include "workloads/counters/counters.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kCounted = 0;  // tally
constexpr const char* kEvents = "events";
constexpr const char* kReferences = "references";

struct CounterScalingOptions {
  std::string counter = "atomic";
  std::string counts = kEvents;
  std::int64_t outside_cycles = 1000;
  std::int64_t inside_cycles = 0;
  RcuOptions rcu;

  void bind(ParameterBinder& parameters) {
    counter_parameter(parameters, "counter", counter, "the algorithm", {.events = true, .references = true});
    parameters.text("counts", counts, "events: one addition; references: a reference is taken and dropped",
                    {kEvents, kReferences});
    parameters.number("outside_cycles", outside_cycles, 0, 1e9,
                      "mean computed between, uniform from 0 to twice that, and 1 more");
    parameters.number("inside_cycles", inside_cycles, 0, 1e9, "computed while a reference is held");
    rcu.bind(parameters);
  }
};

class CounterScaling final : public Workload {
 public:
  explicit CounterScaling(const Parameters& parameters) : options_(read_options<CounterScalingOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    seed_ = setting.seed;
    const CounterEntry& entry = find_counter(options_.counter, setting.counters);
    if (references_ ? entry.create_reference_count == nullptr : entry.create_counter == nullptr)
      throw std::invalid_argument(fmt::format("workload.counter: {} does not count {}; workload.counts = \"{}\" would do",
                                              options_.counter, references_ ? kReferences : kEvents,
                                              references_ ? kEvents : kReferences));
    user_ = setting.memory.function("user", Mode::user);
    count_ = setting.memory.function("count", Mode::kernel);
    interrupts_ = std::make_unique<Interrupts>(setting.machine.cpus);
    percpu_ = std::make_unique<PerCpuAllocator>(setting, setting.memory.line_bytes());
    if (references_) rcu_ = make_classic_rcu(setting, *interrupts_, options_.rcu);
    const CounterPlace place{.memory = setting.memory,
                             .locks = setting.locks,
                             .percpu = *percpu_,
                             .interrupts = *interrupts_,
                             .rcu = rcu_.get(),
                             .name = "counter",
                             .cpus = setting.machine.cpus};
    if (references_) {
      reference_count_ = entry.create_reference_count(place);
    } else {
      counter_ = entry.create_counter(place);
    }
    trials_.emplace(setting).add(entry, place, references_);
  }

  void run(Cpu& cpu) override {
    if (rcu_) rcu_->start(cpu);
    trials_->run(cpu);
    Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 0);
    for (;;) {
      const auto outside = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * options_.outside_cycles + 1)));
      {
        const FunctionScope scope(cpu, user_);
        cpu.compute(outside + 1);
        cpu.now();
      }
      const FunctionScope scope(cpu, count_);
      count_once(cpu);
      cpu.tally(kCounted);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override { report_throughput(facts, kCounted, metrics); }

 private:
  void count_once(Cpu& cpu) {
    if (!references_) {
      counter_->add(cpu, 1);
      return;
    }
    reference_count_->get(cpu);
    if (options_.inside_cycles > 0) cpu.compute(options_.inside_cycles);
    reference_count_->put(cpu);  // never the last reference: the owner keeps its own
  }

  CounterScalingOptions options_;
  bool references_ = options_.counts == kReferences;
  std::uint64_t seed_ = 0;
  FunctionId user_ = 0;
  FunctionId count_ = 0;
  std::unique_ptr<Interrupts> interrupts_;
  std::unique_ptr<PerCpuAllocator> percpu_;
  std::unique_ptr<Rcu> rcu_;
  std::unique_ptr<Counter> counter_;
  std::unique_ptr<ReferenceCount> reference_count_;
  std::optional<CounterTrials> trials_;
};

}  // namespace

WorkloadEntry counter_scaling_workload() {
  return {"counter_scaling",
          "All CPUs increment one counter, or take and drop references to one object",
          declare<CounterScalingOptions>(),
          make_workload<CounterScaling>,
          {headlines::kOperations, headlines::kLatency, headlines::kLeastCpu}};
}

}  // namespace linebounce::workloads
