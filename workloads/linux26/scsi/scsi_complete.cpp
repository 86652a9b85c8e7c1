// A command's path from the adapter's interrupt to the I/O's owner, and on to the next command.
#include "models/failure.hpp"
#include "workloads/linux26/block/path_lengths.hpp"
#include "workloads/linux26/scsi/scsi.hpp"

namespace linebounce::workloads {
namespace {

// With batched timer deletion, the command's last user frees it: either the completing CPU, or the CPU whose base holds the
// timer. Each user sets its flag in eh_eflags when it has finished. (Linux uses that field only in its error handler.)
constexpr Value kCommandPut = 1;
constexpr Value kTimerRetired = 2;

}  // namespace

// Called in the interrupt handler.
void ScsiLayer::scsi_done(Cpu& cpu, ScsiCommand& command) {
  const FunctionScope scope(cpu, in_.scsi_done);
  kernel_.execute(cpu, path::kScsiDone);
  {
    const FunctionScope timer_scope(cpu, in_.delete_timer);
    command.retired_by = cpu.id();
    command.timer_gone = false;
    const bool pending = timers_.retire(cpu, *command.eh_timeout, [this, &command](Cpu& on) { timer_retired(on, command); });
    if (!pending) throw ModelFailure("a SCSI command that is done had no timer");
  }
  const FunctionScope inner(cpu, in_.inner_scsi_done);
  command.object.load(cpu, command_.request);
  command.object.store(cpu, command_.serial_number, 0);
  command.device->object.fetch_add(cpu, device_.iodone_cnt, 1);
  queues_.blk_complete_request(cpu, *command.request);
}

// Called when the command's timer is off its base. If the timer could be removed at once, this call comes from within
// scsi_done(); otherwise it comes later, on the CPU that handles retired timers.
void ScsiLayer::timer_retired(Cpu& cpu, ScsiCommand& command) {
  if (cpu.id().value == command.retired_by.value) {
    command.timer_gone = true;
  } else if (last_to_leave(cpu, command, kTimerRetired)) {
    cache_.free(cpu, command.object);
  }
}

bool ScsiLayer::last_to_leave(Cpu& cpu, const ScsiCommand& command, Value mine) const {
  return (command.object.fetch_add(cpu, command_.eh_eflags, mine) | mine) == (kCommandPut | kTimerRetired);
}

// scsi_softirq_done()
void ScsiLayer::softirq_done_fn(Cpu& cpu, Request& request) {
  const FunctionScope scope(cpu, in_.softirq_done);
  ScsiCommand& command = command_of(request);
  list64::initialise(cpu, command.object.at(command_.eh_entry, cpu));
  command.object.load(cpu, command_.result);
  kernel_.execute(cpu, path::kDisposition);
  finish_command(cpu, command);
}

void ScsiLayer::finish_command(Cpu& cpu, ScsiCommand& command) {
  const FunctionScope scope(cpu, in_.finish_command);
  const ScsiDevice& device = *command.device;
  kernel_.execute(cpu, path::kFinishCommand);
  device.object.load(cpu, device_.host);
  device_unbusy(cpu, device);
  // The command succeeded, so neither host nor device is blocked.
  host_of(device).object.store(cpu, host_.host_blocked, 0);
  device.object.store(cpu, device_.device_blocked, 0);
  command.object.load(cpu, command_.done);
  io_completion(cpu, command);
}

void ScsiLayer::device_unbusy(Cpu& cpu, const ScsiDevice& device) {
  const FunctionScope scope(cpu, in_.unbusy);
  const ScsiHost& host = host_of(device);
  const Object& queue = queues_.object(device.number);
  device.object.load(cpu, device_.host);
  host.object.load(cpu, host_.host_lock);
  kernel_.lock_irq(cpu, *host.default_lock);
  kernel_.execute(cpu, path::kUnbusy);
  host.object.add(cpu, host_.host_busy, Value{0} - 1);
  host.object.load(cpu, host_.shost_state);
  host.object.load(cpu, host_.host_lock);
  host.default_lock->release(cpu);
  device.object.load(cpu, device_.request_queue);
  queue.load(cpu, queues_.queue_fields().queue_lock);
  queues_.lock(device.number).acquire(cpu);
  device.object.add(cpu, device_.device_busy, Value{0} - 1);
  queue.load(cpu, queues_.queue_fields().queue_lock);
  kernel_.unlock_irq(cpu, queues_.lock(device.number));
}

void ScsiLayer::io_completion(Cpu& cpu, ScsiCommand& command) {
  const FunctionScope scope(cpu, in_.io_completion);
  command.device->object.load(cpu, device_.request_queue);
  kernel_.execute(cpu, path::kIoCompletion);
  command.object.load(cpu, command_.result);
  end_request(cpu, command);
}

void ScsiLayer::end_request(Cpu& cpu, ScsiCommand& command) {
  const FunctionScope scope(cpu, in_.end_request);
  const ScsiDevice& device = *command.device;
  Request& request = *command.request;
  queues_.end_that_request_first(cpu, request);
  queues_.lock_queue(cpu, device.number);
  if (queues_.blk_rq_tagged(cpu, request)) queues_.blk_queue_end_tag(cpu, request);
  queues_.end_that_request_last(cpu, request);
  queues_.unlock_queue(cpu, device.number);
  next_command(cpu, command);
}

void ScsiLayer::next_command(Cpu& cpu, ScsiCommand& command) {
  const FunctionScope scope(cpu, in_.next_command);
  const ScsiDevice& device = *command.device;
  device.object.load(cpu, device_.request_queue);
  device.object.fetch_add(cpu, device_.references, 1);
  put_command(cpu, command);
  run_queue(cpu, device);
  device.object.fetch_add(cpu, device_.references, Value{0} - 1);
}

// Takes two locks. The second is __scsi_put_command()'s, which is inlined here; figure 13 of OLS 2007 counts it under this
// name, too.
void ScsiLayer::put_command(Cpu& cpu, ScsiCommand& command) {
  const FunctionScope scope(cpu, in_.put_command);
  const ScsiDevice& device = *command.device;
  const ScsiHost& host = host_of(device);
  kernel_.execute(cpu, path::kPutCommand);
  kernel_.lock_irq(cpu, *device.list_lock);
  list64::remove_and_initialise(cpu, command.object.at(command_.list, cpu));
  kernel_.unlock_irq(cpu, *device.list_lock);
  device.object.load(cpu, device_.host);
  kernel_.lock_irq(cpu, *host.free_list_lock);
  const FunctionScope inner(cpu, in_.inner_put_command);
  if (list64::empty(cpu, host.object.at(host_.free_list, cpu))) throw ModelFailure("a SCSI host's reserve of commands is gone");
  kernel_.unlock_irq(cpu, *host.free_list_lock);
  host.object.load(cpu, host_.cmd_pool);
  command_pool_.load(cpu, pool_slab_);
  if (command.timer_gone || last_to_leave(cpu, command, kCommandPut)) cache_.free(cpu, command.object);
  device.object.fetch_add(cpu, device_.references, Value{0} - 1);
}

void ScsiLayer::run_queue(Cpu& cpu, const ScsiDevice& own) {
  const FunctionScope scope(cpu, in_.run_queue);
  const ScsiHost& host = host_of(own);
  kernel_.execute(cpu, path::kRunQueue);
  queues_.object(own.number).load(cpu, queues_.queue_fields().queuedata);
  own.object.load(cpu, device_.host);
  own.object.load(cpu, device_.changed);  // reads single_lun, a bit in the same word as `changed`
  host.object.load(cpu, host_.host_lock);
  kernel_.lock_irq(cpu, *host.default_lock);
  const Address starved = host.object.at(host_.starved_list, cpu);
  for (;;) {
    const Address entry = list64::next(cpu, starved);
    if (entry == starved) break;
    if (host.object.load(cpu, host_.host_blocked) != 0) break;
    const Value busy = host.object.load(cpu, host_.host_busy);
    if (busy >= host.object.load(cpu, host_.can_queue)) break;
    const ScsiDevice& device = devices_[device_at_.at(entry)];
    list64::remove_and_initialise(cpu, entry);
    kernel_.unlock_irq(cpu, *host.default_lock);
    queues_.blk_run_queue(cpu, device.number);
    kernel_.lock_irq(cpu, *host.default_lock);
    if (!list64::empty(cpu, device.object.at(device_.starved_entry, cpu))) break;  // the device starves again
  }
  kernel_.unlock_irq(cpu, *host.default_lock);
  queues_.blk_run_queue(cpu, own.number);
}

}  // namespace linebounce::workloads
