// Every lock, as the registry has it: it lets one in at a time, all get in, and some promise an order.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/models/support/small_machine.hpp"
#include "workloads/locks/lock.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/registry.hpp"

namespace linebounce::test {
namespace {

constexpr int kCpus = 4;
constexpr int kRounds = 25;

std::unique_ptr<Lock> make_lock(const std::string& name, AddressSpace& space) {
  const auto entry = std::find_if(locks().begin(), locks().end(), [&name](const LockEntry& lock) { return lock.name == name; });
  if (entry == locks().end()) throw std::logic_error("no lock of this name");
  return entry->create(space, "lock", kCpus);
}

std::vector<std::string> lock_names() {
  std::vector<std::string> names;
  for (const LockEntry& entry : locks()) names.push_back(entry.name);
  return names;
}

class EachLock : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, EachLock, testing::ValuesIn(lock_names()), [](const auto& tested) { return tested.param; });

// Plain loads and stores under the lock lose nothing, and the times inside do not overlap.
void lets_one_in_at_a_time(const std::string& name, const MachineSpec& spec) {
  SmallMachine small(spec);
  AddressSpace space(small.machine.store());
  const auto lock = make_lock(name, space);
  const Barrier end(space, "end", kCpus);
  const Address word = space.place_array("word", 32);
  std::vector<std::pair<double, double>> inside;
  const Core::Program program = [&](Cpu& cpu) {
    for (int round = 0; round < kRounds; ++round) {
      lock->acquire(cpu);
      const double from = cpu.now_ns();
      const Value value = cpu.load(word);
      cpu.compute(20);
      cpu.store(word, value + 1);
      const double to = cpu.now_ns();
      inside.emplace_back(from, to);
      lock->release(cpu);
      cpu.compute(30 * (1 + cpu.id().value));
    }
    end.wait(cpu);
    EXPECT_EQ(cpu.load(word), static_cast<Value>(kCpus * kRounds));
  };
  small.run(std::vector<Core::Program>(kCpus, program));
  std::sort(inside.begin(), inside.end());
  ASSERT_EQ(inside.size(), static_cast<std::size_t>(kCpus * kRounds));
  for (std::size_t i = 1; i < inside.size(); ++i) EXPECT_GE(inside[i].first, inside[i - 1].second);
}

TEST_P(EachLock, LetsOneInAtATime) {
  lets_one_in_at_a_time(GetParam(), small_machine(kCpus));
}

TEST_P(EachLock, LetsOneInAtATimeWithHardwareThreads) {
  MachineSpec spec = small_machine(kCpus);
  spec.cpu.threads_per_core = 2;
  lets_one_in_at_a_time(GetParam(), spec);
}

TEST_P(EachLock, LetsOneInAtATimeWhereStoresMayPassEachOther) {
  MachineSpec spec = small_machine(kCpus);
  spec.cpu.consistency = Consistency::ia64;
  spec.cpu.store_buffer_entries = 4;
  lets_one_in_at_a_time(GetParam(), spec);
}

// CPU 0 holds the lock for long; the others come 500 ns apart, the highest number first.
class QueueLock : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, QueueLock, testing::Values("ticket", "mcs"), [](const auto& tested) { return tested.param; });

TEST_P(QueueLock, ServesInTheOrderOfArrival) {
  SmallMachine small(small_machine(kCpus));
  AddressSpace space(small.machine.store());
  const auto lock = make_lock(GetParam(), space);
  std::vector<int> served;
  const Core::Program program = [&](Cpu& cpu) {
    const int me = cpu.id().value;
    if (me > 0) cpu.compute(500 * (kCpus - me));
    lock->acquire(cpu);
    served.push_back(me);
    cpu.compute(me == 0 ? 5000 : 10);
    lock->release(cpu);
  };
  small.run(std::vector<Core::Program>(kCpus, program));
  EXPECT_EQ(served, (std::vector<int>{0, 3, 2, 1}));
}

}  // namespace
}  // namespace linebounce::test
