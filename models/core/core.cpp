#include "models/core/core.hpp"

#include <algorithm>

#include "models/core/fiber_stack.hpp"
#include "models/core/fiber_switch.hpp"
#include "models/failure.hpp"

namespace linebounce {
namespace {

// A fiber that runs `body` and passes its exception, if any, to `failed`. `resumer` holds the context that resumed the fiber.
template <class Body, class Failed>
boost::context::fiber make_fiber(boost::context::fiber& resumer, Body body, Failed failed) {
  static constexpr std::size_t kStackBytes = 256 * 1024;
  return {std::allocator_arg, ReusedStack<kStackBytes>(), [&resumer, body, failed](boost::context::fiber&& by) {
            const FiberScope scope(kStackBytes);
            resumer = std::move(by);
            try {
              body();
            } catch (const boost::context::detail::forced_unwind&) {
              throw;
            } catch (...) {
              failed(std::current_exception());
            }
            return std::move(resumer);
          }};
}

// The ready thread with the earliest local time. At equal times a deferred operation goes before new ones, so it can't starve.
template <class Threads>
HardwareThread* earliest_ready(Threads threads) {
  const auto earlier = [](const HardwareThread& a, const HardwareThread& b) {
    return a.local_time() != b.local_time() ? a.local_time() < b.local_time() : a.first_issued_at() < b.first_issued_at();
  };
  HardwareThread* first = nullptr;
  for (const auto& cpu : threads) {
    if (cpu->ready() && (first == nullptr || earlier(*cpu, *first))) first = cpu.get();
  }
  return first;
}

// The time up to which `cpu` may run before a sibling must go first. It is late enough for `cpu` to run at least one
// operation.
template <class Threads>
Tick sibling_limit(Threads threads, const HardwareThread& cpu) {
  if (threads.size() == 1) return kNever;
  Tick limit = kNever;
  for (const auto& other : threads) {
    if (other.get() == &cpu || !other->ready()) continue;
    const bool precedes = cpu.index_in_core() < other->index_in_core() && other->first_issued_at() == other->local_time();
    limit = std::min(limit, other->local_time() + (precedes ? 1 : 0));
  }
  return std::max(limit, cpu.local_time() + 1);
}

}  // namespace

Core::Core(const CoreSpec& spec, int client, CacheAgent agent, const std::vector<CpuId>& threads, const Wiring& wiring)
    : spec_(spec),
      wiring_(wiring),
      warmup_end_(spec_.warmup_end > 0 ? spec_.warmup_end : kNever),
      unit_(spec_, std::move(agent), client, *wiring.log, *this, static_cast<int>(threads.size())),
      footprint_(spec.footprint.on() ? std::make_unique<Footprint>(spec.footprint, spec.cycle, static_cast<int>(threads.size()))
                                     : nullptr),
      programs_(threads.size()) {
  const HardwareThread::Wiring of_thread{.owner = this,
                                         .unit = &unit_,
                                         .footprint = footprint_.get(),
                                         .spec = &spec_,
                                         .observer = wiring.observer,
                                         .alone = threads.size() == 1};
  for (const CpuId id : threads) {
    threads_.push_back(std::make_unique<HardwareThread>(of_thread, id, static_cast<int>(threads_.size())));
  }
}

void Core::connect(Bus& bus) {
  unit_.connect(bus);
  act_at(0);
}

void Core::set_functions(std::size_t count, std::span<const FunctionId> user) {
  if (footprint_) footprint_->set_functions(count, user);
  for (const auto& cpu : threads_) cpu->set_functions(count);
}

void Core::set_timeline(Timeline& timeline) {
  for (const auto& cpu : threads_) cpu->set_timeline(timeline);
}

void Core::set_tap(ProgramTap* tap) {
  unit_.set_tap(tap);
  reset_limits();  // a tap closes the fast path while it is attached
}

void Core::turn() {
  if (!fiber_) {
    const auto body = [this] { run_programs(); };
    const auto failed = [this](std::exception_ptr failure) { failure_ = std::move(failure); };
    fiber_ = make_fiber(scheduler_, body, failed);
  }
  fiber_ = resume_fiber(std::move(fiber_));
  if (failure_) [[unlikely]]
    std::rethrow_exception(failure_);
}

// Never returns; ends only by an exception.
void Core::run_programs() {
  if (threads_.size() > 1) run_fibers();
  run_program(*threads_.front());
  for (;;) next_runner();  // runs fills and drains that are still outstanding
}

void Core::run_program(HardwareThread& cpu) {
  if (const Program& program = programs_[cpu.index_in_core()]) program(cpu);
  cpu.end_program();
  program_ended(cpu.local_time());
}

void Core::run_fibers() {
  std::exception_ptr failure;
  const auto failed = [&failure](std::exception_ptr caught) { failure = std::move(caught); };
  for (const auto& cpu : threads_) {
    const auto body = [this, &cpu] { run_program(*cpu); };
    fibers_.push_back(make_fiber(dispatcher_, body, failed));
  }
  for (;;) {
    boost::context::fiber& fiber = fibers_[next_runner().index_in_core()];
    fiber = resume_fiber(std::move(fiber));
    if (failure) std::rethrow_exception(failure);
  }
}

void Core::wait_turn() {
  if (threads_.size() == 1) {
    next_runner();
  } else {
    dispatcher_ = resume_fiber(std::move(dispatcher_));
  }
}

HardwareThread& Core::next_runner() {
  return threads_.size() == 1 ? next_runner(Threads<1>(threads_)) : next_runner(Threads<std::dynamic_extent>(threads_));
}

template <std::size_t kCount>
HardwareThread& Core::next_runner(Threads<kCount> threads) {
  for (;;) {
    HardwareThread* const next = earliest_ready(threads);
    const Tick thread_time = next != nullptr ? next->local_time() : kNever;
    const Tick item = next_item(threads);
    const Tick due = std::min(item, thread_time);
    if (due == kNever) {
      wait_for_turn(kNever);
      continue;
    }
    if (due >= spec_.end) {
      // Before `end`, the bus may still deliver responses to the core's earlier requests.
      if (now() < spec_.end) {
        wait_for_turn(spec_.end);
        continue;
      }
      stopped_ = true;
      for (;;) wait_for_turn(kNever);
    }
    const Tick limit = horizon();
    if (due >= limit) {
      wait_for_turn(due);
    } else if (item <= thread_time) {
      run_item(item);
    } else {
      next->run_until(std::min(std::min(limit, item), std::min(spec_.end, sibling_limit(threads, *next))));
      return *next;
    }
  }
}

template <std::size_t kCount>
Tick Core::next_item(Threads<kCount> threads) const {
  Tick next = std::min(warmup_end_, unit_.next_fill());
  for (const auto& cpu : threads) {
    next = std::min(next, cpu->next_drain());
    next = std::min(next, cpu->next_interrupt());
  }
  return next;
}

Tick Core::horizon() {
  Tick others = now() + 1;
  if (spec_.engine.run_ahead) {
    const Tick next = next_turn();
    others = next == kNever ? kNever : next + wiring_.lookahead + spec_.engine.horizon_slack_ticks;
    others = std::min(others, now() + spec_.run_ahead_limit);
  }
  const Tick announced = wiring_.announcements->next_touch();
  return std::min(others, announced == kNever ? kNever : announced + spec_.engine.horizon_slack_ticks);
}

void Core::wait_for_turn(Tick until) {
  ++activations_;
  if (until != kNever) wake_at(until);
  scheduler_ = resume_fiber(std::move(scheduler_));
}

void Core::wake_at(Tick at) {
  require_in_range(at);
  act_at(std::max(at, now()));
}

// Runs an item that is due. The order at equal times: start of the measured time, fills, interrupts, drains; then threads run.
void Core::run_item(Tick at) {
  if (warmup_end_ == at) {
    begin_measuring(at);
    return;
  }
  if (unit_.next_fill() == at) {
    before_access(at, kNoThread);
    unit_.run_fill(at);
    after_access(at);
    return;
  }
  for (const auto& cpu : threads_) {
    if (cpu->next_interrupt() == at) return cpu->accept_interrupt();
  }
  for (const auto& cpu : threads_) {
    if (cpu->next_drain() == at) return cpu->drain_store(at);
  }
}

void Core::begin_measuring(Tick at) {
  warmup_end_ = kNever;
  unit_.reset_pair_prefetches();
  for (const auto& cpu : threads_) cpu->begin_measuring(at);
}

void Core::finish_measuring(Tick end) {
  for (const auto& cpu : threads_) cpu->finish_measuring(end);
}

int Core::issue_pct_beside_siblings(const HardwareThread& thread) const {
  int pct = 100;
  for (const auto& other : threads_) {
    if (other.get() != &thread) pct = std::min(pct, other->sibling_issue_pct(thread.local_time()));
  }
  return pct;
}

void Core::retry(Tick at, Source source) {
  for (const auto& cpu : threads_) cpu->retry(at, source);
}

void Core::reset_limits() {
  for (const auto& cpu : threads_) cpu->reset_limits();
}

// Counts the loads that siblings' parked spins make before this access, so that the access finds the replacement ages that
// these loads leave.
void Core::before_access(Tick at, int actor) {
  actor_ = actor;
  if (parked_ == 0) return;
  for (const auto& cpu : threads_) {
    if (cpu->parked()) cpu->count_spins_until(turn_beside_access(*cpu, at));
  }
}

// Resumes the parked spins whose lines the access has evicted from the nearest cache.
void Core::after_access(Tick at) {
  if (parked_ > 0) {
    for (const auto& cpu : threads_) {
      if (cpu->parked() && !cpu->parked_spin().in_nearest_level()) cpu->resume_spin(turn_beside_access(*cpu, at));
    }
  }
  actor_ = kNoThread;
}

void Core::watched_line_changed(LineAddr line, Tick at) {
  for (const auto& cpu : threads_) {
    if (cpu->parked() && cpu->parked_spin().watches(line)) cpu->resume_spin(turn_beside_access(*cpu, at));
  }
}

void Core::spin_resumed(Tick at) {
  --parked_;
  rewatch();
  reset_limits();  // a running sibling must not run past this thread's time
  wake_at(at);
}

void Core::rewatch() {
  if (parked_ == 0) return;
  for (const auto& cpu : threads_) {
    if (cpu->parked()) cpu->rewatch_words();
  }
}

bool Core::ended() const {
  return stopped_ || std::all_of(threads_.begin(), threads_.end(), [](const auto& cpu) { return cpu->ended(); });
}

std::int64_t Core::progress() const {
  std::int64_t count = 0;
  for (const auto& cpu : threads_) count += cpu->progress();
  return count;
}

bool Core::waits_for_time(Tick now) const {
  return std::any_of(threads_.begin(), threads_.end(), [now](const auto& cpu) { return cpu->waits_for_time(now); });
}

Tick Core::latest() const {
  Tick latest = 0;
  for (const auto& cpu : threads_) latest = std::max(latest, cpu->local_time());
  return latest;
}

std::string Core::describe() const {
  std::string text;
  for (const auto& cpu : threads_) text += cpu->describe();
  return text;
}

}  // namespace linebounce
