// Ranks by Zipf's law: rank r (from 0) is drawn in proportion to 1 / (r + 1)^exponent. The weights are worked out with integers
// alone, so that they are the same with every compiler and mathematical library.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/program/random.hpp"

namespace linebounce::workloads {

class Zipf {
 public:
  // `exponent_milli`: thousandths. REQUIRES: 1 <= ranks <= 65536, 0 <= exponent_milli <= 8000.
  Zipf(int ranks, int exponent_milli);

  [[nodiscard]] int draw(Random& random) const;
  // Of all draws, in parts of 2^32.
  [[nodiscard]] std::uint64_t share(int rank) const;

 private:
  std::vector<std::uint64_t> up_to_;  // sums of weights, below 2^32
};

}  // namespace linebounce::workloads
