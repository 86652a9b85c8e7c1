// A sleeping lock like Linux's mutex since 2.6.30. A CPU that finds the mutex taken spins while the owner runs, and goes to
// sleep in a queue when the owner sleeps. A release frees the mutex and then wakes the first sleeper, which may find that a
// spinning CPU has taken the mutex first.
//
// No wake-up is lost. A CPU marks the word under the queue's lock before it sleeps; a CPU that releases a marked word takes the
// queue's lock and wakes the first sleeper. If a wake-up comes before the sleep begins, the sleep ends at once. Spurious
// wake-ups do no harm. The mutex can't distinguish its own wake-ups from those meant for the program. After a sleep, it
// therefore sends its CPU another wake-up, so that none of the program's is lost. The program must check after each wake-up
// whether its condition holds, as is usual.
#include <array>
#include <vector>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/locks/sleepers.hpp"

namespace linebounce::workloads {
namespace {

// Offsets in the mutex's word. Owner, first and last are a CPU's number plus 1; 0 is no CPU.
constexpr Address kOwner = 0;        // 2 bytes, including the mark kSleepers
constexpr Address kQueueLock = 2;    // 1 byte
constexpr Address kFirstWaiter = 4;  // 2 bytes
constexpr Address kLast = 6;         // 2 bytes
constexpr int kMutexHalf = 2;
constexpr Value kSleepers = 1 << 15;  // the mark: at least one CPU sleeps until it gets the mutex

// Offsets in a CPU's queue node. All mutexes share one node per CPU, because a CPU can sleep for only one mutex at a time.
constexpr Address kMutexNext = 0;
constexpr Address kWoken = 8;

class Mutex final : public Lock {
 public:
  Mutex(Address word, const std::vector<Address>& nodes, Sleepers sleepers, const WaitsIn& waits_in)
      : word_(word), nodes_(&nodes), sleepers_(sleepers), waits_in_(waits_in) {}

  bool acquire(Cpu& cpu) override {
    if (try_acquire(cpu)) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    if (!spin(cpu)) queue(cpu);
    return true;
  }

  bool try_acquire(Cpu& cpu) override { return cpu.compare_exchange(word_ + kOwner, 0, number(cpu), kMutexHalf) == 0; }

  void release(Cpu& cpu) override {
    if ((cpu.exchange(word_ + kOwner, 0, kMutexHalf) & kSleepers) == 0) return;
    lock_queue(cpu);
    const Value first = cpu.load(word_ + kFirstWaiter, kMutexHalf);
    if (first != 0) cpu.store(node(first) + kWoken, 1);
    unlock_queue(cpu);
    if (first == 0) return;
    cpu.fence();  // orders the store to kWoken before the wake-up, so that the woken CPU sees it
    cpu.wake(CpuId(static_cast<int>(first) - 1));
  }

 private:
  static Value number(const Cpu& cpu) { return static_cast<Value>(cpu.id().value) + 1; }
  static Value owner(Value word) { return word & ~kSleepers; }
  [[nodiscard]] Address node(Value number) const { return (*nodes_)[number - 1]; }

  // Spins until this CPU has the mutex, and then returns true. Returns false when the owner sleeps.
  bool spin(Cpu& cpu) {
    for (;;) {
      const Value seen = owner(cpu.load(word_ + kOwner, kMutexHalf));
      if (seen == 0) {
        if (take_if_free(cpu, 0)) return true;
        continue;
      }
      const std::array<Address, 2> words = {word_ + kOwner, sleepers_.word(static_cast<int>(seen) - 1)};
      std::array<Value, 2> values{};
      const auto done = [seen](std::span<const Value> now) { return owner(now[0]) != seen || now[1] != 0; };
      cpu.spin_until_any(words, values, done, kMutexHalf);
      if (owner(values[0]) == seen) return false;
    }
  }

  // Takes the mutex if it is free; returns true if it was. In either case sets `mark` (kSleepers or 0). Never clears a mark.
  bool take_if_free(Cpu& cpu, Value mark) {
    for (;;) {
      const Value now = cpu.load(word_ + kOwner, kMutexHalf);
      const bool free = owner(now) == 0;
      const Value wanted = free ? number(cpu) | mark : now | mark;
      if (!free && wanted == now) return false;
      if (cpu.compare_exchange(word_ + kOwner, now, wanted, kMutexHalf) == now) return free;
    }
  }

  void queue(Cpu& cpu) {
    const Value me = number(cpu);
    lock_queue(cpu);
    cpu.store(node(me) + kMutexNext, 0);
    cpu.store(node(me) + kWoken, 0);
    const Value last = cpu.load(word_ + kLast, kMutexHalf);
    if (last == 0) {
      cpu.store(word_ + kFirstWaiter, me, kMutexHalf);
    } else {
      cpu.store(node(last) + kMutexNext, me);
    }
    cpu.store(word_ + kLast, me, kMutexHalf);
    bool slept = false;
    while (!take_as_first(cpu)) {
      unlock_queue(cpu);
      while (cpu.load(node(me) + kWoken) == 0) {
        sleepers_.sleep(cpu);
        slept = true;
      }
      lock_queue(cpu);
      cpu.store(node(me) + kWoken, 0);
    }
    unlock_queue(cpu);
    if (slept) cpu.wake(cpu.id());
  }

  // If this CPU is first in the queue and the mutex is free, takes the mutex, leaves the queue, and returns true. REQUIRES:
  // this CPU holds the queue's lock.
  bool take_as_first(Cpu& cpu) {
    const Value me = number(cpu);
    if (cpu.load(word_ + kFirstWaiter, kMutexHalf) != me) return false;
    const Value next = cpu.load(node(me) + kMutexNext);
    if (!take_if_free(cpu, kSleepers)) return false;
    cpu.store(word_ + kFirstWaiter, next, kMutexHalf);
    if (next == 0) {
      cpu.store(word_ + kLast, 0, kMutexHalf);
      cpu.store(word_ + kOwner, me, kMutexHalf);  // clears the mark; other CPUs write an owned word only under the queue's lock
    }
    return true;
  }

  void lock_queue(Cpu& cpu) const {
    while (cpu.exchange(word_ + kQueueLock, 1, 1) != 0) {
      cpu.spin_until(
          word_ + kQueueLock, [](Value locked) { return locked == 0; }, 1);
    }
  }
  void unlock_queue(Cpu& cpu) const { cpu.store_release(word_ + kQueueLock, 0, 1); }

  Address word_;
  const std::vector<Address>* nodes_;  // each CPU's queue node
  Sleepers sleepers_;
  WaitsIn waits_in_;
};

std::unique_ptr<Lock> make_mutex(const LockPlace& place) {
  const Layout layout{.name = "mutex",
                      .fields = {{"owner", kOwner, kMutexHalf},
                                 {"queue_lock", kQueueLock, 1},
                                 {"first", kFirstWaiter, kMutexHalf},
                                 {"last", kLast, kMutexHalf}}};
  const Layout node{.name = "mutex_waiter", .size = 16, .fields = {{"next", kMutexNext}, {"woken", kWoken}}};
  const Address word = place.place(layout);
  const std::vector<Address>& nodes = place.per_cpu.shared(node);
  return std::make_unique<Mutex>(word, nodes, Sleepers(place.per_cpu), place.waits_in);
}

}  // namespace

LockEntry mutex() {
  return {.name = "mutex",
          .title = "Spins while the holder runs, otherwise sleeps in a queue (Linux 2.6.30)",
          .traits = {.sleeps = true},
          .create = make_mutex};
}

}  // namespace linebounce::workloads
