// A queue in which each waiter spins on a word of its own line (Mellor-Crummey, Scott: "Algorithms for scalable synchronization
// on shared-memory multiprocessors", 1991): a release touches one waiter's line, not all of them.
#include <vector>

#include "workloads/locks/locks.hpp"

namespace linebounce {

namespace {

constexpr Address kNext = 0;
constexpr Address kWaits = 8;

class McsLock final : public Lock {
 public:
  McsLock(Address tail, std::vector<Address> nodes) : tail_(tail), nodes_(std::move(nodes)) {}

  void acquire(Cpu& cpu) override {
    const Address mine = node(cpu);
    cpu.store(mine + kNext, 0);
    cpu.store(mine + kWaits, 1);
    const Address before = cpu.exchange(tail_, mine);
    if (before == 0) return;
    cpu.store_release(before + kNext, mine);
    cpu.spin_until_acquire(mine + kWaits, [](Value waits) { return waits == 0; });
  }

  void release(Cpu& cpu) override {
    const Address mine = node(cpu);
    Address after = cpu.load(mine + kNext);
    if (after == 0) {
      if (cpu.compare_exchange(tail_, mine, 0) == mine) return;
      after = cpu.spin_until(mine + kNext, [](Value next) { return next != 0; });
    }
    cpu.store_release(after + kWaits, 0);
  }

 private:
  [[nodiscard]] Address node(const Cpu& cpu) const { return nodes_[static_cast<std::size_t>(cpu.id().value)]; }

  Address tail_;
  std::vector<Address> nodes_;  // by CPU
};

}  // namespace

std::unique_ptr<Lock> make_mcs_lock(AddressSpace& memory, const std::string& name, int cpus) {
  const int line = memory.line_bytes();
  const Layout tail{.name = "mcs_lock", .size = line, .fields = {{"tail", 0}}};
  const Layout node{.name = "mcs_node", .size = line, .fields = {{"next", kNext}, {"waits", kWaits}}};
  const Address tail_at = memory.place(tail, name, line);
  std::vector<Address> nodes;
  for (int cpu = 0; cpu < cpus; ++cpu) nodes.push_back(memory.place(node, name + "[" + std::to_string(cpu) + "]", line));
  return std::make_unique<McsLock>(tail_at, std::move(nodes));
}

}  // namespace linebounce
