// The scheduler: woken tasks run, once and on one CPU, whoever wakes them; what a wake-up reads; and what balancing moves.
#include "workloads/linux26/scheduler/scheduler.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <string>
#include <vector>

#include "tests/workloads/task_machine.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

using testing::ElementsAre;

TEST(Scheduler, ATaskThatSleepsRunsAgainWhenAnotherCpuWakesIt) {
  TaskMachine two(small_machine(2), 1000);
  const Address runs = two.word("runs");
  const Task& task = two.add_task(1, [&](Cpu& cpu, const Task& self) {
    two.sleep(cpu, self);
    cpu.fetch_add(runs, 1);
  });
  int woken = 0;
  two.run([&](Cpu& cpu) {
    if (cpu.id().value == 1) two.run_tasks(cpu);
    for (Value n = 0; n < 3; ++n) {
      cpu.compute(20000);
      EXPECT_EQ(cpu.load(runs), n) << "it sleeps";
      EXPECT_TRUE(two.scheduler.try_to_wake_up(cpu, task));
      cpu.spin_until_acquire(runs, [n](Value now) { return now == n + 1; });
      ++woken;
    }
  });
  EXPECT_EQ(woken, 3);
}

// The wake-up comes after the task has set its sleeping state and before it calls schedule().
TEST(Scheduler, AWakeUpBeforeTheSwitchIsNotLost) {
  TaskMachine two(small_machine(2), 1000);
  const Address step = two.word("step");
  const auto wait_for = [&](Cpu& cpu, Value value) {
    cpu.spin_until_acquire(step, [value](Value now) { return now == value; });
  };
  int runs = 0;
  const Task& task = two.add_task(1, [&](Cpu& cpu, const Task& self) {
    two.sleep(cpu, self);
    if (++runs > 1) return;
    cpu.store(step, 1);
    wait_for(cpu, 2);
  });
  two.run([&](Cpu& cpu) {
    if (cpu.id().value == 1) two.run_tasks(cpu);
    EXPECT_TRUE(two.scheduler.try_to_wake_up(cpu, task));
    wait_for(cpu, 1);
    EXPECT_TRUE(two.scheduler.try_to_wake_up(cpu, task));
    EXPECT_FALSE(two.scheduler.try_to_wake_up(cpu, task)) << "it is awake";
    cpu.store_release(step, 2);
  });
  EXPECT_EQ(runs, 2);
}

TEST(Scheduler, TasksOfACpuRunInTheOrderInWhichTheyWereWoken) {
  TaskMachine two(small_machine(2), 1000);
  const Address woken = two.word("woken");
  std::vector<int> order;
  std::vector<const Task*> tasks;
  for (int i = 0; i < 4; ++i) {
    tasks.push_back(&two.add_task(1, [&, i](Cpu& cpu, const Task& self) {
      order.push_back(i);
      two.sleep(cpu, self);
    }));
  }
  two.run([&](Cpu& cpu) {
    if (cpu.id().value == 1) {
      cpu.spin_until_acquire(woken, [](Value now) { return now == 1; });
      two.run_tasks(cpu);
    }
    for (const std::size_t i : {2, 0, 3, 1}) two.scheduler.try_to_wake_up(cpu, *tasks[i]);
    cpu.store_release(woken, 1);
  });
  EXPECT_THAT(order, ElementsAre(2, 0, 3, 1));
}

// CPU 1 sleeps from the start. The IPI takes 100 ns, and then it checks its queue.
TEST(Scheduler, AnIdleCpuSleepsUntilTheWakersIpi) {
  TaskMachine two(small_machine(2), 200);
  double ran_at = 0;
  Tick asleep = 0;
  const Task& task = two.add_task(1, [&](Cpu& cpu, const Task& self) {
    ran_at = cpu.now_ns();
    asleep = cpu.counters().asleep();
    two.sleep(cpu, self);
  });
  double woken_at = 0;
  two.run([&](Cpu& cpu) {
    if (cpu.id().value == 1) two.run_tasks(cpu);
    wait_until(cpu, 50000);
    two.scheduler.try_to_wake_up(cpu, task);
    woken_at = cpu.now_ns();
  });
  EXPECT_GT(ran_at, woken_at + 100);
  EXPECT_LT(ran_at, woken_at + 5000);
  EXPECT_GT(asleep, 450000) << "ticks of 0.1 ns";
}

struct Variant {
  std::string machine;
  bool pinned;
};

class OnAnyMachine : public testing::TestWithParam<Variant> {
 protected:
  static MachineSpec spec() { return kernel_spec(GetParam().machine); }
};
INSTANTIATE_TEST_SUITE_P(, OnAnyMachine,
                         testing::Values(Variant{"sc", true}, Variant{"threads", true}, Variant{"itanium", true},
                                         Variant{"sc", false}, Variant{"threads", false}, Variant{"itanium", false}),
                         [](const auto& tested) { return tested.param.machine + (tested.param.pinned ? "" : "_balanced"); });

// A few requests go from task to task, half of them through an interrupt handler. A task without requests sleeps; the task that
// makes one wakes it. Tasks are also woken without reason, at any time. A lost wake-up would lose a request forever.
TEST_P(OnAnyMachine, NoWakeUpIsLostAndNoTaskRunsOnTwoCpus) {
  constexpr Value kRequests = 3000;
  constexpr Value kAtOnce = 5;
  constexpr int kTasks = 12;
  TaskMachine four(spec(), 40000, {.pinned = GetParam().pinned});
  struct State {
    const Task* task = nullptr;
    Address wanted = 0, inside = 0;
    Value done = 0;
    Random random;
  };
  std::deque<State> states;
  const Address total = four.word("total");
  const auto request = [&](Cpu& cpu, Random& random) {
    const State& target = states[random.below(kTasks)];
    cpu.fetch_add(target.wanted, 1);
    four.scheduler.try_to_wake_up(cpu, *target.task);
  };
  std::deque<Random> of_handler;
  for (std::uint64_t cpu = 0; cpu < 4; ++cpu) of_handler.emplace_back(1, cpu, 1);
  const int vector = four.kernel->interrupts().add_handler(
      [&](Cpu& cpu, FunctionId) { request(cpu, of_handler[static_cast<std::size_t>(cpu.id().value)]); });
  const auto serve = [&](Cpu& cpu, State& state) {
    for (std::uint64_t part = 0; part < 1 + state.random.below(8); ++part) {
      four.scheduler.try_to_wake_up(cpu, *states[state.random.below(kTasks)].task);
      cpu.compute(static_cast<std::int64_t>(state.random.below(800)));
    }
    ++state.done;
    if (cpu.fetch_add(total, 1) >= kRequests - kAtOnce) return;
    if (state.random.below(2) == 0) {
      request(cpu, state.random);
    } else {
      cpu.send_ipi(CpuId(static_cast<int>(state.random.below(4))), vector);
    }
  };
  int slept = 0;
  for (int i = 0; i < kTasks; ++i) {
    const std::string name = std::to_string(i);
    State& state = states.emplace_back(State{.wanted = four.word("wanted" + name),
                                             .inside = four.word("inside" + name),
                                             .random = Random(1, static_cast<std::uint64_t>(i), 0)});
    state.task = &four.add_task(i % 4, [&](Cpu& cpu, const Task& self) {
      EXPECT_EQ(cpu.fetch_add(state.inside, 1), 0U) << "it runs elsewhere, too";
      for (;;) {
        four.sleep(cpu, self);
        const Value wanted = cpu.load_acquire(state.wanted);
        if (wanted == state.done) break;
        four.scheduler.set_state(cpu, self, TaskState::running);
        while (state.done < wanted) serve(cpu, state);
      }
      ++slept;
      cpu.fetch_add(state.inside, static_cast<Value>(-1));
    });
  }
  four.run([&](Cpu& cpu) {
    Random random(1, 0, 2);
    for (Value i = 0; cpu.id().value == 0 && i < kAtOnce; ++i) request(cpu, random);
    four.run_tasks(cpu);
  });
  Value done = 0;
  for (const State& state : states) done += state.done;
  EXPECT_EQ(done, kRequests);
  EXPECT_GT(slept, 1000) << "else there were few wake-ups";
}

class StoreBuffers : public testing::TestWithParam<Consistency> {};
INSTANTIATE_TEST_SUITE_P(, StoreBuffers, testing::Values(Consistency::tso, Consistency::ia64),
                         [](const auto& tested) { return tested.param == Consistency::tso ? "tso" : "ia64"; });

// Store buffering: the task stores its state and loads `asked`; the waker adds to `asked` and loads the state. Before each
// round the waker takes some lines that the task stores to first, so that its state would stay in the store buffer for
// microseconds if no fence drained it; the waker comes at a different time in each round.
TEST_P(StoreBuffers, AWaitersSleepFlagIsVisibleBeforeItChecksAgain) {
  constexpr Value kRounds = 200;
  MachineSpec spec = small_itanium(2);
  spec.cpu.consistency = GetParam();
  TaskMachine two(spec, 10000);
  const Address asked = two.word("asked");
  const Address ready = two.word("ready");
  const Address begun = two.word("begun");
  const Address served = two.word("served");
  std::vector<Address> slow;
  for (int i = 0; i < 14; ++i) slow.push_back(two.word("slow" + std::to_string(i)));
  const auto wait_for = [](Cpu& cpu, Address word, Value value) {
    cpu.spin_until_acquire(word, [value](Value now) { return now == value; });
  };
  Value done = 0;
  const Task& task = two.add_task(0, [&](Cpu& cpu, const Task& self) {
    for (;;) {
      if (cpu.load_acquire(asked) > done) {
        cpu.store_release(served, ++done);
        wait_for(cpu, ready, done);
        cpu.store(begun, done);
        for (const Address line : slow) cpu.store(line, 1);
      }
      two.sleep(cpu, self);
      if (cpu.load_acquire(asked) == done) return;
      two.scheduler.set_state(cpu, self, TaskState::running);
    }
  });
  two.run([&](Cpu& cpu) {
    if (cpu.id().value == 0) two.run_tasks(cpu);
    for (Value round = 0; round < kRounds; ++round) {
      cpu.fetch_add(asked, 1);
      two.scheduler.try_to_wake_up(cpu, task);
      wait_for(cpu, served, round + 1);
      for (const Address line : slow) cpu.store(line, 0);
      cpu.fence();
      cpu.store_release(ready, round + 1);
      wait_for(cpu, begun, round + 1);
      cpu.compute(static_cast<std::int64_t>(20 * round));
    }
  });
  EXPECT_EQ(done, kRounds) << "a task sleeps that was asked";
}

// CPU 2 wakes a task of CPU 0, on which `running` tasks (one or two) run. CPU 1 is CPU 0's sibling. Returns how many loads of
// run queues the wake-up makes.
std::int64_t looks_of_a_wake_up(bool check_always, int running) {
  TaskMachine four(small_machine(4), 1000, {.sibling_check_always = check_always});
  const Address started = four.word("started");
  std::vector<const Task*> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(&four.add_task(0, [&](Cpu& cpu, const Task&) {
      cpu.store(started, 1);
      for (;;) cpu.sleep();
    }));
  }
  std::int64_t loads = -1;
  four.run([&](Cpu& cpu) {
    if (cpu.id().value == 0) four.run_tasks(cpu);
    if (cpu.id().value != 2) return;
    four.scheduler.try_to_wake_up(cpu, *tasks[0]);
    cpu.spin_until_acquire(started, [](Value now) { return now == 1; });
    if (running == 2) four.scheduler.try_to_wake_up(cpu, *tasks[1]);
    const std::int64_t before = four.loads_in(cpu, "idle_cpu");
    four.scheduler.try_to_wake_up(cpu, *tasks[2]);
    loads = four.loads_in(cpu, "idle_cpu") - before;
  });
  return loads;
}

// Checking whether a CPU is idle takes two loads of its run queue.
TEST(SiblingCheck, LooksAtTheTargetAndAtItsSibling) {
  EXPECT_EQ(looks_of_a_wake_up(true, 1), 4);
}
TEST(SiblingCheck, LooksAtBothHoweverManyRun) {
  EXPECT_EQ(looks_of_a_wake_up(true, 2), 4);
}
TEST(SiblingCheck, UnlessSeveralRunLooksAtBothIfOneRuns) {
  EXPECT_EQ(looks_of_a_wake_up(false, 1), 4);
}
TEST(SiblingCheck, UnlessSeveralRunLooksAtNoneIfTwoRun) {
  EXPECT_EQ(looks_of_a_wake_up(false, 2), 0);
}

// Three tasks are woken on CPU 0; the first computes for 300 us. CPU 1 has only its ticks. At 600 us the second task is woken
// again. Returns the CPUs on which each ran.
std::vector<std::vector<int>> where_they_run(bool pinned) {
  TaskMachine two(small_machine(2), 1000, {.pinned = pinned});
  std::vector<std::vector<int>> ran(3);
  std::vector<const Task*> tasks;
  for (std::size_t i = 0; i < 3; ++i) {
    tasks.push_back(&two.add_task(0, [&, i](Cpu& cpu, const Task& self) {
      ran[i].push_back(cpu.id().value);
      if (i == 0) cpu.compute(300000);
      two.sleep(cpu, self);
    }));
  }
  const int vector =
      two.kernel->interrupts().add_handler([&](Cpu& cpu, FunctionId) { two.scheduler.try_to_wake_up(cpu, *tasks[1]); });
  two.run([&](Cpu& cpu) {
    if (cpu.id().value == 0) {
      for (const Task* task : tasks) two.scheduler.try_to_wake_up(cpu, *task);
      cpu.set_timer(600000, vector);
    }
    two.run_tasks(cpu);
  });
  return ran;
}

TEST(LoadBalance, LeavesPinnedTasksWhereTheyAre) {
  EXPECT_THAT(where_they_run(true), ElementsAre(ElementsAre(0), ElementsAre(0, 0), ElementsAre(0)));
}

// The first task keeps running on CPU 0. The other two wait until CPU 1's next tick at most, move to CPU 1, and stay there.
TEST(LoadBalance, MovesTasksThatWaitToAnIdleCpu) {
  EXPECT_THAT(where_they_run(false), ElementsAre(ElementsAre(0), ElementsAre(1, 1), ElementsAre(1)));
}

}  // namespace
}  // namespace linebounce::test
