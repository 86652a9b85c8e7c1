// How a hardware thread runs, parks and resumes a spin loop.
#include <utility>

#include "models/core/hardware_thread.hpp"
#include "models/reached.hpp"

namespace linebounce {

void HardwareThread::spin(std::span<const Address> addresses, std::span<Value> values, SpinCondition done, int bytes,
                          Loop loop) {
  if (tap() != nullptr) tap()->spin_begins(*this, addresses, bytes);
  // A spin fetches its code and translates its words' addresses only here, before the loop. Iterations thus cost the same
  // whether they are simulated or parked.
  if (footprint_ != nullptr) {
    for (const Address address : addresses) fetch_and_translate(address);
  }
  spin_.begin(addresses, loop, loop == Loop::pauses ? spec_->pausing_spin : spec_->tight_spin);
  bool waited = false;
  for (;;) {
    while (!spin_.all_loaded()) {
      const std::size_t word = spin_.take_word();
      values[word] = footprint_ == nullptr ? load(addresses[word], bytes) : load_in_spin(addresses[word], bytes);
    }
    if (done(values)) break;
    if (!std::exchange(waited, true)) charge_spin_from(now_);
    pause_spin();
    park(values, bytes);
  }
  spin_.end();
  if (waited && loop != Loop::pauses) now_ += spec_->spin_exit;
  if (waited) charge_spin_until(now_);
  if (tap() != nullptr) tap()->spin_ends(*this);
}

Value HardwareThread::load_in_spin(Address address, int bytes) {
  return perform({.kind = OperationKind::load, .bytes = static_cast<std::uint8_t>(bytes), .in_spin = true, .address = address});
}

void HardwareThread::pause_spin() {
  if (tap() != nullptr) tap()->spin_polled(*this);
  spin_.restart_loop();
  function_counters_->instructions += Spin::kPauseInstructions;
  spin_instructions_ += static_cast<std::int64_t>(spin_.words().size()) + Spin::kPauseInstructions;
  slots_ = 0;
  advance_interruptibly(spin_.pause());
}

// Does nothing while the store buffer holds stores, which the loop's loads might have to read, or while a word's line is
// being fetched.
void HardwareThread::park(std::span<const Value> values, int bytes) {
  if (!spec_->engine.parked_spins || !store_buffer_.empty()) return;
  if (!spin_.park(values, bytes, now_)) {
    REACHED(spin_cannot_park);
    spin_.set_watched(false);
    owner_->rewatch();
    return;
  }
  owner_->spin_parked();
  suspend(Status::parked);
}

void HardwareThread::count_spins_until(Tick limit) {
  const Spin::Loads ran = spin_.count_until(limit);
  function_counters_->hits_of(0, AccessKind::load) += ran.loads;
  function_counters_->instructions += ran.instructions;
  spin_instructions_ += ran.instructions;
}

void HardwareThread::resume_spin(Tick at) {
  count_spins_until(at);
  now_ = spin_.resume();
  computing_until_ = -1;
  if (spin_.at_first_word()) {  // the thread is in the pause that precedes the first word's load
    computing_from_ = now_ - spin_.pause();
    computing_until_ = now_;
  }
  status_ = Status::ready;
  spin_.set_watched(false);
  owner_->spin_resumed(now_);
}

}  // namespace linebounce
