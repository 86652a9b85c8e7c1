#include "workloads/rcu/control_block.hpp"

#include <algorithm>

namespace linebounce::workloads {

ControlBlock::ControlBlock(const WorkloadSetup& setting, const RcuOptions& options)
    : cpus_(setting.machine.cpus),
      awaited_(cpus_ - (options.mistake == RcuMistake::skips_a_cpu ? 1 : 0)),
      start_batch_(setting.memory.function("rcu_start_batch", Mode::kernel)),
      check_quiescent_state_(setting.memory.function("rcu_check_quiescent_state", Mode::kernel)) {
  const int words = (cpus_ + 63) / 64;
  const Layout layout{.name = "rcu_ctrlblk",
                      .size = 24 + 8 * words,
                      .fields = {{"lock", 0}, {"current_batch", 8}, {"max_batch", 16}, {"cpu_mask", 24, 8 * words}}};
  const Address block = setting.memory.place(layout, "rcu_ctrlblk", setting.memory.line_bytes());
  lock_ = &setting.locks.create(options.lock, "rcu_ctrlblk.lock", {.word = block});
  current_ = block + 8;
  last_wanted_ = block + 16;
  mask_ = block + 24;
  setting.memory.preset(current_, 1);
}

bool ControlBlock::waits_for(Cpu& cpu) const {
  const int me = cpu.id().value;
  return (cpu.load(mask_word(me)) & bit(me)) != 0;
}

bool ControlBlock::nobody_awaited(Cpu& cpu) const {
  for (int first = 0; first < cpus_; first += 64) {
    if (cpu.load(mask_word(first)) != 0) return false;
  }
  return true;
}

// The one that is under way may have begun before what `wanted` stands for was removed: so it takes the next.
Value ControlBlock::request_next(Cpu& cpu) {
  const FunctionScope scope(cpu, start_batch_);
  lock_->acquire(cpu);
  const Value wanted = cpu.load(current_) + 1;
  begin_if_wanted(cpu, wanted);
  lock_->release(cpu);
  return wanted;
}

void ControlBlock::begin_if_wanted(Cpu& cpu, Value wanted) {
  Value last_wanted = cpu.load(last_wanted_);
  if (last_wanted < wanted) {
    cpu.store(last_wanted_, wanted);
    last_wanted = wanted;
  }
  const Value current = cpu.load(current_);
  if (last_wanted < current || !nobody_awaited(cpu)) return;
  for (int first = 0; first < awaited_; first += 64) {
    const int here = std::min(64, awaited_ - first);
    cpu.store(mask_word(first), here == 64 ? ~Value{0} : bit(here) - 1);
  }
  times_.begin(cpu);
}

void ControlBlock::passed(Cpu& cpu) {
  const FunctionScope scope(cpu, check_quiescent_state_);
  const int me = cpu.id().value;
  lock_->acquire(cpu);
  const Value awaited = cpu.load(mask_word(me));
  if ((awaited & bit(me)) != 0) {
    cpu.store(mask_word(me), awaited & ~bit(me));
    if (nobody_awaited(cpu)) {
      times_.end(cpu);
      const Value current = cpu.load(current_);
      cpu.store(current_, current + 1);
      begin_if_wanted(cpu, 0);
    }
  }
  lock_->release(cpu);
}

}  // namespace linebounce::workloads
