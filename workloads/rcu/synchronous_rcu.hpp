// RCU that needs no clock tick and knows no callbacks: who has removed something drives the grace period, and waits for it.
// Readers tell by words of their own, in simulated memory, that they read (SRCU) or that they have stopped (QSBR).
#pragma once

#include <memory>
#include <string>

#include "workloads/program/workload.hpp"
#include "workloads/rcu/rcu_mistake.hpp"

namespace linebounce::workloads {

class SynchronousRcu {
 public:
  virtual ~SynchronousRcu() = default;

  // At the beginning of each CPU's program.
  virtual void start(Cpu& cpu) = 0;

  // Around what a reader may see. read_unlock() is given what read_lock() has returned. Not from interrupts' handlers.
  virtual int read_lock(Cpu& cpu) = 0;
  virtual void read_unlock(Cpu& cpu, int section) = 0;

  // The CPU's program holds no reference of a reader. A QSBR grace period waits for it, an SRCU one doesn't.
  // REQUIRES: it is inside no section. Errors: ModelFailure.
  virtual void quiescent(Cpu& cpu) = 0;
  // Around times in which a CPU reads nothing and can't say so: it sleeps, its program has ended. REQUIRES: as quiescent().
  virtual void go_offline(Cpu& cpu) = 0;
  virtual void go_online(Cpu& cpu) = 0;

  // Returns after a grace period. Errors: ModelFailure inside a section, and where a reader is left who began before.
  virtual void synchronize(Cpu& cpu) = 0;

  // rcu.grace_periods, rcu.grace_period_mean_us, ...: of those that ended in the measured time.
  virtual void report(MetricSink& metrics) const = 0;
  // rcu.reports, rcu.report_mean_ns, ...: what it cost the CPUs to report quiescent states.
  virtual void report_reports(MetricSink& metrics) const = 0;
};

struct SynchronousRcuOptions {
  std::string lock = "mutex";  // of updaters among each other
  double retry_us = 5;         // between two looks of SRCU's updater whether readers are left
  RcuMistake mistake = RcuMistake::none;
};

std::unique_ptr<SynchronousRcu> make_srcu(const WorkloadSetup& setting, const SynchronousRcuOptions& options);
std::unique_ptr<SynchronousRcu> make_qsbr(const WorkloadSetup& setting, const SynchronousRcuOptions& options);

}  // namespace linebounce::workloads
