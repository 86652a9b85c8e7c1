// A hardware thread's memory operations.
#include "models/core/hardware_thread.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "models/reached.hpp"
#include "models/timeline.hpp"

namespace linebounce {

namespace {

// run_computation() multiplies cycles by up to 100, and adds the ticks that result to the local time, which may be half of a
// Tick's range. The limit on cycles keeps these ticks below a quarter of the range.
constexpr Tick kScaled = 4 * 100;

Operation operation_on(OperationKind kind, Address address, int bytes, Value operand = 0, Value expected = 0) {
  return {
      .kind = kind, .bytes = static_cast<std::uint8_t>(bytes), .address = address, .operand = operand, .expected = expected};
}

}  // namespace

HardwareThread::HardwareThread(const Wiring& wiring, CpuId id, int index_in_core)
    : owner_(wiring.owner),
      unit_(wiring.unit),
      agent_(&wiring.unit->caches()),
      footprint_(wiring.footprint),
      spec_(wiring.spec),
      observer_(wiring.observer),
      id_(id),
      index_(index_in_core),
      nearest_latency_(spec_->hit_latency.front()),
      cycle_(spec_->cycle),
      alone_(wiring.alone),
      store_buffer_(spec_->store_buffer_entries, spec_->consistency != Consistency::ia64),
      computing_end_(std::min(spec_->end, kLastCountable)),
      most_cycles_(static_cast<std::uint64_t>(kNever / kScaled / std::max<Tick>(spec_->cycle, spec_->issue_per_cycle))),
      spin_(*unit_, nearest_latency_) {
  set_functions(1);
}

inline void HardwareThread::count_hit(AccessKind kind, Tick latency, int level) {
  ++function_counters_->hits_of(level, kind);
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

// Counts an operation. One that waited for another operation's fill counts as a miss, although it hits in the end.
inline void HardwareThread::count(const Operation& operation, const CacheUnit::Attempt& attempt) {
  FunctionCounters& counters = counters_.by_function[operation.function];
  const bool done = attempt.outcome == CacheUnit::Outcome::done;
  if (attempt.outcome == CacheUnit::Outcome::waits_for_fill || (done && operation.waited)) {
    ++counters.misses;
  } else if (done) {
    ++counters.hits_of(attempt.level, operation.access_kind());
  }
}

inline CacheUnit::Attempt HardwareThread::attempt(Operation& operation, Tick at, int actor,
                                                  const CacheUnit::Requester& requester) {
  before_access(at, actor);
  const CacheUnit::Attempt tried = unit_->attempt(operation, at, requester);
  after_access(at);
  count(operation, tried);
  return tried;
}

Value HardwareThread::load(Address address, int bytes) {
  if (now_ < fast_limit_) [[likely]] {
    if (Copy* copy = agent_->hit_last_place(address, kReadAccess, now_)) [[likely]]
      return run_load(*copy, address, bytes, nearest_latency_);
  }
  return load_slow(address, bytes);
}

Value HardwareThread::load_slow(Address address, int bytes) {
  if (wait_for_fast_path()) {
    if (alone_) {
      const CacheAgent::Lookup hit = unit_->hit_any_level(address, kReadAccess, now_, now_);
      if (hit.copy != nullptr) return run_load(*hit.copy, address, bytes, spec_->hit_latency[hit.level], hit.level);
    } else if (Copy* copy = agent_->hit(address, kReadAccess, now_)) {
      return run_load(*copy, address, bytes, nearest_latency_);
    }
  }
  return perform(operation_on(OperationKind::load, address, bytes));
}

void HardwareThread::store(Address address, Value value, int bytes) {
  if (now_ < fast_limit_) [[likely]] {
    if (Copy* copy = agent_->hit_last_place(address, kWriteAccess, now_)) [[likely]]
      return run_store(*copy, address, value, bytes, now_);
  }
  store_slow(address, value, bytes);
}

void HardwareThread::store_slow(Address address, Value value, int bytes) {
  if (wait_for_fast_path()) {
    if (alone_) {
      // An empty store buffer would drain the store one cycle later, before any other operation. Run that drain here.
      const Tick drained = now_ + cycle_;
      const bool drains_here = spec_->consistency != Consistency::sc && drained < fast_limit_;
      const CacheAgent::Lookup hit = unit_->hit_any_level(address, kWriteAccess, now_, drains_here ? drained : kNever);
      if (hit.copy != nullptr) return run_store(*hit.copy, address, value, bytes, hit.level == 0 ? now_ : drained, hit.level);
    } else if (Copy* copy = agent_->hit(address, kWriteAccess, now_)) {
      return run_store(*copy, address, value, bytes, now_);
    }
  }
  perform(operation_on(OperationKind::store, address, bytes, value));
}

// Returns true if the fast path is open at now_. If only the limit closes it, first waits for a new limit.
bool HardwareThread::wait_for_fast_path() {
  if (now_ < fast_limit_) return true;
  if (!fast_path_open()) return false;
  wait_turn();
  return now_ < fast_limit_;
}

void HardwareThread::store_release(Address address, Value value, int bytes) {
  perform(operation_on(OperationKind::store, address, bytes, value), true);
}

Cpu::Pair HardwareThread::load_pair(Word first, Word second) {
  const LineStore& store = agent_->store();
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::pair});
  last_load_miss_.reset();
  // Already true if an interrupt handler calls load_pair() within another load_pair()
  const bool outer = std::exchange(pairs_loads_, true);
  Pair pair;
  pair.first = load(first.address, first.bytes);
  const std::optional<LoadMiss> miss = std::exchange(last_load_miss_, std::nullopt);
  pair.second = load(second.address, second.bytes);
  pairs_loads_ = outer;
  // The second load is recounted as a miss only if it hit the line that the first load fetched. An interrupt handler may have
  // run before or between the loads, or another CPU may have taken the line.
  if (!miss || last_load_miss_ || miss->address != first.address) return pair;
  if (store.line_of(first.address) != store.line_of(second.address)) return pair;
  --function_counters_->hits_of(0, AccessKind::load);
  ++function_counters_->misses;
  charge(TimePart::l1, now_ - nearest_latency_, now_);
  Operation merged = operation_on(OperationKind::load, second.address, second.bytes);
  merged.function = function_;
  merged.issued = miss->issued;
  report_miss(merged, miss->source, miss->at, miss->waits);
  return pair;
}

// Defers loads that can't be issued yet, for lack of an MSHR or because their line is being fetched, and retries them after
// each fill.
void HardwareThread::load_all(std::span<const Word> words, std::span<Value> values) {
  OverlappedLoads loads{.values = values};
  std::vector<std::pair<std::size_t, Operation>> deferred;
  for (std::size_t word = 0; word < words.size(); ++word) {
    Operation operation = operation_on(OperationKind::load, words[word].address, words[word].bytes);
    operation.function = function_;
    if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::memory, .operation = operation});
    if (footprint_ != nullptr) fetch_and_translate(operation.address);
    if (!issue_load(operation, word, loads)) deferred.emplace_back(word, operation);
  }
  while (!deferred.empty()) {
    // A fill may arrive unnoticed while the thread issues other loads. So the thread waits only if a whole round over the
    // deferred loads takes no time and issues none.
    const Tick tried_at = now_;
    const auto issued = [this, &loads](auto& load) { return issue_load(load.second, load.first, loads); };
    if (std::erase_if(deferred, issued) > 0 || now_ != tried_at) continue;
    REACHED(overlapped_loads_wait);
    deferred_since_ = deferred.front().second.issued;
    wait_for_change(kForFill);
    for (auto& load : deferred) load.second.waited_for = retry_source_;
  }
  if (loads.under_way > 0) {
    loads.thread_waits = true;
    suspend(Status::blocked);
  }
  charge(loads.part, now_, loads.ends);
  now_ = std::max(now_, loads.ends);
}

// Returns true if the load has completed or has an MSHR, false if it must be deferred.
bool HardwareThread::issue_load(Operation& operation, std::size_t word, OverlappedLoads& loads) {
  for (;;) {
    now_ = std::max(now_, loads.next_issue);
    wait_turn();
    slots_ = 0;
    Value value = 0;
    if (load_from_buffer(operation, value)) {
      deferred_since_ = kNever;
      loads.values[word] = value;
      loads.finished(now_, TimePart::l1);
      ++function_counters_->hidden[0];
      now_ -= nearest_latency_;
      loads.next_issue = now_ + cycle_;
      return true;
    }
    const CacheUnit::Attempt tried = attempt(operation, now_, actor(), {.thread = this, .overlapped = &loads, .word = word});
    if (std::exchange(deferred_since_, kNever) != kNever) reset_limits();
    if (tried.outcome == CacheUnit::Outcome::retry_on_change) return false;
    if (tried.outcome == CacheUnit::Outcome::retry_at) {
      REACHED(overlapped_load_retried_at_unlock);
      deferred_since_ = operation.issued;
      charge(TimePart::atomic, now_, tried.at);
      now_ = tried.at;
      continue;
    }
    ++function_counters_->instructions;
    loads.next_issue = now_ + cycle_;
    if (tried.outcome == CacheUnit::Outcome::waits_for_fill) {
      ++loads.under_way;
    } else {
      loads.values[word] = tried.value;
      loads.finished(tried.at, part_of_level(tried.level));
      if (!operation.waited) ++function_counters_->hidden[tried.level];
    }
    return true;
  }
}

void HardwareThread::loaded(OverlappedLoads& loads, std::size_t word, Source source, Value value, Tick at, Tick ends) {
  loads.values[word] = value;
  loads.finished(ends, part_of(source));
  --loads.under_way;
  if (!loads.thread_waits) return;
  // Charges only the time since the previous load arrived.
  charge(part_of(source), now_, at);
  now_ = std::max(now_, at);
  if (loads.under_way > 0) return;
  charge(loads.part, now_, loads.ends);
  now_ = std::max(now_, loads.ends);
  status_ = Status::ready;
}

Value HardwareThread::exchange(Address address, Value value, int bytes) {
  return perform(operation_on(OperationKind::exchange, address, bytes, value));
}

Value HardwareThread::fetch_add(Address address, Value addend, int bytes) {
  return perform(operation_on(OperationKind::fetch_add, address, bytes, addend));
}

Value HardwareThread::compare_exchange(Address address, Value expected, Value desired, int bytes) {
  return perform(operation_on(OperationKind::compare_exchange, address, bytes, desired, expected));
}

void HardwareThread::write_adding(OperationKind kind, Address address, Value addend, int bytes, bool release) {
  // A trace contains no values, so this stands for the value that the store buffer forwards to the thread's own loads. For an
  // addition it is bit 63, which no program's count reaches.
  const Value forwarded = addend == 0 ? 0 : Value{1} << 63;
  Operation operation = operation_on(kind, address, bytes, forwarded, addend);
  operation.adds = true;
  perform(operation, release);
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
      deferred_since_ = kNever;
      return value;
    }
    if (operation.access_kind() == AccessKind::atomic && !store_buffer_.empty()) {
      prefetch_ownership(operation);
      wait_until_drained();
      charge(TimePart::fence, now_, now_ + spec_->replay);
      now_ += spec_->replay;
      continue;
    }
    const CacheUnit::Attempt tried = attempt(operation, now_, actor(), {.thread = this});
    // A retried operation goes before siblings' operations at the same time. The thread's next operation is new and does not,
    // so the thread needs another limit.
    if (std::exchange(deferred_since_, kNever) != kNever) reset_limits();
    switch (tried.outcome) {
      case CacheUnit::Outcome::done:
        ++function_counters_->instructions;
        if (operation.kind != OperationKind::load || operation.waited) charge_hit(operation, tried);
        now_ = tried.at;
        return tried.value;
      case CacheUnit::Outcome::waits_for_fill:
        ++function_counters_->instructions;
        suspend(Status::blocked);
        return result_;
      case CacheUnit::Outcome::retry_on_change:
        deferred_since_ = operation.issued;
        wait_for_change(kForFill);
        operation.waited_for = retry_source_;
        break;
      case CacheUnit::Outcome::retry_at:
        deferred_since_ = operation.issued;
        charge(TimePart::atomic, now_, tried.at);
        now_ = tried.at;
        break;
    }
  }
}

// Charges a hit that the count of hits does not cover: an atomic, a store that waits for a farther level, or a load whose
// line was already being fetched, which counts as a miss.
void HardwareThread::charge_hit(const Operation& operation, const CacheUnit::Attempt& hit) {
  const TimePart level = part_of_level(hit.level);
  if (operation.kind == OperationKind::load) return charge(level, now_, hit.at);
  const Tick has_line = hit.level == 0 ? now_ : now_ + spec_->hit_latency[hit.level];
  if (hit.level > 0) charge(level, now_, has_line);
  if (operation.access_kind() == AccessKind::atomic) charge(TimePart::atomic, has_line, hit.at);
}

void HardwareThread::completed(const Operation& operation, Source source, Value result, Tick at, Tick ends) {
  charge(part_of(source), now_, at);
  if (operation.access_kind() == AccessKind::atomic) charge(TimePart::atomic, at, ends);
  result_ = result;
  now_ = ends;
  status_ = Status::ready;
}

void HardwareThread::report_miss(const Operation& operation, Source source, Tick at, const Waits& waits) {
  if (pairs_loads_ && operation.kind == OperationKind::load)
    last_load_miss_ = LoadMiss{operation.address, source, operation.issued, at, waits};
  const Miss miss{
      id_,  operation.function, operation.access_kind(), source, operation.address, operation.issued, at - operation.issued,
      waits};
  last_source_ = source;
  observer_->miss(miss);
  if (timeline_ != nullptr) timeline_->miss(miss);
}

// Returns true if the store buffer served the load. Waits while a store in the buffer covers only a part of the loaded bytes.
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
      ++function_counters_->hits_of(0, AccessKind::load);
      now_ += nearest_latency_;
      return true;
    }
    if (!forward.wait) return false;
    REACHED(load_wider_than_buffered_store);
    wait_for_change(TimePart::fence);
  }
}

// Returns true if the store entered the store buffer. Under an empty buffer, a store that hits in the nearest cache does not
// enter: it writes to the cache directly, because the buffer would drain it at once.
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
  while (store_buffer_.full()) wait_for_change(TimePart::store_buffer);
  if (store_buffer_.must_drain_before(release)) prefetch_ownership(operation);
  ++function_counters_->instructions;
  if (StepListener* listener = unit_->listener(); listener != nullptr) [[unlikely]]
    listener->store_buffered(now_, id_, operation);
  now_ += cycle_;
  store_buffer_.push(operation, release, now_);
  reset_limits();  // the store's drain is due before the thread's next operation
  return true;
}

void HardwareThread::drain_store(Tick at) {
  StoreBuffer::Entry& entry = store_buffer_.due(at);
  const CacheUnit::Attempt tried = attempt(entry.operation, at, ThreadOwner::kNoThread, {.thread = this, .drain = entry.id});
  switch (tried.outcome) {
    case CacheUnit::Outcome::done: drained(entry.id, at); break;
    case CacheUnit::Outcome::waits_for_fill: entry.in_flight = true; break;
    case CacheUnit::Outcome::retry_on_change: entry.ready = kNever; break;
    case CacheUnit::Outcome::retry_at:
      REACHED(drain_retried_at_unlock);
      entry.ready = tried.at;
      break;
  }
}

void HardwareThread::drained(int entry_id, Tick at) {
  if (StepListener* listener = unit_->listener(); listener != nullptr) [[unlikely]]
    listener->store_drained(at, id_, store_buffer_.operation(entry_id));
  store_buffer_.remove(entry_id, at + cycle_);
  stop_waiting(at, last_source_);
}

// Prefetches the line of an operation that must wait until earlier stores have drained.
void HardwareThread::prefetch_ownership(const Operation& operation) {
  if (!spec_->ownership_prefetch) return;
  before_access(now_, index_);
  unit_->prefetch_ownership(operation, now_, *this);
  after_access(now_);
}

void HardwareThread::fence() {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::fence});
  wait_turn();
  wait_until_drained();
  ++function_counters_->instructions;
  slots_ = 0;
  charge(TimePart::fence, now_, now_ + spec_->fence_latency);
  now_ += spec_->fence_latency;
}

void HardwareThread::store_fence() {
  if (spec_->consistency == Consistency::ia64) fence();
}

void HardwareThread::wait_until_drained() {
  while (!store_buffer_.empty()) wait_for_change(TimePart::fence);
}

void HardwareThread::prefetch(Address address, Access access) {
  if (tap() != nullptr) {
    const OperationKind kind = access == kReadAccess ? OperationKind::load : OperationKind::store;
    tap()->called(*this, {.what = ProgramCall::What::prefetch, .operation = {.kind = kind, .address = address}});
  }
  wait_turn();
  slots_ = 0;
  before_access(now_, index_);
  unit_->prefetch(address, access, now_, *this);
  after_access(now_);
  ++function_counters_->instructions;
  now_ += cycle_;
}

}  // namespace linebounce
