// Submission: from a request in its queue to a command at the adapter.
#include "models/failure.hpp"
#include "workloads/linux26/block/block_structures.hpp"
#include "workloads/linux26/block/path_lengths.hpp"
#include "workloads/linux26/scsi/scsi.hpp"

namespace linebounce::workloads {
namespace {

constexpr Value kHostRecovery = 5;  // SHOST_RECOVERY and worse states
constexpr Value kCommandBytes = 10;

}  // namespace

// scsi_request_fn(): called with the queue locked, and returns with it locked. Unlocks the queue while it passes on a command.
void ScsiLayer::request_fn(Cpu& cpu, int number) {
  const FunctionScope scope(cpu, in_.request_fn);
  const ScsiDevice& device = devices_[number];
  queues_.object(number).load(cpu, queues_.queue_fields().queuedata);
  device.object.fetch_add(cpu, device_.references, 1);  // get_device()
  device.object.load(cpu, device_.host);
  while (!queues_.blk_queue_plugged(cpu, number)) {
    if (!start_one(cpu, device)) break;
  }
  // Linux calls put_device() without the lock, because dropping the last reference could free the device.
  queues_.unlock_queue(cpu, number);
  device.object.fetch_add(cpu, device_.references, Value{0} - 1);
  queues_.lock_queue(cpu, number);
}

bool ScsiLayer::start_one(Cpu& cpu, const ScsiDevice& device) {
  Request* const request = queues_.elv_next_request(cpu, device.number);
  if (request == nullptr || !device_queue_ready(cpu, device)) return false;
  kernel_.execute(cpu, path::kRequestFn);
  // A completed command leaves device_busy before it frees its tag, so more commands may start than there are tags. A command
  // that finds no free tag runs untagged.
  if (!queues_.blk_queue_start_tag(cpu, *request)) queues_.blkdev_dequeue_request(cpu, *request);
  device.object.add(cpu, device_.device_busy, 1);
  queues_.drop_for_host(cpu, device.number);
  request->object.load(cpu, queues_.fields().special);
  const ScsiHost& host = host_of(device);
  host.object.load(cpu, host_.host_lock);
  host.default_lock->acquire(cpu);
  if (!host_queue_ready(cpu, host, device)) {
    kernel_.unlock_irq(cpu, *host.default_lock);
    queues_.lock_queue(cpu, device.number);
    queues_.blk_requeue_request(cpu, *request);
    const Value busy = device.object.load(cpu, device_.device_busy) - 1;
    device.object.store(cpu, device_.device_busy, busy);
    if (busy == 0) queues_.blk_plug_device(cpu, device.number);
    return false;
  }
  host.object.add(cpu, host_.host_busy, 1);
  host.object.load(cpu, host_.host_lock);
  kernel_.unlock_irq(cpu, *host.default_lock);
  dispatch_cmd(cpu, command_of(*request));
  queues_.lock_queue(cpu, device.number);
  return true;
}

bool ScsiLayer::device_queue_ready(Cpu& cpu, const ScsiDevice& device) {
  const Value busy = device.object.load(cpu, device_.device_busy);
  if (busy >= device.object.load(cpu, device_.queue_depth)) return false;
  return device.object.load(cpu, device_.device_blocked) == 0;
}

bool ScsiLayer::host_queue_ready(Cpu& cpu, const ScsiHost& host, const ScsiDevice& device) {
  if (host.object.load(cpu, host_.shost_state) >= kHostRecovery) throw ModelFailure("a SCSI host recovers from an error");
  const Value busy = host.object.load(cpu, host_.host_busy);
  const bool full = busy >= host.object.load(cpu, host_.can_queue);
  const bool blocked = host.object.load(cpu, host_.host_blocked) != 0;
  const Address entry = device.object.at(device_.starved_entry, cpu);
  const bool starved = !list64::empty(cpu, entry);
  if (full || blocked) {
    if (!starved) kernel_.list_add_tail(cpu, entry, host.object.at(host_.starved_list, cpu));
    return false;
  }
  if (starved) list64::remove_and_initialise(cpu, entry);
  return true;
}

// scsi_prep_fn()
void ScsiLayer::prep_rq_fn(Cpu& cpu, Request& request) {
  const FunctionScope scope(cpu, in_.prep_fn);
  const ScsiDevice& device = devices_[request.device];
  queues_.object(request.device).load(cpu, queues_.queue_fields().queuedata);
  device.object.load(cpu, device_.sdev_state);
  request.object.load(cpu, queues_.fields().special);
  ScsiCommand& command = get_command(cpu, device);
  command.request = &request;
  request.command = command.object;
  request.object.store(cpu, queues_.fields().special, command.object.address());
  command.object.store(cpu, command_.request, request.object.address());
  kernel_.execute(cpu, path::kPrepare);
  init_command(cpu, device, command);
}

ScsiCommand& ScsiLayer::get_command(Cpu& cpu, const ScsiDevice& device) {
  const FunctionScope scope(cpu, in_.get_command);
  device.object.fetch_add(cpu, device_.references, 1);
  device.object.load(cpu, device_.host);
  ScsiCommand& command = record_of(inner_get_command(cpu, device));
  const Object& object = command.object;
  command.device = &device;
  kernel_.execute(cpu, path::kGetCommand);  // including the memset()
  object.store(cpu, command_.device, device.object.address());
  object.store(cpu, command_.serial_number, 0);
  object.store(cpu, command_.result, 0);
  object.store(cpu, command_.eh_eflags, 0);
  timers_.init(cpu, *command.eh_timeout);
  const Address entry = object.at(command_.list, cpu);
  list64::initialise(cpu, entry);
  kernel_.lock_irq(cpu, *device.list_lock);
  kernel_.list_add_tail(cpu, entry, device.object.at(device_.cmd_list, cpu));
  kernel_.unlock_irq(cpu, *device.list_lock);
  object.store(cpu, command_.jiffies_at_alloc, 0);
  return command;
}

Object ScsiLayer::inner_get_command(Cpu& cpu, const ScsiDevice& device) {
  const FunctionScope scope(cpu, in_.inner_get_command);
  host_of(device).object.load(cpu, host_.cmd_pool);
  command_pool_.load(cpu, pool_slab_);
  command_pool_.load(cpu, pool_gfp_mask_);
  return cache_.alloc(cpu);
}

ScsiCommand& ScsiLayer::record_of(const Object& object) {
  const auto [known, is_new] = commands_.try_emplace(object.address());
  if (is_new) {
    known->second = &records_.emplace_back();
    known->second->object = object;
    known->second->eh_timeout = std::make_unique<Timer>(
        eh_timeout_, object, [](Cpu&) { throw ModelFailure("a SCSI command timed out: errors are not simulated"); });
  }
  return *known->second;
}

// sd_init_command()
void ScsiLayer::init_command(Cpu& cpu, const ScsiDevice& device, ScsiCommand& command) {
  const FunctionScope scope(cpu, in_.init_command);
  const Object& request = command.request->object;
  request.load(cpu, queues_.fields().rq_disk);
  // Issues both loads at once: nothing needs the timeout until the end, so its miss overlaps that of `changed`.
  const auto [seconds, changed] = device.object.load_pair(cpu, device_.timeout, device_.changed);
  if (changed != 0) throw ModelFailure("a disk was changed: that is not simulated");
  request.load(cpu, queues_.fields().sector);
  kernel_.execute(cpu, path::kInitCommand / 3);
  device.object.load(cpu, device_.sdev_state);
  queues_.disk(device.number).load(cpu, disk_capacity_);
  const Value sector_bytes = device.object.load(cpu, device_.sector_size);
  kernel_.execute(cpu, 2 * path::kInitCommand / 3);
  const Address bytes = command.object.at(command_.cmnd, cpu);
  for (Address word = 0; word < 16; word += 4) cpu.store(bytes + word, 0, 4);
  command.object.store(cpu, command_.cmd_len, kCommandBytes);
  command.object.store(cpu, command_.transfersize, sector_bytes);
  command.object.store(cpu, command_.allowed, 5);  // SD_MAX_RETRIES
  command.object.store(cpu, command_.timeout_per_command, seconds);
  command.object.store(cpu, command_.done, device.object.address());
}

void ScsiLayer::dispatch_cmd(Cpu& cpu, ScsiCommand& command) {
  const FunctionScope scope(cpu, in_.dispatch_cmd);
  const ScsiDevice& device = *command.device;
  const ScsiHost& host = host_of(device);
  kernel_.execute(cpu, path::kDispatchCommand);
  device.object.load(cpu, device_.host);
  device.object.load(cpu, device_.sdev_state);
  {
    const FunctionScope timer_scope(cpu, in_.add_timer);
    const Value seconds = command.object.load(cpu, command_.timeout_per_command);
    timers_.add(cpu, *command.eh_timeout, static_cast<double>(seconds) * 1e6);
  }
  device.object.fetch_add(cpu, device_.iorequest_cnt, 1);
  const Value length = command.object.load(cpu, command_.cmd_len);
  if (length > host.object.load(cpu, host_.max_cmd_len)) throw ModelFailure("a SCSI command is too long for its host");
  host.object.load(cpu, host_.host_lock);
  kernel_.lock_irq(cpu, *host.default_lock);
  const Value serial = host.object.load(cpu, host_.cmd_serial_number) + 1;
  host.object.store(cpu, host_.cmd_serial_number, serial);
  command.object.store(cpu, command_.serial_number, serial);
  host.object.load(cpu, host_.shost_state);
  host.object.load(cpu, host_.hostt);
  adapters_.queuecommand(cpu, host, command);
  host.object.load(cpu, host_.host_lock);
  kernel_.unlock_irq(cpu, *host.default_lock);
}

}  // namespace linebounce::workloads
