#include "workloads/linux26/timers/retired_timers.hpp"

#include <fmt/format.h>

#include "workloads/linux26/kernel/kernel.hpp"

namespace linebounce::workloads {

RetiredTimers::RetiredTimers(Kernel& kernel)
    : kernel_(kernel),
      first_(kernel.field("timer_batch", "first")),
      last_link_(kernel.field("timer_batch", "last_link")),
      count_(kernel.field("timer_batch", "count")),
      incoming_(kernel.field("retired_timers", "incoming")) {}

void RetiredTimers::place_for(int cpu) {
  const int node = kernel_.node_of(cpu);
  incoming_of_.push_back(kernel_.place("retired_timers", fmt::format("retired_timers[{}]", cpu), node));
  std::vector<Object>& batches = gathered_.emplace_back();
  for (int base = 0; base < kernel_.cpus(); ++base)
    batches.push_back(kernel_.place("timer_batch", fmt::format("timer_batch[{}][{}]", cpu, base), node));
}

const Object& RetiredTimers::gathered(const Cpu& cpu, int base) const {
  return gathered_[cpu.id().value][base];
}

void RetiredTimers::add(Cpu& cpu, const Timer& timer, int base) {
  const Object& batch = gathered(cpu, base);
  const Value count = batch.load(cpu, count_);
  if (count == 0) {
    batch.store(cpu, last_link_, timer.expires());
  } else {
    const Value first = batch.load(cpu, first_);
    cpu.store(timer.expires(), first);
  }
  batch.store(cpu, first_, timer.entry());
  batch.store(cpu, count_, count + 1);
  if (count + 1 >= kBatch) hand_off(cpu, base);
}

void RetiredTimers::hand_off(Cpu& cpu) {
  for (int base = 0; base < kernel_.cpus(); ++base) {
    if (gathered(cpu, base).load(cpu, count_) != 0) hand_off(cpu, base);
  }
}

void RetiredTimers::hand_off(Cpu& cpu, int base) {
  const Object& batch = gathered(cpu, base);
  const Value first = batch.load(cpu, first_);
  const Address last_link = batch.load(cpu, last_link_);
  batch.store(cpu, count_, 0);
  const Address incoming = incoming_of_[base].at(incoming_, 0);
  Value before = cpu.load(incoming);
  for (;;) {
    cpu.store(last_link, before);
    const Value found = cpu.compare_exchange(incoming, before, first);
    if (found == before) return;
    before = found;
  }
}

Value RetiredTimers::take(Cpu& cpu) {
  const Address incoming = incoming_of_[cpu.id().value].at(incoming_, 0);
  return cpu.load(incoming) == 0 ? 0 : cpu.exchange(incoming, 0);
}

}  // namespace linebounce::workloads
