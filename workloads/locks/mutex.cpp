// A sleeping lock, as Linux' mutex of 2.6.30: who finds it taken spins while its owner runs, and goes to sleep in a queue when
// the owner sleeps. A release sets it free and then wakes the first sleeper, who may find that a spinning CPU was faster.
//
// No wake-up is lost: a sleeper marks the word under the queue's lock before it sleeps, and who releases a marked word takes
// the queue's lock and wakes the first; a wake-up that comes before the sleep ends it at once. Wake-ups for no reason do no
// harm. One that was meant for the program, not for the mutex, can't be told from its own: after a sleep it hands one on, so a
// program that sleeps elsewhere must look whether what it slept for has come, as everywhere.
#include <array>
#include <vector>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/locks/sleepers.hpp"

namespace linebounce::workloads {
namespace {

// The word. CPUs are counted from 1; 0 is nobody.
constexpr Address kOwner = 0;      // 2 bytes, with the mark
constexpr Address kQueueLock = 2;  // 1 byte
constexpr Address kFirst = 4;      // 2 bytes
constexpr Address kLast = 6;       // 2 bytes
constexpr int kMutexHalf = 2;
constexpr Value kSleepers = 1 << 15;  // the mark: a CPU sleeps for it

// What a CPU has in the queue: it can sleep for one mutex at a time.
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
    const Value first = cpu.load(word_ + kFirst, kMutexHalf);
    if (first != 0) cpu.store(node(first) + kWoken, 1);
    unlock_queue(cpu);
    if (first == 0) return;
    cpu.fence();  // an interrupt does not wait for stores: the sleeper must not look before it can see that it is woken
    cpu.wake(CpuId(static_cast<int>(first) - 1));
  }

 private:
  static Value number(const Cpu& cpu) { return static_cast<Value>(cpu.id().value) + 1; }
  static Value owner(Value word) { return word & ~kSleepers; }
  [[nodiscard]] Address node(Value number) const { return (*nodes_)[number - 1]; }

  // False: the owner sleeps.
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

  // A mark that is there stays. `mark`: sets it, whoever gets the mutex.
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
      cpu.store(word_ + kFirst, me, kMutexHalf);
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

  // True: has the mutex and has left the queue. REQUIRES: holds the queue's lock.
  bool take_as_first(Cpu& cpu) {
    const Value me = number(cpu);
    if (cpu.load(word_ + kFirst, kMutexHalf) != me) return false;
    const Value next = cpu.load(node(me) + kMutexNext);
    if (!take_if_free(cpu, kSleepers)) return false;
    cpu.store(word_ + kFirst, next, kMutexHalf);
    if (next == 0) {
      cpu.store(word_ + kLast, 0, kMutexHalf);
      cpu.store(word_ + kOwner, me, kMutexHalf);  // nobody else writes what is not free, without the queue's lock
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
  const std::vector<Address>* nodes_;  // by CPU
  Sleepers sleepers_;
  WaitsIn waits_in_;
};

std::unique_ptr<Lock> make_mutex(const LockPlace& place) {
  const Layout layout{.name = "mutex",
                      .fields = {{"owner", kOwner, kMutexHalf},
                                 {"queue_lock", kQueueLock, 1},
                                 {"first", kFirst, kMutexHalf},
                                 {"last", kLast, kMutexHalf}}};
  const Layout node{.name = "mutex_waiter", .size = 16, .fields = {{"next", kMutexNext}, {"woken", kWoken}}};
  const Address word = place.place(layout);
  const std::vector<Address>& nodes = place.per_cpu.shared(node);
  return std::make_unique<Mutex>(word, nodes, Sleepers(place.per_cpu), place.waits_in);
}

}  // namespace

LockEntry mutex() {
  return {.name = "mutex",
          .title = "Spins while the holder runs, else sleeps in a queue (Linux 2.6.30)",
          .traits = {.sleeps = true},
          .create = make_mutex};
}

}  // namespace linebounce::workloads
