// Where profilers see a wait: Linux on Itanium spins in ia64_spinlock_contention, but the first attempt is inlined in the
// caller.
#include <gmock/gmock.h>

#include "tests/models/support/small_machine.hpp"
#include "workloads/locks/lock_set.hpp"

namespace linebounce::workloads {
namespace {

using test::small_machine;
using test::SmallMachine;

// CPU 0 holds a lock for 10 us, and CPU 1 wants it in the meantime.
class WaitingFunction : public ::testing::TestWithParam<const char*> {
 protected:
  WaitingFunction() : small_(small_machine(2)), space_(small_.machine.store()), locks_(space_, 2) {
    caller_ = space_.function("caller", Mode::kernel);
    contention_ = space_.function("contention", Mode::kernel);
    lock_ = &locks_.create(GetParam(), "lock", {.word = {}, .waits_in = contention_, .figures = {}});
    small_.machine.set_functions(space_.functions().size());
  }

  // CPU 1's misses on the lock, by loads and by atomic operations.
  std::vector<Miss> waiters_misses() {
    small_.run({[this](Cpu& cpu) {
                  lock_->acquire(cpu);
                  cpu.compute(10'000);
                  lock_->release(cpu);
                },
                [this](Cpu& cpu) {
                  const FunctionScope scope(cpu, caller_);
                  cpu.compute(1'000);
                  lock_->acquire(cpu);
                  lock_->release(cpu);
                }});
    std::vector<Miss> misses;
    for (const Miss& miss : small_.misses()) {
      if (miss.cpu.value == 1 && miss.access != AccessKind::store) misses.push_back(miss);
    }
    return misses;
  }

  SmallMachine small_;
  AddressSpace space_;
  LockSet locks_;
  FunctionId caller_ = 0, contention_ = 0;
  MeteredLock* lock_ = nullptr;
};

TEST_P(WaitingFunction, HasAllButTheFirstAttempt) {
  const std::vector<Miss> misses = waiters_misses();
  ASSERT_GE(misses.size(), 2U);
  EXPECT_EQ(misses.front().function, caller_);
  EXPECT_EQ(misses.front().access, AccessKind::atomic);
  for (std::size_t i = 1; i < misses.size(); ++i) EXPECT_EQ(misses[i].function, contention_) << "miss " << i;
}

TEST_P(WaitingFunction, EndsWhenTheLockIsTaken) {
  FunctionId held_in = 0;
  small_.run({[this](Cpu& cpu) {
                lock_->acquire(cpu);
                cpu.compute(10'000);
                lock_->release(cpu);
              },
              [this, &held_in](Cpu& cpu) {
                const FunctionScope scope(cpu, caller_);
                cpu.compute(1'000);
                lock_->acquire(cpu);
                held_in = cpu.function();
                lock_->release(cpu);
              }});
  EXPECT_EQ(held_in, caller_);
}

INSTANTIATE_TEST_SUITE_P(SpinLocks, WaitingFunction, ::testing::Values("tas", "ttas", "ttas_backoff"),
                         [](const auto& lock) { return std::string(lock.param); });

}  // namespace
}  // namespace linebounce::workloads
