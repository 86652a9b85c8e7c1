// Plugging: a request that arrives at an empty queue waits for more, until a process or a timer unplugs the queue.
#include <utility>

#include "workloads/linux26/block/block_structures.hpp"
#include "workloads/linux26/block/path_lengths.hpp"
#include "workloads/linux26/block/request_queues.hpp"

namespace linebounce::workloads {

bool RequestQueues::blk_queue_plugged(Cpu& cpu, int device) const {
  return test_bit(cpu, kQueuePlugged, queue(device).object.at(queue_.queue_flags, cpu));
}

void RequestQueues::blk_plug_device(Cpu& cpu, int device) {
  const FunctionScope scope(cpu, in_.blk_plug_device);
  const Address flags = queue(device).object.at(queue_.queue_flags, cpu);
  kernel_.execute(cpu, path::kPlug);
  if (test_bit(cpu, kQueueStopped, flags)) return;
  if (test_and_set_bit(cpu, kQueuePlugged, flags)) return;
  timers_.modify(cpu, *queue(device).unplug_timer, options_.unplug_delay_us);
}

bool RequestQueues::blk_remove_plug(Cpu& cpu, int device) {
  const FunctionScope scope(cpu, in_.blk_remove_plug);
  if (!test_and_clear_bit(cpu, kQueuePlugged, queue(device).object.at(queue_.queue_flags, cpu))) return false;
  timers_.remove(cpu, *queue(device).unplug_timer);
  return true;
}

void RequestQueues::inner_unplug(Cpu& cpu, int device) {
  const FunctionScope scope(cpu, in_.inner_unplug);
  kernel_.execute(cpu, path::kUnplug);
  if (test_bit(cpu, kQueueStopped, queue(device).object.at(queue_.queue_flags, cpu))) return;
  if (!blk_remove_plug(cpu, device)) return;
  queue(device).object.load(cpu, queue_.request_fn);
  driver_->request_fn(cpu, device);
}

void RequestQueues::generic_unplug_device(Cpu& cpu, int device) {
  const FunctionScope scope(cpu, in_.generic_unplug_device);
  lock_queue(cpu, device);
  inner_unplug(cpu, device);
  unlock_queue(cpu, device);
}

void RequestQueues::unplug_io_fn(Cpu& cpu, int device) {
  const Queue& target = queue(device);
  target.object.load(cpu, queue_.unplug_io_fn);
  if (!options_.plug) return;
  const FunctionScope scope(cpu, in_.backing_dev_unplug);
  target.object.load(cpu, queue_.unplug_io_data);
  generic_unplug_device(cpu, device);
}

// Linux runs this work in a kernel thread. Here it runs in a softirq of the CPU that requested it.
void RequestQueues::kblockd_work(Cpu& cpu) {
  const FunctionScope scope(cpu, in_.unplug_work);
  const std::vector<int> asked = std::exchange(kblockd_[cpu.id().value], {});
  for (const int device : asked) generic_unplug_device(cpu, device);
}

// If another CPU is inside request_fn, which releases the queue's lock for a while, plugs the queue and leaves the work to
// kblockd.
void RequestQueues::blk_run_queue(Cpu& cpu, int device) {
  const FunctionScope scope(cpu, in_.run_queue);
  const Queue& target = queue(device);
  const Address flags = target.object.at(queue_.queue_flags, cpu);
  lock_queue(cpu, device);
  blk_remove_plug(cpu, device);
  if (!elv_queue_empty(cpu, target)) {
    if (!test_and_set_bit(cpu, kQueueReenter, flags)) {
      target.object.load(cpu, queue_.request_fn);
      driver_->request_fn(cpu, device);
      clear_bit(cpu, kQueueReenter, flags);
    } else {
      blk_plug_device(cpu, device);
      kblockd_[cpu.id().value].push_back(device);
      kernel_.interrupts().raise(cpu, kblockd_softirq_);
    }
  }
  unlock_queue(cpu, device);
}

}  // namespace linebounce::workloads
