// Measures the effect of one change: compares an experiment's two points, base and changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/results/paired_change.hpp"

namespace linebounce::sim {

// The kernel's miss latency on one line of a structure, summed over all objects of that structure.
struct LineChange {
  std::string structure;
  std::int64_t line = 0;
  double base_us = 0, changed_us = 0;  // for each operation of the workload, in µs
  [[nodiscard]] double change_us() const { return changed_us - base_us; }
};

// The kernel's miss latency on the structures of a subsystem, in µs per operation. May show an effect that noise hides in the
// total.
struct SubsystemChange {
  std::string name;
  PairedChange latency;
};

struct Effect {
  std::string experiment, title, machine, directory;
  int seeds = 0;
  std::vector<std::string> assumptions = {};  // about the machine, worded by assumptions_of()
  std::vector<std::pair<std::string, ConfigValue>> base_at, changed_at;
  PairedChange latency;                     // latency.kernel_us_per_operation
  PairedChange throughput;                  // throughput.operations_per_s
  std::vector<SubsystemChange> subsystems;  // sorted by the size of the change in us, the largest first
  std::vector<LineChange> lines;            // sorted by the size of the change in us, the largest first
};

// Errors: ConfigError for an experiment that does not have two points, or whose runs can have no confidence interval.
void require_pair(const Plan& plan);

// Reads the results of both points below `directory`. REQUIRES: both points have finished, and require_pair() has passed.
// Errors: InputError for files that can't be read or are from before seeds.csv existed; ConfigError for a workload without
// the necessary metrics.
Effect effect_of(const Plan& plan, const std::filesystem::path& directory);

// Sorts by gain, which is the latency saved per operation; the largest gain first.
void rank(std::vector<Effect>& effects);

}  // namespace linebounce::sim
