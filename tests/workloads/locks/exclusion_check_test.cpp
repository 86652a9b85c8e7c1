// Which holds of a lock end a run. CPUs come at given times, in ns, to locks that admit every CPU at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/locks/lock_support.hpp"
#include "workloads/locks/lock_set.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

using testing::AllOf;
using testing::HasSubstr;

class OpenLock final : public Lock {
 public:
  bool acquire(Cpu& /*cpu*/) override { return false; }
  bool try_acquire(Cpu& /*cpu*/) override { return true; }
  void release(Cpu& /*cpu*/) override {}
};

LockEntry open_lock(LockTraits traits) {
  return {.name = "open", .title = "", .traits = traits, .create = [](const LockPlace& /*place*/) {
            return std::make_unique<OpenLock>();
          }};
}

enum class As : std::uint8_t { writer, reader, by_trying };

struct Visit {
  double from, to;
  As as = As::writer;
};

struct OpenedMachine {
  explicit OpenedMachine(LockTraits traits = {}, int cpus = 2)
      : small(small_machine(cpus)), space(small.machine.store()), locks(space, cpus) {
    lock = &locks.create(open_lock(traits), "inode_lock", {});
    for (const char* name : {"get", "put"}) functions.push_back(space.function(name, Mode::kernel));
  }

  // One list of visits for each CPU. The first CPU is in function `get`, the second in `put`. Returns the run's failure.
  std::string failure_of(const std::vector<std::vector<Visit>>& visits) {
    small.machine.set_functions(space.functions().size());
    std::vector<Core::Program> programs;
    for (std::size_t cpu = 0; cpu < visits.size(); ++cpu)
      programs.emplace_back([this, own = visits[cpu], function = functions.at(cpu)](Cpu& on) {
        const FunctionScope scope(on, function);
        for (const Visit& visit : own) make(on, visit);
      });
    try {
      small.run(programs);
    } catch (const ModelFailure& failure) {
      return failure.what();
    }
    return "";
  }

  void make(Cpu& cpu, const Visit& visit) const {
    wait_until(cpu, visit.from);
    if (visit.as == As::reader) lock->acquire_shared(cpu);
    if (visit.as == As::writer) lock->acquire(cpu);
    const bool has_tried = visit.as != As::by_trying || lock->try_acquire(cpu);
    EXPECT_TRUE(has_tried);
    cpu.compute(static_cast<std::int64_t>(visit.to - visit.from));
    if (visit.as == As::reader) {
      cpu.now();  // like a lock's own load: makes the host run what other CPUs did before
      (void)lock->release_shared(cpu);
    } else {
      lock->release(cpu);
    }
  }

  SmallMachine small;
  AddressSpace space;
  LockSet locks;
  MeteredLock* lock;
  std::vector<FunctionId> functions;
};

constexpr LockTraits kTogether{.readers = Readers::together};

TEST(ExclusionCheck, TwoWritersInsideEndTheRunWithBothCpusFunctionsAndTimes) {
  EXPECT_EQ(OpenedMachine().failure_of({{{100, 400}}, {{250, 300}}}),
            "open does not exclude: CPU 1 takes inode_lock in put at 0.250 µs, while CPU 0 holds it, taken in get at 0.100 µs");
}
TEST(ExclusionCheck, ASuccessfulTryCountsAsAnAcquisition) {
  EXPECT_THAT(OpenedMachine().failure_of({{{100, 400}}, {{250, 300, As::by_trying}}}), HasSubstr("CPU 1 takes inode_lock"));
}
TEST(ExclusionCheck, AWriterBesideAReaderEndsTheRun) {
  EXPECT_THAT(OpenedMachine(kTogether).failure_of({{{100, 400, As::reader}}, {{250, 300}}}),
              AllOf(HasSubstr("CPU 1 takes inode_lock in put"), HasSubstr("CPU 0 holds it as a reader, taken in get")));
}
TEST(ExclusionCheck, AReaderBesideAWriterEndsTheRun) {
  EXPECT_THAT(OpenedMachine(kTogether).failure_of({{{100, 400}}, {{250, 300, As::reader}}}),
              HasSubstr("CPU 1 takes inode_lock as a reader in put at 0.250 µs, while CPU 0 holds it, taken in get"));
}
TEST(ExclusionCheck, ReadersMayBeInsideTogetherIfTheLockSaysSo) {
  EXPECT_EQ(OpenedMachine(kTogether).failure_of({{{100, 400, As::reader}}, {{250, 300, As::reader}}}), "");
}
TEST(ExclusionCheck, ReadersAreAsWritersIfTheLockDoesNotSayOtherwise) {
  EXPECT_THAT(OpenedMachine().failure_of({{{100, 400, As::reader}}, {{250, 300, As::reader}}}), HasSubstr("CPU 1 takes"));
}
// The host runs CPU 0's visits first, because nothing delays it; that alone must not count as an overlap.
TEST(ExclusionCheck, VisitsThatDoNotOverlapAreLeftAlone) {
  EXPECT_EQ(OpenedMachine().failure_of({{{100, 200}, {500, 600}, {900, 950}}, {{300, 400}, {600, 700}}}), "");
}
TEST(ExclusionCheck, VisitsThatDoNotOverlapAreLeftAloneWhicheverCpuTheHostRunsFirst) {
  EXPECT_EQ(OpenedMachine().failure_of({{{300, 400}, {700, 800}}, {{100, 200}, {500, 600}, {900, 950}}}), "");
}
TEST(ExclusionCheck, AnOverlapIsFoundWhicheverCpuTheHostRunsFirst) {
  EXPECT_THAT(OpenedMachine().failure_of({{{250, 300}}, {{100, 400}}}), HasSubstr("CPU 0 takes inode_lock in get at 0.250"));
}
TEST(ExclusionCheck, ReadersThatNeverWaitMayBeBesideAWriter) {
  EXPECT_EQ(OpenedMachine({.readers = Readers::never_wait}).failure_of({{{100, 400, As::reader}}, {{250, 300}}}), "");
}
TEST(ExclusionCheck, ALockThatDeclaresThatItDoesNotExcludeIsLeftAlone) {
  EXPECT_EQ(OpenedMachine({.excludes = false}).failure_of({{{100, 400}}, {{250, 300}}}), "");
}

constexpr LockTraits kReadAgain{.readers = Readers::read_again};

// The second writer has seen the first one's release, so the reader should have seen it as well.
TEST(ExclusionCheck, AReaderThatIsNotToldToReadAgainEndsTheRun) {
  EXPECT_THAT(OpenedMachine(kReadAgain).failure_of({{{100, 900, As::reader}}, {{250, 300}, {400, 500}}}),
              AllOf(HasSubstr("open does not exclude: CPU 0 reads under inode_lock in get from 0.100 µs to 0.900 µs"),
                    HasSubstr("CPU 1 has written meanwhile, in put until 0.300 µs")));
}
// The writer's stores may still be in its store buffer when the reader checks.
TEST(ExclusionCheck, AWriterWhoseReleaseNobodyHasSeenYetMayBeMissedByAReader) {
  EXPECT_EQ(OpenedMachine(kReadAgain).failure_of({{{100, 900, As::reader}}, {{250, 300}}}), "");
}

// No correct lock is reported: every shipped lock, on machines with different orderings.
class ShippedLock : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(ShippedLock, IsNeverReported) {
  const LockEntry& entry = find_lock(std::get<0>(GetParam()));
  MachineSpec spec = machines().at(std::get<1>(GetParam()))();
  if (entry.traits.most_cpus > 0) spec.cpus = std::min(spec.cpus, entry.traits.most_cpus);
  SmallMachine small(spec);
  AddressSpace space(small.machine.store());
  LockSet locks(space, spec.cpus);
  MeteredLock& lock = locks.create(entry, "lock", {});
  const Address data = space.place_array("data", 256);
  const Core::Program program = [&](Cpu& cpu) {
    for (int round = 0; round < 30; ++round) {
      cpu.compute(37 * ((7 * round + 3 * cpu.id().value) % 16));
      if (round % 3 == 0 && entry.traits.readers != Readers::one_by_one) {
        do {
          lock.acquire_shared(cpu);
          cpu.load(data);
        } while (!lock.release_shared(cpu));
      } else if (round % 5 != 0 || !entry.traits.tries) {
        lock.acquire(cpu);
        cpu.store(data, cpu.load(data) + 1);
        lock.release(cpu);
      } else if (lock.try_acquire(cpu)) {
        lock.release(cpu);
      }
    }
  };
  small.machine.set_functions(space.functions().size());
  EXPECT_NO_THROW(small.run(std::vector<Core::Program>(static_cast<std::size_t>(spec.cpus), program)));
}
INSTANTIATE_TEST_SUITE_P(OnMachines, ShippedLock,
                         testing::Combine(testing::ValuesIn(lock_names([](const LockTraits&) { return true; })),
                                          testing::Values("sc", "tso", "ia64", "hardware_threads", "nodes")),
                         [](const auto& lock) { return std::get<0>(lock.param) + "_on_" + std::get<1>(lock.param); });

}  // namespace
}  // namespace linebounce::test
