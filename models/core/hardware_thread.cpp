#include "models/core/hardware_thread.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "models/core/core.hpp"
#include "models/core/footprint.hpp"

namespace linebounce {

HardwareThread::HardwareThread(Core& core, CacheUnit& unit, Footprint* footprint, const CoreSpec& spec, CpuId id,
                               int index_in_core)
    : core_(&core),
      unit_(&unit),
      agent_(&unit.caches()),
      footprint_(footprint),
      spec_(&spec),
      id_(id),
      index_(index_in_core),
      nearest_latency_(spec.hit_latency.front()),
      cycle_(spec.cycle),
      alone_(unit.serves_one_thread()),
      store_buffer_(spec.store_buffer_entries, spec.consistency != Consistency::ia64),
      spin_(unit, spec.hit_latency.front()) {
  counters_.by_function.resize(1);
  counters_.time_in_function.resize(1);
  if (footprint_ != nullptr) counters_.footprint.resize(1);
  function_counters_ = &counters_.by_function.front();
}

inline void HardwareThread::count_hit(AccessKind kind, Tick latency, int level) {
  ++function_counters_->hits[static_cast<std::size_t>(level)][static_cast<std::size_t>(kind)];
  ++function_counters_->instructions;
  now_ += latency;
  slots_ = 0;
}

inline Value HardwareThread::run_load(Copy& copy, Address address, int bytes, Tick latency, int level) {
  unit_->use(copy, now_);
  count_hit(AccessKind::load, latency, level);
  return read_word(agent_->word(copy, address), bytes);
}

inline void HardwareThread::run_store(Copy& copy, Address address, Value value, int bytes, Tick at, int level) {
  unit_->use(copy, at);
  count_hit(AccessKind::store, cycle_, level);
  agent_->write(copy, address, value, bytes);
}

Value HardwareThread::load(Address address, int bytes) {
  if (now_ < fast_limit_) [[likely]] {
    if (Copy* copy = agent_->hit_last_place(address, kReadAccess, now_)) [[likely]]
      return run_load(*copy, address, bytes, nearest_latency_);
  }
  return load_slow(address, bytes);
}

Value HardwareThread::load_slow(Address address, int bytes) {
  if (prepare_fast_path()) {
    if (Copy* copy = agent_->hit(address, kReadAccess, now_)) return run_load(*copy, address, bytes, nearest_latency_);
    int level = 0;
    if (Copy* copy = alone_ ? unit_->bring_near(address, kReadAccess, now_, level) : nullptr)
      return run_load(*copy, address, bytes, spec_->hit_latency[static_cast<std::size_t>(level)], level);
  }
  return perform({.kind = OperationKind::load, .bytes = static_cast<std::uint8_t>(bytes), .address = address});
}

void HardwareThread::store(Address address, Value value, int bytes) {
  if (now_ < fast_limit_) [[likely]] {
    if (Copy* copy = agent_->hit_last_place(address, kWriteAccess, now_)) [[likely]]
      return run_store(*copy, address, value, bytes, now_);
  }
  store_slow(address, value, bytes);
}

void HardwareThread::store_slow(Address address, Value value, int bytes) {
  if (prepare_fast_path()) {
    if (Copy* copy = agent_->hit(address, kWriteAccess, now_)) return run_store(*copy, address, value, bytes, now_);
    // It would enter the store buffer, which is empty, only to leave it a cycle later: before whatever comes next.
    const Tick drained = now_ + cycle_;
    int level = 0;
    if (alone_ && spec_->consistency != Consistency::sc && drained < fast_limit_) {
      if (Copy* copy = unit_->bring_near(address, kWriteAccess, drained, level))
        return run_store(*copy, address, value, bytes, drained, level);
    }
  }
  perform({.kind = OperationKind::store, .bytes = static_cast<std::uint8_t>(bytes), .address = address, .operand = value});
}

// Waits for the thread's turn where nothing but the turn keeps it from the short path of a hit.
bool HardwareThread::prepare_fast_path() {
  if (now_ < fast_limit_) return true;
  if (tap() != nullptr || footprint_ != nullptr || !store_buffer_.empty()) return false;
  wait_turn();
  return now_ < fast_limit_;
}

void HardwareThread::store_release(Address address, Value value, int bytes) {
  const Operation operation{
      .kind = OperationKind::store, .bytes = static_cast<std::uint8_t>(bytes), .address = address, .operand = value};
  perform(operation, true);
}

Cpu::Pair HardwareThread::load_pair(Word first, Word second) {
  const LineStore& store = agent_->store();
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::pair});
  missed_.reset();
  Pair pair;
  pair.first = load(first.address, first.bytes);
  const std::optional<OwnMiss> miss = std::exchange(missed_, std::nullopt);
  pair.second = load(second.address, second.bytes);
  // An interrupt may have come before or between, or another CPU have taken the line: then the second load stands for itself.
  if (!miss || missed_ || miss->address != first.address) return pair;
  if (store.line_of(first.address) != store.line_of(second.address)) return pair;
  --function_counters_->hits[0][static_cast<std::size_t>(AccessKind::load)];
  ++function_counters_->misses;
  const Operation merged{.kind = OperationKind::load,
                         .bytes = static_cast<std::uint8_t>(second.bytes),
                         .function = function_,
                         .address = second.address,
                         .issued = miss->issued};
  core_->report_miss(*this, merged, miss->source, miss->at);
  return pair;
}

// What cannot be issued at once, for want of room or because its line is under way, is passed by and tried again when something
// has changed.
void HardwareThread::load_all(std::span<const Word> words, std::span<Value> values) {
  OverlappedLoads loads{.values = values};
  std::vector<std::pair<std::size_t, Operation>> deferred;
  for (std::size_t word = 0; word < words.size(); ++word) {
    Operation operation{.kind = OperationKind::load,
                        .bytes = static_cast<std::uint8_t>(words[word].bytes),
                        .function = function_,
                        .address = words[word].address};
    if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::memory, .operation = operation});
    if (footprint_ != nullptr) fetch_and_translate(operation.address);
    if (!issue_load(operation, word, loads)) deferred.emplace_back(word, operation);
  }
  while (!deferred.empty()) {
    // A change that came while others were issued is over: only when all have failed at one time can it wait for the next.
    const Tick tried_at = now_;
    const auto issued = [this, &loads](auto& load) { return issue_load(load.second, load.first, loads); };
    if (std::erase_if(deferred, issued) > 0 || now_ != tried_at) continue;
    put_off_since_ = deferred.front().second.issued;
    suspend(Status::waiting);
    for (auto& load : deferred) load.second.waited_for = waited_source_;
  }
  if (loads.under_way > 0) {
    loads.waits = true;
    suspend(Status::blocked);
  }
  now_ = std::max(now_, loads.ends);
}

// True if it is done or under way.
bool HardwareThread::issue_load(Operation& operation, std::size_t word, OverlappedLoads& loads) {
  for (;;) {
    now_ = std::max(now_, loads.next_issue);
    wait_turn();
    slots_ = 0;
    Value value = 0;
    if (load_from_buffer(operation, value)) {
      put_off_since_ = kNever;
      loads.values[word] = value;
      loads.ends = std::max(loads.ends, now_);
      now_ -= nearest_latency_;
      loads.next_issue = now_ + cycle_;
      return true;
    }
    core_->before_access(now_, first_issued_at() < now_ ? Core::kNoThread : index_);
    const CacheUnit::Attempt attempt = unit_->attempt(operation, now_, {.thread = this, .overlapped = &loads, .word = word});
    core_->after_access(now_);
    count(operation, attempt);
    if (std::exchange(put_off_since_, kNever) != kNever) forget_limits();
    if (attempt.outcome == CacheUnit::Outcome::try_again) return false;
    if (attempt.outcome == CacheUnit::Outcome::try_at) {
      put_off_since_ = operation.issued;
      now_ = attempt.at;
      continue;
    }
    ++function_counters_->instructions;
    loads.next_issue = now_ + cycle_;
    if (attempt.outcome == CacheUnit::Outcome::waits_for_fill) {
      ++loads.under_way;
    } else {
      loads.values[word] = attempt.value;
      loads.ends = std::max(loads.ends, attempt.at);
    }
    return true;
  }
}

Value HardwareThread::exchange(Address address, Value value, int bytes) {
  return perform(
      {.kind = OperationKind::exchange, .bytes = static_cast<std::uint8_t>(bytes), .address = address, .operand = value});
}

Value HardwareThread::fetch_add(Address address, Value addend, int bytes) {
  return perform(
      {.kind = OperationKind::fetch_add, .bytes = static_cast<std::uint8_t>(bytes), .address = address, .operand = addend});
}

Value HardwareThread::compare_exchange(Address address, Value expected, Value desired, int bytes) {
  return perform({.kind = OperationKind::compare_exchange,
                  .bytes = static_cast<std::uint8_t>(bytes),
                  .address = address,
                  .operand = desired,
                  .expected = expected});
}

void HardwareThread::write_adding(OperationKind kind, Address address, Value addend, int bytes, bool release) {
  // What a load is forwarded: no count comes so far.
  const Value forwarded = addend == 0 ? 0 : Value{1} << 63;
  perform({.kind = kind,
           .bytes = static_cast<std::uint8_t>(bytes),
           .adds = true,
           .address = address,
           .operand = forwarded,
           .expected = addend},
          release);
}

Value HardwareThread::perform(Operation operation, bool release) {
  operation.function = function_;
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::memory, .operation = operation, .release = release});
  if (footprint_ != nullptr && !operation.in_spin) fetch_and_translate(operation.address);
  for (;;) {
    wait_turn();
    slots_ = 0;
    Value value = 0;
    const bool buffered = (operation.kind == OperationKind::load && load_from_buffer(operation, value)) ||
                          (operation.kind == OperationKind::store && buffer_store(operation, release));
    if (buffered) {
      put_off_since_ = kNever;
      return value;
    }
    if (operation.access_kind() == AccessKind::atomic && !store_buffer_.empty()) {
      prefetch_ownership(operation);
      wait_until_drained();
      continue;
    }
    core_->before_access(now_, first_issued_at() < now_ ? Core::kNoThread : index_);
    const CacheUnit::Attempt attempt = unit_->attempt(operation, now_, {.thread = this});
    core_->after_access(now_);
    count(operation, attempt);
    const bool was_put_off = std::exchange(put_off_since_, kNever) != kNever;
    if (was_put_off) forget_limits();  // it may have gone before siblings that come before a new one
    switch (attempt.outcome) {
      case CacheUnit::Outcome::done:
        ++function_counters_->instructions;
        now_ = attempt.at;
        return attempt.value;
      case CacheUnit::Outcome::waits_for_fill:
        ++function_counters_->instructions;
        suspend(Status::blocked);
        return result_;
      case CacheUnit::Outcome::try_again:
        put_off_since_ = operation.issued;
        suspend(Status::waiting);
        operation.waited_for = waited_source_;
        break;
      case CacheUnit::Outcome::try_at:
        put_off_since_ = operation.issued;
        now_ = attempt.at;
        break;
    }
  }
}

// A hit of its level, or a miss: also one that another operation's request served.
void HardwareThread::count(const Operation& operation, const CacheUnit::Attempt& attempt) {
  FunctionCounters& counters = counters_.by_function[operation.function];
  const bool done = attempt.outcome == CacheUnit::Outcome::done;
  if (attempt.outcome == CacheUnit::Outcome::waits_for_fill || (done && operation.waited)) {
    ++counters.misses;
  } else if (done) {
    ++counters.hits[static_cast<std::size_t>(attempt.level)][static_cast<std::size_t>(operation.access_kind())];
  }
}

// True if the load was served from, or had to wait for, the store buffer and is done.
bool HardwareThread::load_from_buffer(const Operation& operation, Value& value) {
  for (;;) {
    if (store_buffer_.empty()) return false;
    const StoreBuffer::Forward forward = store_buffer_.forward(operation.address, operation.bytes);
    if (forward.value) {
      if (tap() != nullptr) tap()->forwarded(*this, operation.address);
      value = *forward.value;
      if (StepListener* listener = unit_->listener(); listener != nullptr) [[unlikely]]
        listener->load_forwarded(now_, id_, operation, value);
      ++function_counters_->instructions;
      ++function_counters_->hits[0][static_cast<std::size_t>(AccessKind::load)];
      now_ += nearest_latency_;
      return true;
    }
    if (!forward.wait) return false;
    suspend(Status::waiting);
  }
}

// True if the store has gone into the store buffer. A store that nothing delays goes to the cache directly: the buffer would
// let it through at once.
bool HardwareThread::buffer_store(const Operation& operation, bool release) {
  if (spec_->consistency == Consistency::sc) return false;
  if (store_buffer_.empty()) {
    unit_->expire_locks(now_);
    const CacheAgent::Lookup found = agent_->look_up(operation.address);
    if (found.level == 0 && found.copy != nullptr && !found.copy->locked &&
        agent_->table().states[found.copy->state].writable) {
      return false;
    }
  }
  while (store_buffer_.full()) suspend(Status::waiting);
  if (store_buffer_.must_drain_before(release)) prefetch_ownership(operation);
  ++function_counters_->instructions;
  if (StepListener* listener = unit_->listener(); listener != nullptr) [[unlikely]]
    listener->store_buffered(now_, id_, operation);
  now_ += cycle_;
  store_buffer_.push(operation, release, now_);
  fast_limit_ = 0;
  limit_ = 0;  // the drain is due before whatever comes next
  return true;
}

// For an operation that has to wait until earlier stores have drained.
void HardwareThread::prefetch_ownership(const Operation& operation) {
  if (!spec_->ownership_prefetch) return;
  core_->before_access(now_, index_);
  unit_->prefetch_ownership(operation, now_, *this);
  core_->after_access(now_);
}

void HardwareThread::fence() {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::fence});
  wait_turn();
  wait_until_drained();
  ++function_counters_->instructions;
  slots_ = 0;
  now_ += spec_->fence_latency;
}

void HardwareThread::store_fence() {
  if (spec_->consistency == Consistency::ia64) fence();
}

void HardwareThread::wait_until_drained() {
  while (!store_buffer_.empty()) suspend(Status::waiting);
}

void HardwareThread::prefetch(Address address, Access access) {
  if (tap() != nullptr) {
    const OperationKind kind = access == kReadAccess ? OperationKind::load : OperationKind::store;
    tap()->called(*this, {.what = ProgramCall::What::prefetch, .operation = {.kind = kind, .address = address}});
  }
  wait_turn();
  slots_ = 0;
  core_->before_access(now_, index_);
  unit_->prefetch(address, access, now_, *this);
  core_->after_access(now_);
  ++function_counters_->instructions;
  now_ += cycle_;
}

void HardwareThread::execute(std::int64_t instructions) {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::execute, .amount = instructions});
  function_counters_->instructions += instructions;
  slots_ += instructions;
  const std::int64_t cycles = slots_ / spec_->issue_per_cycle;
  slots_ %= spec_->issue_per_cycle;
  pass(cycles, instructions);
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

void HardwareThread::compute(std::int64_t cycles) {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::compute, .amount = cycles});
  slots_ = 0;
  ++computed_;
  pass(cycles, cycles * spec_->issue_per_cycle);
}

// A computation's speed is decided when it begins. What siblings do then is known once it is this thread's turn.
void HardwareThread::pass(std::int64_t cycles, std::int64_t instructions) {
  const Tick fetching = footprint_ != nullptr ? fetch_code(instructions) : 0;
  if (core_->threads() > 1 && spec_->shares_issue_slots()) {
    wait_turn();
    const int pct = core_->issue_pct_beside_siblings(*this);
    cycles = (cycles * 100 + pct - 1) / pct;
  }
  wait_for(cycles * cycle_ + fetching);
  // A loop that only computes would never end. Not at once: what a program does between two computations happens with the first
  // of them, as an interrupt between them sees it, wherever the run ends.
  if (now_ >= spec_->end && ++computed_past_end_ > kMostPastEnd) wait_turn();
}

// A spin that waits for its word's line takes no slots, like any load that does. Parked or not, it is the same.
int HardwareThread::sibling_issue_pct(Tick at) const {
  if (takes_issue_slots(at)) return spec_->shared_issue_pct;
  const bool looks = spin_.active() && (status_ == Status::ready || status_ == Status::parked);
  if (!looks) return 100;
  return spin_.loop() == Loop::tight ? spec_->spinning_sibling_pct : spec_->pausing_sibling_pct;
}

// What siblings have pushed out by now is known once it is this thread's turn.
Tick HardwareThread::fetch_code(std::int64_t instructions) {
  wait_turn();
  return footprint_->fetch(index_, function_, instructions, counters_.footprint[function_]);
}

// Before a memory operation: its own instruction, then its address.
void HardwareThread::fetch_and_translate(Address address) {
  now_ += fetch_code(1);
  wait_turn();
  now_ += footprint_->translate(address, counters_.footprint[function_]);
}

void HardwareThread::wait_for(Tick ticks) {
  if (idle_to_ != now_) idle_from_ = now_;
  now_ += ticks;
  idle_to_ = now_;
}

Tick HardwareThread::now() {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::clock});
  wait_turn();
  return now_;
}

Tick HardwareThread::measured(Tick from, Tick to) const {
  return std::max<Tick>(0, std::min(to, spec_->end) - std::max(from, spec_->warmup_end));
}

void HardwareThread::wait_turn() {
  while (status_ != Status::ready || now_ >= limit_) {
    core_->wait_turn();
    if (interrupts_.handler_due()) run_handler();
  }
}

void HardwareThread::suspend(Status status) {
  status_ = status;
  wait_turn();
}

void HardwareThread::try_again(Tick at) {
  if (status_ != Status::waiting) return;
  now_ = std::max(now_, align_up(at, cycle_));
  status_ = Status::ready;
}

std::int64_t HardwareThread::progress() const {
  std::int64_t operations = counted_before_measuring_ - spin_loads_ + computed_;
  for (const FunctionCounters& function : counters_.by_function) operations += function.instructions;
  return operations;
}

// A spin's pause is no computation.
bool HardwareThread::computes_at(Tick time) const {
  return status_ == Status::ready && idle_to_ == now_ && time < idle_to_ && !spin_.active();
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
  idle_to_ = -1;  // an interrupt does not reach back into the caller
  function_counters_ = &counters_.by_function[function];
  return std::exchange(function_, function);
}

void HardwareThread::account_time() {
  counters_.time_in_function[function_] += measured(function_since_, now_);
  if (timeline() != nullptr) timeline()->function(id_, function_, function_since_, now_);
  function_since_ = now_;
}

Timeline* HardwareThread::timeline() const {
  return core_->wiring_.timeline;
}

void HardwareThread::account_sleep() {
  counters_.asleep += measured(function_since_, now_);
  if (timeline() != nullptr) timeline()->sleep(id_, function_since_, now_);
  function_since_ = now_;
}

void HardwareThread::begin_measuring() {
  for (FunctionCounters& counters : counters_.by_function) {
    counted_before_measuring_ += counters.instructions;
    counters = {};
  }
  std::fill(counters_.footprint.begin(), counters_.footprint.end(), FootprintMisses{});
}

void HardwareThread::tally(int which, std::int64_t count) {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::tally, .which = which, .amount = count});
  if (measures(now_)) tallies_[static_cast<std::size_t>(which)] += count;
}

}  // namespace linebounce
