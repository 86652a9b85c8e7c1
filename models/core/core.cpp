#include "models/core/core.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/core/fiber_switch.hpp"
#include "models/failure.hpp"

namespace linebounce {

namespace {

constexpr std::size_t kStackBytes = 256 * 1024;

}  // namespace

Core::Core(sc_core::sc_module_name name, const CoreSpec& spec, int client, CacheAgent agent, const std::vector<CpuId>& threads,
           const Wiring& wiring)
    : sc_module(name),
      bus("bus"),
      spec_(spec),
      wiring_(wiring),
      unit_(spec_, std::move(agent), client, *wiring.log, *this, static_cast<int>(threads.size())),
      footprint_(spec.footprint.on() ? std::make_unique<Footprint>(spec.footprint, spec.cycle, static_cast<int>(threads.size()))
                                     : nullptr),
      programs_(threads.size()),
      boundary_(spec_.warmup_end > 0 ? spec_.warmup_end : kNever) {
  for (const CpuId id : threads) {
    threads_.push_back(
        std::make_unique<HardwareThread>(*this, unit_, footprint_.get(), spec_, id, static_cast<int>(threads_.size())));
  }
  if (threads_.size() == 1) only_ = threads_.front().get();
}

void Core::end_of_elaboration() {
  unit_.connect(*bus.operator->());
  act_at(0);
}

void Core::set_functions(std::size_t count, std::span<const FunctionId> user) {
  if (footprint_) footprint_->set_functions(count, user);
  for (const auto& cpu : threads_) {
    if (footprint_) cpu->counters_.footprint.resize(count);
    cpu->counters_.by_function.resize(count);
    cpu->counters_.time_in_function.resize(count);
    cpu->function_counters_ = &cpu->counters_.by_function[cpu->function_];
  }
}

void Core::set_tap(ProgramTap* tap) {
  unit_.set_tap(tap);
  posted();  // with a tap, the path of a hit is closed
}

void Core::turn() {
  if (!fiber_) {
    fiber_ = boost::context::fiber(std::allocator_arg, boost::context::protected_fixedsize_stack(kStackBytes),
                                   [this](boost::context::fiber&& giver) { return run(std::move(giver)); });
  }
  fiber_ = resume_fiber(std::move(fiber_));
}

// Returns after a failure alone.
boost::context::fiber Core::run(boost::context::fiber&& giver) {
  const FiberScope scope(kStackBytes);
  resumer_ = std::move(giver);
  try {
    run_programs();
  } catch (const boost::context::detail::forced_unwind&) {
    throw;
  } catch (...) {
    wiring_.failures->failed(std::current_exception());
  }
  return std::move(resumer_);
}

void Core::run_programs() {
  if (threads_.size() > 1) run_fibers();
  run_thread(*threads_.front());
  for (;;) next_runner();  // fills and drains that are still on their way
}

void Core::run_thread(HardwareThread& cpu) {
  if (const Program& program = programs_[static_cast<std::size_t>(cpu.index_)]) program(cpu);
  cpu.account_time();
  cpu.status_ = HardwareThread::Status::ended;
}

void Core::run_fibers() {
  std::exception_ptr failure;
  for (const auto& thread : threads_) {
    HardwareThread& cpu = *thread;
    fibers_.emplace_back(std::allocator_arg, boost::context::protected_fixedsize_stack(kStackBytes),
                         [this, &cpu, &failure](boost::context::fiber&& host) {
                           const FiberScope scope(kStackBytes);
                           host_ = std::move(host);
                           try {
                             run_thread(cpu);
                           } catch (const boost::context::detail::forced_unwind&) {
                             throw;
                           } catch (...) {
                             failure = std::current_exception();
                           }
                           return std::move(host_);
                         });
  }
  for (;;) {
    HardwareThread& next = next_runner();
    boost::context::fiber& fiber = fibers_[static_cast<std::size_t>(next.index_)];
    fiber = resume_fiber(std::move(fiber));
    if (failure) std::rethrow_exception(failure);
  }
}

void Core::wait_turn() {
  if (only_ != nullptr) {
    next_runner_alone();
  } else {
    host_ = resume_fiber(std::move(host_));
  }
}

// next_runner() where there is nobody to choose among.
HardwareThread& Core::next_runner_alone() {
  HardwareThread& only = *only_;
  for (;;) {
    const Tick thread_time = only.status_ == HardwareThread::Status::ready ? only.now_ : kNever;
    Tick item = std::min(boundary_, unit_.next_fill());
    if (!only.store_buffer_.empty()) item = std::min(item, only.store_buffer_.next_drain());
    if (!only.interrupts_.empty()) item = std::min(item, only.next_interrupt());
    const Tick due = std::min(item, thread_time);
    if (due == kNever) {
      wait_for_turn(kNever);
      continue;
    }
    if (due >= spec_.end) {
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
      continue;
    }
    if (item <= thread_time) {
      run_item(item);
      continue;
    }
    only.limit_ = std::min({limit, item, spec_.end});
    const bool plain = only.store_buffer_.empty() && unit_.tap() == nullptr && footprint_ == nullptr;
    only.fast_limit_ = plain ? only.limit_ : 0;
    return only;
  }
}

HardwareThread& Core::next_runner() {
  if (only_ != nullptr) return next_runner_alone();
  for (;;) {
    HardwareThread* const next = earliest_ready();
    const Tick thread_time = next != nullptr ? next->now_ : kNever;
    const Tick item = next_item();
    const Tick due = std::min(item, thread_time);
    if (due != kNever && due >= spec_.end) {
      // What this core was asked for before may still be delivered until then.
      if (now() < spec_.end) {
        wait_for_turn(spec_.end);
        continue;
      }
      stopped_ = true;
      for (;;) wait_for_turn(kNever);
    }
    const Tick limit = due == kNever ? kNever : horizon();
    if (due < limit) {
      if (item <= thread_time) {
        run_item(item);
        continue;
      }
      next->limit_ = std::min({limit, item, spec_.end, sibling_limit(*next)});
      const bool plain = next->store_buffer_.empty() && unit_.tap() == nullptr && footprint_ == nullptr;
      next->fast_limit_ = plain ? next->limit_ : 0;
      return *next;
    }
    wait_for_turn(due);
  }
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
  resumer_ = resume_fiber(std::move(resumer_));
}

void Core::wake_at(Tick at) {
  act_at(std::max(at, now()));
}

// At equal times an operation that was put off goes before those that were wanted later: else it might wait for ever.
HardwareThread* Core::earliest_ready() const {
  const auto earlier = [](const HardwareThread& a, const HardwareThread& b) {
    return a.now_ != b.now_ ? a.now_ < b.now_ : a.first_issued_at() < b.first_issued_at();
  };
  HardwareThread* first = nullptr;
  for (const auto& cpu : threads_) {
    if (cpu->status_ == HardwareThread::Status::ready && (first == nullptr || earlier(*cpu, *first))) first = cpu.get();
  }
  return first;
}

// New operations of `cpu` may run before this time, and what it is to do now.
Tick Core::sibling_limit(const HardwareThread& cpu) const {
  Tick limit = kNever;
  for (const auto& other : threads_) {
    if (other.get() == &cpu || other->status_ != HardwareThread::Status::ready) continue;
    const bool first = cpu.index_ < other->index_ && other->first_issued_at() == other->now_;
    limit = std::min(limit, other->now_ + (first ? 1 : 0));
  }
  return std::max(limit, cpu.now_ + 1);
}

// In percent: what the one that takes most leaves.
int Core::issue_pct_beside_siblings(const HardwareThread& cpu) const {
  int pct = 100;
  for (const auto& other : threads_) {
    if (other.get() != &cpu) pct = std::min(pct, other->sibling_issue_pct(cpu.now_));
  }
  return pct;
}

Tick Core::next_item() const {
  Tick next = std::min(boundary_, unit_.next_fill());
  for (const auto& cpu : threads_) {
    if (!cpu->store_buffer_.empty()) next = std::min(next, cpu->store_buffer_.next_drain());
    if (!cpu->interrupts_.empty()) next = std::min(next, cpu->next_interrupt());
  }
  return next;
}

// At one time: the measured time begins, fills arrive, interrupts are accepted, stores drain; then threads run.
void Core::run_item(Tick at) {
  if (boundary_ == at) {
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
    if (!cpu->interrupts_.empty() && cpu->next_interrupt() == at) {
      cpu->accept_interrupt();
      return;
    }
  }
  for (const auto& cpu : threads_) {
    if (!cpu->store_buffer_.empty() && cpu->store_buffer_.next_drain() == at) {
      run_drain(*cpu, at);
      return;
    }
  }
}

void Core::run_drain(HardwareThread& cpu, Tick at) {
  before_access(at, kNoThread);
  StoreBuffer::Entry& entry = cpu.store_buffer_.due(at);
  const CacheUnit::Attempt attempt = unit_.attempt(entry.operation, at, {.thread = &cpu, .drain = entry.id});
  cpu.count(entry.operation, attempt);
  switch (attempt.outcome) {
    case CacheUnit::Outcome::done: drained(cpu, entry.id, at); break;
    case CacheUnit::Outcome::waits_for_fill: entry.in_flight = true; break;
    case CacheUnit::Outcome::try_again: entry.ready = kNever; break;
    case CacheUnit::Outcome::try_at: entry.ready = attempt.at; break;
  }
  after_access(at);
}

void Core::begin_measuring(Tick at) {
  boundary_ = kNever;
  unit_.reset_pair_prefetches();
  for (const auto& cpu : threads_) {
    if (cpu->status_ == HardwareThread::Status::parked) cpu->count_spins_until(at);
    cpu->begin_measuring();
  }
}

bool Core::ended() const {
  return stopped_ || std::all_of(threads_.begin(), threads_.end(),
                                 [](const auto& cpu) { return cpu->status_ == HardwareThread::Status::ended; });
}

std::int64_t Core::progress() const {
  std::int64_t count = 0;
  for (const auto& cpu : threads_) count += cpu->progress();
  return count;
}

bool Core::waits_for_time(Tick now) const {
  return std::any_of(threads_.begin(), threads_.end(),
                     [now](const auto& cpu) { return cpu->computes_at(now) || cpu->interrupts_.any_after(now); });
}

Tick Core::latest() const {
  Tick latest = 0;
  for (const auto& cpu : threads_) latest = std::max(latest, cpu->now_);
  return latest;
}

void Core::completed(HardwareThread& thread, Value result, Tick ends) {
  thread.result_ = result;
  thread.now_ = ends;
  thread.status_ = HardwareThread::Status::ready;
}

void Core::drained(HardwareThread& thread, int entry_id, Tick at) {
  if (StepListener* listener = unit_.listener(); listener != nullptr) [[unlikely]]
    listener->store_drained(at, thread.id(), thread.store_buffer_.operation(entry_id));
  thread.store_buffer_.remove(entry_id, at + spec_.cycle);
  thread.try_again(at);
}

void Core::loaded(HardwareThread& thread, OverlappedLoads& loads, std::size_t word, Value value, Tick ends) {
  loads.values[word] = value;
  loads.ends = std::max(loads.ends, ends);
  if (--loads.under_way > 0 || !loads.waits) return;
  thread.now_ = std::max(thread.now_, loads.ends);
  thread.status_ = HardwareThread::Status::ready;
}

void Core::try_again(Tick at, Source source) {
  for (const auto& cpu : threads_) {
    cpu->store_buffer_.try_again(align_up(at, spec_.cycle), source);
    cpu->waited_source_ = source;
    cpu->try_again(at);
  }
}

void Core::posted() {
  for (const auto& cpu : threads_) cpu->forget_limits();
}

void Core::report_miss(HardwareThread& thread, const Operation& operation, Source source, Tick at) {
  if (operation.kind == OperationKind::load)
    thread.missed_ = HardwareThread::OwnMiss{operation.address, source, operation.issued, at};
  const Miss miss{thread.id_,        operation.function, operation.access_kind(), source,
                  operation.address, operation.issued,   at - operation.issued};
  wiring_.observer->miss(miss);
  if (wiring_.timeline != nullptr) wiring_.timeline->miss(miss);
}

void Core::watched_line_changed(LineAddr line, Tick at) {
  for (const auto& cpu : threads_) {
    if (cpu->status_ == HardwareThread::Status::parked && cpu->spin_.watches(line)) {
      cpu->resume_spin(at + (cpu->index_ < actor_ ? 1 : 0));
    }
  }
}

void Core::after_access(Tick at) {
  if (parked_ > 0) {
    for (const auto& cpu : threads_) {
      if (cpu->status_ != HardwareThread::Status::parked || cpu->spin_.is_on_nearest()) continue;
      cpu->resume_spin(at + (cpu->index_ < actor_ ? 1 : 0));
    }
  }
  actor_ = kNoThread;
}

void Core::rewatch() {
  if (threads_.size() == 1) return;
  for (const auto& cpu : threads_) {
    if (cpu->status_ != HardwareThread::Status::parked) continue;
    cpu->spin_.rewatch();
  }
}

void Core::before_access(Tick at, int actor) {
  actor_ = actor;
  if (parked_ == 0) return;
  for (const auto& cpu : threads_) {
    // At equal times, threads with smaller numbers come first.
    if (cpu->status_ == HardwareThread::Status::parked) cpu->count_spins_until(at + (cpu->index_ < actor ? 1 : 0));
  }
}

void Core::finish_measuring(Tick end) {
  for (const auto& cpu : threads_) {
    if (cpu->status_ == HardwareThread::Status::ended) continue;
    if (cpu->status_ == HardwareThread::Status::parked) cpu->count_spins_until(end);
    cpu->now_ = std::max(cpu->now_, end);
    if (cpu->status_ == HardwareThread::Status::asleep) {
      cpu->account_sleep();
    } else {
      cpu->account_time();
    }
  }
}

std::string Core::describe() const {
  static constexpr const char* kNames[] = {
      "ready", "waits for a line", "waits to try again", "spins on a line that nobody changes", "sleeps", "has ended"};
  std::string text;
  for (const auto& cpu : threads_) {
    text += fmt::format("  CPU {}: {} since tick {}", cpu->id_.value, kNames[static_cast<int>(cpu->status_)], cpu->now_);
    if (cpu->status_ == HardwareThread::Status::parked) {
      for (const Address word : cpu->spin_.words()) text += fmt::format(", 0x{:x}", word);
    }
    text += "\n";
  }
  return text;
}

}  // namespace linebounce
