// Timers expire when and as often as they should, whichever CPU changes them; which locks that takes; and the effect of the two
// what-ifs.
#include "workloads/linux26/timers/timers.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "models/failure.hpp"
#include "tests/workloads/kernel_machine.hpp"
#include "tests/workloads/run_workload.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

Layout owner_layout() {
  return {.name = "owner",
          .size = 128,
          .alignment = 128,
          .fields = {{"timer.entry.next", 0, 8},
                     {"timer.entry.prev", 8, 8},
                     {"timer.expires", 16, 8},
                     {"timer.base", 40, 8},
                     {"state", 48, 8},
                     {"given_up", 56, 8}}};
}

// Timers with ticks on every CPU until its program ends.
class TimerMachine : public KernelMachine {
 public:
  explicit TimerMachine(const MachineSpec& spec, const TimerOptions& options = {.jiffy_us = 10})
      : KernelMachine(spec, {owner_layout()}),
        timers(*kernel, options),
        fields(timer_fields(kernel->layout("owner"), "timer")),
        state(kernel->field("owner", "state")),
        given_up(kernel->field("owner", "given_up")),
        ticks(static_cast<std::size_t>(spec.cpus)) {
    vector_ = kernel->interrupts().add_handler([this](Cpu& cpu, FunctionId) {
      arm_tick(cpu);
      timers.tick(cpu);
      ++ticks[static_cast<std::size_t>(cpu.id().value)];
    });
  }

  Object place_owner(int number) { return kernel->place("owner", "owner[" + std::to_string(number) + "]", 0); }
  void run(const Core::Program& program) {
    KernelMachine::run([this, program](Cpu& cpu) {
      arm_tick(cpu);
      program(cpu);
    });
  }
  // Waits until this many jiffies have passed.
  void wait(Cpu& cpu, int jiffies) const {
    const int until = ticks[static_cast<std::size_t>(cpu.id().value)] + jiffies;
    while (ticks[static_cast<std::size_t>(cpu.id().value)] < until) {
      cpu.compute(1000);
      cpu.now();
    }
  }
  // Acquisitions of base locks in a function.
  [[nodiscard]] std::int64_t acquired_in(const std::string& function) const {
    for (const auto& [site, use] : locks.figures().at("tvec_base_lock").by_call_site()) {
      if (space.functions()[site].name == function) return use.nowait + use.spin;
    }
    return 0;
  }

 private:
  void arm_tick(Cpu& cpu) const { cpu.set_timer(timers.jiffy_us() * 1000, vector_); }
  int vector_ = 0;

 public:
  Timers timers;
  TimerFields fields;
  FieldPlace state, given_up;
  std::vector<int> ticks;  // by CPU
};

// tv1 holds timers up to 255 jiffies away, tv2 up to 16383, tv3 farther ones.
TEST(Timers, ExpireOnceInTheTickThatIsTheirDelayAwayAndNeverInTheOneThatRuns) {
  TimerMachine one(small_machine(1), {.jiffy_us = 10});
  const std::vector<int> delays = {0, 1, 2, 5, 254, 255, 256, 257, 511, 512, 700, 16383, 16384, 16500};
  std::map<int, std::vector<int>> fired;
  std::deque<Timer> timers;
  for (std::size_t i = 0; i < delays.size(); ++i) {
    timers.emplace_back(one.fields, one.place_owner(static_cast<int>(i)),
                        [&, i](Cpu&) { fired[delays[i]].push_back(one.ticks[0]); });
    one.timers.init(timers.back());
  }
  one.run([&](Cpu& cpu) {
    one.wait(cpu, 7);
    for (std::size_t i = 0; i < delays.size(); ++i) one.timers.add(cpu, timers[i], delays[i] * 10.0);
    EXPECT_EQ(one.ticks[0], 7) << "the tick is long enough to add them all";
    one.wait(cpu, 16600);
  });
  for (const int delay : delays) EXPECT_EQ(fired[delay], std::vector<int>{7 + std::max(1, delay)}) << delay;
}

TEST(Timers, ADelayThatIsNotAWholeJiffyIsRoundedUp) {
  TimerMachine one(small_machine(1));
  std::vector<int> fired;
  Timer timer(one.fields, one.place_owner(0), [&](Cpu&) { fired.push_back(one.ticks[0]); });
  one.timers.init(timer);
  one.run([&](Cpu& cpu) {
    one.timers.add(cpu, timer, 20.1);
    one.wait(cpu, 6);
  });
  EXPECT_EQ(fired, std::vector<int>{3});
}

TEST(Timers, ModifyingMovesAPendingTimerAndSaysThatItWas) {
  TimerMachine one(small_machine(1));
  std::vector<int> fired;
  Timer timer(one.fields, one.place_owner(0), [&](Cpu&) { fired.push_back(one.ticks[0]); });
  one.timers.init(timer);
  one.run([&](Cpu& cpu) {
    EXPECT_FALSE(one.timers.modify(cpu, timer, 20));
    EXPECT_TRUE(one.timers.modify(cpu, timer, 50));
    EXPECT_TRUE(one.timers.modify(cpu, timer, 40));
    one.wait(cpu, 8);
    EXPECT_FALSE(one.timers.remove(cpu, timer)) << "it has expired";
    EXPECT_FALSE(one.timers.modify(cpu, timer, 30));
    EXPECT_TRUE(one.timers.remove(cpu, timer));
    EXPECT_FALSE(one.timers.remove(cpu, timer));
    one.wait(cpu, 8);
  });
  EXPECT_EQ(fired, std::vector<int>{4});
}

// Four modifications, of which two leave the expiry unchanged and take no lock.
TEST(Timers, ModifyingToTheSameTimeTakesNoLock) {
  TimerMachine one(small_machine(1));
  Timer timer(one.fields, one.place_owner(0), [](Cpu&) {});
  one.timers.init(timer);
  one.run([&](Cpu& cpu) {
    for (const double delay : {5000.0, 5000.0, 5000.0, 6000.0}) one.timers.modify(cpu, timer, delay);
    EXPECT_EQ(one.ticks[0], 0);
  });
  EXPECT_EQ(one.acquired_in("mod_timer"), 2);
  EXPECT_EQ(one.acquired_in("__mod_timer"), 0);
}

TEST(Timers, AddingAPendingTimerStopsTheRun) {
  TimerMachine one(small_machine(1));
  Timer timer(one.fields, one.place_owner(0), [](Cpu&) {});
  one.timers.init(timer);
  const auto add_twice = [&](Cpu& cpu) {
    one.timers.add(cpu, timer, 100);
    one.timers.add(cpu, timer, 100);
  };
  EXPECT_THROW(one.run(add_twice), ModelFailure);
}

// CPU 0 adds the timer, and takes its own base's lock in mod_timer. CPU 1 modifies it: it takes CPU 0's lock in mod_timer,
// then its own in __mod_timer. CPU 0 deletes it, and takes CPU 1's lock in del_timer.
TEST(Timers, ATimerIsOnTheBaseOfTheCpuThatAddedItLast) {
  TimerMachine two(small_machine(2), {.jiffy_us = 1000});
  const Object owner = two.place_owner(0);
  Timer timer(two.fields, owner, [](Cpu&) {});
  two.timers.init(timer);
  const auto wait_for = [&](Cpu& cpu, Value state) {
    cpu.spin_until(owner.at(two.state, cpu), [state](Value now) { return now == state; });
  };
  two.run([&](Cpu& cpu) {
    if (cpu.id().value == 1) {
      wait_for(cpu, 1);
      two.timers.modify(cpu, timer, 7000);
      owner.store(cpu, two.state, 2);
      return;
    }
    two.timers.add(cpu, timer, 5000);
    const Value first_base = cpu.load(owner.at(two.fields.base, cpu));
    owner.store(cpu, two.state, 1);
    wait_for(cpu, 2);
    EXPECT_NE(cpu.load(owner.at(two.fields.base, cpu)), first_base);
    EXPECT_TRUE(two.timers.remove(cpu, timer));
  });
  EXPECT_EQ(two.acquired_in("mod_timer"), 2);
  EXPECT_EQ(two.acquired_in("__mod_timer"), 1);
  EXPECT_EQ(two.acquired_in("del_timer"), 1);
}

struct Variant {
  std::string machine;
  bool batch_deletes;
};

class OnAnyMachine : public testing::TestWithParam<Variant> {
 protected:
  static MachineSpec spec() { return kernel_spec(GetParam().machine); }
  static TimerOptions options() { return {.jiffy_us = 10, .batch_deletes = GetParam().batch_deletes}; }
};
INSTANTIATE_TEST_SUITE_P(, OnAnyMachine,
                         testing::Values(Variant{"sc", false}, Variant{"threads", false}, Variant{"itanium", false},
                                         Variant{"sc", true}, Variant{"threads", true}, Variant{"itanium", true}),
                         [](const auto& tested) {
                           return tested.param.machine + (tested.param.batch_deletes ? "_batch" : "");
                         });

// A modification owes one expiry, unless the timer was pending and owed one already; a deletion that finds it pending cancels
// it.
TEST_P(OnAnyMachine, NoTimerIsLostOrRunsTwiceWhicheverCpuChangesIt) {
  TimerMachine four(spec(), options());
  constexpr int kTimers = 6;
  int owed = 0;
  int fired = 0;
  std::deque<Timer> timers;
  for (int i = 0; i < kTimers; ++i) {
    timers.emplace_back(four.fields, four.place_owner(i), [&](Cpu&) { ++fired; });
    four.timers.init(timers.back());
  }
  four.run([&](Cpu& cpu) {
    Random random(1, static_cast<std::uint64_t>(cpu.id().value), 0);
    for (int i = 0; i < 1000; ++i) {
      Timer& timer = timers[random.below(kTimers)];
      const double delay = static_cast<double>(random.below(60));
      switch (random.below(4)) {
        case 0: owed -= four.timers.remove(cpu, timer) ? 1 : 0; break;
        case 1: owed -= four.timers.remove_sync(cpu, timer) ? 1 : 0; break;
        default: owed += four.timers.modify(cpu, timer, delay) ? 0 : 1; break;
      }
      cpu.compute(static_cast<std::int64_t>(random.below(2000)));
    }
    four.wait(cpu, 10);
  });
  EXPECT_EQ(fired, owed);
  EXPECT_GT(fired, 20);
  for (const std::string function : {"__mod_timer", "del_timer", "mod_timer", "run_timer_softirq", "try_to_del_timer_sync"})
    EXPECT_GT(four.misses(function, "tvec_base", "lock"), 0U) << function;
  EXPECT_GT(four.misses("run_timer_softirq", "tvec_base", "timer_jiffies"), 0U);
}

// CPU 1 repeatedly deletes the timer that runs on CPU 0, at times when it often runs.
TEST_P(OnAnyMachine, ATimerNeverRunsAfterItsSynchronousDeletion) {
  TimerMachine four(spec(), options());
  const Object owner = four.place_owner(0);
  int fired = 0;
  Timer timer(four.fields, owner, [&](Cpu& cpu) {
    owner.store(cpu, four.state, 2);
    cpu.compute(3000);
    owner.store(cpu, four.state, 1);
    ++fired;
  });
  four.timers.init(timer);
  int overtaken = 0;
  four.run([&](Cpu& cpu) {
    Random random(1, static_cast<std::uint64_t>(cpu.id().value), 0);
    for (int i = 0; i < 100 && cpu.id().value < 2; ++i) {
      const auto turn = [&](Value state) {
        cpu.spin_until(owner.at(four.state, cpu), [state](Value now) { return now == state || now == state + 1; });
      };
      if (cpu.id().value == 0) {
        turn(0);
        owner.store(cpu, four.state, 1);
        four.timers.modify(cpu, timer, 10);
        cpu.fence();
        cpu.spin_until(owner.at(four.state, cpu), [](Value now) { return now == 0; });
      } else {
        turn(1);
        cpu.compute(static_cast<std::int64_t>(random.below(25000)));
        four.timers.remove_sync(cpu, timer);
        overtaken += owner.load(cpu, four.state) == 2 ? 1 : 0;
        cpu.store_release(owner.at(four.state, cpu), 0);
      }
    }
  });
  EXPECT_EQ(overtaken, 0);
  EXPECT_GT(fired, 10);
  EXPECT_LT(fired, 100);
}

// A command's path: CPU p arms the timer of one of its objects, and the next CPU completes it. What was armed expires or is
// retired; the object is reused only after one of them is done.
TEST_P(OnAnyMachine, ARetiredTimerNeverFiresAndIsHandedBackOnce) {
  TimerMachine four(spec(), options());
  constexpr int kEach = 3;
  enum : Value { kFree, kArmedNow, kFired };
  int armed = 0, fired = 0, retired = 0, handed_back = 0, handed_back_elsewhere = 0;
  std::vector<Object> owners;
  std::deque<Timer> timers;
  for (int i = 0; i < 4 * kEach; ++i) {
    const Object owner = four.place_owner(i);
    owners.push_back(owner);
    timers.emplace_back(four.fields, owner, [&, owner](Cpu& cpu) {
      ++fired;
      cpu.store_release(owner.at(four.state, cpu), kFired);
    });
    four.timers.init(timers.back());
  }
  four.run([&](Cpu& cpu) {
    const int me = cpu.id().value;
    Random random(1, static_cast<std::uint64_t>(me), 0);
    for (int i = 0; i < 2000; ++i) {
      const auto mine = static_cast<std::size_t>(me * kEach) + random.below(kEach);
      if (i < 1700 && cpu.load_acquire(owners[mine].at(four.state, cpu)) == kFree) {
        four.timers.init(cpu, timers[mine]);
        cpu.store_release(owners[mine].at(four.state, cpu), kArmedNow);
        four.timers.add(cpu, timers[mine], static_cast<double>(random.below(60)));
        ++armed;
      }
      cpu.compute(static_cast<std::int64_t>(random.below(1000)));
      const int before = (me + 3) % 4;
      const auto theirs = static_cast<std::size_t>(before * kEach) + random.below(kEach);
      const Object& owner = owners[theirs];
      const Value state = cpu.load_acquire(owner.at(four.state, cpu));
      if (state == kFired) cpu.store_release(owner.at(four.state, cpu), kFree);
      if (state != kArmedNow || random.below(12) != 0 || owner.load(cpu, four.given_up) != 0) continue;
      owner.store(cpu, four.given_up, 1);
      const bool removed = four.timers.retire(cpu, timers[theirs], [&, owner, before](Cpu& on) {
        ++handed_back;
        handed_back_elsewhere += on.id().value != before ? 1 : 0;
        owner.store(on, four.given_up, 0);
        on.store_release(owner.at(four.state, on), kFree);
      });
      if (!removed) owner.store(cpu, four.given_up, 0);
      retired += removed ? 1 : 0;
    }
    four.wait(cpu, 40);
  });
  EXPECT_EQ(armed, fired + retired);
  EXPECT_EQ(handed_back, retired);
  EXPECT_GT(fired, 10);
  EXPECT_GT(retired, 100);
  EXPECT_EQ(handed_back_elsewhere, GetParam().batch_deletes ? 0 : retired);
}

// CPU 0 arms ten timers; CPU 1 retires them.
class Retirement : public testing::TestWithParam<bool> {
 protected:
  static constexpr int kTimers = 10;
  void run() {
    TimerMachine two(small_itanium(2), {.jiffy_us = 100, .batch_deletes = GetParam()});
    const Object turn = two.place_owner(kTimers);
    std::deque<Timer> timers;
    for (int i = 0; i < kTimers; ++i) {
      timers.emplace_back(two.fields, two.place_owner(i), [](Cpu&) {});
      two.timers.init(timers.back());
    }
    two.run([&](Cpu& cpu) {
      if (cpu.id().value == 0) {
        for (Timer& timer : timers) two.timers.add(cpu, timer, 50000);
        cpu.store_release(turn.at(two.state, cpu), 1);
      } else {
        cpu.spin_until(turn.at(two.state, cpu), [](Value now) { return now == 1; });
        for (Timer& timer : timers)
          EXPECT_TRUE(two.timers.retire(cpu, timer, [&](Cpu& on) { handed_back_on.push_back(on.id().value); }));
        handed_back_at_once = handed_back_on.size();
      }
      two.wait(cpu, 3);
    });
    locks_of_deletion = two.acquired_in("del_timer");
    locks_of_batches = two.acquired_in("detach_retired_timers");
    for (const Miss& miss : two.small.misses()) {
      const Symbol symbol = two.space.symbol(two.space.find(miss.address));
      misses_on_base += miss.cpu.value == 1 && symbol.object == "tvec_base[0]" ? 1 : 0;
    }
  }
  std::vector<int> handed_back_on;
  std::size_t handed_back_at_once = 0;
  std::int64_t locks_of_deletion = 0, locks_of_batches = 0;
  int misses_on_base = 0;
};
INSTANTIATE_TEST_SUITE_P(, Retirement, testing::Bool(),
                         [](const auto& tested) { return std::string(tested.param ? "batch" : "one_by_one"); });

// Ten fit in one batch: CPU 0 takes its base's lock once for all of them.
TEST_P(Retirement, TakesTheOtherCpusLockForEachTimerOrNotAtAll) {
  run();
  const bool batch = GetParam();
  EXPECT_EQ(locks_of_deletion, batch ? 0 : kTimers);
  EXPECT_EQ(locks_of_batches, batch ? 1 : 0);
  EXPECT_EQ(handed_back_at_once, batch ? 0U : kTimers);
  EXPECT_EQ(handed_back_on, std::vector<int>(kTimers, batch ? 0 : 1));
  if (batch) {
    EXPECT_EQ(misses_on_base, 0);
  } else {
    EXPECT_GT(misses_on_base, 0);
  }
}

TEST(BatchDeletes, ATimerThatIsUsedAfterItWasRetiredStopsTheRun) {
  TimerMachine two(small_machine(2), {.jiffy_us = 1000, .batch_deletes = true});
  const Object owner = two.place_owner(0);
  Timer timer(two.fields, owner, [](Cpu&) {});
  two.timers.init(timer);
  const auto use_after = [&](Cpu& cpu) {
    if (cpu.id().value == 0) {
      two.timers.add(cpu, timer, 5000);
      owner.store(cpu, two.state, 1);
      return;
    }
    cpu.spin_until(owner.at(two.state, cpu), [](Value now) { return now == 1; });
    two.timers.retire(cpu, timer, [](Cpu&) {});
    two.timers.modify(cpu, timer, 6000);
  };
  EXPECT_THROW(two.run(use_after), ModelFailure);
}

// Three timers on three CPUs' bases, deleted by a fourth CPU that has their lines: with prefetches, the three locks' lines are
// fetched in parallel.
TEST(PrefetchLocks, HidesTheLaterLocksBehindTheFirst) {
  TimerMachine four(small_itanium(4), {.jiffy_us = 10000, .prefetch_locks = true});
  const Object turn = four.place_owner(3);
  std::vector<Object> owners;
  std::deque<Timer> timers;
  for (int i = 0; i < 3; ++i) {
    owners.push_back(four.place_owner(i));
    timers.emplace_back(four.fields, owners.back(), [](Cpu&) {});
    four.timers.init(timers.back());
  }
  double without = 0, with = 0;
  four.run([&](Cpu& cpu) {
    const int me = cpu.id().value;
    for (Value round = 0; round < 3; ++round) {  // the first round warms the caches
      if (me < 3) {
        cpu.spin_until(turn.at(four.state, cpu), [&](Value now) { return now == 4 * round + static_cast<Value>(me); });
        four.timers.add(cpu, timers[static_cast<std::size_t>(me)], 100000);
        cpu.fence();
        turn.fetch_add(cpu, four.state, 1);
        continue;
      }
      cpu.spin_until(turn.at(four.state, cpu), [&](Value now) { return now == 4 * round + 3; });
      for (const Object& owner : owners) owner.store(cpu, four.state, 1);
      cpu.fence();
      const double begin = cpu.now_ns();
      for (const Timer& timer : timers) {
        if (round == 2) four.timers.prefetch_base(cpu, timer);
      }
      for (Timer& timer : timers) four.timers.remove(cpu, timer);
      (round == 2 ? with : without) = cpu.now_ns() - begin;
      turn.fetch_add(cpu, four.state, 1);
    }
  });
  EXPECT_LT(with, 0.8 * without);
}

// CPUs on the other node complete half of the commands; no CPU runs out of commands, with or without batches.
class TimerChurn : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, TimerChurn, testing::Bool(),
                         [](const auto& tested) { return std::string(tested.param ? "batch" : "one_by_one"); });

TEST_P(TimerChurn, GetsItsCommandsBack) {
  const MachineSpec spec = small_itanium(4);
  SmallMachine small(spec, {}, 0, 2000);
  const LayoutSet layouts = load_layout_file("linux_2_6_20", "").layouts;
  const Metrics metrics =
      run_workload("timer_churn", {{"batch_deletes", GetParam()}, {"jiffy_us", 100.0}, {"commands_per_cpu", std::int64_t{128}}},
                   small, spec, layouts);
  EXPECT_EQ(metrics.values.at("timers.starts_without_command"), 0);
  EXPECT_GT(metrics.values.at("throughput.operations_per_s") * 2e-3, 4 * 128) << "each was used again";
}

}  // namespace
}  // namespace linebounce::test
