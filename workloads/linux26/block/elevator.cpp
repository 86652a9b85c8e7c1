// The noop elevator, which dispatches requests in the order of their arrival, and the calls with which a driver takes requests
// off a queue.
#include "models/failure.hpp"
#include "workloads/linux26/block/block_structures.hpp"
#include "workloads/linux26/block/path_lengths.hpp"
#include "workloads/linux26/block/request_queues.hpp"

namespace linebounce::workloads {

void RequestQueues::elv_insert(Cpu& cpu, Request& request) {
  const FunctionScope scope(cpu, in_.elv_insert);
  const int device = request.device;
  const Queue& target = queue(device);
  kernel_.execute(cpu, path::kElvInsert);
  const Value flags = request.object.load(cpu, request_.cmd_flags);
  request.object.store(cpu, request_.cmd_flags, flags | kRequestSorted);
  target.object.add(cpu, queue_.nr_sorted, 1);
  target.object.load(cpu, queue_.elevator);
  target.elevator.load(cpu, elevator_ops_);
  target.elevator.load(cpu, elevator_data_);
  const Address entry = request.object.at(request_.queuelist, cpu);
  kernel_.list_add_tail(cpu, entry, target.noop.at(noop_queue_, cpu));
  if (!blk_queue_plugged(cpu, device)) return;
  Value waiting = target.object.load(cpu, queue_.count[0]);
  waiting += target.object.load(cpu, queue_.count[1]);
  waiting -= target.object.load(cpu, queue_.in_flight);
  // As in the kernel, `waiting` includes requests that are allocated but not queued yet.
  if (waiting >= target.object.load(cpu, queue_.unplug_thresh)) inner_unplug(cpu, device);
}

bool RequestQueues::elv_queue_empty(Cpu& cpu, const Queue& target) {
  const FunctionScope scope(cpu, in_.elv_empty);
  if (!list64::empty(cpu, target.object.at(queue_.queue_head, cpu))) return false;
  target.object.load(cpu, queue_.elevator);
  target.elevator.load(cpu, elevator_ops_);
  target.elevator.load(cpu, elevator_data_);
  return list64::empty(cpu, target.noop.at(noop_queue_, cpu));
}

bool RequestQueues::noop_dispatch(Cpu& cpu, const Queue& target) {
  const FunctionScope scope(cpu, in_.noop_dispatch);
  target.object.load(cpu, queue_.elevator);
  target.elevator.load(cpu, elevator_data_);
  const Address head = target.noop.at(noop_queue_, cpu);
  const Address entry = list64::next(cpu, head);
  if (entry == head) return false;
  kernel_.execute(cpu, path::kDispatch);
  list64::remove_and_initialise(cpu, entry);
  target.object.add(cpu, queue_.nr_sorted, Value{0} - 1);
  kernel_.list_add_tail(cpu, entry, target.object.at(queue_.queue_head, cpu));
  return true;
}

Request* RequestQueues::elv_next_request(Cpu& cpu, int device) {
  const FunctionScope scope(cpu, in_.elv_next_request);
  const Queue& target = queue(device);
  const Address head = target.object.at(queue_.queue_head, cpu);
  kernel_.execute(cpu, path::kNextRequest);
  Address first = list64::next(cpu, head);
  while (first == head) {
    if (!noop_dispatch(cpu, target)) return nullptr;
    first = list64::next(cpu, head);
  }
  Request& request = request_at(first);
  const Value flags = request.object.load(cpu, request_.cmd_flags);
  if ((flags & kRequestPrepared) == 0) {
    request.object.store(cpu, request_.cmd_flags, flags | kRequestStarted | kRequestPrepared);
    target.object.load(cpu, queue_.prep_rq_fn);
    driver_->prep_rq_fn(cpu, request);
  }
  return &request;
}

void RequestQueues::blkdev_dequeue_request(Cpu& cpu, Request& request) {
  const FunctionScope scope(cpu, in_.elv_dequeue);
  list64::remove_and_initialise(cpu, request.object.at(request_.queuelist, cpu));
  queue(request.device).object.add(cpu, queue_.in_flight, 1);
}

// Puts the request back at the front, without its tag, because the host is busy.
void RequestQueues::blk_requeue_request(Cpu& cpu, Request& request) {
  const FunctionScope scope(cpu, in_.requeue);
  const Queue& target = queue(request.device);
  if (blk_rq_tagged(cpu, request)) blk_queue_end_tag(cpu, request);
  target.object.add(cpu, queue_.in_flight, Value{0} - 1);
  const Address entry = request.object.at(request_.queuelist, cpu);
  kernel_.list_add(cpu, entry, target.object.at(queue_.queue_head, cpu));
}

}  // namespace linebounce::workloads
