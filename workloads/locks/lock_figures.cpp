#include "workloads/locks/lock_figures.hpp"

#include <algorithm>

namespace linebounce::workloads {

void LockUse::add(const LockUse& other) {
  nowait += other.nowait;
  spin += other.spin;
  waiting += other.waiting;
  rejected += other.rejected;
  holds += other.holds;
  hold_sum += other.hold_sum;
  hold_max = std::max(hold_max, other.hold_max);
  wait_sum += other.wait_sum;
  wait_max = std::max(wait_max, other.wait_max);
  held += other.held;
  waited += other.waited;
  handoffs += other.handoffs;
  handoff_sum += other.handoff_sum;
  remote_handoffs += other.remote_handoffs;
  remote_handoff_sum += other.remote_handoff_sum;
}

void LockFigures::acquired(const Cpu& cpu, FunctionId call_site, Tick wanted, bool waited) {
  LockUse& use = uses_[call_site];
  const Tick now = cpu.local_time();
  if (waited) use.waited += cpu.measured(wanted, now);
  if (!cpu.measures(wanted)) return;
  if (!waited) {
    ++use.nowait;
    return;
  }
  ++use.spin;
  use.wait_sum += now - wanted;
  use.wait_max = std::max(use.wait_max, now - wanted);
}

void LockFigures::released(const Cpu& cpu, FunctionId call_site, Tick since) {
  LockUse& use = uses_[call_site];
  const Tick now = cpu.local_time();
  use.held += cpu.measured(since, now);
  if (!cpu.measures(since)) return;
  ++use.holds;
  use.hold_sum += now - since;
  use.hold_max = std::max(use.hold_max, now - since);
}

void LockFigures::handed_off(const Cpu& cpu, FunctionId call_site, Tick released_at, bool remote) {
  if (!cpu.measures(released_at)) return;
  LockUse& use = uses_[call_site];
  const Tick took = cpu.local_time() - released_at;
  ++use.handoffs;
  use.handoff_sum += took;
  if (!remote) return;
  ++use.remote_handoffs;
  use.remote_handoff_sum += took;
}

void LockFigures::rejected(const Cpu& cpu, FunctionId call_site) {
  if (cpu.measures(cpu.local_time())) ++uses_[call_site].rejected;
}

void LockFigures::still_held(const Cpu& cpu, FunctionId call_site, Tick since, Tick end) {
  uses_[call_site].held += cpu.measured(since, end);
}

void LockFigures::still_waited(const Cpu& cpu, FunctionId call_site, Tick since, Tick end) {
  LockUse& use = uses_[call_site];
  use.waited += cpu.measured(since, end);
  ++use.spin;
  ++use.waiting;
  use.wait_sum += end - since;
  use.wait_max = std::max(use.wait_max, end - since);
}

void LockFigures::add_instance(Tick held) {
  ++instances_;
  most_held_ = std::max(most_held_, held);
}

void LockFigures::raced(const Races& races) {
  if (!races_) races_.emplace();
  races_->add(races);
}

}  // namespace linebounce::workloads
