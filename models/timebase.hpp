// Converts times to and from ticks. Simulated time is an integer number of ticks. Every clock's period is a whole number of
// ticks, and a tick is at most 100 ps.
#pragma once

#include <span>

#include "models/machine_spec.hpp"
#include "models/units.hpp"

namespace linebounce {

class Timebase {
 public:
  // Errors: std::invalid_argument, with text for a user, if the clocks have no common tick of at least 1 fs.
  explicit Timebase(std::span<const Frequency> clocks);

  // Ticks in one period of `clock`. REQUIRES: `clock` was one of the constructor's clocks.
  [[nodiscard]] Tick period(Frequency clock) const;

  // The nearest tick; halves are rounded up. REQUIRES: ns >= 0.
  [[nodiscard]] Tick from_ns(double ns) const;
  [[nodiscard]] Tick from_us(double us) const { return from_ns(us * 1000); }

  // For output only, since the result is rounded.
  [[nodiscard]] double to_ns(Tick ticks) const;

  // Ticks in a microsecond, as an exact fraction.
  [[nodiscard]] std::int64_t ticks_per_us_numerator() const { return numerator_; }
  [[nodiscard]] std::int64_t ticks_per_us_denominator() const { return denominator_; }

 private:
  // Ticks per microsecond. The fraction's value is also a common multiple of all clocks' frequencies in MHz.
  std::int64_t numerator_ = 1;
  std::int64_t denominator_ = 1;
};

// The first multiple of `period` at or after t. REQUIRES: t >= 0.
constexpr Tick align_up(Tick t, Tick period) {
  return (t + period - 1) / period * period;
}

}  // namespace linebounce
