// The length of a tick, and conversions to and from ticks. Simulated time is an integer number of ticks. A tick divides every
// clock's period and is at most 100 ps. One unit of SystemC's time is one tick.
#pragma once

#include <span>

#include "models/machine_spec.hpp"
#include "models/units.hpp"

namespace linebounce {

class Timebase {
 public:
  // Errors: std::invalid_argument, with text for a user, if the clocks have no common tick of at least 1 fs.
  explicit Timebase(std::span<const Frequency> clocks);

  // Ticks in one period. REQUIRES: `clock` was one of the constructor's.
  [[nodiscard]] Tick period(Frequency clock) const;

  // Nearest tick, half up. REQUIRES: ns >= 0.
  [[nodiscard]] Tick from_ns(double ns) const;
  [[nodiscard]] Tick from_us(double us) const { return from_ns(us * 1000); }

  // For output only: one multiplication and one division of exact integers.
  [[nodiscard]] double to_ns(Tick ticks) const;

 private:
  // Ticks in a microsecond, as a fraction: the common frequency in MHz.
  std::int64_t numerator_ = 1;
  std::int64_t denominator_ = 1;
};

// The first multiple of `period` at or after t. REQUIRES: t >= 0.
constexpr Tick align_up(Tick t, Tick period) {
  return (t + period - 1) / period * period;
}

}  // namespace linebounce
