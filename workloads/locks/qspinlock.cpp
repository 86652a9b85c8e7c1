// Linux's queued spin lock (since 4.2). The lock has four bytes: the locked byte; the pending byte, which is set while the
// first waiter spins on the locked byte; and two bytes that name the last node of a queue. The first waiter needs no node.
// Further waiters queue as in an MCS lock. Each uses one of the four nodes of its CPU, which are for task, softirq, interrupt
// and NMI.
#include <vector>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

// Offsets of the word's parts, which are also read and written separately.
constexpr Address kLocked = 0;         // 1 byte
constexpr Address kPending = 1;        // 1 byte
constexpr Address kLockedPending = 0;  // 2 bytes
constexpr Address kTail = 2;           // 2 bytes
constexpr int kQspinlockBytes = 4;
constexpr Value kIsLocked = 1;
constexpr Value kIsPending = 1 << 8;
constexpr int kTailShift = 16;
constexpr Value kLockedMask = 0xFF;
constexpr Value kLockedPendingMask = 0xFFFF;

// A CPU's nodes, and offsets in a node. A count in the first node tells how many nodes are in use.
constexpr int kNodes = 4;
constexpr Address kNodeBytes = 16;
constexpr Address kNodeNext = 0;
constexpr Address kServed = 8;    // 4 bytes
constexpr Address kNesting = 12;  // 4 bytes
constexpr int kTailBytes = 4;

class QueuedSpinLock final : public Lock {
 public:
  QueuedSpinLock(Address word, const std::vector<Address>& nodes, const WaitsIn& waits_in)
      : word_(word), nodes_(&nodes), waits_in_(waits_in) {}

  bool acquire(Cpu& cpu) override {
    const Value seen = cpu.compare_exchange(word_, 0, kIsLocked, kQspinlockBytes);
    if (seen == 0) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    if (!wait_as_pending(cpu, seen)) queue(cpu);
    return true;
  }

  bool try_acquire(Cpu& cpu) override {
    return cpu.load(word_, kQspinlockBytes) == 0 && cpu.compare_exchange(word_, 0, kIsLocked, kQspinlockBytes) == 0;
  }

  void release(Cpu& cpu) override { cpu.store_release(word_ + kLocked, 0, 1); }

 private:
  // Tries to wait as the first waiter. Returns true with the lock, or false if the CPU must queue behind other waiters.
  bool wait_as_pending(Cpu& cpu, Value seen) const {
    // The lock is free, and the pending waiter is about to take it. (Linux limits this spin. On x86 it reads the word 512
    // times, which takes longer than the pending waiter needs.)
    if (seen == kIsPending)
      seen = cpu.spin_until(
          word_, [](Value word) { return word != kIsPending; }, kQspinlockBytes);
    if ((seen & ~kLockedMask) != 0) return false;
    const bool was_pending = cpu.exchange(word_ + kPending, 1, 1) != 0;
    const Value now = cpu.load(word_, kQspinlockBytes);
    if (was_pending || now >> kTailShift != 0) {
      if (!was_pending) cpu.store(word_ + kPending, 0, 1);
      return false;
    }
    cpu.spin_until_acquire(
        word_ + kLocked, [](Value locked) { return locked == 0; }, 1);
    cpu.store(word_ + kLockedPending, kIsLocked, 2);
    return true;
  }

  void queue(Cpu& cpu) const {
    const Address first = (*nodes_)[static_cast<std::size_t>(cpu.id().value)];
    const Value index = cpu.load(first + kNesting, kTailBytes);
    cpu.store(first + kNesting, index + 1, kTailBytes);
    if (index < kNodes) {
      wait_in_queue(cpu, first + index * kNodeBytes, (static_cast<Value>(cpu.id().value) + 1) * kNodes + index);
    } else {
      // All nodes of the CPU are in use, because interrupts are nested too deeply. The CPU spins on the word instead.
      while (cpu.compare_exchange(word_, 0, kIsLocked, kQspinlockBytes) != 0) {
        cpu.spin_until(
            word_, [](Value word) { return word == 0; }, kQspinlockBytes);
      }
    }
    cpu.store(first + kNesting, index, kTailBytes);
  }

  // Queues at the node `mine`, which the word encodes as `tail`. Returns with the lock.
  void wait_in_queue(Cpu& cpu, Address mine, Value tail) const {
    cpu.store(mine + kServed, 0, kTailBytes);
    cpu.store(mine + kNodeNext, 0);
    if (try_to_lock(cpu)) return;
    const Value before = cpu.exchange(word_ + kTail, tail, 2);
    if (before != 0) {
      cpu.store(node(before) + kNodeNext, mine);
      cpu.spin_until_acquire(
          mine + kServed, [](Value served) { return served != 0; }, kTailBytes);
    }
    const Value word = cpu.spin_until_acquire(
        word_, [](Value now) { return (now & kLockedPendingMask) == 0; }, kQspinlockBytes);
    if (word >> kTailShift == tail && cpu.compare_exchange(word_, word, kIsLocked, kQspinlockBytes) == word) return;
    cpu.store(word_ + kLocked, kIsLocked, 1);
    const Address next = cpu.spin_until(mine + kNodeNext, [](Value after) { return after != 0; });
    cpu.store_release(next + kServed, 1, kTailBytes);
  }

  bool try_to_lock(Cpu& cpu) const {
    return cpu.load(word_, kQspinlockBytes) == 0 && cpu.compare_exchange(word_, 0, kIsLocked, kQspinlockBytes) == 0;
  }

  [[nodiscard]] Address node(Value tail) const { return (*nodes_)[tail / kNodes - 1] + tail % kNodes * kNodeBytes; }

  Address word_;
  const std::vector<Address>* nodes_;  // each CPU's first node; the other three follow it
  WaitsIn waits_in_;
};

Layout nodes_layout() {
  Layout layout{.name = "qnodes", .size = kNodes * static_cast<int>(kNodeBytes), .fields = {}};
  for (int i = 0; i < kNodes; ++i) {
    const int offset = i * static_cast<int>(kNodeBytes);
    layout.fields.push_back({"next", offset + static_cast<int>(kNodeNext)});
    layout.fields.push_back({"served", offset + static_cast<int>(kServed), kTailBytes});
    layout.fields.push_back({"count", offset + static_cast<int>(kNesting), kTailBytes});
  }
  return layout;
}

std::unique_ptr<Lock> make_qspinlock(const LockPlace& place) {
  const Layout layout{.name = "qspinlock", .fields = {{"locked", kLocked, 1}, {"pending", kPending, 1}, {"tail", kTail, 2}}};
  const Address word = place.place(layout);
  return std::make_unique<QueuedSpinLock>(word, place.per_cpu.shared(nodes_layout()), place.waits_in);
}

}  // namespace

LockEntry qspinlock() {
  return {.name = "qspinlock",
          .title = "Linux since 4.2: four bytes; the first waiter watches them, the others queue behind it",
          .traits = {.fits_4_bytes = true},
          .create = make_qspinlock};
}

}  // namespace linebounce::workloads
