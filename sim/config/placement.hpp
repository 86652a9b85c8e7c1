// Reads which memory nodes objects are placed on: [placement] of an experiment, or `placement.OBJECT` in [set], [sweep] and
// --set.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "models/machine_spec.hpp"
#include "models/memory/homes.hpp"
#include "sim/config/settings.hpp"

namespace linebounce::sim {

inline constexpr std::string_view kPlacementPrefix = "placement.";

// The key that places an object. It accepts any object name, because a workload's objects are known only after it has set up
// its memory.
KeyInfo placement_key(const std::string& path);

// Returns the placements that the settings contain. Errors: ConfigError for a value that is neither a policy nor a node with
// memory.
std::map<std::string, Home> to_placement(const Settings& settings, const MachineSpec& machine);

}  // namespace linebounce::sim
