// Wait queues wake the task that has waited longest.
#include "workloads/linux26/scheduler/wait_queue.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <string>
#include <vector>

#include "tests/workloads/task_machine.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Three tasks on CPU 0 wait in one queue, and a task there makes all wake-ups, so that nothing runs in between.
class ThreeWaiters : public testing::Test {
 protected:
  ThreeWaiters()
      : one_(small_machine(1), 2000),
        object_(one_.kernel->place("kioctx", "kioctx[0]", 0)),
        queue_(*one_.kernel, one_.scheduler, object_, "kioctx[0]", "kioctx", "wait") {
    for (int i = 0; i < 3; ++i) {
      const Task& task = one_.add_task(0, [this, i](Cpu& cpu, const Task& self) { wait(cpu, self, i); });
      waiters_.emplace_back(*one_.kernel, task, "waiter[" + std::to_string(i) + "]", 0);
      tasks_.push_back(&task);
    }
  }

  void wait(Cpu& cpu, const Task& self, int number) {
    const Waiter& waiter = waiters_[static_cast<std::size_t>(number)];
    if (waits_[static_cast<std::size_t>(number)]) {
      queue_.remove(cpu, waiter);
      woken_.push_back(number);
    } else {
      queue_.add(cpu, waiter);
    }
    waits_[static_cast<std::size_t>(number)] = !waits_[static_cast<std::size_t>(number)];
    one_.sleep(cpu, self);
  }

  // The tasks begin to wait in this order; then `steps` run in handlers, and what one wakes runs before the next step.
  void run(const std::vector<std::size_t>& order, const std::vector<std::function<void(Cpu&)>>& steps) {
    std::size_t next = 0;
    vector_ = one_.kernel->interrupts().add_handler([&](Cpu& cpu, FunctionId) {
      if (next == steps.size()) return;
      steps[next++](cpu);
      cpu.set_timer(kStepNs, vector_);
    });
    one_.run([&](Cpu& cpu) {
      for (const std::size_t number : order) one_.scheduler.try_to_wake_up(cpu, *tasks_[number]);
      cpu.set_timer(kStepNs, vector_);
      one_.run_tasks(cpu);
    });
    EXPECT_EQ(next, steps.size());
  }

  static constexpr double kStepNs = 100000;
  TaskMachine one_;
  Object object_;
  WaitQueue queue_;
  std::deque<Waiter> waiters_;
  std::vector<const Task*> tasks_;
  std::vector<bool> waits_ = std::vector<bool>(3);
  std::vector<int> woken_;
  int vector_ = 0;
};

TEST_F(ThreeWaiters, AreWokenOneByOneInTheOrderInWhichTheyCame) {
  const auto wake = [this](Cpu& cpu) {
    EXPECT_TRUE(queue_.active(cpu));
    queue_.wake_up(cpu, 1);
  };
  run({2, 0, 1}, {wake, [this](Cpu&) { EXPECT_THAT(woken_, ElementsAre(2)); }, wake, wake,
                  [this](Cpu& cpu) {
                    EXPECT_THAT(woken_, ElementsAre(2, 0, 1));
                    EXPECT_FALSE(queue_.active(cpu));
                  }});
}

TEST_F(ThreeWaiters, AreWokenAsManyAsAreAskedFor) {
  run({0, 1, 2}, {[this](Cpu& cpu) { queue_.wake_up(cpu, 2); }, [this](Cpu&) { EXPECT_THAT(woken_, ElementsAre(0, 1)); }});
}

// The first task is awake but has not left the queue yet: the second call wakes the second.
TEST_F(ThreeWaiters, AnAwakeWaiterIsNotCountedAsWoken) {
  run({0, 1, 2}, {[this](Cpu& cpu) {
                    queue_.wake_up(cpu, 1);
                    queue_.wake_up(cpu, 1);
                    EXPECT_THAT(woken_, IsEmpty());
                  },
                  [this](Cpu&) { EXPECT_THAT(woken_, ElementsAre(0, 1)); }});
}

}  // namespace
}  // namespace linebounce::test
