#include "sim/results/logarithm.hpp"

#include <cmath>

namespace linebounce::sim {
namespace {

constexpr double kNaturalLog2 = 0.693147180559945309417;
constexpr double kRootOfHalf = 0.707106781186547524401;

}  // namespace

// Writes value as part * 2^exponent with part between sqrt(1/2) and sqrt(2). Then ln(part) = 2 artanh((part - 1) / (part + 1)).
double natural_logarithm(double value) {
  int exponent = 0;
  double part = std::frexp(value, &exponent);
  if (part < kRootOfHalf) {
    part *= 2;
    --exponent;
  }
  const double ratio = (part - 1) / (part + 1);  // at most 0.172, so its 21st power is negligible
  const double square = ratio * ratio;
  double sum = 0;
  for (int power = 21; power > 0; power -= 2) sum = sum * square + 1.0 / power;
  return exponent * kNaturalLog2 + 2 * ratio * sum;
}

// Sums the series for logarithm / 1024, and squares the result ten times, by (1 + x)^2 - 1 = x (2 + x).
double exponential_less_one(double logarithm) {
  constexpr int kSquarings = 10;
  const double part = std::ldexp(logarithm, -kSquarings);
  double less_one = 0;
  for (int term = 18; term > 0; --term) less_one = (less_one + 1) * part / term;
  for (int i = 0; i < kSquarings; ++i) less_one *= 2 + less_one;
  return less_one;
}

}  // namespace linebounce::sim
