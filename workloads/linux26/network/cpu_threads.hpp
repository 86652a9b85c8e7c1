// What shares a CPU with softirqs: a process that never sleeps, and ksoftirqd, which is left the softirqs that come faster than
// they are handled. As in Linux 2.6.0: softirqs run when an interrupt ends, at whoever's expense; a thread that has used up its
// time slice waits until all others have used up theirs; the process goes first, for ksoftirqd has the lowest priority. Code of
// the kernel is not preempted.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/program/interrupts.hpp"
#include "workloads/program/parameter_binder.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/rcu/rcu.hpp"

namespace linebounce::workloads {

struct CpuThreadsOptions {
  int processes = 1;
  double look_us = 1;
  int process_slice_ticks = 102;
  int ksoftirqd_slice_ticks = 10;
  int softirq_rounds = Interrupts::kRounds;
  int softirq_quota_pct = 100;

  void bind(ParameterBinder& parameters);
};

class CpuThreads {
 public:
  CpuThreads(const WorkloadSetup& setting, Interrupts& interrupts, Rcu& rcu, const CpuThreadsOptions& options);

  // The program of this CPU from here on: its process if it has one, else the idle loop. Does not return.
  void run(Cpu& cpu);
  // One more clock tick has passed.
  void tick(Cpu& cpu);

  // The word that CPU 0's ticks count in.
  [[nodiscard]] Address jiffies() const { return jiffies_; }
  // Threads that would run on this CPU, the one that does among them.
  [[nodiscard]] int run_queue_length(int cpu) const;

  // starvation.longest_ms, starvation.longer_than_1_s: between two looks of a process at the clock; softirq.*.
  void report(MetricSink& metrics) const;

 private:
  struct Thread {
    bool runnable = false;
    bool expired = false;  // waits until the others' slices are used up, too
    int ticks_left = 0;
  };
  struct OfCpu {
    Thread process, ksoftirqd;
    bool in_ksoftirqd = false;
    bool reschedule = false;
    Tick softirqs_began = 0;     // of those that count against the quota
    Tick quota_from = 0;         // since when the share is counted
    Tick in_softirqs = 0;        // since then
    Tick looked_at = -1;         // the process, at the clock
    double longest_ns = 0;       // between two such looks
    std::int64_t starved = 0;    // of these, longer than a second
    std::int64_t left_over = 0;  // wake-ups of ksoftirqd
  };

  OfCpu& of(const Cpu& cpu) { return cpus_[cpu.id().value]; }
  void wake_ksoftirqd(Cpu& cpu);
  void returns(Cpu& cpu, FunctionId interrupted);
  void schedule(Cpu& cpu);
  void run_ksoftirqd(Cpu& cpu);
  [[nodiscard]] static bool ksoftirqd_is_next(OfCpu& own);
  void look(Cpu& cpu);
  bool within_quota(Cpu& cpu);

  CpuThreadsOptions options_;
  Interrupts* interrupts_;
  Rcu* rcu_;
  std::int64_t look_cycles_;
  Address jiffies_;
  FunctionId user_, schedule_, ksoftirqd_;
  std::vector<OfCpu> cpus_;
};

}  // namespace linebounce::workloads
