// Each CPU counts in a word of its own. Packed, the words share lines, and the lines bounce although no word is shared.
#include "workloads/micro/micro.hpp"
#include "workloads/program/throughput.hpp"

namespace linebounce::workloads {

namespace {

constexpr int kCounted = 0;  // tally

class FalseSharing final : public Workload {
 public:
  explicit FalseSharing(const Parameters& parameters)
      : stride_(parameters.integer("stride_bytes")), outside_(parameters.integer("outside_cycles")) {}

  void set_up(const WorkloadSetup& setting) override {
    Layout layout{.name = "counters",
                  .size = static_cast<int>(stride_) * setting.machine.cpus,
                  .alignment = setting.memory.line_bytes(),
                  .fields = {}};
    for (int cpu = 0; cpu < setting.machine.cpus; ++cpu) {
      layout.fields.push_back({"of_cpu[" + std::to_string(cpu) + "]", cpu * static_cast<int>(stride_)});
    }
    counters_ = setting.memory.place(layout, "counters");
  }

  void run(Cpu& cpu) override {
    const Address mine = counters_ + static_cast<Address>(cpu.id().value) * static_cast<Address>(stride_);
    for (;;) {
      const Value value = cpu.load(mine);
      cpu.store(mine, value + 1);
      cpu.tally(kCounted);
      cpu.compute(outside_);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    report_rate(facts, tallied_by_all(facts, kCounted), metrics);
  }

 private:
  std::int64_t stride_;
  std::int64_t outside_;
  Address counters_ = 0;
};

}  // namespace

std::vector<ParameterDeclaration> false_sharing_parameters() {
  return {
      {.name = "stride_bytes",
       .default_value = std::int64_t{8},
       .meaning = "from one CPU's word to the next; a multiple of 8",
       .minimum = 8,
       .maximum = 4096},
      {.name = "outside_cycles",
       .default_value = std::int64_t{100},
       .meaning = "computed between two counts",
       .minimum = 1,
       .maximum = 1e9},
  };
}

std::unique_ptr<Workload> make_false_sharing(const Parameters& parameters) {
  return std::make_unique<FalseSharing>(parameters);
}

}  // namespace linebounce::workloads
