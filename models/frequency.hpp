// Converts frequencies as people write them (666.667 MHz) to exact fractions (2000/3 MHz).
#pragma once

#include <cstdint>
#include <optional>

namespace linebounce {

// An exact fraction of megahertz.
struct Frequency {
  std::int64_t numerator_mhz = 0;
  std::int64_t denominator = 1;
  friend bool operator==(const Frequency&, const Frequency&) = default;
};

// The fraction with the smallest denominator, at most 64, that differs from `mhz` by at most a relative 1e-4. Returns nothing
// if there is no such fraction, or if `mhz` is not positive.
std::optional<Frequency> to_frequency(double mhz);

}  // namespace linebounce
