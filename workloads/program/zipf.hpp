// Draws ranks by Zipf's law: rank r (from 0) in proportion to 1 / (r + 1)^exponent. Weights are computed with integers, so they
// are the same with every compiler and mathematical library.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/program/random.hpp"

namespace linebounce::workloads {

class Zipf {
 public:
  // `exponent_milli` is in thousandths. REQUIRES: 1 <= ranks <= 65536, 0 <= exponent_milli <= 8000.
  Zipf(int ranks, int exponent_milli);

  [[nodiscard]] int draw(Random& random) const;
  // The probability of a rank, in units of 2^-32.
  [[nodiscard]] std::uint64_t share(int rank) const;

 private:
  std::vector<std::uint64_t> up_to_;  // cumulated weights, below 2^32
};

}  // namespace linebounce::workloads
