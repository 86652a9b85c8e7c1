// Each CPU counts in a word of its own. Packed, the words share lines, and the lines bounce although no word is shared.
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kAdditions = 0;  // tally

struct FalseSharingOptions {
  std::int64_t stride_bytes = 8;
  std::int64_t outside_cycles = 100;

  void bind(ParameterBinder& parameters) {
    parameters.number("stride_bytes", stride_bytes, 8, 4096, "from one CPU's word to the next; a multiple of 8");
    parameters.number("outside_cycles", outside_cycles, 1, 1e9, "computed between two counts");
  }
};

class FalseSharing final : public Workload {
 public:
  explicit FalseSharing(const Parameters& parameters) : options_(read_options<FalseSharingOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    Layout layout{.name = "counters",
                  .size = static_cast<int>(options_.stride_bytes) * setting.machine.cpus,
                  .alignment = setting.memory.line_bytes(),
                  .fields = {}};
    for (int cpu = 0; cpu < setting.machine.cpus; ++cpu) {
      layout.fields.push_back({"of_cpu[" + std::to_string(cpu) + "]", cpu * static_cast<int>(options_.stride_bytes)});
    }
    counters_ = setting.memory.place(layout, "counters");
  }

  void run(Cpu& cpu) override {
    const Address mine = counters_ + static_cast<Address>(cpu.id().value) * static_cast<Address>(options_.stride_bytes);
    for (;;) {
      const Value value = cpu.load(mine);
      cpu.store(mine, value + 1);
      cpu.tally(kAdditions);
      cpu.compute(options_.outside_cycles);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    report_rate(facts, tallied_by_all(facts, kAdditions), metrics);
  }

 private:
  FalseSharingOptions options_;
  Address counters_ = 0;
};

}  // namespace

WorkloadEntry false_sharing_workload() {
  return {"false_sharing",
          "Each CPU increments a word of its own; the words may share lines",
          declare<FalseSharingOptions>(),
          make_workload<FalseSharing>,
          {headlines::kOperations, headlines::kLatency, headlines::kLeastCpu}};
}

}  // namespace linebounce::workloads
