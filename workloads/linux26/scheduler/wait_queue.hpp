// Wait queues of Linux 2.6.20: a lock and a list of sleeping tasks inside another object. Tasks sleep until a task or a handler
// wakes the queue.
#pragma once

#include <string>

#include "workloads/linux26/scheduler/scheduler.hpp"

namespace linebounce::workloads {

// A task's entry in a wait queue; it lies on the task's stack.
class Waiter {
 public:
  Waiter(Kernel& kernel, const Task& task, const std::string& name, int node);

 private:
  friend class WaitQueue;
  Object object_;
};

class WaitQueue {
 public:
  // Uses the fields FIELD.lock, FIELD.next and FIELD.prev of the object. REQUIRES: the simulation has not started.
  WaitQueue(Kernel& kernel, Scheduler& scheduler, const Object& object, const std::string& object_name,
            const std::string& structure, const std::string& field);

  // add_wait_queue_exclusive(): appends. / remove_wait_queue().
  void add(Cpu& cpu, const Waiter& waiter);
  void remove(Cpu& cpu, const Waiter& waiter);
  // waitqueue_active(): returns true if the queue has waiters. Reads without the lock.
  [[nodiscard]] bool active(Cpu& cpu) const;
  // __wake_up(): wakes the first `exclusive` waiters that are asleep. They stay in the queue until they remove themselves.
  void wake_up(Cpu& cpu, int exclusive);

 private:
  void wake_up_common(Cpu& cpu, int exclusive);

  Kernel* kernel_;
  Scheduler* scheduler_;
  Object object_;
  MeteredLock* lock_;
  FieldPlace head_, task_list_, private_;
  FunctionId add_, remove_, wake_up_, wake_up_common_;
};

}  // namespace linebounce::workloads
