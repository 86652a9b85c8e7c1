// A queue in which each waiter spins on the node of the one before it (Craig: "Building FIFO and priority-queuing spin locks
// from atomic swap", 1993; Landin, Hagersten: "Queue locks on cache coherent multiprocessors", 1994). Who releases leaves his
// node to the one behind him and goes on with the node that he waited at. The lock itself has one node more, that of nobody.
#include <vector>

#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

constexpr Address kClhWaits = 0;  // of a node

class ClhLock final : public Lock {
 public:
  ClhLock(Address tail, QueueNodes& nodes, int cpus, const WaitsIn& waits_in)
      : tail_(tail), nodes_(&nodes), uses_(static_cast<std::size_t>(cpus)), waits_in_(waits_in) {}

  bool acquire(Cpu& cpu) override {
    const Address mine = nodes_->take(cpu);
    cpu.store(mine + kClhWaits, 1);
    const Address before = cpu.exchange(tail_, mine);
    const bool waited = wait_at(cpu, before);
    use(cpu) = {mine, before};
    return waited;
  }

  // The last node may have been used again between the two looks at it; then it has taken its place in the queue and must wait.
  bool try_acquire(Cpu& cpu) override {
    const Address before = cpu.load(tail_);
    if (cpu.load_acquire(before + kClhWaits) != 0) return false;
    const Address mine = nodes_->take(cpu);
    cpu.store(mine + kClhWaits, 1);
    if (cpu.compare_exchange(tail_, before, mine) != before) {
      nodes_->give(cpu, mine);
      return false;
    }
    wait_at(cpu, before);
    use(cpu) = {mine, before};
    return true;
  }

  void release(Cpu& cpu) override {
    const Use now = use(cpu);
    cpu.store_release(now.mine + kClhWaits, 0);
    nodes_->give(cpu, now.before);
  }

 private:
  struct Use {
    Address mine = 0, before = 0;
  };

  bool wait_at(Cpu& cpu, Address before) const {
    if (cpu.load_acquire(before + kClhWaits) == 0) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    cpu.spin_until_acquire(before + kClhWaits, [](Value waits) { return waits == 0; });
    return true;
  }
  Use& use(const Cpu& cpu) { return uses_[static_cast<std::size_t>(cpu.id().value)]; }

  Address tail_;
  QueueNodes* nodes_;
  std::vector<Use> uses_;  // by CPU: each knows its own, as from its stack
  WaitsIn waits_in_;
};

}  // namespace

std::unique_ptr<Lock> make_clh_lock(const LockPlace& place) {
  const int line = place.memory.line_bytes();
  const Layout node{.name = "clh_node", .size = line, .fields = {{"waits", kClhWaits}}};
  const Address tail = place.place({.name = "clh_lock", .fields = {{"tail", 0}}});
  place.memory.preset(tail, place.memory.place(node, place.name + ".node", line));
  return std::make_unique<ClhLock>(tail, place.per_cpu.nodes(node), place.per_cpu.cpus(), place.waits_in);
}

}  // namespace linebounce::workloads
