// Draws ranks by Zipf's law: rank r, counted from 0, has a probability proportional to 1 / (r + 1)^exponent. Integer arithmetic
// makes the probabilities the same with every compiler and mathematical library.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/program/random.hpp"

namespace linebounce::workloads {

class Zipf {
 public:
  // `exponent_milli` is the exponent in thousandths. REQUIRES: 1 <= ranks <= 65536, 0 <= exponent_milli <= 8000.
  Zipf(int ranks, int exponent_milli);

  [[nodiscard]] int draw(Random& random) const;
  // Returns the probability of `rank`, in units of 2^-32.
  [[nodiscard]] std::uint64_t share(int rank) const;

 private:
  std::vector<std::uint64_t> up_to_;  // for each rank, the sum of the weights of all ranks up to it; below 2^32
};

}  // namespace linebounce::workloads
