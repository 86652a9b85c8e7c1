#include "sim/interleavings/checked_cpu.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>

#include "models/core/fiber_stack.hpp"
#include "models/core/fiber_switch.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kStackBytes = 128UL * 1024;
constexpr Tick kSecond = 1'000'000'000;  // exceeds every time-out

}  // namespace

void CheckedCpu::start(std::function<void(CheckedCpu&)> program) {
  auto run = [this, program = std::move(program)](boost::context::fiber&& search) {
    const FiberScope scope(kStackBytes);
    search_ = std::move(search);
    try {
      program(*this);
    } catch (const boost::context::detail::forced_unwind&) {
      throw;
    } catch (...) {
      error_ = std::current_exception();
    }
    ended_ = true;
    return std::move(search_);
  };
  program_ = boost::context::fiber(std::allocator_arg, ReusedStack<kStackBytes>(), std::move(run));
  program_ = resume_fiber(std::move(program_));
  if (error_) std::rethrow_exception(error_);
}

Value CheckedCpu::ask(const Request& request) {
  request_ = request;
  search_ = resume_fiber(std::move(search_));
  return result_;
}

CheckedCpu::Pair CheckedCpu::load_pair(Word first, Word second) {
  const Value a = load(first.address, first.bytes);
  return {a, load(second.address, second.bytes)};
}

void CheckedCpu::load_all(std::span<const Word> words, std::span<Value> values) {
  for (std::size_t i = 0; i < words.size(); ++i) values[i] = load(words[i].address, words[i].bytes);
}

void CheckedCpu::store(Address address, Value value, int bytes) {
  ask({.kind = StepKind::store, .address = address, .bytes = bytes, .operand = value});
}

void CheckedCpu::store_release(Address address, Value value, int bytes) {
  ask({.kind = StepKind::store,
       .address = address,
       .bytes = bytes,
       .operand = value,
       .release = true,
       .order = MemoryOrder::release});
}

void CheckedCpu::store_fence() {
  if (views_ != nullptr) {
    ask({.kind = StepKind::fence, .order = MemoryOrder::release});
  } else if (memory_->consistency() == Consistency::ia64) {
    fence();
  }
}

void CheckedCpu::load_fence() {
  if (views_ != nullptr) ask({.kind = StepKind::fence, .order = MemoryOrder::acquire});
}

Value CheckedCpu::exchange(Address address, Value value, int bytes) {
  const Orders orders = take_order(MemoryOrder::full);
  return ask({.kind = StepKind::exchange, .address = address, .bytes = bytes, .operand = value, .order = orders.done});
}

Value CheckedCpu::fetch_add(Address address, Value addend, int bytes) {
  const Orders orders = take_order(MemoryOrder::full);
  return ask({.kind = StepKind::fetch_add, .address = address, .bytes = bytes, .operand = addend, .order = orders.done});
}

Value CheckedCpu::compare_exchange(Address address, Value expected, Value desired, int bytes) {
  const Orders orders = take_order(MemoryOrder::full);
  return ask({.kind = StepKind::compare_exchange,
              .address = address,
              .bytes = bytes,
              .operand = desired,
              .expected = expected,
              .order = orders.done,
              .if_it_fails = orders.failed});
}

std::optional<Value> CheckedCpu::compare_exchange_weak(Address address, Value expected, Value desired, int bytes) {
  const Orders orders = take_order(MemoryOrder::full);
  const Value seen = ask({.kind = StepKind::compare_exchange,
                          .address = address,
                          .bytes = bytes,
                          .operand = desired,
                          .expected = expected,
                          .weak = true,
                          .order = orders.done,
                          .if_it_fails = orders.failed});
  return seen == expected && !fails_ ? std::nullopt : std::optional(seen);
}

bool CheckedCpu::may_fail_weakly() const {
  if (!request_.weak || has_failed_weakly_) return false;
  if (views_ != nullptr) return !places(true).empty();
  return memory_->load(number_, request_.address, request_.bytes) == request_.expected;
}

// Reads the words one after the other, as a processor does. `done` belongs to the lock's program, so it runs on the program's
// stack. An iteration that does not end the spin is forgotten (`seen_`), because the next one reads the values again.
//
// order_next() speaks of the first word. A program that spins on several reads the others again before it goes by them.
void CheckedCpu::spin(std::span<const Address> addresses, std::span<Value> values, SpinCondition done, int bytes, Loop) {
  const Digest before = seen_;
  const Orders orders = take_order(MemoryOrder::relaxed);
  looks_.clear();  // Forgets iterations of a C lock's loop from before it was recognised as a spin.
  for (;;) {
    seen_ = before;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      if (i == 0) next_order_ = orders;
      values[i] = load(addresses[i], bytes);
    }
    if (done(values)) return;
    looks_.clear();
    ask({.kind = StepKind::wait,
         .address = addresses.front(),
         .bytes = bytes,
         .words = addresses,
         .values = values,
         .order = orders.done});
  }
}

bool CheckedCpu::words_have_changed() const {
  for (std::size_t i = 0; i < request_.words.size(); ++i) {
    if (views_ != nullptr) {
      const MemoryOrder order = i == 0 ? request_.order : MemoryOrder::relaxed;
      const Look look = {StepKind::load, request_.words[i], request_.bytes, 0, 0, request_.values[i], order};
      if (may_see_other(look)) return true;
      continue;
    }
    if (memory_->load(number_, request_.words[i], request_.bytes) != request_.values[i]) return true;
  }
  return false;
}

std::size_t CheckedCpu::turn_of_loop() const {
  const auto same = [](const Look& a, const Look& b) {
    return a.kind == b.kind && a.address == b.address && a.operand == b.operand && a.expected == b.expected && a.seen == b.seen;
  };
  for (std::size_t turn = 1; turn <= kLongestTurn && 2 * turn <= looks_.size(); ++turn) {
    const auto last = looks_.end() - static_cast<std::ptrdiff_t>(turn);
    const bool again = last->kind == request_.kind && last->address == request_.address && last->operand == request_.operand &&
                       last->expected == request_.expected;
    if (again && std::equal(last, looks_.end(), last - static_cast<std::ptrdiff_t>(turn), same)) return turn;
  }
  return 0;
}

std::vector<Address> CheckedCpu::loop() const {
  std::vector<Address> addresses;
  for (auto look = looks_.end() - static_cast<std::ptrdiff_t>(turn_of_loop()); look != looks_.end(); ++look)
    addresses.push_back(look->address);
  std::ranges::sort(addresses);
  return addresses;
}

bool CheckedCpu::waits_in_loop() const {
  const std::size_t turn = ending_->all_are_counted ? 0 : turn_of_loop();
  if (turn == 0) return false;
  const bool changed = std::any_of(looks_.end() - static_cast<std::ptrdiff_t>(turn), looks_.end(), [this](const Look& look) {
    return views_ != nullptr ? may_see_other(look) : memory_->load(number_, look.address, look.bytes) != look.seen;
  });
  return !changed && !(ending_->any_counted() && ending_->counts(loop()));
}

bool CheckedCpu::may_time_out() const {
  return !ended_ && !ending_->timed.empty() && memory_->is_drained(number_) && waits_in_loop() &&
         ending_->timed.contains(loop());
}

bool CheckedCpu::waits() const {
  if (request_.kind == StepKind::wait) return !words_have_changed();
  if (request_.kind == StepKind::sleep) return !wake_pending();
  return waits_in_loop();
}

bool CheckedCpu::is_ready() const {
  if (waits()) return false;
  if (request_.kind == StepKind::load) return memory_->can_load(number_, request_.address, request_.bytes);
  return !is_atomic() || memory_->is_drained(number_);
}

bool CheckedCpu::is_private() const {
  if (views_ != nullptr) return request_.kind == StepKind::fence && request_.order != MemoryOrder::sequential;
  if (request_.kind == StepKind::fence) return memory_->is_drained(number_);
  return request_.kind == StepKind::store && memory_->consistency() != Consistency::sc && !waits();
}

void CheckedCpu::add_to(Digest& digest) const {
  if (!ended_) {
    digest.add(seen_.high);
    digest.add(seen_.low);
  }
  digest.add((wake_pending() ? 2U : 0U) + (ended_ ? 1U : 0U));
}

void CheckedCpu::forget(std::uint64_t at) {
  seen_ = {};
  for (const std::uint64_t part : {at, static_cast<std::uint64_t>(draws_)}) seen_.add(part);
  looks_.clear();
}

void CheckedCpu::step(Value drawn, int place) {
  ++steps_;
  result_ = perform(drawn, place);
  program_ = resume_fiber(std::move(program_));
  if (error_) std::rethrow_exception(error_);
}

Value CheckedCpu::perform(Value drawn, int place) {
  fails_ = request_.weak && drawn != 0;
  has_failed_weakly_ = has_failed_weakly_ || fails_;
  if (request_.kind != StepKind::clock) looks_in_a_row_ = 0;
  bool changed = false;
  Value seen = 0;
  if (request_.kind > StepKind::fence) {
    seen = perform_apart(drawn);
  } else {
    seen = views_ != nullptr ? perform_weakly(place, changed) : perform_at_once(changed);
  }
  remember(seen, changed);
  return seen;
}

// An operation that touches memory, under the models of machines.
Value CheckedCpu::perform_at_once(bool& changed) {
  const Request& request = request_;
  const auto before = [&] { return memory_->load(number_, request.address, request.bytes); };
  const auto put = [&](Value value) { memory_->write({request.address, request.bytes, value}); };
  Value seen = 0;
  switch (request.kind) {
    case StepKind::load: return before();
    case StepKind::store:
      changed = before() != request.operand;
      memory_->store(number_, {request.address, request.bytes, request.operand, request.release});
      return request.operand;
    case StepKind::exchange:
      seen = before();
      changed = seen != request.operand;
      put(request.operand);
      return seen;
    case StepKind::fetch_add:
      seen = before();
      changed = request.operand != 0;
      put(seen + request.operand);
      return seen;
    case StepKind::compare_exchange:
      seen = before();
      changed = seen == request.expected && seen != request.operand && !fails_;
      if (seen == request.expected && !fails_) put(request.operand);
      return seen;
    default: return 0;
  }
}

// The same under c11.
Value CheckedCpu::perform_weakly(int place, bool& changed) {
  const Request& request = request_;
  if (request.kind == StepKind::fence) {
    views_->fence(number_, request.order);
    return 0;
  }
  const ViewMemory::Word word = {request.address, request.bytes};
  const Value seen = views_->value_at(word, place);
  switch (request.kind) {
    case StepKind::load: return views_->load(number_, word, place, request.order);
    case StepKind::store:
      changed = seen != request.operand;
      views_->store(number_, word, place, request.operand, request.order);
      return request.operand;
    case StepKind::fetch_add:
      changed = request.operand != 0;
      views_->update(number_, word, place, seen + request.operand, request.order);
      return seen;
    case StepKind::compare_exchange:
      if (seen != request.expected || fails_) return views_->load(number_, word, place, request.if_it_fails);
      [[fallthrough]];
    default:
      changed = seen != request.operand;
      if (request.order == MemoryOrder::sequential_store) {
        views_->store(number_, word, place, request.operand, request.order);
      } else {
        views_->update(number_, word, place, request.operand, request.order);
      }
      return seen;
  }
}

Value CheckedCpu::perform_apart(Value drawn) {
  switch (request_.kind) {
    case StepKind::sleep:
      slept_ = wakes_;
      if (views_ != nullptr) views_->wake_up(number_);
      return 0;
    case StepKind::draw: ++draws_; return drawn;
    case StepKind::clock:
      if (drawn != 0) *clock_ += kSecond;
      seconds_ += drawn != 0 ? 1 : 0;
      looks_in_a_row_ = drawn != 0 ? 0 : looks_in_a_row_ + 1;
      return static_cast<Value>(*clock_);
    default: return 0;
  }
}

void CheckedCpu::remember(Value seen, bool changed) {
  seen_.add((static_cast<std::uint64_t>(request_.kind) << 2U) + (fails_ ? 2U : 0U) + (changed ? 1U : 0U));
  seen_.add(seen);
  if (changed || fails_) {
    looks_.clear();
  } else if (request_.kind < StepKind::fence) {
    looks_.push_back(
        {request_.kind, request_.address, request_.bytes, request_.operand, request_.expected, seen, request_.order});
  }
}

// ---- c11 ----

std::vector<int> CheckedCpu::places_of(const Look& look) const {
  const ViewMemory::Word word = {look.address, look.bytes};
  switch (look.kind) {
    case StepKind::load: return views_->loadable(number_, word, look.order);
    case StepKind::store: return views_->storable(number_, word, look.order);
    case StepKind::exchange:
    case StepKind::fetch_add: return views_->updatable(number_, word, look.order);
    default: break;
  }
  std::vector<int> places = views_->updatable(number_, word, look.order);
  std::erase_if(places, [&](int place) { return views_->value_at(word, place) != look.expected; });
  for (const int place : views_->loadable(number_, word, MemoryOrder::relaxed)) {
    if (views_->value_at(word, place) != look.expected) places.push_back(place);
  }
  std::ranges::sort(places, std::greater{});
  return places;
}

// A store has at least one place, as it may follow the newest value, and so has every other access.
std::vector<int> CheckedCpu::places(bool fails) const {
  if (views_ == nullptr || request_.kind >= StepKind::fence) return {0};
  if (!fails) {
    std::vector<int> places =
        places_of({request_.kind, request_.address, request_.bytes, request_.operand, request_.expected, 0, request_.order});
    leave_out_third_turn(places);
    return places;
  }
  const ViewMemory::Word word = {request_.address, request_.bytes};
  std::vector<int> places = views_->loadable(number_, word, MemoryOrder::relaxed);
  std::erase_if(places, [&](int place) { return views_->value_at(word, place) != request_.expected; });
  if (places.size() > 1) places.resize(1);
  return places;
}

// A loop that waits may read an old value again and again while newer ones are there. That is no progress: of equal turns in a
// row, two stand for all, so in the third one it sees another value, if there is one.
void CheckedCpu::leave_out_third_turn(std::vector<int>& places) const {
  const std::size_t turn = ending_->all_are_counted ? 0 : turn_of_loop();
  if (turn == 0 || (ending_->any_counted() && ending_->counts(loop()))) return;
  const ViewMemory::Word word = {request_.address, request_.bytes};
  const Value seen = looks_[looks_.size() - turn].seen;
  const auto sees_other = [&](int place) { return views_->value_at(word, place) != seen; };
  if (std::ranges::any_of(places, sees_other)) std::erase_if(places, [&](int place) { return !sees_other(place); });
}

bool CheckedCpu::may_see_other(const Look& look) const {
  const ViewMemory::Word word = {look.address, look.bytes};
  return std::ranges::any_of(places_of(look), [&](int place) { return views_->value_at(word, place) != look.seen; });
}

}  // namespace linebounce::sim
