// The homes of objects: [placement] of an experiment, `placement.OBJECT` in [set], [sweep] and --set.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "models/machine_spec.hpp"
#include "models/memory/homes.hpp"
#include "sim/config/settings.hpp"

namespace linebounce::sim {

inline constexpr std::string_view kPlacementPrefix = "placement.";

// The key that places an object. Any object name is legal, because the objects are known only after the workload has set up
// its memory.
KeyInfo placement_key(const std::string& path);

// The homes of all objects that the settings place. Errors: ConfigError for a value that is neither a policy nor a node with
// memory.
std::map<std::string, Home> to_placement(const Settings& settings, const MachineSpec& machine);

}  // namespace linebounce::sim
