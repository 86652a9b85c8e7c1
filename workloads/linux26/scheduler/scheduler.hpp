// The process scheduler of Linux 2.6.20: a run queue for each CPU, wake-ups by any CPU, sibling checks, and balancing in the
// tick.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "workloads/linux26/kernel/kernel.hpp"

namespace linebounce::workloads {

enum class TaskState : Value { running = 0, interruptible = 1 };

// A process as the scheduler sees it. All have the same fixed priority. schedule() returns the one that runs on the CPU.
struct Task {
  Object object;   // a structure task_struct
  int number = 0;  // numbered in the order of creation
};

struct SchedulerOptions {
  // wake_idle(): a wake-up checks whether the target is idle, and if not, whether its sibling is. OLS 2007's change (4.4): it
  // does not check if more than one task runs on the target, because the sibling will then have work as well.
  bool sibling_check_always = true;
  bool pinned = true;  // tasks stay on their CPU (core affinity); else load_balance() moves them
};

class Scheduler {
 public:
  Scheduler(Kernel& kernel, const SchedulerOptions& options);

  // Before the simulation. Creates a task of this CPU, asleep.
  Task& create_task(const std::string& name, int cpu);

  // Sets the running task's state, before the task checks whether it has to wait. Called by the task's own program.
  void set_state(Cpu& cpu, const Task& task, TaskState state) const;
  // schedule(): removes the task that ran from the queue if it is no longer runnable, and returns the next one; null: the CPU
  // is idle.
  Task* schedule(Cpu& cpu);
  // The idle loop: returns when there may be a task to run.
  void idle(Cpu& cpu);
  // try_to_wake_up(), callable by any CPU and in a handler. Returns false if the task was awake.
  bool try_to_wake_up(Cpu& cpu, const Task& task);
  // The CPU's tick, in the handler. `interrupted`: what the tick interrupted.
  void tick(Cpu& cpu, Mode interrupted);

  [[nodiscard]] const Task& task_at(Address address) const;

 private:
  struct RunQueue {
    Object object, array;
    MeteredLock* lock = nullptr;
    Task* current = nullptr;  // null: the idle task; used by its own CPU's program
    std::int64_t ticks = 0;   // used by its own CPU's program
  };

  RunQueue& queue_of(const Cpu& cpu) { return queues_[cpu.id().value]; }
  [[nodiscard]] Address idle_task(int cpu) const { return idle_[cpu].address(); }
  bool idle_cpu(Cpu& cpu, int which);
  void wake_idle(Cpu& cpu, int target);
  void activate_task(Cpu& cpu, RunQueue& queue, const Task& task, bool local);
  void deactivate_task(Cpu& cpu, RunQueue& queue, const Task& task);
  void enqueue_task(Cpu& cpu, RunQueue& queue, const Task& task);
  void dequeue_task(Cpu& cpu, RunQueue& queue, const Task& task);
  void load_balance(Cpu& cpu, bool siblings);
  int find_busiest_group(Cpu& cpu, bool siblings);
  void move_tasks(Cpu& cpu, int busiest);

  Kernel& kernel_;
  SchedulerOptions options_;
  std::vector<RunQueue> queues_;  // by CPU
  std::vector<Object> idle_;      // the idle tasks, by CPU
  std::deque<Task> tasks_;
  std::map<Address, Task*> by_address_;

  struct RqFields {
    FieldPlace nr_running, raw_weighted_load, cpu_load0, cpu_load1, nr_switches, most_recent_timestamp, curr, idle,
        next_balance, prev_mm, active, expired, nr_active, bitmap, sd, sched_count, sched_goidle, ttwu_count;
  } rq_;
  struct TaskFields {
    FieldPlace state, flags, cpu, run_list, array, timestamp, mm;
  } task_;
  FieldPlace queue_head_;
  struct Functions {
    FunctionId schedule, try_to_wake_up, wake_idle, idle_cpu, activate_task, inner_activate_task, deactivate_task, enqueue_task,
        dequeue_task, resched_task, scheduler_tick, task_running_tick, account_system_time, load_balance, find_busiest_group,
        move_tasks, default_idle;
  } function_;
};

}  // namespace linebounce::workloads
