#include "workloads/counters/counters.hpp"

namespace linebounce::workloads {

Address CounterPlace::place(Layout layout) const {
  if (word) return *word;
  layout.size = memory.line_bytes();
  return memory.place(layout, name, memory.line_bytes());
}

void add_to_own_word(Cpu& cpu, Interrupts& interrupts, Address word, Value amount) {
  interrupts.disable_softirqs(cpu);
  const Value value = cpu.load(word);
  cpu.store(word, value + amount);
  interrupts.enable_softirqs(cpu);
}

}  // namespace linebounce::workloads
