// The pending interrupts and wakes of one hardware thread. Senders add one at least K before its time, like any other effect on
// another core; the thread accepts it later, and then runs its handler.
#pragma once

#include <cstdint>
#include <deque>

#include "models/units.hpp"

namespace linebounce {

struct Interrupt {
  static constexpr int kWake = -1;
  Tick at = 0;
  int sender = 0;  // breaks ties
  int vector = 0;  // kWake ends sleep() and has no handler
};

class ThreadInterrupts {
 public:
  void enable() { enabled_ = true; }
  void disable() { enabled_ = false; }

  void add(const Interrupt& interrupt);
  [[nodiscard]] bool empty() const { return pending_.empty(); }
  [[nodiscard]] bool any_after(Tick now) const;
  // Time of the earliest acceptable interrupt, or kNever.
  [[nodiscard]] Tick next() const;
  // Removes and returns that interrupt. REQUIRES: next() != kNever.
  Interrupt accept();

  // An accepted interrupt whose handler is due. It has split a computation of which `rest` remains. While a handler is due or
  // runs, no other interrupt is accepted.
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

  // Number of accepted wakes; whether one has come since the last consume_wake().
  [[nodiscard]] std::int64_t wakes() const { return wakes_; }
  [[nodiscard]] bool wake_pending() const { return wake_pending_; }
  void consume_wake() { wake_pending_ = false; }

 private:
  [[nodiscard]] bool acceptable(const Interrupt& interrupt) const { return enabled_ || interrupt.vector == Interrupt::kWake; }

  std::deque<Interrupt> pending_;  // sorted by time and sender
  bool enabled_ = true;
  bool handler_due_ = false;
  Delivery delivery_;
  bool wake_pending_ = false;
  std::int64_t wakes_ = 0;
};

}  // namespace linebounce
