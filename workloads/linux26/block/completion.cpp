// The path of a completed request from the interrupt to the I/O's owner. Each CPU has a list of completed requests, which its
// softirq handles.
#include "workloads/linux26/block/path_lengths.hpp"
#include "workloads/linux26/block/request_queues.hpp"

namespace linebounce::workloads {

void RequestQueues::blk_complete_request(Cpu& cpu, Request& request) {
  const FunctionScope scope(cpu, in_.complete);
  kernel_.execute(cpu, path::kCompleteRequest);
  request.object.load(cpu, request_.q);
  queue(request.device).object.load(cpu, queue_.softirq_done_fn);
  const Object& mine = done_lists_[cpu.id().value];
  const Address entry = request.object.at(request_.donelist, cpu);
  kernel_.list_add_tail(cpu, entry, mine.at(done_list_, cpu));
  kernel_.interrupts().raise(cpu, block_softirq_);
}

void RequestQueues::done_softirq(Cpu& cpu) {
  const FunctionScope scope(cpu, in_.done_softirq);
  const int me = cpu.id().value;
  const Address done = done_lists_[me].at(done_list_, cpu);
  const Address local = local_lists_[me].at(local_list_, cpu);
  kernel_.execute(cpu, path::kDoneSoftirq);
  kernel_.interrupts_off(cpu);
  if (!list64::empty(cpu, done)) {  // list_replace_init()
    const Address first = list64::next(cpu, done);
    const Address last = list64::previous(cpu, done);
    list64::set_next(cpu, local, first);
    list64::set_previous(cpu, local, last);
    list64::set_previous(cpu, first, local);
    list64::set_next(cpu, last, local);
    list64::initialise(cpu, done);
  }
  kernel_.interrupts_on(cpu);
  for (;;) {
    const Address entry = list64::next(cpu, local);
    if (entry == local) break;
    list64::remove_and_initialise(cpu, entry);
    Request& request = request_at(entry);
    request.object.load(cpu, request_.q);
    queue(request.device).object.load(cpu, queue_.softirq_done_fn);
    driver_->softirq_done_fn(cpu, request);
  }
}

// From here on, the owner may reuse the Io; the rest of this function does not touch it.
void RequestQueues::end_that_request_first(Cpu& cpu, Request& request) {
  const FunctionScope scope(cpu, in_.end_first);
  kernel_.execute(cpu, path::kEndRequest);
  request.object.load(cpu, request_.bio);
  Io& io = *request.io;
  request.io = nullptr;
  io.bio.load(cpu, bio_.bi_size);
  io.bio.store(cpu, bio_.bi_size, 0);
  const FunctionScope bio_scope(cpu, in_.bio_endio);
  kernel_.execute(cpu, path::kEndBio);
  io.bio.load(cpu, bio_.bi_end_io);
  options_.done(cpu, io);
}

void RequestQueues::end_that_request_last(Cpu& cpu, Request& request) {
  const FunctionScope scope(cpu, in_.end_last);
  request.object.load(cpu, request_.start_time);
  account_disk(cpu, queue(request.device), Value{0} - 1);
  put_request(cpu, request);
}

void RequestQueues::put_request(Cpu& cpu, Request& request) {
  const FunctionScope scope(cpu, in_.put_request);
  const Queue& target = queue(request.device);
  const bool write = request.write;
  kernel_.execute(cpu, path::kPutRequest);
  {
    const FunctionScope completed(cpu, in_.elv_completed);
    target.object.add(cpu, queue_.in_flight, Value{0} - 1);
  }
  request.object.load(cpu, request_.ref_count);
  target.object.load(cpu, queue_.rq_pool);
  target.pool.load(cpu, pool_curr_nr_);
  target.pool.load(cpu, pool_min_nr_);
  requests_.free(cpu, request.object);
  freed_request(cpu, target, write);
}

}  // namespace linebounce::workloads
