// Asynchronous direct I/O of Linux 2.6.20: contexts (kioctx), each with a ring of events; requests (kiocb), each with its
// direct-I/O data (dio); and the block layer to which they submit.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "workloads/linux26/io/block_layer.hpp"
#include "workloads/linux26/scheduler/wait_queue.hpp"

namespace linebounce::workloads {

// A process's context. Only its process submits to it; any CPU may complete its requests.
class AioContext {
 public:
  // The number of requests submitted but not reaped. Only the process's own CPU may call this.
  [[nodiscard]] int in_flight() const { return in_flight_; }

 private:
  friend class Aio;
  struct Request {
    Io io;
    Object kiocb, dio;
    AioContext* context = nullptr;
    int slot = 0;
  };

  AioContext(Kernel& kernel, Scheduler& scheduler, const Task& task, const std::string& name, int node);

  std::string name_;
  Object kioctx_, ring_info_, ring_;
  MeteredLock* ctx_lock_;
  MeteredLock* ring_lock_;
  WaitQueue wait_;
  Waiter waiter_;
  Timer timeout_;
  const Task* task_;
  std::deque<Request> requests_;  // by slot
  std::vector<int> free_slots_;   // owned by the process
  int in_flight_ = 0;
  int reaped_ = 0;      // how many events the current io_getevents() has reaped
  bool waits_ = false;  // true if the process is in the wait queue
};

class Aio {
 public:
  Aio(Kernel& kernel, Scheduler& scheduler, Timers& timers, SlabAllocator& slab, int objects_per_node);
  // Sets the block layer, which is created after this object. The block layer's BlockOptions::done must call complete().
  void use(BlockLayer& block) { block_ = &block; }

  // The kmalloc() cache from which requests' dio structures come.
  [[nodiscard]] SlabCache& size_1024() { return dios_; }

  // The most requests that a context can have in flight: as many as its ring has slots for.
  [[nodiscard]] int most_in_flight() const;

  // Makes a context for the task on `node`, with at most `most` requests in flight. REQUIRES: the simulation has not started.
  // Errors: std::invalid_argument if `most` exceeds most_in_flight().
  AioContext& create_context(const Task& task, const std::string& name, int node, int most);

  // io_submit() of these transfers; the context's process calls it. Errors: ModelFailure if more requests would be in flight
  // than the context allows.
  struct Transfer {
    int device = 0;
    bool write = false;
  };
  void submit(Cpu& cpu, AioContext& context, const std::vector<Transfer>& transfers);

  // io_getevents(): reaps events until there are `minimum`. Returns true when done. If it returns false, the process must call
  // schedule() and then get_events() again with the same minimum.
  bool get_events(Cpu& cpu, AioContext& context, int minimum);

  // bio->bi_end_io and aio_complete(): called in a softirq when the transfer is done.
  void complete(Cpu& cpu, Io& io);

 private:
  void submit_one(Cpu& cpu, AioContext& context, const Transfer& transfer);
  void get_request(Cpu& cpu, AioContext& context, AioContext::Request& request);
  void direct_io(Cpu& cpu, AioContext::Request& request);
  void put_request(Cpu& cpu, AioContext::Request& request);
  void drop_reference(Cpu& cpu, const AioContext& context, const Object& kiocb);
  void aio_complete(Cpu& cpu, AioContext::Request& request);
  bool read_event(Cpu& cpu, AioContext& context);

  Kernel& kernel_;
  Scheduler& scheduler_;
  Timers& timers_;
  BlockLayer* block_ = nullptr;
  SlabCache& kiocbs_;
  SlabCache& dios_;
  SlabCache& bios_;
  std::deque<std::unique_ptr<AioContext>> contexts_;

  struct Fields {
    FieldPlace users, mm, reqs_active, active_reqs, max_reqs, ring_pages;  // kioctx
    FieldPlace nr, tail, internal_pages0;                                  // fields of ring_info
    FieldPlace ring_head, ring_tail, events;                               // fields of aio_ring
    FieldPlace ki_run_list, ki_flags, ki_users, ki_ctx, ki_list;           // kiocb
    FieldPlace dio_iocb, dio_result, dio_refcount;                         // dio
    FieldPlace ctx_lock;
  } field_;
  struct Functions {
    FunctionId sys_io_submit, lookup_ioctx, io_submit_one, get_req, aio_run_iocb, aio_put_req, inner_put_req, direct_io,
        aio_complete, dio_end, sys_io_getevents, read_events, aio_read_evt;
  } function_;
};

}  // namespace linebounce::workloads
