// The grace periods of all CPUs, in simulated memory: which quiescent states are awaited, and which grace periods are over.
// Grace periods are numbered in order. ControlBlock keeps this state under a single lock, NodeTree in a tree of nodes with
// locks of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/core/cpu.hpp"
#include "models/timeline.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/rcu/rcu.hpp"

namespace linebounce::workloads {

// Statistics of the lengths of grace periods, kept outside simulated memory. Call under the lock that protects the grace
// period.
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

  // In the order of their ends, including those of the warm-up.
  [[nodiscard]] const std::vector<GracePeriod>& log() const { return log_; }
  [[nodiscard]] std::int64_t ended() const { return ended_; }  // in the measured time

  void report(MetricSink& metrics) const {
    metrics.count("rcu.grace_periods", "", kNeither, "grace periods that ended in the measured time", ended_);
    metrics.mean("rcu.grace_period_mean_us", "us", kLower, "how long a grace period took, mean", sum_ns_ / 1000, ended_);
    metrics.value("rcu.grace_period_max_us", "us", kLower, "the longest grace period",
                  ended_ > 0 ? std::optional(longest_ns_ / 1000) : std::nullopt);
  }

 private:
  Tick began_ = 0;
  std::int64_t number_ = 0;  // number of the last grace period that ended, counting from 1
  std::vector<GracePeriod> log_;
  std::int64_t ended_ = 0;  // in the measured time, as the following members
  double sum_ns_ = 0, longest_ns_ = 0;
};

// The cost of reporting quiescent states, in the measured time. Each CPU has its own; they are added up at the end.
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
    metrics.count("rcu.reports", "", kNeither, "quiescent states that CPUs reported to a grace period", reports, kDetail);
    metrics.mean("rcu.report_mean_ns", "ns", kLower, "what it costs a CPU to report one, with the wait for locks, mean",
                 took_ns, reports);
    metrics.value("rcu.report_max_ns", "ns", kLower, "the dearest report",
                  reports > 0 ? std::optional(longest_ns) : std::nullopt, kDetail);
    metrics.mean("rcu.reports_us_per_grace_period", "us", kLower,
                 "what the reports of all CPUs cost together, for each grace period", took_ns / 1000,
                 reports > 0 ? grace_periods : 0);
  }
};

class GracePeriods {
 public:
  virtual ~GracePeriods() = default;

  // The number of the grace period in progress or, if there is none, of the next, as far as this CPU knows. A callback that
  // waits for `batch` may run when this number is larger.
  virtual Value current(Cpu& cpu) const = 0;
  // Returns true if a grace period is in progress that waits for this CPU.
  virtual bool waits_for(Cpu& cpu) const = 0;

  // Requests a grace period that begins after this call, and returns its number.
  virtual Value request_next(Cpu& cpu) = 0;
  // Reports that the CPU has passed a quiescent state since waits_for() became true.
  virtual void passed(Cpu& cpu) = 0;

  [[nodiscard]] const GracePeriodTimes& times() const { return times_; }

 protected:
  GracePeriodTimes times_;
};

// Grace periods as in Linux 2.6.0. A batch of callbacks waits for a grace period with a number. A mask has the bit of every CPU
// that has not passed a quiescent state since that grace period began. One lock protects all of this; CPUs read the mask
// without the lock to see whether they are awaited.
class ControlBlock final : public GracePeriods {
 public:
  ControlBlock(const WorkloadSetup& setting, const RcuOptions& options);

  Value current(Cpu& cpu) const override { return cpu.load(current_); }
  bool waits_for(Cpu& cpu) const override;
  Value request_next(Cpu& cpu) override;
  void passed(Cpu& cpu) override;

 private:
  [[nodiscard]] Address mask_word(int cpu) const { return mask_ + static_cast<Address>(cpu) / 64 * 8; }
  static Value bit(int cpu) { return Value{1} << (static_cast<unsigned>(cpu) % 64); }
  bool nobody_awaited(Cpu& cpu) const;
  void begin_if_wanted(Cpu& cpu, Value wanted);

  int cpus_;
  int awaited_;  // number of awaited CPUs, from 0 on
  MeteredLock* lock_ = nullptr;
  Address current_ = 0;
  Address last_wanted_ = 0;
  Address mask_ = 0;
  FunctionId start_batch_;
  FunctionId check_quiescent_state_;
};

// The grace periods of hierarchical RCU (McKenney: "Hierarchical RCU", 2008; Linux 2.6.29 and later). Instead of one mask under
// one lock, it has a tree of nodes, each with a mask and a lock. A CPU clears its bit in its leaf. The CPU that clears a node's
// last bit clears that node's bit in the parent. The CPU that clears the root's last bit has ended the grace period. So only
// one CPU of a leaf goes up to the parent.
//
// CPUs read only their leaf, so a global change is written to every node, from the root down: first that a grace period is
// over, then that the next has begun. The CPU that ends a grace period, or requests the first, does this in its own softirq;
// later kernels use a thread. Numbers count from 1. A leaf may be one grace period behind the root, which is why a new callback
// waits for the grace period after the next.
class NodeTree final : public GracePeriods {
 public:
  NodeTree(const WorkloadSetup& setting, const RcuOptions& options, const TreeRcuOptions& tree);

  Value current(Cpu& cpu) const override;
  bool waits_for(Cpu& cpu) const override;
  Value request_next(Cpu& cpu) override;
  void passed(Cpu& cpu) override;

 private:
  struct Node {
    Address data = 0;
    MeteredLock* lock = nullptr;
    std::size_t parent = 0;  // index in nodes_; the root's own parent is the root
    int place = 0;           // bit in the parent's mask
  };
  [[nodiscard]] std::size_t leaf_of(const Cpu& cpu) const { return first_leaf_ + cpu.id().value / leaf_fanout_; }
  [[nodiscard]] Value bit_of(const Cpu& cpu) const { return bit_at(cpu.id().value % static_cast<int>(leaf_fanout_)); }
  static Value bit_at(int place) { return Value{1} << static_cast<unsigned>(place); }

  void lay_out(const WorkloadSetup& setting, const RcuOptions& options, const TreeRcuOptions& tree);
  static bool record_wish(Cpu& cpu, const Node& node, Value wanted);
  Value take_charge(Cpu& cpu);
  void begin(Cpu& cpu, Value number);
  void end(Cpu& cpu);

  std::vector<Node> nodes_;  // the root first, then by level
  std::size_t first_leaf_ = 0;
  std::size_t leaf_fanout_;
  FunctionId report_, request_, start_, cleanup_;
};

}  // namespace linebounce::workloads
