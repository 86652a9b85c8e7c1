// What a hardware thread does in a spin: the loop, and when it is parked and goes on.
#include "models/core/core.hpp"
#include "models/core/hardware_thread.hpp"

namespace linebounce {

void HardwareThread::spin(std::span<const Address> addresses, std::span<Value> values, SpinCondition done, int bytes,
                          Loop loop) {
  if (tap() != nullptr) tap()->spin_begins(*this, addresses, bytes);
  // Once: its few instructions and its words' pages stay at hand, whether it is parked or not.
  if (footprint_ != nullptr) {
    for (const Address address : addresses) fetch_and_translate(address);
  }
  spin_.begin(addresses, loop, loop == Loop::pauses ? spec_->pausing_spin : spec_->tight_spin);
  bool waited = false;
  for (;;) {
    while (!spin_.all_loaded()) {
      const std::size_t word = spin_.take_next_word();
      values[word] = footprint_ == nullptr ? load(addresses[word], bytes) : load_in_spin(addresses[word], bytes);
    }
    if (done(values)) break;
    waited = true;
    pause_spin();
    park(values, bytes);
  }
  spin_.end();
  if (waited) now_ += spec_->spin_exit;
  if (tap() != nullptr) tap()->spin_ends(*this);
}

Value HardwareThread::load_in_spin(Address address, int bytes) {
  return perform({.kind = OperationKind::load, .bytes = static_cast<std::uint8_t>(bytes), .in_spin = true, .address = address});
}

void HardwareThread::pause_spin() {
  if (tap() != nullptr) tap()->spin_polled(*this);
  spin_.begin_again();
  function_counters_->instructions += Spin::kPauseInstructions;
  spin_loads_ += static_cast<std::int64_t>(spin_.words().size()) + Spin::kPauseInstructions;
  slots_ = 0;
  wait_for(spin_.pause());
}

// Parks unless a store of its own waits, which its loads might have to see, or a miss of a word's line is under way
// (CacheUnit::watch).
void HardwareThread::park(std::span<const Value> values, int bytes) {
  if (!spec_->engine.parked_spins || !store_buffer_.empty()) return;
  if (!spin_.park(values, bytes, now_)) {
    unwatch_words();
    return;
  }
  ++core_->parked_;
  suspend(Status::parked);
}

void HardwareThread::count_spins_until(Tick limit) {
  const Spin::Loads ran = spin_.count_until(limit);
  function_counters_->hits[0][static_cast<std::size_t>(AccessKind::load)] += ran.loads;
  function_counters_->instructions += ran.instructions;
  spin_loads_ += ran.instructions;
}

void HardwareThread::resume_spin(Tick at) {
  count_spins_until(at);
  now_ = spin_.resume();
  idle_to_ = -1;
  if (spin_.at_first_word()) {  // in the pause before it
    idle_from_ = now_ - spin_.pause();
    idle_to_ = now_;
  }
  --core_->parked_;
  status_ = Status::ready;
  unwatch_words();
  core_->posted();  // a sibling that runs must not pass this thread now
  core_->wake_at(now_);
}

void HardwareThread::unwatch_words() {
  spin_.unwatch();
  core_->rewatch();
}

}  // namespace linebounce
