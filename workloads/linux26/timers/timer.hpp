// A timer as part of an object: a list entry, the time of expiry, and the base that it is on.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "workloads/program/object.hpp"

namespace linebounce::workloads {

// The offsets of timer `name` in its owner's structure: fields NAME.entry.next and .prev, NAME.expires and NAME.base.
struct TimerFields {
  FieldPlace entry, expires, base;
};
// Errors: std::invalid_argument, if the layout has no such fields.
TimerFields timer_fields(const Layout& layout, const std::string& name);

// Must not move in the simulator's own memory while it may be pending.
class Timer {
 public:
  using Callback = std::function<void(Cpu&)>;
  Timer(const TimerFields& fields, const Object& owner, Callback expired)
      : owner_(owner), fields_(fields), expired_(std::move(expired)) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  friend class Timers;
  friend class RetiredTimers;

  [[nodiscard]] Address entry() const { return owner_.at(fields_.entry, 0); }  // this is what pointers to the timer contain
  [[nodiscard]] Address base() const { return owner_.at(fields_.base, 0); }
  [[nodiscard]] Address expires() const { return owner_.at(fields_.expires, 0); }

  Object owner_;
  TimerFields fields_;
  Callback expired_, retired_;
};

// The word `base`: the address of the timer's tvec_base, or 0 while the timer moves to another base. With batch_deletes, the
// lowest bits are the timer's state, so a single compare-and-exchange decides whether the timer runs or is retired.
constexpr Value kArmed = 1;
constexpr Value kRetired = 2;
constexpr Value kTimerState = kArmed | kRetired;

}  // namespace linebounce::workloads
