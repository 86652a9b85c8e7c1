// Data behind a pointer, for readers under RCU: who writes fills a copy that nobody sees, publishes it, and gives the old one
// back after a grace period. Writers exclude each other by a lock of their own.
#pragma once

#include <memory>
#include <vector>

#include "workloads/program/interrupts.hpp"
#include "workloads/rcu/rcu.hpp"

namespace linebounce::workloads {

class PublishedData {
 public:
  // Copies of `lines` lines; of each line the first word is the user's.
  PublishedData(const WorkloadSetup& setting, std::int64_t lines, const RcuOptions& options);

  // At the beginning of each program. / Between sections: no reader is inside.
  void start(Cpu& cpu) { rcu_->start(cpu); }
  void quiescent(Cpu& cpu) { rcu_->quiescent(cpu); }

  // The copy that a reader may look at until end_read().
  Address begin_read(Cpu& cpu) {
    rcu_->read_lock(cpu);
    return current(cpu);
  }
  void end_read(Cpu& cpu) { rcu_->read_unlock(cpu); }

  // A copy to fill. Waits for a grace period if all of this CPU's are still in use: not under the writers' lock.
  Address take_copy(Cpu& cpu);
  // What is published now, and its successor. REQUIRES: holds the writers' lock. / Given back when no reader sees it any more.
  Address current(Cpu& cpu) const { return cpu.load_acquire(pointer_); }
  void publish(Cpu& cpu, Address copy) const { cpu.store_release(pointer_, copy); }
  void retire(Cpu& cpu, Address copy);

  [[nodiscard]] const Rcu& rcu() const { return *rcu_; }

 private:
  std::vector<Address>& free(const Cpu& cpu) { return free_[static_cast<std::size_t>(cpu.id().value)]; }

  Interrupts interrupts_;
  std::unique_ptr<Rcu> rcu_;
  Address pointer_ = 0;
  std::vector<std::vector<Address>> free_;  // by CPU
};

}  // namespace linebounce::workloads
