// All CPUs add to one word, or change it by another atomic operation. How does it scale, and does each CPU get its share?
#include <string>
#include <vector>

#include "workloads/program/random.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kAdded = 0;  // tally

struct AtomicScalingOptions {
  std::int64_t outside_cycles = 0;
  std::string operation = "fetch_add";

  void bind(ParameterBinder& parameters) {
    parameters.text(
        "operation", operation,
        "fetch_add, exchange; compare_exchange: once, with the value seen last, and done whether it has failed or not; "
        "increment: load and compare_exchange until it has not failed",
        {"fetch_add", "exchange", "compare_exchange", "increment"});
    parameters.number("outside_cycles", outside_cycles, 0, 1e9, "computed between two operations");
  }
};

class AtomicScaling final : public Workload {
 public:
  explicit AtomicScaling(const Parameters& parameters) : options_(read_options<AtomicScalingOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    seed_ = setting.seed;
    const Frequency clock = setting.machine.cpu.clock;
    cycle_ns_ = 1000.0 * static_cast<double>(clock.denominator) / static_cast<double>(clock.numerator_mhz);
    const int line = setting.memory.line_bytes();
    const Layout layout{.name = "counter", .size = line, .alignment = line, .fields = {{"value", 0}}};
    counter_ = setting.memory.place(layout, "counter");
  }

  void run(Cpu& cpu) override {
    Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 0);
    const std::uint64_t start = random.below(1000);  // so that the CPUs start at different times
    cpu.compute(static_cast<std::int64_t>(start) + 1);
    Value seen = 0;
    for (;;) {
      seen = change(cpu, seen);
      cpu.tally(kAdded);
      if (options_.outside_cycles > 0) cpu.compute(options_.outside_cycles);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    const std::int64_t total = tallied_by_all(facts, kAdded);
    report_rate(facts, total, metrics);
    report_least_share(facts, kAdded, metrics);
    const auto cost_of = [&](const char* operation) -> std::optional<double> {
      if (total == 0 || options_.operation != operation) return std::nullopt;
      const double round_ns = facts.measured_ns * facts.cpus / static_cast<double>(total);
      return round_ns - static_cast<double>(options_.outside_cycles) * cycle_ns_;
    };
    metrics.value("cost.fetch_and_add", "ns", kLower, "a CPU's time for one addition", cost_of("fetch_add"));
    metrics.value("cost.exchange", "ns", kLower, "a CPU's time for one exchange", cost_of("exchange"));
    metrics.value("cost.compare_exchange", "ns", kLower, "a CPU's time for one compare_exchange, failed or not",
                  cost_of("compare_exchange"));
    metrics.value("cost.increment", "ns", kLower, "a CPU's time until its compare_exchange has not failed",
                  cost_of("increment"));
  }

 private:
  // Returns the word's new value, as far as this CPU knows it.
  Value change(Cpu& cpu, Value seen) const {
    if (options_.operation == "fetch_add") return cpu.fetch_add(counter_, 1) + 1;
    const auto mine = static_cast<Value>(cpu.id().value);
    if (options_.operation == "exchange") return cpu.exchange(counter_, mine);
    if (options_.operation == "compare_exchange") {
      const Value found = cpu.compare_exchange(counter_, seen, seen + 1);
      return found == seen ? seen + 1 : found;
    }
    for (;;) {
      const Value before = cpu.load(counter_);
      if (cpu.compare_exchange(counter_, before, before + 1) == before) return before + 1;
    }
  }

  AtomicScalingOptions options_;
  std::uint64_t seed_ = 0;
  double cycle_ns_ = 0;
  Address counter_ = 0;
};

}  // namespace

WorkloadEntry atomic_scaling_workload() {
  return {"atomic_scaling",
          "All CPUs add to one word",
          declare<AtomicScalingOptions>(),
          make_workload<AtomicScaling>,
          {headlines::kOperations, {"cost.fetch_and_add", "addition"}, headlines::kLeastCpu}};
}

}  // namespace linebounce::workloads
