// The process scheduler of Linux 2.6.20: a run queue per CPU, wake-ups from any CPU, sibling checks, and load balancing in the
// tick.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "workloads/linux26/kernel/kernel.hpp"

namespace linebounce::workloads {

enum class TaskState : Value { running = 0, interruptible = 1 };

// A process as the scheduler sees it. All tasks have the same fixed priority.
struct Task {
  Object object;   // a structure task_struct
  int number = 0;  // creation order, from 0
};

struct SchedulerOptions {
  // wake_idle(): a wake-up checks whether the target CPU is idle and, if it is not, whether the target's sibling is. False: OLS
  // 2007's change (section 4.4), which skips the sibling's check if the target has more than one task, because the sibling is
  // then probably busy, too.
  bool sibling_check_always = true;
  bool pinned = true;  // true: tasks stay on their CPU (core affinity); false: load_balance() moves them
};

class Scheduler {
 public:
  Scheduler(Kernel& kernel, const SchedulerOptions& options);

  // Creates a sleeping task on this CPU. REQUIRES: the simulation has not started.
  Task& create_task(const std::string& name, int cpu);

  // Sets the running task's state. A task calls it before it checks whether it has to wait, so that a wake-up after the check
  // is not lost.
  void set_state(Cpu& cpu, const Task& task, TaskState state) const;
  // schedule(): takes the running task off the queue if it is no longer runnable. Returns the task to run next; null if the CPU
  // becomes idle.
  Task* schedule(Cpu& cpu);
  // Runs the idle loop. Returns when there may be a task to run.
  void idle(Cpu& cpu);
  // try_to_wake_up(): any CPU may call it, also in an interrupt handler. Returns false if the task was already awake.
  bool try_to_wake_up(Cpu& cpu, const Task& task);
  // Called in the handler of the CPU's tick. `interrupted`: the mode of the interrupted code.
  void tick(Cpu& cpu, Mode interrupted);

  [[nodiscard]] const Task& task_at(Address address) const;

 private:
  struct RunQueue {
    Object object, array;
    MeteredLock* lock = nullptr;
    Task* current = nullptr;  // the running task; null: the idle task. Only its own CPU's program uses it
    std::int64_t ticks = 0;   // only its own CPU's program uses it
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
  std::vector<Object> idle_;      // by CPU: its idle task
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
