// How programs spend time without memory operations.
#pragma once

#include <algorithm>
#include <cmath>

#include "models/core/cpu.hpp"
#include "models/machine_spec.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {

// Converts microseconds to cycles of the CPUs' clock.
inline std::int64_t cycles(double us, const MachineSpec& machine) {
  const Frequency& clock = machine.cpu.clock;
  return std::llround(us * static_cast<double>(clock.numerator_mhz) / static_cast<double>(clock.denominator));
}

// Draws a number uniformly from 1 to twice the mean. Returns 0 for a mean of 0.
inline std::int64_t draw_about(Random& random, std::int64_t mean) {
  return mean <= 0 ? 0 : static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * mean))) + 1;
}

// Makes the CPU compute for a time drawn by draw_about(), so that CPUs don't run in lockstep.
inline void compute_about(Cpu& cpu, Random& random, std::int64_t mean_cycles) {
  if (const std::int64_t drawn = draw_about(random, mean_cycles); drawn > 0) cpu.compute(drawn);
}

// The speed at which a CPU executes instructions that miss no cache, as cycles per instruction (`cpi`). The issue width limits
// the speed.
class Pace {
 public:
  Pace(double cpi, const MachineSpec& machine)
      : extra_milli_(std::max<std::int64_t>(0, std::llround((cpi - 1.0 / machine.cpu.issue_per_cycle) * 1000))) {}
  void pass(Cpu& cpu, std::int64_t instructions) const {
    cpu.execute(instructions);
    if (extra_milli_ > 0) cpu.compute((instructions * extra_milli_ + 999) / 1000);
  }

 private:
  std::int64_t extra_milli_;  // thousandths of a cycle that each instruction takes beyond its issue slot
};

}  // namespace linebounce::workloads
