// The threads that share a CPU with softirqs: a process that never sleeps, and ksoftirqd, which handles the softirqs that are
// left over when too many are raised. As in Linux 2.6.0, softirqs run when an interrupt returns, and delay the interrupted
// thread. A thread that has used up its time slice waits until all other threads have, too. The process goes first, because
// ksoftirqd has the lowest priority. Kernel code is not preempted.
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

  // Runs this CPU's process if it has one, else the idle loop. Does not return.
  void run(Cpu& cpu);
  // Counts one more clock tick.
  void tick(Cpu& cpu);

  // Address of the word in which CPU 0 counts its ticks.
  [[nodiscard]] Address jiffies() const { return jiffies_; }
  // The number of runnable threads of this CPU, including the running one.
  [[nodiscard]] int run_queue_length(int cpu) const;

  struct Figures {
    std::optional<double> longest_ns;     // longest time between two reads of the clock by a process; empty: no processes
    std::optional<std::int64_t> starved;  // how many of these times are longer than a second
    std::int64_t left_over = 0;           // wake-ups of ksoftirqd
    void report(MetricSink& metrics) const;
  };
  [[nodiscard]] Figures figures() const;

 private:
  struct Thread {
    bool runnable = false;
    bool expired = false;  // the slice is used up; the thread waits until those of the other threads are, too
    int ticks_left = 0;
  };
  struct OfCpu {
    Thread process, ksoftirqd;
    bool in_ksoftirqd = false;
    bool reschedule = false;
    Tick softirqs_began = 0;     // when the current softirqs, whose time counts against the quota, began
    Tick quota_from = 0;         // start of the current quota period
    Tick in_softirqs = 0;        // since quota_from
    Tick looked_at = -1;         // when the process last read the clock; -1: not yet
    double longest_ns = 0;       // between two such looks
    std::int64_t starved = 0;    // how many times between two reads of the clock were longer than a second
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
