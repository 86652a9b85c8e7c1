// What a lock's figures count, exact to the tick, and which misuse of locks stops a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/failure.hpp"
#include "tests/models/support/small_machine.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

using testing::AllOf;
using testing::HasSubstr;

// A lock with given times: each acquisition's wait in cycles, which are ns here.
class TimedLock final : public Lock {
 public:
  explicit TimedLock(std::vector<std::int64_t> waits) : waits_(std::move(waits)) {}
  bool acquire(Cpu& cpu) override {
    const std::int64_t wait = waits_.at(next_++);
    cpu.compute(wait);
    return wait > 0;
  }
  bool try_acquire(Cpu& cpu) override { return !acquire(cpu); }
  void release(Cpu& /*cpu*/) override {}

 private:
  std::vector<std::int64_t> waits_;
  std::size_t next_ = 0;
};

// One CPU and one timed lock, and the figures of its only call site in ns.
struct Metered {
  Metered(std::vector<std::int64_t> waits, double warmup_us, double measure_us)
      : small(small_machine(1), {}, warmup_us, measure_us),
        space(small.machine.store()),
        holders(space, 1),
        lock("lock", "timed", {}, std::make_unique<TimedLock>(std::move(waits)), figures, holders) {}

  void run(const std::function<void(Cpu&)>& program) {
    small.machine.set_functions(space.functions().size());
    small.run({program});
  }
  [[nodiscard]] const LockUse& use() const { return figures.by_call_site().begin()->second; }
  double ns(Tick ticks) const { return small.machine.timebase().to_ns(ticks); }

  SmallMachine small;
  AddressSpace space;
  LockHolders holders;
  LockFigures figures;
  MeteredLock lock;
};

TEST(LockFigures, CountWaitsAndHoldsToTheTick) {
  Metered metered({0, 30, 0, 70}, 0, 0);
  metered.run([&metered](Cpu& cpu) {
    for (const int hold : {100, 50, 20, 10}) {
      metered.lock.acquire(cpu);
      cpu.compute(hold);
      metered.lock.release(cpu);
      cpu.compute(5);
    }
  });
  const LockUse& use = metered.use();
  EXPECT_EQ(use.nowait, 2);
  EXPECT_EQ(use.spin, 2);
  EXPECT_EQ(use.rejected, 0);
  EXPECT_EQ(use.holds, 4);
  EXPECT_EQ(metered.ns(use.wait_sum), 100);
  EXPECT_EQ(metered.ns(use.wait_max), 70);
  EXPECT_EQ(metered.ns(use.waited), 100);
  EXPECT_EQ(metered.ns(use.hold_sum), 180);
  EXPECT_EQ(metered.ns(use.hold_max), 100);
  EXPECT_EQ(metered.ns(use.held), 180);
}

TEST(LockFigures, AnAttemptThatFailsIsRejectedAndNothingElse) {
  Metered metered({40, 0}, 0, 0);
  metered.run([&metered](Cpu& cpu) {
    EXPECT_FALSE(metered.lock.try_acquire(cpu));
    EXPECT_TRUE(metered.lock.try_acquire(cpu));
    metered.lock.release(cpu);
  });
  EXPECT_EQ(metered.use().rejected, 1);
  EXPECT_EQ(metered.use().nowait, 1);
  EXPECT_EQ(metered.use().spin, 0);
}

// Measured from 1000 ns on. A wait lasts from 900 to 1050, the hold after it until 1150. A second hold takes 40 ns.
TEST(LockFigures, AWaitThatBeganInTheWarmUpAddsOnlyTheTimeThatIsLeft) {
  Metered metered({150, 0}, 1, 10);
  metered.run([&metered](Cpu& cpu) {
    cpu.compute(900);
    metered.lock.acquire(cpu);
    cpu.compute(100);
    metered.lock.release(cpu);
    metered.lock.acquire(cpu);
    cpu.compute(40);
    metered.lock.release(cpu);
  });
  const LockUse& use = metered.use();
  EXPECT_EQ(use.spin, 0);
  EXPECT_EQ(use.nowait, 1);
  EXPECT_EQ(metered.ns(use.waited), 50);
  EXPECT_EQ(metered.ns(use.wait_sum), 0);
  EXPECT_EQ(use.holds, 2) << "both holds began in the measured time";
  EXPECT_EQ(metered.ns(use.held), 140);
}

TEST(LockFigures, AHoldThatBeganInTheWarmUpCountsWithTheTimeThatIsLeft) {
  Metered metered({0}, 1, 10);
  metered.run([&metered](Cpu& cpu) {
    cpu.compute(700);
    metered.lock.acquire(cpu);
    cpu.compute(500);
    metered.lock.release(cpu);
  });
  EXPECT_EQ(metered.use().holds, 0);
  EXPECT_EQ(metered.use().nowait, 0);
  EXPECT_EQ(metered.ns(metered.use().held), 200);
}

// A run of `cpus` CPUs with locks by name.
struct Locks {
  explicit Locks(int cpus, double warmup_us = 0, double measure_us = 0)
      : small(small_machine(cpus), {}, warmup_us, measure_us), space(small.machine.store()), locks(space, cpus) {}

  FunctionId function(const std::string& name) { return space.function(name, Mode::kernel); }
  void run(const std::vector<Core::Program>& programs) {
    small.machine.set_functions(space.functions().size());
    small.run(programs);
    std::vector<const Cpu*> cpus;
    for (std::size_t cpu = 0; cpu < programs.size(); ++cpu) cpus.push_back(&small.machine.cpu(static_cast<int>(cpu)));
    locks.finish(cpus, small.machine.finished_at());
  }
  std::string failure_of(const std::vector<Core::Program>& programs) {
    try {
      run(programs);
    } catch (const ModelFailure& failure) {
      return failure.what();
    }
    return "";
  }

  SmallMachine small;
  AddressSpace space;
  LockSet locks;
};

// When the run ends, CPU 1 still waits and CPU 0 still holds the lock.
TEST(LockFigures, AWaitAndAHoldUnderWayAtTheEndAreTimedUpToIt) {
  Locks run(2, 0, 1);
  MeteredLock& lock = run.locks.create("ttas", "lock");
  Tick since = 0;
  Tick wanted = 0;
  run.run({[&](Cpu& cpu) {
             lock.acquire(cpu);
             since = cpu.local_time();
             for (;;) {
               cpu.compute(5000);
               cpu.now();
             }
           },
           [&](Cpu& cpu) {
             cpu.compute(600);
             wanted = cpu.local_time();
             lock.acquire(cpu);
           }});
  const LockUse& use = run.locks.figures().at("lock").by_call_site().begin()->second;
  const Tick end = run.small.machine.finished_at();
  EXPECT_EQ(use.held, end - since);
  EXPECT_EQ(use.waited, end - wanted);
  EXPECT_EQ(use.nowait, 1);
  EXPECT_EQ(use.spin, 1) << "the wait counts with its length so far";
  EXPECT_EQ(use.waiting, 1);
  EXPECT_EQ(use.wait_sum, end - wanted);
  EXPECT_EQ(use.holds, 0);
}

// The lock is free, but its line is still on the way when the run ends.
TEST(LockFigures, ALockThatIsBeingTakenAtTheEndIsNotAWait) {
  Locks run(2, 0, 1);
  MeteredLock& lock = run.locks.create("ttas", "lock");
  run.run({[&](Cpu& cpu) {
             lock.acquire(cpu);
             lock.release(cpu);
           },
           [&](Cpu& cpu) {
             cpu.compute(990);
             lock.acquire(cpu);
             ADD_FAILURE() << "it was taken before the end";
           }});
  const LockUse& use = run.locks.figures().at("lock").by_call_site().begin()->second;
  EXPECT_EQ(use.nowait, 1);
  EXPECT_EQ(use.waited, 0);
}

TEST(LockFigures, AreKeptByTheFunctionThatTakesTheLock) {
  Locks run(1);
  MeteredLock& lock = run.locks.create("ticket", "lock");
  const FunctionId get = run.function("get");
  const FunctionId put = run.function("put");
  run.run({[&](Cpu& cpu) {
    for (const FunctionId function : {get, put, get}) {
      const FunctionScope scope(cpu, function);
      lock.acquire(cpu);
      lock.release(cpu);
    }
  }});
  const auto& sites = run.locks.figures().at("lock").by_call_site();
  EXPECT_EQ(sites.at(get).nowait, 2);
  EXPECT_EQ(sites.at(put).nowait, 1);
}

TEST(LockHolders, ALockTakenTwiceStopsTheRun) {
  Locks run(1);
  MeteredLock& lock = run.locks.create("ttas", "inode_lock");
  const FunctionId outer = run.function("outer");
  EXPECT_THAT(run.failure_of({[&](Cpu& cpu) {
    const FunctionScope scope(cpu, outer);
    lock.acquire(cpu);
    lock.acquire(cpu);
  }}),
              AllOf(HasSubstr("recursive acquire"), HasSubstr("inode_lock"), HasSubstr("outer")));
}

TEST(LockHolders, AReleaseOfWhatIsNotHeldStopsTheRun) {
  Locks run(2);
  MeteredLock& lock = run.locks.create("ttas", "inode_lock");
  EXPECT_THAT(run.failure_of({[&](Cpu& cpu) { lock.acquire(cpu); },
                              [&](Cpu& cpu) {
                                cpu.compute(1000);
                                cpu.now();  // orders this after what the other CPU did
                                lock.release(cpu);
                              }}),
              AllOf(HasSubstr("release of a lock that is not held: CPU 1"), HasSubstr("inode_lock"),
                    HasSubstr("held by CPU 0. The program is wrong, not the lock")));
}

TEST(LockHolders, ASecondReleaseIsTheProgramsMistake) {
  Locks run(1);
  MeteredLock& lock = run.locks.create("mcs", "inode_lock");
  EXPECT_THAT(run.failure_of({[&](Cpu& cpu) {
    lock.acquire(cpu);
    lock.release(cpu);
    lock.release(cpu);
  }}),
              HasSubstr("held by nobody. The program is wrong, not the lock"));
}

TEST(LockHolders, AReadersReleaseOfAWritersLockStopsTheRun) {
  Locks run(1);
  MeteredLock& lock = run.locks.create("rwlock", "tasklist_lock");
  EXPECT_THAT(run.failure_of({[&](Cpu& cpu) {
    lock.acquire(cpu);
    (void)lock.release_shared(cpu);
  }}),
              HasSubstr("as a reader"));
}

// Each CPU takes its first lock, lets the others do the same, and then wants its second.
Core::Program takes_both(MeteredLock& first, MeteredLock& second, bool first_shared = false) {
  return [&first, &second, first_shared](Cpu& cpu) {
    if (first_shared) {
      first.acquire_shared(cpu);
    } else {
      first.acquire(cpu);
    }
    cpu.compute(5000);
    second.acquire(cpu);
  };
}

TEST(LockHolders, TwoCpusThatWaitForEachOtherAreADeadlock) {
  Locks run(2);
  MeteredLock& one = run.locks.create("ticket", "one");
  MeteredLock& two = run.locks.create("mcs", "two");
  EXPECT_THAT(run.failure_of({takes_both(one, two), takes_both(two, one)}),
              AllOf(HasSubstr("deadlock"), HasSubstr("CPU 0 awaits two"), HasSubstr("CPU 0 holds one"),
                    HasSubstr("CPU 1 awaits one"), HasSubstr("CPU 1 holds two")));
}

TEST(LockHolders, ThreeCpusInARingAreADeadlock) {
  Locks run(3);
  MeteredLock& one = run.locks.create("ttas", "one");
  MeteredLock& two = run.locks.create("clh", "two");
  MeteredLock& three = run.locks.create("mutex", "three");
  EXPECT_THAT(run.failure_of({takes_both(one, two), takes_both(two, three), takes_both(three, one)}),
              AllOf(HasSubstr("deadlock"), HasSubstr("CPU 0 awaits two"), HasSubstr("CPU 1 awaits three"),
                    HasSubstr("CPU 2 awaits one")));
}

TEST(LockHolders, AReaderThatAWriterAwaitsIsPartOfADeadlock) {
  Locks run(2);
  MeteredLock& one = run.locks.create("rwlock", "one");
  MeteredLock& two = run.locks.create("ttas", "two");
  EXPECT_THAT(run.failure_of({takes_both(one, two, true), takes_both(two, one)}),
              AllOf(HasSubstr("deadlock"), HasSubstr("CPU 0 holds one as a reader"), HasSubstr("CPU 1 awaits one")));
}

// Both read one lock and want the other, as readers: nobody waits for anybody.
TEST(LockHolders, ReadersDoNotWaitForEachOther) {
  Locks run(2);
  MeteredLock& one = run.locks.create("rwlock", "one");
  MeteredLock& two = run.locks.create("brlock", "two");
  const auto reads = [](MeteredLock& first, MeteredLock& second) {
    return [&first, &second](Cpu& cpu) {
      first.acquire_shared(cpu);
      cpu.compute(5000);
      second.acquire_shared(cpu);
      first.acquire_shared(cpu);
      EXPECT_TRUE(first.release_shared(cpu));
      EXPECT_TRUE(second.release_shared(cpu));
      EXPECT_TRUE(first.release_shared(cpu));
    };
  };
  EXPECT_EQ(run.failure_of({reads(one, two), reads(two, one)}), "");
}

// CPU 0 waits for a lock that CPU 1 holds. CPU 1 wants one that CPU 0's handler holds; but the handler doesn't wait.
TEST(LockHolders, WhatAHandlerHoldsOnTopOfAWaitIsNotPartOfADeadlock) {
  Locks run(2);
  MeteredLock& one = run.locks.create("ttas", "one");
  MeteredLock& two = run.locks.create("ttas", "two");
  int handled = 0;
  const auto waits = [&](Cpu& cpu) {
    cpu.set_interrupt_handler([&](Cpu& interrupted, int) {
      two.acquire(interrupted);
      interrupted.compute(5000);
      interrupted.now();
      two.release(interrupted);
      ++handled;
    });
    cpu.set_timer(2000, 0);
    cpu.compute(1000);
    one.acquire(cpu);
    one.release(cpu);
  };
  const auto wants_both = [&](Cpu& cpu) {
    one.acquire(cpu);
    cpu.compute(4000);
    cpu.now();  // lets the handler's program catch up with the handler
    two.acquire(cpu);
    two.release(cpu);
    one.release(cpu);
  };
  EXPECT_EQ(run.failure_of({waits, wants_both}), "");
  EXPECT_EQ(handled, 1);
}

// CPU 0 is inside from 100 to 200 ns and from 400 to 500, CPU 1 from 150 to 250 and from 500 to 600.
TEST(Races, SectionsWithoutALockThatOverlapAreFound) {
  Locks run(2);
  MeteredLock& lock = run.locks.create("none", "lock");
  const FunctionId get = run.function("get");
  const FunctionId put = run.function("put");
  const auto visits = [&lock](FunctionId function, double first, double second, bool reads) {
    return [&lock, function, first, second, reads](Cpu& cpu) {
      const FunctionScope scope(cpu, function);
      for (const double from : {first, second}) {
        wait_until(cpu, from);
        if (reads) {
          lock.acquire_shared(cpu);
          cpu.compute(100);
          EXPECT_TRUE(lock.release_shared(cpu));
        } else {
          lock.acquire(cpu);
          cpu.compute(100);
          lock.release(cpu);
        }
      }
    };
  };
  run.run({visits(get, 100, 400, true), visits(put, 150, 500, false)});
  const Races& races = *run.locks.figures().at("lock").races();
  EXPECT_EQ(races.sections, 2);
  ASSERT_TRUE(races.first);
  EXPECT_EQ(run.small.machine.timebase().to_ns(races.first->at), 150);
  EXPECT_EQ(races.first->first_cpu.value, 0);
  EXPECT_EQ(races.first->second_cpu.value, 1);
  EXPECT_EQ(races.first->first_call_site, get);
  EXPECT_EQ(races.first->second_call_site, put);
}

TEST(Races, ReadersOfNoLockDoNotRaceAndALockHasNone) {
  Locks run(2);
  MeteredLock& none = run.locks.create("none", "none");
  MeteredLock& ticket = run.locks.create("ticket", "ticket");
  const Core::Program program = [&](Cpu& cpu) {
    none.acquire_shared(cpu);
    cpu.compute(500);
    EXPECT_TRUE(none.release_shared(cpu));
    ticket.acquire(cpu);
    ticket.release(cpu);
  };
  run.run({program, program});
  EXPECT_EQ(run.locks.figures().at("none").races()->sections, 0);
  EXPECT_FALSE(run.locks.figures().at("none").races()->first);
  EXPECT_FALSE(run.locks.figures().at("ticket").races());
}

}  // namespace
}  // namespace linebounce::test
