// Cache lines for the terminal in the format of `perf c2c report`: the worst lines first, then the fields of each.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "sim/lines/line_rows.hpp"
#include "sim/results/merge_seeds.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// Shows the first `most` lines of the set. Empty if the set has none.
std::string line_table(const LineSet& set, std::size_t most, const Painter& paint);

// The subsystems that own the 500 worst lines (metrics subsystem.*), sorted by share of latency, the largest first. Empty if
// no structure has a subsystem.
std::string subsystem_table(const std::map<std::string, ReportedMetric>& metrics, const Painter& paint);

struct SubsystemShare {
  std::string name;
  double misses_pct = 0, latency_pct = 0;
};
std::vector<SubsystemShare> subsystem_shares(const std::map<std::string, ReportedMetric>& metrics);

}  // namespace linebounce::sim
