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

// The fraction with the smallest denominator, at most 64, within a relative 1e-4 of the number. Nothing if there is none, or if
// the number is not positive.
std::optional<Frequency> to_frequency(double mhz);

}  // namespace linebounce
