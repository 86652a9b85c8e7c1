// The resolved configuration: every setting with its value, as config.toml holds it.
#pragma once

#include <toml++/toml.h>

#include "sim/config/experiment_tables.hpp"

namespace linebounce::sim {

// [machine] with its sources, [placement], [workload] and [run]. A value that overrides its machine file's says so in the
// sources.
toml::table resolved_settings(const Settings& settings, const MachineTables& machine);

// [[layout.change]], if there is any.
void add_layout_changes(toml::table& resolved, const std::vector<LayoutChange>& changes);

}  // namespace linebounce::sim
