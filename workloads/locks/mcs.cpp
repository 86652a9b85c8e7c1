// A queue in which each waiter spins on a word of its own line (Mellor-Crummey, Scott: "Algorithms for scalable synchronization
// on shared-memory multiprocessors", 1991): a release touches one waiter's line, not all of them.
#include <vector>

#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

constexpr Address kMcsNext = 0;
constexpr Address kMcsWaits = 8;

class McsLock final : public Lock {
 public:
  McsLock(Address tail, QueueNodes& nodes, int cpus, const WaitsIn& waits_in)
      : tail_(tail), nodes_(&nodes), holds_with_(static_cast<std::size_t>(cpus)), waits_in_(waits_in) {}

  bool acquire(Cpu& cpu) override {
    const Address mine = nodes_->take(cpu);
    cpu.store(mine + kMcsNext, 0);
    cpu.store(mine + kMcsWaits, 1);
    const Address before = cpu.exchange(tail_, mine);
    if (before != 0) {
      const FunctionScope waiting(cpu, waits_in_.of(cpu));
      cpu.store_release(before + kMcsNext, mine);
      cpu.spin_until_acquire(mine + kMcsWaits, [](Value waits) { return waits == 0; });
    }
    node(cpu) = mine;
    return before != 0;
  }

  bool try_acquire(Cpu& cpu) override {
    const Address mine = nodes_->take(cpu);
    cpu.store(mine + kMcsNext, 0);
    if (cpu.compare_exchange(tail_, 0, mine) != 0) {
      nodes_->give(cpu, mine);
      return false;
    }
    node(cpu) = mine;
    return true;
  }

  void release(Cpu& cpu) override {
    const Address mine = node(cpu);
    pass_on(cpu, mine);
    nodes_->give(cpu, mine);
  }

 private:
  void pass_on(Cpu& cpu, Address mine) const {
    Address after = cpu.load(mine + kMcsNext);
    if (after == 0) {
      if (cpu.compare_exchange(tail_, mine, 0) == mine) return;
      after = cpu.spin_until(mine + kMcsNext, [](Value next) { return next != 0; });
    }
    cpu.store_release(after + kMcsWaits, 0);
  }
  Address& node(const Cpu& cpu) { return holds_with_[static_cast<std::size_t>(cpu.id().value)]; }

  Address tail_;
  QueueNodes* nodes_;
  std::vector<Address> holds_with_;  // by CPU: each knows its own node, as from its stack
  WaitsIn waits_in_;
};

}  // namespace

std::unique_ptr<Lock> make_mcs_lock(const LockPlace& place) {
  const Layout node{
      .name = "mcs_node", .size = place.memory.line_bytes(), .fields = {{"next", kMcsNext}, {"waits", kMcsWaits}}};
  const Address tail = place.place({.name = "mcs_lock", .fields = {{"tail", 0}}});
  return std::make_unique<McsLock>(tail, place.per_cpu.nodes(node), place.per_cpu.cpus(), place.waits_in);
}

}  // namespace linebounce::workloads
