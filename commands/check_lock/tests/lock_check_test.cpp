#include "commands/check_lock/lock_check.hpp"

#include <gtest/gtest.h>

#include "workloads/locks/locks.hpp"

namespace linebounce::sim {
namespace {

using workloads::LockEntry;
using workloads::LockPlace;

constexpr Address kWord = 0, kWaiter = 8;

// A lock of two words; derived classes define acquire and release.
class TwoWords : public workloads::Lock {
 public:
  explicit TwoWords(const LockPlace& place)
      : word_(place.place({.name = "two_words", .fields = {{"held", kWord, 8}, {"waiter", kWaiter, 8}}})) {}
  bool try_acquire(Cpu&) override { return false; }

 protected:
  Address word_;
};

template <class Lock>
LockCheck checked(LockCheckOptions options = {}) {
  const LockEntry entry{.name = "test", .title = "", .traits = {}, .create = [](const LockPlace& place) {
                          return std::make_unique<Lock>(place);
                        }};
  options.machines = 0;
  LockCheck check = check_lock(entry, options, [](double) {});
  for (CheckedCase& one : check.cases) one.lock_case.lock = nullptr;  // the entry's lifetime ends here
  return check;
}

class Open final : public TwoWords {
 public:
  using TwoWords::TwoWords;
  bool acquire(Cpu& cpu) override { return cpu.exchange(word_, 1) != 0; }
  void release(Cpu& cpu) override { cpu.store_release(word_, 0); }
};

// One switch between CPUs suffices: each CPU holds the lock after its first operation.
TEST(LockCheck, FindsTheShortestInterleavingOfALockThatDoesNotWait) {
  const LockCheck check = checked<Open>();
  ASSERT_EQ(check.verdict(), LockVerdict::broken);
  EXPECT_EQ(check.cases.size(), 1U);
  EXPECT_EQ(check.cases.back().result.violation, "CPU 0 and CPU 1 both hold the lock");
  ASSERT_EQ(check.cases.back().result.steps.size(), 2U);
  EXPECT_EQ(check.cases.back().result.steps[0].text, "exchange lock.held = 1: was 0  [inside]");
  EXPECT_EQ(check.cases.back().result.steps[1].cpu, 1);
}

class LosesWakes final : public TwoWords {
 public:
  using TwoWords::TwoWords;
  bool acquire(Cpu& cpu) override {
    while (cpu.exchange(word_, 1) != 0) {
      cpu.store(word_ + kWaiter, static_cast<Value>(cpu.id().value) + 1);
      cpu.fence();
      cpu.sleep();
    }
    return false;
  }
  void release(Cpu& cpu) override {
    cpu.exchange(word_, 0);
    const Value waiter = cpu.exchange(word_ + kWaiter, 0);
    if (waiter != 0) cpu.wake(CpuId(static_cast<int>(waiter) - 1));
  }
};

// The holder looks for waiters after the waiter's attempt has failed, and before the waiter sleeps.
TEST(LockCheck, FindsALostWakeUp) {
  const LockCheck check = checked<LosesWakes>();
  ASSERT_EQ(check.verdict(), LockVerdict::broken);
  EXPECT_EQ(check.cases.back().result.violation, "nobody can go on: CPU 1 sleeps");
}

class Overlong final : public TwoWords {
 public:
  using TwoWords::TwoWords;
  bool acquire(Cpu& cpu) override {
    for (int look = 0; look < 30 && cpu.exchange(word_, 1) != 0; ++look) {
    }
    return false;
  }
  void release(Cpu& cpu) override { cpu.exchange(word_, 0); }
};

// The lock is entered at the 31st look, even if another CPU holds it. At first the check takes the loop for waiting.
TEST(LockCheck, TriesWhetherALoopEndsByItself) {
  LockCheckOptions options;
  options.models = {workloads::MemoryModel::sc};
  EXPECT_EQ(checked<Overlong>(options).verdict(), LockVerdict::broken);
}

class Timed final : public TwoWords {
 public:
  using TwoWords::TwoWords;
  bool acquire(Cpu& cpu) override {
    cpu.set_timer(100, 1);
    return false;
  }
  void release(Cpu&) override {}
};

TEST(LockCheck, SaysWhatItCannotCheck) {
  const LockCheck check = checked<Timed>();
  EXPECT_EQ(check.verdict(), LockVerdict::not_checkable);
  EXPECT_EQ(check.not_checkable, "it sets a timer");
}

class Simple final : public TwoWords {
 public:
  using TwoWords::TwoWords;
  bool acquire(Cpu& cpu) override {
    while (cpu.exchange(word_, 1) != 0) cpu.spin_until(word_, [](Value value) { return value == 0; });
    return false;
  }
  void release(Cpu& cpu) override { cpu.exchange(word_, 0); }
};

TEST(LockCheck, HoldsOnlyIfAllStatesWereSeen) {
  EXPECT_EQ(checked<Simple>().verdict(), LockVerdict::holds);
  LockCheckOptions few;
  few.limits.states = 5;
  const LockCheck check = checked<Simple>(few);
  EXPECT_EQ(check.verdict(), LockVerdict::incomplete);
  EXPECT_FALSE(check.cases.front().result.all_states);
}

}  // namespace
}  // namespace linebounce::sim
