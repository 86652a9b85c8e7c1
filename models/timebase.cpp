#include "models/timebase.hpp"

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace linebounce {
namespace {

constexpr std::int64_t kCoarsestMhz = 10'000;       // a tick of 100 ps
constexpr std::int64_t kFinestMhz = 1'000'000'000;  // a tick of 1 fs

[[noreturn]] void refuse() {
  throw std::invalid_argument(
      "the machine's clocks have no common tick of at least 1 fs: choose frequencies whose periods have a simple ratio");
}

}  // namespace

Timebase::Timebase(std::span<const Frequency> clocks) {
  std::int64_t numerator = 1;
  std::int64_t denominator = 0;  // gcd(0, x) == x
  for (const Frequency& clock : clocks) {
    if (clock.numerator_mhz <= 0 || clock.denominator <= 0) throw std::invalid_argument("a clock must be faster than 0 MHz");
    const std::int64_t common = std::gcd(clock.numerator_mhz, clock.denominator);
    const std::int64_t factor = clock.numerator_mhz / common / std::gcd(numerator, clock.numerator_mhz / common);
    if (numerator > kFinestMhz * 64 / factor) refuse();
    numerator *= factor;
    denominator = std::gcd(denominator, clock.denominator / common);
  }
  const std::int64_t multiple = std::max<std::int64_t>(1, (kCoarsestMhz * denominator + numerator - 1) / numerator);
  numerator_ = numerator * multiple;
  denominator_ = denominator;
  if (numerator_ / denominator_ > kFinestMhz) refuse();
}

Tick Timebase::period(Frequency clock) const {
  const std::int64_t ticks = numerator_ * clock.denominator;
  const std::int64_t divisor = denominator_ * clock.numerator_mhz;
  if (ticks % divisor != 0) throw std::logic_error("Timebase::period: not one of the machine's clocks");
  return ticks / divisor;
}

Tick Timebase::from_ns(double ns) const {
  if (ns * static_cast<double>(numerator_) / static_cast<double>(denominator_) > 4e21) {
    throw std::invalid_argument("a time of " + std::to_string(ns) + " ns has more ticks than can be counted");
  }
  return static_cast<Tick>(
      std::floor(ns * static_cast<double>(numerator_) / (1000.0 * static_cast<double>(denominator_)) + 0.5));
}

double Timebase::to_ns(Tick ticks) const {
  return static_cast<double>(ticks) * static_cast<double>(denominator_) * 1000.0 / static_cast<double>(numerator_);
}

}  // namespace linebounce
