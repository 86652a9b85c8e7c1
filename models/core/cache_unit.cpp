#include "models/core/cache_unit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/coherence/bus_order.hpp"
#include "models/core/hardware_thread.hpp"
#include "models/failure.hpp"
#include "models/reached.hpp"

namespace linebounce {
namespace {

// Runs the actions of a processor access's protocol row on one of this core's copies.
class OwnCopy {
 public:
  OwnCopy(CacheAgent& agent, TransitionLog& log, Copy& copy, int client, Tick at)
      : agent_(agent), log_(log), copy_(copy), client_(client), at_(at) {}

  [[nodiscard]] StateId state(int) const { return copy_.state; }
  void set_state(int, StateId state) { agent_.set_state(copy_, state); }
  void issue(int, MessageId message) { message_ = message; }
  void free(int) { agent_.drop(copy_); }
  void on_transition(Controller, int, StateId state, EventId event, StateId next) {
    log_.record(at_, Controller::cache, client_, copy_.line, state, event, next);
  }
  [[nodiscard]] MessageId message() const { return message_; }

 private:
  CacheAgent& agent_;
  TransitionLog& log_;
  Copy& copy_;
  int client_;
  Tick at_;
  MessageId message_ = 0;
};

}  // namespace

// Decides which victims may be evicted now, and posts the write-backs that they need.
struct CacheUnit::Gate {
  CacheUnit& unit;
  Tick at;

  [[nodiscard]] bool may_leave(const Copy& copy) const;
  void leave(Copy& copy);
};

bool CacheUnit::Gate::may_leave(const Copy& copy) const {
  // The bus grants an upgrade before the store that needs it has run. The line must stay until the store has run.
  if (unit.has_mshr(copy)) return false;
  const AccessResult evict = unit.result_of(kEvict, copy.state);
  return evict == AccessResult::freed ||
         (evict == AccessResult::issued && unit.pending_write_backs_ < unit.spec_.write_back_buffers);
}

void CacheUnit::Gate::leave(Copy& copy) {
  OwnCopy own(unit.agent_, *unit.log_, copy, unit.client_, at);
  const LineAddr line = copy.line;
  if (copy.watched) {
    REACHED(spun_on_line_evicted);
    copy.watched = false;
    unit.owner_->watched_line_changed(line, at);
  }
  if (access_step(unit.bus_->protocol(), own, unit.client_, kEvict) == AccessResult::freed) return;
  unit.agent_.detach(copy);
  ++unit.pending_write_backs_;
  unit.bus_->post({.stamp = at, .client = unit.client_, .line = line, .slot = copy.slot, .message = own.message()});
  unit.owner_->reset_limits();
}

CacheUnit::CacheUnit(const CoreSpec& spec, CacheAgent agent, int client, TransitionLog& log, CacheUnitOwner& owner, int threads)
    : spec_(spec), agent_(std::move(agent)), client_(client), log_(&log), owner_(&owner), locks_(threads) {
  mshrs_.reserve(spec_.outstanding_misses);
}

Tick CacheUnit::hold(OperationKind kind) const {
  switch (kind) {
    case OperationKind::load:
    case OperationKind::store: return spec_.cycle;
    case OperationKind::exchange:
    case OperationKind::fetch_add: return spec_.atomic_latency;
    case OperationKind::compare_exchange: return spec_.compare_exchange_latency;
  }
  return spec_.cycle;
}

CacheUnit::Attempt CacheUnit::attempt(Operation& operation, Tick now, const Requester& requester) {
  if (operation.issued < 0) operation.issued = now;
  expire_locks(now);
  const CacheAgent::Lookup found = agent_.look_up(operation.address);
  if (found.copy == nullptr) return start_miss(operation, found, now, requester);
  Copy& copy = *found.copy;
  if (copy.locked) {
    REACHED(siblings_atomic_locks_line);
    return {.outcome = Outcome::retry_at, .at = locked_until(copy.line)};
  }
  // A store may end a sibling's parked spin.
  if (copy.watched && operation.writes()) owner_->watched_line_changed(copy.line, now);
  const bool hit = result_of(operation, copy.state) == AccessResult::hit;
  if (hit && operation.access_kind() == AccessKind::atomic) {
    // A sibling's miss on the line goes first: its fill time is fixed, and the atomic might still lock the line at that time.
    if (const Tick due = access_due(copy); due != kNever) {
      REACHED(atomic_after_siblings_miss);
      return {.outcome = Outcome::retry_at, .at = due};
    }
  }
  if (hit) return run_hit(operation, copy, found.level, now, *requester.thread);
  return start_miss(operation, found, now, requester);
}

CacheUnit::Attempt CacheUnit::run_hit(Operation& operation, Copy& copy, int level, Tick now, HardwareThread& thread) {
  const int nearest = level < 0 ? agent_.levels() - 1 : level;
  const StateInfo& state = agent_.table().states[copy.state];
  if (operation.writes() && state.after_store != copy.state) {
    OwnCopy own(agent_, *log_, copy, client_, now);
    access_step(bus_->protocol(), own, client_, kStore);
  }
  if (level == 0) {
    agent_.use(operation.address, level, now);
  } else {
    Gate gate{*this, now};
    agent_.promote(copy, operation.address, now, gate, level);
  }
  if (operation.waited) {
    if (log_->listener() != nullptr) tell_core(operation, now, now);
    Waits waits;
    waits[Resource::core] = now - operation.issued;
    thread.report_miss(operation, operation.waited_for, now, waits);
  }
  const Value value = apply(thread, operation, copy, now, Served::hit);
  const Tick reach = spec_.hit_latency[nearest];
  if (operation.kind == OperationKind::load) return {.level = nearest, .value = value, .at = now + reach};
  const Tick until = now + (nearest == 0 ? 0 : reach) + hold(operation.kind);
  lock(copy, operation.kind, until, thread);
  return {.level = nearest, .value = value, .at = until};
}

CacheAgent::Lookup CacheUnit::hit_any_level(Address address, Access access, Tick at, Tick farther_at) {
  if (log_->listener() != nullptr) [[unlikely]]
    farther_at = kNever;
  Gate gate{*this, farther_at};
  return agent_.hit_any_level(address, access, at, farther_at, gate);
}

CacheUnit::Attempt CacheUnit::start_miss(Operation& operation, const CacheAgent::Lookup& found, Tick now,
                                         const Requester& requester) {
  if (request(operation, found, now, requester)) {
    if (spec_.pair_prefetch != PairPrefetch::none && !may_execute_far(operation))
      request_pair(operation, now, *requester.thread);
    return {.outcome = Outcome::waits_for_fill};
  }
  // All ways of the set may hold locked lines. Nothing reports that a lock expires, so the requester retries when one does.
  const Tick unlock = found.copy == nullptr ? next_unlock(now) : kNever;
  if (unlock != kNever) {
    REACHED(victims_locked);
    return {.outcome = Outcome::retry_at, .at = unlock};
  }
  operation.waited = true;
  return {.outcome = Outcome::retry_on_change};
}

bool CacheUnit::request(const Operation& operation, const CacheAgent::Lookup& found, Tick now, const Requester& requester) {
  Copy* copy = found.copy;
  if (!has_free_mshr()) return false;
  if (result_of(operation, copy == nullptr ? StateId{0} : copy->state) == AccessResult::stalled) return false;
  if (copy == nullptr) {
    copy = may_execute_far(operation) ? &agent_.add_detached(agent_.store().line_of(operation.address))
                                      : allocate(operation.address, now, found.slot);
  }
  if (copy == nullptr) return false;
  // The request leaves the core after the lookup in the level that lacks the line or the right to write it.
  const Tick lookup = found.level < 0 ? spec_.hit_latency.back() : spec_.hit_latency[found.level];
  post(operation, *copy, requester, false, now, now + lookup);
  return true;
}

Copy* CacheUnit::allocate(Address address, Tick now, Slot slot) {
  Gate gate{*this, now};
  return agent_.allocate(agent_.store().line_of(address), now, gate, slot);
}

void CacheUnit::post(const Operation& operation, Copy& copy, const Requester& requester, bool pair_prefetch, Tick now,
                     Tick leaves) {
  OwnCopy own(agent_, *log_, copy, client_, now);
  const Protocol& protocol = bus_->protocol();
  const AccessKind kind = operation.access_kind();
  access_step(protocol, own, client_,
              kind == AccessKind::atomic  ? protocol.atomic
              : kind == AccessKind::store ? kStore
                                          : kLoad);
  mshrs_.push_back({.copy = &copy, .requester = requester, .pair_prefetch = pair_prefetch, .operation = operation});
  Waits waits;
  waits[Resource::core] = now - operation.issued;
  bus_->post({.stamp = leaves,
              .client = client_,
              .stage = log_->listener() == nullptr ? kNoStage : tell_core(operation, now, leaves),
              .copy = &copy,
              .line = copy.line,
              .slot = copy.slot,
              .message = own.message(),
              .waits = waits});
  owner_->reset_limits();
}

StageId CacheUnit::tell_core(const Operation& operation, Tick now, Tick to) const {
  return log_->tell_stage({.what = Stage::What::core,
                           .at = {Endpoint::Kind::cache, client_},
                           .line = agent_.store().line_of(operation.address),
                           .from = operation.issued,
                           .to = to,
                           .queued = now - operation.issued});
}

StageId CacheUnit::tell_fill(const Mshr& mshr, Tick pins, StageId stage) const {
  return log_->tell_stage({.what = Stage::What::fill,
                           .at = {Endpoint::Kind::cache, client_},
                           .line = agent_.store().line_of(mshr.operation.address),
                           .from = pins,
                           .to = mshr.fill_at,
                           .after = stage});
}

// Requests the other line of the missing line's aligned pair, if that line is missing as well. The request is a read, and
// leaves one cycle after the miss's own request.
void CacheUnit::request_pair(const Operation& operation, Tick now, HardwareThread& thread) {
  if (operation.writes() && spec_.pair_prefetch == PairPrefetch::loads) return;
  const Address other = operation.address ^ static_cast<Address>(agent_.store().line_bytes());
  if (!has_free_mshr()) return;
  const CacheAgent::Lookup found = agent_.look_up(other);
  if (found.copy != nullptr) return;
  Copy* copy = allocate(other, now, found.slot);
  if (copy == nullptr) return REACHED(no_way_for_the_pair);
  const Operation read{.kind = OperationKind::load, .function = operation.function, .address = other, .issued = now};
  post(read, *copy, {.thread = &thread, .prefetches = true}, true, now, now + spec_.hit_latency.back() + spec_.cycle);
  ++pair_prefetches_.lines;
}

void CacheUnit::prefetch(Address address, Access access, Tick now, HardwareThread& thread) {
  // In an update protocol a store sends its word over the bus. The line can be prefetched, but not the right to write it.
  if (bus_->protocol().sends_words) access = kReadAccess;
  Operation operation{.kind = access == kReadAccess ? OperationKind::load : OperationKind::store,
                      .function = thread.function(),
                      .address = address,
                      .issued = now};
  expire_locks(now);
  const CacheAgent::Lookup found = agent_.look_up(address);
  if (found.copy != nullptr) {
    const CacheEvent event = access == kReadAccess ? kLoad : kStore;
    if (found.copy->locked || result_of(event, found.copy->state) != AccessResult::issued) return;
  }
  request(operation, found, now, {.thread = &thread, .prefetches = true});
}

void CacheUnit::find_next_fill() {
  next_fill_ = kNever;
  for (const Mshr& mshr : mshrs_) next_fill_ = std::min(next_fill_, mshr.fill_at);
}

bool CacheUnit::has_mshr(const Copy& copy) const {
  return std::any_of(mshrs_.begin(), mshrs_.end(), [&copy](const Mshr& mshr) { return mshr.copy == &copy; });
}

Tick CacheUnit::access_due(const Copy& copy) const {
  const auto own = std::find_if(mshrs_.begin(), mshrs_.end(),
                                [&copy](const Mshr& mshr) { return mshr.copy == &copy && !mshr.requester.prefetches; });
  return own == mshrs_.end() ? kNever : own->fill_at;
}

void CacheUnit::run_fill(Tick at) {
  const auto due = std::find_if(mshrs_.begin(), mshrs_.end(), [at](const Mshr& mshr) { return mshr.fill_at == at; });
  const Source source = due->source;
  expire_locks(at);
  const bool data = !due->early_result && agent_.table().states[due->copy->state].awaits_data;
  if (data && bus_->data_step(client_, *due->copy, at, due->stage, due->waits)) {
    REACHED(fill_without_the_right);
    due->fill_at = kNever;
    due->line_arrived = true;
    owner_->reset_limits();
  } else {
    finish(*due);
    mshrs_.erase(due);
  }
  find_next_fill();
  owner_->retry(at + spec_.replay, source);
}

// Called when the line has arrived with the right to access it: runs the operation that requested the line.
void CacheUnit::finish(const Mshr& mshr) {
  const Operation& operation = mshr.operation;
  const Requester& requester = mshr.requester;
  const Tick at = mshr.fill_at;
  if (mshr.pair_prefetch) {
    mshr.copy->last_touch = at;
    if (mshr.source == Source::local_c2c || mshr.source == Source::remote_c2c) ++pair_prefetches_.from_caches;
    return;
  }
  if (mshr.copy == nullptr) {
    requester.thread->report_miss(operation, mshr.source, at, mshr.waits);
    requester.thread->completed(operation, mshr.source, *mshr.early_result, at, at + spec_.cycle);
    return;
  }
  Copy& copy = *mshr.copy;
  Gate gate{*this, at};
  agent_.promote(copy, operation.address, at, gate);
  if (requester.prefetches) {
    copy.last_touch = at;
    if (operation.writes()) keep_for_stores(copy, *requester.thread, at);
    return;
  }
  requester.thread->report_miss(operation, mshr.source, at, mshr.waits);
  const Value value = mshr.early_result ? *mshr.early_result : apply(*requester.thread, operation, copy, at, Served::fill);
  const Tick ends = at + hold(operation.kind);
  lock(copy, operation.kind, ends, *requester.thread);
  if (requester.drain >= 0) {
    requester.thread->drained(requester.drain, at);
    keep_for_stores(copy, *requester.thread, at + spec_.cycle);
  } else if (requester.overlapped != nullptr) {
    requester.thread->loaded(*requester.overlapped, requester.word, mshr.source, value, at, ends);
  } else {
    requester.thread->completed(operation, mshr.source, value, at, ends);
  }
}

Value CacheUnit::apply(const HardwareThread& thread, const Operation& operation, Copy& copy, Tick at, Served served) {
  use(copy, at);
  const Value old = read_word(agent_.word(copy, operation.address), operation.bytes);
  Value fresh = old;
  if (operation.writes()) {
    fresh = operation.operand;
    if (operation.kind == OperationKind::fetch_add) fresh = old + operation.operand;
    // A failed compare-exchange writes the old value back: it, too, acquires and locks the line, as on x86.
    if (operation.kind == OperationKind::compare_exchange && old != operation.expected) fresh = old;
    if (operation.adds) fresh = old + operation.expected;
    agent_.write(copy, operation.address, fresh, operation.bytes);
  }
  if (tap_ != nullptr) tap_->applied(thread, operation, old);
  if (StepListener* listener = log_->listener(); listener != nullptr) [[unlikely]]
    listener->access_ran(at, client_, thread.id(), operation, old, fresh, served);
  return old;
}

Copy* CacheUnit::watch(Address address) {
  const CacheAgent::Lookup found = agent_.look_up(address);
  if (found.copy == nullptr || found.level != 0 || found.copy->locked || has_mshr(*found.copy)) return nullptr;
  if (!agent_.table().states[found.copy->state].readable) return nullptr;
  found.copy->watched = true;
  agent_.refresh(*found.copy);
  return found.copy;
}

void CacheUnit::set_watched(Address address, bool watched) {
  Copy* copy = agent_.find(agent_.store().line_of(address));
  if (copy == nullptr) return;
  copy->watched = watched;
  agent_.refresh(*copy);
}

Value CacheUnit::peek(const Copy& copy, Address address, int bytes) const {
  return read_word(agent_.word(copy, address), bytes);
}

void CacheUnit::keep_for_stores(Copy& copy, const HardwareThread& thread, Tick at) {
  const int stores = thread.stores_draining_to(agent_.store().address_of(copy.line), agent_.store().line_bytes());
  if (stores == 0) return;
  draining_ = {copy.line, at + stores * spec_.cycle};
  copy.may_be_kept = true;
}

Tick CacheUnit::kept_until(LineAddr line) const {
  return std::max(locked_until(line), draining_.line == line ? draining_.until : -1);
}

Tick CacheUnit::locked_until(LineAddr line) const {
  Tick until = -1;
  for (const Lock& lock : locks_) {
    if (lock.line == line) until = std::max(until, lock.until);
  }
  return until;
}

void CacheUnit::lock(Copy& copy, OperationKind kind, Tick until, const HardwareThread& thread) {
  if (kind == OperationKind::load || kind == OperationKind::store) return;
  locks_[thread.index_in_core()] = {copy.line, until};
  copy.may_be_kept = true;
  if (locks_.size() == 1) return;  // A core with one thread never waits for its own lock.
  if (copy.locked) {
    const Address address = agent_.store().address_of(copy.line);
    log_->fail(
        fmt::format("two atomic operations of cache {} hold line 0x{:x} at one time, until tick {}", client_, address, until),
        copy.line, address);
  }
  copy.locked = true;
  agent_.refresh(copy);
}

void CacheUnit::unlock_expired(Tick now) {
  for (Lock& lock : locks_) {
    if (lock.until < 0 || lock.until > now) continue;
    lock.until = -1;
    Copy* copy = agent_.find(lock.line);
    if (copy == nullptr || !copy->locked) continue;
    copy->locked = false;
    agent_.refresh(*copy);
  }
}

Tick CacheUnit::next_unlock(Tick now) const {
  Tick next = kNever;
  if (locks_.size() == 1) return next;
  for (const Lock& lock : locks_) {
    if (lock.until > now) next = std::min(next, lock.until);
  }
  return next;
}

Tick CacheUnit::deliver(Copy& copy, Tick pins, Source source, StageId stage, const Waits& waits) {
  Mshr* own = mshr_being_ordered(copy);
  if (own == nullptr) return pins;
  if (!own->line_arrived) own->source = source;
  schedule_fill(*own, pins, stage, waits);
  const bool runs_at_fill = !own->requester.prefetches && !agent_.table().states[copy.state].reissues;
  if (!runs_at_fill) return own->fill_at + 1;
  return own->fill_at + std::max<Tick>(1, hold(own->operation.kind)) + (keeps(own->operation) ? spec_.held : 0);
}

void CacheUnit::schedule_fill(Mshr& mshr, Tick pins, StageId stage, const Waits& waits) {
  mshr.waits = waits;
  mshr.fill_at = align_up(pins, spec_.cycle) + spec_.fill_latency;
  if (log_->listener() != nullptr) [[unlikely]]
    mshr.stage = tell_fill(mshr, pins, stage);
  next_fill_ = std::min(next_fill_, mshr.fill_at);
  owner_->wake_at(mshr.fill_at);
}

CacheUnit::Mshr* CacheUnit::mshr_being_ordered(const Copy& copy) {
  const auto own = std::find_if(mshrs_.begin(), mshrs_.end(),
                                [&copy](const Mshr& mshr) { return mshr.copy == &copy && mshr.fill_at == kNever; });
  return own == mshrs_.end() ? nullptr : &*own;
}

WrittenWord CacheUnit::write_in_order(Copy& copy, Tick at) {
  Mshr* own = mshr_being_ordered(copy);
  if (own == nullptr || own->requester.prefetches || !own->operation.writes()) {
    throw ModelFailure(fmt::format("cache {} sends a word of line 0x{:x} at tick {}, but no store waits", client_,
                                   agent_.store().address_of(copy.line), at));
  }
  own->early_result = apply(*own->requester.thread, own->operation, copy, at, Served::order);
  return {static_cast<std::size_t>(agent_.store().offset_of(own->operation.address)), own->operation.bytes};
}

void CacheUnit::operate(Copy& copy, const LineData& line, Tick at) {
  Mshr* own = mshr_being_ordered(copy);
  if (own == nullptr || own->requester.prefetches || own->operation.access_kind() != AccessKind::atomic) {
    throw ModelFailure(fmt::format("memory operates on line 0x{:x} for cache {} at tick {}, but no atomic operation waits",
                                   agent_.store().address_of(copy.line), client_, at));
  }
  copy_line(agent_.data(copy), line.bytes, agent_.store().line_bytes());
  copy.version = line.version;
  own->early_result = apply(*own->requester.thread, own->operation, copy, at, Served::memory);
  own->copy = nullptr;
}

void CacheUnit::operated(LineAddr line, Tick pins, Source source, StageId stage, const Waits& waits) {
  const auto own = std::find_if(mshrs_.begin(), mshrs_.end(), [&](const Mshr& mshr) {
    return mshr.copy == nullptr && mshr.fill_at == kNever && agent_.store().line_of(mshr.operation.address) == line;
  });
  own->source = source;
  schedule_fill(*own, pins, stage, waits);
}

void CacheUnit::written_back(Tick at) {
  --pending_write_backs_;
  owner_->retry(at, Source::local_memory);
  owner_->wake_at(at);
}

std::string CacheUnit::describe_pending() const {
  std::string text;
  for (const Mshr& mshr : mshrs_) {
    const LineStore& store = agent_.store();
    text += fmt::format(
        "  cache {}: line 0x{:x}{}, asked for at tick {} by CPU {}{}\n", client_,
        store.address_of(store.line_of(mshr.operation.address)),
        mshr.copy == nullptr ? ", operated on at memory" : " in " + agent_.table().states[mshr.copy->state].name,
        mshr.operation.issued, mshr.requester.thread->id().value, mshr.fill_at == kNever ? ", not ordered yet" : "");
  }
  return text;
}

void CacheUnit::fail_as_stale(const Copy& copy, Tick at) const {
  const Address address = agent_.store().address_of(copy.line);
  log_->fail(fmt::format("stale value: cache {} uses line 0x{:x} at tick {} in version {}, the latest is {}", client_, address,
                         at, copy.version, agent_.store().latest(copy.slot)),
             copy.line, address);
}

}  // namespace linebounce
