// RCU without clock ticks and callbacks: the updater itself drives the grace period, and waits for its end. Readers announce
// that they read (SRCU), or that they have stopped reading (QSBR), in per-CPU words in simulated memory.
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

  // Bracket a reader's section. Pass to read_unlock() what read_lock() returned. REQUIRES: the caller is not an interrupt
  // handler.
  virtual int read_lock(Cpu& cpu) = 0;
  virtual void read_unlock(Cpu& cpu, int section) = 0;

  // Reports a quiescent state of the CPU's program. A QSBR grace period waits for one on each CPU; an SRCU grace period does
  // not. REQUIRES: the CPU is in no section. Errors: ModelFailure if it is.
  virtual void quiescent(Cpu& cpu) = 0;
  // Bracket a time in which the CPU reads nothing and can't report quiescent states: it sleeps, or its program has ended.
  // REQUIRES: as for quiescent().
  virtual void go_offline(Cpu& cpu) = 0;
  virtual void go_online(Cpu& cpu) = 0;

  // Waits for a grace period. Errors: ModelFailure if called inside a section, or if a reader is left that began before the
  // call.
  virtual void synchronize(Cpu& cpu) = 0;

  // Metrics rcu.grace_periods, rcu.grace_period_mean_us, ..., of grace periods that ended in the measured time.
  virtual void report(MetricSink& metrics) const = 0;
  // Metrics rcu.reports, rcu.report_mean_ns, ...: the CPUs' cost of reporting quiescent states.
  virtual void report_reports(MetricSink& metrics) const = 0;
};

struct SynchronousRcuOptions {
  std::string lock = "mutex";  // the lock among updaters
  double retry_us = 5;         // time between two checks by SRCU's updater of whether readers are left
  RcuMistake mistake = RcuMistake::none;
};

std::unique_ptr<SynchronousRcu> make_srcu(const WorkloadSetup& setting, const SynchronousRcuOptions& options);
std::unique_ptr<SynchronousRcu> make_qsbr(const WorkloadSetup& setting, const SynchronousRcuOptions& options);

}  // namespace linebounce::workloads
