#include "workloads/linux26/aio/aio.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "models/failure.hpp"

namespace linebounce::workloads {
namespace {

// Instructions that touch no line of this model: entering the system call, finding the file, checking user memory, and most of
// all, pinning the user's pages for direct I/O.
constexpr std::int64_t kSystemCall = 300;
constexpr std::int64_t kSubmitOne = 400;
constexpr std::int64_t kGetRequest = 80;
constexpr std::int64_t kDirectIo = 2500;
constexpr std::int64_t kEndOfBio = 300;
constexpr std::int64_t kReadEvent = 120;
// Instructions that run with ctx_lock held. OLS 2007 says that aio_complete() holds the lock for very long.
constexpr std::int64_t kComplete = 600;

constexpr Value kDecrement = static_cast<Value>(-1);
constexpr int kEventBytes = 32;

}  // namespace

AioContext::AioContext(Kernel& kernel, Scheduler& scheduler, const Task& task, const std::string& name, int node)
    : name_(name),
      kioctx_(kernel.place("kioctx", name, node)),
      ring_info_(kernel.place("ring_info", name + ".ring_info", node)),
      ring_(kernel.place("aio_ring", name + ".ring", node)),
      ctx_lock_(&kernel.lock_in(kioctx_, name, "kioctx", "ctx_lock")),
      ring_lock_(&kernel.lock_in(ring_info_, name + ".ring_info", "ring_info", "lock")),
      wait_(kernel, scheduler, kioctx_, name, "kioctx", "wait"),
      waiter_(kernel, task, name + ".wait", node),
      timeout_(timer_fields(kernel.layout("task_struct"), "timeout"), task.object, [](Cpu&) {}),
      task_(&task) {}

Aio::Aio(Kernel& kernel, Scheduler& scheduler, Timers& timers, SlabAllocator& slab, int objects_per_node)
    : kernel_(kernel),
      scheduler_(scheduler),
      timers_(timers),
      kiocbs_(slab.create_cache("kiocb", objects_per_node)),
      dios_(slab.create_cache("size_1024", objects_per_node)),
      bios_(slab.create_cache("bio", objects_per_node)) {
  const auto f = [&](const char* structure, const char* field) { return kernel.field(structure, field); };
  field_ = {.users = f("kioctx", "users"),
            .mm = f("kioctx", "mm"),
            .reqs_active = f("kioctx", "reqs_active"),
            .active_reqs = f("kioctx", "active_reqs.next"),
            .max_reqs = f("kioctx", "max_reqs"),
            .ring_pages = f("kioctx", "ring_info.ring_pages"),
            .nr = f("ring_info", "nr"),
            .tail = f("ring_info", "tail"),
            .internal_pages0 = f("ring_info", "internal_pages[0]"),
            .ring_head = f("aio_ring", "head"),
            .ring_tail = f("aio_ring", "tail"),
            .events = f("aio_ring", "events"),
            .ki_run_list = f("kiocb", "ki_run_list.next"),
            .ki_flags = f("kiocb", "ki_flags"),
            .ki_users = f("kiocb", "ki_users"),
            .ki_ctx = f("kiocb", "ki_ctx"),
            .ki_list = f("kiocb", "ki_list.next"),
            .dio_iocb = f("size_1024", "dio.iocb"),
            .dio_result = f("size_1024", "dio.result"),
            .dio_refcount = f("size_1024", "dio.refcount"),
            .ctx_lock = f("kioctx", "ctx_lock")};
  const auto function = [&](const char* name) { return kernel.function(name); };
  function_ = {function("sys_io_submit"),   function("lookup_ioctx"),         function("io_submit_one"),
               function("__aio_get_req"),   function("aio_run_iocb"),         function("aio_put_req"),
               function("__aio_put_req"),   function("__blockdev_direct_IO"), function("aio_complete"),
               function("dio_bio_end_aio"), function("sys_io_getevents"),     function("read_events"),
               function("aio_read_evt")};
}

// One slot of the ring stays empty, because a full ring would look like an empty one.
int Aio::most_in_flight() const {
  return field_.events.size / kEventBytes - 1;
}

AioContext& Aio::create_context(const Task& task, const std::string& name, int node, int most) {
  AioContext& context = *contexts_.emplace_back(new AioContext(kernel_, scheduler_, task, name, node));
  timers_.init(context.timeout_);
  AddressSpace& memory = kernel_.memory();
  if (most > most_in_flight())
    throw std::invalid_argument(fmt::format(
        "workload.layout: aio_ring.events has room for {} requests of a context, not for {}", most_in_flight(), most));
  memory.preset(context.ring_info_.at(field_.nr, 0), static_cast<Value>(most_in_flight()) + 1, field_.nr.size);
  memory.preset(context.kioctx_.at(field_.max_reqs, 0), static_cast<Value>(most), field_.max_reqs.size);
  memory.preset(context.kioctx_.at(field_.mm, 0), task.object.address());
  memory.preset(context.kioctx_.at(field_.ring_pages, 0), context.ring_info_.at(field_.internal_pages0, 0));
  memory.preset(context.ring_info_.at(field_.internal_pages0, 0), context.ring_.address());
  list64::preset_empty(memory, context.kioctx_.at(field_.active_reqs, 0));
  for (int slot = 0; slot < most; ++slot) {
    AioContext::Request& request = context.requests_.emplace_back();
    request.context = &context;
    request.slot = slot;
    request.io.owner = &request;
    context.free_slots_.push_back(most - 1 - slot);
  }
  return context;
}

void Aio::submit(Cpu& cpu, AioContext& context, const std::vector<Transfer>& transfers) {
  const FunctionScope scope(cpu, function_.sys_io_submit);
  kernel_.execute(cpu, kSystemCall);
  {
    const FunctionScope lookup(cpu, function_.lookup_ioctx);
    context.kioctx_.load(cpu, field_.mm);
    context.kioctx_.fetch_add(cpu, field_.users, 1);
  }
  for (const Transfer& transfer : transfers) submit_one(cpu, context, transfer);
  context.kioctx_.fetch_add(cpu, field_.users, kDecrement);
}

void Aio::submit_one(Cpu& cpu, AioContext& context, const Transfer& transfer) {
  const FunctionScope scope(cpu, function_.io_submit_one);
  if (context.free_slots_.empty()) throw ModelFailure(context.name_ + " has no room for another request");
  AioContext::Request& request = context.requests_[context.free_slots_.back()];
  context.free_slots_.pop_back();
  ++context.in_flight_;
  request.io.device = transfer.device;
  request.io.write = transfer.write;
  kernel_.execute(cpu, kSubmitOne);
  get_request(cpu, context, request);
  kernel_.lock_irq(cpu, *context.ctx_lock_);
  {
    const FunctionScope run(cpu, function_.aio_run_iocb);
    request.kiocb.store(cpu, field_.ki_flags, 1);
    kernel_.unlock_irq(cpu, *context.ctx_lock_);
    direct_io(cpu, request);
    kernel_.lock_irq(cpu, *context.ctx_lock_);
    request.kiocb.load(cpu, field_.ki_run_list);
  }
  kernel_.unlock_irq(cpu, *context.ctx_lock_);
  put_request(cpu, request);
}

// Allocates a kiocb with two references: one for the submission, one for the completion.
void Aio::get_request(Cpu& cpu, AioContext& context, AioContext::Request& request) {
  const FunctionScope scope(cpu, function_.get_req);
  kernel_.execute(cpu, kGetRequest);
  request.kiocb = kiocbs_.alloc(cpu);
  request.kiocb.store(cpu, field_.ki_flags, 0);
  request.kiocb.store(cpu, field_.ki_users, 2);
  request.kiocb.store(cpu, field_.ki_ctx, context.kioctx_.address());
  kernel_.lock_irq(cpu, *context.ctx_lock_);
  context.kioctx_.load(cpu, field_.ring_pages);
  const Address page = context.ring_info_.load(cpu, field_.internal_pages0);
  if (page != context.ring_.address()) throw ModelFailure(context.name_ + " has lost its ring");
  context.ring_.load(cpu, field_.ring_head);
  const Value active = context.kioctx_.load(cpu, field_.reqs_active);
  if (active >= context.kioctx_.load(cpu, field_.max_reqs))
    throw ModelFailure(context.name_ + " has more requests than it may have");
  const Address entry = request.kiocb.at(field_.ki_list, cpu);
  kernel_.list_add(cpu, entry, context.kioctx_.at(field_.active_reqs, cpu));
  context.kioctx_.add(cpu, field_.reqs_active, 1);
  kernel_.unlock_irq(cpu, *context.ctx_lock_);
}

void Aio::direct_io(Cpu& cpu, AioContext::Request& request) {
  const FunctionScope scope(cpu, function_.direct_io);
  request.dio = dios_.alloc(cpu);
  request.dio.store(cpu, field_.dio_iocb, request.kiocb.address());
  request.dio.store(cpu, field_.dio_result, 0);
  request.dio.store(cpu, field_.dio_refcount, 1);
  kernel_.execute(cpu, kDirectIo);
  request.io.bio = bios_.alloc(cpu);
  const int device = request.io.device;
  block_->submit(cpu, request.io);  // the request may complete from here on
  block_->unplug(cpu, device);
}

void Aio::put_request(Cpu& cpu, AioContext::Request& request) {
  const FunctionScope scope(cpu, function_.aio_put_req);
  MeteredLock& lock = *request.context->ctx_lock_;
  kernel_.lock_irq(cpu, lock);
  drop_reference(cpu, *request.context, request.kiocb);
  kernel_.unlock_irq(cpu, lock);
}

// __aio_put_req(), with ctx_lock held: dropping the last reference frees the kiocb.
void Aio::drop_reference(Cpu& cpu, const AioContext& context, const Object& kiocb) {
  const FunctionScope scope(cpu, function_.inner_put_req);
  cpu.load_acquire(context.kioctx_.at(field_.ctx_lock, cpu), field_.ctx_lock.size);  // assert_spin_locked()
  const Value left = kiocb.load(cpu, field_.ki_users) - 1;
  kiocb.store(cpu, field_.ki_users, left);
  if (left > 0) return;
  kernel_.list_del(cpu, kiocb.at(field_.ki_list, cpu));
  context.kioctx_.add(cpu, field_.reqs_active, kDecrement);
  kiocbs_.free(cpu, kiocb);
}

void Aio::complete(Cpu& cpu, Io& io) {
  const FunctionScope scope(cpu, function_.dio_end);
  auto& request = *static_cast<AioContext::Request*>(io.owner);
  kernel_.execute(cpu, kEndOfBio);
  request.dio.add(cpu, field_.dio_refcount, kDecrement);
  request.dio.store(cpu, field_.dio_result, 1);
  request.dio.load(cpu, field_.dio_iocb);
  bios_.free(cpu, io.bio);
  dios_.free(cpu, request.dio);
  aio_complete(cpu, request);
}

void Aio::aio_complete(Cpu& cpu, AioContext::Request& request) {
  const FunctionScope scope(cpu, function_.aio_complete);
  AioContext& context = *request.context;
  const Object kiocb = request.kiocb;
  kiocb.load(cpu, field_.ki_ctx);
  kernel_.lock_irq(cpu, *context.ctx_lock_);
  context.kioctx_.load(cpu, field_.ring_pages);
  const Address page = context.ring_info_.load(cpu, field_.internal_pages0);
  const Value entries = context.ring_info_.load(cpu, field_.nr);
  const Value tail = context.ring_info_.load(cpu, field_.tail);
  const Address event = page + static_cast<Address>(field_.events.offset) + tail * kEventBytes;
  kernel_.execute(cpu, kComplete);
  cpu.store(event, static_cast<Value>(request.slot));
  cpu.store(event + 8, kiocb.address());
  const Value next = (tail + 1) % entries;
  context.ring_info_.store(cpu, field_.tail, next);
  // Stores the event before the tail. Once the tail is stored, the process may reap the event and reuse the request.
  cpu.store_release(context.ring_.at(field_.ring_tail, cpu), next, field_.ring_tail.size);
  drop_reference(cpu, context, kiocb);
  // As in 2.6.20, no barrier orders this load after the store of the tail. Usually enough time passes between them. (2.6.25 has
  // an smp_mb() here.)
  if (context.wait_.active(cpu)) context.wait_.wake_up(cpu, 1);
  kernel_.unlock_irq(cpu, *context.ctx_lock_);
}

bool Aio::get_events(Cpu& cpu, AioContext& context, int minimum) {
  const FunctionScope scope(cpu, function_.sys_io_getevents);
  if (!context.waits_) {
    kernel_.execute(cpu, kSystemCall);
    context.reaped_ = 0;
    {
      const FunctionScope lookup(cpu, function_.lookup_ioctx);
      context.kioctx_.load(cpu, field_.mm);
      context.kioctx_.fetch_add(cpu, field_.users, 1);
    }
    const FunctionScope reading(cpu, function_.read_events);
    while (context.reaped_ < minimum && read_event(cpu, context)) ++context.reaped_;
    if (context.reaped_ < minimum) {
      constexpr double kTimeoutUs = 1e6;
      timers_.add(cpu, context.timeout_, kTimeoutUs);
      context.wait_.add(cpu, context.waiter_);
      context.waits_ = true;
    }
  }
  if (context.waits_) {
    const FunctionScope reading(cpu, function_.read_events);
    for (;;) {
      scheduler_.set_state(cpu, *context.task_, TaskState::interruptible);
      const bool some = read_event(cpu, context);
      if (some && ++context.reaped_ == minimum) break;
      if (!some) return false;
    }
    scheduler_.set_state(cpu, *context.task_, TaskState::running);
    context.wait_.remove(cpu, context.waiter_);
    context.waits_ = false;
    timers_.remove_sync(cpu, context.timeout_);
  }
  context.kioctx_.fetch_add(cpu, field_.users, kDecrement);
  return true;
}

bool Aio::read_event(Cpu& cpu, AioContext& context) {
  const FunctionScope scope(cpu, function_.aio_read_evt);
  context.kioctx_.load(cpu, field_.ring_pages);
  context.ring_info_.load(cpu, field_.internal_pages0);
  const Value head = context.ring_.load(cpu, field_.ring_head);
  if (head == cpu.load_acquire(context.ring_.at(field_.ring_tail, cpu), field_.ring_tail.size)) return false;
  context.ring_lock_->acquire(cpu);
  kernel_.execute(cpu, kReadEvent);
  const Value entries = context.ring_info_.load(cpu, field_.nr);
  const Address event = context.ring_.at(field_.events, cpu) + head * kEventBytes;
  const auto slot = static_cast<int>(cpu.load(event));
  cpu.load(event + 8);
  context.ring_.store(cpu, field_.ring_head, (head + 1) % entries);
  context.ring_lock_->release(cpu);
  context.free_slots_.push_back(slot);
  --context.in_flight_;
  return true;
}

}  // namespace linebounce::workloads
