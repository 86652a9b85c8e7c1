// Made-up matrices with a known structure, and noise that is reproducible everywhere.
#pragma once

#include <cstdint>
#include <functional>

#include "commands/calibrate/latency_matrix.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::sim {

using namespace workloads;

// The matrix with ns(a, b) for a > b, where each value is changed by a random share of up to `noise`.
inline LatencyMatrix made_up(int cpus, const std::function<double(int a, int b)>& ns, double noise = 0.05) {
  LatencyMatrix matrix(cpus);
  Random random(1, 0, 0);
  for (int a = 0; a < cpus; ++a) {
    for (int b = 0; b < a; ++b) {
      const auto drawn = static_cast<double>(random.below(2001));
      matrix.set(a, b, ns(a, b) * (1 + noise * (drawn / 1000 - 1)));
    }
  }
  return matrix;
}

}  // namespace linebounce::sim
