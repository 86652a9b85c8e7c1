#include "models/core/thread_interrupts.hpp"

#include <algorithm>

namespace linebounce {

void ThreadInterrupts::add(const Interrupt& interrupt) {
  const auto later = [](const Interrupt& a, const Interrupt& b) { return a.at != b.at ? a.at < b.at : a.sender < b.sender; };
  pending_.insert(std::upper_bound(pending_.begin(), pending_.end(), interrupt, later), interrupt);
}

bool ThreadInterrupts::any_after(Tick now) const {
  return !pending_.empty() && pending_.back().at > now;
}

Tick ThreadInterrupts::next() const {
  if (handler_due_) return kNever;
  for (const Interrupt& interrupt : pending_) {
    if (acceptable(interrupt)) return interrupt.at;
  }
  return kNever;
}

Interrupt ThreadInterrupts::accept() {
  const auto first = std::find_if(pending_.begin(), pending_.end(), [this](const Interrupt& i) { return acceptable(i); });
  const Interrupt accepted = *first;
  pending_.erase(first);
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
