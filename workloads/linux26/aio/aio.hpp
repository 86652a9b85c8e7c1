// Asynchronous direct I/O of Linux 2.6.20: contexts (kioctx) with a ring of events, requests (kiocb), direct I/O's own part
// (dio), and the block layer below.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "workloads/linux26/io/block_layer.hpp"
#include "workloads/linux26/scheduler/wait_queue.hpp"

namespace linebounce::workloads {

// A process's context: its submissions and completions. Used by one process, completed on any CPU.
class AioContext {
 public:
  [[nodiscard]] int in_flight() const { return in_flight_; }  // submitted and not reaped; only the process's CPU may ask

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
  int reaped_ = 0;      // events reaped by the current io_getevents()
  bool waits_ = false;  // whether the process is in the wait queue
};

class Aio {
 public:
  Aio(Kernel& kernel, Scheduler& scheduler, Timers& timers, SlabAllocator& slab, int objects_per_node);
  // Sets the block layer, once it exists. Its `done` is complete().
  void use(BlockLayer& block) { block_ = &block; }

  // The kmalloc() cache from which a request's dio comes.
  [[nodiscard]] SlabCache& size_1024() { return dios_; }

  // The largest number of requests of a context in flight: its ring has room for their events.
  [[nodiscard]] int most_in_flight() const;

  // Before the simulation: makes a context of the task, on its CPU's node, for at most `most` requests in flight. Errors:
  // std::invalid_argument, if that is more than most_in_flight().
  AioContext& create_context(const Task& task, const std::string& name, int node, int most);

  // io_submit() of these transfers, by the context's process. Errors: ModelFailure, if more are then in flight than allowed.
  struct Transfer {
    int device = 0;
    bool write = false;
  };
  void submit(Cpu& cpu, AioContext& context, const std::vector<Transfer>& transfers);

  // io_getevents(): takes events until there are `minimum`. Returns true when done. On false the process must call schedule()
  // and then this again, with the same minimum.
  bool get_events(Cpu& cpu, AioContext& context, int minimum);

  // The transfer is done: bio->bi_end_io and aio_complete(), in a softirq.
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
