// Read-copy update (McKenney, Slingwine: "Read-Copy Update: Using Execution History to Solve Concurrency Problems", 1998; as in
// Linux 2.6.0). Readers take no lock. A CPU that removes an object waits for a grace period before it frees the object. A grace
// period is over when every CPU has passed a quiescent state.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/core/cpu.hpp"
#include "workloads/program/interrupts.hpp"
#include "workloads/program/parameter_binder.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/rcu/rcu_mistake.hpp"

namespace linebounce::workloads {

struct GracePeriod {
  Tick began = 0, ended = 0;
};

// Callbacks that a CPU ran one after the other.
struct CallbackBatch {
  Tick at = 0;  // the end of the last callback
  std::int64_t callbacks = 0;
};

class Rcu {
 public:
  virtual ~Rcu() = default;

  // Called at the beginning of each CPU's program. Starts its clock tick, which drives grace periods and runs callbacks. A tick
  // in user code or in idle_function() is a quiescent state. A CPU whose program has ended delays grace periods.
  virtual void start(Cpu& cpu) = 0;

  // Bracket a reader's section; may nest. No memory operation: the kernel's versions only disable preemption.
  virtual void read_lock(Cpu& cpu) = 0;
  virtual void read_unlock(Cpu& cpu) = 0;

  // Reports a quiescent state of this CPU's program: a context switch, user code, the idle loop. REQUIRES: the CPU is not
  // inside read_lock(). Errors: ModelFailure if it is.
  virtual void quiescent(Cpu& cpu) = 0;
  // The function to name in a FunctionScope around sleep(), or around a spin in its place.
  [[nodiscard]] virtual FunctionId idle_function() const = 0;

  // Runs `callback` on this CPU, in softirq context, after a grace period. `head`: kHeadBytes inside the object, which link it
  // into a queue. REQUIRES: the caller is not an interrupt handler. Errors: ModelFailure, also later if a callback is about to
  // run before its grace period is over.
  static constexpr int kHeadBytes = 16;
  virtual void call(Cpu& cpu, Address head, std::function<void(Cpu&)> callback) = 0;
  // Waits for a grace period. Errors: ModelFailure inside read_lock() or a softirq, where the CPU would wait for itself.
  virtual void synchronize(Cpu& cpu) = 0;

  // For the thread of RcuOptions::excess_to_thread. Runs callbacks of this CPU that softirqs left over, until none is left or
  // `stop` returns true. Returns how many it ran.
  virtual std::int64_t run_excess(Cpu& cpu, const std::function<bool()>& stop) = 0;

  // The number of callbacks now waiting on `cpu`.
  [[nodiscard]] virtual std::size_t queued_on(const Cpu& cpu) const = 0;
  // Call when the run is over. All grace periods that ended, and all batches that ran, both in the order of time.
  [[nodiscard]] virtual const std::vector<GracePeriod>& grace_periods() const = 0;
  [[nodiscard]] virtual std::vector<CallbackBatch> batches() const = 0;

  // Metrics rcu.grace_periods, rcu.grace_period_mean_us, ..., of grace periods that ended in the measured time.
  virtual void report(MetricSink& metrics) const = 0;
  // Metrics rcu.reports, rcu.report_mean_ns, ...: the CPUs' cost of reporting quiescent states.
  virtual void report_reports(MetricSink& metrics) const = 0;
};

// Reports the metrics of `rcu`. Null, before any run: only declares them.
void report_rcu(const Rcu* rcu, MetricSink& metrics);

struct RcuOptions {
  double tick_us = 1000;         // 10000 in 2.4, 1000 in 2.6
  std::int64_t batch_limit = 0;  // callbacks that run before other softirqs get their turn; 0: no limit
  std::string lock = "ttas";     // the control block's lock
  // Who runs callbacks beyond batch_limit. False: the next softirq. True: a preemptible thread, with run_excess().
  bool excess_to_thread = false;
  // call_rcu_rt() of McKenney and Sarma: on a machine of one CPU, call() runs its callback at once. Not allowed if the caller
  // still uses what it has removed, or if it has interrupted a reader of that on the same CPU.
  bool direct = false;
  // call_rcu_bh() of 2.6.6: readers are softirqs. So the end of a softirq is a quiescent state, and so is a tick outside a
  // softirq.
  bool readers_in_softirqs = false;
  // The CPUs' ticks come at the same time, not spread over a tick's length: Linux' `skew_tick=0`, the default since 2.6.36.
  bool ticks_together = false;
  RcuMistake mistake = RcuMistake::none;

  // Declares rcu_tick_us and rcu_batch_limit, for workloads whose users may choose them.
  void bind(ParameterBinder& parameters);
};

// The shape of hierarchical RCU's tree; at most 64 each.
struct TreeRcuOptions {
  std::int64_t leaf_fanout = 16;  // CPUs below a leaf
  std::int64_t fanout = 64;       // nodes below any other node

  // Declares rcu_leaf_fanout and rcu_fanout.
  void bind(ParameterBinder& parameters);
};

std::unique_ptr<Rcu> make_classic_rcu(const WorkloadSetup& setting, Interrupts& interrupts, const RcuOptions& options);
std::unique_ptr<Rcu> make_tree_rcu(const WorkloadSetup& setting, Interrupts& interrupts, const RcuOptions& options,
                                   const TreeRcuOptions& tree);

}  // namespace linebounce::workloads
