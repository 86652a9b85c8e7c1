// The touches that one bus has announced to its caches. A touch is an order step's access to the caches' copies of a line. A
// core that runs ahead of the bus stops before the announced touch, so running ahead changes no result. Two invariants of
// docs/engine.md are checked, I1 here and I2 where the touch happens; K is lookahead():
//   I1  a touch at time T is announced at T - K or earlier, or while an earlier touch still holds all cores back
//   I2  the last use of the touched line by its core is before T
// Touches happen in the order in which they were announced. A touch that meets a busy line is deferred, and no core runs past
// the touch's time until the touch has happened.
#pragma once

#include <stdexcept>

#include "models/units.hpp"

namespace linebounce {

class Announcements {
 public:
  // `lookahead` is K: the shortest time, in ticks, from a decision of the bus to the decision's effect on a cache.
  explicit Announcements(Tick lookahead) : lookahead_(lookahead) {}

  [[nodiscard]] Tick lookahead() const { return lookahead_; }
  // The time of the next touch, or kNever. No core may use its caches at or after this time.
  [[nodiscard]] Tick next_touch() const { return next_; }

  // Announces that the next touch happens at `at`.
  void announce(Tick at, Tick now) {
    const bool held_back = next_ != kNever && at >= next_;
    if (!held_back && at < now + lookahead_) throw std::logic_error("invariant I1: a touch was announced too late");
    next_ = at;
  }
  // Records that the announced touch happens now, at `at`. `next` is the time of the touch announced after it, or kNever.
  void perform(Tick at, Tick next) {
    if (at != next_ || next <= at) throw std::logic_error("invariant I1: a touch at a time that was not announced");
    next_ = next;
  }

 private:
  Tick lookahead_;
  Tick next_ = kNever;
};

}  // namespace linebounce
