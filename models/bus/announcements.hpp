// The touches that one bus has announced to the caches on it. With Core's horizon they make run-ahead exact. Two invariants of
// docs/engine.md are checked, I1 here and I2 where a touch happens:
//   I1  nothing touches a cache at time T unless it was announced by T - K, or while an earlier touch still held all cores back
//   I2  a touched line's last use lies before T
// Touches happen in the order in which they were announced. A touch that meets a busy line is deferred, and no core runs past
// its time until it has happened.
#pragma once

#include <stdexcept>

#include "models/units.hpp"

namespace linebounce {

class Announcements {
 public:
  // K: ticks from the last open decision to its earliest effect on a cache.
  explicit Announcements(Tick lookahead) : lookahead_(lookahead) {}

  [[nodiscard]] Tick lookahead() const { return lookahead_; }
  // No core may use its caches at or after this time.
  [[nodiscard]] Tick next_touch() const { return next_; }

  // The first of the announced touches will happen at `at`.
  void announce(Tick at, Tick now) {
    const bool held_back = next_ != kNever && at >= next_;
    if (!held_back && at < now + lookahead_) throw std::logic_error("invariant I1: a touch was announced too late");
    next_ = at;
  }
  // The announced touch happens now. `next` is the next one, announced already; kNever: none.
  void perform(Tick at, Tick next) {
    if (at != next_ || next <= at) throw std::logic_error("invariant I1: a touch at a time that was not announced");
    next_ = next;
  }

 private:
  Tick lookahead_;
  Tick next_ = kNever;
};

}  // namespace linebounce
