// A small machine with the scheduler of the 2.6.20 kernel, whose tasks are functions of a test.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/workloads/kernel_machine.hpp"
#include "workloads/linux26/scheduler/scheduler.hpp"

namespace linebounce::test {

using namespace workloads;

// Runs for a given time, not to the programs' end: a task that is never woken shows in what it has not done.
class TaskMachine : public KernelMachine {
 public:
  TaskMachine(const MachineSpec& spec, double run_us, const SchedulerOptions& options = {})
      : KernelMachine(spec, {}, {}, run_us), scheduler(*kernel, options) {
    tick_ = kernel->interrupts().add_handler([this](Cpu& cpu, FunctionId) {
      cpu.set_timer(kTickNs, tick_);
      scheduler.tick(cpu, Mode::kernel);
    });
  }

  // What a task does from one wait to the next. If it has not set its sleeping state when it returns, it is called again at
  // once.
  using Body = std::function<void(Cpu&, const Task&)>;
  const Task& add_task(int cpu, Body body) {
    bodies_.push_back(std::move(body));
    return scheduler.create_task("task[" + std::to_string(bodies_.size() - 1) + "]", cpu);
  }

  // Runs this CPU's tasks as its scheduler chooses, forever, with ticks.
  static constexpr double kTickNs = 20000;
  void run_tasks(Cpu& cpu) {
    cpu.set_timer(kTickNs, tick_);
    for (;;) {
      if (const Task* task = scheduler.schedule(cpu)) {
        bodies_[static_cast<std::size_t>(task->number)](cpu, *task);
      } else {
        scheduler.idle(cpu);
      }
    }
  }
  void sleep(Cpu& cpu, const Task& task) const { scheduler.set_state(cpu, task, TaskState::interruptible); }

  // A word on its own line.
  Address word(const std::string& name) { return space.place_array(name, 8); }
  // This CPU's loads in the function so far.
  std::int64_t loads_in(const Cpu& cpu, const std::string& function) {
    const FunctionCounters& counted = cpu.counters().by_function[space.function(function, Mode::kernel)];
    std::int64_t loads = counted.misses;
    for (const auto& level : counted.hits) loads += level[static_cast<std::size_t>(AccessKind::load)];
    return loads;
  }

 private:
  std::vector<Body> bodies_;  // by task number
  int tick_ = 0;

 public:
  Scheduler scheduler;
};

}  // namespace linebounce::test
