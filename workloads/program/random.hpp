// Random numbers that are the same on every platform, with one stream for each (seed, CPU, purpose).
#pragma once

#include <cstdint>

namespace linebounce::workloads {

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t cpu, std::uint64_t purpose) {
    state_ = seed;
    state_ = next() ^ cpu;
    state_ = next() ^ purpose;
    next();
  }

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  // A number from 0 to bound - 1, with a bias below bound / 2^32. REQUIRES: 0 < bound < 2^32.
  std::uint64_t below(std::uint64_t bound) { return ((next() >> 32) * bound) >> 32; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace linebounce::workloads
