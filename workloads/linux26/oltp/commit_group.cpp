#include "workloads/linux26/oltp/commit_group.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::int64_t kSemopInstructions = 400;  // instructions: entry, copying the operations, looking up the semaphore set
constexpr Value kAsleep = 1;

}  // namespace

CommitGroup::Member::Member(Kernel& kernel, const Task& task, const std::string& name, int node)
    : object_(kernel.place("sem_queue", name, node)), task_(&task) {
  kernel.memory().preset(object_.at(kernel.field("sem_queue", "sleeper"), 0), task.object.address());
}

CommitGroup::CommitGroup(Kernel& kernel, Scheduler& scheduler, const std::string& name, int node, int size)
    : kernel_(kernel),
      scheduler_(scheduler),
      array_(kernel.place("sem_array", name, node)),
      lock_(&kernel.lock_in(array_, name, "sem_array", "sem_perm.lock")),
      size_(size),
      pending_(kernel.list_field("sem_array", "sem_pending")),
      semval_(kernel.field("sem_array", "semval")),
      ctime_(kernel.field("sem_array", "sem_ctime")),
      list_(kernel.list_field("sem_queue", "list")),
      sleeper_(kernel.field("sem_queue", "sleeper")),
      status_(kernel.field("sem_queue", "status")),
      semtimedop_(kernel.function("sys_semtimedop")),
      update_queue_(kernel.function("update_queue")) {
  list64::preset_empty(kernel.memory(), array_.at(pending_, 0));
}

bool CommitGroup::join(Cpu& cpu, const Member& member) {
  const FunctionScope scope(cpu, semtimedop_);
  kernel_.execute(cpu, kSemopInstructions);
  lock_->acquire(cpu);
  const Value waiting = array_.load(cpu, semval_);
  const bool last = static_cast<int>(waiting) == size_ - 1;
  array_.store(cpu, semval_, last ? 0 : waiting + 1);
  if (!last) {
    member.object_.store(cpu, status_, kAsleep);
    const Address entry = member.object_.at(list_, cpu);
    kernel_.list_add_tail(cpu, entry, array_.at(pending_, cpu));
  }
  lock_->release(cpu);
  return last;
}

bool CommitGroup::waits(Cpu& cpu, const Member& member) {
  const FunctionScope scope(cpu, semtimedop_);
  scheduler_.set_state(cpu, *member.task_, TaskState::interruptible);
  if (cpu.load_acquire(member.object_.at(status_, cpu), status_.size) == kAsleep) return true;
  scheduler_.set_state(cpu, *member.task_, TaskState::running);
  return false;
}

// Others may have joined since, behind those that are posted: they wait for the next one's log.
void CommitGroup::post(Cpu& cpu) {
  const FunctionScope scope(cpu, semtimedop_);
  kernel_.execute(cpu, kSemopInstructions);
  lock_->acquire(cpu);
  array_.add(cpu, ctime_, 1);
  {
    const FunctionScope update(cpu, update_queue_);
    const Address head = array_.at(pending_, cpu);
    for (int posted = 1; posted < size_; ++posted) {
      const Address entry = list64::next(cpu, head);
      const Address queue = entry - static_cast<Address>(list_.offset);
      const Value sleeper = cpu.load(queue + static_cast<Address>(sleeper_.offset));
      kernel_.list_del(cpu, entry);
      cpu.store_release(queue + static_cast<Address>(status_.offset), 0, status_.size);
      scheduler_.try_to_wake_up(cpu, scheduler_.task_at(sleeper));
    }
  }
  lock_->release(cpu);
}

}  // namespace linebounce::workloads
