// Deadlocks between locks, with interrupts during a wait.
#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"
#include "workloads/locks/lock_set.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

// CPU 0 waits for `outer`, which CPU 1 holds; an interrupt during that wait takes `inner`, which CPU 1 wants. The handler
// releases it before the wait ends.
TEST(LockHolders, WhatAnInterruptTakesOnTopOfAWaitIsNotADeadlock) {
  SmallMachine small(small_machine(2));
  AddressSpace space(small.machine.store());
  LockSet locks(space, 2);
  MeteredLock& outer = locks.create("ttas", "outer");
  MeteredLock& inner = locks.create("ttas", "inner");
  int handled = 0;
  const Core::Program waits = [&](Cpu& cpu) {
    cpu.set_interrupt_handler([&](Cpu& on, int) {
      inner.acquire(on);
      on.compute(20000);
      inner.release(on);
      ++handled;
    });
    cpu.set_timer(5000, 0);
    cpu.compute(2000);
    outer.acquire(cpu);
    outer.release(cpu);
  };
  const Core::Program holds = [&](Cpu& cpu) {
    outer.acquire(cpu);
    cpu.compute(15000);
    inner.acquire(cpu);
    inner.release(cpu);
    outer.release(cpu);
  };
  small.machine.set_functions(space.functions().size());
  small.run({waits, holds});
  EXPECT_EQ(handled, 1);
}

}  // namespace
}  // namespace linebounce::test
