// Vectors and softirqs: which handler runs, what it is told, and when deferred work runs.
#include "workloads/program/interrupts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/failure.hpp"
#include "tests/models/support/small_machine.hpp"
#include "workloads/rcu/readers.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

constexpr FunctionId kOther = 1;

struct OneCpu {
  OneCpu() : small(small_machine(1)), interrupts(1) { small.machine.set_functions(2); }
  void run(const Core::Program& program) {
    small.run({[&](Cpu& cpu) {
      interrupts.start(cpu);
      program(cpu);
    }});
  }
  SmallMachine small;
  Interrupts interrupts;
};

TEST(Interrupts, EachVectorHasItsHandlerWhichKnowsWhatItInterrupted) {
  OneCpu one;
  std::vector<std::string> log;
  const auto handler = [&log](const std::string& name) {
    return
        [&log, name](Cpu&, FunctionId interrupted) { log.push_back(name + (interrupted == kOther ? " other" : " program")); };
  };
  const int first = one.interrupts.add_handler(handler("first"));
  const int second = one.interrupts.add_handler(handler("second"));
  one.run([&](Cpu& cpu) {
    cpu.set_timer(1000, second);
    cpu.set_timer(3000, first);
    cpu.compute(2000);
    cpu.now();
    const FunctionScope scope(cpu, kOther);
    cpu.compute(2000);
    cpu.now();
  });
  EXPECT_EQ(log, (std::vector<std::string>{"second program", "first other"}));
}

// The softirq takes 1000 ns; the second interrupt comes in the middle, and its own softirq runs after it.
TEST(Interrupts, ASoftirqRunsAfterItsHandlerAndCanBeInterruptedButNotByASoftirq) {
  OneCpu one;
  std::vector<std::string> log;
  int softirq = 0;
  const int vector = one.interrupts.add_handler([&](Cpu& cpu, FunctionId) {
    log.emplace_back(one.interrupts.in_softirq(cpu) ? "handler inside" : "handler");
    one.interrupts.raise(cpu, softirq);
  });
  softirq = one.interrupts.add_softirq([&](Cpu& cpu) {
    EXPECT_FALSE(one.interrupts.in_handler(cpu));
    log.emplace_back("begin");
    cpu.compute(1000);
    cpu.now();
    log.emplace_back("end");
  });
  one.run([&](Cpu& cpu) {
    cpu.set_timer(1000, vector);
    cpu.set_timer(1500, vector);
    cpu.compute(5000);
    cpu.now();
  });
  EXPECT_EQ(log, (std::vector<std::string>{"handler", "begin", "handler inside", "end", "begin", "end"}));
}

TEST(Interrupts, ASoftirqThatRaisesItselfForEverLeavesTheCpuToTheProgramInTheEnd) {
  OneCpu one;
  int ran = 0;
  int softirq = 0;
  const int vector = one.interrupts.add_handler([&](Cpu& cpu, FunctionId) { one.interrupts.raise(cpu, softirq); });
  softirq = one.interrupts.add_softirq([&](Cpu& cpu) {
    ++ran;
    cpu.compute(10);
    cpu.now();
    one.interrupts.raise(cpu, softirq);
  });
  one.run([&](Cpu& cpu) {
    cpu.set_timer(100, vector);
    cpu.compute(1000);
    cpu.now();
    EXPECT_EQ(ran, 10);
    cpu.set_timer(100, vector);
    cpu.compute(1000);
    cpu.now();
    EXPECT_EQ(ran, 20);
  });
}

// A softirq of 10 cycles that raises itself until it has run `times` times.
struct SelfRaising {
  SelfRaising(OneCpu& one, int times)
      : softirq(one.interrupts.add_softirq([this, &one, times](Cpu& cpu) {
          cpu.compute(10);
          cpu.now();
          if (++ran < times) one.interrupts.raise(cpu, softirq);
        })),
        vector(one.interrupts.add_handler([this, &one](Cpu& cpu, FunctionId) { one.interrupts.raise(cpu, softirq); })) {}
  int ran = 0;
  int softirq;
  int vector;
};

TEST(Interrupts, WhatIsRaisedAfterTheLastRoundIsLeftToTheThread) {
  OneCpu one;
  SelfRaising work(one, 9);
  int woken = 0;
  one.interrupts.defer_rest_to([&](Cpu&) { ++woken; }, 4);
  one.run([&](Cpu& cpu) {
    cpu.set_timer(100, work.vector);
    cpu.compute(1000);
    cpu.now();
    EXPECT_EQ(work.ran, 4);
    EXPECT_EQ(woken, 1);
    EXPECT_TRUE(one.interrupts.is_raised(cpu));
    one.interrupts.run_pending_softirqs(cpu);
    EXPECT_EQ(work.ran, 8);
    EXPECT_EQ(woken, 2);
    one.interrupts.run_pending_softirqs(cpu);
    EXPECT_EQ(work.ran, 9);
    EXPECT_EQ(woken, 2);
    EXPECT_FALSE(one.interrupts.is_raised(cpu));
  });
}

// A second round of softirqs after an interrupt is not admitted; the thread's own rounds are.
TEST(Interrupts, RoundsThatAreNotAdmittedAreLeftToTheThread) {
  OneCpu one;
  SelfRaising work(one, 5);
  int woken = 0;
  one.interrupts.defer_rest_to([&](Cpu&) { ++woken; });
  one.interrupts.admit_softirqs([&](Cpu&) { return work.ran < 1; });
  one.run([&](Cpu& cpu) {
    cpu.set_timer(100, work.vector);
    cpu.compute(1000);
    cpu.now();
    EXPECT_EQ(work.ran, 1);
    EXPECT_EQ(woken, 1);
    one.interrupts.run_pending_softirqs(cpu);
    EXPECT_EQ(work.ran, 5);
    EXPECT_EQ(woken, 1);
  });
}

TEST(Interrupts, ListenersHearTheEndOfEachSoftirqAndTheReturnToWhatWasInterrupted) {
  OneCpu one;
  std::vector<std::string> log;
  SelfRaising work(one, 2);
  one.interrupts.after_softirq([&](Cpu& cpu, int softirq) {
    EXPECT_EQ(softirq, work.softirq);
    EXPECT_TRUE(one.interrupts.in_softirq(cpu));
    log.push_back("softirq " + std::to_string(work.ran));
  });
  one.interrupts.on_return([&](Cpu& cpu, FunctionId interrupted) {
    EXPECT_FALSE(one.interrupts.in_softirq(cpu));
    log.emplace_back(interrupted == kOther ? "return to other" : "return");
  });
  one.run([&](Cpu& cpu) {
    const FunctionScope scope(cpu, kOther);
    cpu.set_timer(100, work.vector);
    cpu.compute(1000);
    cpu.now();
  });
  EXPECT_EQ(log, (std::vector<std::string>{"softirq 1", "softirq 2", "return to other"}));
}

// The inner handler interrupted a softirq. When that handler returns, the softirq is still running.
TEST(Interrupts, AReturnIntoASoftirqIsNotReported) {
  OneCpu one;
  int returns = 0;
  int softirq = 0;
  const int vector = one.interrupts.add_handler([&](Cpu& cpu, FunctionId) {
    if (!one.interrupts.in_softirq(cpu)) one.interrupts.raise(cpu, softirq);
  });
  softirq = one.interrupts.add_softirq([&](Cpu& cpu) {
    cpu.compute(1000);
    cpu.now();
  });
  one.interrupts.on_return([&](Cpu&, FunctionId) { ++returns; });
  one.run([&](Cpu& cpu) {
    cpu.set_timer(1000, vector);
    cpu.set_timer(1500, vector);
    cpu.compute(5000);
    cpu.now();
  });
  EXPECT_EQ(returns, 1);
}

// One interrupt in the middle of a computation in the section, and one due exactly at the section's end.
TEST(Interrupts, SectionsThatDisableSoftirqsNestAndTheOutermostEndRunsThem) {
  OneCpu one;
  bool ran = false;
  int softirq = 0;
  const int vector = one.interrupts.add_handler([&](Cpu& cpu, FunctionId) { one.interrupts.raise(cpu, softirq); });
  softirq = one.interrupts.add_softirq([&](Cpu&) { ran = true; });
  one.run([&](Cpu& cpu) {
    one.interrupts.disable_softirqs(cpu);
    one.interrupts.disable_softirqs(cpu);
    cpu.set_timer(500, vector);
    cpu.compute(1000);
    one.interrupts.enable_softirqs(cpu);
    EXPECT_FALSE(ran);
    cpu.compute(1000);
    one.interrupts.enable_softirqs(cpu);
    EXPECT_TRUE(ran);
  });
}

TEST(Interrupts, SoftirqsThatAreEnabledTwiceStopTheRun) {
  OneCpu one;
  EXPECT_THROW(one.run([&](Cpu& cpu) { one.interrupts.enable_softirqs(cpu); }), ModelFailure);
}

TEST(RcuReaders, AReaderWhoBeganBeforeTheRemovalMustHaveGoneWhenTheGracePeriodIsOver) {
  OneCpu one;
  one.run([&](Cpu& cpu) {
    RcuReaders readers(1);
    readers.enter(cpu);
    const Tick began = cpu.local_time();
    cpu.compute(100);
    readers.enter(cpu);  // nested: only the outermost counts
    EXPECT_THROW(readers.check_gone(began + 1), ModelFailure);
    EXPECT_NO_THROW(readers.check_gone(began));
    readers.leave(cpu);
    EXPECT_THROW(readers.check_gone(began + 1), ModelFailure);
    readers.leave(cpu);
    EXPECT_NO_THROW(readers.check_gone(began + 1));
    EXPECT_THROW(readers.leave(cpu), ModelFailure);
  });
}

}  // namespace
}  // namespace linebounce::test
