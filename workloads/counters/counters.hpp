// What counters are made of.
#pragma once

#include <memory>
#include <string>

#include "workloads/counters/alloc_percpu.hpp"
#include "workloads/counters/counter.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/rcu/rcu.hpp"

namespace linebounce::workloads {

// Where a counter is to be, and what it may need.
struct CounterPlace {
  AddressSpace& memory;
  LockSet& locks;
  PerCpuAllocator& percpu;  // kCounterPerCpuBytes a counter
  Interrupts& interrupts;   // their softirqs may count, too
  Rcu* rcu = nullptr;       // bigref needs one
  std::string name;         // of the objects
  int cpus = 1;
  std::optional<Address> word = {};  // kCounterBytes of an object that is there, zero; none: a line of its own

  // `layout` on a line of its own unless `word` says where.
  [[nodiscard]] Address place(Layout layout) const;
};
constexpr int kCounterBytes = 16;
constexpr int kCounterPerCpuBytes = 8;

// True if the count has fallen to 0; then the lock is held, so that nobody finds the object meanwhile (Linux:
// atomic_dec_and_lock, as on i386). Errors: ModelFailure, if it was 0 before.
bool dec_and_lock(Cpu& cpu, Address count, MeteredLock& lock, int bytes = 8);

// One more, one fewer in a word of this CPU's own, which softirqs of this CPU may change as well: one instruction, not atomic
// to other CPUs.
void add_to_own_word(Cpu& cpu, Interrupts& interrupts, Address word, Value amount);

}  // namespace linebounce::workloads
