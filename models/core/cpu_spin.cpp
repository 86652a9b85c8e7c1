// Parked spins: a thread that loads words which nobody changes is not simulated load by load. Load number m of the parked spin
// falls on a known time; when something touches a line, the loads before that are counted and the thread goes on with the next.
#include <algorithm>

#include "models/core/core.hpp"
#include "models/core/cpu.hpp"

namespace linebounce {

namespace {

constexpr std::int64_t kPauseInstructions = 2;  // compare and branch

}  // namespace

void Cpu::begin_spin(std::span<const Address> addresses, int bytes) {
  if (tap_ != nullptr) tap_->spin_begins(*this, addresses, bytes);
  words_ = addresses;
  next_word_ = 0;
}

void Cpu::end_spin() {
  if (tap_ != nullptr) tap_->spin_ends(*this);
}

void Cpu::pause_spin() {
  if (tap_ != nullptr) tap_->spin_looked(*this);
  next_word_ = 0;
  function_counters_->instructions += kPauseInstructions;
  spin_loads_ += static_cast<std::int64_t>(words_.size()) + kPauseInstructions;
  slots_ = 0;
  idle_for(kSpinPause * cycle_);
}

// Parks if every word is in the nearest cache and nothing of this core's own is under way that could push it out.
void Cpu::park(std::span<const Value> values, int bytes) {
  if (!spec_->parked_spins || !store_buffer_.empty() || !interrupts_.empty() || unit_->misses_pending()) return;
  // Where siblings use the same cache, the ages of parked lines must follow from their times alone.
  if (core_->threads() > 1 && agent_->nearest_replacement() != Replacement::lru) return;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const Copy* copy = unit_->watch(words_[i]);
    if (copy != nullptr && unit_->peek(*copy, words_[i], bytes) == values[i]) continue;
    unwatch_words();  // it is not near, or has changed since it was loaded
    return;
  }
  parked_at_ = now_;
  loads_counted_ = 0;
  ++core_->parked_;
  suspend(Status::parked);
}

Tick Cpu::spin_period() const {
  return static_cast<Tick>(words_.size()) * nearest_latency_ + kSpinPause * cycle_;
}

Tick Cpu::spin_time(std::int64_t load) const {
  const auto words = static_cast<std::int64_t>(words_.size());
  return parked_at_ + load / words * spin_period() + load % words * nearest_latency_;
}

// The first load at or after `at`.
std::int64_t Cpu::spin_load_from(Tick at) const {
  if (at <= parked_at_) return 0;
  const auto words = static_cast<std::int64_t>(words_.size());
  const Tick period = spin_period();
  const Tick rest = (at - parked_at_) % period;
  const std::int64_t in_iteration = std::min(words, (rest + nearest_latency_ - 1) / nearest_latency_);
  return (at - parked_at_) / period * words + in_iteration;
}

// Loads before `limit` have happened: counts them, and leaves ages and last uses as they would be.
void Cpu::count_spins_until(Tick limit) {
  const std::int64_t end = spin_load_from(limit);
  const std::int64_t begin = loads_counted_;
  if (end <= begin) return;
  loads_counted_ = end;
  const auto words = static_cast<std::int64_t>(words_.size());
  function_counters_->hits[0][static_cast<std::size_t>(AccessKind::load)] += end - begin;
  const std::int64_t instructions = end - begin + kPauseInstructions * (end / words - begin / words);
  function_counters_->instructions += instructions;
  spin_loads_ += instructions;
  for (std::int64_t load = std::max(begin, end - words); load < end; ++load) {
    const Address word = words_[static_cast<std::size_t>(load % words)];
    if (!agent_->nearest_holds(word)) continue;
    agent_->use(word, 0, spin_time(load));
    Copy& copy = *agent_->find(agent_->store().line_of(word));
    copy.last_touch = std::max(copy.last_touch, spin_time(load));  // a sibling may spin on it too, and be ahead
  }
}

void Cpu::resume_spin(Tick at) {
  count_spins_until(at);
  now_ = spin_time(loads_counted_);
  next_word_ = static_cast<std::size_t>(loads_counted_ % static_cast<std::int64_t>(words_.size()));
  idle_to_ = -1;
  if (next_word_ == 0) {  // in the pause before the first word
    idle_from_ = now_ - kSpinPause * cycle_;
    idle_to_ = now_;
  }
  --core_->parked_;
  status_ = Status::ready;
  unwatch_words();
  core_->posted();  // a sibling that runs must not pass this thread now
  core_->wake_at(now_);
}

void Cpu::unwatch_words() {
  for (const Address word : words_) unit_->unwatch(agent_->store().line_of(word));
  core_->watch_again();
}

bool Cpu::watches(LineAddr line) const {
  return std::any_of(words_.begin(), words_.end(), [&](Address word) { return agent_->store().line_of(word) == line; });
}

bool Cpu::spins_on_nearest() const {
  return std::all_of(words_.begin(), words_.end(), [&](Address word) { return agent_->nearest_holds(word); });
}

}  // namespace linebounce
