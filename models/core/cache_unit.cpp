#include "models/core/cache_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/coherence/bus_order.hpp"
#include "models/core/hardware_thread.hpp"
#include "models/failure.hpp"

namespace linebounce {

namespace {

// One copy of this core's, as the rows of a processor access see it.
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

// Decides which victims may leave now, and sends those that must be written back.
struct CacheUnit::Gate {
  CacheUnit& unit;
  Tick at;

  [[nodiscard]] bool may_leave(const Copy& copy) const {
    if (unit.awaited(copy)) return false;
    const AccessResult evict = unit.result_of(kEvict, copy.state);
    return evict == AccessResult::freed || (evict == AccessResult::issued && unit.write_backs_ < unit.spec_.write_back_buffers);
  }
  void leave(Copy& copy) {
    OwnCopy own(unit.agent_, *unit.log_, copy, unit.client_, at);
    const LineAddr line = copy.line;
    if (copy.watched) {
      copy.watched = false;
      unit.owner_->watched_line_changed(line, at);
    }
    if (access_step(unit.bus_->protocol(), own, unit.client_, kEvict) == AccessResult::freed) return;
    unit.agent_.detach(copy);
    ++unit.write_backs_;
    unit.bus_->post({.stamp = at, .client = unit.client_, .line = line, .slot = copy.slot, .message = own.message()});
    unit.owner_->posted();
  }
};

CacheUnit::CacheUnit(const CoreSpec& spec, CacheAgent agent, int client, TransitionLog& log, CacheUnitOwner& owner, int threads)
    : spec_(spec),
      agent_(std::move(agent)),
      client_(client),
      log_(&log),
      owner_(&owner),
      locks_(static_cast<std::size_t>(threads)) {
  mshrs_.reserve(static_cast<std::size_t>(spec_.outstanding_misses));
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
  if (found.copy == nullptr) return start_miss(operation, nullptr, -1, now, requester);
  Copy& copy = *found.copy;
  if (copy.locked) return {.outcome = Outcome::try_at, .at = locked_until(copy.line)};
  if (copy.watched) {  // a sibling thread sleeps on it; a store is what it waits for
    if (operation.writes()) owner_->watched_line_changed(copy.line, now);
  }
  const bool hit = result_of(operation, copy.state) == AccessResult::hit;
  if (hit && operation.access_kind() == AccessKind::atomic) {
    // A sibling's miss goes first: its time is fixed, and may lie before this operation's end.
    if (const Tick due = access_due(copy); due != kNever) return {.outcome = Outcome::try_at, .at = due};
  }
  if (hit) return run_hit(operation, copy, found.level, now, *requester.thread);
  return start_miss(operation, &copy, found.level, now, requester);
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
    agent_.bring_near(copy, operation.address, now, gate, level);
  }
  if (operation.waited) owner_->report_miss(thread, operation, operation.waited_for, now);
  const Value value = apply(thread, operation, copy, now, Served::hit);
  const Tick reach = spec_.hit_latency[static_cast<std::size_t>(nearest)];
  if (operation.kind == OperationKind::load) return {.level = nearest, .value = value, .at = now + reach};
  const Tick until = now + (nearest == 0 ? 0 : reach) + hold(operation.kind);
  lock(copy, operation.kind, until, thread);
  return {.level = nearest, .value = value, .at = until};
}

Copy* CacheUnit::bring_near(Address address, Access access, Tick at, int& level) {
  if (log_->listener() != nullptr) [[unlikely]]
    return nullptr;
  bool decided = false;
  if (Copy* copy = agent_.hit_second(address, access, at, decided); decided) {
    level = 1;
    return copy;
  }
  const CacheAgent::Lookup found = agent_.find_farther(address, access);
  if (found.copy == nullptr) return nullptr;
  Gate gate{*this, at};
  agent_.bring_near(*found.copy, address, at, gate, found.level);
  level = found.level;
  return found.copy;
}

CacheUnit::Attempt CacheUnit::start_miss(Operation& operation, Copy* copy, int level, Tick now, const Requester& requester) {
  if (request(operation, copy, level, now, requester)) {
    if (spec_.pair_prefetch != PairPrefetch::none && !may_run_far(operation)) request_pair(operation, now, *requester.thread);
    return {.outcome = Outcome::waits_for_fill};
  }
  // A locked line may be what denies this one a place, and nothing tells when it is free.
  const Tick unlock = copy == nullptr ? next_unlock(now) : kNever;
  if (unlock != kNever) return {.outcome = Outcome::try_at, .at = unlock};
  operation.waited = true;
  return {.outcome = Outcome::try_again};
}

bool CacheUnit::request(const Operation& operation, Copy* copy, int level, Tick now, const Requester& requester) {
  if (!has_room()) return false;
  if (result_of(operation, copy == nullptr ? StateId{0} : copy->state) == AccessResult::stalled) return false;
  if (copy == nullptr) {
    copy = may_run_far(operation) ? &agent_.add_detached(agent_.store().line_of(operation.address))
                                  : allocate(operation.address, now);
  }
  if (copy == nullptr) return false;
  // The request leaves after the look-up that found the line missing, or found it without the right to write.
  const Tick look_up = level < 0 ? spec_.hit_latency.back() : spec_.hit_latency[static_cast<std::size_t>(level)];
  post({.copy = copy, .requester = requester, .operation = operation}, now, now + look_up);
  return true;
}

Copy* CacheUnit::allocate(Address address, Tick now) {
  Gate gate{*this, now};
  return agent_.allocate(agent_.store().line_of(address), now, gate);
}

void CacheUnit::post(const Mshr& mshr, Tick now, Tick leaves) {
  OwnCopy own(agent_, *log_, *mshr.copy, client_, now);
  const Protocol& protocol = bus_->protocol();
  const AccessKind kind = mshr.operation.access_kind();
  access_step(protocol, own, client_,
              kind == AccessKind::atomic  ? protocol.atomic
              : kind == AccessKind::store ? kStore
                                          : kLoad);
  mshrs_.push_back(mshr);
  bus_->post({.stamp = leaves, .client = client_, .line = mshr.copy->line, .slot = mshr.copy->slot, .message = own.message()});
  owner_->posted();
}

// The other line of an aligned pair, if it is not here: to be read, whatever the miss was for, and a cycle behind its request.
void CacheUnit::request_pair(const Operation& operation, Tick now, HardwareThread& thread) {
  if (operation.writes() && spec_.pair_prefetch == PairPrefetch::loads) return;
  const Address other = operation.address ^ static_cast<Address>(agent_.store().line_bytes());
  if (!has_room() || agent_.look_up(other).copy != nullptr) return;
  Copy* copy = allocate(other, now);
  if (copy == nullptr) return;
  const Operation read{.kind = OperationKind::load, .function = operation.function, .address = other, .issued = now};
  post({.copy = copy, .requester = {.thread = &thread, .prefetches = true}, .of_pair = true, .operation = read}, now,
       now + spec_.hit_latency.back() + spec_.cycle);
  ++pair_prefetches_.lines;
}

void CacheUnit::prefetch(Address address, Access access, Tick now, HardwareThread& thread) {
  // A store to a shared line sends its word: there is no right to write that could be had beforehand, only the line.
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
  request(operation, found.copy, found.level, now, {.thread = &thread, .prefetches = true});
}

void CacheUnit::find_next_fill() {
  next_fill_ = kNever;
  for (const Mshr& mshr : mshrs_) next_fill_ = std::min(next_fill_, mshr.fill_at);
}

// An upgrade's right is here with its order step, before the operation that asked for it has run.
bool CacheUnit::awaited(const Copy& copy) const {
  return std::any_of(mshrs_.begin(), mshrs_.end(), [&copy](const Mshr& mshr) { return mshr.copy == &copy; });
}

Tick CacheUnit::access_due(const Copy& copy) const {
  const auto own =
      std::find_if(mshrs_.begin(), mshrs_.end(), [&copy](const Mshr& p) { return p.copy == &copy && !p.requester.prefetches; });
  return own == mshrs_.end() ? kNever : own->fill_at;
}

void CacheUnit::run_fill(Tick at) {
  const auto due = std::find_if(mshrs_.begin(), mshrs_.end(), [at](const Mshr& p) { return p.fill_at == at; });
  const Mshr mshr = *due;
  expire_locks(at);
  const bool data = !mshr.written && agent_.table().states[mshr.copy->state].awaits_data;
  if (data && bus_->data_step(client_, *mshr.copy, at)) {
    due->fill_at = kNever;
    due->line_arrived = true;
    find_next_fill();
    owner_->posted();
  } else {
    mshrs_.erase(due);
    find_next_fill();
    finish(mshr);
  }
  owner_->try_again(at, mshr.source);
}

// The line and the right are here: the one operation that asked for them runs.
void CacheUnit::finish(const Mshr& mshr) {
  const Operation& operation = mshr.operation;
  if (mshr.of_pair) {
    mshr.copy->last_touch = mshr.fill_at;
    const bool given = mshr.source == Source::local_c2c || mshr.source == Source::remote_c2c;
    if (given) ++pair_prefetches_.from_caches;
    return;
  }
  if (mshr.copy == nullptr) {
    owner_->report_miss(*mshr.requester.thread, operation, mshr.source, mshr.fill_at);
    owner_->completed(*mshr.requester.thread, *mshr.written, mshr.fill_at + spec_.cycle);
    return;
  }
  Copy& copy = *mshr.copy;
  Gate gate{*this, mshr.fill_at};
  agent_.bring_near(copy, operation.address, mshr.fill_at, gate);
  const Requester& requester = mshr.requester;
  if (requester.prefetches) {
    copy.last_touch = mshr.fill_at;
    return;
  }
  owner_->report_miss(*requester.thread, operation, mshr.source, mshr.fill_at);
  const Value value = mshr.written ? *mshr.written : apply(*requester.thread, operation, copy, mshr.fill_at, Served::fill);
  const Tick ends = mshr.fill_at + hold(operation.kind);
  lock(copy, operation.kind, ends, *requester.thread);
  if (requester.drain >= 0) {
    owner_->drained(*requester.thread, requester.drain, mshr.fill_at);
  } else if (requester.overlapped != nullptr) {
    owner_->loaded(*requester.thread, *requester.overlapped, requester.word, value, ends);
  } else {
    owner_->completed(*requester.thread, value, ends);
  }
}

Value CacheUnit::apply(const HardwareThread& thread, const Operation& operation, Copy& copy, Tick at, Served served) {
  use(copy, at);
  const Value old = read_word(agent_.word(copy, operation.address), operation.bytes);
  Value fresh = old;
  if (operation.writes()) {
    fresh = operation.operand;
    if (operation.kind == OperationKind::fetch_add) fresh = old + operation.operand;
    // The line is taken and locked all the same, as on x86.
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
  if (found.copy == nullptr || found.level != 0 || found.copy->locked || awaited(*found.copy)) return nullptr;
  if (!agent_.table().states[found.copy->state].readable) return nullptr;
  found.copy->watched = true;
  agent_.refresh(*found.copy);
  return found.copy;
}

void CacheUnit::rewatch(Address address) {
  Copy* copy = agent_.find(agent_.store().line_of(address));
  if (copy == nullptr) return;
  copy->watched = true;
  agent_.refresh(*copy);
}

Value CacheUnit::peek(const Copy& copy, Address address, int bytes) const {
  return read_word(agent_.word(copy, address), bytes);
}

void CacheUnit::unwatch(LineAddr line) {
  Copy* copy = agent_.find(line);
  if (copy == nullptr) return;
  copy->watched = false;
  agent_.refresh(*copy);
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
  locks_[static_cast<std::size_t>(thread.index_in_core())] = {copy.line, until};
  copy.may_be_locked = true;
  if (locks_.size() == 1) return;  // one thread never meets its own lock
  if (copy.locked) {
    const Address address = agent_.store().address_of(copy.line);
    log_->fail(
        fmt::format("two atomic operations of cache {} hold line 0x{:x} at one time, until tick {}", client_, address, until),
        copy.line, address);
  }
  copy.locked = true;
  agent_.refresh(copy);
}

void CacheUnit::free_expired(Tick now) {
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

Tick CacheUnit::deliver(Copy& copy, Tick pins, Source source) {
  Mshr* own = being_ordered(copy);
  if (own == nullptr) return pins;
  if (!own->line_arrived) own->source = source;
  fills(*own, pins);
  const bool runs_then = !own->requester.prefetches && !agent_.table().states[copy.state].reissues;
  if (!runs_then) return own->fill_at + 1;
  const Tick kept = own->operation.kind == OperationKind::compare_exchange ? spec_.keep : 0;
  return own->fill_at + std::max<Tick>(1, hold(own->operation.kind)) + kept;
}

void CacheUnit::fills(Mshr& mshr, Tick pins) {
  mshr.fill_at = align_up(pins, spec_.cycle) + spec_.fill_latency;
  next_fill_ = std::min(next_fill_, mshr.fill_at);
  owner_->wake_at(mshr.fill_at);
}

CacheUnit::Mshr* CacheUnit::being_ordered(const Copy& copy) {
  const auto own =
      std::find_if(mshrs_.begin(), mshrs_.end(), [&copy](const Mshr& p) { return p.copy == &copy && p.fill_at == kNever; });
  return own == mshrs_.end() ? nullptr : &*own;
}

WrittenWord CacheUnit::write_in_order(Copy& copy, Tick at) {
  Mshr* own = being_ordered(copy);
  if (own == nullptr || own->requester.prefetches || !own->operation.writes()) {
    throw ModelFailure(fmt::format("cache {} sends a word of line 0x{:x} at tick {}, but no store waits", client_,
                                   agent_.store().address_of(copy.line), at));
  }
  own->written = apply(*own->requester.thread, own->operation, copy, at, Served::order);
  return {static_cast<std::size_t>(agent_.store().offset_of(own->operation.address)), own->operation.bytes};
}

void CacheUnit::operate(Copy& copy, const LineData& line, Tick at) {
  Mshr* own = being_ordered(copy);
  if (own == nullptr || own->requester.prefetches || own->operation.access_kind() != AccessKind::atomic) {
    throw ModelFailure(fmt::format("memory operates on line 0x{:x} for cache {} at tick {}, but no atomic operation waits",
                                   agent_.store().address_of(copy.line), client_, at));
  }
  std::memcpy(agent_.data(copy), line.bytes, static_cast<std::size_t>(agent_.store().line_bytes()));
  copy.version = line.version;
  own->written = apply(*own->requester.thread, own->operation, copy, at, Served::memory);
  own->copy = nullptr;
}

void CacheUnit::operated(LineAddr line, Tick pins, Source source) {
  const auto own = std::find_if(mshrs_.begin(), mshrs_.end(), [&](const Mshr& p) {
    return p.copy == nullptr && p.fill_at == kNever && agent_.store().line_of(p.operation.address) == line;
  });
  own->source = source;
  fills(*own, pins);
}

void CacheUnit::written_back(Tick at) {
  --write_backs_;
  owner_->try_again(at, Source::local_memory);
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

void CacheUnit::stale(const Copy& copy, Tick at) const {
  const Address address = agent_.store().address_of(copy.line);
  log_->fail(fmt::format("stale value: cache {} uses line 0x{:x} at tick {} in version {}, the latest is {}", client_, address,
                         at, copy.version, agent_.store().latest(copy.slot)),
             copy.line, address);
}

}  // namespace linebounce
