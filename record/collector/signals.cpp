#include "record/collector/signals.hpp"

#include <algorithm>

namespace linebounce::record {

void ConditionCounts::wait_begins(const void* waiter) {
  waiters_[waiter] = signals_;
}

std::uint64_t ConditionCounts::signalled(bool wakes_all) {
  ++signals_;
  if (!waiters_.empty()) open_.push_back({signals_, wakes_all});
  return signals_;
}

std::optional<std::uint64_t> ConditionCounts::woken(const void* waiter, bool by_signal) {
  const auto wait = waiters_.find(waiter);
  if (wait == waiters_.end()) return std::nullopt;
  const std::uint64_t before = wait->second;
  waiters_.erase(wait);
  std::optional<std::uint64_t> number;
  const auto signal = std::ranges::find_if(open_, [&](const Signal& one) { return one.number > before; });
  if (by_signal && signal != open_.end()) {
    number = signal->number;
    if (!signal->wakes_all) open_.erase(signal);
  }
  forget_signals_without_waiters();
  return number;
}

void ConditionCounts::forget_signals_without_waiters() {
  std::uint64_t oldest = UINT64_MAX;
  for (const auto& [waiter, before] : waiters_) oldest = std::min(oldest, before);
  while (!open_.empty() && open_.front().number <= oldest) open_.pop_front();
}

// A wait that succeeds without a post shows that the semaphore had an initial value that was not recorded.
std::uint64_t SemaphoreCounts::taken() {
  ++waits_;
  if (waits_ > first_value_ + posts_) first_value_ = waits_ - posts_;
  return waits_ > first_value_ ? waits_ - first_value_ : 0;
}

}  // namespace linebounce::record
