#include "models/frequency.hpp"

#include <cmath>

namespace linebounce {
namespace {

constexpr std::int64_t kLargestDenominator = 64;
constexpr double kTolerance = 1e-4;

}  // namespace

std::optional<Frequency> to_frequency(double mhz) {
  if (!(mhz > 0)) return std::nullopt;
  for (std::int64_t denominator = 1; denominator <= kLargestDenominator; ++denominator) {
    const auto numerator = static_cast<std::int64_t>(std::llround(mhz * static_cast<double>(denominator)));
    const double error = std::abs(static_cast<double>(numerator) / static_cast<double>(denominator) - mhz);
    if (numerator > 0 && error <= kTolerance * mhz) return Frequency{numerator, denominator};
  }
  return std::nullopt;
}

}  // namespace linebounce
