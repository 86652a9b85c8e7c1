// How long something that serves one transfer at a time (a bus's address or data lines, a link) is busy in the measured time.
// Transfers that begin in the measured time count up to its end. If that is known only once all programs have ended, those that
// may outlast it are kept until then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

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
    if (runs && last_ <= now) {
      settled_ += open_busy_;
      open_busy_ = 0;
      open_.clear();
    } else if (runs && open_.size() >= kMostOpen) {
      settle_until(now);
    }
    last_ = from + duration;
    open_busy_ += duration;
    open_.push_back({from, last_});
    return true;
  }

  // The busy part of the measured time, which ended at `end`.
  [[nodiscard]] Tick until(Tick end) const {
    Tick sum = settled_;
    for (const Transfer& transfer : open_) sum += std::max<Tick>(0, std::min(transfer.until, end) - transfer.from);
    return sum;
  }

 private:
  static constexpr std::size_t kMostOpen = 64;  // before those that are over are looked for
  struct Transfer {
    Tick from, until;
  };

  [[gnu::noinline]] void settle_until(Tick now) {
    std::erase_if(open_, [this, now](const Transfer& transfer) {
      if (transfer.until > now) return false;
      settled_ += transfer.until - transfer.from;
      open_busy_ -= transfer.until - transfer.from;
      return true;
    });
  }

  Tick begin_, end_;
  Tick settled_ = 0;
  // Of a run whose end is not known yet: the transfers that may outlast it, and how long they take.
  std::vector<Transfer> open_;
  Tick open_busy_ = 0;
  Tick last_ = 0;  // the end of the latest transfer
};

}  // namespace linebounce
