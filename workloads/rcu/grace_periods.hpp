// The grace periods of all CPUs, in simulated memory: whose quiescent state is awaited, and what is over. They have numbers, in
// their order. One under a single lock (control_block.hpp), one as a tree (node_tree.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/core/cpu.hpp"
#include "models/timeline.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/rcu/rcu.hpp"

namespace linebounce::workloads {

// How long grace periods took: kept beside the simulation, under whatever lock guards the grace period.
class GracePeriodTimes {
 public:
  void begin(const Cpu& cpu) { began_ = cpu.local_time(); }
  void end(const Cpu& cpu) {
    const Tick now = cpu.local_time();
    ++number_;
    if (cpu.timeline() != nullptr) cpu.timeline()->grace_period(number_, began_, now);
    log_.push_back({began_, now});
    if (!cpu.measures(now)) return;
    const double took_ns = cpu.to_ns(now - began_);
    ++ended_;
    sum_ns_ += took_ns;
    longest_ns_ = std::max(longest_ns_, took_ns);
  }

  // In the order in which they ended, those of the warm-up among them.
  [[nodiscard]] const std::vector<GracePeriod>& log() const { return log_; }
  [[nodiscard]] std::int64_t ended() const { return ended_; }  // in the measured time

  void report(MetricSink& metrics) const {
    metrics.count("rcu.grace_periods", ended_);
    if (ended_ == 0) return;
    metrics.mean("rcu.grace_period_mean_us", sum_ns_ / 1000, ended_);
    metrics.metric("rcu.grace_period_max_us", longest_ns_ / 1000);
  }

 private:
  Tick began_ = 0;
  std::int64_t number_ = 0;  // of the last that ended, from 1
  std::vector<GracePeriod> log_;
  std::int64_t ended_ = 0;  // in the measured time; so are the others
  double sum_ns_ = 0, longest_ns_ = 0;
};

// What all CPUs' reports of quiescent states cost, in the measured time. One for each CPU, added up at the end.
struct QuiescenceReports {
  std::int64_t reports = 0;
  double took_ns = 0, longest_ns = 0;

  void add(const Cpu& cpu, Tick from) {
    const Tick now = cpu.local_time();
    if (!cpu.measures(now)) return;
    const double ns = cpu.to_ns(now - from);
    ++reports;
    took_ns += ns;
    longest_ns = std::max(longest_ns, ns);
  }
  void add(const QuiescenceReports& other) {
    reports += other.reports;
    took_ns += other.took_ns;
    longest_ns = std::max(longest_ns, other.longest_ns);
  }
  void report(std::int64_t grace_periods, MetricSink& metrics) const {
    metrics.count("rcu.reports", reports);
    if (reports == 0) return;
    metrics.mean("rcu.report_mean_ns", took_ns, reports);
    metrics.metric("rcu.report_max_ns", longest_ns);
    metrics.mean("rcu.reports_us_per_grace_period", took_ns / 1000, grace_periods);
  }
};

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
