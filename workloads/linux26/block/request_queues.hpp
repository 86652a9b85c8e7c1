// The block layer of Linux 2.6.20 (block/ll_rw_blk.c, block/elevator.c): request queues with their elevator (noop), plug and
// tags. Functions that a driver calls have the kernel's names.
//
// All state is in simulated memory. C++ only maps addresses to records. A CPU uses a record only after it has read the record's
// address from a list or under a lock, so its access is ordered after that of the CPU that wrote the address.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "workloads/linux26/block/block_options.hpp"
#include "workloads/linux26/block/block_structures.hpp"
#include "workloads/linux26/slab/slab.hpp"
#include "workloads/linux26/timers/timers.hpp"

namespace linebounce::workloads {

// A request, and the C++ record for its address. Only its current holder (a CPU, a queue or an adapter) may use the record.
struct Request {
  Object object;
  Io* io = nullptr;
  int device = 0;
  bool write = false;
  CpuId submitter;
  Object command;  // a structure scsi_cmnd, once the driver has prepared it
};

// Functions of a driver that a request queue calls.
class RequestDriver {
 public:
  virtual ~RequestDriver() = default;
  // request_fn: starts as many requests as possible. Called with queue_lock held, and returns with it held, but may release and
  // retake it in between.
  virtual void request_fn(Cpu& cpu, int device) = 0;
  // prep_rq_fn: builds a command for the request. REQUIRES: queue_lock is held.
  virtual void prep_rq_fn(Cpu& cpu, Request& request) = 0;
  // softirq_done_fn: completes the request; called in the softirq.
  virtual void softirq_done_fn(Cpu& cpu, Request& request) = 0;
};

class RequestQueues {
 public:
  // Creates the queues of all devices. REQUIRES: the options outlive this object.
  RequestQueues(Kernel& kernel, Timers& timers, SlabAllocator& slab, const BlockOptions& options);
  void set_driver(RequestDriver& driver) { driver_ = &driver; }

  void generic_make_request(Cpu& cpu, Io& io);
  // The function that the queue's backing_dev_info points to.
  void unplug_io_fn(Cpu& cpu, int device);

  // For the driver. lock() returns the lock that queue_lock points to. REQUIRES for the functions that follow, except
  // lock_queue(): that lock is held.
  MeteredLock& lock(int device) { return *queue(device).lock; }
  // Acquires the queue's lock through the pointer in the queue. Reports count the wait in the calling function.
  void lock_queue(Cpu& cpu, int device);
  // Both release the lock. unlock_queue() also enables interrupts; drop_for_host() leaves them disabled, because the caller
  // takes another lock next.
  void unlock_queue(Cpu& cpu, int device);
  void drop_for_host(Cpu& cpu, int device);
  Request* elv_next_request(Cpu& cpu, int device);  // nullptr: none
  [[nodiscard]] bool blk_queue_plugged(Cpu& cpu, int device) const;
  void blk_plug_device(Cpu& cpu, int device);
  bool blk_queue_start_tag(Cpu& cpu, Request& request);  // false if no tag is free; otherwise takes the request off the queue
  void blkdev_dequeue_request(Cpu& cpu, Request& request);
  void blk_requeue_request(Cpu& cpu, Request& request);
  [[nodiscard]] bool blk_rq_tagged(Cpu& cpu, const Request& request) const;
  void blk_queue_end_tag(Cpu& cpu, Request& request);
  void end_that_request_last(Cpu& cpu, Request& request);
  // REQUIRES for the following: queue_lock is not held.
  void blk_run_queue(Cpu& cpu, int device);
  void blk_complete_request(Cpu& cpu, Request& request);  // REQUIRES: interrupts are off
  void end_that_request_first(Cpu& cpu, Request& request);

  [[nodiscard]] const RequestFields& fields() const { return request_; }
  [[nodiscard]] const RequestQueueFields& queue_fields() const { return queue_; }
  [[nodiscard]] const Object& object(int device) const { return queue(device).object; }
  [[nodiscard]] const Object& disk(int device) const { return queue(device).disk; }
  [[nodiscard]] int devices() const { return static_cast<int>(queues_.size()); }

 private:
  struct Queue {
    Object object, elevator, noop, pool, disk, tags, bitmap;
    Address tag_index = 0;
    MeteredLock* lock = nullptr;
    std::unique_ptr<Timer> unplug_timer;
  };
  // FunctionIds, by the kernel's names.
  struct Functions {
    explicit Functions(const Kernel& kernel);
    FunctionId generic_make_request, make_request, get_request_wait, get_request, init_request, add_request, elv_insert,
        elv_empty, elv_next_request, noop_dispatch, elv_dequeue, elv_completed, blk_plug_device, blk_remove_plug,
        generic_unplug_device, inner_unplug, backing_dev_unplug, unplug_timeout, unplug_work, run_queue, start_tag, end_tag,
        find_bit, requeue, complete, done_softirq, end_first, bio_endio, end_last, put_request, freed_request,
        inner_freed_request;
  };

  [[nodiscard]] Queue& queue(int device) { return queues_[device]; }
  [[nodiscard]] const Queue& queue(int device) const { return queues_[device]; }

  // request_queues_place.cpp
  void place_queue(int device);
  void place_tags();
  void preset_queue(Queue& queue);
  void preset(const Object& object, const FieldPlace& field, Value value);
  void preset_empty_list(const Object& object, const FieldPlace& field);

  void make_request(Cpu& cpu, Io& io);
  Request& get_request_wait(Cpu& cpu, const Io& io);
  bool get_request(Cpu& cpu, const Io& io, Object& object);
  Request& record_of(const Object& object);
  [[nodiscard]] Request& request_at(Address entry) const { return *entries_.at(entry); }
  void init_request(Cpu& cpu, Request& request, Io& io);
  void add_request(Cpu& cpu, Request& request);
  void elv_insert(Cpu& cpu, Request& request);
  bool elv_queue_empty(Cpu& cpu, const Queue& queue);
  bool noop_dispatch(Cpu& cpu, const Queue& queue);
  [[nodiscard]] Address find_next_zero_bit(Cpu& cpu, Address bitmap, Address bits) const;
  bool blk_remove_plug(Cpu& cpu, int device);
  void generic_unplug_device(Cpu& cpu, int device);
  void inner_unplug(Cpu& cpu, int device);
  void kblockd_work(Cpu& cpu);
  void done_softirq(Cpu& cpu);
  void account_disk(Cpu& cpu, const Queue& queue, Value change) const;
  void put_request(Cpu& cpu, Request& request);
  void freed_request(Cpu& cpu, const Queue& queue, bool write);

  Kernel& kernel_;
  Timers& timers_;
  const BlockOptions& options_;
  RequestDriver* driver_ = nullptr;
  Functions in_;
  BioFields bio_;
  RequestFields request_;
  RequestQueueFields queue_;
  TagFields tags_;
  FieldPlace disk_stamp_, disk_in_flight_, elevator_ops_, elevator_data_, noop_queue_, pool_min_nr_, pool_curr_nr_, pool_data_,
      bitmap_, done_list_, local_list_;
  SlabCache& requests_;
  std::vector<Queue> queues_;                        // by device number
  std::vector<Object> done_lists_, local_lists_;     // by CPU
  std::vector<std::vector<int>> kblockd_;            // by CPU: the devices whose queues kblockd must unplug there
  std::deque<Request> records_;                      // one for each object that was allocated at least once
  std::unordered_map<Address, Request*> by_object_;  // by the object's address
  std::unordered_map<Address, Request*> entries_;    // by the addresses of the fields queuelist and donelist
  int block_softirq_, kblockd_softirq_;
};

}  // namespace linebounce::workloads
