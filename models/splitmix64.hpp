// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): numbers that look random, the same on every computer.
#pragma once

#include <cstdint>

namespace linebounce {

constexpr std::uint64_t kSplitmixStep = 0x9E3779B97F4A7C15ULL;

// Spreads each bit of `number` over all bits of the result.
constexpr std::uint64_t mix_bits(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9ULL;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBULL;
  return number ^ (number >> 31);
}

}  // namespace linebounce
