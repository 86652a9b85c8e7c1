// How long something that serves one transfer at a time (a bus's address or data lines, a link) is busy in the measured time.
// Transfers that begin in the measured time count up to its end. If that is known only once all programs have ended, those that
// may outlast it are kept until then.
#pragma once

#include <algorithm>
#include <deque>

#include "models/units.hpp"

namespace linebounce {

class BusyTime {
 public:
  // The measured time begins at `begin` and ends at `end`, or, if that is kNever, when the last program ends.
  BusyTime(Tick begin, Tick end) : begin_(begin), end_(end) {}

  // Adds a transfer of `duration` from `from` on. If `runs`, some program has not ended at the present time `now`. Returns
  // whether the transfer begins in the measured time. REQUIRES: `from` is not before the end of the transfer added last.
  bool add(Tick from, Tick duration, Tick now, bool runs) {
    if (from < begin_ || from >= end_) return false;
    if (end_ != kNever) {
      settled_ += std::min(duration, end_ - from);
      return true;
    }
    for (; runs && !open_.empty() && open_.front().until <= now; open_.pop_front())
      settled_ += open_.front().until - open_.front().from;
    open_.push_back({from, from + duration});
    return true;
  }

  // The busy part of the measured time, which ended at `end`.
  [[nodiscard]] Tick until(Tick end) const {
    Tick sum = settled_;
    for (const Transfer& transfer : open_) sum += std::max<Tick>(0, std::min(transfer.until, end) - transfer.from);
    return sum;
  }

 private:
  struct Transfer {
    Tick from, until;
  };

  Tick begin_, end_;
  Tick settled_ = 0;
  std::deque<Transfer> open_;  // of a run whose end is not known yet: those that may outlast it
};

}  // namespace linebounce
