// Random numbers that are the same on every platform. Each (seed, CPU, purpose) has a separate stream.
#pragma once

#include <bit>
#include <cstdint>

#include "models/splitmix64.hpp"

namespace linebounce::workloads {

// A splitmix64 generator.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t cpu, std::uint64_t purpose) {
    state_ = seed;
    state_ = next() ^ cpu;
    state_ = next() ^ purpose;
    next();
  }

  std::uint64_t next() {
    state_ += kSplitmixStep;
    return mix_bits(state_);
  }

  // Returns a number from 0 to bound - 1, with a bias below bound / 2^32. REQUIRES: 0 < bound < 2^32.
  std::uint64_t below(std::uint64_t bound) { return ((next() >> 32) * bound) >> 32; }

 private:
  std::uint64_t state_ = 0;
};

constexpr int kLogFraction = 32;  // number of fraction bits in fixed-point logarithms

// Returns log2(value) with kLogFraction fraction bits. Integer arithmetic makes the result the same with every compiler and
// mathematical library. Squaring a number between 1 and 2 doubles its logarithm, so the next bit of the logarithm is 1 if the
// square is at least 2. REQUIRES: 0 < value < 2^32.
inline std::uint64_t log2_fixed(std::uint64_t value) {
  const int whole = static_cast<int>(std::bit_width(value)) - 1;
  std::uint64_t mantissa = value << (31 - whole);  // value / 2^whole, with 31 fraction bits
  std::uint64_t log = static_cast<std::uint64_t>(whole) << kLogFraction;
  for (int bit = kLogFraction - 1; bit >= 0; --bit) {
    mantissa = mantissa * mantissa >> 31;
    if (mantissa >> 32 == 0) continue;
    mantissa >>= 1;
    log |= std::uint64_t{1} << bit;
  }
  return log;
}

// Draws an exponentially distributed time, such as the time between independent events: -mean * ln(u), with a random u between
// 0 and 1 that is a multiple of 2^-32. REQUIRES: 0 <= mean < 2^26.
inline std::int64_t draw_exponential(Random& random, std::int64_t mean) {
  constexpr std::uint64_t kNaturalLog2 = 2977044472;  // ln 2 * 2^32
  const std::uint64_t part = (random.next() >> 32) | 1;
  const std::uint64_t log = (std::uint64_t{32} << kLogFraction) - log2_fixed(part);  // -log2(u), below 2^38
  const std::uint64_t natural = (log >> 16) * kNaturalLog2 >> 32;                    // -ln(u) with 16 fraction bits
  return static_cast<std::int64_t>(natural * static_cast<std::uint64_t>(mean) >> 16);
}

}  // namespace linebounce::workloads
