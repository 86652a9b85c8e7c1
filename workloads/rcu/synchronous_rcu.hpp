// RCU without clock ticks and callbacks: the updater drives the grace period, and waits for it. Readers announce in words of
// their own, in simulated memory, that they read (SRCU) or that they have stopped (QSBR).
#pragma once

#include <memory>
#include <string>

#include "workloads/program/workload.hpp"
#include "workloads/rcu/rcu_mistake.hpp"

namespace linebounce::workloads {

class SynchronousRcu {
 public:
  virtual ~SynchronousRcu() = default;

  // Called at the beginning of each CPU's program.
  virtual void start(Cpu& cpu) = 0;

  // Bracket a reader's section. read_unlock() takes what read_lock() has returned. REQUIRES: the caller is no interrupt
  // handler.
  virtual int read_lock(Cpu& cpu) = 0;
  virtual void read_unlock(Cpu& cpu, int section) = 0;

  // A quiescent state of the CPU's program. A grace period of QSBR waits for it, one of SRCU does not. REQUIRES: the CPU is
  // inside no section. Errors: ModelFailure.
  virtual void quiescent(Cpu& cpu) = 0;
  // Bracket times in which a CPU reads nothing and can't announce that: it sleeps, or its program has ended. REQUIRES: as for
  // quiescent().
  virtual void go_offline(Cpu& cpu) = 0;
  virtual void go_online(Cpu& cpu) = 0;

  // Returns after a grace period. Errors: ModelFailure inside a section, and if a reader is left that began before.
  virtual void synchronize(Cpu& cpu) = 0;

  // Metrics rcu.grace_periods, rcu.grace_period_mean_us, ..., of grace periods that ended in the measured time.
  virtual void report(MetricSink& metrics) const = 0;
  // Metrics rcu.reports, rcu.report_mean_ns, ...: what the CPUs pay to report quiescent states.
  virtual void report_reports(MetricSink& metrics) const = 0;
};

struct SynchronousRcuOptions {
  std::string lock = "mutex";  // the lock among updaters
  double retry_us = 5;         // between two checks of SRCU's updater whether readers are left
  RcuMistake mistake = RcuMistake::none;
};

std::unique_ptr<SynchronousRcu> make_srcu(const WorkloadSetup& setting, const SynchronousRcuOptions& options);
std::unique_ptr<SynchronousRcu> make_qsbr(const WorkloadSetup& setting, const SynchronousRcuOptions& options);

}  // namespace linebounce::workloads
