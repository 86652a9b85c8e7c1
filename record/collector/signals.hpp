// Which signal ended which wait: counts, for a trace's waits name the signals that there must have been.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace linebounce::record {

// Of one condition variable. A wait is ended by the first signal behind its beginning that has ended no other; a broadcast ends
// all waits that had begun.
class ConditionCounts {
 public:
  void wait_begins(const void* waiter);
  // Its number, the first is 1.
  std::uint64_t signalled(bool wakes_all);
  // The number of the signal; nothing: no signal is left that can have woken it.
  std::optional<std::uint64_t> woken(const void* waiter, bool by_signal);

 private:
  struct Signal {
    std::uint64_t number;
    bool wakes_all;
  };
  void forget_signals_without_waiters();

  std::uint64_t signals_ = 0;
  std::map<const void*, std::uint64_t> waiters_;  // signals before the wait began
  std::deque<Signal> open_;                       // that may end a wait yet
};

// Of one semaphore: the wait number k needs k - (its first value) posts.
class SemaphoreCounts {
 public:
  explicit SemaphoreCounts(std::uint64_t first_value = 0) : first_value_(first_value) {}
  std::uint64_t posted() { return ++posts_; }
  // The number of posts that there must have been; 0: none.
  std::uint64_t taken();

 private:
  std::uint64_t first_value_;
  std::uint64_t posts_ = 0, waits_ = 0;
};

}  // namespace linebounce::record
