#include "models/core/thread_interrupts.hpp"

#include <algorithm>

namespace linebounce {

void ThreadInterrupts::add(const Interrupt& interrupt) {
  const auto later = [](const Interrupt& a, const Interrupt& b) { return a.at != b.at ? a.at < b.at : a.sender < b.sender; };
  known_.insert(std::upper_bound(known_.begin(), known_.end(), interrupt, later), interrupt);
}

bool ThreadInterrupts::any_after(Tick now) const {
  return !known_.empty() && known_.back().at > now;
}

Tick ThreadInterrupts::next() const {
  if (handler_due_) return kNever;
  for (const Interrupt& interrupt : known_) {
    if (acceptable(interrupt)) return interrupt.at;
  }
  return kNever;
}

Interrupt ThreadInterrupts::accept() {
  const auto first = std::find_if(known_.begin(), known_.end(), [this](const Interrupt& i) { return acceptable(i); });
  const Interrupt accepted = *first;
  known_.erase(first);
  if (accepted.vector == Interrupt::kWake) {
    wake_pending_ = true;
    ++wakes_;
  }
  return accepted;
}

ThreadInterrupts::Delivery ThreadInterrupts::begin_handler() {
  handler_due_ = false;
  disable();
  return delivery_;
}

}  // namespace linebounce
