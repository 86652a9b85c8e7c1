// The grace periods of all CPUs as hierarchical RCU keeps them (McKenney: "Hierarchical RCU", 2008; Linux 2.6.29 and later): in
// place of one mask under one lock a tree of nodes, each with a mask and a lock of its own. A CPU clears its bit in its leaf;
// who clears a node's last bit clears the node's own in its parent; who clears the root's last bit has ended the grace period.
// So only one CPU of a leaf comes to the root.
//
// CPUs look at their leaf alone, so what all must know is written to every node from the root down: first that a grace period
// is over, then that the next has begun. Who ends one, or asks for the first, does so in its own softirq; later kernels have a
// thread for it. Numbers count from 1; a leaf may be behind the root by one, which is why a new callback waits for the one
// after the next.
#pragma once

#include <vector>

#include "models/core/cpu.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/rcu/grace_periods.hpp"

namespace linebounce::workloads {

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
    std::size_t parent = 0;  // the root's is itself
    int place = 0;           // in the parent's mask
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
