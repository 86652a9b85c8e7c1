#include "workloads/program/zipf.hpp"

#include <algorithm>
#include <array>

namespace linebounce::workloads {
namespace {

std::uint64_t root(std::uint64_t value) {
  std::uint64_t result = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31; bit > 0; bit >>= 1) {
    if ((result | bit) * (result | bit) <= value) result |= bit;
  }
  return result;
}

// Returns 2^(-1/2), 2^(-1/4), ... with 32 fraction bits. Each is the square root of its predecessor.
std::array<std::uint64_t, kLogFraction> halved_powers() {
  std::array<std::uint64_t, kLogFraction> powers{};
  std::uint64_t power = std::uint64_t{1} << 31;
  for (std::uint64_t& next : powers) next = power = root(power << 32);
  return powers;
}

// Returns 2^-log with 32 fraction bits. `log` has kLogFraction fraction bits.
std::uint64_t power_of_half(std::uint64_t log) {
  static const std::array<std::uint64_t, kLogFraction> kPowers = halved_powers();
  const std::uint64_t whole = log >> kLogFraction;
  if (whole >= 32) return 0;
  std::uint64_t power = std::uint64_t{1} << 32;
  for (int bit = 0; bit < kLogFraction; ++bit) {
    if ((log >> (kLogFraction - 1 - bit) & 1) != 0) power = power * kPowers[bit] >> 32;
  }
  return power >> whole;
}

}  // namespace

Zipf::Zipf(int ranks, int exponent_milli) {
  std::uint64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::uint64_t log =
        log2_fixed(static_cast<std::uint64_t>(rank) + 1) * static_cast<std::uint64_t>(exponent_milli) / 1000;
    // Each weight is at most 2^31 / ranks, so their sum stays below 2^32.
    sum += std::max<std::uint64_t>(1, power_of_half(log) / 2 / static_cast<std::uint64_t>(ranks));
    up_to_.push_back(sum);
  }
}

int Zipf::draw(Random& random) const {
  const std::uint64_t drawn = random.below(up_to_.back());
  return static_cast<int>(std::ranges::upper_bound(up_to_, drawn) - up_to_.begin());
}

std::uint64_t Zipf::share(int rank) const {
  const std::size_t at = rank;
  return ((up_to_[at] - (rank == 0 ? 0 : up_to_[at - 1])) << 32) / up_to_.back();
}

}  // namespace linebounce::workloads
