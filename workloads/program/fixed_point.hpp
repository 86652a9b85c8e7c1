// Integer logarithms, which are the same with every compiler and mathematical library.
#pragma once

#include <bit>
#include <cstdint>

namespace linebounce::workloads {

constexpr int kLogFraction = 32;  // fraction bits of logarithms

// log2 with kLogFraction fraction bits. Squaring a number between 1 and 2 doubles its logarithm, so the next bit is 1 if the
// square is at least 2. REQUIRES: 0 < value < 2^32.
inline std::uint64_t log2_fixed(std::uint64_t value) {
  const int whole = static_cast<int>(std::bit_width(value)) - 1;
  std::uint64_t mantissa = value << (31 - whole);  // 31 fraction bits
  std::uint64_t log = static_cast<std::uint64_t>(whole) << kLogFraction;
  for (int bit = kLogFraction - 1; bit >= 0; --bit) {
    mantissa = mantissa * mantissa >> 31;
    if (mantissa >> 32 == 0) continue;
    mantissa >>= 1;
    log |= std::uint64_t{1} << bit;
  }
  return log;
}

}  // namespace linebounce::workloads
