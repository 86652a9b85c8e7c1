// How long the program computes on each way from one place of its code to the next, by samples that also hold misses and
// interrupts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "record/runtime/channel.h"

namespace linebounce::record {

class SampledWays {
 public:
  // Adds a sample, and returns what the way takes without disturbance, in the samples' unit; 0 while it has few samples.
  double add(std::size_t way, double sample) {
    Way& of = ways_[way % kWays];
    of.latest[of.samples++ % kKept] = sample;
    if (of.samples < kFew) return 0;
    std::array<double, kKept> sorted = of.latest;
    const std::size_t count = std::min<std::size_t>(of.samples, kKept);
    std::sort(sorted.begin(), sorted.begin() + count);
    return sorted[count / 4];
  }

 private:
  static constexpr std::size_t kKept = 8, kFew = 4;
  struct Way {
    std::array<double, kKept> latest{};
    std::uint32_t samples = 0;
  };
  std::array<Way, kWays> ways_{};
};

}  // namespace linebounce::record
