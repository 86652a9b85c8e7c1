// What a machine costs beside its core-to-core matrix: what linebounce-probe measures, simulated.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/config/machine_tables.hpp"
#include "sim/point/point_data.hpp"
#include "workloads/program/parameters.hpp"

namespace linebounce::sim {

struct LoadToUseCosts {
  std::vector<double> rings;    // ns, in the order of the sizes
  std::map<int, double> nodes;  // ns, by node with memory
};

// Each runs in a process of its own. Errors: ConfigError for a machine that can't be built; SimulationFailure; Interrupted.

// By CPU 0, of rings of these sizes and of each node's memory.
LoadToUseCosts simulate_load_to_use(const MachineTables& machine, const std::vector<int>& sizes_kib);

// Of lines in every state: a row for each pair, home near it and state.
std::vector<MatrixRow> simulate_hand_offs(const MachineTables& machine, const std::string& access);

// From one owner of a ticket lock to the next, of all CPUs, which do nothing else: ns.
double simulate_lock(const MachineTables& machine);

}  // namespace linebounce::sim
