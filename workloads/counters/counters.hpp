// The parts that counters are made of.
#pragma once

#include <memory>
#include <string>

#include "workloads/counters/alloc_percpu.hpp"
#include "workloads/counters/counter.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/rcu/rcu.hpp"

namespace linebounce::workloads {

// Where to place a counter, and the services that it may use.
struct CounterPlace {
  AddressSpace& memory;
  LockSet& locks;
  PerCpuAllocator& percpu;  // kCounterPerCpuBytes for each counter
  Interrupts& interrupts;   // only used if softirqs change the counter, too
  Rcu* rcu = nullptr;       // required by bigref
  std::string name;         // the name of the counter's objects
  int cpus = 1;
  // kCounterBytes inside an existing object, zeroed; if absent, the counter has a line of its own
  std::optional<Address> word = {};

  // Places `layout` on a line of its own, or at `word` if there is one.
  [[nodiscard]] Address place(Layout layout) const;
};
constexpr int kCounterBytes = 16;
constexpr int kCounterPerCpuBytes = 8;

// Returns true if the count has fallen to 0. The CPU then holds the lock, so that no other CPU finds the object (Linux:
// atomic_dec_and_lock, as on i386). Errors: ModelFailure if the count was 0 before.
bool dec_and_lock(Cpu& cpu, Address count, MeteredLock& lock, int bytes = 8);

// Adds to this CPU's own word, which its softirqs may change, too. The addition is one instruction, so no softirq can interrupt
// it; it is not atomic with respect to other CPUs.
void add_to_own_word(Cpu& cpu, Interrupts& interrupts, Address word, Value amount);

}  // namespace linebounce::workloads
