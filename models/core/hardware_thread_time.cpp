// How a hardware thread waits, computes, keeps its local time, and counts time and instructions by function.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/core/footprint.hpp"
#include "models/core/hardware_thread.hpp"
#include "models/failure.hpp"
#include "models/timeline.hpp"

namespace linebounce {

void HardwareThread::wait_turn() {
  while (status_ != Status::ready || now_ >= limit_) {
    owner_->wait_turn();
    if (interrupts_.handler_due()) run_handler();
  }
}

void HardwareThread::suspend(Status status) {
  status_ = status;
  wait_turn();
}

void HardwareThread::wait_for_change(TimePart part) {
  waits_for_ = part;
  suspend(Status::waiting);
}

void HardwareThread::make_ready(Tick at, Source source) {
  const Tick ready = std::max(now_, align_up(at, cycle_));
  charge(waits_for_ == kForFill ? part_of(source) : waits_for_, now_, ready);
  now_ = ready;
  status_ = Status::ready;
}

void HardwareThread::retry(Tick at, Source source) {
  store_buffer_.retry(align_up(at, cycle_), source);
  retry_source_ = source;
  stop_waiting(at, source);
}

void HardwareThread::execute(std::int64_t instructions) {
  require_countable("execute", instructions);
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::execute, .amount = instructions});
  function_counters_->instructions += instructions;
  slots_ += instructions;
  const std::int64_t cycles = slots_ / spec_->issue_per_cycle;
  slots_ %= spec_->issue_per_cycle;
  run_computation(cycles, instructions);
}

void HardwareThread::compute(std::int64_t cycles) {
  require_countable("compute", cycles);
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::compute, .amount = cycles});
  slots_ = 0;
  ++computations_;
  run_computation(cycles, cycles * spec_->issue_per_cycle);
}

void HardwareThread::refuse_uncountable(const char* what, std::int64_t amount) const {
  throw ModelFailure(fmt::format("CPU {}: {} of {}: 0 or more are legal, as far as ticks and tallies can be counted in 63 bits",
                                 id_.value, what, amount));
}

// The speed of a computation depends on what the siblings do at its start. The thread therefore first waits until they have
// run up to that time.
void HardwareThread::run_computation(std::int64_t cycles, std::int64_t instructions) {
  const Tick fetching = footprint_ != nullptr ? fetch_code(instructions) : 0;
  if (fetching > 0) charge(TimePart::footprint, now_, now_ + fetching);
  if (!alone_ && spec_->shares_issue_slots()) {
    wait_turn();
    const int pct = owner_->issue_pct_beside_siblings(*this);
    cycles = (cycles * 100 + pct - 1) / pct;
  }
  advance_interruptibly(cycles * cycle_ + fetching);
  // Stops a program that only computes, and so never waits for the core. The program may begin many computations after the
  // run's end, because the code that follows the one that crosses the end must still run.
  if (now_ >= computing_end_) [[unlikely]]
    compute_past_end(cycles);
}

void HardwareThread::compute_past_end(std::int64_t cycles) {
  if (now_ > kLastCountable) refuse_uncountable("compute", cycles);
  if (now_ >= spec_->end && ++computations_past_end_ > kMaxComputationsPastEnd) wait_turn();
}

void HardwareThread::advance_interruptibly(Tick ticks) {
  if (computing_until_ != now_) computing_from_ = now_;
  now_ += ticks;
  computing_until_ = now_;
}

// True if the thread is in a computation at `time`. A spin's pause is not a computation.
bool HardwareThread::computes_at(Tick time) const {
  return status_ == Status::ready && computing_until_ == now_ && time < computing_until_ && !spin_.active();
}

// Like any load, a spin that waits for a line takes no issue slots. Parked and running spins count alike.
int HardwareThread::sibling_issue_pct(Tick at) const {
  if (takes_issue_slots(at)) return spec_->shared_issue_pct;
  const bool polls = spin_.active() && (status_ == Status::ready || status_ == Status::parked);
  if (!polls) return 100;
  return spin_.loop() == Loop::tight ? spec_->spinning_sibling_pct : spec_->pausing_sibling_pct;
}

// Siblings share the instruction cache and the TLB, so the thread first waits until their earlier lookups have run.
Tick HardwareThread::fetch_code(std::int64_t instructions) {
  wait_turn();
  return footprint_->fetch(index_, function_, instructions, counters_.footprint[function_]);
}

void HardwareThread::fetch_and_translate(Address address) {
  const auto stall = [this](Tick ticks) {
    charge(TimePart::footprint, now_, now_ + ticks);
    now_ += ticks;
  };
  stall(fetch_code(1));
  wait_turn();
  stall(footprint_->translate(address, counters_.footprint[function_]));
}

void HardwareThread::invalidate_pages(Address first, std::int64_t pages) {
  const bool all = pages > spec_->tlb_flush_ceiling_pages;
  compute(all ? spec_->tlb_flush_cycles : pages * spec_->page_invalidation_cycles);
  if (footprint_ == nullptr) return;
  wait_turn();
  if (all) {
    footprint_->drop_all_pages();
  } else {
    footprint_->drop_pages(first, pages);
  }
}

Tick HardwareThread::now() {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::clock});
  wait_turn();
  return now_;
}

FunctionId HardwareThread::enter_function(FunctionId function) {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::enter, .which = function});
  if (footprint_ != nullptr) footprint_->enter(index_, function);
  return change_function(function);
}

void HardwareThread::leave_function(FunctionId caller) {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::leave});
  change_function(caller);
}

FunctionId HardwareThread::change_function(FunctionId function) {
  account_time();
  computing_until_ = -1;  // an interrupt can no longer split the caller's computation
  function_counters_ = &counters_.by_function[function];
  waits_ = &counters_.waits[function];
  return std::exchange(function_, function);
}

void HardwareThread::account_time() {
  counters_.time_in_function[function_] += measured(function_since_, now_);
  if (timeline_ != nullptr) timeline_->function(id_, function_, function_since_, now_);
  function_since_ = now_;
}

void HardwareThread::account_sleep() {
  charge(TimePart::sleep, function_since_, now_);
  if (timeline_ != nullptr) timeline_->sleep(id_, function_since_, now_);
  function_since_ = now_;
}

void HardwareThread::tally(int which, std::int64_t count) {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::tally, .which = which, .amount = count});
  if (!measures(now_)) return;
  if (count < 0 || __builtin_add_overflow(tallies_[which], count, &tallies_[which])) refuse_uncountable("a tally", count);
}

void HardwareThread::set_functions(std::size_t count) {
  if (footprint_ != nullptr) counters_.footprint.resize(count);
  counters_.by_function.resize(count);
  counters_.time_in_function.resize(count);
  counters_.waits.resize(count);
  function_counters_ = &counters_.by_function[function_];
  waits_ = &counters_.waits[function_];
}

void HardwareThread::end_program() {
  account_time();
  status_ = Status::ended;
}

void HardwareThread::begin_measuring(Tick at) {
  if (parked()) count_spins_until(at);
  for (FunctionCounters& counters : counters_.by_function) {
    warmup_instructions_ += counters.instructions;
    counters = {};
  }
  hits_before_spin_ = {};
  std::fill(counters_.footprint.begin(), counters_.footprint.end(), FootprintMisses{});
}

void HardwareThread::finish_measuring(Tick end) {
  if (ended()) return;
  if (parked()) count_spins_until(end);
  charge_open_wait(std::max(now_, end));
  now_ = std::max(now_, end);
  if (status_ == Status::asleep) {
    account_sleep();
  } else {
    account_time();
  }
}

// Charges a wait that is still open at the end of the measured time. The source of a miss that is under way is not known yet,
// so the source of the thread's latest miss gets the time.
void HardwareThread::charge_open_wait(Tick end) {
  if (spinning_since_ != kNever) {
    charge_spin_until(end);
  } else if (status_ == Status::blocked || (status_ == Status::waiting && waits_for_ == kForFill)) {
    charge(part_of(last_source_), now_, end);
  } else if (status_ == Status::waiting) {
    charge(waits_for_, now_, end);
  }
}

void HardwareThread::charge_spin_from(Tick since) {
  spinning_since_ = since;
  const FunctionCounters& counters = *function_counters_;
  for (std::size_t level = 0; level < spec_->hit_latency.size(); ++level)
    hits_before_spin_[level] = counters.hits[level][ordinal(AccessKind::load)] - counters.hidden[level];
}

void HardwareThread::charge_spin_until(Tick until) {
  FunctionCounters& counters = *function_counters_;
  for (std::size_t level = 0; level < spec_->hit_latency.size(); ++level)
    counters.hidden[level] = counters.hits[level][ordinal(AccessKind::load)] - hits_before_spin_[level];
  charge(TimePart::spin, std::exchange(spinning_since_, kNever), until);
}

std::int64_t HardwareThread::progress() const {
  std::int64_t operations = warmup_instructions_ - spin_instructions_ + computations_;
  for (const FunctionCounters& function : counters_.by_function) operations += function.instructions;
  return operations;
}

std::string HardwareThread::describe() const {
  static constexpr const char* kNames[] = {
      "ready", "waits for a line", "waits to try again", "spins on a line that nobody changes", "sleeps", "has ended"};
  std::string text = fmt::format("  CPU {}: {} since tick {}", id_.value, kNames[static_cast<int>(status_)], now_);
  for (const Address word : awaited_words()) text += fmt::format(", 0x{:x}", word);
  return text + "\n";
}

}  // namespace linebounce
