#include "sim/interleavings/checked_cpu.hpp"

#include <algorithm>
#include <cstddef>
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
  ask({.kind = StepKind::store, .address = address, .bytes = bytes, .operand = value, .release = true});
}

void CheckedCpu::store_fence() {
  if (memory_->consistency() == Consistency::ia64) fence();
}

Value CheckedCpu::exchange(Address address, Value value, int bytes) {
  return ask({.kind = StepKind::exchange, .address = address, .bytes = bytes, .operand = value});
}

Value CheckedCpu::fetch_add(Address address, Value addend, int bytes) {
  return ask({.kind = StepKind::fetch_add, .address = address, .bytes = bytes, .operand = addend});
}

Value CheckedCpu::compare_exchange(Address address, Value expected, Value desired, int bytes) {
  return ask(
      {.kind = StepKind::compare_exchange, .address = address, .bytes = bytes, .operand = desired, .expected = expected});
}

std::optional<Value> CheckedCpu::compare_exchange_weak(Address address, Value expected, Value desired, int bytes) {
  const Value seen = ask({.kind = StepKind::compare_exchange,
                          .address = address,
                          .bytes = bytes,
                          .operand = desired,
                          .expected = expected,
                          .weak = true});
  return seen == expected && !fails_ ? std::nullopt : std::optional(seen);
}

bool CheckedCpu::may_fail_weakly() const {
  return request_.weak && !has_failed_weakly_ && memory_->load(number_, request_.address, request_.bytes) == request_.expected;
}

// Reads the words one after the other, as a processor does. `done` belongs to the lock's program, so it runs on the program's
// stack. An iteration that does not end the spin is forgotten (`seen_`), because the next one reads the values again.
void CheckedCpu::spin(std::span<const Address> addresses, std::span<Value> values, SpinCondition done, int bytes, Loop) {
  const Digest before = seen_;
  looks_.clear();  // Forgets iterations of a C lock's loop from before it was recognised as a spin.
  for (;;) {
    seen_ = before;
    for (std::size_t i = 0; i < addresses.size(); ++i) values[i] = load(addresses[i], bytes);
    if (done(values)) return;
    looks_.clear();
    ask({.kind = StepKind::wait, .address = addresses.front(), .bytes = bytes, .words = addresses, .values = values});
  }
}

bool CheckedCpu::words_have_changed() const {
  for (std::size_t i = 0; i < request_.words.size(); ++i) {
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
    return memory_->load(number_, look.address, look.bytes) != look.seen;
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

void CheckedCpu::step(Value drawn) {
  ++steps_;
  result_ = perform(drawn);
  program_ = resume_fiber(std::move(program_));
  if (error_) std::rethrow_exception(error_);
}

Value CheckedCpu::perform(Value drawn) {
  const Request& request = request_;
  const auto before = [&] { return memory_->load(number_, request.address, request.bytes); };
  const auto put = [&](Value value) { memory_->write({request.address, request.bytes, value}); };
  Value seen = 0;
  bool changed = false;
  fails_ = request.weak && drawn != 0;
  if (request.kind != StepKind::clock) looks_in_a_row_ = 0;
  switch (request.kind) {
    case StepKind::load: seen = before(); break;
    case StepKind::store:
      changed = before() != request.operand;
      seen = request.operand;
      memory_->store(number_, {request.address, request.bytes, request.operand, request.release});
      break;
    case StepKind::exchange:
      seen = before();
      changed = seen != request.operand;
      put(request.operand);
      break;
    case StepKind::fetch_add:
      seen = before();
      changed = request.operand != 0;
      put(seen + request.operand);
      break;
    case StepKind::compare_exchange:
      seen = before();
      changed = seen == request.expected && seen != request.operand && !fails_;
      if (seen == request.expected && !fails_) put(request.operand);
      has_failed_weakly_ = has_failed_weakly_ || fails_;
      break;
    case StepKind::sleep: slept_ = wakes_; break;
    case StepKind::draw:
      seen = drawn;
      ++draws_;
      break;
    case StepKind::clock:
      if (drawn != 0) *clock_ += kSecond;
      seconds_ += drawn != 0 ? 1 : 0;
      looks_in_a_row_ = drawn != 0 ? 0 : looks_in_a_row_ + 1;
      seen = static_cast<Value>(*clock_);
      break;
    case StepKind::fence:
    case StepKind::wait:
    case StepKind::mark: break;
  }
  remember(seen, changed);
  return seen;
}

void CheckedCpu::remember(Value seen, bool changed) {
  seen_.add((static_cast<std::uint64_t>(request_.kind) << 2U) + (fails_ ? 2U : 0U) + (changed ? 1U : 0U));
  seen_.add(seen);
  if (changed || fails_) {
    looks_.clear();
  } else if (request_.kind < StepKind::fence) {
    looks_.push_back({request_.kind, request_.address, request_.bytes, request_.operand, request_.expected, seen});
  }
}

}  // namespace linebounce::sim
