// All CPUs count in one counter, or take and drop references of one object. What each algorithm costs, and what more CPUs are
// worth to it.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "models/failure.hpp"
#include "workloads/counters/counter_registry.hpp"
#include "workloads/counters/counters.hpp"
#include "workloads/program/barrier.hpp"
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

// A counter of a file is tried first, on one of its own: what counts wrong would only look fast.
class CounterTrial {
 public:
  CounterTrial(const CounterEntry& entry, const CounterPlace& place, bool references)
      : name_(entry.name), cpus_(place.cpus), counted_(place.memory, "counter_trial_counted", cpus_) {
    if (references) {
      reference_count_ = entry.create_reference_count(place);
    } else {
      counter_ = entry.create_counter(place);
    }
  }

  // Called once by each CPU. Errors: ModelFailure, if events or references were lost.
  void run(Cpu& cpu) {
    for (int i = 0; i < kRounds; ++i) reference_count_ ? take_and_drop(cpu) : counter_->add(cpu, 1);
    counted_.wait(cpu);
    if (cpu.id().value != 0) return;
    if (reference_count_) {
      if (!reference_count_->begin_dying(cpu)) fail("the owner drops the last reference, and is not told so");
      return;
    }
    const std::int64_t sum = counter_->read(cpu);
    if (sum != kRounds * cpus_) fail(fmt::format("{} of {} events are counted", sum, kRounds * cpus_));
  }

 private:
  static constexpr std::int64_t kRounds = 32;  // of each CPU, one after the other

  void take_and_drop(Cpu& cpu) {
    reference_count_->get(cpu);
    if (reference_count_->put(cpu)) fail("a last reference is dropped while the owner holds its own");
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw ModelFailure(fmt::format("the counter {} is wrong: with {} CPUs, {}", name_, cpus_, what));
  }

  std::string name_;
  int cpus_;
  Barrier counted_;
  std::unique_ptr<Counter> counter_;
  std::unique_ptr<ReferenceCount> reference_count_;
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
    CounterPlace place{.memory = setting.memory,
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
    const bool from_file =
        std::ranges::any_of(setting.counters, [this](const CounterEntry& file) { return file.name == options_.counter; });
    place.name = "counter_trial";
    if (from_file) trial_ = std::make_unique<CounterTrial>(entry, place, references_);
  }

  void run(Cpu& cpu) override {
    if (rcu_) rcu_->start(cpu);
    if (trial_) trial_->run(cpu);
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
    reference_count_->put(cpu);  // never the last: the owner keeps its own
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
  std::unique_ptr<CounterTrial> trial_;
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
