// The grace periods of all CPUs, in simulated memory, as Linux 2.6.0 had them. A batch of callbacks waits for a grace period
// that has a number; every CPU that hasn't yet passed a quiescent state since it began has its bit set. Its lock guards all of
// it; CPUs look without the lock whether it concerns them.
#pragma once

#include <cstdint>

#include "models/core/cpu.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/rcu/rcu.hpp"

namespace linebounce::workloads {

class GracePeriods {
 public:
  GracePeriods(const WorkloadSetup& setting, const std::string& lock);

  // The number of the grace period that is under way or comes next. What began before it is larger than `batch` is over.
  Value current(Cpu& cpu) const { return cpu.load(current_); }
  // Whether one is under way that waits for this CPU.
  bool waits_for(Cpu& cpu) const;

  // Returns the number of the first that begins after this; it is asked for.
  Value request_next(Cpu& cpu);
  // The CPU has passed a quiescent state since waits_for() became true.
  void passed(Cpu& cpu);

  // In the order in which they ended, those of the warm-up among them.
  [[nodiscard]] const std::vector<GracePeriod>& log() const { return log_; }
  void report(MetricSink& metrics) const;

 private:
  [[nodiscard]] Address mask_word(int cpu) const { return mask_ + static_cast<Address>(cpu) / 64 * 8; }
  static Value bit(int cpu) { return Value{1} << (static_cast<unsigned>(cpu) % 64); }
  bool nobody_awaited(Cpu& cpu) const;
  void begin_if_wanted(Cpu& cpu, Value wanted);
  void ended(const Cpu& cpu);

  int cpus_;
  MeteredLock* lock_ = nullptr;
  Address current_ = 0;
  Address last_wanted_ = 0;
  Address mask_ = 0;
  FunctionId start_batch_;
  FunctionId check_quiescent_state_;

  // Under the lock as well.
  Tick began_ = 0;
  std::int64_t number_ = 0;  // of the last that ended, from 1
  std::vector<GracePeriod> log_;
  std::int64_t ended_ = 0;  // in the measured time; so are the others
  double sum_ns_ = 0, longest_ns_ = 0;
};

}  // namespace linebounce::workloads
