// A lock in a field of four bytes, as in a kernel's structure, with other fields beside it.
#include <gtest/gtest.h>

#include "tests/workloads/locks/lock_support.hpp"
#include "workloads/locks/lock_set.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

constexpr int kFour = 4;
constexpr Value kBefore = 0x11223344;
constexpr Value kBehind = 0x55667788;

// Two fields of four bytes with a lock between them. All CPUs take the lock to count in a word elsewhere.
class FourBytes : public testing::TestWithParam<std::string> {
 protected:
  FourBytes() : small_(small_machine(kCpus)), space_(small_.machine.store()), locks_(space_, kCpus) {
    object_ =
        space_.place({.name = "thing", .size = 16, .fields = {{"before", 0, 4}, {"lock", 4, 4}, {"behind", 8, 4}}}, "thing");
    count_ = space_.place_array("count", 8);
    space_.preset(object_, kBefore, kFour);
    space_.preset(object_ + 8, kBehind, kFour);
    lock_ = &locks_.create(GetParam(), "thing.lock", {.word = object_ + 4, .word_bytes = kFour});
  }

  void run() {
    small_.machine.set_functions(space_.functions().size());
    small_.run(std::vector<Core::Program>(kCpus, [this](Cpu& cpu) {
      for (int i = 0; i < kRoundsEach; ++i) {
        lock_->acquire(cpu);
        held_ = cpu.load(object_ + 4, kFour);
        const Value count = cpu.load(count_);
        cpu.compute(50);
        cpu.store(count_, count + 1);
        lock_->release(cpu);
        cpu.compute(37 * (cpu.id().value + 1));
      }
      // Only the CPU that counts last checks the fields, when all sections are over.
      if (cpu.fetch_add(count_, 0) != kAll) return;
      EXPECT_EQ(cpu.load(object_, kFour), kBefore);
      EXPECT_EQ(cpu.load(object_ + 4, kFour), 0U);
      EXPECT_EQ(cpu.load(object_ + 8, kFour), kBehind);
      ++looked_;
    }));
  }

  static constexpr Value kAll = kCpus * kRoundsEach;
  SmallMachine small_;
  AddressSpace space_;
  LockSet locks_;
  Address object_ = 0, count_ = 0;
  MeteredLock* lock_ = nullptr;
  Value held_ = 0;  // the field's value while the lock is held
  int looked_ = 0;
};

class ThatFit : public FourBytes {};
INSTANTIATE_TEST_SUITE_P(Locks, ThatFit, testing::ValuesIn(lock_names([](const LockTraits& traits) {
                           return traits.fits_4_bytes && traits.excludes;
                         })));

TEST_P(ThatFit, ExcludeAndLeaveTheirNeighboursAlone) {
  run();
  EXPECT_GE(looked_, 1);
  EXPECT_NE(held_, 0U) << "it is there";
}

class ThatDoNotFit : public FourBytes {};
INSTANTIATE_TEST_SUITE_P(Locks, ThatDoNotFit, testing::ValuesIn(lock_names([](const LockTraits& traits) {
                           return !traits.fits_4_bytes && traits.excludes && !traits.sleeps && traits.most_cpus == 0;
                         })));

TEST_P(ThatDoNotFit, LieElsewhere) {
  run();
  EXPECT_GE(looked_, 1);
  EXPECT_EQ(held_, 0U);
}

}  // namespace
}  // namespace linebounce::test
