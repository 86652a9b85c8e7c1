// Locks broken on purpose: the checks that every lock must pass catch each of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/locks/lock_support.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

using testing::HasSubstr;
using testing::Not;

Address line_of_its_own(const LockPlace& place) {
  return place.memory.place_array(place.name, place.memory.line_bytes());
}

template <class Broken>
LockFactory broken() {
  return [](const LockPlace& place) { return std::make_unique<Broken>(place); };
}

// Correct except for the release, a plain store that may overtake the section's stores.
class ReleaseWithoutFence final : public Lock {
 public:
  explicit ReleaseWithoutFence(const LockPlace& place) : word_(line_of_its_own(place)) {}
  bool acquire(Cpu& cpu) override {
    while (!try_acquire(cpu)) cpu.spin_until(word_, [](Value locked) { return locked == 0; });
    return true;
  }
  bool try_acquire(Cpu& cpu) override { return cpu.exchange(word_, 1) == 0; }
  void release(Cpu& cpu) override { cpu.store(word_, 0); }

 private:
  Address word_;
};

TEST(BrokenLock, ReleaseByAPlainStoreIsCaughtWhereStoresMayPassEachOther) {
  EXPECT_EQ(broken_property(broken<ReleaseWithoutFence>(), machines().at("ia64")(), 4),
            "a reader has seen half of a writer's data");
}
TEST(BrokenLock, ReleaseByAPlainStoreIsRightUnderTotalStoreOrder) {
  EXPECT_EQ(broken_property(broken<ReleaseWithoutFence>(), machines().at("tso")()), "");
}
TEST(BrokenLock, ALockThatAnyWaiterMayTakeIsNotFifo) {
  EXPECT_FALSE(serves_in_order(broken<ReleaseWithoutFence>()));
}

// MCS, with one part left out.
enum class McsFault { none, takes_no_turn, leaves_without_hand_off };

template <McsFault kFault>
class BrokenMcs final : public Lock {
 public:
  explicit BrokenMcs(const LockPlace& place) : tail_(line_of_its_own(place)) {
    for (int cpu = 0; cpu < kCpus; ++cpu) nodes_.push_back(place.memory.place_array("node" + std::to_string(cpu), 32));
  }
  bool acquire(Cpu& cpu) override {
    const Address mine = node(cpu);
    cpu.store(mine, 0);
    cpu.store(mine + 8, 1);
    const Address before = cpu.exchange(tail_, mine);
    if (before == 0) return false;
    cpu.store_release(before, mine);
    if (kFault != McsFault::takes_no_turn) cpu.spin_until_acquire(mine + 8, [](Value waits) { return waits == 0; });
    return true;
  }
  bool try_acquire(Cpu& cpu) override { return !acquire(cpu); }
  void release(Cpu& cpu) override {
    const Address mine = node(cpu);
    Address after = cpu.load(mine);
    if (after == 0) {
      if (cpu.compare_exchange(tail_, mine, 0) == mine) return;
      if (kFault == McsFault::leaves_without_hand_off) return;
      after = cpu.spin_until(mine, [](Value next) { return next != 0; });
    }
    cpu.store_release(after + 8, 0);
  }

 private:
  [[nodiscard]] Address node(const Cpu& cpu) const { return nodes_[static_cast<std::size_t>(cpu.id().value)]; }
  Address tail_;
  std::vector<Address> nodes_;
};

TEST(BrokenLock, TheSameQueueWithoutAFaultPasses) {
  EXPECT_EQ(broken_property(broken<BrokenMcs<McsFault::none>>(), small_machine(kCpus)), "");
}
TEST(BrokenLock, McsWithoutTheWaitForItsTurnIsCaught) {
  EXPECT_NE(broken_property(broken<BrokenMcs<McsFault::takes_no_turn>>(), small_machine(kCpus)), "");
}
// The successor has its place in the queue but has not announced itself yet: no CPU will ever wake it.
TEST(BrokenLock, McsWithoutTheHandOffIsADeadlock) {
  EXPECT_THAT(broken_property(broken<BrokenMcs<McsFault::leaves_without_hand_off>>(), small_machine(kCpus)),
              HasSubstr("deadlock"));
}

// A ticket lock from which two CPUs may draw the same ticket.
class TornTicket final : public Lock {
 public:
  explicit TornTicket(const LockPlace& place) : words_(line_of_its_own(place)) {}
  bool acquire(Cpu& cpu) override {
    const Value mine = cpu.load(words_);
    cpu.store(words_, mine + 1);
    cpu.spin_until_acquire(words_ + 8, [mine](Value serving) { return serving >= mine; });
    return true;
  }
  bool try_acquire(Cpu& cpu) override { return acquire(cpu); }
  void release(Cpu& cpu) override {
    const Value serving = cpu.load(words_ + 8);
    cpu.store_release(words_ + 8, serving + 1);
  }

 private:
  Address words_;
};
TEST(BrokenLock, ATicketDrawnByTwoIsCaught) {
  EXPECT_NE(broken_property(broken<TornTicket>(), small_machine(kCpus)), "");
}

// A CLH lock that keeps its own node: the CPU takes it again before its successor has seen it free.
class ClhWithItsOwnNode final : public Lock {
 public:
  explicit ClhWithItsOwnNode(const LockPlace& place) : tail_(line_of_its_own(place)) {
    for (int cpu = 0; cpu <= kCpus; ++cpu) nodes_.push_back(place.memory.place_array("node" + std::to_string(cpu), 32));
    place.memory.preset(tail_, nodes_.back());
  }
  bool acquire(Cpu& cpu) override {
    cpu.store(node(cpu), 1);
    const Address before = cpu.exchange(tail_, node(cpu));
    cpu.spin_until_acquire(before, [](Value waits) { return waits == 0; });
    return true;
  }
  bool try_acquire(Cpu& cpu) override { return acquire(cpu); }
  void release(Cpu& cpu) override { cpu.store_release(node(cpu), 0); }

 private:
  [[nodiscard]] Address node(const Cpu& cpu) const { return nodes_[static_cast<std::size_t>(cpu.id().value)]; }
  Address tail_;
  std::vector<Address> nodes_;
};
TEST(BrokenLock, ClhThatKeepsItsOwnNodeIsCaught) {
  EXPECT_THAT(broken_property(broken<ClhWithItsOwnNode>(), small_machine(kCpus)), HasSubstr("deadlock"));
}

// A reader-writer lock whose writers check only for other writers.
class WriterIgnoresReaders final : public Lock {
 public:
  explicit WriterIgnoresReaders(const LockPlace& place) : word_(line_of_its_own(place)) {}
  bool acquire(Cpu& cpu) override {
    while (cpu.exchange(word_, 1) != 0) cpu.spin_until(word_, [](Value written) { return written == 0; });
    return true;
  }
  bool try_acquire(Cpu& cpu) override { return cpu.exchange(word_, 1) == 0; }
  void release(Cpu& cpu) override { cpu.store_release(word_, 0); }
  bool acquire_shared(Cpu& cpu) override {
    cpu.spin_until_acquire(word_, [](Value written) { return written == 0; });
    return false;
  }
  bool release_shared(Cpu& /*cpu*/) override { return true; }

 private:
  Address word_;
};
TEST(BrokenLock, AWriterThatIgnoresReadersIsCaught) {
  EXPECT_NE(broken_property(broken<WriterIgnoresReaders>(), small_machine(kCpus), 5), "");
}

// A sequence lock whose sequence may become odd only after the data has changed.
template <bool kFence>
class SequenceLockOfTwoWords final : public Lock {
 public:
  explicit SequenceLockOfTwoWords(const LockPlace& place) : lock_(line_of_its_own(place)), sequence_(line_of_its_own(place)) {}
  bool acquire(Cpu& cpu) override {
    while (cpu.exchange(lock_, 1) != 0) cpu.spin_until(lock_, [](Value locked) { return locked == 0; });
    const Value before = cpu.load(sequence_);
    cpu.store(sequence_, before + 1);
    if (kFence) cpu.store_fence();
    return true;
  }
  bool try_acquire(Cpu& cpu) override { return acquire(cpu); }
  void release(Cpu& cpu) override {
    const Value before = cpu.load(sequence_);
    cpu.store_release(sequence_, before + 1);
    cpu.store_release(lock_, 0);
  }
  bool acquire_shared(Cpu& cpu) override {
    begun_[cpu.id().value] = cpu.spin_until_acquire(sequence_, [](Value now) { return now % 2 == 0; });
    return false;
  }
  bool release_shared(Cpu& cpu) override { return cpu.load(sequence_) == begun_[cpu.id().value]; }

 private:
  Address lock_, sequence_;
  std::map<int, Value> begun_;
};
TEST(BrokenLock, ASequenceThatIsOddTooLateIsCaughtWhereStoresMayPassEachOther) {
  EXPECT_EQ(broken_property(broken<SequenceLockOfTwoWords<false>>(), machines().at("nodes")(), 6),
            "a reader has seen half of a writer's data");
}
TEST(BrokenLock, WithAFenceReadersOfThatSequenceSeeWholeData) {
  EXPECT_THAT(broken_property(broken<SequenceLockOfTwoWords<true>>(), machines().at("nodes")(), 6), Not(HasSubstr("half")));
}

// A mutex that checks and then sleeps, without announcing itself in between.
class LooksAndSleeps final : public Lock {
 public:
  explicit LooksAndSleeps(const LockPlace& place) : word_(line_of_its_own(place)) {}
  bool acquire(Cpu& cpu) override {
    while (cpu.exchange(word_, 1) != 0) {
      cpu.store(word_ + 8, static_cast<Value>(cpu.id().value) + 1);
      cpu.sleep();
    }
    return true;
  }
  bool try_acquire(Cpu& cpu) override { return cpu.exchange(word_, 1) == 0; }
  void release(Cpu& cpu) override {
    cpu.store_release(word_, 0);
    const Value sleeper = cpu.exchange(word_ + 8, 0);
    if (sleeper != 0) cpu.wake(CpuId(static_cast<int>(sleeper) - 1));
  }

 private:
  Address word_;
};
TEST(BrokenLock, AMutexThatForgetsASleeperIsADeadlock) {
  EXPECT_THAT(broken_property(broken<LooksAndSleeps>(), small_machine(kCpus)), HasSubstr("deadlock"));
}

}  // namespace
}  // namespace linebounce::test
