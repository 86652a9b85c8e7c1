// Read-copy update (McKenney, Slingwine: "Read-Copy Update: Using Execution History to Solve Concurrency Problems", 1998; the
// kernel's of 2.6.0): readers take no lock; who removes something lets all CPUs go through a quiescent state, a grace period,
// before it frees what was removed.
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
  Tick at = 0;  // of the last one's end
  std::int64_t callbacks = 0;
};

class Rcu {
 public:
  virtual ~Rcu() = default;

  // At the beginning of each CPU's program: starts its clock tick, in which grace periods are driven and callbacks run.
  // A tick in user code or in idle_function() is a quiescent state. A CPU whose program has ended holds grace periods up.
  virtual void start(Cpu& cpu) = 0;

  // Around what a reader may see; they nest. No memory operation: the kernel's only disable preemption.
  virtual void read_lock(Cpu& cpu) = 0;
  virtual void read_unlock(Cpu& cpu) = 0;

  // This CPU's program holds no reference of a reader: a context switch, user code, the idle loop.
  // REQUIRES: it is inside no read_lock(). Errors: ModelFailure.
  virtual void quiescent(Cpu& cpu) = 0;
  // For a FunctionScope around sleep(), or a spin in place of it.
  [[nodiscard]] virtual FunctionId idle_function() const = 0;

  // `callback` runs on this CPU, in softirq context, after a grace period. `head`: kHeadBytes of the object, which queue it.
  // Not from an interrupt's handler. Errors: ModelFailure, also where a callback would run before its grace period is over.
  static constexpr int kHeadBytes = 16;
  virtual void call(Cpu& cpu, Address head, std::function<void(Cpu&)> callback) = 0;
  // Returns after a grace period. Errors: ModelFailure inside read_lock() or a softirq, where it would wait for itself.
  virtual void synchronize(Cpu& cpu) = 0;

  // With RcuOptions::excess_to_thread, in the program of the thread: runs callbacks of this CPU that softirqs left, until there
  // are none or `stop` says so. Returns how many.
  virtual std::int64_t run_excess(Cpu& cpu, const std::function<bool()>& stop) = 0;

  // This CPU's callbacks that wait now.
  [[nodiscard]] virtual std::size_t queued_on(const Cpu& cpu) const = 0;
  // When the run is over: all grace periods that ended, and all batches that ran, in the order of time.
  [[nodiscard]] virtual const std::vector<GracePeriod>& grace_periods() const = 0;
  [[nodiscard]] virtual std::vector<CallbackBatch> batches() const = 0;

  // rcu.grace_periods, rcu.grace_period_mean_us, ...: of those that ended in the measured time.
  virtual void report(MetricSink& metrics) const = 0;
  // rcu.reports, rcu.report_mean_ns, ...: what it cost the CPUs to report quiescent states.
  virtual void report_reports(MetricSink& metrics) const = 0;
};

// What `rcu` reports; null, where nothing has run: the declarations.
void report_rcu(const Rcu* rcu, MetricSink& metrics);

struct RcuOptions {
  double tick_us = 1000;         // 10000 in 2.4, 1000 in 2.6
  std::int64_t batch_limit = 0;  // callbacks before other softirqs have their turn; 0: any number
  std::string lock = "ttas";     // of the control block
  // Callbacks beyond batch_limit: the next softirq runs them, or, with run_excess(), a thread that can be preempted.
  bool excess_to_thread = false;
  // call_rcu_rt() of McKenney and Sarma: on a machine of one CPU, call() runs its callback at once. Not for callers that go on
  // using what they have removed, or that others of the same CPU, whom they have interrupted, are reading.
  bool direct = false;
  // call_rcu_bh() of 2.6.6: readers are softirqs, so that a softirq's end is a quiescent state, and so is a tick outside of
  // one.
  bool readers_in_softirqs = false;
  // The CPUs' ticks come at the same time, not spread over a tick's length: Linux' `skew_tick=0`, the default since 2.6.36.
  bool ticks_together = false;
  RcuMistake mistake = RcuMistake::none;

  // For workloads that let the user choose them: rcu_tick_us, rcu_batch_limit.
  void bind(ParameterBinder& parameters);
};

// Of hierarchical RCU; at most 64 each.
struct TreeRcuOptions {
  std::int64_t leaf_fanout = 16;  // CPUs of a leaf
  std::int64_t fanout = 64;       // nodes below any other

  // rcu_leaf_fanout, rcu_fanout
  void bind(ParameterBinder& parameters);
};

std::unique_ptr<Rcu> make_classic_rcu(const WorkloadSetup& setting, Interrupts& interrupts, const RcuOptions& options);
std::unique_ptr<Rcu> make_tree_rcu(const WorkloadSetup& setting, Interrupts& interrupts, const RcuOptions& options,
                                   const TreeRcuOptions& tree);

}  // namespace linebounce::workloads
