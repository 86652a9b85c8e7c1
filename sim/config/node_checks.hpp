// Whether nodes, buses, homes and links of a machine fit each other. Part of check_machine.
#pragma once

#include <bit>

#include "models/machine_spec.hpp"
#include "sim/config/settings.hpp"

namespace linebounce::sim {

inline bool power_of_two(int value) {
  return value > 0 && std::has_single_bit(static_cast<unsigned>(value));
}

// REQUIRES: `machine` is the typed form of `settings`, its coherence line is filled in. Errors: ConfigError at the key that is
// to be changed.
void check_nodes(const MachineSpec& machine, const Settings& settings);

}  // namespace linebounce::sim
