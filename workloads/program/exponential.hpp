// Exponentially distributed times, the distances of independent events.
#pragma once

#include "workloads/program/fixed_point.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {

// Draws -mean * ln(u), with u between 0 and 1 as a multiple of 2^-32. REQUIRES: 0 <= mean < 2^26.
inline std::int64_t draw_exponential(Random& random, std::int64_t mean) {
  constexpr std::uint64_t kNaturalLog2 = 2977044472;  // ln 2 * 2^32
  const std::uint64_t part = (random.next() >> 32) | 1;
  const std::uint64_t log = (std::uint64_t{32} << kLogFraction) - log2_fixed(part);  // -log2(u), below 2^38
  const std::uint64_t natural = (log >> 16) * kNaturalLog2 >> 32;                    // 16 fraction bits
  return static_cast<std::int64_t>(natural * static_cast<std::uint64_t>(mean) >> 16);
}

}  // namespace linebounce::workloads
