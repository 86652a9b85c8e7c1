// The interrupts and wakes of one hardware thread, from when they are known (like any other touch from outside, at least K
// before their time) until they are accepted, and the one whose handler is due.
#pragma once

#include <cstdint>
#include <deque>

#include "models/units.hpp"

namespace linebounce {

struct Interrupt {
  static constexpr int kWake = -1;
  Tick at = 0;
  int sender = 0;  // breaks ties
  int vector = 0;  // kWake: no handler, ends sleep()
};

class ThreadInterrupts {
 public:
  void enable() { enabled_ = true; }
  void disable() { enabled_ = false; }

  void add(const Interrupt& interrupt);
  [[nodiscard]] bool empty() const { return known_.empty(); }
  [[nodiscard]] bool any_after(Tick now) const;
  // The time of the earliest that may be accepted; kNever: none may.
  [[nodiscard]] Tick next() const;
  // It is accepted. REQUIRES: next() != kNever.
  Interrupt accept();

  // An accepted one that splits a computation of which `rest` is left, until its handler begins. While a handler runs, no other
  // interrupt is accepted.
  struct Delivery {
    int vector = 0;
    Tick rest = 0;
  };
  void deliver(const Delivery& delivery) {
    delivery_ = delivery;
    handler_due_ = true;
  }
  [[nodiscard]] bool handler_due() const { return handler_due_; }
  Delivery begin_handler();
  void end_handler() { enable(); }

  // Wakes that were accepted: how often; whether one was since the last take_wake().
  [[nodiscard]] std::int64_t wakes() const { return wakes_; }
  [[nodiscard]] bool wake_pending() const { return wake_pending_; }
  void take_wake() { wake_pending_ = false; }

 private:
  [[nodiscard]] bool acceptable(const Interrupt& interrupt) const { return enabled_ || interrupt.vector == Interrupt::kWake; }

  std::deque<Interrupt> known_;  // by time and sender
  bool enabled_ = true;
  bool handler_due_ = false;
  Delivery delivery_;
  bool wake_pending_ = false;
  std::int64_t wakes_ = 0;
};

}  // namespace linebounce
