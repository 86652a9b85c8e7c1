// Every CPU takes one lock, works on data that it protects, and computes outside: which lock costs what.
#include <algorithm>

#include "workloads/locks/lock.hpp"
#include "workloads/micro/micro.hpp"
#include "workloads/program/random.hpp"
#include "workloads/registry.hpp"

namespace linebounce {

namespace {

constexpr int kEntered = 0;  // tally

class CriticalSection final : public Workload {
 public:
  explicit CriticalSection(const Parameters& parameters)
      : lock_name_(parameters.text("lock")),
        data_lines_(parameters.integer("data_lines")),
        inside_(parameters.integer("inside_cycles")),
        outside_(parameters.integer("outside_cycles")) {}

  void set_up(const Setting& setting) override {
    seed_ = setting.seed;
    line_ = static_cast<Address>(setting.memory.line_bytes());
    const auto entry =
        std::find_if(locks().begin(), locks().end(), [this](const LockEntry& e) { return e.name == lock_name_; });
    lock_ = entry->create(setting.memory, "section_lock", setting.machine.cpus);
    data_ = setting.memory.place_array("protected_data", std::max<std::int64_t>(1, data_lines_) * setting.memory.line_bytes());
    section_ = setting.memory.function("critical_section", Mode::kernel);
  }

  void run(Cpu& cpu) override {
    Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 0);
    for (;;) {
      // Uniform around the mean, so that the CPUs do not march in step.
      if (outside_ > 0) cpu.compute(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * outside_))) + 1);
      {
        const FunctionScope scope(cpu, section_);
        lock_->acquire(cpu);
        for (std::int64_t i = 0; i < data_lines_; ++i) {
          const Address word = data_ + static_cast<Address>(i) * line_;
          const Value value = cpu.load(word);
          cpu.store(word, value + 1);
        }
        cpu.compute(inside_);
        lock_->release(cpu);
      }
      cpu.tally(kEntered);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    std::int64_t total = 0;
    std::int64_t least = INT64_MAX;
    std::int64_t most = 0;
    for (int cpu = 0; cpu < facts.cpus; ++cpu) {
      const std::int64_t entered = facts.cpu(cpu).tallied(kEntered);
      total += entered;
      least = std::min(least, entered);
      most = std::max(most, entered);
    }
    metrics.metric("throughput.operations_per_s", static_cast<double>(total) * 1e9 / facts.measured_ns, "1/s");
    metrics.metric("fairness.least_share_pct", most == 0 ? 0 : 100.0 * static_cast<double>(least) / static_cast<double>(most),
                   "%");
  }

 private:
  std::string lock_name_;
  std::int64_t data_lines_;
  std::int64_t inside_;
  std::int64_t outside_;
  std::uint64_t seed_ = 0;
  Address line_ = 0;
  Address data_ = 0;
  FunctionId section_ = 0;
  std::unique_ptr<Lock> lock_;
};

}  // namespace

std::vector<ParameterDeclaration> critical_section_parameters() {
  return {
      {.name = "lock", .default_value = std::string("ticket"), .meaning = "which lock protects the section"},
      {.name = "data_lines", .default_value = std::int64_t{1}, .meaning = "lines read and written inside", .maximum = 100000},
      {.name = "inside_cycles",
       .default_value = std::int64_t{100},
       .meaning = "computed inside, beside the data",
       .maximum = 1e9},
      {.name = "outside_cycles",
       .default_value = std::int64_t{1000},
       .meaning = "mean computed outside, uniform from 1 to twice that",
       .maximum = 1e9},
  };
}

std::unique_ptr<Workload> make_critical_section(const Parameters& parameters) {
  return std::make_unique<CriticalSection>(parameters);
}

}  // namespace linebounce
