#include "workloads/linux26/scheduler/wait_queue.hpp"

namespace linebounce::workloads {

Waiter::Waiter(Kernel& kernel, const Task& task, const std::string& name, int node)
    : object_(kernel.place("wait_queue_t", name, node)) {
  kernel.memory().preset(object_.at(kernel.field("wait_queue_t", "private"), 0), task.object.address());
}

WaitQueue::WaitQueue(Kernel& kernel, Scheduler& scheduler, const Object& object, const std::string& object_name,
                     const std::string& structure, const std::string& field)
    : kernel_(&kernel),
      scheduler_(&scheduler),
      object_(object),
      lock_(&kernel.lock_in(object, object_name, structure, field + ".lock")),
      head_(kernel.field(structure, field + ".next")),
      task_list_(kernel.field("wait_queue_t", "task_list.next")),
      private_(kernel.field("wait_queue_t", "private")),
      add_(kernel.function("add_wait_queue_exclusive")),
      remove_(kernel.function("remove_wait_queue")),
      wake_up_(kernel.function("__wake_up")),
      wake_up_common_(kernel.function("__wake_up_common")) {
  list64::preset_empty(kernel.memory(), object.at(head_, 0));
}

void WaitQueue::add(Cpu& cpu, const Waiter& waiter) {
  const FunctionScope scope(cpu, add_);
  kernel_->lock_irq(cpu, *lock_);
  const Address entry = waiter.object_.at(task_list_, cpu);
  kernel_->list_add_tail(cpu, entry, object_.at(head_, cpu));
  kernel_->unlock_irq(cpu, *lock_);
}

void WaitQueue::remove(Cpu& cpu, const Waiter& waiter) {
  const FunctionScope scope(cpu, remove_);
  kernel_->lock_irq(cpu, *lock_);
  kernel_->list_del(cpu, waiter.object_.at(task_list_, cpu));
  kernel_->unlock_irq(cpu, *lock_);
}

bool WaitQueue::active(Cpu& cpu) const {
  return !list64::empty(cpu, object_.at(head_, cpu));
}

void WaitQueue::wake_up(Cpu& cpu, int exclusive) {
  const FunctionScope scope(cpu, wake_up_);
  kernel_->lock_irq(cpu, *lock_);
  wake_up_common(cpu, exclusive);
  kernel_->unlock_irq(cpu, *lock_);
}

void WaitQueue::wake_up_common(Cpu& cpu, int exclusive) {
  const FunctionScope scope(cpu, wake_up_common_);
  const Address head = object_.at(head_, cpu);
  for (Address entry = list64::next(cpu, head); entry != head && exclusive > 0;) {
    const Address next = list64::next(cpu, entry);
    const Address waiter = entry - static_cast<Address>(task_list_.offset);
    const Address task = cpu.load(waiter + static_cast<Address>(private_.offset), private_.size);
    if (scheduler_->try_to_wake_up(cpu, scheduler_->task_at(task))) --exclusive;
    entry = next;
  }
}

}  // namespace linebounce::workloads
