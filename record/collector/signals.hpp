// Matches signals to waits by counting, because a wait in a trace names the number of signals that it needs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace linebounce::record {

// Counts for one condition variable. A wait ends with the first signal after its beginning that has not ended another wait. A
// broadcast ends all waits that had begun.
class ConditionCounts {
 public:
  void wait_begins(const void* waiter);
  // Returns the signal's number, from 1.
  std::uint64_t signalled(bool wakes_all);
  // The number of the signal that woke the waiter; none if every signal that could have woken it has woken another.
  std::optional<std::uint64_t> woken(const void* waiter, bool by_signal);

 private:
  struct Signal {
    std::uint64_t number;
    bool wakes_all;
  };
  void forget_signals_without_waiters();

  std::uint64_t signals_ = 0;
  std::map<const void*, std::uint64_t> waiters_;  // number of signals before the wait began, by waiter
  std::deque<Signal> open_;                       // signals that may still end a wait
};

// Counts for one semaphore: wait number k needs k - (its initial value) posts.
class SemaphoreCounts {
 public:
  explicit SemaphoreCounts(std::uint64_t first_value = 0) : first_value_(first_value) {}
  std::uint64_t posted() { return ++posts_; }
  // Counts one more wait, and returns how many posts it needs; 0: none.
  std::uint64_t taken();

 private:
  std::uint64_t first_value_;
  std::uint64_t posts_ = 0, waits_ = 0;
};

}  // namespace linebounce::record
