#include "workloads/rcu/grace_periods.hpp"

#include <algorithm>

#include "models/timeline.hpp"

namespace linebounce::workloads {

GracePeriods::GracePeriods(const WorkloadSetup& setting, const std::string& lock)
    : cpus_(setting.machine.cpus),
      start_batch_(setting.memory.function("rcu_start_batch", Mode::kernel)),
      check_quiescent_state_(setting.memory.function("rcu_check_quiescent_state", Mode::kernel)) {
  const int words = (cpus_ + 63) / 64;
  const Layout layout{.name = "rcu_ctrlblk",
                      .size = 24 + 8 * words,
                      .fields = {{"lock", 0}, {"current_batch", 8}, {"max_batch", 16}, {"cpu_mask", 24, 8 * words}}};
  const Address block = setting.memory.place(layout, "rcu_ctrlblk", setting.memory.line_bytes());
  lock_ = &setting.locks.create(lock, "rcu_ctrlblk.lock", {.word = block});
  current_ = block + 8;
  last_wanted_ = block + 16;
  mask_ = block + 24;
  setting.memory.preset(current_, 1);
}

bool GracePeriods::waits_for(Cpu& cpu) const {
  const int me = cpu.id().value;
  return (cpu.load(mask_word(me)) & bit(me)) != 0;
}

bool GracePeriods::nobody_awaited(Cpu& cpu) const {
  for (int first = 0; first < cpus_; first += 64) {
    if (cpu.load(mask_word(first)) != 0) return false;
  }
  return true;
}

// The one that is under way may have begun before what `wanted` stands for was removed: so it takes the next.
Value GracePeriods::request_next(Cpu& cpu) {
  const FunctionScope scope(cpu, start_batch_);
  lock_->acquire(cpu);
  const Value wanted = cpu.load(current_) + 1;
  begin_if_wanted(cpu, wanted);
  lock_->release(cpu);
  return wanted;
}

void GracePeriods::begin_if_wanted(Cpu& cpu, Value wanted) {
  Value last_wanted = cpu.load(last_wanted_);
  if (last_wanted < wanted) {
    cpu.store(last_wanted_, wanted);
    last_wanted = wanted;
  }
  const Value current = cpu.load(current_);
  if (last_wanted < current || !nobody_awaited(cpu)) return;
  for (int first = 0; first < cpus_; first += 64) {
    const int here = std::min(64, cpus_ - first);
    cpu.store(mask_word(first), here == 64 ? ~Value{0} : bit(here) - 1);
  }
  began_ = cpu.local_time();
}

void GracePeriods::passed(Cpu& cpu) {
  const FunctionScope scope(cpu, check_quiescent_state_);
  const int me = cpu.id().value;
  lock_->acquire(cpu);
  const Value awaited = cpu.load(mask_word(me));
  if ((awaited & bit(me)) != 0) {
    cpu.store(mask_word(me), awaited & ~bit(me));
    if (nobody_awaited(cpu)) {
      ended(cpu);
      const Value current = cpu.load(current_);
      cpu.store(current_, current + 1);
      begin_if_wanted(cpu, 0);
    }
  }
  lock_->release(cpu);
}

void GracePeriods::ended(const Cpu& cpu) {
  const Tick now = cpu.local_time();
  ++number_;
  if (cpu.timeline() != nullptr) cpu.timeline()->grace_period(number_, began_, now);
  log_.push_back({began_, now});
  if (!cpu.measures(now)) return;
  const double took_ns = cpu.to_ns(now - began_);
  ++ended_;
  sum_ns_ += took_ns;
  longest_ns_ = std::max(longest_ns_, took_ns);
}

void GracePeriods::report(MetricSink& metrics) const {
  metrics.count("rcu.grace_periods", ended_);
  if (ended_ == 0) return;
  metrics.mean("rcu.grace_period_mean_us", sum_ns_ / 1000, ended_);
  metrics.metric("rcu.grace_period_max_us", longest_ns_ / 1000);
}

}  // namespace linebounce::workloads
