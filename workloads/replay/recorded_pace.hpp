// How fast a recorded program computes: its mean time for an instruction, in which accesses that hit the nearest cache are
// included.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "models/machine_spec.hpp"

namespace linebounce::workloads {

// The machine on which a recorded program replays. Its mean time for an instruction has the hits of the nearest cache in it: a
// core that looks ahead overlaps their latency with other instructions, so that here each only takes its cycle.
inline MachineSpec overlapping_hits(MachineSpec machine) {
  machine.caches.front().hit_latency_cycles = 1;
  return machine;
}

class RecordedPace {
 public:
  explicit RecordedPace(const MachineSpec& machine)
      : of_instruction_(milli(machine.cpu.cycles_per_instruction)),
        of_slot_(milli(1.0 / machine.cpu.issue_per_cycle)),
        of_hit_(std::int64_t{kMilli} * machine.caches.front().hit_latency_cycles) {}

  // Notes a load or store. `ahead`: thousandths of cycles that the thread's accesses have taken beyond what its instructions
  // take; below 0, if they are slower.
  void accessed(std::int64_t& ahead, bool is_load) const {
    ahead = std::min(ahead + (is_load ? of_hit_ : of_slot_) - of_instruction_, kMostAhead);
  }
  // The cycles in which a thread stalls beside the issue of this many instructions without accesses.
  [[nodiscard]] std::int64_t stall(std::int64_t& ahead, std::int64_t instructions) const {
    ahead -= instructions * (of_instruction_ - of_slot_);
    if (ahead >= 0) return 0;
    const std::int64_t cycles = -ahead / kMilli;
    ahead += cycles * kMilli;
    return cycles;
  }

 private:
  static constexpr int kMilli = 1000;
  // A core looks ahead by some hundred instructions: accesses of long ago do not make it faster now.
  static constexpr std::int64_t kMostAhead = std::int64_t{200} * kMilli;
  static std::int64_t milli(double cycles) { return std::llround(cycles * kMilli); }

  std::int64_t of_instruction_, of_slot_, of_hit_;
};

}  // namespace linebounce::workloads
