// The pending interrupts and wakes of one hardware thread. A sender adds an interrupt at least K (the machine's lookahead,
// docs/engine.md) before its arrival time. The thread accepts the interrupt later, and then runs its handler.
#pragma once

#include <cstdint>
#include <vector>

#include "models/units.hpp"

namespace linebounce {

struct Interrupt {
  static constexpr int kWake = -1;
  Tick at = 0;
  int sender = 0;  // number of the sending CPU; orders interrupts with equal times
  int vector = 0;  // interrupt vector, or kWake, which ends sleep() and has no handler
};

class ThreadInterrupts {
 public:
  void enable() { enabled_ = true; }
  void disable() { enabled_ = false; }

  void add(const Interrupt& interrupt);
  [[nodiscard]] bool empty() const { return pending_.empty(); }
  [[nodiscard]] bool any_after(Tick now) const;
  // Arrival time of the earliest interrupt that the thread can accept now, or kNever.
  [[nodiscard]] Tick next() const;
  // Removes and returns the interrupt whose time next() returns. REQUIRES: next() != kNever.
  Interrupt accept();

  // An accepted interrupt whose handler must run next. `rest`: what remains of the computation that the interrupt split. Until
  // the handler ends, the thread accepts no other interrupt that has a handler.
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

  // wakes(): number of wakes accepted so far. wake_pending(): true if one was accepted since the last consume_wake().
  [[nodiscard]] std::int64_t wakes() const { return wakes_; }
  [[nodiscard]] bool wake_pending() const { return wake_pending_; }
  void consume_wake() { wake_pending_ = false; }

 private:
  [[nodiscard]] bool acceptable(const Interrupt& interrupt) const { return enabled_ || interrupt.vector == Interrupt::kWake; }

  std::vector<Interrupt> pending_;  // the interrupts not yet accepted, sorted by time and sender
  bool enabled_ = true;
  bool handler_due_ = false;
  Delivery delivery_;
  bool wake_pending_ = false;
  std::int64_t wakes_ = 0;
};

}  // namespace linebounce
