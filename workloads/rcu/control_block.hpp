// Grace periods as Linux 2.6.0 had them. A batch of callbacks waits for a grace period
// that has a number; every CPU that hasn't yet passed a quiescent state since it began has its bit set. Its lock guards all of
// it; CPUs look without the lock whether it concerns them.
#pragma once

#include "models/core/cpu.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/rcu/grace_periods.hpp"

namespace linebounce::workloads {

class ControlBlock final : public GracePeriods {
 public:
  ControlBlock(const WorkloadSetup& setting, const RcuOptions& options);

  Value current(Cpu& cpu) const override { return cpu.load(current_); }
  bool waits_for(Cpu& cpu) const override;
  Value request_next(Cpu& cpu) override;
  void passed(Cpu& cpu) override;

 private:
  [[nodiscard]] Address mask_word(int cpu) const { return mask_ + static_cast<Address>(cpu) / 64 * 8; }
  static Value bit(int cpu) { return Value{1} << (static_cast<unsigned>(cpu) % 64); }
  bool nobody_awaited(Cpu& cpu) const;
  void begin_if_wanted(Cpu& cpu, Value wanted);

  int cpus_;
  int awaited_;  // of them, from 0 on
  MeteredLock* lock_ = nullptr;
  Address current_ = 0;
  Address last_wanted_ = 0;
  Address mask_ = 0;
  FunctionId start_batch_;
  FunctionId check_quiescent_state_;
};

}  // namespace linebounce::workloads
