// The effect of one change: compares the two points of an experiment, base and changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/results/paired_change.hpp"

namespace linebounce::sim {

// The same cache line of all objects of a structure: the kernel's miss latency on it.
struct LineChange {
  std::string structure;
  std::int64_t line = 0;
  double base_us = 0, changed_us = 0;  // for each operation of the workload
  [[nodiscard]] double change_us() const { return changed_us - base_us; }
};

// The kernel's miss latency on a subsystem's structures, in us for each operation. A change that is lost in the noise of the
// whole may be clear here.
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
  std::vector<SubsystemChange> subsystems;  // the one that changed most, in us, first
  std::vector<LineChange> lines;            // the one that changed most, in us, first
};

// Errors: ConfigError for an experiment that is no pair, or whose runs can have no interval.
void require_pair(const Plan& plan);

// Reads the results of both points below `directory`. REQUIRES: both are done; require_pair() has passed. Errors: InputError
// for files that can't be read or are older than seeds.csv; ConfigError for a workload without those metrics.
Effect effect_of(const Plan& plan, const std::filesystem::path& directory);

// Sorts by gain, the largest first: the latency saved in an operation.
void rank(std::vector<Effect>& effects);

}  // namespace linebounce::sim
