// The grace periods of all CPUs, in simulated memory: whose quiescent state is awaited, and what is over. They have numbers, in
// their order. One under a single lock (control_block.hpp), one as a tree (node_tree.hpp).
#pragma once

#include "models/core/cpu.hpp"
#include "workloads/rcu/grace_period_times.hpp"

namespace linebounce::workloads {

class GracePeriods {
 public:
  virtual ~GracePeriods() = default;

  // As far as this CPU knows: the number of the grace period that is under way or comes next. What began before it is larger
  // than `batch` is over.
  virtual Value current(Cpu& cpu) const = 0;
  // Whether one is under way that waits for this CPU.
  virtual bool waits_for(Cpu& cpu) const = 0;

  // Returns the number of one that begins after this; it is asked for.
  virtual Value request_next(Cpu& cpu) = 0;
  // The CPU has passed a quiescent state since waits_for() became true.
  virtual void passed(Cpu& cpu) = 0;

  [[nodiscard]] const GracePeriodTimes& times() const { return times_; }

 protected:
  GracePeriodTimes times_;
};

}  // namespace linebounce::workloads
