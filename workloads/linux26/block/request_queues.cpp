// Turns a bio into a request in its queue.
#include "workloads/linux26/block/request_queues.hpp"

#include "models/failure.hpp"
#include "workloads/linux26/block/block_structures.hpp"
#include "workloads/linux26/block/path_lengths.hpp"

namespace linebounce::workloads {
namespace {

// Cycles that a process waits before it retries to get a free request. A real kernel would run other processes in that time.
constexpr std::int64_t kLookAwayCycles = 2000;

}  // namespace

void RequestQueues::lock_queue(Cpu& cpu, int device) {
  queue(device).object.load(cpu, queue_.queue_lock);
  kernel_.lock_irq(cpu, lock(device));
}

void RequestQueues::unlock_queue(Cpu& cpu, int device) {
  queue(device).object.load(cpu, queue_.queue_lock);
  kernel_.unlock_irq(cpu, lock(device));
}

void RequestQueues::drop_for_host(Cpu& cpu, int device) {
  queue(device).object.load(cpu, queue_.queue_lock);
  lock(device).release(cpu);
}

void RequestQueues::generic_make_request(Cpu& cpu, Io& io) {
  const FunctionScope scope(cpu, in_.generic_make_request);
  const Queue& target = queue(io.device);
  io.bio.load(cpu, bio_.bi_size);
  io.bio.load(cpu, bio_.bi_bdev);
  kernel_.execute(cpu, path::kGenericMakeRequest);
  if (test_bit(cpu, kQueueDead, target.object.at(queue_.queue_flags, cpu))) throw ModelFailure("a request queue is dead");
  target.object.load(cpu, queue_.make_request_fn);
  make_request(cpu, io);
}

void RequestQueues::make_request(Cpu& cpu, Io& io) {
  const FunctionScope scope(cpu, in_.make_request);
  const Queue& target = queue(io.device);
  io.bio.load(cpu, bio_.bi_sector);
  io.bio.load(cpu, bio_.bi_rw);
  kernel_.execute(cpu, path::kMakeRequest);
  lock_queue(cpu, io.device);
  if (!elv_queue_empty(cpu, target)) kernel_.execute(cpu, path::kMerge);
  Request& request = get_request_wait(cpu, io);
  init_request(cpu, request, io);
  const bool sync = io.sync;  // copied, because the request may complete from here on
  const int device = io.device;
  lock_queue(cpu, device);
  if (options_.plug && elv_queue_empty(cpu, target)) blk_plug_device(cpu, device);
  add_request(cpu, request);
  if (!options_.plug) {
    driver_->request_fn(cpu, device);
  } else if (sync) {
    inner_unplug(cpu, device);
  }
  unlock_queue(cpu, device);
}

// Returns a request; if none is free, waits for one. REQUIRES: queue_lock is held. As in the kernel, releases queue_lock before
// it returns.
Request& RequestQueues::get_request_wait(Cpu& cpu, const Io& io) {
  const FunctionScope scope(cpu, in_.get_request_wait);
  Object object;
  while (!get_request(cpu, io, object)) {
    inner_unplug(cpu, io.device);
    unlock_queue(cpu, io.device);
    cpu.compute(kLookAwayCycles);
    lock_queue(cpu, io.device);
  }
  return record_of(object);
}

bool RequestQueues::get_request(Cpu& cpu, const Io& io, Object& object) {
  const FunctionScope scope(cpu, in_.get_request);
  const Queue& target = queue(io.device);
  const FieldPlace& count = queue_.count[io.write ? 1 : 0];
  kernel_.execute(cpu, path::kGetRequest);
  const Value taken = target.object.load(cpu, count);
  const Value usual = target.object.load(cpu, queue_.nr_requests);
  if (taken >= usual + usual / 2) return false;
  target.object.store(cpu, count, taken + 1);
  test_bit(cpu, kQueueElevatorSwitch, target.object.at(queue_.queue_flags, cpu));
  unlock_queue(cpu, io.device);
  target.object.load(cpu, queue_.rq_pool);
  target.pool.load(cpu, pool_data_);
  object = requests_.alloc(cpu);
  return true;
}

Request& RequestQueues::record_of(const Object& object) {
  const auto [known, is_new] = by_object_.try_emplace(object.address());
  if (is_new) {
    known->second = &records_.emplace_back(Request{.object = object, .submitter = {}, .command = {}});
    entries_[object.at(request_.queuelist, 0)] = known->second;
    entries_[object.at(request_.donelist, 0)] = known->second;
  }
  return *known->second;
}

void RequestQueues::init_request(Cpu& cpu, Request& request, Io& io) {
  const FunctionScope scope(cpu, in_.init_request);
  const Object& object = request.object;
  request = {.object = object, .io = &io, .device = io.device, .write = io.write, .submitter = cpu.id(), .command = {}};
  kernel_.execute(cpu, path::kInitRequest);
  list64::initialise(cpu, object.at(request_.queuelist, cpu));
  list64::initialise(cpu, object.at(request_.donelist, cpu));
  object.store(cpu, request_.cmd_flags, io.write ? kRequestWrite : 0);
  object.store(cpu, request_.q, queue(io.device).object.address());
  const Value sector = io.bio.load(cpu, bio_.bi_sector);
  object.store(cpu, request_.sector, sector);
  const Value bytes = io.bio.load(cpu, bio_.bi_size);
  object.store(cpu, request_.nr_sectors, bytes / 512);
  object.store(cpu, request_.bio, io.bio.address());
  object.store(cpu, request_.rq_disk, queue(io.device).disk.address());
  object.store(cpu, request_.special, 0);
  object.store(cpu, request_.tag, kNoTag);
  object.store(cpu, request_.errors, 0);
  object.store(cpu, request_.ref_count, 1);
}

void RequestQueues::add_request(Cpu& cpu, Request& request) {
  const FunctionScope scope(cpu, in_.add_request);
  kernel_.execute(cpu, path::kAddRequest);
  request.object.load(cpu, request_.rq_disk);
  account_disk(cpu, queue(request.device), 1);
  elv_insert(cpu, request);
}

// disk_round_stats() and the disk's count of requests in flight. The kernel inlines both in drive_stat_acct() and
// end_that_request_last().
void RequestQueues::account_disk(Cpu& cpu, const Queue& target, Value change) const {
  target.disk.load(cpu, disk_stamp_);
  target.disk.store(cpu, disk_stamp_, static_cast<Value>(cpu.local_time()));
  target.disk.add(cpu, disk_in_flight_, change);
}

void RequestQueues::freed_request(Cpu& cpu, const Queue& target, bool write) {
  const FunctionScope scope(cpu, in_.freed_request);
  const FieldPlace& count = queue_.count[write ? 1 : 0];
  const Value left = target.object.load(cpu, count) - 1;
  target.object.store(cpu, count, left);
  const FunctionScope inner(cpu, in_.inner_freed_request);
  if (left + 1 > target.object.load(cpu, queue_.nr_requests)) return;
  clear_bit(cpu, write ? kQueueWriteFull : kQueueReadFull, target.object.at(queue_.queue_flags, cpu));
}

}  // namespace linebounce::workloads
