// Every CPU counts in a word of its own. A reader of the sum reads them all.
#include "workloads/counters/counters.hpp"

namespace linebounce::workloads {
namespace {

class PerCpuCounter final : public Counter {
 public:
  explicit PerCpuCounter(const CounterPlace& place)
      : words_(place.percpu.allocate(kCounterPerCpuBytes)), cpus_(place.cpus), interrupts_(place.interrupts) {}

  void add(Cpu& cpu, std::int64_t amount) override {
    add_to_own_word(cpu, interrupts_, words_.of(cpu), static_cast<Value>(amount));
  }
  std::int64_t read(Cpu& cpu) override {
    Value sum = 0;
    for (int other = 0; other < cpus_; ++other) sum += cpu.load(words_.of(other));
    return static_cast<std::int64_t>(sum);
  }

 private:
  PerCpu words_;
  int cpus_;
  Interrupts& interrupts_;
};

}  // namespace

CounterEntry per_cpu_counter() {
  return {"per_cpu", "Events, in one word per CPU",
          [](const CounterPlace& place) { return std::make_unique<PerCpuCounter>(place); }, nullptr};
}

}  // namespace linebounce::workloads
