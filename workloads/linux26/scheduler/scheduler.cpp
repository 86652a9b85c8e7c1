#include "workloads/linux26/scheduler/scheduler.hpp"

#include <fmt/format.h>

#include "models/failure.hpp"

namespace linebounce::workloads {
namespace {

// Instructions that touch no line of this model; the counts estimate the functions' compiled length. schedule() and
// try_to_wake_up() take a few hundred bundles each, including clocks and statistics.
constexpr std::int64_t kScheduleInstructions = 400;
constexpr std::int64_t kContextSwitchInstructions = 500;
constexpr std::int64_t kWakeInstructions = 250;
constexpr std::int64_t kActivateInstructions = 120;
constexpr std::int64_t kTickInstructions = 300;
constexpr std::int64_t kBalanceInstructions = 40;  // instructions per CPU that load balancing examines

// Ticks between two attempts to balance with the sibling, and within the node. Linux uses about these intervals when CPUs are
// busy.
constexpr std::int64_t kTicksToSiblingBalance = 2;
constexpr std::int64_t kTicksToNodeBalance = 8;

constexpr Value kLoadOfTask = 128;  // SCHED_LOAD_SCALE: the load of a task of nice 0
constexpr Value kPriorityBit = 1;   // the bit of the only priority, in its word of the bitmap

}  // namespace

Scheduler::Scheduler(Kernel& kernel, const SchedulerOptions& options)
    : kernel_(kernel), options_(options), queues_(kernel.cpus()) {
  const auto rq = [&](const char* field) { return kernel.field("rq", field); };
  rq_ = {rq("nr_running"),
         rq("raw_weighted_load"),
         rq("cpu_load[0]"),
         rq("cpu_load[1]"),
         rq("nr_switches"),
         rq("most_recent_timestamp"),
         rq("curr"),
         rq("idle"),
         rq("next_balance"),
         rq("prev_mm"),
         rq("active"),
         rq("expired"),
         rq("arrays[0].nr_active"),
         rq("arrays[0].bitmap"),
         rq("sd"),
         rq("sched_count"),
         rq("sched_goidle"),
         rq("ttwu_count")};
  const auto task = [&](const char* field) { return kernel.field("task_struct", field); };
  task_ = {task("state"), task("flags"), task("cpu"), task("run_list.next"), task("array"), task("timestamp"), task("mm")};
  queue_head_ = kernel.field("prio_array", "queue.next");
  const auto f = [&](const char* name) { return kernel.function(name); };
  function_ = {
      f("schedule"),        f("try_to_wake_up"),    f("wake_idle"),           f("idle_cpu"),     f("activate_task"),
      f("__activate_task"), f("deactivate_task"),   f("enqueue_task"),        f("dequeue_task"), f("resched_task"),
      f("scheduler_tick"),  f("task_running_tick"), f("account_system_time"), f("load_balance"), f("find_busiest_group"),
      f("move_tasks"),      f("default_idle")};
  AddressSpace& memory = kernel.memory();
  for (int cpu = 0; cpu < kernel.cpus(); ++cpu) {
    RunQueue& queue = queues_[cpu];
    const std::string name = fmt::format("rq[{}]", cpu);
    const int node = kernel.node_of(cpu);
    queue.object = kernel.place("rq", name, node);
    queue.array = kernel.place("prio_array", fmt::format("prio_array[{}]", cpu), node);
    queue.lock = &kernel.lock_in(queue.object, name, "rq", "lock");
    idle_.push_back(kernel.place("task_struct", fmt::format("idle[{}]", cpu), node));
    list64::preset_empty(memory, queue.array.at(queue_head_, cpu));
    memory.preset(queue.object.at(rq_.active, cpu), queue.array.address());
    const Address idle = idle_.back().address();
    memory.preset(queue.object.at(rq_.idle, cpu), idle);
    memory.preset(queue.object.at(rq_.curr, cpu), idle);
  }
}

Task& Scheduler::create_task(const std::string& name, int cpu) {
  Task& task = tasks_.emplace_back();
  task.number = static_cast<int>(tasks_.size()) - 1;
  task.object = kernel_.place("task_struct", name, kernel_.node_of(cpu));
  AddressSpace& memory = kernel_.memory();
  memory.preset(task.object.at(task_.state, cpu), static_cast<Value>(TaskState::interruptible));
  const auto number = static_cast<Value>(cpu);
  memory.preset(task.object.at(task_.cpu, cpu), number, task_.cpu.size);
  memory.preset(task.object.at(task_.mm, cpu), task.object.address());
  by_address_[task.object.address()] = &task;
  return task;
}

const Task& Scheduler::task_at(Address address) const {
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) throw ModelFailure(fmt::format("there is no task at {:#x}", address));
  return *found->second;
}

void Scheduler::set_state(Cpu& cpu, const Task& task, TaskState state) const {
  task.object.store(cpu, task_.state, static_cast<Value>(state));
  cpu.fence();  // set_current_state(): orders the new state before the task's next loads
}

Task* Scheduler::schedule(Cpu& cpu) {
  const FunctionScope scope(cpu, function_.schedule);
  RunQueue& queue = queue_of(cpu);
  const Object& rq = queue.object;
  kernel_.execute(cpu, kScheduleInstructions);
  rq.load(cpu, rq_.idle);  // the kernel checks that the idle task does not go to sleep
  rq.add(cpu, rq_.sched_count, 1);
  kernel_.lock_irq(cpu, *queue.lock);
  if (queue.current != nullptr && queue.current->object.load(cpu, task_.state) != static_cast<Value>(TaskState::running)) {
    deactivate_task(cpu, queue, *queue.current);
  }
  Task* next = nullptr;
  if (rq.load(cpu, rq_.nr_running) == 0) {
    rq.add(cpu, rq_.sched_goidle, 1);
  } else {
    rq.load(cpu, rq_.active);
    rq.load(cpu, rq_.nr_active);
    if (rq.load(cpu, rq_.bitmap) == 0) throw ModelFailure("a run queue counts tasks that are not in its bitmap");
    const Address entry = list64::next(cpu, queue.array.at(queue_head_, cpu));
    const Address address = entry - static_cast<Address>(task_.run_list.offset);
    next = by_address_.at(address);
  }
  const bool switches = next != queue.current;
  if (switches) {
    const Address task = next == nullptr ? idle_task(cpu.id().value) : next->object.address();
    rq.add(cpu, rq_.nr_switches, 1);
    rq.store(cpu, rq_.curr, task);
    rq.load(cpu, rq_.prev_mm);
    if (next != nullptr) rq.store(cpu, rq_.prev_mm, next->object.load(cpu, task_.mm));
    queue.current = next;
  }
  kernel_.unlock_irq(cpu, *queue.lock);
  // IA-64 releases the lock before it switches registers (__ARCH_WANT_UNLOCKED_CTXSW).
  if (switches) kernel_.execute(cpu, kContextSwitchInstructions);
  return next;
}

void Scheduler::idle(Cpu& cpu) {
  const FunctionScope scope(cpu, function_.default_idle);
  const RunQueue& queue = queue_of(cpu);
  while (queue.object.load(cpu, rq_.nr_running) == 0) cpu.sleep();
}

bool Scheduler::idle_cpu(Cpu& cpu, int which) {
  const FunctionScope scope(cpu, function_.idle_cpu);
  const Object& rq = queues_[which].object;
  const auto [current, idle] = rq.load_pair(cpu, rq_.curr, rq_.idle);
  return current == idle;
}

// Looks for an idle CPU for the task. As in the kernel, the search is made even for a pinned task, which then stays where it
// is.
void Scheduler::wake_idle(Cpu& cpu, int target) {
  const FunctionScope scope(cpu, function_.wake_idle);
  if (!options_.sibling_check_always) {
    const RunQueue& queue = queues_[target];
    if (queue.object.load(cpu, rq_.nr_running) > 1) return;
  }
  if (idle_cpu(cpu, target)) return;
  if (const int sibling = kernel_.sibling_of(target); sibling >= 0) idle_cpu(cpu, sibling);
}

bool Scheduler::try_to_wake_up(Cpu& cpu, const Task& task) {
  const FunctionScope scope(cpu, function_.try_to_wake_up);
  kernel_.execute(cpu, kWakeInstructions);
  kernel_.interrupts_off(cpu);
  // task_rq_lock(): takes the lock of the task's run queue, and retries if the task has moved in the meantime.
  int target = 0;
  RunQueue* queue = nullptr;
  for (;;) {
    target = static_cast<int>(task.object.load(cpu, task_.cpu));
    queue = &queues_[target];
    queue->lock->acquire(cpu);
    if (static_cast<int>(task.object.load(cpu, task_.cpu)) == target) break;
    queue->lock->release(cpu);
  }
  const bool wakes = task.object.load(cpu, task_.state) != static_cast<Value>(TaskState::running);
  bool was_idle = false;
  if (wakes && task.object.load(cpu, task_.array) == 0) {
    const Object& rq = queue->object;
    const int self = cpu.id().value;
    const Object& own = queues_[self].object;
    rq.add(cpu, rq_.ttwu_count, 1);
    own.load(cpu, rq_.sd);
    own.load(cpu, rq_.raw_weighted_load);
    own.load(cpu, rq_.cpu_load0);
    wake_idle(cpu, target);
    activate_task(cpu, *queue, task, target == self);
    was_idle = rq.load(cpu, rq_.curr) == idle_task(target);
    if (was_idle) {
      const FunctionScope resched(cpu, function_.resched_task);
      idle_[target].store(cpu, task_.flags, 1);
    }
  }
  if (wakes) task.object.store(cpu, task_.state, static_cast<Value>(TaskState::running));
  queue->lock->release(cpu);
  kernel_.interrupts_on(cpu);
  if (was_idle) {
    // smp_send_reschedule() writes the IPI register with release semantics, so that the IPI does not overtake the store of
    // nr_running.
    cpu.fence();
    cpu.wake(CpuId(target));
  }
  return wakes;
}

void Scheduler::activate_task(Cpu& cpu, RunQueue& queue, const Task& task, bool local) {
  const FunctionScope scope(cpu, function_.activate_task);
  kernel_.execute(cpu, kActivateInstructions);
  if (!local) {  // timestamps are converted, because the other CPU's clock may differ
    queue_of(cpu).object.load(cpu, rq_.most_recent_timestamp);
    queue.object.load(cpu, rq_.most_recent_timestamp);
  }
  task.object.store(cpu, task_.timestamp, static_cast<Value>(cpu.local_time()));
  const FunctionScope inner(cpu, function_.inner_activate_task);
  queue.object.load(cpu, rq_.active);
  enqueue_task(cpu, queue, task);
  const auto [running, load] = queue.object.load_pair(cpu, rq_.nr_running, rq_.raw_weighted_load);
  queue.object.store(cpu, rq_.nr_running, running + 1);
  queue.object.store(cpu, rq_.raw_weighted_load, load + kLoadOfTask);
}

void Scheduler::deactivate_task(Cpu& cpu, RunQueue& queue, const Task& task) {
  const FunctionScope scope(cpu, function_.deactivate_task);
  queue.object.add(cpu, rq_.nr_running, static_cast<Value>(-1));
  queue.object.add(cpu, rq_.raw_weighted_load, static_cast<Value>(0) - kLoadOfTask);
  dequeue_task(cpu, queue, task);
}

void Scheduler::enqueue_task(Cpu& cpu, RunQueue& queue, const Task& task) {
  const FunctionScope scope(cpu, function_.enqueue_task);
  const Address entry = task.object.at(task_.run_list, cpu);
  kernel_.list_add_tail(cpu, entry, queue.array.at(queue_head_, cpu));
  queue.object.store(cpu, rq_.bitmap, queue.object.load(cpu, rq_.bitmap) | kPriorityBit);
  queue.object.add(cpu, rq_.nr_active, 1);
  task.object.store(cpu, task_.array, queue.array.address());
}

void Scheduler::dequeue_task(Cpu& cpu, RunQueue& queue, const Task& task) {
  const FunctionScope scope(cpu, function_.dequeue_task);
  queue.object.add(cpu, rq_.nr_active, static_cast<Value>(-1));
  kernel_.list_del(cpu, task.object.at(task_.run_list, cpu));
  if (list64::empty(cpu, queue.array.at(queue_head_, cpu))) {
    queue.object.store(cpu, rq_.bitmap, queue.object.load(cpu, rq_.bitmap) & ~kPriorityBit);
  }
  task.object.store(cpu, task_.array, 0);
}

void Scheduler::tick(Cpu& cpu, Mode interrupted) {
  RunQueue& queue = queue_of(cpu);
  const Object& rq = queue.object;
  if (interrupted == Mode::kernel) {
    const FunctionScope scope(cpu, function_.account_system_time);
    rq.load(cpu, rq_.idle);
  }
  const FunctionScope scope(cpu, function_.scheduler_tick);
  kernel_.execute(cpu, kTickInstructions);
  rq.load(cpu, rq_.idle);
  if (queue.current != nullptr) {
    const FunctionScope running(cpu, function_.task_running_tick);
    rq.load(cpu, rq_.active);
    kernel_.lock_irq(cpu, *queue.lock);
    kernel_.unlock_irq(cpu, *queue.lock);
  }
  const Value load = rq.load(cpu, rq_.raw_weighted_load);
  rq.store(cpu, rq_.cpu_load0, load);
  rq.store(cpu, rq_.cpu_load1, (rq.load(cpu, rq_.cpu_load1) + load) / 2);
  rq.load(cpu, rq_.next_balance);
  ++queue.ticks;
  if (queue.ticks % kTicksToSiblingBalance == 0) load_balance(cpu, true);
  if (queue.ticks % kTicksToNodeBalance == 0) load_balance(cpu, false);
}

void Scheduler::load_balance(Cpu& cpu, bool siblings) {
  const FunctionScope scope(cpu, function_.load_balance);
  const int busiest = find_busiest_group(cpu, siblings);
  if (busiest >= 0) move_tasks(cpu, busiest);
}

// The CPU with the most load: in the sibling pair if `siblings`, else in the node. Returns -1 if no CPU has at least two tasks
// more than this one.
int Scheduler::find_busiest_group(Cpu& cpu, bool siblings) {
  const FunctionScope scope(cpu, function_.find_busiest_group);
  const int self = cpu.id().value;
  Value most = queue_of(cpu).object.load(cpu, rq_.raw_weighted_load) + kLoadOfTask;
  int busiest = -1;
  for (int other = 0; other < kernel_.cpus(); ++other) {
    const bool near = siblings ? other == kernel_.sibling_of(self) : kernel_.node_of(other) == kernel_.node_of(self);
    if (other == self || !near) continue;
    kernel_.execute(cpu, kBalanceInstructions);
    const Object& rq = queues_[other].object;
    const Value load = rq.load(cpu, rq_.raw_weighted_load);
    rq.load(cpu, rq_.cpu_load0);
    if (load > most) {
      most = load;
      busiest = other;
    }
  }
  return busiest;
}

// Moves one waiting task from the busiest CPU to this one; moves none if tasks are pinned.
void Scheduler::move_tasks(Cpu& cpu, int busiest) {
  const FunctionScope scope(cpu, function_.move_tasks);
  const int self = cpu.id().value;
  RunQueue& from = queues_[busiest];
  RunQueue& to = queue_of(cpu);
  kernel_.interrupts_off(cpu);
  // double_rq_lock(): acquires the lock at the lower address first.
  MeteredLock& first = busiest < self ? *from.lock : *to.lock;
  MeteredLock& second = busiest < self ? *to.lock : *from.lock;
  first.acquire(cpu);
  second.acquire(cpu);
  from.object.load(cpu, rq_.expired);
  const Address running = from.object.load(cpu, rq_.curr);
  const Address head = from.array.at(queue_head_, busiest);
  bool moved = false;
  for (Address entry = list64::next(cpu, head); entry != head; entry = list64::next(cpu, entry)) {
    const Address address = entry - static_cast<Address>(task_.run_list.offset);
    const Task& task = task_at(address);
    task.object.load(cpu, task_.flags);  // can_migrate_task(): checks whether the task may run here
    if (options_.pinned || address == running) continue;
    deactivate_task(cpu, from, task);
    task.object.store(cpu, task_.cpu, static_cast<Value>(self));
    activate_task(cpu, to, task, true);
    moved = true;
    break;
  }
  second.release(cpu);
  first.release(cpu);
  kernel_.interrupts_on(cpu);
  if (moved && to.current == nullptr) cpu.wake(cpu.id());  // resched_task(): wakes the idle loop when this handler returns
}

}  // namespace linebounce::workloads
