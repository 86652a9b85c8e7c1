// What one change does: the two points of an experiment, base and changed, held against each other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/results/paired_change.hpp"

namespace linebounce::sim {

// A cache line of all objects of a structure together: the kernel's miss latency on it.
struct LineChange {
  std::string structure;
  std::int64_t line = 0;
  double base_us = 0, changed_us = 0;  // for one operation of the workload
  [[nodiscard]] double change_us() const { return changed_us - base_us; }
};

// The kernel's miss latency on a subsystem's structures, us for one operation. A change that is lost in the noise of the whole
// may be plain here.
struct SubsystemChange {
  std::string name;
  PairedChange latency;
};

struct Effect {
  std::string experiment, title, machine, directory;
  int seeds = 0;
  std::vector<std::string> assumptions = {};  // about the machine, as assumptions_of() words them
  std::vector<std::pair<std::string, ConfigValue>> base_at, changed_at;
  PairedChange latency;                     // latency.kernel_us_per_operation
  PairedChange throughput;                  // throughput.operations_per_s
  std::vector<SubsystemChange> subsystems;  // the one that changed most first, in us
  std::vector<LineChange> lines;            // the same
};

// Errors: ConfigError for an experiment that is no pair, or whose runs can have no interval.
void require_pair(const Plan& plan);

// Reads what both points have left below `directory`. REQUIRES: they are done, require_pair(). Errors: InputError for files
// that cannot be read or are from before there was a seeds.csv, ConfigError for a workload without those metrics.
Effect effect_of(const Plan& plan, const std::filesystem::path& directory);

// Those with the largest gain first: by what they save of the latency of an operation.
void rank(std::vector<Effect>& effects);

}  // namespace linebounce::sim
